//! What each runtime does with the sums of a layer: how it derives the multiplier, and the scheme by which it rescales.

use crate::model::operators::Kind;
use thiserror::Error;
use tiebreak_oracle::Rational;
use tiebreak_oracle::census::Requantizer;
use tiebreak_oracle::derivation::{Derivation, Scales, floats, quantize_multiplier};
use tiebreak_oracle::fpm::{self, Parameters};
use tiebreak_oracle::names::{UnknownName, unknown};

/// A scheme of rescaling, of fixed point or in floats.
#[derive(Clone, Copy, Debug)]
pub enum Rescaling {
    /// By a Q0.31 multiplier and a shift.
    Fixed(fpm::Scheme),
    /// By a real multiplier, or by the scales apart.
    Float(&'static floats::Definition),
}

impl Rescaling {
    /// The scheme of that name: of fixed point multiply, NAME or NAME:POLICY, or in floats.
    pub fn parse(text: &str) -> Result<Self, UnknownName> {
        if let Some(definition) = floats::DEFINITIONS.iter().find(|d| d.name == text) {
            return Ok(Self::Float(definition));
        }
        let names =
            || fpm::scheme::DEFINITIONS.iter().map(|d| d.name).chain(floats::DEFINITIONS.iter().map(|d| d.name));
        fpm::Scheme::parse(text).map(Self::Fixed).map_err(|error| match error.kind {
            "scheme" => unknown("scheme", &error.name, names()),
            _ => error,
        })
    }

    /// How it is written.
    pub fn label(&self) -> String {
        match self {
            Self::Fixed(scheme) => scheme.label(),
            Self::Float(definition) => definition.name.to_owned(),
        }
    }

    /// The requantization at a Q0.31 multiplier and a shift, of which a scheme in floats takes the real number, rounded to its format. `None`
    /// if it takes the scales of a layer apart.
    pub fn at(&self, multiplier: i32, shift: i32) -> Option<Requantizer> {
        match self {
            Self::Fixed(scheme) => Some(Requantizer::Fixed(*scheme, Parameters::q31(multiplier, shift))),
            Self::Float(definition) => {
                definition.of_multiplier(&(Rational::from(multiplier) << (shift - 31))).map(Requantizer::Float)
            }
        }
    }

