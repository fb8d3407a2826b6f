//! Multipliers derived from the scales of a layer: `input * weight / output`, in the arithmetic of each library, and then a Q0.31
//! multiplier and a shift. No machine float is used: every step is an exact rational, rounded to the format of that step.

pub mod dyadic;
pub mod floats;
pub mod real;

use crate::float::Format::{self, F32, F64};
use crate::names::{UnknownName, unknown};
use crate::rounding::RoundingRule::TiesAway;
use dyadic::nearest;
use rug::Rational;

/// Scales of a layer as written, each above 0: real = scale * (quantized - zero point).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scales {
    /// Scale of the input.
    pub input: Rational,
    /// Scale of the weights.
    pub weight: Rational,
    /// Scale of the output.
    pub output: Rational,
}

impl Scales {
    /// Rounds each scale to the nearest number of `format`.
    pub fn read(&self, format: Format) -> Self {
        let [input, weight, output] = [&self.input, &self.weight, &self.output].map(|scale| nearest(format, scale));
        Self { input, weight, output }
    }

    /// Computes `f32(input * weight)` of the scales read as float.
    pub fn product_f32(&self) -> Rational {
        let Self { input, weight, .. } = self.read(F32);
        nearest(F32, &(input * weight))
    }
}

/// Derivation of the real multiplier.
#[derive(Clone, Copy, Debug)]
pub struct Derivation {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Repository and file.
    pub source: &'static str,
    /// Computes the real multiplier.
    pub real: fn(&Scales) -> Rational,
}

/// Builds an entry of the list: its texts, and the function that computes the multiplier.
macro_rules! derivation {
    ($name:literal, $summary:literal, $source:literal => $real:expr) => {
        Derivation { name: $name, summary: $summary, source: $source, real: $real }
    };
}

/// Every derivation. A model's scales are float32; the name says `doubles` if a library keeps doubles.
pub static DERIVATIONS: &[Derivation] = &[
    derivation!("exact", "scales read as float; exact", "none: the real number that the others approximate" => |scales| exact(&scales.read(F32))),
    derivation!("exact-doubles", "scales read as double; exact",
        "none: the real number that the others approximate" => |scales| exact(&scales.read(F64))),
    derivation!("f64", "scales read as float; product and quotient in double",
        "tensorflow/tensorflow lite/kernels/kernel_util.cc PopulateConvolutionQuantizationParams" => |scales| in_f64(&scales.read(F32))),
    derivation!("f64-doubles", "scales read as double; product and quotient in double",
        "none: what a converter does that keeps its scales as doubles" => |scales| in_f64(&scales.read(F64))),
    derivation!("f32-f64", "product in float, quotient in double",
        "tensorflow/tensorflow lite/kernels/kernel_util.cc GetQuantizedConvolutionMultipler; apache/tvm src/relay/qnn/op/requantize.cc RequantizeLower" => |scales| nearest(F64, &(scales.product_f32() / scales.read(F32).output))),
    derivation!("f32", "product and quotient in float: a multiplier of 24 bits",
        "google/gemmlowp doc/quantization_example.cc; google/XNNPACK src/operators/convolution-nhwc.c; microsoft/onnxruntime core/providers/cpu/quantization/qlinearconv.cc" => |scales| nearest(F32, &(scales.product_f32() / scales.read(F32).output))),
    derivation!("f32-reciprocal", "product in float, times the reciprocal in float: a multiplier of 24 bits",
        "none: what becomes of f32 where a division is replaced" => |scales| nearest(F32, &(scales.product_f32() * nearest(F32, &scales.read(F32).output.recip())))),
];

impl Derivation {
    /// Finds the derivation with that name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownName> {
        let found = DERIVATIONS.iter().find(|d| d.name == name);
        found.ok_or_else(|| unknown("derivation", name, DERIVATIONS.iter().map(|d| d.name)))
    }
}

fn exact(scales: &Scales) -> Rational {
    Rational::from(&scales.input * &scales.weight) / &scales.output
}

fn in_f64(scales: &Scales) -> Rational {
    nearest(F64, &(nearest(F64, &Rational::from(&scales.input * &scales.weight)) / &scales.output))
}

