//! Requantization in floats: schemes that multiply by a real scale instead of a Q0.31 multiplier. Each scheme is executed in exact
//! rationals, rounded to the format at each float value of the source, and again in machine integers. Results saturate to int32, then clamp.

mod consecutive;

use super::Scales;
use super::dyadic::{Dyadic, nearest};
use crate::float::Format::{self, F32, F64};
use crate::fpm::pieces::Output;
use crate::rounding::RoundingRule::{TiesAway, TiesEven, TowardNegative, TowardZero};
use rug::{Integer, Rational};

/// Conversion of a float to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToInteger {
    /// Nearest integer, ties to even: `rint`, `nearbyint`, CVTPS2DQ, FCVTNS.
    TiesEven,
    /// Nearest integer, half away from zero: `round`, FCVTAS.
    TiesAway,
    /// `floor(v + 0.5)`, with the sum rounded to the format.
    AddHalf,
    /// `trunc(v + 0.5)`, or `trunc(v - 0.5)` below zero, with the sum rounded to the format.
    AddHalfAway,
}

/// Factor of the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Steps {
    /// Real multiplier, in the format.
    Multiplier,
    /// `f32(input * weight)`, and a final division by the output's scale.
    Divide,
    /// `f32(input * weight)`, and a final multiplication by the reciprocal of the output's scale.
    Reciprocal,
}

/// Scheme of requantization in floats.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Repository and file.
    pub source: &'static str,
    /// Format of every value.
    pub format: Format,
    /// Factor of the accumulator.
    pub steps: Steps,
    /// True if the zero point is added before rounding, in the format; otherwise after rounding.
    pub zero_point_first: bool,
    /// Conversion to an integer.
    pub rounding: ToInteger,
}

/// Builds an entry of the list: its texts, the format, the factor, true if the zero point is added first, and the conversion.
macro_rules! floats {
    ($name:literal, $summary:literal, $source:literal, ($format:ident, $steps:ident, $first:literal) => $rounding:ident) => {
        Definition {
            name: $name,
            summary: $summary,
            source: $source,
            format: $format,
            steps: Steps::$steps,
            zero_point_first: $first,
            rounding: ToInteger::$rounding,
        }
    };
}

/// Every scheme. Schemes with `Multiplier` take the real number of any derivation; the other schemes derive their own factors.
pub static DEFINITIONS: &[Definition] = &[
    floats!("f32-product", "rne(f32(acc * scale)) + zero point",
        "microsoft/onnxruntime core/mlas/lib/quantize.cpp MlasRequantizeOutput; google/XNNPACK src/params-init.c fp32; pytorch/pytorch requantization in FBGEMM", (F32, Multiplier, false) => TiesEven),
    floats!("f32-product-away", "round(f32(acc * scale)) + zero point, half away from zero",
        "Tencent/ncnn src/layer/requantize.cpp float2int8", (F32, Multiplier, false) => TiesAway),
    floats!("f32-product-zero-point", "rne(f32(f32(acc * scale) + zero point))", "pytorch/pytorch #175620", (F32, Multiplier, true) => TiesEven),
    floats!("f32-product-add-half", "floor(f32(f32(f32(acc * scale) + zero point) + 0.5))",
        "apache/tvm src/relay/qnn/op/requantize.cc RequantizeLowerFP<32>, UPWARD", (F32, Multiplier, true) => AddHalf),
    floats!("f32-product-add-half-away", "trunc(f32(f32(f32(acc * scale) + zero point) + 0.5 away from zero))",
        "apache/tvm src/relay/qnn/op/requantize.cc RequantizeLowerFP<32>, TONEAREST", (F32, Multiplier, true) => AddHalfAway),
    floats!("f64-product", "rne(f64(acc * scale)) + zero point", "none: f32-product in double", (F64, Multiplier, false) => TiesEven),
    floats!("f64-product-away", "round(f64(acc * scale)) + zero point, half away from zero",
        "google-ai-edge/LiteRT tflite/kernels/internal/reference/integer_ops/fully_connected.h FullyConnected, with scales as floats", (F64, Multiplier, false) => TiesAway),
    floats!("f64-product-add-half", "floor(f64(f64(f64(acc * scale) + zero point) + 0.5))",
        "apache/tvm src/relay/qnn/op/requantize.cc RequantizeLowerFP<64>, UPWARD", (F64, Multiplier, true) => AddHalf),
    floats!("f32-dequantize-quantize", "rne(f32(f32(acc * f32(input * weight)) / output)) + zero point",
        "onnx/onnx DequantizeLinear, QuantizeLinear", (F32, Divide, false) => TiesEven),
    floats!("f32-dequantize-reciprocal", "rne(f32(f32(acc * f32(input * weight)) * f32(1 / output))) + zero point",
        "pytorch/pytorch aten/src/ATen/native/quantized/AffineQuantizerBase.cpp quantize_val", (F32, Reciprocal, false) => TiesEven),
];

