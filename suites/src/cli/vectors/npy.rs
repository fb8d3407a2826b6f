//! Vectors as numpy arrays: `cases.jsonl` for `eval` and `judge`, and a file for each operand and each list of results.

use super::files::Files;
use crate::engine::operation::Element;
use crate::engine::operation::element::bits;
use crate::engine::vectors::{Tensor, Vector, Vectors};
use anyhow::Result;
use half::f16;
use npyz::{AutoSerialize, WriterBuilder};
use serde_json::{Map, json};
use tiebreak_oracle::float::Format;

/// Returns the files.
pub(super) fn files(vectors: &Vectors) -> Result<Files> {
    let (mut out, mut lines) = (Files::new(), String::new());
    for (at, vector) in vectors.vectors.iter().enumerate() {
        let name = |tensor: &Tensor| format!("{at:03}-{}.npy", tensor.name);
        let mut case = Map::new();
        for (parameter, value) in vector.parameters() {
            case.insert(parameter.to_owned(), json!(value.to_string()));
        }
        for tensor in &vector.operands {
            case.insert(tensor.name.to_owned(), json!(format!("@{}", name(tensor))));
        }
        for tensor in vector.operands.iter().chain([&vector.expected]) {
            out.push((name(tensor).into(), array(tensor)?));
        }
        lines += &format!("{}\n", line(vectors, vector, json!(case), &name(&vector.expected)));
    }
    out.push(("cases.jsonl".into(), lines.into_bytes()));
    Ok(out)
}

fn line(vectors: &Vectors, vector: &Vector, case: serde_json::Value, expected: &str) -> serde_json::Value {
    let mut line = json!({
        "op": vectors.op, "scheme": vectors.scheme, "case": case, "expected": format!("@{expected}"), "id": vector.detects,
    });
    if let Some(types) = &vector.types {
        line["type"] = json!(types);
    }
    line
}

/// Encodes an array: the narrowest integer type that holds the element. A bf16 becomes float32, because numpy has no bf16.
fn array(tensor: &Tensor) -> Result<Vec<u8>> {
    let words = tensor.words.chunks(tensor.element.words());
    let shape: Vec<u64> = tensor.dimensions.iter().map(|size| *size as u64).collect();
    let shape = &shape[..];
    let integers = || words.clone().map(|words| tensor.element.place(words));
    let patterns = || words.clone().map(bits);
    match &tensor.element {
        Element::Integer(range) => match (*range.start(), *range.end()) {
            (-128.., ..=127) => written(shape, integers().map(|v| v as i8)),
            (0.., ..=255) => written(shape, integers().map(|v| v as u8)),
            (-32_768.., ..=32_767) => written(shape, integers().map(|v| v as i16)),
            (0.., ..=65_535) => written(shape, integers().map(|v| v as u16)),
            (-2_147_483_648.., ..=2_147_483_647) => written(shape, integers().map(|v| v as i32)),
            _ => written(shape, integers()),
        },
        Element::Float(Format::F16) => written(shape, patterns().map(|bits| f16::from_bits(bits as u16))),
        Element::Float(Format::Bf16) => written(shape, patterns().map(|bits| f32::from_bits((bits as u32) << 16))),
        Element::Float(Format::F32) => written(shape, patterns().map(|bits| f32::from_bits(bits as u32))),
        Element::Float(Format::F64) => written(shape, patterns().map(f64::from_bits)),
    }
}

fn written<T: AutoSerialize>(shape: &[u64], values: impl Iterator<Item = T>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut out).begin_nd()?;
    writer.extend(values)?;
    writer.finish()?;
    Ok(out)
}
