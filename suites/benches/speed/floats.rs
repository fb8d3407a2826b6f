//! All patterns of f32 through one quantization on the host, judged against contract and reference, compared with the kernel alone
//! over the same blocks.

use crate::Measured;
use crate::timing::{by_turns, median};
use rayon::prelude::*;
use std::hint::black_box;
use tiebreak_impls::quantize::{Kernel, find};
use tiebreak_suites::lane::Lane;
use tiebreak_suites::lane::runner::Runner;
use tiebreak_suites::operation::Wanted;
use tiebreak_suites::quantize::sweep::{BLOCK_IN_PROCESS, CHUNK, Plan};
use tiebreak_suites::quantized::read_type;

const KERNELS: [(&str, &str); 4] = [
    ("mlir-qcast", "!quant.uniform<i8<-8:7>:f32, 0.3:1>"),
    ("mlir-qcast-vector", "!quant.uniform<i8:f32, 0.1>"),
    ("onnx-quantizelinear", "!quant.uniform<i8:f32, 0.1:1>"),
    ("neon-fcvtns", "!quant.uniform<i8:f32, 0.1:1>"),
];
/// Distance of the chunks that run; they cover all exponents and both signs.
const STRIDE: u64 = 31;
const ROUNDS: usize = 5;
/// Upper bound on the ratio of judged to alone.
const MOST: f64 = 1.5;

pub(crate) fn run() -> Vec<Measured> {
    println!("All floats on the host, ns per pattern of wall time, {} cores", rayon::current_num_threads());
    let lane = Lane::host();
    let found = KERNELS.iter().filter_map(|(name, ty)| Some((find(name)?, *ty)));
    found.map(|(kernel, ty)| measure(kernel, ty, &lane)).collect()
}

fn measure(kernel: &'static Kernel, ty: &str, lane: &Lane) -> Measured {
    let quantized = read_type(ty).expect("a type");
    let runner = Runner::new(lane);
    let plan = Plan::new(kernel, &runner, &quantized, &Wanted::default()).expect("a type with decision boundaries");
    let params = plan.params(BLOCK_IN_PROCESS);
    let chunks: Vec<u64> = (0..(1u64 << 32) / CHUNK).step_by(STRIDE as usize).collect();
    let run = kernel.run(tiebreak_impls::Form::Native);
    let mut alone = || {
        chunks.par_iter().for_each(|chunk| {
            let (mut xs, mut outs) = (vec![0; BLOCK_IN_PROCESS], vec![0; BLOCK_IN_PROCESS]);
            for at in (chunk * CHUNK..(chunk + 1) * CHUNK).step_by(BLOCK_IN_PROCESS) {
                xs.iter_mut().enumerate().for_each(|(i, x)| *x = (at as u32).wrapping_add(i as u32) as i32);
                run(black_box(&params), black_box(&xs), black_box(&mut outs));
            }
        });
    };
    let mut judged = || {
        chunks.par_iter().for_each(|chunk| {
            black_box(plan.chunk(chunk * CHUNK));
        });
    };
    let rounds = by_turns(ROUNDS, &mut [&mut alone, &mut judged]);
    let inputs = (chunks.len() as u64 * CHUNK) as f64;
    let ns = |run: usize| median(rounds.iter().map(|r| r[run])) * 1e9 / inputs;
    let ratio = median(rounds.iter().map(|r| r[1] / r[0]));
    println!("  {:24} alone {:.2}, judged {:.2}, judged/alone {ratio:.2}", kernel.name, ns(0), ns(1));
    Measured {
        section: "floats",
        what: format!("{} {ty}", kernel.name),
        numbers: vec![("alone_ns", ns(0)), ("judged_ns", ns(1)), ("judged_to_alone", ratio)],
        wanted: Some((format!("judged/alone {ratio:.2}, at most {MOST}"), ratio <= MOST)),
    }
}
