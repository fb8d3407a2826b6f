//! K: statements of the project on a library equal the library's own results. `cargo xtask setup --with shipped` installs the lanes.

use crate::caller_lanes::lanes;
use crate::common::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Libraries, by the names of their lanes.
const LIBRARIES: [&str; 13] = [
    "gemmlowp",
    "gemmlowp-scalar",
    "xnnpack",
    "onednn",
    "onednn-avx2",
    "onnxruntime",
    "onnxruntime-avx2",
    "litert",
    "tflite-micro",
    "tosa-reference",
    "tract",
    "rten",
    "rten-avx2",
];

/// Kernels that break their contract on x86-64, each described in `docs/src/findings.md`; all other kernels hold.
const BROKEN: [(&str, &str); 40] = [
    ("gemmlowp", "shipped-gemmlowp"),
    ("gemmlowp", "shipped-gemmlowp-fixedpoint-u8"),
    ("gemmlowp", "shipped-gemmlowp-fixedpoint-i16"),
    ("gemmlowp", "shipped-gemmlowp-exponent-u8"),
    ("gemmlowp", "shipped-gemmlowp-exponent-i8"),
    ("gemmlowp", "shipped-gemmlowp-exponent-i16"),
    ("gemmlowp", "shipped-gemmlowp-pipeline-u8"),
    ("gemmlowp", "shipped-gemmlowp-pipeline-i8"),
    ("gemmlowp", "shipped-gemmlowp-pipeline-i16"),
    ("gemmlowp-scalar", "shipped-gemmlowp"),
    ("gemmlowp-scalar", "shipped-gemmlowp-exponent-u8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-exponent-i8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-exponent-i16"),
    ("gemmlowp-scalar", "shipped-gemmlowp-pipeline-u8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-pipeline-i8"),
    ("gemmlowp-scalar", "shipped-gemmlowp-pipeline-i16"),
    ("xnnpack", "shipped-xnnpack-quantize"),
    ("onednn-avx2", "shipped-onednn-matmul-u8s8"),
    ("onednn-avx2", "shipped-onednn-matmul-s8s8"),
    ("onednn-avx2", "shipped-onednn-conv2d-u8s8"),
    ("onednn-avx2", "shipped-onednn-conv2d-s8s8"),
    ("onnxruntime", "shipped-onnxruntime-qlinearadd-i8"),
    ("onnxruntime", "shipped-onnxruntime-qlinearadd-u8"),
    ("onnxruntime-avx2", "shipped-onnxruntime-qlinearadd-i8"),
    ("onnxruntime-avx2", "shipped-onnxruntime-qlinearadd-u8"),
    ("onnxruntime-avx2", "shipped-onnxruntime-matmulinteger-u8i8"),
    ("litert", "shipped-litert-optimized-depthwise-conv-2d"),
    ("litert", "shipped-litert-optimized-quantize"),
    ("litert", "shipped-litert-optimized-dequantize"),
    ("litert", "shipped-litert-optimized-add-i8"),
    ("litert", "shipped-litert-optimized-add-u8"),
    ("litert", "shipped-litert-optimized-mul-i8"),
    ("litert", "shipped-litert-optimized-mul-u8"),
    ("litert", "shipped-litert-reference-quantize"),
    ("litert", "shipped-litert-xnnpack-conv-2d"),
    ("litert", "shipped-litert-xnnpack-depthwise-conv-2d"),
    ("litert", "shipped-litert-xnnpack-fully-connected"),
    ("litert", "shipped-litert-xnnpack-quantize"),
    ("tflite-micro", "shipped-tflite-micro-quantize"),
    ("rten-avx2", "shipped-rten-gemm"),
];

/// Matrix kernels of tract with wrong scaling of the least accumulator, or of ties (findings 22 and 23).
const TRACT: [&str; 2] = ["shipped-tract-avx2-mmm-i32-8x8-", "shipped-tract-avx512vnni-mmm-i32-16x16-"];

