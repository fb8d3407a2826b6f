//! Cases as text: `m=1 n=1 k=16 lhs[0,0]=255 lhs[0,8]=255`. Parameters by name, elements by index; `lhs=3` fills a tensor, and so does
//! any other text of [`whole`].

use crate::case::whole;
use crate::operation::arguments::{Arguments, take, take_size};
use crate::operation::case::Case;
use crate::operation::element::Element;
use crate::operation::errors::CaseError;
use crate::operation::{self, Operation};
use tiebreak_reports::ledger::{self, Value};
use tiebreak_reports::text::case as spelled;

/// Elements of one tensor that a witness spells out; a case that needs more is described by its shape alone.
const SPELLED: usize = 64;

/// The case by argument, where it is small enough to spell out, and the text would be read as the same case.
pub fn arguments<O: Operation>(domain: &O::Domain, case: &Case<O::Params>) -> Option<ledger::Case> {
    written::<O>(domain, case, |_, _| None)
}

/// The case by argument, whatever its size: a tensor that is too large to spell out by the text that makes it, where `made` has one for
/// that tensor, and otherwise as a list of its elements. Nothing where the operation has no text for the parameters.
pub fn complete<O: Operation>(
    domain: &O::Domain,
    case: &Case<O::Params>,
    made: &[Option<String>; 3],
) -> Option<ledger::Case> {
    let text = |t: usize, element: &Element| {
        Some(made[t].clone().unwrap_or_else(|| whole::described(element, &case.tensors[t])))
    };
    written::<O>(domain, case, text)
}

/// The case by argument; `large` gives the text of a tensor that is too large to spell out.
fn written<O: Operation>(
    domain: &O::Domain,
    case: &Case<O::Params>,
    large: impl Fn(usize, &Element) -> Option<String>,
) -> Option<ledger::Case> {
    let mut out: ledger::Case = O::arguments(&case.params).into_iter().collect();
    for (t, name) in O::TENSORS.iter().enumerate() {
        let element = operation::element::<O>(domain, &case.params, t);
        let tensor: Vec<&[i32]> = case.tensors[t].chunks(element.words()).collect();
        let zero = vec![0; element.words()];
        let usual = usual(&tensor, &zero);
        let others = tensor.iter().filter(|v| **v != usual).count();
        if others > SPELLED {
            out.insert((*name).to_owned(), Value::Text(large(t, &element)?));
            continue;
        }
        if usual != zero {
            out.insert((*name).to_owned(), element.described(usual));
        }
        let dimensions = O::dimensions(domain, &case.params, t);
        for (at, value) in tensor.iter().enumerate().filter(|(_, v)| **v != usual) {
            out.insert(format!("{name}[{}]", subscripts(at, &dimensions)), element.described(value));
        }
    }
    if case.misalign != 0 {
        out.insert("misalign".to_owned(), (case.misalign as i64).into());
    }
    // Not every case has a text: scales that no type of MLIR can have have none.
    let same = parse::<O>(&spelled(&out), domain).is_ok_and(|read| read == *case);
    same.then_some(out)
}

/// The value that is written once: that of all elements, or in a large tensor that of most.
fn usual<'a>(tensor: &[&'a [i32]], zero: &'a [i32]) -> &'a [i32] {
    if let Some(first) = tensor.first()
        && tensor.iter().all(|v| v == first)
    {
        return first;
    }
    if tensor.len() <= SPELLED {
        return zero;
    }
    let mut counts = std::collections::BTreeMap::new();
    tensor.iter().for_each(|v| *counts.entry(*v).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|(v, n)| (*n, *v == zero)).map_or(zero, |(v, _)| v)
}

/// `2,0,1` for a flat index.
pub fn subscripts(mut at: usize, dimensions: &[usize]) -> String {
    let mut out = Vec::new();
    for size in dimensions.iter().rev() {
        out.push((at % (*size).max(1)).to_string());
        at /= (*size).max(1);
    }
    out.reverse();
    out.join(",")
}

