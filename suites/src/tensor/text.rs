//! Cases as text: `m=1 n=1 k=16 lhs[0,0]=255 lhs[0,8]=255`. Parameters by name, elements by index; `lhs=3` fills a tensor.

use super::{Case, Operation};
use indexmap::IndexMap;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger;

/// Names with their values, in the order given.
pub type Arguments = IndexMap<String, i64>;

/// Elements of one tensor that a witness spells out; a case that needs more is told by its shape alone.
const SPELLED: usize = 64;

/// The case by argument, where it is small enough to spell out.
pub fn arguments<O: Operation>(domain: &O::Domain, case: &Case<O::Params>) -> Option<ledger::Case> {
    let mut out: ledger::Case = O::arguments(&case.params).into_iter().collect();
    for (t, name) in O::TENSORS.iter().enumerate() {
        let tensor = &case.tensors[t];
        let usual = usual(tensor);
        let others = tensor.iter().filter(|v| **v != usual).count();
        if others > SPELLED {
            return None;
        }
        if usual != 0 {
            out.insert((*name).to_owned(), usual.into());
        }
        let dimensions = O::dimensions(domain, &case.params, t);
        for (at, value) in tensor.iter().enumerate().filter(|(_, v)| **v != usual) {
            out.insert(format!("{name}[{}]", subscripts(at, &dimensions)), (*value).into());
        }
    }
    if case.misalign != 0 {
        out.insert("misalign".to_owned(), case.misalign as i64);
    }
    Some(out)
}

/// The value that is told once: that of all elements, or in a large tensor that of most.
fn usual(tensor: &[i32]) -> i32 {
    if let Some(first) = tensor.first()
        && tensor.iter().all(|v| v == first)
    {
        return *first;
    }
    if tensor.len() <= SPELLED {
        return 0;
    }
    let mut counts = std::collections::BTreeMap::new();
    tensor.iter().for_each(|v| *counts.entry(*v).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|(v, n)| (*n, *v == 0)).map_or(0, |(v, _)| v)
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
pub fn parse<O: Operation>(text: &str, domain: &O::Domain) -> Result<Case<O::Params>, String> {
    let mut arguments = Arguments::new();
    for word in text.split_whitespace() {
        let (name, value) =
            word.split_once('=').ok_or_else(|| format!("`{word}` is not NAME=VALUE, such as m=4 or lhs[0,3]=255"))?;
        let value = value.parse().map_err(|_| format!("{name}: `{value}` is not an integer"))?;
        arguments.insert(name.to_owned(), value);
    }
    let misalign = take(&mut arguments, "misalign", 0, 0, 15)? as usize;
    arguments.shift_remove("at");
    let (elements, named): (Arguments, Arguments) = arguments.into_iter().partition(|(name, _)| {
        let name = name.split('[').next().unwrap_or(name);
        O::TENSORS.contains(&name)
    });
    let params = O::from_arguments(&named)?;
    let sizes = O::sizes(domain, &params).map_err(|e| e.to_string())?;
    let mut tensors = sizes.inputs.map(|len| vec![0; len]);
    for (name, value) in elements {
        set::<O>(&name, value, domain, &params, &mut tensors)?;
    }
    Ok(Case { params, tensors, misalign })
}

fn set<O: Operation>(
    name: &str,
    value: i64,
    domain: &O::Domain,
    params: &O::Params,
    tensors: &mut [Vec<i32>; 3],
) -> Result<(), String> {
    let (tensor, index) = match name.split_once('[') {
        Some((tensor, index)) => (tensor, Some(index.trim_end_matches(']'))),
        None => (name, None),
    };
    let t = O::TENSORS.iter().position(|known| *known == tensor).ok_or_else(|| format!("no tensor {tensor}"))?;
    let range = O::range(domain, t);
    let value = i32::try_from(value).ok().filter(|v| range.contains(v));
    let value = value.ok_or_else(|| format!("{name}: must be in {}..={}", range.start(), range.end()))?;
    let Some(index) = index else {
        tensors[t].fill(value);
        return Ok(());
    };
    let dimensions = O::dimensions(domain, params, t);
    let subscripts: Result<Vec<usize>, _> = index.split(',').map(str::parse).collect();
    let at = match subscripts {
        Ok(s) if s.len() == dimensions.len() && s.iter().zip(&dimensions).all(|(s, size)| s < size) => {
            s.iter().zip(&dimensions).fold(0, |at, (s, size)| at * size + s)
        }
        _ => return Err(format!("{name}: not an index into {tensor} of shape {dimensions:?}")),
    };
    tensors[t][at] = value;
    Ok(())
}

/// The value of `name`, or what is usual; out of the arguments, so that what is left over is unknown.
pub fn take(arguments: &mut Arguments, name: &str, usual: i64, least: i64, most: i64) -> Result<i64, String> {
    let value = arguments.shift_remove(name).unwrap_or(usual);
    if (least..=most).contains(&value) { Ok(value) } else { Err(format!("{name}: {value} is not in {least}..={most}")) }
}

/// A size: any number that is not negative; the shape says what it must be.
pub fn take_size(arguments: &mut Arguments, name: &str, usual: usize) -> Result<usize, String> {
    Ok(take(arguments, name, usual as i64, 0, i64::from(u32::MAX))? as usize)
}

/// An int32.
pub fn take_int32(arguments: &mut Arguments, name: &str, usual: i32) -> Result<i32, String> {
    Ok(take(arguments, name, usual.into(), i32::MIN.into(), i32::MAX.into())? as i32)
}

/// An error for arguments that nothing took.
pub fn nothing_left(arguments: &Arguments, known: &[&str]) -> Result<(), String> {
    match arguments.keys().next() {
        None => Ok(()),
        Some(name) => Err(unknown("argument", name, known.iter().copied()).to_string()),
    }
}
