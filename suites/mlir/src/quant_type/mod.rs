//! The type `!quant.uniform` of MLIR as text, the tensors around it, and the ops that cast to and from it: parser, printer, verifier.
//!
//! Grammar and rules: RFC "Improvements in the 'quant' dialect" ("The `!quant.uniform` type", "Per-axis quantization integrity", the
//! operations), and llvm/llvm-project mlir/lib/Dialect/Quant/IR/TypeParser.cpp for blocks along several axes. Where mlir-opt has words
//! for what is wrong, an error begins with them; where it accepts a text that cannot be right, the error says how it reads it.

mod cursor;
mod error;
mod explain;
pub mod file;
mod op;
mod parse;
mod print;
mod rule;
mod scales;
mod spans;
mod uniform;
mod verify;

pub use error::Error;
pub use explain::{Dyadic, Explanation, Scale as ExplainedScale};
pub use op::{Cast, Form, Op};
pub use print::Spelled;
pub use rule::Rule;
pub use tiebreak_impls::quantized::{Expressed, Granularity, Quantized, Scale, Storage};

use cursor::Cursor;
use error::Fault;
use tiebreak_oracle::float::Format;

/// What a tensor holds, or a scalar is.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// `!quant.uniform<...>`
    Uniform(Quantized),
    /// `f16`, `bf16`, `f32`, `f64`
    Float(Expressed),
    /// A signless integer of so many bits: `i8`
    Integer(u32),
}

/// A type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// No tensor.
    Scalar(Element),
    /// `tensor<2x?x...>`
    Ranked {
        /// Sizes; none where it is known at run time only (`?`).
        dims: Vec<Option<u64>>,
        /// What it holds.
        element: Element,
    },
    /// `tensor<*x...>`
    Unranked(Element),
}

impl Type {
    /// What it holds, or is.
    pub fn element(&self) -> &Element {
        match self {
            Self::Scalar(element) | Self::Ranked { element, .. } | Self::Unranked(element) => element,
        }
    }

    /// The quantized type that it holds or is, if it does.
    pub fn uniform(&self) -> Option<&Quantized> {
        match self.element() {
            Element::Uniform(uniform) => Some(uniform),
            _ => None,
        }
    }
}

/// The oracle's format of an expressed type.
pub fn format(expressed: Expressed) -> Format {
    match expressed {
        Expressed::F16 => Format::F16,
        Expressed::Bf16 => Format::Bf16,
        Expressed::F32 => Format::F32,
        Expressed::F64 => Format::F64,
    }
}

/// A type or an op, whichever a text is.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A type.
    Type(Type),
    /// An op.
    Op(Box<Op>),
}

/// Reads a type: `!quant.uniform<i8:f32, 2.0>`, `tensor<?x3x!quant.uniform<...>>`, `tensor<*xf32>`, `i8`. A quantized type by itself may
/// be one of channels or blocks; a tensor's must fit the tensor.
pub fn parse_type(text: &str) -> Result<Type, Error> {
    whole(text, |cursor| parse::located(cursor).map(|located| located.ty))
}

/// Reads a type of which tensors are made: as [`parse_type`], but a scale may be denormal in the expressed type. mlir-opt accepts that, and
/// so does every library's code, which may flush it to zero.
pub fn parse_type_to_run(text: &str) -> Result<Type, Error> {
    whole(text, |cursor| {
        cursor.denormal_scales = true;
        parse::located(cursor).map(|located| located.ty)
    })
}

/// Reads an op: `%result = quant.qcast %input : f32 to !quant.uniform<i8:f32, 2.0>`, or its generic form; its types must fit it.
pub fn parse_op(text: &str) -> Result<Op, Error> {
    whole(text, op::parse)
}

/// Reads a type or an op.
pub fn parse(text: &str) -> Result<Item, Error> {
    let mut cursor = Cursor::new(text);
    if op::begins(&mut cursor) {
        parse_op(text).map(|op| Item::Op(Box::new(op)))
    } else {
        parse_type(text).map(Item::Type)
    }
}

fn whole<'a, T>(text: &'a str, read: impl FnOnce(&mut Cursor<'a>) -> Result<T, Fault>) -> Result<T, Error> {
    let mut cursor = Cursor::new(text);
    let read = read(&mut cursor).and_then(|read| cursor.end().map(|()| read));
    read.map_err(|fault| Error::new(fault, text))
}