    /// The scheme of addition and the one of multiplication that rescale in this way, if there are any.
    fn elementwise(&self) -> Elementwise {
        let name = match self {
            Self::Fixed(scheme) => scheme.definition.name,
            Self::Float(_) => return Elementwise { add: None, mul: None },
        };
        let both = |name| Elementwise { add: Some(name), mul: Some(name) };
        match name {
            "gemmlowp-double" => both("tflite"),
            "tflite-single" => both("tflite-single"),
            "cmsis-nn-double" => both("cmsis-nn"),
            "cmsis-nn-single" => both("cmsis-nn-single"),
            "tosa-apply-scale-32-double" => both("tosa-double"),
            "tosa-apply-scale-32-single" => both("tosa-single"),
            "tflite-int16-multiplier" => both("tflite-int16-multiplier"),
            _ => Elementwise { add: None, mul: None },
        }
    }
}

/// Names of the schemes for operations on two tensors, where these are defined.
#[derive(Clone, Copy, Debug)]
struct Elementwise {
    add: Option<&'static str>,
    mul: Option<&'static str>,
}

/// Names of a derivation and of a scheme.
type Names = (&'static str, &'static str);

/// A runtime, or one set of its kernels.
#[derive(Clone, Copy, Debug)]
pub struct Runtime {
    /// Name used everywhere.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Repositories and files.
    pub source: &'static str,
    /// Of convolutions, and of matrix products with a scale for each channel.
    products: Names,
    /// The derivation of matrix products with one scale for all channels.
    dense: &'static str,
    /// Of the operators that only rescale, where it is defined.
    rescale: Option<Names>,
    elementwise: Elementwise,
}

const TFLITE: &str = "tensorflow/tensorflow lite/kernels/kernel_util.cc, lite/kernels/internal/common.cc";
const CMSIS: &str = "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h; tensorflow/tflite-micro kernels/cmsis_nn";

/// Every runtime.
pub static RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "tflite-reference",
        summary: "TensorFlow Lite's reference kernels, and TensorFlow Lite Micro's: two roundings",
        source: TFLITE,
        products: ("f64", "gemmlowp-double:wrap"),
        dense: "f32-f64",
        rescale: Some(("f64", "gemmlowp-double:wrap")),
        elementwise: Elementwise { add: Some("tflite"), mul: Some("tflite") },
    },
    Runtime {
        name: "tflite-single-rounding",
        summary: "the same, compiled with TFLITE_SINGLE_ROUNDING: one rounding",
        source: TFLITE,
        products: ("f64", "tflite-single:wrap"),
        dense: "f32-f64",
        rescale: Some(("f64", "tflite-single:wrap")),
        elementwise: Elementwise { add: Some("tflite-single"), mul: Some("tflite-single") },
    },
    Runtime {
        name: "tflite-optimized",
        summary: "LiteRT's optimized kernels without a delegate, as finding 8 measured them",
        source: "google-ai-edge/LiteRT 2.3",
        products: ("f64", "sqrdmulh-srshl:wrap"),
        dense: "f32-f64",
        rescale: None,
        elementwise: Elementwise { add: None, mul: None },
    },
    Runtime {
        name: "xnnpack",
        summary: "XNNPACK, the usual delegate of LiteRT: a float32 product, halves to even",
        source: "google/XNNPACK src/operators/convolution-nhwc.c, src/qs8-vadd, src/qs8-vmul",
        products: ("f32", "f32-product"),
        dense: "f32",
        rescale: None,
        elementwise: Elementwise { add: Some("xnnpack"), mul: Some("xnnpack-fp32") },
    },
    Runtime {
        name: "onnxruntime",
        summary: "ONNX Runtime on CPUs: a float32 product, halves to even",
        source: "microsoft/onnxruntime core/mlas/lib/quantize.cpp, qladd.cpp, qlmul.cpp",
        products: ("f32", "f32-product"),
        dense: "f32",
        rescale: Some(("f32", "f32-dequantize-quantize")),
        elementwise: Elementwise { add: Some("onnx"), mul: Some("onnx") },
    },
    Runtime {
        name: "cmsis-nn",
        summary: "CMSIS-NN within TensorFlow Lite Micro: two roundings",
        source: CMSIS,
        products: ("f64", "cmsis-nn-double:wrap"),
        dense: "f32-f64",
        rescale: Some(("f64", "gemmlowp-double:wrap")),
        elementwise: Elementwise { add: Some("cmsis-nn"), mul: Some("cmsis-nn") },
    },
    Runtime {
        name: "cmsis-nn-single",
        summary: "the same, compiled with CMSIS_NN_USE_SINGLE_ROUNDING",
        source: CMSIS,
        products: ("f64", "cmsis-nn-single:wrap"),
        dense: "f32-f64",
        rescale: Some(("f64", "tflite-single:wrap")),
        elementwise: Elementwise { add: Some("cmsis-nn-single"), mul: Some("cmsis-nn-single") },
    },
    Runtime {
        name: "tvm",
        summary: "TVM's default lowering of qnn.requantize: one rounding, halves up",
        source: "apache/tvm src/relay/qnn/op/requantize.cc, src/relay/qnn/utils.cc",
        products: ("f32-f64", "ties-up:wrap"),
        dense: "f32-f64",
        rescale: Some(("f32-f64", "ties-up:wrap")),
        elementwise: Elementwise { add: None, mul: None },
    },
    Runtime {
        name: "tvm-arm",
        summary: "TVM with the Arm instructions of its RFC: two roundings, both halves up",
        source: "apache/tvm src/target/arm_cpu.cc, the rule of q_multiply_shift",
        products: ("f32-f64", "sqrdmulh-srshl:wrap"),
        dense: "f32-f64",
        rescale: Some(("f32-f64", "sqrdmulh-srshl:wrap")),
        elementwise: Elementwise { add: None, mul: None },
    },
];

/// What is compared: a runtime, or one scheme with one derivation for everything.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// Each operator as the runtime has it.
    Runtime(&'static Runtime),
    /// Every operator by this scheme.
    Scheme(Rescaling, &'static Derivation),
}

/// How a layer is rescaled by one side.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// How the multiplier is derived.
    pub derivation: &'static Derivation,
    /// The scheme.
    pub rescaling: Rescaling,
}

/// Why a channel has no requantization.
#[derive(Debug, Error)]
pub enum NoMultiplier {
    /// The quotient of its scales is too large.
    #[error("its multiplier is 2^31 or more")]
    TooLarge,
    /// A scheme in floats has no such factors.
    #[error("{0} has no factor for these scales")]
    NoFactor(&'static str),
}

impl Runtime {
    /// The runtime of that name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownName> {
        let found = RUNTIMES.iter().find(|runtime| runtime.name == name);
        found.ok_or_else(|| unknown("runtime", name, RUNTIMES.iter().map(|r| r.name)))
    }
}

