//! Meaning of a quantized type: the rounded scales, the range of reals, and the stored values for which `(stored - zero point) * scale` is not exact
//! in the expressed type. Rounding is once, to nearest, ties to even.

use super::{Granularity, Quantized, format};
use serde::{Serialize, Serializer};
use std::fmt::{self, Display, Formatter};
use tiebreak_oracle::float::Format;

/// Real number `n * 2^e`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dyadic {
    n: i128,
    e: i32,
}

/// Scale with its zero point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    /// Scale in the type.
    pub scale: f64,
    /// Value of one step: the scale rounded to the expressed type.
    pub step: Dyadic,
    /// Bits of `step`.
    pub bits: String,
    /// Stored value of real 0.
    pub zero_point: i64,
    /// Real value of the smallest stored value.
    pub least: Dyadic,
    /// Real value of the largest stored value.
    pub most: Dyadic,
    /// Bounds of convertible reals, both excluded: mlir-opt's lowering converts these reals to the storage type, then clamps. Other reals are poison.
    pub converted: [Dyadic; 2],
    /// Number of stored values whose real is not a number of the expressed type.
    pub inexact: u64,
    /// Inexact stored value nearest to the zero point.
    pub first_inexact: Option<i64>,
    /// Two neighbouring stored values that dequantize to the same number.
    pub same: Option<[i64; 2]>,
}

/// Explanation of a quantized type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Name of the storage type, such as `i8`.
    pub storage: String,
    /// Smallest stored value.
    pub min: i64,
    /// Largest stored value.
    pub max: i64,
    /// Name of the expressed type, such as `f32`.
    pub expressed: &'static str,
    /// Description of the elements that share a scale.
    pub shares: String,
    /// Scales of the layer, channels or blocks.
    pub scales: Vec<Scale>,
    /// Warnings about valid parts of the type that may surprise.
    pub warnings: Vec<String>,
}

impl Explanation {
    /// Explains a parsed type.
    pub fn new(uniform: &Quantized) -> Self {
        let Quantized { storage, min, max, expressed, granularity, scales, zero_points } = uniform;
        let shares = match granularity {
            Granularity::Layer => "one scale for all elements".to_owned(),
            Granularity::Channel { axis } => format!("one scale for each index of axis {axis}"),
            Granularity::Blocks { sizes, .. } if sizes.is_empty() => {
                "one scale for all elements, as one block".to_owned()
            }
            Granularity::Blocks { sizes, .. } => {
                let along: Vec<String> = sizes.iter().map(|(axis, size)| format!("{size} along axis {axis}")).collect();
                format!("one scale for each block of {}", along.join(", "))
            }
        };
        let scales: Vec<Scale> = scales.iter().zip(zero_points).map(|(s, z)| Scale::new(uniform, s.0, *z)).collect();
        let warnings = warnings(uniform, &scales);
        let (min, max) = (*min, *max);
        Self { storage: storage.name(), min, max, expressed: expressed.name(), shares, scales, warnings }
    }
}

impl Scale {
    fn new(uniform: &Quantized, scale: f64, zero_point: i64) -> Self {
        let format = format(uniform.expressed);
        let bits = Format::F64.decode(scale.to_bits()).finite().map_or(0, |exact| format.nearest(exact));
        let step = Dyadic::of(format, bits);
        let real = |stored: i64| step.times(stored - zero_point);
        let (least, most) = uniform.storage.range().into_inner();
        let steps = Steps { step, format };
        let (below, above) = ((zero_point - uniform.min) as u64, (uniform.max - zero_point) as u64);
        let first = steps.first_inexact(below.max(above));
        let stored = |n: u64, up: bool| if up { zero_point + n as i64 } else { zero_point - n as i64 };
        let up = above >= below;
        Self {
            scale,
            step,
            bits: format!("{bits:#0width$x}", width = format.bits() as usize / 4 + 2),
            zero_point,
            least: real(uniform.min),
            most: real(uniform.max),
            converted: [real(least - 1), real(most + 1)],
            inexact: steps.inexact(below) + steps.inexact(above),
            first_inexact: first.map(|n| stored(n, n <= above)),
            same: steps.same(below.max(above)).map(|n| [stored(n - 1, up), stored(n, up)]),
        }
    }
}

/// Multiples of a scale in its format.
struct Steps {
    step: Dyadic,
    format: Format,
}

impl Steps {
    /// Returns `units` times the spacing at the largest number of the format, in the unit of the step; `i128::MAX` if far above any multiple.
    fn at_the_top(&self, units: i128) -> i128 {
        let top = (self.format.largest() >> (self.format.precision() - 1)) as i32 - 1 + self.format.least_exponent();
        match top - self.step.e {
            64.. => i128::MAX,
            shift @ 0.. => units << shift,
            shift => units >> -shift,
        }
    }

