//! Vectors as values and as Rust constants.

use super::summary;
use crate::cli::offline::value;
use crate::engine::operation::Element;
use crate::engine::operation::element::bits;
use crate::engine::vectors::{Tensor, Vector, Vectors};
use serde_json::Value as Json;
use tiebreak_reports::text::case;

/// Formats elements for readers: integers, and floats as the shortest decimals.
pub(super) fn values(tensor: &Tensor) -> Vec<Json> {
    let element = |words: &[i32]| value(&tensor.element.described(words));
    tensor.words.chunks(tensor.element.words()).map(element).collect()
}

/// Formats elements as integers. Floats become their bits.
fn integers(tensor: &Tensor) -> String {
    let one = |words: &[i32]| match &tensor.element {
        Element::Integer(_) => tensor.element.place(words).to_string(),
        Element::Float(_) => format!("{:#x}", bits(words)),
    };
    tensor.words.chunks(tensor.element.words()).map(one).collect::<Vec<_>>().join(", ")
}

/// Formats Rust constants that need no crate.
pub(super) fn rust(vectors: &Vectors, again: &str) -> String {
    let mut out = format!("// Test vectors, made by `{again} --format rust`.\n");
    summary(vectors).lines().for_each(|line| out += &format!("// {line}\n"));
    out += "
/// A test vector. Integers are as they are, and floats are given by their bits.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// Types of the elements, if the operation has any to choose.
    pub types: &'static str,
    /// The case in words.
    pub case: &'static str,
    /// The parameters by name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The operands by name, row by row.
    pub operands: &'static [(&'static str, &'static [i64])],
    /// The results, row by row.
    pub expected: &'static [i64],
    /// Known bugs that the vector detects.
    pub detects: &'static [&'static str],
}
";
    out += &format!("\n/// Vectors of {}, scheme {}.\npub const VECTORS: &[Vector] = &[\n", vectors.op, vectors.scheme);
    vectors.vectors.iter().for_each(|vector| out += &constant(vector));
    out + "];\n"
}

fn constant(vector: &Vector) -> String {
    let parameters: Vec<String> =
        vector.parameters().map(|(name, value)| format!("({name:?}, {:?})", value.to_string())).collect();
    let operands: Vec<String> =
        vector.operands.iter().map(|tensor| format!("({:?}, &[{}])", tensor.name, integers(tensor))).collect();
    format!(
        "    Vector {{\n        types: {:?},\n        case: {:?},\n        parameters: &[{}],\n        operands: &[{}],\n        expected: &[{}],\n        detects: &{:?},\n    }},\n",
        vector.types.as_deref().unwrap_or(""),
        case(&vector.case),
        parameters.join(", "),
        operands.join(", "),
        integers(&vector.expected),
        vector.detects
    )
}
