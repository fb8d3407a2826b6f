//! Tests of TOSA in the form of its conformance suite. A test is a directory with `desc.json`, which names a file of one operator and
//! numpy arrays of inputs and results. A directory of tests also works.

use super::lines::{Numbered, known, line};
use super::tensors;
use crate::model::Fault;
use crate::model::tosa::{self, Op, Rescale, Tensor, Test, Type};
use anyhow::Result;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tiebreak_reports::read::{self, MODEL};
use tiebreak_reports::text::plural;

/// File that describes a test.
const DESCRIPTION: &str = "desc.json";

/// Maximum depth of nested directories searched for tests.
const DEPTH: usize = 3;

/// Keys of `desc.json` that are read.
#[derive(Deserialize)]
struct Description {
    tosa_file: String,
    ifm_name: Vec<String>,
    ifm_file: Vec<String>,
    ofm_file: Vec<String>,
    #[serde(default)]
    expected_failure: bool,
}

/// Lists the descriptions in a directory and its subdirectories, sorted by name.
pub(super) fn found(path: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    search(path, DEPTH, &mut out);
    out.sort();
    out
}

fn search(path: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    let description = path.join(DESCRIPTION);
    if description.is_file() {
        out.push(description);
    } else if depth > 0 {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).for_each(|path| search(&path, depth - 1, out));
    }
}