/// A case from its text; elements that are not named are 0.
pub fn parse<O: Operation>(text: &str, domain: &O::Domain) -> Result<Case<O::Params>, CaseError> {
    Draft::<O>::read(text)?.case(domain)
}

/// The words of a case, without the spaces of a type: `type=!quant.uniform<i8:f32, 0.3:1>` is one.
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

/// Names and values of a text.
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

/// A case before its tensors are made, which only a kernel's domain can tell the sizes of.
#[derive(Clone, Debug)]
pub struct Draft<O: Operation> {
    params: O::Params,
    misalign: usize,
    /// The result that a report names.
    at: Option<usize>,
    /// Whole tensors by name, then elements: an element stands out from what fills its tensor, wherever it is named.
    values: Vec<(String, Value)>,
}

impl<O: Operation> Draft<O> {
    /// Reads names and values.
    pub fn read(text: &str) -> Result<Self, CaseError> {
        Self::of(words_by_name(text)?)
    }

    /// Names and values that are read.
    pub(crate) fn of(mut arguments: Arguments) -> Result<Self, CaseError> {
        let misalign = take(&mut arguments, "misalign", 0, 0, 15)? as usize;
        let at = arguments.contains_key("at").then(|| take_size(&mut arguments, "at", 0)).transpose()?;
        let (elements, named): (Arguments, Arguments) = arguments.into_iter().partition(|(name, _)| {
            let name = name.split('[').next().unwrap_or(name);
            O::TENSORS.contains(&name)
        });
        let mut values: Vec<_> = elements.into_iter().collect();
        values.sort_by_key(|(name, _)| name.contains('['));
        Ok(Self { params: O::from_arguments(&named)?, misalign, at, values })
    }

    /// Names and values as they were written, without the place of a result.
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

    /// Its parameters.
    pub fn params(&self) -> &O::Params {
        &self.params
    }

    /// The result that `at` names; an error where the case has no such result.
    pub fn at(&self, domain: &O::Domain) -> Result<Option<usize>, CaseError> {
        let Some(at) = self.at else { return Ok(None) };
        let words = operation::result_element::<O>(domain, &self.params).words();
        let results = operation::sizes::<O>(domain, &self.params)?.outputs / words;
        if at < results {
            Ok(Some(at))
        } else {
            Err(CaseError::from(format!("{at} is not one of the {results} results, which count from 0")).of("at"))
        }
    }

    /// Multiplications at most: results times elements of the largest input. Nothing where the domain has no such case.
    pub fn work(&self, domain: &O::Domain) -> Option<usize> {
        let sizes = operation::sizes::<O>(domain, &self.params).ok().filter(|_| O::covers(domain, &self.params))?;
        Some(sizes.outputs.saturating_mul(sizes.inputs.into_iter().max().unwrap_or(0)))
    }

    /// The case, with tensors of the domain's sizes.
    pub fn case(&self, domain: &O::Domain) -> Result<Case<O::Params>, CaseError> {
        let sizes = operation::sizes::<O>(domain, &self.params)?;
        let mut tensors = sizes.inputs.map(|len| vec![0; len]);
        for (name, value) in &self.values {
            set::<O>(name, value, domain, &self.params, &mut tensors)?;
        }
        Ok(Case { params: self.params.clone(), tensors, misalign: self.misalign })
    }
}

fn set<O: Operation>(
    name: &str,
    value: &Value,
    domain: &O::Domain,
    params: &O::Params,
    tensors: &mut [Vec<i32>; 3],
) -> Result<(), CaseError> {
    let (tensor, index) = match name.split_once('[') {
        Some((tensor, index)) => (tensor, Some(index)),
        None => (name, None),
    };
    let t = O::TENSORS.iter().position(|known| *known == tensor).ok_or_else(|| format!("no tensor {tensor}"))?;
    let element = operation::element::<O>(domain, params, t);
    let Some(index) = index else {
        let place = whole::Place { op: O::OP, tensor, element: &element, range: O::range(domain, t) };
        return place.fill(value, &mut tensors[t]).map_err(|error| error.of(name));
    };
    let value = element.read(value).map_err(|error| error.of(name))?;
    let dimensions = O::dimensions(domain, params, t);
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