impl Definition {
    /// Creates the scheme of a real multiplier, rounded to the format. `None` if the scheme takes separate scales.
    pub fn of_multiplier(&'static self, real: &Rational) -> Option<Scheme> {
        let factor = Factor::of(nearest(self.format, real))?;
        (self.steps == Steps::Multiplier).then_some(Scheme { definition: self, factor, last: None })
    }

    /// Creates the scheme of separate scales. `None` if the scheme takes a real multiplier.
    pub fn of_scales(&'static self, scales: &Scales) -> Option<Scheme> {
        let output = scales.read(F32).output;
        let last = match self.steps {
            Steps::Multiplier => return None,
            Steps::Divide => output,
            Steps::Reciprocal => nearest(F32, &output.recip()),
        };
        let factor = Factor::of(scales.product_f32())?;
        Some(Scheme { definition: self, factor, last: Some(Factor::of(last)?) })
    }
}

/// Number of a format, in both forms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Factor {
    exact: Rational,
    fast: Dyadic,
}

impl Factor {
    fn of(exact: Rational) -> Option<Self> {
        let fast = Dyadic::of(&exact)?;
        Some(Self { exact, fast })
    }
}

/// Definition with its factors.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Definition of the scheme.
    pub definition: &'static Definition,
    factor: Factor,
    last: Option<Factor>,
}

impl Scheme {
    /// Returns the first factor of the accumulator.
    pub fn factor(&self) -> &Rational {
        &self.factor.exact
    }

    /// Returns a key: two schemes with the same key give the same outputs. A zero point of 0 may be added before or after rounding.
    pub fn key(&self, output: &Output) -> (&'static str, Dyadic, Option<Dyadic>) {
        let name = match self.definition.name {
            "f32-product-zero-point" if output.zero_point == 0 => "f32-product",
            name => name,
        };
        (name, self.factor.fast, self.last.as_ref().map(|last| last.fast))
    }

    /// Computes the output by rationals.
    pub fn exact(&self, x: i32, output: &Output) -> i32 {
        let Definition { format, steps, zero_point_first, rounding, .. } = *self.definition;
        let in_format = |v: Rational| nearest(format, &v);
        let mut v = in_format(in_format(Rational::from(x)) * &self.factor.exact);
        if let Some(last) = &self.last {
            v = in_format(if steps == Steps::Divide { v / &last.exact } else { v * &last.exact });
        }
        if zero_point_first {
            v = in_format(v + in_format(Rational::from(output.zero_point)));
        }
        let half = Rational::from((1, 2));
        let integer = match rounding {
            ToInteger::TiesEven => TiesEven.round(&v),
            ToInteger::TiesAway => TiesAway.round(&v),
            ToInteger::AddHalf => TowardNegative.round(&in_format(v + half)),
            ToInteger::AddHalfAway if v < 0 => TowardZero.round(&in_format(v - half)),
            ToInteger::AddHalfAway => TowardZero.round(&in_format(v + half)),
        };
        let saturated = integer.clamp(&i32::MIN, &i32::MAX);
        let placed = if zero_point_first { saturated } else { saturated + Integer::from(output.zero_point) };
        placed.clamp(&output.min, &output.max).to_i32().expect("between two int32")
    }

    /// Computes [`Scheme::exact`] in machine integers.
    #[inline]
    pub fn fast(&self, x: i32, output: &Output) -> i32 {
        let Definition { format, steps, zero_point_first, rounding, .. } = *self.definition;
        let bits = format.precision();
        let mut v = Dyadic::new(x.into(), 0).rounded(bits).times(self.factor.fast).rounded(bits);
        if let Some(last) = &self.last {
            v = if steps == Steps::Divide { v.over(last.fast) } else { v.times(last.fast) }.rounded(bits);
        }
        let first =
            if zero_point_first { Dyadic::new(output.zero_point.into(), 0).rounded(bits) } else { Dyadic::new(0, 0) };
        let integer = saturated(rounding, v, first, bits);
        let placed = if zero_point_first { integer } else { integer + i64::from(output.zero_point) };
        placed.clamp(output.min.into(), output.max.into()) as i32
    }
}

