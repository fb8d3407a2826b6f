//! Executed instructions of each aarch64 matrix kernel under emulation, for each multiply-accumulate: not seconds, which under an emulator
//! say nothing of a processor. Two products that differ in depth alone are counted; what they share cancels.

use crate::Measured;
use crate::gemm::right;
use crate::instructions::count;
use comfy_table::{Table, TableStyle};
use std::path::Path;
use tiebreak_impls::matmul::{Kernel, Params, kernels};
use tiebreak_impls::protocol::{Batch, Job, Request, Source};
use tiebreak_suites::lane::config::Lanes;

const ROWS: usize = 16;
const COLUMNS: usize = 16;
const DEPTHS: [usize; 2] = [256, 512];

pub(crate) fn run(lanes: &Path) -> Vec<Measured> {
    let command = match command(lanes) {
        Ok(command) => command,
        Err(reason) => {
            println!("\ninstruction counts: not run: {reason}");
            return Vec::new();
        }
    };
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["kernel", "instructions", "for each MAC"]);
    let mut all = Vec::new();
    for kernel in kernels() {
        match counted(kernel, &command) {
            Ok(instructions) => {
                let each = instructions as f64 / (ROWS * COLUMNS * (DEPTHS[1] - DEPTHS[0])) as f64;
                table.add_row([kernel.name.to_owned(), instructions.to_string(), format!("{each:.3}")]);
                let what = format!("{} under qemu", kernel.name);
                all.push(Measured {
                    section: "counts",
                    what,
                    numbers: vec![("instructions_per_mac", each)],
                    wanted: None,
                });
            }
            Err(reason) => {
                table.add_row([kernel.name.to_owned(), "not run".to_owned(), reason]);
            }
        }
    }
    right(&mut table, 1);
    println!(
        "\nExecuted aarch64 instructions (not seconds) of {ROWS}x{COLUMNS} results, depth {} against {}, packing and protocol included",
        DEPTHS[1], DEPTHS[0]
    );
    println!("{table}");
    all
}

fn command(lanes: &Path) -> Result<Vec<String>, String> {
    let lanes = Lanes::read(lanes).map_err(|e| format!("{e:#}"))?;
    let entry = lanes.lanes.into_iter().find(|lane| lane.name == "aarch64-qemu");
    entry.and_then(|lane| lane.command).ok_or_else(|| "there is no aarch64-qemu lane".to_owned())
}

/// Instructions that the deeper product takes more.
fn counted(kernel: &Kernel, command: &[String]) -> Result<u64, String> {
    let [less, more] = DEPTHS.map(|k| count(command, &request(kernel, k)));
    more?.checked_sub(less?).ok_or_else(|| "the deeper product took fewer".to_owned())
}

fn request(kernel: &Kernel, k: usize) -> Vec<u8> {
    let params = Params { m: ROWS, n: COLUMNS, k, lhs_offset: 1, rhs_offset: 1 };
    let job = Job::Matmul { kernel: kernel.name.to_owned(), params };
    let payload = vec![1i32; (ROWS + COLUMNS) * k];
    let source = Source::Payload { bytes: size_of_val(&payload[..]) };
    let request = Request::Run(Batch { job, len: ROWS * COLUMNS, source, misalign: 0 });
    let mut out = serde_json::to_vec(&request).expect("requests are JSON");
    out.push(b'\n');
    out.extend(payload.iter().flat_map(|v| v.to_le_bytes()));
    out
}