/// Returns the Q0.31 multiplier and the shift of a real multiplier above 0. The multiplier is the significand in [1/2, 1) times 2^31,
/// rounded half away, and halved if that is 2^31. (0, 0) below 2^-32; `None` if the shift would be above 31.
///
/// Source: `QuantizeMultiplier` of tensorflow/tensorflow lite/kernels/internal/quantization_util.cc (which takes a double);
/// `GetFixedPointMultiplierShift` of apache/tvm src/relay/qnn/utils.cc; `QuantizeMultiplierSmallerThanOne` of google/gemmlowp
/// doc/quantization_example.cc. XNNPACK's significand of 24 bits, shifted left by 7, is the same number (src/params-init.c).
pub fn quantize_multiplier(real: &Rational) -> Option<(i32, i32)> {
    let mut shift = dyadic::exponent(real);
    let mut multiplier = TiesAway.round(&(real.clone() << (31 - shift)));
    if multiplier == 1u32 << 31 {
        multiplier >>= 1;
        shift += 1;
    }
    match shift {
        ..-31 => Some((0, 0)),
        -31..=31 => Some((multiplier.to_i32()?, shift)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::decimal;
    use proptest::prelude::*;

    fn scales(input: &str, weight: &str, output: &str) -> Scales {
        let [input, weight, output] = [input, weight, output].map(|text| decimal(text).expect("a decimal"));
        Scales { input, weight, output }
    }

    fn multipliers(scales: &Scales) -> Vec<(&'static str, (i32, i32))> {
        let of = |d: &Derivation| (d.name, quantize_multiplier(&(d.real)(scales)).expect("a shift in range"));
        DERIVATIONS.iter().map(of).collect()
    }

    /// tensorflow #23800: at x=1327 the product of these scales is close to a tie, and the derivation decides the side.
    #[test]
    fn one_layer_in_every_derivation() {
        let expected = [
            ("exact", (1_139_282_975, -7)),
            ("exact-doubles", (1_139_282_976, -7)),
            ("f64", (1_139_282_975, -7)),
            ("f64-doubles", (1_139_282_976, -7)),
            ("f32-f64", (1_139_282_932, -7)),
            ("f32", (1_139_282_944, -7)),
            ("f32-reciprocal", (1_139_282_944, -7)),
        ];
        assert_eq!(multipliers(&scales(".0386069156", ".0178998914", ".1667338312")), expected);
    }

    #[test]
    fn the_ends_of_multipliers_and_shifts() {
        let one = Rational::from(1);
        assert_eq!(quantize_multiplier(&one), Some((1 << 30, 1)));
        assert_eq!(quantize_multiplier(&Rational::from((1, 2))), Some((1 << 30, 0)));
        // 2^31 - 1/2 rounds up to 2^31, and is then halved.
        let under = one.clone() - (one.clone() >> 32);
        assert_eq!(quantize_multiplier(&under), Some((1 << 30, 1)));
        assert_eq!(quantize_multiplier(&(under - (one.clone() >> 40))), Some((i32::MAX, 0)));
        assert_eq!(quantize_multiplier(&(one.clone() >> 32)), Some((1 << 30, -31)));
        assert_eq!(quantize_multiplier(&(one.clone() >> 33)), Some((0, 0)));
        assert_eq!(quantize_multiplier(&(one.clone() << 30)), Some((1 << 30, 31)));
        assert_eq!(quantize_multiplier(&(one << 31)), None);
    }

    #[test]
    fn unknown_names_suggest_the_nearest() {
        assert_eq!(Derivation::find("f32-recipocal").expect_err("unknown").nearest.as_deref(), Some("f32-reciprocal"));
        assert_eq!(Derivation::find("f64").expect("known").name, "f64");
    }

    proptest! {
        /// Compares with machine floats, step by step as in the sources; derivations do not use machine floats.
        #[test]
        fn derivations_are_what_the_machine_computes(a in 1e-6f32..10.0, b in 1e-6f32..10.0, c in 1e-6f32..10.0) {
            let scales = scales(&a.to_string(), &b.to_string(), &c.to_string());
            let machine = [
                ("f64", f64::from(a) * f64::from(b) / f64::from(c)),
                ("f32-f64", f64::from(a * b) / f64::from(c)),
                ("f32", f64::from(a * b / c)),
                ("f32-reciprocal", f64::from(a * b * (1.0 / c))),
            ];
            for (name, real) in machine {
                let derived = (Derivation::find(name).expect("known").real)(&scales);
                prop_assert_eq!(&derived, &Rational::from_f64(real).expect("finite"), "{}", name);
                let (m, s) = quantize_multiplier(&derived).expect("in range");
                prop_assert_eq!(f64::from(m), (real / f64::from(s).exp2() * f64::from(31).exp2()).round(), "{}", name);
            }
        }
    }
}