fn is_broken(lane: &str, kernel: &str) -> bool {
    BROKEN.contains(&(lane, kernel))
        || lane == "tract" && TRACT.iter().any(|prefix| kernel.starts_with(prefix))
        // Sums are converted to f32 and back (finding 49).
        || lane == "onednn" && has_avx512_vnni()
}

/// Counts the kernels of tract on this CPU: scalar and matrix kernels, for five tie policies and as a product.
fn of_tract() -> usize {
    5 + 6 * (1 + usize::from(has_avx2()) + usize::from(has_avx512_vnni()))
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512_vnni() -> bool {
    std::is_x86_feature_detected!("avx512vnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512_vnni() -> bool {
    false
}

/// True if this machine has the instructions without which ONNX Runtime and oneDNN add products in saturating pairs (findings 5 and 7).
#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    has_avx512_vnni() || std::is_x86_feature_detected!("avxvnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vnni() -> bool {
    true
}

/// Returns the command of a library's worker, if installed.
pub(crate) fn worker_of(library: &str) -> Option<Value> {
    let record = target().join("tiebreak/shipped").join(library).join("installed.json");
    let text = std::fs::read_to_string(record).ok()?;
    let installed: Value = serde_json::from_str(&text).expect("a record of xtask");
    Some(json!({"name": library, "command": installed["command"], "patience_seconds": 60}))
}

/// Writes a lanes file of these libraries; `None` if one is not installed.
pub(crate) fn installed(dir: &Path, libraries: &[&str]) -> Option<PathBuf> {
    let workers: Option<Vec<Value>> = libraries.iter().map(|library| worker_of(library)).collect();
    if workers.is_none() {
        let with = if libraries.contains(&"tosa-mlir") { "tosa-mlir" } else { "shipped" };
        not_run(&format!(
            "{} are not installed; `cargo xtask setup --with {with}` installs them",
            libraries.join(", ")
        ));
    }
    Some(lanes(dir, &workers?))
}

/// Each kernel in each lane is judged, and broken exactly if the page of findings says so.
#[test]
fn each_library_gives_what_the_findings_say() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), &LIBRARIES) else { return };
    if !cfg!(target_arch = "x86_64") {
        return not_run("the findings are of libraries built for x86-64");
    }
    let named: Vec<String> = LIBRARIES.iter().map(|library| format!("--lane={library}")).collect();
    let arguments: Vec<&str> = named.iter().map(String::as_str).chain(["--effort=quick"]).collect();
    let ledger = verify_in(&file, &arguments).exits(1).ledger();
    let judged = judged_in_lanes(&ledger);
    assert_eq!(judged.len(), 2 * 12 + 2 * 9 + 6 + 2 * 4 + 35 + 11 + 10 + of_tract() + 2, "kernels in lanes");
    for (&(lane, kernel), [inputs, differ]) in &judged {
        let in_pairs = kernel == "shipped-onnxruntime-matmulinteger-u8i8" || kernel.starts_with("shipped-onednn");
        let saturates = in_pairs && !has_vnni();
        let broken = saturates || is_broken(lane, kernel);
        // LiteRT's layers take only multipliers that are products of two floats, and with several channels those of 24 bits. Products of tract have
        // no zero points. The reference model requires int16 zero points of 0, and calls overflows unpredictable.
        let least = if ["litert", "tflite-micro", "tosa-reference", "tract"].contains(&lane) { 2_000 } else { 50_000 };
        assert!(*inputs > least && (*differ > 0) == broken, "{lane} {kernel}: {differ} of {inputs} differ");
    }
    let saturated = items(&ledger, "findings").iter().find(|f| f["kernel"] == "shipped-onnxruntime-matmulinteger-u8i8");
    assert_eq!(saturated.map(|f| &f["class"]), Some(&json!("16-bit-saturation")), "finding 5");
    // Sums beyond 2^24 take a thousand elements; equal elements are a short text (finding 49).
    let of_onednn = items(&ledger, "findings").iter().filter(|finding| finding["lane"] == "onednn");
    for finding in of_onednn.filter(|_| has_avx512_vnni()) {
        assert_eq!(finding["class"], "f32-step", "{finding}");
        assert!(finding["witness"]["command"].to_string().contains(" --case "), "{finding}");
    }
    // Every job was answered, and every finding is a difference.
    let unanswered: Vec<&Value> = items(&ledger, "findings").iter().filter(|f| f["class"] == "refused").collect();
    assert!(unanswered.is_empty(), "{unanswered:?}");
}

