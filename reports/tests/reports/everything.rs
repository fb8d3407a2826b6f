//! Ledger of a run of everything, as large as a default run: ten operations, 180 kernels, five lanes.

use crate::sample;
use std::collections::BTreeMap;
use tiebreak_reports::ledger::*;

const LANES: [&str; 5] = ["host", "aarch64-qemu", "mlir-x86", "mlir-aarch64", "mlir-aarch64-bf16"];

/// Operation: number of our kernels and of compiled kernels, inputs of each kernel and lane, classes.
type Op = (&'static str, usize, usize, u64, &'static [&'static str]);

const OPS: [Op; 10] = [
    ("fpm", 20, 0, 16_275_773, &["wrap", "multiplier-narrowed", "double-rounding", "saturation", "tie-direction"]),
    ("instruction", 31, 0, 673_620, &[]),
    ("dot", 17, 0, 6_478_197, &["16-bit-saturation", "16-bit-wrap"]),
    ("matmul", 18, 0, 116_322, &["16-bit-wrap", "16-bit-saturation", "32-bit-saturation"]),
    ("conv2d", 21, 0, 175_172, &["16-bit-saturation", "16-bit-wrap"]),
    ("requantize", 27, 0, 331_649, &["rounding"]),
    (
        "quantize",
        9,
        4,
        2_237_401,
        &["poison", "truncation", "bf16-step", "f16-step", "f32-step", "zero-point-placement"],
    ),
    ("dequantize", 6, 4, 1_102_955, &["f16-step", "bf16-step", "overflow", "distributed"]),
    ("add", 18, 0, 1_335_483, &["tie-direction", "zero-point-placement", "f32-step", "multiplier-narrowed"]),
    ("transform", 5, 0, 476_273, &[]),
];

fn ran(name: &str) -> Lane {
    let (arch, via) = match name {
        "host" => ("x86_64", "in process".to_owned()),
        "mlir-x86" => ("x86_64", "tiebreak-worker, 52 modules".to_owned()),
        "aarch64-qemu" => ("aarch64", "qemu-aarch64 -cpu max tiebreak-worker".to_owned()),
        _ => ("aarch64", "qemu-aarch64 -cpu max -L aarch64-linux-gnu tiebreak-worker, 52 modules".to_owned()),
    };
    Lane { name: name.into(), status: LaneStatus::Ran { arch: arch.into(), via }, files: Vec::new() }
}

/// Rows of a kernel in a lane against its contract, and against a reference if its operation has one.
fn rows((op, _, _, inputs, classes): Op, kernel: &str, lane: &str, nth: usize) -> Vec<Row> {
    let first = sample::holding().rows.remove(0);
    let contract = Row {
        op: op.into(),
        kernel: kernel.into(),
        lane: lane.into(),
        isa_path: if nth.is_multiple_of(3) { "portable" } else { "scalar" }.into(),
        inputs: inputs + nth as u64,
        coverage: if op == "instruction" && nth < 9 { Coverage::Exhaustive } else { Coverage::Sampled },
        deviations: match (op, nth) {
            ("fpm", 1 | 2) => [("position".to_owned(), 3_410), ("fallback".to_owned(), 23_872_744)].into(),
            _ => BTreeMap::new(),
        },
        ..first
    };
    let Some(class) = classes.get(nth % classes.len().max(1)) else { return vec![contract] };
    let differ = if nth.is_multiple_of(2) { 1_715_000 } else { 0 };
    let reference = Row {
        against: Against::Reference,
        scheme: "ties-up".into(),
        deviations: BTreeMap::new(),
        differ,
        by_delta: if differ > 0 { [("1".to_owned(), differ)].into() } else { BTreeMap::new() },
        classes: if differ > 0 { [(class.to_string(), differ)].into() } else { BTreeMap::new() },
        out_of_domain: 4_566_611,
        kinds: BTreeMap::new(),
        ..contract.clone()
    };
    vec![contract, reference]
}

/// Run that holds.
pub(crate) fn holding() -> Ledger {
    let mut ledger = Ledger {
        command: "cargo xtask verify".into(),
        effort: "standard".into(),
        seconds: 227.25,
        lanes: LANES.map(ran).into(),
        rows: Vec::new(),
        catalogue: Vec::new(),
        self_checks: Vec::new(),
        bounds: vec![sample::holding().bounds[0].clone(); 114],
        ..sample::holding()
    };
    for op in OPS {
        let (name, own, number, ..) = op;
        let kernels = (0..own).map(|nth| (format!("{name}-kernel-{nth}"), nth, &LANES[..2]));
        let compiled = (0..number).map(|nth| (format!("mlir-opt-{name}-{nth}"), own + nth, &LANES[2..]));
        for (kernel, nth, lanes) in kernels.chain(compiled) {
            for lane in lanes {
                ledger.rows.extend(rows(op, &kernel, lane, nth));
                ledger.planned.push(planned(name, &kernel, lane, nth));
            }
        }
        extend_checks(&mut ledger, name, number > 0);
    }
    ledger
}

/// Plan with some parameters outside the domain of every fourth kernel.
fn planned(op: &str, kernel: &str, lane: &str, nth: usize) -> Planned {
    let outside: &[_] = if nth.is_multiple_of(4) { &[(DropReason::OutsideDomain, 1_376)] } else { &[] };
    let one = sample::planned(kernel, lane, 28_635, outside);
    Planned { op: op.into(), given: false, ..one }
}

fn extend_checks(ledger: &mut Ledger, op: &str, compiled: bool) {
    let lanes = if compiled { &LANES[..] } else { &LANES[..2] };
    let checks = sample::holding().self_checks;
    ledger.self_checks.extend(checks.into_iter().cycle().take(18).map(|check| SelfCheck { op: op.into(), ..check }));
    let run = sample::holding().catalogue.remove(0);
    let run = |lane: &&str| CatalogueRun { op: op.into(), lane: lane.to_string(), ..run.clone() };
    ledger.catalogue.extend(lanes.iter().map(run));
    if compiled {
        let unchecked = |lane: &&str| Unchecked { op: op.into(), lane: lane.to_string() };
        ledger.unchecked.extend(LANES[2..].iter().map(unchecked));
        let compared =
            |at: u64| sample::agreement("mlir-qcast", "host", ["mlir-qcast-arm", "host"], [at % 2, at % 5], &[]);
        ledger.agreements.extend((0..20).map(compared));
    }
}

/// Run in which every kernel of two operations fails in its lanes, a worker crashed, and a mutant was not detected.
pub(crate) fn broken() -> Ledger {
    let mut ledger = holding();
    let witness = sample::broken().findings[0].witness.clone();
    let failing = |row: &&Row| row.against == Against::Contract && ["matmul", "add"].contains(&row.op.as_str());
    let wrong = |row: &Row| Finding {
        op: row.op.clone(),
        kernel: row.kernel.clone(),
        lane: row.lane.clone(),
        class: "tie-direction".into(),
        message: "differs from its contract on 1,024 of 116,322 inputs".into(),
        witness: witness.clone(),
    };
    ledger.findings = sample::broken().findings.into_iter().rev().collect();
    ledger.findings.extend(ledger.rows.iter().filter(failing).map(wrong));
    ledger.verdict = Verdict::Broken;
    ledger
}
