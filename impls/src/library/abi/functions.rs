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

/// All functions of `tiebreak.h`.
pub(in crate::library) const FUNCTIONS: &[Function] = &[
    Function::of("fpm", &[], &[]),
    Function::of("requantize", &["i8"], &["output"]),
    Function::of("requantize", &["u8"], &["output"]),
    Function::of("requantize", &["i16"], &["output"]),
    Function::of("quantize", &["f32", "i8"], &["expressed", "storage"]),
    Function::of("quantize", &["f32", "u8"], &["expressed", "storage"]),
    Function::of("quantize", &["f32", "i16"], &["expressed", "storage"]),
    Function::of("quantize", &["f32", "u16"], &["expressed", "storage"]),
    Function::of("dequantize", &["i8", "f32"], &["storage", "expressed"]),
    Function::of("dequantize", &["u8", "f32"], &["storage", "expressed"]),
    Function::of("dequantize", &["i16", "f32"], &["storage", "expressed"]),
    Function::of("dequantize", &["u16", "f32"], &["storage", "expressed"]),
    Function::of("add", &["i8"], &["element"]),
    Function::of("add", &["u8"], &["element"]),
    Function::of("add", &["i16"], &["element"]),
    Function::of("sub", &["i8"], &["element"]),
    Function::of("sub", &["u8"], &["element"]),
    Function::of("sub", &["i16"], &["element"]),
    Function::of("mul", &["i8"], &["element"]),
    Function::of("mul", &["u8"], &["element"]),
    Function::of("mul", &["i16"], &["element"]),
    Function::of("matmul", &["i8", "i8"], &["lhs", "rhs"]),
    Function::of("matmul", &["u8", "u8"], &["lhs", "rhs"]),
    Function::of("matmul", &["u8", "i8"], &["lhs", "rhs"]),
    Function::of("matmul", &["i16", "i16"], &["lhs", "rhs"]),
    Function::of("qmatmul", &["i8", "i8", "i8"], &["lhs", "rhs", "output"]),
    Function::of("qmatmul", &["u8", "u8", "u8"], &["lhs", "rhs", "output"]),
    Function::of("qmatmul", &["u8", "i8", "u8"], &["lhs", "rhs", "output"]),
    Function::of("qmatmul", &["i16", "i8", "i16"], &["lhs", "rhs", "output"]),
    Function::of("qmatmul", &["i8", "i4", "i8"], &["lhs", "rhs", "output"]),
    Function::of("conv2d", &["i8", "i8"], &["lhs", "rhs"]),
    Function::of("conv2d", &["u8", "u8"], &["lhs", "rhs"]),
    Function::of("conv2d", &["u8", "i8"], &["lhs", "rhs"]),
    Function::of("conv2d", &["i16", "i16"], &["lhs", "rhs"]),
    Function::transposed("conv2d", &["i8", "i8"], &["lhs", "rhs"]),
    Function::transposed("conv2d", &["u8", "u8"], &["lhs", "rhs"]),
    Function::of("pool", &["i8"], &["element"]),
    Function::of("pool", &["u8"], &["element"]),
    Function::of("pool", &["i16"], &["element"]),
    Function::of("qconv2d", &["i8", "i8", "i8"], &["lhs", "rhs", "output"]),
    Function::of("qconv2d", &["u8", "u8", "u8"], &["lhs", "rhs", "output"]),
    Function::of("qconv2d", &["u8", "i8", "u8"], &["lhs", "rhs", "output"]),
    Function::transposed("qconv2d", &["i8", "i8", "i8"], &["lhs", "rhs", "output"]),
    Function::transposed("qconv2d", &["u8", "u8", "u8"], &["lhs", "rhs", "output"]),
    Function::of("concat", &["i8"], &["element"]),
    Function::of("concat", &["u8"], &["element"]),
    Function::of("softmax", &["i8", "i8"], &["input", "output"]),
    Function::of("softmax", &["u8", "u8"], &["input", "output"]),
    Function::of("softmax", &["i8", "i16"], &["input", "output"]),
];

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
    const fn of(op: &'static str, types: &'static [&'static str], fields: &'static [&'static str]) -> Self {
        Self { op, transposed: false, types, fields }
    }

    const fn transposed(op: &'static str, types: &'static [&'static str], fields: &'static [&'static str]) -> Self {
        Self { transposed: true, ..Self::of(op, types, fields) }
    }

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
