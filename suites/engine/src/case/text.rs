//! Cases as text: `m=1 n=1 k=16 lhs[0,0]=255 lhs[0,8]=255`. Parameters are named, elements indexed; `lhs=3`, or another text of [`whole`], fills a
//! tensor.

use crate::case::whole;
use crate::erased::{Domain, Op, Params};
use crate::operation::Operation;
use crate::operation::arguments::{Arguments, take, take_size};
use crate::operation::case::Case;
use crate::operation::element::Element;
use crate::operation::errors::CaseError;
use tiebreak_reports::ledger::{self, Value};
use tiebreak_reports::text::case as spelled;

/// Largest number of elements of a tensor in the text of a witness; a case with more elements is described by the shape.
const SPELLED: usize = 64;

/// Returns the case by argument, if the case is small enough to write out and the text parses to the same case.
pub fn arguments(domain: &Domain, case: &Case<Params>) -> Option<ledger::Case> {
    written(domain, case, |_, _| None)
}

/// Returns [`arguments`] of a case with the types of an operation.
pub fn arguments_of<O: Operation>(domain: &O::Domain, case: Case<O::Params>) -> Option<ledger::Case> {
    arguments(&Domain::of::<O>(domain.clone()), &Case::of::<O>(case))
}

/// Returns the case by argument, regardless of its size. A tensor that is too large to write out is given by its text in `made`, and otherwise as a
/// list of its elements. `None` if the operation has no text for the parameters.
pub fn complete(domain: &Domain, case: &Case<Params>, made: &[Option<String>; 3]) -> Option<ledger::Case> {
    let text = |t: usize, element: &Element| {
        Some(made[t].clone().unwrap_or_else(|| whole::described(element, &case.tensors[t])))
    };
    written(domain, case, text)
}

/// Returns the case by argument; `large` gives the text of a tensor that is too large to write out.
fn written(
    domain: &Domain,
    case: &Case<Params>,
    large: impl Fn(usize, &Element) -> Option<String>,
) -> Option<ledger::Case> {
    let mut out: ledger::Case = case.params.arguments().into_iter().collect();
    for (t, name) in domain.op().tensors().iter().enumerate() {
        let element = domain.element(&case.params, t);
        let tensor: Vec<&[i32]> = case.tensors[t].chunks(element.words()).collect();
        let zero = vec![0; element.words()];
        let usual = usual(&tensor, &zero);
        let others = tensor.iter().filter(|v| !same(v, usual)).count();
        if others > SPELLED {
            out.insert((*name).to_owned(), Value::Text(large(t, &element)?));
            continue;
        }
        if usual != zero {
            out.insert((*name).to_owned(), element.described(usual));
        }
        let dimensions = domain.dimensions(&case.params, t);
        for (at, value) in tensor.iter().enumerate().filter(|(_, v)| !same(v, usual)) {
            out.insert(format!("{name}[{}]", subscripts(at, &dimensions)), element.described(value));
        }
    }
    if case.misalign != 0 {
        out.insert("misalign".to_owned(), (case.misalign as i64).into());
    }
    // Not every case has a text: scales that no MLIR type can have do not.
    let same = parse(&spelled(&out), domain).is_ok_and(|read| read == *case);
    same.then_some(out)
}

/// True if two elements are equal. An element has one or two words, for which a call of `memcmp` takes longer than the comparison.
fn same(a: &[i32], b: &[i32]) -> bool {
    a.iter().eq(b)
}

/// Returns the value that is written once: the value of all elements, or the value of most elements of a large tensor. A large tensor without such a
/// value has too many other elements for a text, whichever value is returned.
fn usual<'a>(tensor: &[&'a [i32]], zero: &'a [i32]) -> &'a [i32] {
    if let Some(first) = tensor.first()
        && tensor.iter().all(|v| same(v, first))
    {
        return first;
    }
    if tensor.len() <= 2 * SPELLED { most_frequent(tensor, zero) } else { majority(tensor, zero) }
}