/// Libraries for aarch64, which run under an emulator.
const FOR_AARCH64: [&str; 7] = [
    "gemmlowp-aarch64",
    "xnnpack-aarch64",
    "onnxruntime-aarch64",
    "onnxruntime-cortex-a72",
    "litert-aarch64",
    "tract-aarch64",
    "rten-aarch64",
];

/// Kernels on aarch64 that break their contract. LiteRT's other operators take minutes there.
const BROKEN_ON_AARCH64: [&str; 16] = [
    "shipped-gemmlowp",
    "shipped-gemmlowp-exponent-u8",
    "shipped-gemmlowp-exponent-i8",
    "shipped-gemmlowp-exponent-i16",
    "shipped-gemmlowp-pipeline-u8",
    "shipped-gemmlowp-pipeline-i8",
    "shipped-gemmlowp-pipeline-i16",
    "shipped-xnnpack-quantize",
    "shipped-xnnpack-mul-i8",
    "shipped-xnnpack-mul-u8",
    "shipped-onnxruntime-qlinearadd-i8",
    "shipped-onnxruntime-qlinearadd-u8",
    "shipped-onnxruntime-qlinearmul-i8",
    "shipped-onnxruntime-qlinearmul-u8",
    "shipped-litert-optimized-conv-2d",
    "shipped-litert-optimized-fully-connected",
];

/// Kernels that do so only on a CPU without dot products (finding 4).
const WRAPPING: [&str; 2] = ["shipped-onnxruntime-matmulinteger-i8i8", "shipped-onnxruntime-matmulinteger-u8i8"];

/// On aarch64, other kernels break their contract than on x86-64 (findings 16, 40 and 42 to 44).
#[test]
fn libraries_for_aarch64_give_what_the_findings_say() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let workers: Option<Vec<Value>> = FOR_AARCH64.iter().map(|library| worker_of(library)).collect();
    let Some(workers) = workers else {
        return not_run("`cargo xtask setup --with shipped-aarch64` installs these libraries");
    };
    let file = lanes(dir.path(), &workers);
    let but_litert = FOR_AARCH64.iter().filter(|lane| **lane != "litert-aarch64").map(|lane| format!("--lane={lane}"));
    let but_litert: Vec<String> = but_litert.chain(["--effort=quick".to_owned()]).collect();
    let layers = ["reference-conv-2d", "reference-fully-connected", "optimized-conv-2d", "optimized-fully-connected"];
    let layers: Vec<String> = ["--lane=litert-aarch64", "--op=requantize", "--effort=quick"]
        .map(str::to_owned)
        .into_iter()
        .chain(layers.map(|layer| format!("--kernel=shipped-litert-{layer}")))
        .collect();
    for (arguments, kernels) in [(but_litert, 48), (layers, 4)] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ledger = verify_in(&file, &arguments).exits(1).ledger();
        let judged = judged_in_lanes(&ledger);
        assert_eq!(judged.len(), kernels, "kernels in lanes");
        for (&(lane, kernel), [inputs, differ]) in &judged {
            let wraps = lane == "onnxruntime-cortex-a72" && WRAPPING.contains(&kernel);
            let broken = wraps || BROKEN_ON_AARCH64.contains(&kernel);
            assert!(*inputs > 2_000 && (*differ > 0) == broken, "{lane} {kernel}: {differ} of {inputs} differ");
        }
    }
}