    /// Returns the largest multiple that does not exceed the largest number of the format.
    fn finite(&self) -> u64 {
        let largest = self.at_the_top((1 << self.format.precision()) - 1);
        u64::try_from(largest / self.step.n).unwrap_or(u64::MAX)
    }

    /// Returns the smallest multiple whose significand is too long. This multiple is odd, and all later odd multiples are too long.
    fn too_long(&self) -> u64 {
        let least = ((1i128 << self.format.precision()) + self.step.n - 1) / self.step.n;
        least as u64 | 1
    }

    /// Returns the smallest multiple from 1 to `n` that is not a number of the format.
    fn first_inexact(&self, n: u64) -> Option<u64> {
        Some(self.too_long().min(self.finite().saturating_add(1))).filter(|first| *first <= n)
    }

    /// Returns the number of multiples from 1 to `n` that are no numbers of the format: odd multiples that are too long, powers of two times these,
    /// and multiples that are too large.
    fn inexact(&self, n: u64) -> u64 {
        let (odd_below, finite) = (self.too_long() / 2, self.finite().min(n));
        let long: u64 = (0..64).map(|k| (finite >> k).div_ceil(2).saturating_sub(odd_below)).sum();
        long + (n - finite)
    }

    /// Returns a multiple up to `n` that is rounded to the same number as its predecessor. The search ends if the spacing of the format is at most
    /// one step, because there is no such multiple below. It succeeds at once if the spacing is twice a step.
    fn same(&self, n: u64) -> Option<u64> {
        let infinite = self.at_the_top(1 << self.format.precision());
        let crowded = |n: &u64| self.spacing(self.product(*n)) > self.step.n || self.rounded(*n) == infinite;
        (2..=n).rev().take_while(crowded).find(|n| self.rounded(*n) == self.rounded(n - 1))
    }

    fn product(&self, n: u64) -> i128 {
        self.step.n * i128::from(n)
    }

    /// Returns the spacing of the format near `value`, in the unit of the step.
    fn spacing(&self, value: i128) -> i128 {
        let width = i128::BITS - value.leading_zeros();
        1 << width.saturating_sub(self.format.precision())
    }

    /// Rounds a multiple to nearest, ties to even. A value that is too large becomes a special value.
    fn rounded(&self, n: u64) -> i128 {
        let value = self.product(n);
        let spacing = self.spacing(value);
        let (down, rest) = (value / spacing, value % spacing);
        let up = rest * 2 > spacing || (rest * 2 == spacing && down % 2 == 1);
        ((down + i128::from(up)) * spacing).min(self.at_the_top(1 << self.format.precision()))
    }
}

impl Dyadic {
    /// Decodes a positive number of a format, with an odd significand.
    fn of(format: Format, bits: u64) -> Self {
        let hidden = 1 << (format.precision() - 1);
        let (n, e) = match bits / hidden {
            0 => (bits, format.least_exponent()),
            biased => (bits % hidden + hidden, biased as i32 - 1 + format.least_exponent()),
        };
        Self { n: n.into(), e }.odd()
    }

    fn times(self, n: i64) -> Self {
        Self { n: self.n * i128::from(n), e: self.e }
    }

    /// Returns the same number with the smallest significand.
    fn odd(self) -> Self {
        let zeros = self.n.trailing_zeros();
        if self.n == 0 { Self { n: 0, e: 0 } } else { Self { n: self.n >> zeros, e: self.e + zeros as i32 } }
    }

    /// Returns an integer and the exponent of a power of ten that divides it; `None` if there are too many digits.
    fn digits(self) -> Option<(i128, u32)> {
        let Self { n, e } = self.odd();
        match e {
            0..=40 => n.checked_mul(1 << e).map(|n| (n, 0)),
            -30..0 => 5i128.checked_pow(-e as u32).and_then(|fives| n.checked_mul(fives)).map(|n| (n, -e as u32)),
            _ => None,
        }
    }

    /// Returns the nearest double, or a double near it.
    pub fn about(self) -> f64 {
        // Two factors, because the whole power of two may not be a double.
        self.n as f64 * 2f64.powi(self.e / 2) * 2f64.powi(self.e - self.e / 2)
    }
}

/// Formats all digits, or `n * 2^e`.
impl Display for Dyadic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.digits() {
            Some((n, 0)) => write!(f, "{n}.0"),
            Some((n, places)) => {
                let text = format!("{:0>width$}", n.unsigned_abs(), width = places as usize + 1);
                let (whole, fraction) = text.split_at(text.len() - places as usize);
                write!(f, "{}{whole}.{fraction}", if n < 0 { "-" } else { "" })
            }
            None => {
                let Self { n, e } = self.odd();
                write!(f, "{n} * 2^{e}")
            }
        }
    }
}

