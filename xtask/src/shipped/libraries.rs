//! Table of libraries.

use super::{Driver, Group, Library};
#[cfg(target_arch = "x86_64")]
use crate::cargo;

/// Packages of a driver in C++ for a library that is not in a package.
const CXX: &[&str] = &["nlohmann-json3-dev", "g++"];
/// Packages of gemmlowp and its driver.
const GEMMLOWP: &[&str] = &["libgemmlowp-dev", "nlohmann-json3-dev", "g++"];
/// Argument that lets gemmlowp be compiled without vectors.
const SCALAR: &str = "-DGEMMLOWP_ALLOW_SLOW_SCALAR_FALLBACK";
/// Packages of oneDNN and its driver.
const DNNL: &[&str] = &["libdnnl-dev", "nlohmann-json3-dev", "g++"];
/// Packages of a driver in Python.
const PYTHON: &[&str] = &["python3", "python3-venv"];

/// Returns a driver in C++, with the compiler's arguments on x86-64 and elsewhere, and the linked libraries.
const fn cxx(x86_64: &'static [&'static str], others: &'static [&'static str], linked: &'static str) -> Driver {
    Driver::Cxx { source: "worker.cpp", x86_64, others, linked }
}

/// Returns a driver in Python for a package.
const fn python(package: &'static str) -> Driver {
    Driver::Python { script: "worker.py", package }
}

