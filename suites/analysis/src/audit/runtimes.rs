//! Table of runtimes: scheme and derivation for each operator and type, and the version from which they are known.
//!
//! Measured entries are measured on the published packages: `tests/observed` has the observations with versions and hashes, and a test compares every
//! entry with them. Other entries are read from sources, and every output says so.
//!
//! The scheme depends on operator, type and scales. For example, LiteRT's reference kernels round a matrix product once, in double, and a convolution
//! twice. Each entry therefore selects by these properties.

use super::runtime::{Elementwise, Names, Runtime, Sums};
use crate::model::operators::Kind;
use tiebreak_impls::element::Element;

/// The files in `tensorflow/lite` and `tflite` are the same: LiteRT is the newer name.
const TFLITE: &str = "google-ai-edge/LiteRT tflite/kernels/kernel_util.cc, tflite/kernels/internal/common.cc";
const CMSIS: &str = "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h; tensorflow/tflite-micro kernels/cmsis_nn";
const TVM: &str = "apache/tvm src/relay/qnn/op/requantize.cc, src/relay/qnn/utils.cc";

const LITERT: &str = "LiteRT 2.3.0, x86-64, measured";
const LITERT_AARCH64: &str = "LiteRT 2.3.0, aarch64, measured";
const MICRO: &str = "TensorFlow Lite Micro 0.dev20261023182759, x86-64, measured";
const ONNX: &str = "ONNX Runtime 1.32.0, x86-64, measured";
const SOURCES: &str = "read from sources; no release is measured";

/// Optimized kernels add int8 tensors as the reference kernels do. Their addition of unsigned bytes follows no scheme of `add`.
const OPTIMIZED_BYTES: Elementwise = Elementwise { add: None, mul: Some("tflite") };
const XNNPACK: Elementwise = Elementwise { add: Some("xnnpack"), mul: Some("xnnpack-fp32") };
const NONE: Elementwise = both(None);

const fn both(name: Option<&'static str>) -> Elementwise {
    Elementwise { add: name, mul: name }
}

/// One derivation and scheme for all layers.
macro_rules! always {
    ($derivation:literal, $scheme:literal) => {
        |_| Some(($derivation, $scheme))
    };
}

/// Reference kernels. Their matrix products are computed in double, whatever the type (LiteRT issue 8567).
fn reference(sums: Sums) -> Option<Names> {
    Some(match sums {
        Sums { kind: Kind::Dense, .. } => ("f64", "f64-product-away"),
        Sums { bytes: true, .. } => ("f32-f64", "gemmlowp-double:wrap"),
        _ => ("f64", "gemmlowp-double:wrap"),
    })
}

/// Reference kernels with one rounding, except for products computed in double.
fn reference_single(sums: Sums) -> Option<Names> {
    reference(sums).map(|names| match names {
        (derivation, "gemmlowp-double:wrap") => (derivation, "tflite-single:wrap"),
        other => other,
    })
}

/// Kernels over ruy and vector instructions. Depthwise layers of unsigned bytes use the reference kernel. The int8 depthwise kernel rounds the
/// channels after its last whole vector like the reference (finding 24).
fn optimized(sums: Sums) -> Option<Names> {
    Some(match sums {
        Sums { kind: Kind::Depthwise, bytes: false, is_behind: true, .. } => ("f64", "gemmlowp-double:wrap"),
        Sums { kind: Kind::Depthwise, bytes: true, .. } => ("f32-f64", "gemmlowp-double:wrap"),
        Sums { bytes: true, .. } | Sums { kind: Kind::Dense, per_channel: false, .. } => {
            ("f32-f64", "sqrdmulh-srshl:wrap")
        }
        _ => ("f64", "sqrdmulh-srshl:wrap"),
    })
}

/// Optimized kernels on aarch64: matrix products and convolutions floor the product before the single rounding shift (finding 40).
fn optimized_aarch64(sums: Sums) -> Option<Names> {
    optimized(sums).map(|names| match names {
        (derivation, "sqrdmulh-srshl:wrap") if sums.kind != Kind::Depthwise => (derivation, "cmsis-nn-mve-single:wrap"),
        other => other,
    })
}

/// XNNPACK as the delegate of LiteRT. Depthwise layers of unsigned bytes are not delegated and run as without a delegate.
fn xnnpack(sums: Sums) -> Option<Names> {
    match sums {
        Sums { kind: Kind::Depthwise, bytes: true, .. } => optimized(sums),
        _ => Some(("f32", "f32-product")),
    }
}

/// TensorFlow Lite Micro and CMSIS-NN have no kernels for products of unsigned bytes.
fn signed(sums: Sums, names: Names) -> Option<Names> {
    (!sums.bytes).then_some(names)
}

