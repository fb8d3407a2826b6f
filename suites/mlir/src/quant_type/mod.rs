//! Parser, printer and verifier of MLIR's type `!quant.uniform`, of tensors of it, and of the ops that cast to and from it.
//!
//! Grammar and rules: RFC "Improvements in the 'quant' dialect" ("The `!quant.uniform` type", "Per-axis quantization integrity", the operations), and
//! llvm/llvm-project mlir/lib/Dialect/Quant/IR/TypeParser.cpp for blocks along several axes. If mlir-opt has a message for an error, ours begins with
//! it. If mlir-opt accepts a text that cannot be right, the message says how mlir-opt reads it.

mod cursor;
mod error;
mod explain;
pub mod file;
mod op;
mod parse;
mod print;
mod scales;
mod spans;
mod uniform;
mod verify;

pub use error::Error;
pub use explain::{Dyadic, Explanation, Scale as ExplainedScale};
pub use op::{Cast, Form, Op};
pub use print::Spelled;
pub use tiebreak_impls::quantized::{Expressed, Granularity, Quantized, Scale, Storage};

use cursor::Cursor;
use error::Fault;
use tiebreak_oracle::float::Format;

/// Type of a scalar, or of the elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// `!quant.uniform<...>`
    Uniform(Quantized),
    /// `f16`, `bf16`, `f32`, `f64`
    Float(Expressed),
    /// Signless integer of this width: `i8`
    Integer(u32),
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Scalar.
    Scalar(Element),
    /// `tensor<2x?x...>`
    Ranked {
        /// Sizes; `None` for a size that is known only at run time (`?`).
        dims: Vec<Option<u64>>,
        /// Type of the elements.
        element: Element,
    },
    /// `tensor<*x...>`
    Unranked(Element),
}

impl Type {
    /// Returns the type of the scalar or of the tensor's elements.
    pub fn element(&self) -> &Element {
        match self {
            Self::Scalar(element) | Self::Ranked { element, .. } | Self::Unranked(element) => element,
        }
    }

    /// Returns the quantized type of the scalar or of the tensor's elements; `None` for another type.
    pub fn uniform(&self) -> Option<&Quantized> {
        match self.element() {
            Element::Uniform(uniform) => Some(uniform),
            _ => None,
        }
    }
}

/// Returns the oracle's format of an expressed type.
pub fn format(expressed: Expressed) -> Format {
    match expressed {
        Expressed::F16 => Format::F16,
        Expressed::Bf16 => Format::Bf16,
        Expressed::F32 => Format::F32,
        Expressed::F64 => Format::F64,
    }
}

/// Type or op.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Type.
    Type(Type),
    /// Op.
    Op(Box<Op>),
}

/// Parses a type: `!quant.uniform<i8:f32, 2.0>`, `tensor<?x3x!quant.uniform<...>>`, `tensor<*xf32>`, `i8`. A quantized type without a tensor may have
/// channels or blocks. In a tensor, channels and blocks must fit its dimensions.
pub fn parse_type(text: &str) -> Result<Type, Error> {
    whole(text, |cursor| parse::located(cursor).map(|located| located.ty))
}

/// Parses a type for tensors of a run: as [`parse_type`], but a scale may be denormal in the expressed type. mlir-opt accepts such a scale, and
/// so does every library, whose code may flush it to zero.
pub fn parse_type_to_run(text: &str) -> Result<Type, Error> {
    whole(text, |cursor| {
        cursor.denormal_scales = true;
        parse::located(cursor).map(|located| located.ty)
    })
}

/// Parses an op whose types must fit: `%result = quant.qcast %input : f32 to !quant.uniform<i8:f32, 2.0>`, or its generic form.
pub fn parse_op(text: &str) -> Result<Op, Error> {
    whole(text, op::parse)
}

/// Parses a type or an op.
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
