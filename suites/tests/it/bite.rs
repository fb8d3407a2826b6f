//! Faults that a quick run detects: known bugs by the parts of its plan, and injected local faults.

use crate::common::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

fn rows(arguments: &[&str]) -> Vec<Value> {
    let run = tiebreak(arguments).exits(0);
    serde_json::from_str(&run.stdout).expect("a list of objects")
}

/// Faults of every family in every kernel, drawn with another seed than the default.
fn faults() -> &'static [Value] {
    static FAULTS: LazyLock<Vec<Value>> = LazyLock::new(|| rows(&["corrupt", "--format", "json", "--seed", "3"]));
    &FAULTS
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().expect("text")
}

/// Faults that the quick plan of every operation detects in every kernel, for any seed: family, thresholds if any, and exempt operations.
const PROMISED: &[(&str, &[&str], &[&str])] = &[
    ("one alignment", &[], &[]),
    ("one position of a vector", &[], &[]),
    ("tail", &[], &["dot", "transform"]),
    ("tail, misplaced", &[], &["dot", "transform", "instruction"]),
    ("from an element on", &["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048"], &[]),
    ("one element", &["1", "2", "4", "8", "16", "32", "64", "128", "256", "512"], &[]),
    ("operand misread from an element on", &["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"], &[]),
    ("from an element on", &["4096", "8192", "16384", "32768", "65536"], SHORT),
    ("operand misread from an element on", &["2048", "4096", "8192", "16384", "32768", "65536"], SHORT),
    ("from a channel on", &["8", "16", "32", "64", "128", "256", "512", "1024"], &[]),
    ("one channel", &["8", "16", "32", "64", "128", "256", "512", "1024"], &[]),
    ("two scales nearly a power of two apart", &[], &["mul", "quantize", "dequantize"]),
    ("from a column on", &["1", "2", "4", "8", "16", "32", "64", "128"], &[]),
    ("one column", &[], &[]),
    ("one row", &[], &["requantize"]),
    ("the end of the results", &[], &["fpm"]),
    ("two parameters alike", &[], &[]),
    ("all zero points 0", &[], &[]),
    ("sizes together at least", &["2", "3", "5", "9", "17"], &[]),
    ("a slice of one value", &[], MANY_AXES),
    ("all slices but one of one value", &[], MANY_AXES),
    ("two slices alike", &[], MANY_AXES),
    ("all slices alike", &[], MANY_AXES),
    ("one parameter changed since the last call", &[], &["quantize", "dequantize", "requantize"]),
    ("two parameters exchanged since the last call", &[], &["quantize", "dequantize", "requantize"]),
    ("parameters of the last call but one", &[], &["instruction"]),
    ("one of so many calls", &["2", "3", "10"], &["instruction"]),
    ("what the last call left, from an element on", &["1", "4", "16"], &["instruction"]),
    ("after a larger call", &["from element 1", "from element 4", "from element 16"], &["instruction"]),
    ("after a smaller call", &["from element 1", "from element 4", "from element 16"], &["instruction"]),
];

/// Operations with few results in a quick run, because their cases have many sizes and moves. Every input of an instruction runs once.
const SHORT: &[&str] =
    &["dot", "matmul", "conv2d", "qconv2d", "qmatmul", "pool", "transform", "instruction", "quantize", "dequantize"];

/// Casts take tensors of up to five axes, but not all of them have slices. An instruction on 8 bits runs once on every input, and on nothing else.
const MANY_AXES: &[&str] = &["quantize", "dequantize", "instruction"];

/// Families for which the plans of the newest operations omit some places, as `docs/src/what-a-run-catches.md` says. Some places do not exist:
/// filters of a pointwise convolution have one row, and padding is less than its window.
const GAPS: &[(&str, &[&str])] = &[
    (
        "qconv2d",
        &[
            "from an element on",
            "one element",
            "from a column on",
            "one column",
            "one row",
            "two parameters alike",
            "all zero points 0",
            "sizes together at least",
            "a slice of one value",
            "all slices but one of one value",
            "two slices alike",
            "all slices alike",
            "one parameter changed since the last call",
            "two parameters exchanged since the last call",
        ],
    ),
    (
        "qmatmul",
        &[
            "two parameters alike",
            "all zero points 0",
            "sizes together at least",
            "one parameter changed since the last call",
            "two parameters exchanged since the last call",
        ],
    ),
    // Two kernels copy and read no scale, and a changed size is a different call.
    (
        "concat",
        &[
            "two scales nearly a power of two apart",
            "one parameter changed since the last call",
            "two parameters exchanged since the last call",
        ],
    ),
    (
        "pool",
        &[
            "one row",
            "two parameters alike",
            "all zero points 0",
            "two scales nearly a power of two apart",
            "one parameter changed since the last call",
            "two parameters exchanged since the last call",
        ],
    ),
];

