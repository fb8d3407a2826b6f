//! Functions that a library may export.

use super::super::tensor::Type;
use serde_json::Value;

/// Function that a library may export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::library) struct Function {
    /// Operation.
    pub(in crate::library) op: &'static str,
    /// True for a function of transposed convolutions, which have separate functions.
    pub(in crate::library) transposed: bool,
    /// Types in the function's name, in the order of its tensors.
    pub(in crate::library) types: &'static [&'static str],
    /// Field of the operation's domain that each type fills.
    pub(in crate::library) fields: &'static [&'static str],
}

/// Makes the list of functions: operation, whether transposed, fields, and the types of each function for these fields.
macro_rules! functions {
    ($($op:literal $transposed:literal $fields:tt: $([$($type:literal),*])+;)+) => {
        &[$($(Function { op: $op, transposed: $transposed, types: &[$($type),*], fields: &$fields },)+)+]
    };
}

/// All functions of `tiebreak.h`.
pub(in crate::library) const FUNCTIONS: &[Function] = functions! {
    "fpm" false []: [];
    "requantize" false ["output"]: ["i8"] ["u8"] ["i16"];
    "quantize" false ["expressed", "storage"]: ["f32", "i8"] ["f32", "u8"] ["f32", "i16"] ["f32", "u16"];
    "dequantize" false ["storage", "expressed"]: ["i8", "f32"] ["u8", "f32"] ["i16", "f32"] ["u16", "f32"];
    "add" false ["element"]: ["i8"] ["u8"] ["i16"];
    "sub" false ["element"]: ["i8"] ["u8"] ["i16"];
    "mul" false ["element"]: ["i8"] ["u8"] ["i16"];
    "matmul" false ["lhs", "rhs"]: ["i8", "i8"] ["u8", "u8"] ["u8", "i8"] ["i16", "i16"];
    "qmatmul" false ["lhs", "rhs", "output"]: ["i8", "i8", "i8"] ["u8", "u8", "u8"] ["u8", "i8", "u8"] ["i16", "i8", "i16"] ["i8", "i4", "i8"];
    "conv2d" false ["lhs", "rhs"]: ["i8", "i8"] ["u8", "u8"] ["u8", "i8"] ["i16", "i16"];
    "conv2d" true ["lhs", "rhs"]: ["i8", "i8"] ["u8", "u8"];
    "pool" false ["element"]: ["i8"] ["u8"] ["i16"];
    "qconv2d" false ["lhs", "rhs", "output"]: ["i8", "i8", "i8"] ["u8", "u8", "u8"] ["u8", "i8", "u8"];
    "qconv2d" true ["lhs", "rhs", "output"]: ["i8", "i8", "i8"] ["u8", "u8", "u8"];
    "concat" false ["element"]: ["i8"] ["u8"];
    "softmax" false ["input", "output"]: ["i8", "i8"] ["u8", "u8"] ["i8", "i16"];
};

/// Returns the type of a tensor from its name in a function's name.
pub(super) fn named(name: &str) -> Type {
    match name {
        "i4" => Type::I4,
        "i8" => Type::I8,
        "u8" => Type::U8,
        "i16" => Type::I16,
        "u16" => Type::U16,
        _ => Type::Word,
    }
}

impl Function {
    /// Returns the parts of the function's name after `tiebreak`.
    pub(in crate::library) fn words(&self) -> impl Iterator<Item = &'static str> {
        let form = self.transposed.then_some("transposed");
        [self.op].into_iter().chain(form).chain(self.types.iter().copied())
    }

    /// Returns the name in C, such as `tiebreak_requantize_i8`.
    pub(in crate::library) fn symbol(&self) -> String {
        ["tiebreak"].into_iter().chain(self.words()).collect::<Vec<_>>().join("_")
    }

    /// Returns the fields of the operation's domain that the function's name determines.
    pub(in crate::library) fn domain(&self) -> Vec<(&'static str, Value)> {
        let types = self.fields.iter().copied().zip(self.types.iter().map(|name| Value::from(*name)));
        // `qmatmul` functions have the stages of a layer as parameters.
        let lists = (self.op == "qmatmul").then(|| ("lists", Value::from("layer")));
        let transposed = self.transposed.then(|| ("transposed", Value::from(true)));
        types.chain(lists).chain(transposed).collect()
    }

    /// Returns the type of the `at`th tensor; `Word` if the name has no such type.
    pub(super) fn element(&self, at: usize) -> Type {
        self.types.get(at).map_or(Type::Word, |name| named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header and the table have the same function names.
    #[test]
    fn the_header_and_the_table_have_the_same_functions() {
        let header = crate::library::HEADER;
        let declared: Vec<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("TIEBREAK_EXPORT int "))
            .filter_map(|line| line.split('(').next())
            .collect();
        let table: Vec<String> = FUNCTIONS.iter().map(Function::symbol).collect();
        assert_eq!(declared, table);
        assert!(FUNCTIONS.iter().all(|function| function.types.len() == function.fields.len()));
    }
}
