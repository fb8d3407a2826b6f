//! Every rule that a text can break, in mlir-opt's words where it has some (22.1.8), and how it reads the texts that it accepts.

use super::print::{literal, six_digits};
use thiserror::Error;
use tiebreak_oracle::names::UnknownName;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Rule {
    /// Something else is to stand here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The type or op is over.
    #[error("nothing may follow the type")]
    Trailing,
    /// No int64, or no axis.
    #[error("integer value too large")]
    IntegerTooLarge,
    /// `1`, `1e5`.
    #[error(
        "unexpected decimal integer literal for a floating point value: add a trailing dot to make the literal a float"
    )]
    NoDot,
    /// More than 16 digits.
    #[error("hexadecimal float constant out of range for type: it is the bits of a double, at most 16 digits")]
    TooManyBits,
    /// `0x1.8p3`
    #[error("hexadecimal float literal is the bits of a double, without a dot or an exponent")]
    NoBits,
    /// `-0x...`
    #[error("hexadecimal float literal should not have a leading minus")]
    NegativeBits,
    /// No type, op or dialect of that name.
    #[error("{0}")]
    Unknown(UnknownName),
    /// What MLIR has and this does not.
    #[error("{name} is not supported: {instead}")]
    NotSupported {
        /// Its name.
        name: String,
        /// What may stand here.
        instead: &'static str,
    },
    /// `si8`, `ui8`.
    #[error(
        "{0} is not signless: write {1} (mlir-opt accepts it as a storage type and prints {1}; no scast takes such a type)"
    )]
    Signless(String, String),
    /// Neither `iN` nor `uN`.
    #[error("illegal storage type prefix: a storage type is `i` or `u` and its width, such as i8 or u8")]
    StoragePrefix,
    /// `i`, `u`.
    #[error("expected storage type width, such as i8 or u8")]
    StorageWidth,
    /// 0, 33.
    #[error("illegal storage type size: {0}; it is 1 to 32")]
    StorageSize(String),
    /// Below the storage type.
    #[error("illegal storage type minimum: {min}; {storage} begins at {least}")]
    Minimum {
        /// As given.
        min: i64,
        /// The storage type.
        storage: String,
        /// Its smallest value.
        least: i64,
    },
    /// Above the storage type.
    #[error("illegal storage type maximum: {max}; {storage} ends at {most}")]
    Maximum {
        /// As given.
        max: i64,
        /// The storage type.
        storage: String,
        /// Its largest value.
        most: i64,
    },
    /// Equal or reversed.
    #[error("illegal storage min and storage max: ({0}:{1}); the minimum must be below the maximum")]
    Bounds(i64, i64),
    /// Not a floating-point type.
    #[error("invalid kind of type specified: the expressed type is one of f16, bf16, f32, f64, not {0}")]
    NotFloat(String),
    /// Zero, negative, infinite, or not in the expressed type's range.
    #[error(
        "scale {} out of expressed type range [{}, {}] of {expressed}; a scale is positive",
        six_digits(*.scale),
        six_digits(*.least),
        six_digits(*.most)
    )]
    ScaleRange {
        /// As given.
        scale: f64,
        /// The expressed type.
        expressed: &'static str,
        /// Its smallest positive number.
        least: f64,
        /// Its largest number.
        most: f64,
    },
    /// Between zero and the smallest normal number.
    #[error(
        "scale {} is denormal in {expressed}, whose smallest normal number is {} (mlir-opt accepts it)",
        literal(*.scale),
        literal(*.least)
    )]
    ScaleDenormal {
        /// As given.
        scale: f64,
        /// The expressed type.
        expressed: &'static str,
        /// Its smallest normal number.
        least: f64,
    },
    /// A NaN, by its bits.
    #[error("scale is NaN (mlir-opt accepts it): a scale is a positive number")]
    ScaleNan,
    /// No value of the storage type.
    #[error(
        "zero point {zero_point} outside the storage type {storage}, {least} to {most} (mlir-opt accepts it; its lowering truncates it to {truncated})"
    )]
    ZeroPointStorage {
        /// As given.
        zero_point: i64,
        /// The storage type.
        storage: String,
        /// Its smallest value.
        least: i64,
        /// Its largest value.
        most: i64,
        /// Its low bits.
        truncated: i64,
    },
    /// A stored value that clamping never leaves.
    #[error(
        "zero point {zero_point} outside the storage bounds {min}:{max}: real 0 would be stored as {clamped} (mlir-opt accepts it)"
    )]
    ZeroPointBounds {
        /// As given.
        zero_point: i64,
        /// Smallest stored value.
        min: i64,
        /// Largest stored value.
        max: i64,
        /// The clamped zero point.
        clamped: i64,
    },
    /// Negative.
    #[error("illegal quantized dimension: {0}; an axis is 0 or more")]
    Axis(i64),
    /// Two blocks along one axis.
    #[error("quantized dimension {0} given twice (mlir-opt accepts it)")]
    AxisTwice(usize),
    /// Zero or negative.
    #[error("illegal block size: {0}; it is 1 or more")]
    BlockSize(i64),
    /// `{{1.0, 2.0}, {3.0}}`
    #[error("tensor literal is invalid; ranks are not consistent between elements")]
    Ragged,
    /// `:0, {{1.0}, {2.0}}`
    #[error("scales of one axis are one list, without inner braces (mlir-opt accepts them and flattens)")]
    Nested,
    /// Deeper than any tensor.
    #[error("more than {0} braces inside one another")]
    TooDeep(usize),
    /// More than an int64.
    #[error("invalid dimension: it is at most 9223372036854775807")]
    Dimension,
    /// A tensor of tensors.
    #[error("invalid tensor element type: it is a quantized type, a floating-point type or a signless integer")]
    TensorElement,
    /// Per-axis integrity, first rule.
    #[error("scalar types may not use per-axis quantization: the type must be the element type of a tensor")]
    ScalarPerAxis,
    /// Per-axis integrity, second rule.
    #[error("quantized dimension must be less than tensor rank: dimension {axis}, rank {rank}")]
    AxisRank {
        /// The axis.
        axis: usize,
        /// Of the tensor.
        rank: usize,
    },
    /// Per-axis integrity, third rule.
    #[error(
        "quantized dimension size does not match number of scales: dimension {axis} has size {size}, scales {scales}"
    )]
    ScaleCount {
        /// The axis.
        axis: usize,
        /// Of the tensor along it.
        size: u64,
        /// How many there are.
        scales: usize,
    },
    /// Blocks of a scalar.
    #[error("scalar types may not use sub-channel quantization: the type must be the element type of a ranked tensor")]
    ScalarBlocks,
    /// Blocks of an unranked tensor.
    #[error("tensor containing the sub-channel quantized type must be ranked")]
    UnrankedBlocks,
    /// Braces as deep as the tensor has dimensions.
    #[error("Rank of scales {scales} must match the rank of the tensor {rank}")]
    ScaleRank {
        /// Depth of the braces.
        scales: usize,
        /// Of the tensor.
        rank: usize,
    },
    /// Blocks along an axis that is not there.
    #[error("quantized dimension {axis} must be less than tensor rank {rank}")]
    BlockAxis {
        /// The axis.
        axis: usize,
        /// Of the tensor.
        rank: usize,
    },
    /// Blocks along an axis that no tensor of the scales' rank has.
    #[error("quantized dimension {axis} must be less than the rank of the scales, {scales}, which is that of the tensor: write braces {} deep", axis + 1)]
    BlockRank {
        /// The axis.
        axis: usize,
        /// Depth of the braces.
        scales: usize,
    },
    /// An empty tensor has no blocks.
    #[error("tensor dimension size of zero is not allowed with sub-channel quantization")]
    BlockZero,
    /// A block that does not fit.
    #[error("tensor dimension size {size} at axis {axis} must be divisible by the corresponding block size {block}")]
    BlockDivides {
        /// The axis.
        axis: usize,
        /// Of the tensor along it.
        size: u64,
        /// Of a block along it.
        block: u64,
    },
    /// More or fewer scales than blocks.
    #[error(
        "dimension size {scales} of scales tensor at axis {axis} should match (tensor dimension at axis / block sizes at axis) = {blocks}"
    )]
    BlockCount {
        /// The axis.
        axis: usize,
        /// Scales along it.
        scales: usize,
        /// Blocks along it.
        blocks: u64,
    },
    /// An operand or result that the op does not take.
    #[error("'{op}' op {which} #0 must be scalar or tensor of {wanted}, but got '{got}'")]
    Operand {
        /// The op.
        op: &'static str,
        /// `operand` or `result`.
        which: &'static str,
        /// What it takes.
        wanted: &'static str,
        /// The type as given.
        got: String,
    },
    /// scast from integer to integer, or from quantized to quantized.
    #[error("'{op}' op failed to verify that input must be integer and result must be quantized, or vice versa")]
    OneSide {
        /// The op.
        op: &'static str,
    },
    /// Scalar and tensor, ranked and unranked, other sizes.
    #[error("'{op}' op failed to verify that input and result are both scalars or both tensors with matching shape")]
    Shapes {
        /// The op.
        op: &'static str,
    },
    /// f16 into a type that expresses f32.
    #[error("expressed type in quantized type expected to match float type: {expressed} is not {float}")]
    ExpressedType {
        /// Of the quantized type.
        expressed: &'static str,
        /// On the other side.
        float: &'static str,
    },
    /// i16 from a type that stores i8.
    #[error("storage type in quantized type expected to match integer type: {storage} has not the width of i{integer}")]
    StorageType {
        /// Of the quantized type.
        storage: String,
        /// Width on the other side.
        integer: u32,
    },
}
