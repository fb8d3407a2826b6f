//! Parameters of `quantize` and `dequantize`: expressed and stored types, scales, zero points, and shape and container of the tensor. They follow the
//! type `!quant.uniform` of MLIR (RFC "Improvements in the 'quant' dialect", "The `!quant.uniform` type").

mod granularity;
mod symbol;

pub(crate) use granularity::coarser;
pub use granularity::{Finest, Granularity};
pub use symbol::{Cast, symbol};

use crate::shape::{self, ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Floating-point type of expressed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expressed {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Expressed {
    /// All expressed types.
    pub const ALL: [Self; 4] = [Self::F16, Self::Bf16, Self::F32, Self::F64];

    /// Returns the name: `f16`, `bf16`, `f32`, `f64`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Returns the bits of a value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// Returns the words of int32 per value in a payload: one for f16 and bf16 (zero-extended) and f32; two for f64, the low word first.
    pub const fn words(self) -> usize {
        if self.bits() == 64 { 2 } else { 1 }
    }
}

/// Integer type of stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Storage {
    /// Width in bits, 1..=32.
    pub bits: u32,
    /// True for two's complement, false for unsigned.
    pub signed: bool,
}

/// int8.
pub const I8: Storage = Storage { bits: 8, signed: true };
/// Unsigned bytes.
pub const U8: Storage = Storage { bits: 8, signed: false };
/// int16.
pub const I16: Storage = Storage { bits: 16, signed: true };
/// Unsigned, 16 bits.
pub const U16: Storage = Storage { bits: 16, signed: false };
/// int32.
pub const I32: Storage = Storage { bits: 32, signed: true };

impl Storage {
    /// Returns the smallest to the largest value.
    pub const fn range(self) -> RangeInclusive<i64> {
        if self.signed { -(1 << (self.bits - 1))..=(1 << (self.bits - 1)) - 1 } else { 0..=(1 << self.bits) - 1 }
    }

    /// Returns the value with the same low bits as `value`.
    pub const fn low_bits(self, value: i64) -> i64 {
        let above = 64 - self.bits;
        if self.signed { value << above >> above } else { ((value << above) as u64 >> above) as i64 }
    }

    /// Returns the name, such as `i8` or `u4`.
    pub fn name(self) -> String {
        format!("{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }
}

/// Serialization of stored types as a list of their names.
pub(crate) mod storage_names {
    use super::Storage;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(types: &&'static [Storage], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(types.iter().map(|one| one.name()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static [Storage], D::Error> {
        let all = || (1..=32).flat_map(|bits| [true, false].map(|signed| Storage { bits, signed }));
        let named = |name: &String| all().find(|one| one.name() == *name);
        let unknown = |name: &String| D::Error::custom(format!("`{name}` is none of i1 to i32 and u1 to u32"));
        let names = Vec::<String>::deserialize(from)?;
        let types: Result<Vec<Storage>, _> =
            names.iter().map(|name| named(name).ok_or_else(|| unknown(name))).collect();
        Ok(types?.leak())
    }
}

/// Scale as a double, as in the quantized type; kernels round it to the expressed type. Compared by its bits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scale(pub f64);

impl PartialEq for Scale {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Scale {}

/// Quantized type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantized {
    /// Type of stored values.
    pub storage: Storage,
    /// Smallest stored value.
    pub min: i64,
    /// Largest stored value.
    pub max: i64,
    /// Type of expressed values.
    pub expressed: Expressed,
    /// Sharing of scales among elements.
    pub granularity: Granularity,
    /// Scales: one for a layer, or one for each channel or block.
    pub scales: Vec<Scale>,
    /// Zero points, one for each scale.
    pub zero_points: Vec<i64>,
}

/// Container of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Container {
    /// Single values, one call each.
    Scalar,
    /// Tensor of known rank.
    Ranked,
    /// Tensor of unknown rank, which the lowering flattens to one dimension, or to three around the channel's axis.
    Unranked,
}

/// Parameters of one batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Quantized type of the stored values.
    pub quantized: Quantized,
    /// Container of the values.
    pub container: Container,
    /// Sizes of the tensor, row-major. For scalars, the number of calls.
    pub shape: Vec<usize>,
}

impl Params {
    /// Returns the elements of the tensor. An error names the invalid argument.
    pub fn elements(&self) -> Result<usize, ShapeError> {
        let Quantized { storage, min, max, expressed: _, granularity, scales, zero_points } = &self.quantized;
        if !(1..=32).contains(&storage.bits) {
            return Err(broken("storage", format!("{} bits; it has 1 to 32", storage.bits)));
        }
        let range = storage.range();
        if min > max || !range.contains(min) || !range.contains(max) {
            return Err(broken("min", format!("{min}..={max} are no bounds within {}", storage.name())));
        }
        if self.shape.is_empty() {
            return Err(broken("shape", "has no dimension"));
        }
        let elements = shape::elements("shape", &self.shape)?;
        match (granularity, self.container) {
            (Granularity::Channel { .. } | Granularity::Blocks { .. }, Container::Scalar) => {
                return Err(broken("container", "scalars may not use per-axis quantization"));
            }
            (Granularity::Blocks { .. }, Container::Unranked) => {
                return Err(broken("container", "a tensor with blocks must be ranked"));
            }
            _ => {}
        }
        let expected = granularity.scales(&self.shape)?;
        for (argument, got) in [("scales", scales.len()), ("zero_points", zero_points.len())] {
            if got != expected {
                return Err(broken(argument, format!("{got} where the shape takes {expected}")));
            }
        }
        if let Some(zero_point) = zero_points.iter().find(|z| !range.contains(z)) {
            return Err(broken("zero_points", format!("{zero_point} is no {}", storage.name())));
        }
        match scales.iter().find(|s| !(s.0.is_normal() && s.0 > 0.0)) {
            Some(scale) => Err(broken("scales", format!("{} is not a positive normal number", scale.0))),
            None => Ok(elements),
        }
    }

    /// Returns the index of the scale and zero point of element `index`.
    pub fn scale_of(&self, index: usize) -> usize {
        self.quantized.granularity.scale_of(&self.shape, index)
    }

    /// Returns the sizes of a quantization: words of expressed values in, stored values out.
    pub fn quantize_sizes(&self) -> Result<Sizes, ShapeError> {
        let elements = self.elements()?;
        Ok(Sizes { inputs: [elements * self.quantized.expressed.words(), 0, 0], outputs: elements })
    }

    /// Returns the sizes of a dequantization: stored values in, words of expressed values out.
    pub fn dequantize_sizes(&self) -> Result<Sizes, ShapeError> {
        let elements = self.elements()?;
        Ok(Sizes { inputs: [elements, 0, 0], outputs: elements * self.quantized.expressed.words() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(granularity: Granularity, scales: usize, shape: &[usize]) -> Params {
        let quantized = Quantized {
            storage: Storage { bits: 8, signed: true },
            min: -128,
            max: 127,
            expressed: Expressed::F64,
            granularity,
            scales: vec![Scale(0.5); scales],
            zero_points: vec![0; scales],
        };
        Params { quantized, container: Container::Ranked, shape: shape.to_vec() }
    }

    #[test]
    fn every_element_has_the_scale_of_its_place() {
        let of = |p: &Params| (0..p.elements().expect("a shape")).map(|i| p.scale_of(i)).collect::<Vec<_>>();
        assert_eq!(of(&params(Granularity::Layer, 1, &[2, 2])), [0, 0, 0, 0]);
        assert_eq!(of(&params(Granularity::Channel { axis: 1 }, 2, &[2, 2, 2])), [0, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(of(&params(Granularity::Channel { axis: 2 }, 2, &[1, 2, 2])), [0, 1, 0, 1]);
        let blocks = Granularity::Blocks { sizes: vec![(0, 1), (1, 2)], counts: vec![2, 2] };
        assert_eq!(of(&params(blocks, 4, &[2, 4])), [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn scales_are_compared_by_their_bits() {
        let nan = Scale(f64::NAN);
        assert!(nan == nan && Scale(1.0) == Scale(1.0));
        assert!(Scale(0.0) != Scale(-0.0) && Scale(1.0) != Scale(2.0));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let argument = |p: Params| p.elements().expect_err("no such shape").argument;
        assert_eq!(argument(params(Granularity::Channel { axis: 2 }, 1, &[2, 2])), "axis");
        assert_eq!(argument(params(Granularity::Channel { axis: 1 }, 3, &[2, 2])), "scales");
        let blocks = || params(Granularity::Blocks { sizes: vec![(0, 2)], counts: vec![2] }, 2, &[4]);
        assert_eq!(argument(Params { shape: vec![6], ..blocks() }), "shape");
        assert_eq!(argument(Params { container: Container::Unranked, ..blocks() }), "container");
        assert_eq!(argument(Params { container: Container::Scalar, ..blocks() }), "container");
        let scalar = Params { container: Container::Scalar, ..params(Granularity::Channel { axis: 0 }, 2, &[2]) };
        assert_eq!(argument(scalar), "container");
        let sound = params(Granularity::Layer, 1, &[2]);
        let with = |change: fn(&mut Quantized)| {
            let mut broken = sound.clone();
            change(&mut broken.quantized);
            argument(broken)
        };
        assert_eq!(with(|q| q.storage.bits = 33), "storage");
        assert_eq!(with(|q| q.max = 128), "min");
        assert_eq!(with(|q| q.min = -129), "min");
        assert_eq!(with(|q| (q.min, q.max) = (1, 0)), "min");
        let mut one = sound.clone();
        (one.quantized.min, one.quantized.max) = (1, 1);
        assert_eq!(one.elements(), Ok(2));
        assert_eq!(with(|q| q.zero_points[0] = 300), "zero_points");
        // Scales that are not positive, not normal, or neither.
        for scale in [f64::NAN, f64::INFINITY, -1.0, -f64::MIN_POSITIVE, f64::MIN_POSITIVE / 2.0, 0.0] {
            let mut broken = sound.clone();
            broken.quantized.scales[0] = Scale(scale);
            assert_eq!(argument(broken), "scales", "{scale}");
        }
        assert_eq!(sound.quantize_sizes().expect("a shape").inputs, [4, 0, 0]);
        assert_eq!(sound.dequantize_sizes().expect("a shape").outputs, 4);
    }
}