/// Builds an entry of the table: its texts, the rescaling of products and by operators that only rescale, and the schemes of both types.
macro_rules! runtime {
    ($name:literal => $summary:literal, $version:expr, $source:expr, $products:expr, $rescale:expr, $elementwise:expr) => {
        Runtime {
            name: $name,
            summary: $summary,
            version: $version,
            source: $source,
            products: $products,
            rescale: $rescale,
            elementwise: $elementwise,
        }
    };
}

/// Table of all runtimes.
pub static RUNTIMES: &[Runtime] = &[
    runtime!("real" => "no library: real numbers, rounded once to nearest, halves away from zero", "exact arithmetic",
        "none: the real number that the others approximate",
        always!("exact", "real-ties-away"), always!("exact", "real-ties-away"), [both(Some("nearest-away")); 2]),
    runtime!("tflite-reference" => "LiteRT's reference kernels: two roundings, and one in double of a matrix product", LITERT, TFLITE,
        reference, always!("f64", "gemmlowp-double:wrap"), [both(Some("tflite")); 2]),
    runtime!("tflite-single-rounding" => "the same, compiled with TFLITE_SINGLE_ROUNDING: one rounding", SOURCES, TFLITE,
        reference_single, always!("f64", "tflite-single:wrap"), [both(Some("tflite-single")); 2]),
    runtime!("tflite-optimized" => "LiteRT's optimized kernels without a delegate: two roundings, both halves up", LITERT, TFLITE,
        optimized, always!("f64", "sqrdmulh-srshl:wrap"), [both(Some("tflite")), OPTIMIZED_BYTES]),
    runtime!("tflite-optimized-aarch64" => "the same on aarch64: one rounding, halves up, of convolutions and matrix products", LITERT_AARCH64,
        "google/ruy ruy/apply_multiplier.cc, ruy/kernel_arm64.cc",
        optimized_aarch64, always!("f64", "sqrdmulh-srshl:wrap"), [both(Some("tflite")), OPTIMIZED_BYTES]),
    runtime!("tflite-micro" => "TensorFlow Lite Micro's reference kernels: two roundings", MICRO,
        "tensorflow/tflite-micro tensorflow/lite/micro/kernels, tensorflow/lite/kernels/internal/common.cc",
        |sums| signed(sums, ("f64", "gemmlowp-double:wrap")), |types| (types != (Element::U8, Element::U8)).then_some(("f64", "gemmlowp-double:wrap")), [both(Some("tflite")), NONE]),
    // Between tensors of one type, XNNPACK uses a multiple of 1/256 as multiplier, which is no derivation here. Other rescalings are left to
    // LiteRT.
    runtime!("xnnpack" => "XNNPACK, the usual delegate of LiteRT: a float32 product, halves to even", LITERT,
        "google/XNNPACK src/operators/convolution-nhwc.c, src/qs8-vadd, src/qs8-vmul",
        xnnpack, |(input, output)| (input != output).then_some(("f64", "sqrdmulh-srshl:wrap")), [XNNPACK; 2]),
    // The rescaling is read from sources: DequantizeLinear, then QuantizeLinear.
    runtime!("onnxruntime" => "ONNX Runtime on CPUs: a float32 product, halves to even", ONNX,
        "microsoft/onnxruntime core/mlas/lib/quantize.cpp, qladd.cpp, qlmul.cpp",
        always!("f32", "f32-product"), always!("f32", "f32-dequantize-quantize"), [both(Some("onnx")); 2]),
    runtime!("cmsis-nn" => "CMSIS-NN within TensorFlow Lite Micro, which derives the multipliers: two roundings", SOURCES, CMSIS,
        |sums| signed(sums, ("f64", "cmsis-nn-double:wrap")), always!("f64", "gemmlowp-double:wrap"), [both(Some("cmsis-nn")), NONE]),
    runtime!("cmsis-nn-single" => "the same, compiled with CMSIS_NN_USE_SINGLE_ROUNDING", SOURCES, CMSIS,
        |sums| signed(sums, ("f64", "cmsis-nn-single:wrap")), always!("f64", "tflite-single:wrap"), [both(Some("cmsis-nn-single")), NONE]),
    runtime!("tvm" => "TVM's default lowering of qnn.requantize: one rounding, halves up", SOURCES, TVM,
        always!("f32-f64", "ties-up:wrap"), always!("f32-f64", "ties-up:wrap"), [NONE; 2]),
    runtime!("tvm-arm" => "TVM with the Arm instructions of its RFC: two roundings, both halves up", SOURCES,
        "apache/tvm src/target/arm_cpu.cc, the rule of q_multiply_shift",
        always!("f32-f64", "sqrdmulh-srshl:wrap"), always!("f32-f64", "sqrdmulh-srshl:wrap"), [NONE; 2]),
];
