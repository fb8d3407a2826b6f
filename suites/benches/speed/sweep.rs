//! Sweep on the host with every output judged against its contract and against the reference, compared with the kernel alone.
//!
//! "Alone" fills the same blocks with the same accumulators and runs only the kernel over them. "Bare" fills no block: the kernel runs
//! over one block again and again. All three use every core.

use crate::Measured;
use crate::timing::{by_turns, median};
use comfy_table::{CellAlignment, Table, TableStyle};
use rayon::prelude::*;
use std::hint::black_box;
use tiebreak_impls::fpm::{Channel, Kernel, Params, find};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_suites::engine::run::sweep::Blocks;
use tiebreak_suites::fpm::sweep::{BLOCK_IN_PROCESS, CHUNK, Plan, Sides};
use tiebreak_suites::lane::Lane;
use tiebreak_suites::lane::runner::Runner;

const KERNELS: [&str; 10] = [
    "tvm-relay",
    "tvm-neon-rfc",
    "tvm-neon-fixup",
    "gemmlowp-scalar",
    "gemmlowp-neon",
    "xnnpack-rndnu-scalar",
    "xnnpack-rndnu-neon",
    "cmsis-nn-double",
    "tosa-apply-scale-32-single",
    "tosa-apply-scale-32-double",
];
const CHANNELS: [Channel; 4] = [
    Channel { multiplier: 1_395_864_371, shift: -8 },
    Channel { multiplier: 1_395_864_371, shift: -1 },
    Channel { multiplier: i32::MAX, shift: 0 },
    Channel { multiplier: 1 << 30, shift: -2 },
];
/// Chunks of a run: both ends, both sides of zero, and chunks in between.
const STARTS: [i64; 8] = [-128, -100, -33, -1, 0, 17, 64, 127];
const ROUNDS: usize = 5;
/// Upper bound on the ratio of judged to alone.
const MOST: f64 = 1.5;

/// `x * 2^30 * 2^(s-31)`, ties up, for `s <= -2`. As the multiplier is a power of two, no intermediate is wider than the accumulator. The
/// addition and two shifts compile to the fastest possible kernel.
fn power_of_two(params: &Params, x: &[i32], out: &mut [i32]) {
    let right = (1 - params.channels[0].shift) as u32;
    for (x, out) in x.iter().zip(out) {
        // The halved value cannot wrap when one half is added; the lost bit never affects the result.
        *out = ((x >> 1) + (1 << (right - 2))) >> (right - 1);
    }
}

pub(crate) fn run() -> Vec<Measured> {
    let lane = Lane::host();
    let reference = Scheme::parse("ties-up:wrap").expect("a scheme");
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header([
        "kernel",
        "m",
        "s",
        "alone ns",
        "judged ns",
        "judged/alone",
        "bare ns",
        "judged/bare",
        "G/s judged",
    ]);
    let mut all = Vec::new();
    let kernels = KERNELS.iter().map(|name| find(name).expect("a kernel"));
    for kernel in kernels {
        for channel in CHANNELS {
            if kernel.contract.domain.contains(channel.multiplier, channel.shift, 31) {
                all.push(measure(kernel, channel, &lane, &reference, &mut table));
            }
        }
    }
    let fastest =
        Kernel { name: "(power of two)", portable: power_of_two, ..find("tvm-relay").expect("a kernel").clone() };
    for shift in [-2, -8] {
        all.push(measure(&fastest, Channel { multiplier: 1 << 30, shift }, &lane, &reference, &mut table));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("Sweep on the host, ns per accumulator of wall time, {} cores", rayon::current_num_threads());
    println!("{table}");
    all
}

/// First accumulator, inputs, outputs, and judged sides.
type OnBlock<'a> = dyn Fn(i64, &mut [i32], &mut [i32], &mut Sides) + Sync + 'a;

fn measure(kernel: &Kernel, channel: Channel, lane: &Lane, reference: &Scheme, table: &mut Table) -> Measured {
    let runner = Runner::new(lane);
    let plan = Plan::new(kernel, &runner, channel, Some(reference)).expect("schemes are known");
    let params = Params { q: 31, channels: vec![channel] };
    let over_blocks = |f: &OnBlock<'_>| {
        STARTS.par_iter().for_each(|start| {
            let (mut xs, mut outs) = (vec![0; BLOCK_IN_PROCESS], vec![0; BLOCK_IN_PROCESS]);
            let mut swept = Sides::default();
            for at in (start * CHUNK..(start + 1) * CHUNK).step_by(BLOCK_IN_PROCESS) {
                f(at, &mut xs, &mut outs, &mut swept);
            }
            black_box(swept);
        });
    };
    let fill = |at: i64, xs: &mut [i32]| {
        for (i, x) in xs.iter_mut().enumerate() {
            *x = (at as i32).wrapping_add(i as i32);
        }
    };
    let kernel_runs =
        |xs: &[i32], outs: &mut [i32]| (kernel.portable)(black_box(&params), black_box(xs), black_box(outs));
    let mut alone = || {
        over_blocks(&|at, xs, outs, _| {
            fill(at, xs);
            kernel_runs(xs, outs);
        });
    };
    let mut bare = || over_blocks(&|_, xs, outs, _| kernel_runs(xs, outs));
    // A kernel without a lane runs here, and the same code judges it.
    let known = find(kernel.name).is_some();
    let mut judged = || {
        if known {
            STARTS.par_iter().for_each(|start| {
                black_box(plan.chunk(start * CHUNK));
            });
        } else {
            over_blocks(&|at, xs, outs, swept| {
                fill(at, xs);
                kernel_runs(xs, outs);
                plan.judge(at, outs, swept);
            });
        }
    };
    let rounds = by_turns(ROUNDS, &mut [&mut alone, &mut judged, &mut bare]);
    let inputs = (STARTS.len() as i64 * CHUNK) as f64;
    let ns = |run: usize| median(rounds.iter().map(|r| r[run])) * 1e9 / inputs;
    let ratio = |to: usize| median(rounds.iter().map(|r| r[1] / r[to]));
    let numbers = vec![
        ("alone_ns", ns(0)),
        ("judged_ns", ns(1)),
        ("judged_to_alone", ratio(0)),
        ("bare_ns", ns(2)),
        ("judged_to_bare", ratio(2)),
        ("giga_judged_per_second", 1.0 / ns(1)),
    ];
    let mut row = vec![kernel.name.to_owned(), channel.multiplier.to_string(), channel.shift.to_string()];
    row.extend(numbers.iter().map(|(_, n)| format!("{n:.2}")));
    table.add_row(row);
    Measured {
        section: "sweep",
        what: format!("{} m={} s={}", kernel.name, channel.multiplier, channel.shift),
        // A function that is not a kernel shows only the cost of the judge.
        wanted: known.then(|| (format!("judged/alone {:.2}, at most {MOST}", ratio(0)), ratio(0) <= MOST)),
        numbers,
    }
}
