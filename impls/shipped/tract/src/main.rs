//! tract-linalg as a lane: `Scaler` times int32, the same scaling fused into the machine's matrix kernels, and the int8 product of these kernels.

#[path = "../../worker.rs"]
mod worker;

use serde_json::Value;
use tract_data::internal::{DatumType, Tensor, tensor1};
use tract_linalg::Scaler;
use tract_linalg::mmm::{AsInputValue, FusedSpec, MatMatMul, RoundingPolicy};
use worker::{Failure, Kernel, failed, integer, serve};

/// Matrix kernels that this lane runs if the CPU has their instructions.
const MATRIX: [&str; 3] = ["generic_i32_4x4", "avx2_mmm_i32_8x8", "avx512vnni_mmm_i32_16x16"];

/// Rounding policies for ties that have a scheme: name in the kernel's name, policy, scheme.
const POLICIES: [(&str, RoundingPolicy, &str); 5] = [
    ("zero", RoundingPolicy::Zero, "ties-to-zero:wrap"),
    ("away", RoundingPolicy::Away, "ties-away:wrap"),
    ("minus-inf", RoundingPolicy::MinusInf, "ties-down:wrap"),
    ("plus-inf", RoundingPolicy::PlusInf, "ties-up:wrap"),
    ("even", RoundingPolicy::Even, "ties-even:wrap"),
];

/// Number of rows of the matrix in which accumulators are scaled; the remaining accumulators are one column.
const ROWS: usize = 16;

/// Returns the right shift and the multiplier, as tract defines them: the result is x * m * 2^-(31 + shift).
fn scale(params: &Value) -> Result<(isize, i32), Failure> {
    let [channel] = params["channels"].as_array().map_or(&[][..], Vec::as_slice) else {
        return Err(Failure::OutsideDomain("one channel"));
    };
    if params["q"] != 31 {
        return Err(Failure::OutsideDomain("31 fraction bits"));
    }
    let multiplier = i32::try_from(integer(channel, "multiplier")?).map_err(failed)?;
    Ok((-integer(channel, "shift")? as isize, multiplier))
}

fn by_scalar(policy: RoundingPolicy) -> impl Fn(&Value, &[i32], usize) -> Result<Vec<i32>, Failure> {
    move |params, inputs, _| {
        let (shift, multiplier) = scale(params)?;
        let scaler = Scaler::from_fuse_params(shift, policy, multiplier);
        Ok(inputs.iter().map(|&x| scaler * x).collect())
    }
}

/// Runs a kernel with these steps and a last step that stores the matrix.
fn stored(kernel: &dyn MatMatMul, m: usize, n: usize, mut steps: Vec<FusedSpec>) -> Result<Vec<i32>, Failure> {
    let mut out = Tensor::zero::<i32>(&[m, n]).map_err(failed)?;
    // SAFETY: the store is of m rows and n columns of int32, as `out` is; operands are packed for this kernel.
    unsafe {
        steps.push(FusedSpec::Store(kernel.c_view(Some(0), Some(1)).wrap(&out.view_mut())));
        kernel.run(m, n, &steps).map_err(failed)?;
    }
    drop(steps);
    out.try_as_plain_ram().and_then(|out| out.as_slice::<i32>().map(<[i32]>::to_vec)).map_err(failed)
}

fn scaled(
    kernel: &dyn MatMatMul,
    scaling: (isize, RoundingPolicy, i32),
    x: &[i32],
    rows: usize,
) -> Result<Vec<i32>, Failure> {
    if x.is_empty() {
        return Ok(Vec::new());
    }
    let columns = x.len() / rows;
    let given = tensor1(x).into_shape(&[rows, columns]).map_err(failed)?;
    // SAFETY: the view has the rows and columns that the kernel is run with.
    let add = FusedSpec::AddUnicast(unsafe { kernel.c_view(Some(0), Some(1)).wrap(&given.view()) });
    let (shift, policy, multiplier) = scaling;
    stored(kernel, rows, columns, vec![add, FusedSpec::QScale(shift, policy, multiplier)])
}

fn by_matrix(
    kernel: Box<dyn MatMatMul>,
    policy: RoundingPolicy,
) -> impl Fn(&Value, &[i32], usize) -> Result<Vec<i32>, Failure> {
    move |params, inputs, _| {
        let (shift, multiplier) = scale(params)?;
        let (body, tail) = inputs.split_at(inputs.len() / ROWS * ROWS);
        let scaling = (shift, policy, multiplier);
        let mut out = scaled(&*kernel, scaling, body, ROWS)?;
        out.extend(scaled(&*kernel, scaling, tail, tail.len())?);
        Ok(out)
    }
}

fn matrix_of(words: &[i32], rows: usize, columns: usize) -> Result<Tensor, Failure> {
    let bytes: Vec<i8> = words.iter().map(|&x| i8::try_from(x)).collect::<Result<_, _>>().map_err(failed)?;
    tensor1(&bytes).into_shape(&[rows, columns]).map_err(failed)
}

/// Multiplies `lhs`, m x k, by `rhs`, k x n, both of i8. `inputs` has `lhs`, then `rhs`. These kernels have no zero points.
fn product(kernel: Box<dyn MatMatMul>) -> impl Fn(&Value, &[i32], usize) -> Result<Vec<i32>, Failure> {
    move |params, inputs, _| {
        let size = |name| integer(params, name).map(|size| size as usize);
        let (m, n, k) = (size("m")?, size("n")?, size("k")?);
        if integer(params, "lhs_offset")? != 0 || integer(params, "rhs_offset")? != 0 {
            return Err(Failure::OutsideDomain("no zero points"));
        }
        let (lhs, rhs) = (matrix_of(&inputs[..m * k], m, k)?, matrix_of(&inputs[m * k..], k, n)?);
        let (a, b) = &kernel.packings()[1];
        let a = AsInputValue::Owned(a.prepare_one(&lhs, 1, 0).map_err(failed)?);
        let b = AsInputValue::Owned(b.prepare_one(&rhs, 0, 1).map_err(failed)?);
        stored(&*kernel, m, n, vec![FusedSpec::AddMatMul { a, b, packing: 1 }])
    }
}

fn main() -> std::io::Result<()> {
    let mut kernels = Vec::new();
    let fpm = |name: String, scheme, run| Kernel { op: "fpm", name, like: "tflite-single", scheme: Some(scheme), run };
    for (policy_name, policy, scheme) in POLICIES {
        kernels.push(fpm(format!("shipped-tract-scaler-{policy_name}"), scheme, Box::new(by_scalar(policy))));
    }
    let runnable = tract_linalg::mmm_routines::runnable_for(&tract_linalg::isa::native());
    for kernel in runnable
        .into_iter()
        .filter(|kernel| MATRIX.contains(&kernel.name()) && kernel.internal_type() == DatumType::I32)
    {
        let name = format!("shipped-tract-{}", kernel.name().replace('_', "-"));
        for (policy_name, policy, scheme) in POLICIES {
            kernels.push(fpm(format!("{name}-{policy_name}"), scheme, Box::new(by_matrix(kernel.clone(), policy))));
        }
        kernels.push(Kernel {
            op: "matmul",
            name,
            like: "nvidia-dp4a-s8",
            scheme: None,
            run: Box::new(product(kernel)),
        });
    }
    serve("native", &kernels)
}