/// Reads the lines of tests. Tests of other operators are left out; a single test of another operator is an error.
pub(super) fn lines(descriptions: &[PathBuf], root: &Path) -> Result<Vec<Numbered>> {
    let read: Vec<Result<Lines, String>> = descriptions.par_iter().map(|path| of_test(path, root)).collect();
    let (mut out, mut left_out) = (Vec::new(), BTreeMap::<String, usize>::new());
    for (path, one) in descriptions.iter().zip(read) {
        match one {
            Ok(lines) => out.extend(lines),
            Err(why) if descriptions.len() == 1 => out.push(Err(format!("{}: {why}", path.display()))),
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    for (why, count) in left_out {
        super::super::note(&format!("{} of TOSA left out: {why}", plural(count, "test")));
    }
    Ok(out.into_iter().enumerate().map(|(at, line)| (at + 1, line)).collect())
}

/// Lines of a test.
type Lines = Vec<Result<crate::engine::offline::Line, String>>;

/// Reads a test: one line for each matrix of a batch, otherwise one line. An error is the reason for leaving the test out.
fn of_test(path: &Path, root: &Path) -> Result<Lines, String> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let name = match dir.strip_prefix(root) {
        Ok(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
        _ => dir.display().to_string(),
    };
    let all = loaded(path, dir).and_then(|(description, test)| {
        if description.expected_failure {
            return unsupported("it is expected to fail");
        }
        let data = Data { test: &test, description: &description, dir };
        match test.op {
            Op::Matmul => data.products(),
            Op::Rescale(attributes) => data.rescaled(attributes).map(|line| vec![line]),
        }
    });
    let numbered = |(at, mut json): (usize, Json)| {
        json["id"] = json!(if at == 0 { name.clone() } else { format!("{name} [{at}]") });
        line(json, Path::new("")).and_then(known)
    };
    match all {
        Ok(all) => Ok(all.into_iter().enumerate().map(numbered).collect()),
        Err(Unread::Unsupported(why)) => Err(why),
        Err(Unread::Damaged(why)) => Ok(vec![Err(format!("{}: {why}", path.display()))]),
    }
}

fn loaded(path: &Path, dir: &Path) -> Result<(Description, Test), Unread> {
    let bytes = |path: &Path| read::bytes(path, MODEL).map_err(|error| error.to_string());
    let description: Description = serde_json::from_slice(&bytes(path)?)
        .map_err(|error| format!("its keys are not those of a test of TOSA: {error}"))?;
    let file = &description.tosa_file;
    let test = tosa::test(&bytes(&dir.join(file))?).map_err(|fault| match fault {
        Fault::Unsupported { .. } => Unread::Unsupported(fault.to_string()),
        _ => Unread::Damaged(format!("{file}: {fault}")),
    })?;
    Ok((description, test))
}

/// Reason for a test without a line.
enum Unread {
    /// No operation covers the test.
    Unsupported(String),
    /// The test is incomplete or malformed.
    Damaged(String),
}

impl From<String> for Unread {
    fn from(why: String) -> Self {
        Self::Damaged(why)
    }
}

fn unsupported<T>(why: &str) -> Result<T, Unread> {
    Err(Unread::Unsupported(why.to_owned()))
}

/// Test with its files.
struct Data<'a> {
    test: &'a Test,
    description: &'a Description,
    dir: &'a Path,
}

impl Data<'_> {
    /// Returns the input at a place, as described by the operator's file.
    fn tensor(&self, at: usize) -> Result<(&str, &Tensor), Unread> {
        let name = self.test.inputs.get(at).ok_or_else(|| format!("its operator has no input {at}"))?;
        let tensor = self.test.tensors.get(name).ok_or_else(|| format!("it has no tensor `{name}`"))?;
        Ok((name, tensor))
    }

    /// Returns the elements of an input, from the operator's file or from a numpy array.
    fn values(&self, at: usize) -> Result<Vec<i64>, Unread> {
        let (name, tensor) = self.tensor(at)?;
        if let Some(constants) = &tensor.constants {
            return Ok(constants.clone());
        }
        let place = self.description.ifm_name.iter().position(|given| given == name);
        let file = place.and_then(|place| self.description.ifm_file.get(place));
        Ok(self.array(file.ok_or_else(|| format!("`{name}` has neither constants nor a file"))?)?)
    }

    fn array(&self, file: &str) -> Result<Vec<i64>, String> {
        let all = tensors::elements(file, self.dir)?;
        all.iter().map(|v| v.as_i64().ok_or_else(|| format!("{file}: {v} is no integer"))).collect()
    }

    /// Returns the results, made by the reference model. `None` if their file is missing.
    fn results(&self) -> Result<Option<Vec<i64>>, String> {
        let file = self.description.ofm_file.first().ok_or("ofm_file: empty")?;
        if self.dir.join(file).is_file() { self.array(file).map(Some) } else { Ok(None) }
    }

    /// Returns the first element of an input.
    fn one(&self, at: usize) -> Result<i64, Unread> {
        let values = self.values(at)?;
        values.first().copied().ok_or_else(|| Unread::Damaged(format!("input {at} has no element")))
    }

    /// Builds a requantization of differences from the zero point.
    fn rescaled(&self, attributes: Rescale) -> Result<Json, Unread> {
        let scheme = match attributes.rounding_mode {
            1 => "tosa-apply-scale-32-single",
            3 => "tosa-apply-scale-32-double",
            _ => return unsupported("its rounding mode leaves the result open"),
        };
        let (_, input) = self.tensor(0)?;
        let output = self.test.tensors.get(&self.test.output).and_then(|tensor| tensor.element);
        let (ty, range) = match (output, attributes.output_unsigned) {
            (Some(Type::I8), false) => ("int8", -128..=127),
            (Some(Type::I8), true) => ("uint8", 0..=255),
            (Some(Type::I16), false) => ("int16", -32_768..=32_767),
            _ => return unsupported("its results are no INT8, UINT8 or INT16; those are read"),
        };
        let Some(element) = input.element else { return unsupported("its input is no INT8, INT16 or INT32") };
        let of_type = |value: i64| signed(element, attributes.input_unsigned, value);
        let zero_point = of_type(self.one(3)?);
        let x: Vec<i64> = self.values(0)?.into_iter().map(|value| of_type(value) - zero_point).collect();
        let shifts: Vec<i64> = self.values(2)?.into_iter().map(|shift| 31 - shift).collect();
        let expected = self.results()?;
        let stored = |value: i64| if attributes.output_unsigned { value & 255 } else { value };
        Ok(json!({
            "op": "requantize", "scheme": scheme, "type": ty,
            "case": {
                "m": self.values(1)?, "s": shifts, "zero_point": stored(self.one(4)?), "min": range.start(), "max": range.end(), "x": x,
            },
            "expected": expected.map(|all| all.into_iter().map(stored).collect::<Vec<_>>()),
        }))
    }

    /// Builds a product for each matrix of a batch.
    fn products(&self) -> Result<Vec<Json>, Unread> {
        let ((_, lhs), (_, rhs)) = (self.tensor(0)?, self.tensor(1)?);
        if (lhs.element, rhs.element) != (Some(Type::I8), Some(Type::I8)) {
            return unsupported("its operands are not INT8");
        }
        let operands = format!("operands of {:?} and {:?}", lhs.shape, rhs.shape);
        let ([batches, m, k], [others, depth, n]) = (&lhs.shape[..], &rhs.shape[..]) else {
            return Err(format!("{operands}; three dimensions are read").into());
        };
        if (batches, k) != (others, depth) {
            return Err(format!("{operands} cannot be multiplied").into());
        }
        let (a, b, expected) = (self.values(0)?, self.values(1)?, self.results()?);
        let (lhs_offset, rhs_offset) = (-self.one(2)?, -self.one(3)?);
        let part = |all: &[i64], size: usize, at: usize| all.get(at * size..(at + 1) * size).map(<[i64]>::to_vec);
        let one = |at: usize| {
            json!({
                "op": "matmul", "scheme": "exact:wrap", "type": "int8",
                "case": {
                    "m": m, "n": n, "k": k, "lhs_offset": lhs_offset, "rhs_offset": rhs_offset,
                    "lhs": part(&a, m * k, at), "rhs": part(&b, k * n, at),
                },
                "expected": expected.as_ref().and_then(|all| part(all, m * n, at)),
            })
        };
        Ok((0..*batches).map(one).collect())
    }
}

/// Converts a value of a type, interpreted as unsigned if `unsigned` is true.
fn signed(element: Type, unsigned: bool, value: i64) -> i64 {
    match element {
        Type::I8 if unsigned => value & 0xff,
        Type::I16 if unsigned => value & 0xffff,
        Type::I8 | Type::I16 | Type::I32 => value,
    }
}