/// Returns zero for a small tensor, and the most frequent value of a tensor of up to twice the elements of a text.
fn most_frequent<'a>(tensor: &[&'a [i32]], zero: &'a [i32]) -> &'a [i32] {
    if tensor.len() <= SPELLED {
        return zero;
    }
    let mut counts = std::collections::BTreeMap::new();
    tensor.iter().for_each(|v| *counts.entry(*v).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|(v, n)| (*n, *v == zero)).map_or(zero, |(v, _)| v)
}

/// Returns the value of more than half of the elements, if there is one (Boyer and Moore, MJRTY, 1981); otherwise some value.
fn majority<'a>(tensor: &[&'a [i32]], zero: &'a [i32]) -> &'a [i32] {
    let vote = |(candidate, votes), v: &&'a [i32]| match (same(candidate, v), votes) {
        (_, 0) => (*v, 1usize),
        (true, _) => (candidate, votes + 1),
        (false, _) => (candidate, votes - 1),
    };
    tensor.iter().fold((zero, 0), vote).0
}

/// Formats a flat index as subscripts, such as `2,0,1`.
pub fn subscripts(mut at: usize, dimensions: &[usize]) -> String {
    let mut out = Vec::new();
    for size in dimensions.iter().rev() {
        out.push((at % (*size).max(1)).to_string());
        at /= (*size).max(1);
    }
    out.reverse();
    out.join(",")
}

/// Parses the text of a case; elements without a value are 0.
pub fn parse(text: &str, domain: &Domain) -> Result<Case<Params>, CaseError> {
    Draft::read(domain.op(), text)?.case(domain)
}

/// Splits a case into words, without spaces inside a type: `type=!quant.uniform<i8:f32, 0.3:1>` is one word.
fn words(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match c.is_whitespace() {
            true if depth > 0 => {}
            true => out.push(String::new()),
            false => out.last_mut().expect("starts with one").push(c),
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

/// Parses names and values.
pub(crate) fn words_by_name(text: &str) -> Result<Arguments, CaseError> {
    let mut arguments = Arguments::new();
    for word in words(text) {
        let (name, value) = word
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("`{word}` is not NAME=VALUE, such as m=4 or lhs[0,3]=255"))?;
        let value = value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Integer);
        if arguments.insert(name.to_owned(), value).is_some() {
            return Err(CaseError::from("given twice").of(name));
        }
    }
    Ok(arguments)
}

/// Case before its tensors are made, because a kernel's domain determines the sizes.
#[derive(Clone, Debug)]
pub struct Draft {
    params: Params,
    misalign: usize,
    /// Index of the result that a report names.
    at: Option<usize>,
    /// Values of whole tensors, then of elements, so that elements override the fill regardless of the order in the text.
    values: Vec<(String, Value)>,
}

impl Draft {
    /// Parses names and values of a text.
    pub fn read(op: Op, text: &str) -> Result<Self, CaseError> {
        Self::of(op, words_by_name(text)?)
    }

    /// Builds a draft from names and values.
    pub(crate) fn of(op: Op, mut arguments: Arguments) -> Result<Self, CaseError> {
        let misalign = take(&mut arguments, "misalign", 0, 0, 15)? as usize;
        let at = arguments.contains_key("at").then(|| take_size(&mut arguments, "at", 0)).transpose()?;
        let (elements, named): (Arguments, Arguments) = arguments.into_iter().partition(|(name, _)| {
            let name = name.split('[').next().unwrap_or(name);
            op.tensors().contains(&name)
        });
        let mut values: Vec<_> = elements.into_iter().collect();
        values.sort_by_cached_key(|(name, _)| name.contains('['));
        Ok(Self { params: op.params_of(&named)?, misalign, at, values })
    }