/// List of libraries. Columns: group, name, directory, packages, driver, words before the program; below them the description.
macro_rules! libraries {
    ($(
        $(#[$only:meta])?
        $group:ident, $name:literal, $directory:literal, $packages:expr, $driver:expr, $started:expr, $about:literal;
    )+) => {
        &[$($(#[$only])? Library {
            name: $name,
            about: $about,
            directory: $directory,
            packages: $packages,
            driver: $driver,
            started: $started,
            group: Group::$group,
        }),+]
    };
}

/// Libraries, in the order of lists.
pub(crate) const LIBRARIES: &[Library] = libraries! {
    Shipped, "gemmlowp", "gemmlowp", GEMMLOWP, cxx(&["-msse4.1"], &[], "-lpthread"), &[],
        "gemmlowp with the vectors of the machine: output stages, fixed-point functions, GEMM";
    Shipped, "gemmlowp-scalar", "gemmlowp", GEMMLOWP,
        cxx(&[SCALAR], &[SCALAR, "-U__ARM_NEON", "-U__ARM_NEON__"], "-lpthread"), &[],
        "gemmlowp without vectors";
    Shipped, "xnnpack", "xnnpack", &["libxnnpack-dev", "libpthreadpool-dev", "nlohmann-json3-dev", "g++"],
        cxx(&[], &[], "-lXNNPACK"), &[],
        "XNNPACK's operators that convert, add and multiply, as its library chooses them for this CPU";
    Shipped, "onednn", "onednn", DNNL, cxx(&[], &[], "-ldnnl"), &[],
        "oneDNN: int8 matrix products and convolutions";
    #[cfg(target_arch = "x86_64")]
    Shipped, "onednn-avx2", "onednn", DNNL, cxx(&[], &[], "-ldnnl"), &["env", "ONEDNN_MAX_CPU_ISA=AVX2"],
        "the same without instructions beyond AVX2";
    Shipped, "onnxruntime", "onnxruntime", PYTHON, python("onnxruntime"), &[],
        "ONNX Runtime's CPU kernels: QuantizeLinear, DequantizeLinear, MatMulInteger, QLinearAdd, QLinearMul";
    #[cfg(target_arch = "x86_64")]
    Shipped, "onnxruntime-avx2", "onnxruntime", &["python3", "python3-venv", "qemu-user"],
        python("onnxruntime"), &["qemu-x86_64", "-cpu", "Haswell-noTSX"],
        "the same on an emulated CPU that has AVX2 and no VNNI, for which ONNX Runtime chooses other kernels";
    Shipped, "litert", "litert", PYTHON, python("ai-edge-litert"), &[],
        "LiteRT's operators with the reference kernels, the optimized ones and XNNPACK: CONV_2D, FULLY_CONNECTED, QUANTIZE, ADD, ..";
    #[cfg(target_arch = "x86_64")]
    Shipped, "tflite-micro", "tflite-micro", PYTHON, python("tflite-micro"), &[],
        "TensorFlow Lite Micro's kernels of the same operators";
    #[cfg(target_arch = "x86_64")]
    Apart, "tvm", "tvm", PYTHON, python("apache-tvm"), &[],
        "TVM 0.27: topi.fixed_point_multiply, and the same per axis";
    #[cfg(target_arch = "x86_64")]
    Apart, "hhb-tvm", "hhb-tvm", &["python3", "python3-venv", "gcc", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        Driver::Compiler { script: "worker.py", package: "hhb-tvm", python: "3.10", runner: "runner.c" }, &[],
        "TVM 0.16 for aarch64 under an emulator, with the Arm rule for qmuls and the Arm GEMM kernels, and for x86-64";
    Shipped, "tract", "tract", &[], Driver::Cargo { library: "tract-linalg" }, &[],
        "tract-linalg: Scaler, the same scaling in its matrix kernels, their int8 products";
    Shipped, "rten", "rten", &[], Driver::Cargo { library: "rten-gemm" }, &[],
        "rten-gemm: the u8 x s8 matrix product, as the library chooses its code for this CPU";
    #[cfg(target_arch = "x86_64")]
    Shipped, "rten-avx2", "rten", &["qemu-user"],
        Driver::Cargo { library: "rten-gemm" }, &["qemu-x86_64", "-cpu", "Haswell-noTSX"],
        "the same on an emulated CPU that has AVX2 and no VNNI";
    #[cfg(target_arch = "x86_64")]
    Shipped, "tosa-reference", "tosa-reference", PYTHON, python("tosa-tools"), &[],
        "TOSA's reference model: RESCALE, MATMUL, CONV2D, AVG_POOL2D, MAX_POOL2D";
    Apart, "pytorch", "pytorch", &["python3-torch", "python3-numpy"], Driver::System { script: "worker.py" }, &[],
        "PyTorch's quantized tensors: quantize, dequantize, add, mul, average and maximum pools in both layouts";
    Apart, "tosa-mlir", "tosa-mlir", CXX, Driver::Mlir { level: 2 }, &[],
        "TOSA as MLIR 22 lowers it and LLVM compiles it at -O2: apply_scale, rescale, add, matmul, conv2d, avg_pool2d, max_pool2d, pad";
    Apart, "tosa-mlir-o0", "tosa-mlir", CXX, Driver::Mlir { level: 0 }, &[],
        "the same at -O0";
    #[cfg(target_arch = "x86_64")]
    Apart, "tosa-mlir-aarch64", "tosa-mlir", &["nlohmann-json3-dev", "g++-aarch64-linux-gnu"],
        Driver::MlirAarch64 { level: 2 }, &[],
        "the same at -O2 for aarch64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Apart, "tosa-mlir-aarch64-o0", "tosa-mlir", &["nlohmann-json3-dev", "g++-aarch64-linux-gnu"],
        Driver::MlirAarch64 { level: 0 }, &[],
        "the same at -O0 for aarch64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "gemmlowp-aarch64", "gemmlowp", &["libgemmlowp-dev", "nlohmann-json3-dev", "g++-aarch64-linux-gnu"],
        Driver::CxxAarch64 { source: "worker.cpp", packages: &[], linked: "-lpthread" }, &[],
        "gemmlowp with NEON, compiled for aarch64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "xnnpack-aarch64", "xnnpack", &["libxnnpack-dev", "libpthreadpool-dev", "nlohmann-json3-dev", "g++-aarch64-linux-gnu"],
        Driver::CxxAarch64 { source: "worker.cpp", packages: &["libxnnpack0", "libstdc++6"], linked: "-l:libXNNPACK.so.0" }, &[],
        "XNNPACK of Debian's arm64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "onnxruntime-aarch64", "onnxruntime", PYTHON,
        Driver::PythonAarch64 { script: "worker.py", package: "onnxruntime", cpu: cargo::CPU }, &[],
        "ONNX Runtime's wheel for aarch64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "onnxruntime-cortex-a72", "onnxruntime", PYTHON,
        Driver::PythonAarch64 { script: "worker.py", package: "onnxruntime", cpu: "cortex-a72" }, &[],
        "the same on an emulated Cortex-A72, without the instructions of dot products";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "litert-aarch64", "litert", PYTHON,
        Driver::PythonAarch64 { script: "worker.py", package: "ai-edge-litert", cpu: cargo::CPU }, &[],
        "LiteRT's wheel for aarch64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "tract-aarch64", "tract", &[], Driver::CargoAarch64 { library: "tract-linalg" }, &[],
        "tract-linalg compiled for aarch64, under an emulator";
    #[cfg(target_arch = "x86_64")]
    Aarch64, "rten-aarch64", "rten", &[], Driver::CargoAarch64 { library: "rten-gemm" }, &[],
        "rten-gemm compiled for aarch64, under an emulator";
};