/// Findings 16, 17, 19 and 20, each by its own input.
#[test]
fn findings_of_shipped_libraries_are_shown_by_one_input() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), &LIBRARIES) else { return };
    if !cfg!(target_arch = "x86_64") {
        return not_run("the findings are of libraries built for x86-64");
    }
    let cases = [
        (
            "requantize",
            "shipped-gemmlowp-fixedpoint-u8",
            "gemmlowp",
            "--case=m=-2147483648 s=0 zero_point=0 min=0 max=255 len=9 x[7]=-2147483648 misalign=8 at=7",
            "got 0, gemmlowp-double 255",
        ),
        (
            "add",
            "shipped-onnxruntime-qlinearadd-i8",
            "onnxruntime",
            "--case=lhs_scale=0.5 rhs_scale=0.5 out_scale=4.656612873077393e-10 lhs=1 rhs=1",
            "got -128, onnx 127",
        ),
        (
            "quantize",
            "shipped-xnnpack-quantize",
            "xnnpack",
            "--case=type=!quant.uniform<i8:f32,1.1754943508222875e-38> x=8.816208e-39",
            "got 0, xnnpack 1",
        ),
    ];
    for (op, kernel, lane, case, gives) in cases {
        let [op, kernel, lane] = [("op", op), ("kernel", kernel), ("lane", lane)].map(|(k, v)| format!("--{k}={v}"));
        let run = verify_in(&file, &[&op, &kernel, &lane, case]).exits(1);
        let printed = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(gives), "{printed}");
    }
    let shift =
        ["--op=fpm", "--kernel=shipped-gemmlowp", "--lane=gemmlowp-scalar", "--multiplier=1", "--shift=31", "--x=-1"];
    let run = verify_in(&file, &shift).exits(1);
    assert!(run.stdout.contains("got 1, gemmlowp-double"), "{}", run.printed());
}

/// The scheme that an adapter claims is among those that `identify` finds among all schemes of the operation, unless the kernel breaks its contract.
#[test]
fn the_claims_of_adapters_are_what_identify_finds() {
    let mut counts = [0, 0];
    for library in ["gemmlowp", "xnnpack", "onnxruntime", "litert", "tflite-micro", "tosa-reference", "tract", "rten"] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let Some(file) = installed(dir.path(), &[library]) else { continue };
        let file = file.to_string_lossy().into_owned();
        let lane = ["--lanes", &file, "--lane", library, "--format", "json"];
        let run = tiebreak(&[&["identify"], &lane[..]].concat());
        let found: Vec<Value> = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
        for kernel in &found {
            let name = kernel["kernel"].as_str().expect("a name");
            let claimed = kernel["claimed"].as_str().unwrap_or_default();
            let left: Vec<&str> = kernel["left"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let is_left = left.iter().any(|label| label.split(':').next() == claimed.split(':').next());
            let broken = is_broken(library, name);
            println!("{library} {name}: {claimed}, of which {left:?} are left");
            assert!(is_left || broken, "{library} {name} claims {claimed}; left are {left:?}");
            counts[usize::from(is_left)] += 1;
        }
    }
    println!("{} claims are left, {} kernels break theirs", counts[1], counts[0]);
    if counts == [0, 0] {
        not_run("no shipped library is installed");
    }
}

