//! Judged accumulators per second in the aarch64 lane, with one worker for each core.

use crate::Measured;
use crate::timing::{by_turns, median};
use comfy_table::{CellAlignment, Table, TableStyle};
use rayon::prelude::*;
use std::hint::black_box;
use std::path::Path;
use tiebreak_impls::fpm::{Channel, find};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_suites::fpm::sweep::{CHUNK, Plan};
use tiebreak_suites::lane::Lane;
use tiebreak_suites::lane::config::{HOST, Lanes};
use tiebreak_suites::lane::runner::Runner;

const KERNELS: [&str; 4] = ["tvm-neon-rfc", "tvm-neon-fixup", "gemmlowp-neon", "tvm-relay"];
const CHANNELS: [Channel; 2] =
    [Channel { multiplier: 1_395_864_371, shift: -8 }, Channel { multiplier: 1_395_864_371, shift: -1 }];
const STARTS: [i64; 8] = [-128, -100, -33, -1, 0, 17, 64, 127];
const ROUNDS: usize = 3;
/// Lower bound, in millions per second.
const LEAST: f64 = 100.0;

pub(crate) fn run(lanes: &Path) -> Vec<Measured> {
    match open(lanes) {
        Ok(lane) => judged(&lane),
        Err(reason) => {
            println!("\naarch64 lane: not run: {reason}");
            Vec::new()
        }
    }
}

fn open(path: &Path) -> Result<Lane, String> {
    let lanes = Lanes::read(path).map_err(|e| format!("{e:#}"))?;
    let names = lanes.default_names();
    let name = names.iter().find(|name| *name != HOST).ok_or("the lanes file names no other lane")?;
    Lane::open(name, &lanes).map_err(|e| e.to_string())?.map_err(|reason| reason.to_string())
}

fn judged(lane: &Lane) -> Vec<Measured> {
    let reference = Scheme::parse("ties-up:wrap").expect("a scheme");
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["kernel", "m", "s", "M/s judged"]);
    let mut all = Vec::new();
    for kernel in KERNELS.iter().map(|name| find(name).expect("a kernel")) {
        let runner = Runner::new(lane);
        for channel in CHANNELS {
            let plan = Plan::new(kernel, &runner, channel, Some(&reference)).expect("schemes are known");
            let mut sweep = || {
                STARTS.par_iter().for_each(|start| {
                    black_box(plan.chunk(start * CHUNK));
                });
            };
            let rounds = by_turns(ROUNDS, &mut [&mut sweep]);
            let rate = (STARTS.len() as i64 * CHUNK) as f64 / 1e6 / median(rounds.iter().map(|r| r[0]));
            let Channel { multiplier, shift } = channel;
            table.add_row([kernel.name.to_owned(), multiplier.to_string(), shift.to_string(), format!("{rate:.0}")]);
            all.push(Measured {
                section: "lane",
                what: format!("{} {} m={multiplier} s={shift}", kernel.name, lane.name),
                numbers: vec![("mega_judged_per_second", rate)],
                wanted: Some((format!("{rate:.0} M/s judged, at least {LEAST}"), rate >= LEAST)),
            });
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("\n{} ({}), {} workers", lane.name, lane.via(), rayon::current_num_threads());
    println!("{table}");
    all
}