/// Results of `dot` and of block layouts come in blocks, so some lengths do not exist: `dot` has a fixed number for a step, and layouts are padded.
#[test]
fn what_a_quick_run_promises_is_seen() {
    let all = faults();
    let mut checked = 0;
    for row in all {
        let (op, family, threshold) = (text(row, "op"), text(row, "family"), text(row, "threshold"));
        let promised = PROMISED.iter().any(|(name, thresholds, but)| {
            let is_gap = GAPS.iter().any(|(of, families)| *of == op && families.contains(&family));
            *name == family
                && !is_gap
                && (thresholds.is_empty() || thresholds.contains(&threshold))
                && !but.contains(&op)
        });
        if promised {
            let none = |hole: &&Value| is_long_step(hole, family) || is_never(hole, family, threshold);
            let left = items(row, "holes").iter().filter(none).count() as u64;
            let seen = row["detected"].as_u64().expect("a number") + left;
            assert_eq!(Some(seen), row["tried"].as_u64(), "{op}, {family} {threshold}: {}", row["holes"]);
            checked += row["tried"].as_u64().expect("a number");
        }
    }
    let ops: BTreeSet<&str> = all.iter().map(|row| text(row, "op")).collect();
    println!("{checked} faults in {} operations, all of them seen", ops.len());
    assert!(ops.len() >= 10 && checked > 5000, "{checked} in {ops:?}");
}

/// True for a fault on slices in a bit-serial step. Such a step reads hundreds of elements for a few results, and a base of three blocks would exceed
/// the length of bases.
fn is_long_step(hole: &Value, family: &str) -> bool {
    let slices = ["a slice of one value", "all slices but one of one value", "two slices alike", "all slices alike"];
    text(hole, "kernel").starts_with("arm-bitserial") && slices.contains(&family)
}

/// True if no case in the kernel's domain can have equal parameters. In a transposed convolution without dilation, padding is less than the filter,
/// and output padding is less than a stride.
fn is_never(hole: &Value, family: &str, parameters: &str) -> bool {
    let is = |names: &[&str]| names.iter().any(|name| text(hole, "kernel").starts_with(name));
    family == "two parameters alike"
        && (is(&["tflite-transpose-conv", "tvm-conv2d-transpose"]) && parameters.contains("kernel_")
            || is(&["tvm-conv2d-transpose", "xnnpack-deconvolution"]) && parameters.contains("output_padding_"))
}

/// Without any one part of a plan, a mutant or a local fault would be undetected.
#[test]
fn without_any_part_of_a_plan_something_would_be_alive() {
    let kills = rows(&["mutants", "--format", "json"]);
    assert!(kills.iter().all(|kill| kill["generator"].is_string()), "a mutant is alive");
    let mut parts = BTreeSet::new();
    let mut needed = BTreeSet::new();
    for kill in &kills {
        let generators = kill["generators"].as_array().expect("a list");
        let each = generators.iter().map(|part| (text(kill, "op"), part.as_str().expect("text")));
        parts.extend(each.clone());
        if generators.len() == 1 {
            needed.extend(each);
        }
    }
    for row in faults() {
        needed.extend(row["only"].as_object().expect("an object").keys().map(|part| (text(row, "op"), part.as_str())));
    }
    let spare: Vec<_> = parts.difference(&needed).filter(|part| !SPARE.contains(part)).collect();
    assert!(spare.is_empty(), "nothing needs {spare:?}");
}

/// Parts that detect nothing here that no other part detects. A compiler may treat blocks of a tensor separately if each is one constant, which no
/// local fault does. `vpdpbusds` in place of `vpdpbusd` differs on sums that return to range, which are so deep that no command could print a witness
/// of the mutant. The next three parts are for faults with several conditions, of which a quick run promises no number. `planted_faults` injects
/// faults that only they detect (`of_conditions_that_come_together`, `of_results_where_a_float_becomes_infinite`,
/// `of_results_at_the_bounds_of_every_stored_type`). Layers of networks in `pool` have combinations of sizes from practice. Large tensors and jointly
/// large sizes have separate parts, which every kernel runs; the layers of networks alternate. `size_bugs` plants an average that only halves of long
/// averages detect. Equal elements have the largest sum of a softmax, and the ends of `tanh` its largest arguments; longer plans meet both by chance.
const SPARE: &[(&str, &str)] = &[
    ("quantize", "one value a block"),
    ("dequantize", "one value a block"),
    ("matmul", "there and back"),
    ("matmul", "conjunctions"),
    ("quantize", "overflow"),
    ("dequantize", "stored types"),
    ("pool", "networks"),
    ("pool", "halves"),
    ("softmax", "equal elements"),
    ("qmatmul", "ends of tanh"),
];

#[test]
fn the_tables_say_what_is_alive_and_what_is_not_seen() {
    let run = tiebreak(&["mutants", "--op", "add"]).exits(0);
    assert!(run.stdout.contains("mutants detected; "), "{}", run.stdout);
    let run = tiebreak(&["corrupt", "--op", "add"]).exits(0);
    assert!(run.stdout.contains("faults are detected; all faults at"), "{}", run.stdout);
    let run = tiebreak(&["corrupt", "--op", "ad"]).exits(2);
    assert!(run.stderr.contains("did you mean `add`"), "{}", run.stderr);
}
