//! Executed instructions of each aarch64 matrix kernel under emulation, and bytes that they load and store, for each multiply-accumulate.
//! Seconds under an emulator would not describe a processor.
//!
//! Counts for products of two heights, two widths and two depths are added with alternating signs. Costs that grow with only one or two of
//! these (reading, packing, unpacking, results, protocol) cancel, so the inner loops remain. Their stores go to the stack: sums that do not
//! fit in registers.

use crate::Measured;
use crate::gemm::right;
use crate::instructions::count;
use comfy_table::{Table, TableStyle};
use std::path::Path;
use tiebreak_impls::matmul::{Kernel, Params, kernels};
use tiebreak_suites::lane::config::Lanes;
use tiebreak_worker::protocol::{Batch, Job, Request, Source};

const SIDES: [usize; 2] = [8, 16];
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
    table.set_header([
        "kernel",
        "instructions",
        "for each MAC",
        "bytes loaded",
        "for each MAC",
        "bytes stored",
        "for each MAC",
    ]);
    let mut all = Vec::new();
    for kernel in kernels() {
        match counted(kernel, &command) {
            Ok(counts) => {
                let step = |ends: [usize; 2]| ends[1] - ends[0];
                let products = (step(SIDES) * step(SIDES) * step(DEPTHS)) as f64;
                let [each, loaded, stored] = counts.map(|count| count as f64 / products);
                let cells =
                    counts.iter().flat_map(|count| [count.to_string(), format!("{:.3}", *count as f64 / products)]);
                table.add_row([kernel.name.to_owned()].into_iter().chain(cells));
                let what = format!("{} under qemu", kernel.name);
                all.push(Measured {
                    section: "counts",
                    what,
                    numbers: vec![
                        ("instructions_per_mac", each),
                        ("bytes_loaded_per_mac", loaded),
                        ("bytes_stored_per_mac", stored),
                    ],
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
        "\nExecuted aarch64 instructions (not seconds) of the inner loops, and bytes that they load and store, without packing, results and protocol"
    );
    println!("{table}");
    all
}

fn command(lanes: &Path) -> Result<Vec<String>, String> {
    let lanes = Lanes::read(lanes).map_err(|e| format!("{e:#}"))?;
    let entry = lanes.lanes.into_iter().find(|lane| lane.name == "aarch64-qemu");
    entry.and_then(|lane| lane.command).ok_or_else(|| "there is no aarch64-qemu lane".to_owned())
}

/// Returns instructions, bytes loaded and bytes stored that grow with rows, columns and depth together.
fn counted(kernel: &Kernel, command: &[String]) -> Result<[i64; 3], String> {
    let mut sums = [0; 3];
    for (i, m) in SIDES.into_iter().enumerate() {
        for (j, n) in SIDES.into_iter().enumerate() {
            for (l, k) in DEPTHS.into_iter().enumerate() {
                let counted = count(command, &request(kernel, m, n, k))?;
                let sign = if (i + j + l) % 2 == 1 { 1 } else { -1 };
                let counted = [counted.instructions, counted.loaded, counted.stored];
                sums.iter_mut().zip(counted).for_each(|(sum, count)| *sum += sign * count as i64);
            }
        }
    }
    Ok(sums)
}

fn request(kernel: &Kernel, m: usize, n: usize, k: usize) -> Vec<u8> {
    let params = Params { m, n, k, lhs_offset: 1, rhs_offset: 1 };
    let job = Job::Matmul { kernel: kernel.name.to_owned(), params };
    let payload = vec![1i32; (m + n) * k];
    let source = Source::Payload { bytes: size_of_val(&payload[..]) };
    let request = Request::Run(Box::new(Batch { job, len: m * n, source, misalign: 0 }));
    let mut out = serde_json::to_vec(&request).expect("requests are JSON");
    out.push(b'\n');
    out.extend(payload.iter().flat_map(|v| v.to_le_bytes()));
    out
}
