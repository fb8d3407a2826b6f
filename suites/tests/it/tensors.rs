//! Every tensor operation fulfils its contracts in every lane, each kernel with the instructions that it names, and every tensor mutant is detected
//! there with its class.

use crate::common::*;
use crate::registry::{self, Described};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the path required in a lane of `arch`: the native form if it is for this architecture and the machine has the instructions.
fn path(kernel: &Described, arch: &str, has: bool) -> String {
    match &kernel.native {
        None => "scalar".to_owned(),
        Some(form) if form.arch == arch && has => format!("{}: {}", form.isa, form.instructions.join(", ")),
        Some(form) if form.arch == arch => {
            format!("portable ({} not run: this CPU has no {})", form.instructions.join(", "), form.isa)
        }
        Some(_) => "portable".to_owned(),
    }
}

/// Checks one operation as a whole: kernels, catalogue, mutants and bounds, in this process and on aarch64.
fn holds(op: &'static str) {
    let ledger = &whole().ledger;
    assert_eq!((ledger["verdict"].as_str(), items(ledger, "findings").len()), (Some("holds"), 0));
    let kernels: Vec<Described> = registry::kernels().into_iter().filter(|k| k.op == op).collect();
    let mut native = [0; 2];
    for (at, lane) in ["host", aarch64()].into_iter().enumerate() {
        for kernel in &kernels {
            let row = row(ledger, (op, kernel.name), lane);
            assert_eq!((row["op"].as_str(), &row["differ"]), (Some(op), &0.into()), "{row}");
            // For one format of `exp`, the lane with the same code has only a sample.
            let least = if op == "exp" { 900 } else { 1000 };
            assert!(row["inputs"].as_u64() > Some(least), "{row}");
            assert!(row["scheme"].as_str().is_some_and(|s| s.split(':').next() == Some(kernel.scheme)), "{row}");
            native[at] += u32::from(names_its_path(&row, kernel, lane));
        }
    }
    let rows = items(ledger, "rows").iter().filter(|r| r["op"] == op && r["against"] == "contract").count();
    assert_eq!(rows, 2 * kernels.len(), "a row for each kernel in each lane, and no other");
    mutants_die(op, ledger);
    catalogue_is_judged(op, ledger);
    println!("{op}: {} kernels, native on host and aarch64: {native:?}", kernels.len());
}

/// Returns the row of a kernel against its contract.
fn row(ledger: &Value, (op, kernel): (&str, &str), lane: &str) -> Value {
    let of = |r: &&Value| r["op"] == op && r["kernel"] == kernel && r["lane"] == lane && r["against"] == "contract";
    items(ledger, "rows").iter().find(of).unwrap_or_else(|| panic!("no row of {kernel} in {lane}")).clone()
}

/// True if the row states that real vector instructions ran. They must run if they are for the lane's machine.
fn names_its_path(row: &Value, kernel: &Described, lane: &str) -> bool {
    let described = row["isa_path"].as_str().expect("text");
    let form = kernel.native.as_ref();
    // An aarch64 host runs the portable forms in process, because its instructions have a separate lane.
    let arch = match lane {
        "host" if cfg!(target_arch = "aarch64") => "none",
        "host" => std::env::consts::ARCH,
        _ => "aarch64",
    };
    let has = form.is_some_and(|form| if lane == "host" { (form.available)() } else { form.arch == "aarch64" });
    assert_eq!(described, path(kernel, arch, has), "{} {lane}", kernel.name);
    if let Some(form) = form.filter(|form| form.arch == "aarch64" && lane != "host") {
        assert!(form.isa.starts_with("neon") && described.starts_with("neon"), "{} {lane}: {described}", kernel.name);
    }
    described.contains(": ") && !described.starts_with("portable")
}

/// Invariant 5: every mutant is detected in both lanes with its class.
fn mutants_die(op: &str, ledger: &Value) {
    let checks: Vec<&Value> = items(ledger, "self_checks").iter().filter(|c| c["op"] == op).collect();
    let bugs: Vec<_> = registry::bugs().into_iter().filter(|bug| bug.op == op).collect();
    assert_eq!(checks.len(), 2 * bugs.len());
    let mut seen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for check in checks {
        let name = check["name"].as_str().expect("a name");
        let bug = bugs.iter().find(|bug| bug.name == name).expect("a mutant");
        let text = check["seen"].as_str().expect("text");
        assert!(check["passed"] == true && text.ends_with(&format!(", class {}", bug.class)), "{check}");
        seen.entry(bug.name).or_default().push(text);
    }
    // Shrinking does not depend on the lane of the mutant.
    assert!(seen.values().all(|texts| texts.len() == 2 && texts[0] == texts[1]), "{seen:#?}");
}

fn catalogue_is_judged(op: &str, ledger: &Value) {
    let runs: Vec<_> = items(ledger, "catalogue").iter().filter(|run| run["op"] == op).collect();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let kept = run["cases"] != 0;
        assert!(run["broken"] == 0 && kept == (run["judged"] != 0), "{run}");
    }
}

#[test]
fn instruction_holds_in_every_lane() {
    holds("instruction");
}

#[test]
fn qconv2d_holds_in_every_lane() {
    holds("qconv2d");
}

#[test]
fn qmatmul_holds_in_every_lane() {
    holds("qmatmul");
}

#[test]
fn dot_holds_in_every_lane() {
    holds("dot");
}

#[test]
fn matmul_holds_in_every_lane() {
    holds("matmul");
}

#[test]
fn conv2d_holds_in_every_lane() {
    holds("conv2d");
}

#[test]
fn requantize_holds_in_every_lane() {
    holds("requantize");
}

#[test]
fn add_holds_in_every_lane() {
    holds("add");
}

#[test]
fn sub_holds_in_every_lane() {
    holds("sub");
}

#[test]
fn mul_holds_in_every_lane() {
    holds("mul");
}

#[test]
fn concat_holds_in_every_lane() {
    holds("concat");
}

#[test]
fn pool_holds_in_every_lane() {
    holds("pool");
}

#[test]
fn exp_holds_in_every_lane() {
    holds("exp");
}

#[test]
fn softmax_holds_in_every_lane() {
    holds("softmax");
}

#[test]
fn transform_holds_in_every_lane() {
    holds("transform");
}

/// On x86, forms with AVX2 run on a CPU that has it, and VNNI forms report missing instructions.
#[test]
#[cfg(target_arch = "x86_64")]
fn x86_forms_run_or_say_what_was_not_run() {
    let x86: Vec<Described> =
        registry::kernels().into_iter().filter(|k| k.native.as_ref().is_some_and(|f| f.arch == "x86_64")).collect();
    assert!(x86.len() >= 6, "only {} x86 forms", x86.len());
    for kernel in &x86 {
        let lane = lane("host-worker");
        let described = lane.isa_path(kernel.op, kernel.name).expect("offered");
        let form = kernel.native.as_ref().expect("it has one");
        match form.isa {
            "avx2" if is_x86_feature_detected!("avx2") => assert!(described.starts_with("avx2: vp"), "{described}"),
            "vnni" if (form.available)() => assert!(described.starts_with("vnni: vpdpbusd"), "{described}"),
            isa if (form.available)() => assert!(described.starts_with(&format!("{isa}: vp")), "{described}"),
            isa => {
                let missing =
                    described.strip_prefix("portable (vp").and_then(|described| described.split_once(" not run: "));
                assert!(missing.is_some_and(|(_, why)| why == format!("this CPU has no {isa})")), "{described}");
            }
        }
    }
}
