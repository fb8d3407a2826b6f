//! Kernels under test, as systems ship them, each with its contract.
//!
//! One folder for each operation, one file for each system. This crate depends on no other room and builds for every target.

pub mod concat;
pub mod contract;
pub mod conv2d;
pub mod dequantize;
pub mod dot;
pub mod element;
#[cfg(feature = "elements")]
pub(crate) mod elements;
pub mod elementwise;
pub mod elsewhere;
pub mod execute;
pub mod exp;
pub(crate) mod expressed;
mod float_mode;
pub mod fpm;
pub mod frame;
pub mod instruction;
pub mod job_error;
pub mod kernel;
pub mod matmul;
pub mod mutants;
pub mod operation;
pub mod pool;
pub mod qconv2d;
pub mod qmatmul;
pub mod quantize;
pub mod quantized;
#[cfg(test)]
mod random;
pub mod requantize;
pub mod shape;
pub mod simd;
pub mod softmax;
pub mod sources;
pub mod transform;

/// Form of a kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Scalar code, or vector code over [`simd::Portable`]; the same on every target.
    Portable,
    /// Real vector instructions if this build has them, otherwise the portable form.
    Native,
}

/// Calls `$make` with every operation: the variant of its job, and its marker type. Input and output are those of a worker.
#[macro_export]
macro_rules! operations {
    ($make:ident) => {
        $make! {
            /// Fixed point multiply. Input: `len` accumulators. Output: `len` int32.
            Fpm($crate::fpm::Fpm);
            /// One vector instruction or its portable model. Input: the lanes of the first operand, then of the second, then of the accumulator (if
            /// any), one int32 per lane. Output: one value per lane of the result, then one int32 per vector: 1 if the vector set the cumulative
            /// saturation flag, otherwise 0.
            Instruction($crate::instruction::Instruction);
            /// Dot-product steps. Input: accumulators, then the elements of `a`, then the elements of `b`, one int32 per element for every type.
            /// Output: `len` results.
            Dot($crate::dot::Dot);
            /// Integer matrix product. Input: lhs `[M,K]`, then rhs `[K,N]`, row-major. Output: `[M,N]`; `len` is `M*N`.
            Matmul($crate::matmul::Matmul);
            /// Convolution. Input: the image `[B,H,W,C]`, then the weights `[KH,KW,C/groups,O]`. Output: `[B,OH,OW,O]`.
            Conv2d($crate::conv2d::Conv2d);
            /// Requantization. Input: `len` accumulators. Output: `len` values of the kernel's output type.
            Requantize($crate::requantize::Requantize);
            /// Quantized convolution. Input as for `Conv2d`. Output: `[B,OH,OW,O]`, values of the kernel's output type.
            Qconv2d($crate::qconv2d::Qconv2d);
            /// Quantized matrix product. Input as for `Matmul`. Output: `[M,N]`, values of the last output stage.
            Qmatmul($crate::qmatmul::Qmatmul);
            /// Quantization. Input: words of expressed values, two words per f64, otherwise one. Output: `len` stored values.
            Quantize($crate::quantize::Quantize);
            /// Dequantization. Input: stored values. Output: words of `len` expressed values, two words per f64, otherwise one.
            Dequantize($crate::dequantize::Dequantize);
            /// Quantized addition. Input: `len` stored values of the left operand, then `len` of the right operand. Output: `len` stored values.
            Add($crate::elementwise::add::Add);
            /// Quantized multiplication. Input and output as for `Add`.
            Mul($crate::elementwise::mul::Mul);
            /// Quantized subtraction. Input and output as for `Add`.
            Sub($crate::elementwise::sub::Sub);
            /// Concatenation along an axis. Input: the stored values of each input, row-major, one input after another. Output: stored values of `shape`.
            Concat($crate::concat::Concat);
            /// Average or max pooling. Input: stored values `[B,H,W,C]`. Output: stored values `[B,OH,OW,C]`.
            Pool($crate::pool::Pool);
            /// Fixed-point exponential. Input: `len` int32 that are not positive. Output: `len` int32.
            Exp($crate::exp::Exp);
            /// Softmax. Input: stored values `[rows, depth]`. Output: values of the output type `[rows, depth]`.
            Softmax($crate::softmax::Softmax);
            /// Layout transform. Input: the elements before the transform. Output: the elements after it.
            Transform($crate::transform::Transform);
        }
    };
}