    /// Parses names and values unchanged, without the index of a result.
    pub fn described(text: &str) -> Option<ledger::Case> {
        let word = |word: String| {
            let (name, value) = word.split_once('=')?;
            let value = value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Integer);
            Some((name.to_owned(), value))
        };
        let mut out: ledger::Case = words(text).into_iter().map(word).collect::<Option<_>>()?;
        out.shift_remove("at");
        Some(out)
    }

    /// Parameters of the case.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the index given by `at`. Fails if the case has no such result.
    pub fn at(&self, domain: &Domain) -> Result<Option<usize>, CaseError> {
        let Some(at) = self.at else { return Ok(None) };
        let words = domain.result_element(&self.params).words();
        let results = domain.sizes(&self.params)?.outputs / words;
        if at < results {
            Ok(Some(at))
        } else {
            Err(CaseError::from(format!("{at} is not one of the {results} results, which count from 0")).of("at"))
        }
    }

    /// Returns an upper bound on multiplications: results times elements of the largest input. `None` if the domain has no such case.
    pub fn work(&self, domain: &Domain) -> Option<usize> {
        let sizes = domain.sizes(&self.params).ok().filter(|_| domain.covers(&self.params))?;
        Some(sizes.outputs.saturating_mul(sizes.inputs.into_iter().max().unwrap_or(0)))
    }

    /// Makes the case, with tensors of the domain's sizes.
    pub fn case(&self, domain: &Domain) -> Result<Case<Params>, CaseError> {
        let sizes = domain.sizes(&self.params)?;
        let mut tensors = sizes.inputs.map(|len| vec![0; len]);
        for (name, value) in &self.values {
            set(name, value, domain, &self.params, &mut tensors)?;
        }
        Ok(Case { params: self.params.clone(), tensors: tensors.into(), misalign: self.misalign })
    }
}

fn set(
    name: &str,
    value: &Value,
    domain: &Domain,
    params: &Params,
    tensors: &mut [Vec<i32>; 3],
) -> Result<(), CaseError> {
    let (tensor, index) = match name.split_once('[') {
        Some((tensor, index)) => (tensor, Some(index)),
        None => (name, None),
    };
    let t =
        domain.op().tensors().iter().position(|known| *known == tensor).ok_or_else(|| format!("no tensor {tensor}"))?;
    let element = domain.element(params, t);
    let Some(index) = index else {
        let place = whole::Place { op: domain.op().name(), tensor, element: &element, range: domain.range(t) };
        return place.fill(value, &mut tensors[t]).map_err(|error| error.of(name));
    };
    let value = element.read(value).map_err(|error| error.of(name))?;
    let dimensions = domain.dimensions(params, t);
    let subscripts: Option<Vec<usize>> =
        index.strip_suffix(']').and_then(|index| index.split(',').map(|s| s.parse().ok()).collect());
    let at = match subscripts {
        Some(s) if s.len() == dimensions.len() && s.iter().zip(&dimensions).all(|(s, size)| s < size) => {
            s.iter().zip(&dimensions).fold(0, |at, (s, size)| at * size + s)
        }
        _ => {
            let reason = format!("not an index into {tensor} of shape {dimensions:?}");
            return Err(CaseError::from(reason).of(name));
        }
    };
    tensors[t][at * element.words()..][..element.words()].copy_from_slice(&value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a large tensor has the value of all but a few elements, wherever these are.
    #[test]
    fn a_large_tensor_is_written_by_its_most_frequent_value() {
        for len in [65, 128, 129, 200, 5000] {
            for (seed, others) in [1usize, 7, 30, 64].into_iter().enumerate() {
                let mut words = vec![9; len];
                (0..others.min(len / 2 - 1)).for_each(|at| words[(at * 37 + seed * 11) % len] = at as i32 % 3);
                let tensor: Vec<&[i32]> = words.chunks(1).collect();
                assert_eq!(usual(&tensor, &[0]), [9], "{len} elements, {others} others");
            }
        }
    }
}