/// Magnitudes of `2^LARGE` saturate with any zero point. Magnitudes below `2^SMALL` round like 0, because they cannot change the rounding
/// of a half or an integer.
const LARGE: i32 = 40;
const SMALL: i32 = -30;

/// Rounds `v + zero_point` to `bits` bits and then to an int32.
#[inline]
fn saturated(rounding: ToInteger, v: Dyadic, zero_point: Dyadic, bits: u32) -> i64 {
    let length = v.e + (128 - v.n.unsigned_abs().leading_zeros()) as i32;
    if length > LARGE {
        return if v.n < 0 { i32::MIN.into() } else { i32::MAX.into() };
    }
    let v = if length < SMALL { Dyadic::new(0, 0) } else { v };
    // From here on fixed point. `v` has at most 53 bits and is above 2^-31: 83 places and the 31 bits of a zero point are enough.
    let places = (-v.e).max(1);
    let fixed = |d: Dyadic| d.n << (d.e + places);
    let in_format = |n: i128| fixed(Dyadic::new(n, -places).rounded(bits));
    let half = 1i128 << (places - 1);
    let v = in_format(fixed(v) + fixed(zero_point));
    let places = places as u32;
    let integer = match rounding {
        ToInteger::TiesEven => TiesEven.shift_right(v, places),
        ToInteger::TiesAway => TiesAway.shift_right(v, places),
        ToInteger::AddHalf => TowardNegative.shift_right(in_format(v + half), places),
        ToInteger::AddHalfAway => TowardZero.shift_right(in_format(v + v.signum() * half), places),
    };
    integer.clamp(i32::MIN.into(), i32::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::decimal;
    use proptest::prelude::*;

    const ANY: Output = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };

    fn scales(texts: [&str; 3]) -> Scales {
        let [input, weight, output] = texts.map(|text| decimal(text).expect("a decimal"));
        Scales { input, weight, output }
    }

    fn scheme(name: &str, scales: &Scales, derivation: &str) -> Scheme {
        let definition = DEFINITIONS.iter().find(|d| d.name == name).expect("a name");
        let real = (crate::derivation::Derivation::find(derivation).expect("a name").real)(scales);
        definition.of_multiplier(&real).or_else(|| definition.of_scales(scales)).expect("a scheme")
    }

    /// tensorflow #102943: the product is 6.50000016, but in float 6.5.
    #[test]
    fn a_tie_that_only_float_sees() {
        let scales = scales([".05296124517917633", ".024093778803944588", ".11484327912330627"]);
        let at = |name, derivation| scheme(name, &scales, derivation).exact(585, &ANY);
        assert_eq!(at("f32-product", "f32"), 6);
        assert_eq!(at("f32-product", "f32-f64"), 6);
        assert_eq!(at("f32-product-away", "f32"), 7);
        assert_eq!((at("f32-product", "f64"), at("f64-product", "f64"), at("f64-product", "f32")), (7, 7, 7));
        assert_eq!((at("f32-dequantize-quantize", "f32"), at("f32-dequantize-reciprocal", "f32")), (7, 7));
    }

    /// Multipliers from the least of f32 to 2^96: products too large for 128 bits of fixed point, and products too small to affect a half.
    #[test]
    fn both_forms_agree_whatever_the_size_of_the_multiplier() {
        let significands = ["1", "1.5", "1.9999999"].map(|text| decimal(text).expect("a decimal"));
        for (e, significand) in
            (-126..=96).step_by(3).chain(-34..-27).flat_map(|e| significands.iter().map(move |s| (e, s)))
        {
            let real: Rational = significand.clone() << e;
            let scales = Scales { input: real.clone(), weight: Rational::from(1), output: Rational::from(1) };
            for definition in DEFINITIONS {
                let of_multiplier = definition.of_multiplier(&real);
                let scheme = of_multiplier.or_else(|| definition.of_scales(&scales)).expect("a scheme");
                for x in [i32::MIN, -3, -1, 0, 1, i32::MAX] {
                    for zero_point in [0, -1, 1 << 30] {
                        let output = Output { zero_point, ..ANY };
                        assert_eq!(scheme.fast(x, &output), scheme.exact(x, &output), "{} {real} {x}", definition.name);
                    }
                }
            }
        }
    }

    #[test]
    fn schemes_of_one_key_are_one_function() {
        let triples = [["0.5", "1", "1"], ["0.5", "1", "2"], ["0.3", "0.7", "0.11"]].map(scales);
        let schemes: Vec<Scheme> = triples
            .iter()
            .flat_map(|scales| DEFINITIONS.iter().flat_map(|d| ["f32", "f64"].map(|from| scheme(d.name, scales, from))))
            .collect();
        let mut shared = 0;
        for zero_point in [0, 3] {
            let output = Output { zero_point, ..ANY };
            let inputs = || (-40..40).flat_map(|x: i32| [x, x << 20 | 5]);
            let outputs = |scheme: &Scheme| inputs().map(|x| scheme.exact(x, &output)).collect::<Vec<_>>();
            let all: Vec<_> = schemes.iter().map(|scheme| (scheme.key(&output), outputs(scheme))).collect();
            for (i, (key, outputs)) in all.iter().enumerate() {
                for (other, others) in &all[..i] {
                    shared += usize::from(key == other);
                    assert!(key != other || outputs == others, "{key:?} at {zero_point}");
                }
            }
            let [plain, first] = ["f32-product", "f32-product-zero-point"].map(|name| scheme(name, &triples[0], "f32"));
            assert_eq!(plain.key(&output) == first.key(&output), zero_point == 0);
        }
        assert!(shared > 10, "{shared}");
    }

    proptest! {
        #[test]
        fn both_forms_agree(
            x in any::<i32>(), narrow in 0u32..32, scales in [1e-6f32..10.0, 1e-6f32..10.0, 1e-6f32..10.0],
            zero_point in any::<i32>(), small in 0u32..32, clamp in any::<bool>(),
        ) {
            let x = x >> narrow;
            let (min, max) = if clamp { (-128, 127) } else { (i32::MIN, i32::MAX) };
            let output = Output { zero_point: zero_point >> small, min, max };
            let [input, weight, out] = scales.map(|s| Rational::from_f32(s).expect("finite"));
            let scales = Scales { input, weight, output: out };
            for definition in DEFINITIONS {
                for derivation in ["f32", "f64"] {
                    let scheme = scheme(definition.name, &scales, derivation);
                    prop_assert_eq!(scheme.fast(x, &output), scheme.exact(x, &output), "{}", definition.name);
                }
            }
        }

        /// Compares with machine floats, step by step as in the sources; neither form uses machine floats.
        #[test]
        fn outputs_are_what_the_machine_computes(
            x in any::<i32>(), narrow in 0u32..32, a in 1e-4f32..1.0, b in 1e-4f32..1.0, c in 1e-4f32..1.0, zero_point in -255i32..=255,
        ) {
            let x = x >> narrow;
            let scales = scales([&a.to_string(), &b.to_string(), &c.to_string()]);
            let output = Output { zero_point, ..ANY };
            let (scale, wide) = (a * b / c, f64::from(a) * f64::from(b) / f64::from(c));
            let (product, wide) = (x as f32 * scale, f64::from(x) * wide);
            let zp = zero_point as f32;
            let placed = |v: i32| v.saturating_add(zero_point);
            let machine = [
                ("f32-product", placed(product.round_ties_even() as i32)),
                ("f32-product-away", placed(product.round() as i32)),
                ("f32-product-zero-point", (product + zp).round_ties_even() as i32),
                ("f32-product-add-half", (product + zp + 0.5).floor() as i32),
                ("f32-product-add-half-away", (product + zp + 0.5f32.copysign(product + zp)).trunc() as i32),
                ("f64-product", placed(wide.round_ties_even() as i32)),
                ("f64-product-away", placed(wide.round() as i32)),
                ("f64-product-add-half", (wide + f64::from(zero_point) + 0.5).floor() as i32),
                ("f32-dequantize-quantize", placed((x as f32 * (a * b) / c).round_ties_even() as i32)),
                ("f32-dequantize-reciprocal", placed((x as f32 * (a * b) * (1.0 / c)).round_ties_even() as i32)),
            ];
            prop_assert!(machine.iter().map(|(name, _)| *name).eq(DEFINITIONS.iter().map(|d| d.name)));
            for (name, expected) in machine {
                let derivation = if name.starts_with("f64") { "f64" } else { "f32" };
                prop_assert_eq!(scheme(name, &scales, derivation).exact(x, &output), expected, "{}", name);
            }
        }
    }
}