/// Real model in LiteRT's reference and optimized kernels: the audit predicts each layer that is the first to differ, and its channel.
#[test]
fn differences_of_a_real_model_are_those_that_the_audit_predicts() {
    let model = target().join("tiebreak/models/hey_jarvis.tflite");
    let (Some(worker), true) = (worker_of("litert"), model.exists()) else {
        return not_run(
            "LiteRT or the model is not there; `cargo xtask setup --with litert --with models` installs both",
        );
    };
    let words: Vec<PathBuf> = serde_json::from_value(worker["command"].clone()).expect("a command");
    let (model, kernels) = (model.to_string_lossy(), ["tflite-reference", "tflite-optimized"]);
    let script = words[1].with_file_name("trace.py");
    let mut python = std::process::Command::new(&words[0]);
    let run = python.arg(script).arg(&*model).args(kernels).args(["--samples", "300"]).output().expect("python starts");
    let traced: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run:?}"));
    let run = tiebreak(&["audit", &model, "--from", kernels[0], "--to", kernels[1], "--format", "json"]);
    let audit: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
    let layer = |index: u64| {
        let layers = items(&audit["comparisons"][0], "layers");
        layers.iter().find(|layer| layer["index"] == index).unwrap_or_else(|| panic!("layer {index} is not audited"))
    };
    println!("{}", traced["first"]);
    let differing = traced["first_layers"].as_object().expect("layers");
    assert!(!differing.is_empty(), "no layer differs: {traced}");
    for index in differing.keys() {
        let layer = layer(index.parse().expect("a number"));
        assert!(layer["totals"]["differ"].as_u64() > Some(0), "the audit holds layer {index} unchanged");
    }
    let first = &traced["first"];
    let channels = items(layer(first["layer"].as_u64().expect("a layer")), "channels");
    let channel = channels.iter().find(|channel| channel["channel"] == first["channel"]).expect("the channel");
    assert!(channel["differ"].as_u64() > Some(0), "{channel}");
}

