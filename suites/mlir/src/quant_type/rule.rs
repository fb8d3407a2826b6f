//! Rules that a text can break, in the words of mlir-opt 22.1.8 if it has any. For a text that mlir-opt accepts, the message says how it is read.

use super::print::{literal, six_digits};
use thiserror::Error;
use tiebreak_oracle::names::UnknownName;

/// Broken rule.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Rule {
    /// Another token is expected here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Text after the end of the type or op.
    #[error("nothing may follow the type")]
    Trailing,
    /// Integer beyond int64, or beyond any axis.
    #[error("integer value too large")]
    IntegerTooLarge,
    /// Integer literal for a float, such as `1` or `1e5`.
    #[error(
        "unexpected decimal integer literal for a floating point value: add a trailing dot to make the literal a float"
    )]
    NoDot,
    /// Hexadecimal float with more than 16 digits.
    #[error("hexadecimal float constant out of range for type: it is the bits of a double, at most 16 digits")]
    TooManyBits,
    /// Hexadecimal float with a dot or an exponent, such as `0x1.8p3`
    #[error("hexadecimal float literal is the bits of a double, without a dot or an exponent")]
    NoBits,
    /// Negative hexadecimal float, `-0x...`
    #[error("hexadecimal float literal should not have a leading minus")]
    NegativeBits,
    /// Unknown name of a type, op or dialect.
    #[error("{0}")]
    Unknown(UnknownName),
    /// Part of MLIR that this parser does not support.
    #[error("{name} is not supported: {instead}")]
    NotSupported {
        /// Name of the part.
        name: String,
        /// Description of supported parts.
        instead: &'static str,
    },
    /// Integer type with a sign, `si8` or `ui8`.
    #[error(
        "{0} is not signless: write {1} (mlir-opt accepts it as a storage type and prints {1}; no scast takes such a type)"
    )]
    Signless(String, String),
    /// Storage type that is neither `iN` nor `uN`.
    #[error("illegal storage type prefix: a storage type is `i` or `u` and its width, such as i8 or u8")]
    StoragePrefix,
    /// Storage type without a width, `i` or `u`.
    #[error("expected storage type width, such as i8 or u8")]
    StorageWidth,
    /// Storage type of an unsupported width, such as 0 or 33.
    #[error("illegal storage type size: {0}; it is 1 to 32")]
    StorageSize(String),
    /// Minimum below the storage type.
    #[error("illegal storage type minimum: {min}; {storage} begins at {least}")]
    Minimum {
        /// Minimum in the text.
        min: i64,
        /// Name of the storage type.
        storage: String,
        /// Smallest value of the storage type.
        least: i64,
    },
    /// Maximum above the storage type.
    #[error("illegal storage type maximum: {max}; {storage} ends at {most}")]
    Maximum {
        /// Maximum in the text.
        max: i64,
        /// Name of the storage type.
        storage: String,
        /// Largest value of the storage type.
        most: i64,
    },
    /// Minimum and maximum are equal or reversed.
    #[error("illegal storage min and storage max: ({0}:{1}); the minimum must be below the maximum")]
    Bounds(i64, i64),
    /// Expressed type that is not a supported floating-point type.
    #[error("invalid kind of type specified: the expressed type is one of f16, bf16, f32, f64, not {0}")]
    NotFloat(String),
    /// Scale that is zero, negative, infinite, or not in the expressed type's range.
    #[error(
        "scale {} out of expressed type range [{}, {}] of {expressed}; a scale is positive",
        six_digits(*.scale),
        six_digits(*.least),
        six_digits(*.most)
    )]
    ScaleRange {
        /// Scale in the text.
        scale: f64,
        /// Name of the expressed type.
        expressed: &'static str,
        /// Smallest positive number of the expressed type.
        least: f64,
        /// Largest number of the expressed type.
        most: f64,
    },
    /// Scale between zero and the smallest normal number.
    #[error(
        "scale {} is denormal in {expressed}, whose smallest normal number is {} (mlir-opt accepts it)",
        literal(*.scale),
        literal(*.least)
    )]
    ScaleDenormal {
        /// Scale in the text.
        scale: f64,
        /// Name of the expressed type.
        expressed: &'static str,
        /// Smallest normal number of the expressed type.
        least: f64,
    },
    /// Scale that is a NaN, given by its bits.
    #[error("scale is NaN (mlir-opt accepts it): a scale is a positive number")]
    ScaleNan,
    /// Zero point beyond the storage type.
    #[error(
        "zero point {zero_point} outside the storage type {storage}, {least} to {most} (mlir-opt accepts it; its lowering truncates it to {truncated})"
    )]
    ZeroPointStorage {
        /// Zero point in the text.
        zero_point: i64,
        /// Name of the storage type.
        storage: String,
        /// Smallest value of the storage type.
        least: i64,
        /// Largest value of the storage type.
        most: i64,
        /// Low bits of the zero point, as mlir-opt keeps them.
        truncated: i64,
    },
    /// Zero point beyond the storage bounds. Clamping never returns such a stored value.
    #[error(
        "zero point {zero_point} outside the storage bounds {min}:{max}: real 0 would be stored as {clamped} (mlir-opt accepts it)"
    )]
    ZeroPointBounds {
        /// Zero point in the text.
        zero_point: i64,
        /// Smallest stored value.
        min: i64,
        /// Largest stored value.
        max: i64,
        /// The clamped zero point.
        clamped: i64,
    },
    /// Negative axis.
    #[error("illegal quantized dimension: {0}; an axis is 0 or more")]
    Axis(i64),
    /// Two blocks along one axis.
    #[error("quantized dimension {0} given twice (mlir-opt accepts it)")]
    AxisTwice(usize),
    /// Block size that is zero or negative.
    #[error("illegal block size: {0}; it is 1 or more")]
    BlockSize(i64),
    /// Inner braces of different lengths, `{{1.0, 2.0}, {3.0}}`
    #[error("tensor literal is invalid; ranks are not consistent between elements")]
    Ragged,
    /// Inner braces for the scales of one axis, `:0, {{1.0}, {2.0}}`
    #[error("scales of one axis are one list, without inner braces (mlir-opt accepts them and flattens)")]
    Nested,
    /// Braces deeper than the rank of any tensor.
    #[error("more than {0} braces inside one another")]
    TooDeep(usize),
    /// Dimension beyond int64.
    #[error("invalid dimension: it is at most 9223372036854775807")]
    Dimension,
    /// Tensor of tensors.
    #[error("invalid tensor element type: it is a quantized type, a floating-point type or a signless integer")]
    TensorElement,
    /// Scalar with channels: per-axis integrity, first rule.
    #[error("scalar types may not use per-axis quantization: the type must be the element type of a tensor")]
    ScalarPerAxis,
    /// Axis beyond the rank: per-axis integrity, second rule.
    #[error("quantized dimension must be less than tensor rank: dimension {axis}, rank {rank}")]
    AxisRank {
        /// The axis.
        axis: usize,
        /// Rank of the tensor.
        rank: usize,
    },
    /// Number of scales unlike the size of the axis: per-axis integrity, third rule.
    #[error(
        "quantized dimension size does not match number of scales: dimension {axis} has size {size}, scales {scales}"
    )]
    ScaleCount {
        /// The axis.
        axis: usize,
        /// Size of the tensor along the axis.
        size: u64,
        /// Number of scales.
        scales: usize,
    },
    /// Scalar with blocks.
    #[error("scalar types may not use sub-channel quantization: the type must be the element type of a ranked tensor")]
    ScalarBlocks,
    /// Unranked tensor with blocks.
    #[error("tensor containing the sub-channel quantized type must be ranked")]
    UnrankedBlocks,
    /// Braces whose depth is not the rank of the tensor.
    #[error("Rank of scales {scales} must match the rank of the tensor {rank}")]
    ScaleRank {
        /// Depth of the braces.
        scales: usize,
        /// Rank of the tensor.
        rank: usize,
    },
    /// Blocks along an axis beyond the rank.
    #[error("quantized dimension {axis} must be less than tensor rank {rank}")]
    BlockAxis {
        /// The axis.
        axis: usize,
        /// Rank of the tensor.
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
    /// Empty tensor with blocks.
    #[error("tensor dimension size of zero is not allowed with sub-channel quantization")]
    BlockZero,
    /// Block size that does not divide the dimension.
    #[error("tensor dimension size {size} at axis {axis} must be divisible by the corresponding block size {block}")]
    BlockDivides {
        /// The axis.
        axis: usize,
        /// Size of the tensor along the axis.
        size: u64,
        /// Size of a block along the axis.
        block: u64,
    },
    /// More or fewer scales than blocks.
    #[error(
        "dimension size {scales} of scales tensor at axis {axis} should match (tensor dimension at axis / block sizes at axis) = {blocks}"
    )]
    BlockCount {
        /// The axis.
        axis: usize,
        /// Number of scales along the axis.
        scales: usize,
        /// Number of blocks along the axis.
        blocks: u64,
    },
    /// Operand or result that the op does not accept.
    #[error("'{op}' op {which} #0 must be scalar or tensor of {wanted}, but got '{got}'")]
    Operand {
        /// The op.
        op: &'static str,
        /// `operand` or `result`.
        which: &'static str,
        /// Accepted types.
        wanted: &'static str,
        /// Type in the text.
        got: String,
    },
    /// scast from integer to integer, or from quantized to quantized.
    #[error("'{op}' op failed to verify that input must be integer and result must be quantized, or vice versa")]
    OneSide {
        /// The op.
        op: &'static str,
    },
    /// Scalar and tensor, ranked and unranked tensor, or different sizes.
    #[error("'{op}' op failed to verify that input and result are both scalars or both tensors with matching shape")]
    Shapes {
        /// The op.
        op: &'static str,
    },
    /// Float type that is not the expressed type, such as f16 for a type that expresses f32.
    #[error("expressed type in quantized type expected to match float type: {expressed} is not {float}")]
    ExpressedType {
        /// Expressed type of the quantized type.
        expressed: &'static str,
        /// Float type on the other side.
        float: &'static str,
    },
    /// Integer type that has not the width of the storage type, such as i16 for a type that stores i8.
    #[error("storage type in quantized type expected to match integer type: {storage} has not the width of i{integer}")]
    StorageType {
        /// Storage type of the quantized type.
        storage: String,
        /// Width of the integer type on the other side.
        integer: u32,
    },
}