impl Serialize for Dyadic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Lists parts of a type that are valid, also for mlir-opt, but may surprise.
fn warnings(uniform: &Quantized, scales: &[Scale]) -> Vec<String> {
    let format = format(uniform.expressed);
    let mut warnings = Vec::new();
    let largest = uniform.zero_points.iter().chain([&uniform.min, &uniform.max]).map(|v| v.unsigned_abs()).max();
    let held = 1u64 << format.precision();
    if largest.is_some_and(|largest| largest > held) {
        warnings.push(format!(
            "not every stored value beyond -{held} to {held} is an {}: mlir-opt's lowerings round stored value and zero point to it first",
            format.name()
        ));
    }
    for (i, scale) in scales.iter().enumerate() {
        let of = if scales.len() == 1 { String::new() } else { format!("scale {i}: ") };
        if let Some([one, other]) = scale.same {
            warnings.push(format!("{of}stored values {one} and {other} are dequantized to the same {}", format.name()));
        }
        if let Some(stored) = scale.first_inexact {
            let count = scale.inexact;
            warnings
                .push(format!("{of}{count} stored values are rounded when they are dequantized, the first {stored}"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::{Expressed, parse_type};
    use super::*;
    use proptest::prelude::*;

    /// Counts inexact stored values on rationals, and checks for neighbours with equal results.
    fn by_rationals(uniform: &Quantized) -> (u64, bool) {
        let format = format(uniform.expressed);
        let exact = |bits: u64| format.decode(bits).finite().cloned();
        let scale = Format::F64.decode(uniform.scales[0].0.to_bits()).finite().and_then(|s| exact(format.nearest(s)));
        let scale = scale.expect("a number");
        let reals = (uniform.min..=uniform.max).map(|q| scale.clone() * (q - uniform.zero_points[0]));
        let rounded: Vec<_> = reals.map(|real| (format.nearest(&real), real)).collect();
        let inexact = rounded.iter().filter(|(bits, real)| exact(*bits).is_none_or(|held| held != *real)).count();
        (inexact as u64, rounded.windows(2).any(|pair| pair[0].0 == pair[1].0))
    }

    proptest! {
        /// Compares the counts in closed form, and the presence of equal neighbours, with all stored values.
        #[test]
        fn counts_are_those_of_every_stored_value(
            format in 0..4usize, bits in 1..13u32, signed: bool, significand in 1..2048u32, exponent in -24..16i32, at in 0..4096i64,
        ) {
            let expressed = Expressed::ALL[format];
            let scale = f64::from(significand) * 2f64.powi(exponent);
            let storage = super::super::Storage { bits, signed };
            let zero_point = storage.range().start() + at % (1 << bits);
            let text = format!("!quant.uniform<{}:{}, 0x{:X}:{zero_point}>", storage.name(), expressed.name(), scale.to_bits());
            // Some scales are denormal or too large for f16.
            let Ok(ty) = parse_type(&text) else { return Ok(()) };
            let uniform = ty.uniform().expect("it is one");
            let explained = &Explanation::new(uniform).scales[0];
            let (inexact, same) = by_rationals(uniform);
            prop_assert_eq!((explained.inexact, explained.same.is_some()), (inexact, same), "{}", text);
            prop_assert_eq!(explained.first_inexact.is_some(), inexact > 0);
        }
    }

    #[test]
    fn wide_types_are_explained_at_once() {
        let explained =
            |text: &str| Explanation::new(parse_type(text).expect(text).uniform().expect(text)).scales.remove(0);
        let wide = explained("!quant.uniform<u32:f32, 0.3>");
        assert_eq!((wide.first_inexact, wide.same), (Some(5), Some([4_294_967_294, 4_294_967_295])));
        let exact = explained("!quant.uniform<i32:f64, 0.5:-3>");
        assert_eq!((exact.inexact, exact.first_inexact, exact.same), (0, None, None));
        let steps = explained("!quant.uniform<i32:f32, 1.0>");
        assert_eq!(steps.first_inexact, Some(16_777_217));
        // Just above half of the spacing, so that the search visits the most neighbours.
        assert!(explained("!quant.uniform<u26:f32, 1.9999998807907104>").same.is_some());
        let large = explained("!quant.uniform<i8:f16, 60000.0>");
        assert_eq!((large.inexact, large.same), (253, Some([-127, -128])));
    }

    #[test]
    fn all_digits_or_a_power_of_two() {
        let text = |n, e| Dyadic { n, e }.to_string();
        assert_eq!([text(3, 0), text(-12, -3), text(1, -5), text(0, -60)], ["3.0", "-1.5", "0.03125", "0.0"]);
        assert_eq!([text(5, -40), text(3, 100), text(24, -34)], ["5 * 2^-40", "3 * 2^100", "3 * 2^-31"]);
        assert_eq!(Dyadic { n: 1, e: -1074 }.about(), f64::from_bits(1));
    }
}