/// K: the audit and `identify` find the same schemes for LiteRT's layers, separately for whole vectors and remaining elements.
#[test]
fn the_audit_and_the_lane_name_the_same_schemes() {
    let model = target().join("tiebreak/models/hey_jarvis.tflite");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(file) = installed(dir.path(), &["litert"]).filter(|_| model.exists()) else {
        return not_run(
            "LiteRT or the model is not there; `cargo xtask setup --with litert --with models` installs both",
        );
    };
    let (model, file) = (model.to_string_lossy(), file.to_string_lossy().into_owned());
    let kernels = ["tflite-reference", "tflite-optimized"];
    let audit = tiebreak(&["audit", &model, "--from", kernels[0], "--to", kernels[1], "--format", "json"]);
    let audit: Value = serde_json::from_str(&audit.stdout).unwrap_or_else(|e| panic!("{e}: {}", audit.printed()));
    let mut said = BTreeMap::new();
    for layer in items(&audit["comparisons"][0], "layers") {
        let operator = layer["op"].as_str().expect("an operator").to_lowercase().replace('_', "-");
        for (kernels, side) in [("reference", "left"), ("optimized", "right")] {
            let labels = layer[side].as_str().expect("derivations and schemes").split(", ");
            let schemes: Vec<String> = labels.filter_map(|label| Some(label.split(' ').nth(1)?.to_owned())).collect();
            said.insert(format!("shipped-litert-{kernels}-{operator}"), schemes);
        }
    }
    let mut compared = 0;
    for (kernel, schemes) in said.iter().filter(|(kernel, _)| !kernel.ends_with("-quantize")) {
        let lane = ["--lanes", &file, "--lane", "litert", "--op", "requantize", "--format", "json"];
        let run = tiebreak(&[&["identify", "--kernel", kernel], &lane[..]].concat());
        let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
        let found = &found[0];
        let left = items(found, "left").iter().chain([&found["apart"]["body"], &found["apart"]["tail"]]);
        let left: Vec<&str> = left.filter_map(Value::as_str).collect();
        println!("{kernel}: the audit says {schemes:?}, left are {left:?}");
        for scheme in schemes {
            // The audit has the real multiplier; the lane has only multipliers that 24 bits hold exactly.
            let scheme = if scheme == "f64-product-away" { "ties-away" } else { scheme };
            assert!(left.contains(&scheme), "{kernel}: {scheme} is not among {left:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 7, "two kinds of kernels, three operators, and one that has two schemes");
}

/// Corrupt build of a library: one result of a vector is one too large.
#[test]
fn a_library_with_one_wrong_position_is_shown_there() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(Value::Object(worker)) = worker_of("gemmlowp") else {
        return not_run("gemmlowp is not installed; `cargo xtask setup --with gemmlowp` installs it");
    };
    let wrapper = dir.path().join("wrapper.py");
    std::fs::write(&wrapper, WRAPPER).expect("the temporary directory can be written");
    let mut command = vec![json!("python3"), json!(wrapper)];
    command.extend(worker["command"].as_array().expect("a command").iter().cloned());
    let file = lanes(dir.path(), &[json!({"name": "gemmlowp", "command": command})]);
    let kernel = "shipped-gemmlowp-quantize-down";
    let run = verify_in(&file, &["--op=requantize", "--kernel", kernel, "--lane=gemmlowp", "--effort=quick"]).exits(1);
    let ledger = run.ledger();
    let witness = &items(&ledger, "findings")[0]["witness"];
    assert_eq!(witness["case"]["at"], 5, "{}", run.printed());
    assert_eq!(witness["case"]["len"].as_i64(), Some(6), "{}", run.printed());
}

/// Script that passes all data on, and adds one to the sixth of every eight results.
const WRAPPER: &str = r#"
import json, struct, subprocess, sys
worker = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    request = json.loads(line)
    payload = request.get("source", {}).get("payload", {}).get("bytes", 0)
    worker.stdin.write(line + sys.stdin.buffer.read(payload))
    worker.stdin.flush()
    header = worker.stdout.readline()
    count = json.loads(header).get("bytes", 0) // 4
    out = list(struct.unpack("<%di" % count, worker.stdout.read(4 * count)))
    out[5::8] = [(x + 1 + 2**31) % 2**32 - 2**31 for x in out[5::8]]
    sys.stdout.buffer.write(header + struct.pack("<%di" % count, *out))
    sys.stdout.buffer.flush()
"#;

/// Returns the ledger of a lane that has findings; `None` if it is not installed.
pub(crate) fn ledger_of(lane: &str) -> Option<Value> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Some(worker) = worker_of(lane) else {
        not_run(&format!("the lane {lane} is not installed; `cargo xtask setup --with {lane}` installs it"));
        return None;
    };
    let lane = format!("--lane={lane}");
    Some(verify_in(&lanes(dir.path(), &[worker]), &[&lane, "--effort=quick"]).exits(1).ledger())
}

/// Returns inputs and differences of each kernel in each lane, against its contract.
pub(crate) fn judged_in_lanes(ledger: &Value) -> BTreeMap<(&str, &str), [u64; 2]> {
    let mut judged: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for row in items(ledger, "rows").iter().filter(|row| row["against"] == "contract") {
        let of = |key: &str| row[key].as_str().expect("a name");
        let [inputs, differ] = judged.entry((of("lane"), of("kernel"))).or_default();
        *inputs += row["inputs"].as_u64().expect("a count");
        *differ += row["differ"].as_u64().expect("a count");
    }
    println!("{judged:#?}");
    judged
}

/// Returns inputs and differences of each kernel in a ledger with one lane.
pub(crate) fn judged(ledger: &Value) -> BTreeMap<&str, [u64; 2]> {
    judged_in_lanes(ledger).into_iter().map(|((_, kernel), counts)| (kernel, counts)).collect()
}

/// Returns the kernels that differ.
pub(crate) fn wrong<'a>(judged: &BTreeMap<&'a str, [u64; 2]>) -> Vec<&'a str> {
    judged.iter().filter(|(_, [_, differ])| *differ > 0).map(|(kernel, _)| *kernel).collect()
}

/// Debian's PyTorch: sums and quantizations are wrong (findings 36 and 38), and average pools follow two schemes, one for each layout (finding 37).
#[test]
fn pytorch_gives_what_the_findings_say() {
    let Some(ledger) = ledger_of("pytorch") else { return };
    let judged = judged(&ledger);
    assert!(judged.values().all(|[inputs, _]| *inputs > 1_000));
    let broken = ["shipped-pytorch-add-i8", "shipped-pytorch-add-u8", "shipped-pytorch-quantize"];
    assert_eq!((judged.len(), wrong(&judged)), (15, broken.to_vec()));
}
