//! Chains: lines whose `op` is, for example, `matmul | requantize`. `scheme`, `kernel`, `type` and `case` have one part for each stage,
//! separated by `|`; `case` may also be a list. The results of a stage become the first operand that the next case omits.
//! Only the last stage is judged.

use crate::cli::plain;
use crate::engine::offline::{Bench, Line};
use crate::verify::{OPERATIONS, OPS};
use serde_json::{Value as Json, json};
use tiebreak_oracle::names::unknown;

/// Separator of stages.
const BAR: char = '|';

/// Evaluates all stages but the last by the oracle and returns the line of the last operation.
pub(super) fn resolved(line: Line) -> Result<Line, String> {
    if !line.op.contains(BAR) {
        return Ok(line);
    }
    let ops: Vec<String> = parts(&line.op);
    let of = |name: &str, text: Option<&String>| match text {
        None => Ok(vec![None; ops.len()]),
        Some(text) => {
            let all: Vec<Option<String>> =
                parts(text).into_iter().map(|one| Some(one).filter(|one| !one.is_empty())).collect();
            as_many(name, all, ops.len())
        }
    };
    let (schemes, kernels) = (of("scheme", line.scheme.as_ref())?, of("kernel", line.kernel.as_ref())?);
    let types = of("type", line.ty.as_ref())?;
    let cases = match line.case {
        Json::Array(all) => all,
        Json::String(text) => parts(&text).into_iter().map(Json::String).collect(),
        _ => return Err("case: neither a text nor a list; write a case for each operation".to_owned()),
    };
    let cases = as_many("case", cases, ops.len())?;
    let stages = ops.iter().zip(schemes).zip(kernels).zip(types).zip(cases);
    let mut stages: Vec<Line> = stages
        .map(|((((op, scheme), kernel), ty), case)| Line {
            op: op.clone(),
            scheme,
            kernel,
            ty,
            case,
            expected: None,
            id: None,
        })
        .collect();
    let at = |stage: usize, error: String| format!("stage {} ({}): {error}", stage + 1, ops[stage]);
    let mut results: Option<Vec<Json>> = None;
    for (stage, line) in stages.iter_mut().enumerate() {
        let op = OPERATIONS.iter().find(|op| op.op() == line.op);
        let op = op.ok_or_else(|| at(stage, unknown("operation", &line.op, OPS.iter().copied()).to_string()))?;
        let bench = op.bench();
        if let Some(results) = results.take() {
            give(&mut line.case, bench.tensors(), results).map_err(|error| at(stage, error))?;
        }
        if stage + 1 < ops.len() {
            results = Some(evaluated(&bench, line).map_err(|error| at(stage, error))?);
        }
    }
    let last = stages.pop().ok_or("op: no operation in it")?;
    Ok(Line { expected: line.expected, id: line.id, ..last })
}

fn parts(text: &str) -> Vec<String> {
    text.split(BAR).map(|part| part.trim().to_owned()).collect()
}

fn as_many<T>(name: &str, all: Vec<T>, ops: usize) -> Result<Vec<T>, String> {
    match all.len() == ops {
        true => Ok(all),
        false => Err(format!("{name}: {} parts for a chain of {ops} operations; `{BAR}` separates them", all.len())),
    }
}

/// Evaluates a line. Fails if a result has no value.
fn evaluated(bench: &Bench, line: &Line) -> Result<Vec<Json>, String> {
    let results = bench.eval(line).map_err(|error| error.to_string())?;
    let value = |(at, one): (usize, Option<_>)| match one {
        Some(value) => Ok(super::value(&value)),
        None => Err(format!("its scheme gives no value to result {at}, which the next stage takes")),
    };
    results.into_iter().enumerate().map(value).collect()
}

/// Inserts results as the first operand that a case omits.
fn give(case: &mut Json, tensors: &[&str], results: Vec<Json>) -> Result<(), String> {
    let none = || {
        format!("its case has every operand ({}); leave the one out that the stage before it gives", tensors.join(", "))
    };
    match case {
        Json::Object(arguments) => {
            let name = tensors.iter().find(|name| !arguments.contains_key(**name)).ok_or_else(none)?;
            arguments.insert((*name).to_owned(), Json::Array(results));
        }
        Json::String(words) => {
            let has = |name: &str| words.split_whitespace().any(|word| word.split(['=', '[']).next() == Some(name));
            let name = tensors.iter().find(|name| !has(name)).ok_or_else(none)?;
            let listed: Vec<String> = results.iter().map(plain).collect();
            *words += &format!(" {name}=[{}]", listed.join(","));
        }
        _ => return Err("its case is neither a text nor an object".to_owned()),
    }
    Ok(())
}

/// Builds the line of a chain of two operations, each with its scheme, type and case.
pub(super) fn of_two(first: (&str, &str, &str, Json), second: (&str, &str, &str, Json), expected: Json) -> Json {
    let both = |a: &str, b: &str| format!("{a} {BAR} {b}");
    json!({
        "op": both(first.0, second.0), "scheme": both(first.1, second.1), "type": both(first.2, second.2),
        "case": [first.3, second.3], "expected": expected,
    })
}
