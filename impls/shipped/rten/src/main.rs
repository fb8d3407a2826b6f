//! rten-gemm as a lane: its int8 matrix product, with the code that the library selects for the CPU, and a zero point for each operand.

#[path = "../../worker.rs"]
mod worker;

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, QuantParams};
use rten_tensor::NdTensorView;
use serde_json::Value;
use worker::{Failure, Kernel, failed, integer, serve};

fn narrow<T: TryFrom<i32>>(words: &[i32]) -> Result<Vec<T>, Failure> {
    let all: Result<Vec<T>, _> = words.iter().map(|&x| T::try_from(x)).collect();
    all.map_err(|_| Failure::Failed("an element is outside its type".to_owned()))
}

/// Returns a zero point for each of `count` rows or columns.
fn zero_points<T: TryFrom<i64> + Copy>(offset: i64, count: usize) -> Result<Vec<T>, Failure> {
    let zero_point =
        T::try_from(-offset).map_err(|_| Failure::OutsideDomain("a zero point is of the operand's type"))?;
    Ok(vec![zero_point; count])
}

/// Multiplies `lhs`, m x k of u8, by `rhs`, k x n of i8. `inputs` has `lhs`, then `rhs`.
fn product(gemm: &GemmExecutor<u8, i8, i32>, params: &Value, inputs: &[i32], len: usize) -> Result<Vec<i32>, Failure> {
    let size = |name| integer(params, name).map(|size| size as usize);
    let (m, n, k) = (size("m")?, size("n")?, size("k")?);
    let lhs_zero_points = zero_points::<u8>(integer(params, "lhs_offset")?, m)?;
    let rhs_zero_points = zero_points::<i8>(integer(params, "rhs_offset")?, n)?;
    let (lhs, rhs) = (narrow::<u8>(&inputs[..m * k])?, narrow::<i8>(&inputs[m * k..])?);
    let options = GemmOptions {
        a_quant: Some(QuantParams { zero_point: &lhs_zero_points }),
        b_quant: Some(QuantParams { zero_point: &rhs_zero_points }),
        ..GemmOptions::default()
    };
    let a = GemmInputA::Unpacked(NdTensorView::from_data([m, k], &lhs[..]));
    let b = GemmInputB::Unpacked(NdTensorView::from_data([k, n], &rhs[..]));
    let mut out = vec![0; len];
    gemm.gemm(&mut out, a, b, options).map_err(failed)?;
    Ok(out)
}

fn main() -> std::io::Result<()> {
    let gemm = GemmExecutor::<u8, i8, i32>::default();
    let isa_path = format!("{}, may saturate: {}", gemm.kernel_name(), gemm.may_saturate());
    let run = Box::new(move |params: &Value, inputs: &[i32], len| product(&gemm, params, inputs, len));
    serve(
        &isa_path,
        &[Kernel { op: "matmul", name: "shipped-rten-gemm".to_owned(), like: "x86-vnni", scheme: None, run }],
    )
}