impl Side {
    /// How it is named.
    pub fn label(&self) -> String {
        match self {
            Self::Runtime(runtime) => runtime.name.to_owned(),
            Self::Scheme(rescaling, _) => rescaling.label(),
        }
    }

    /// A description in one line.
    pub fn summary(&self) -> String {
        match self {
            Self::Runtime(runtime) => runtime.summary.to_owned(),
            Self::Scheme(rescaling, derivation) => {
                format!("every layer by {}, multipliers derived by {}", rescaling.label(), derivation.name)
            }
        }
    }

    /// How sums of products are rescaled.
    pub fn products(&self, kind: Kind, per_channel: bool) -> Way {
        match self {
            Self::Runtime(runtime) => {
                let (derivation, scheme) = runtime.products;
                let apart = kind == Kind::Dense && !per_channel;
                way((if apart { runtime.dense } else { derivation }, scheme))
            }
            Self::Scheme(rescaling, derivation) => Way { derivation, rescaling: *rescaling },
        }
    }

    /// How an operator that only rescales does so.
    pub fn rescale(&self) -> Option<Way> {
        match self {
            Self::Runtime(runtime) => runtime.rescale.map(way),
            Self::Scheme(rescaling, derivation) => Some(Way { derivation, rescaling: *rescaling }),
        }
    }

    /// The name of its scheme of addition.
    pub fn add(&self) -> Option<&'static str> {
        self.elementwise().add
    }

    /// The name of its scheme of multiplication.
    pub fn mul(&self) -> Option<&'static str> {
        self.elementwise().mul
    }

    fn elementwise(&self) -> Elementwise {
        match self {
            Self::Runtime(runtime) => runtime.elementwise,
            Self::Scheme(rescaling, _) => rescaling.elementwise(),
        }
    }
}

fn way((derivation, scheme): Names) -> Way {
    let derivation = Derivation::find(derivation).expect("the table names derivations that are there");
    let rescaling = Rescaling::parse(scheme).expect("the table names schemes that are there");
    Way { derivation, rescaling }
}

impl Way {
    /// The requantization of a channel, and its Q0.31 multiplier and shift; none for a scheme that takes the scales apart.
    pub fn of(&self, scales: &Scales) -> Result<(Requantizer, Option<(i32, i32)>), NoMultiplier> {
        let real = (self.derivation.real)(scales);
        let multiplier = quantize_multiplier(&real).ok_or(NoMultiplier::TooLarge);
        match self.rescaling {
            Rescaling::Fixed(scheme) => {
                let (m, s) = multiplier?;
                Ok((Requantizer::Fixed(scheme, Parameters::q31(m, s)), Some((m, s))))
            }
            Rescaling::Float(definition) => {
                let of_real = definition.of_multiplier(&real);
                let multiplier = if of_real.is_some() { multiplier.ok() } else { None };
                let scheme = of_real.or_else(|| definition.of_scales(scales));
                scheme.map(|s| (Requantizer::Float(s), multiplier)).ok_or(NoMultiplier::NoFactor(definition.name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_oracle::scheme::Scheme;

    /// Every name of the table leads somewhere.
    #[test]
    fn what_the_table_names_is_there() {
        for runtime in RUNTIMES {
            let side = Side::Runtime(Runtime::find(runtime.name).expect("by its own name"));
            for (kind, per_channel) in [(Kind::Convolution, true), (Kind::Dense, false), (Kind::Depthwise, true)] {
                side.products(kind, per_channel);
            }
            side.rescale();
            if let Some(name) = side.add() {
                Scheme::<&'static tiebreak_oracle::add::Definition>::parse(name).expect("a scheme of addition");
            }
            if let Some(name) = side.mul() {
                Scheme::<&'static tiebreak_oracle::mul::Definition>::parse(name).expect("a scheme of multiplication");
            }
        }
        for scheme in fpm::Scheme::every() {
            let Elementwise { add, mul } = Rescaling::Fixed(scheme).elementwise();
            add.map(|name| Scheme::<&'static tiebreak_oracle::add::Definition>::parse(name).expect("a scheme"));
            mul.map(|name| Scheme::<&'static tiebreak_oracle::mul::Definition>::parse(name).expect("a scheme"));
        }
        assert_eq!(Runtime::find("xnpack").expect_err("unknown").nearest.as_deref(), Some("xnnpack"));
        assert_eq!(Rescaling::parse("f32-prodct").expect_err("unknown").nearest.as_deref(), Some("f32-product"));
    }
}
