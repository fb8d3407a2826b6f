//! `prove --c`, `--ir` and `--kernels`: functions against a scheme, for all accumulators and all multipliers.

use crate::common::{Run, not_run, starts, tiebreak, whole, workspace};
use serde_json::{Value, json};
use std::path::Path;
use tiebreak_analysis::proofs::recorded;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::requantize::Requantize;
use tiebreak_reports::ledger::Theorem;
use tiebreak_reports::proofs;

/// Markers around the table of the page.
const BEGIN: &str = "<!-- recorded proofs -->\n";
const END: &str = "<!-- end of recorded proofs -->";

const CODE: &str = "prove-code";

/// True if the solvers and a clang are installed.
fn tools() -> bool {
    let clang = ["clang-22", "clang-21", "clang-20", "clang-19", "clang"].iter().any(|name| starts(name));
    let all = starts("z3") && starts("cvc5") && clang;
    if !all {
        not_run("z3, cvc5 or clang is not installed: `cargo xtask setup --with solvers` installs the solvers");
    }
    all
}

fn source() -> String {
    workspace().join("docs/examples/prove.c").display().to_string()
}

fn prove(function: &str, contract: &str, more: &[&str]) -> Run {
    let source = source();
    let arguments = ["prove", "--c", &source, "--function", function, "--contract", contract];
    tiebreak(&[&arguments, more].concat())
}

/// Parses the output, and checks it against a schema of `schema`.
fn described(run: &Run, form: &str) -> Value {
    let value: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.printed()));
    let schema: Value = serde_json::from_str(&tiebreak(&["schema", form]).exits(0).stdout).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&value), "{form}: {value}");
    value
}

/// Returns the only shift of a refuted function, whose witness the compiled function confirms.
fn refuted(function: &str, contract: &str, more: &[&str]) -> Value {
    let all =
        described(&prove(function, contract, &[&["--shift=-8..-8", "--format=json"], more].concat()).exits(1), CODE);
    let one = all["shifts"][0].clone();
    assert_eq!(one["verdict"], "refuted", "{function}: {one}");
    assert_eq!(one["returned"], one["got"], "{function}: the compiled function returns what the terms say: {one}");
    assert_ne!(one["returned"], one["expected"], "{function}: {one}");
    one
}

/// One rounding in C is ties-up at every shift; terms and compiled code were compared.
#[test]
fn a_right_function_is_proved() {
    if !tools() {
        return;
    }
    let all = described(&prove("once", "ties-up:wrap", &["--shift=-31..0", "--format=json"]).exits(0), CODE);
    assert_eq!(all["proved"], true);
    assert_eq!(all["shifts"].as_array().map(Vec::len), Some(32));
    assert!(all["compared"].as_u64() > Some(5000), "{}", all["compared"]);
    prove("twice", "gemmlowp-double:wrap", &["--shift=-9..-8"]).exits(0);
    let domain = ["--multipliers=0..2147483647", "--shift=-31..0"];
    prove("twice", "tosa-apply-scale-32-double", &domain).exits(0);
}

/// `proved` was once stated for all inputs, although the contract gives some of them no value, and the multipliers were restricted.
#[test]
fn a_verdict_says_what_it_is_about() {
    if !tools() {
        return;
    }
    let whole = prove("once", "ties-up:wrap", &["--shift=3"]).exits(0).stdout;
    assert!(
        whole.contains("every int32 accumulator x and every int32 multiplier m") && !whole.contains("Left out"),
        "{whole}"
    );
    let part = prove("once", "ties-up", &["--shift=3", "--multipliers=0..2147483647"]).exits(0).stdout;
    for said in [
        "every multiplier m in 0..2147483647",
        "Left out: inputs to which ties-up gives no value, such as x=",
        "ties-up:wrap and",
    ] {
        assert!(part.contains(said), "{said}: {part}");
    }
}

/// A function that follows another scheme than its contract is refuted by an input.
#[test]
fn another_contract_is_refuted() {
    if tools() {
        refuted("twice", "ties-up:wrap", &[]);
        refuted("once", "gemmlowp-double:wrap", &[]);
    }
}

/// A single wrong input among 2^64 is found.
#[test]
fn one_wrong_input_is_refuted() {
    if tools() {
        let one = refuted("wrong_once", "ties-up:wrap", &[]);
        assert_eq!((&one["x"], &one["m"]), (&json!(123_456_789), &json!(1_395_864_371)));
    }
}

/// Fault families that sampling misses, injected into a fixed point multiply.
#[test]
fn rare_mistakes_are_refuted() {
    if tools() {
        for function in ["wrong_multiplier", "wrong_rarely", "wrong_ties"] {
            refuted(function, "ties-up:wrap", &[]);
        }
    }
}

/// The same families, injected into a requantization with its zero point and clamp.
#[test]
fn rare_mistakes_of_requantization_are_refuted() {
    if !tools() {
        return;
    }
    let output = ["--zero-point=-3", "--clamp=-128..127"];
    prove("requantize", "gemmlowp-double:wrap", &[&["--shift=-8..-8"], &output[..]].concat()).exits(0);
    for family in ["multiplier", "rarely", "ties"] {
        refuted(&format!("requantize_wrong_{family}"), "gemmlowp-double:wrap", &output);
    }
}

/// A shift by a negative amount is poison. Undefined inputs refute the function, whatever the compiled code returns.
#[test]
fn undefined_behaviour_is_refuted() {
    if !tools() {
        return;
    }
    let all = described(&prove("undefined", "ties-up:wrap", &["--shift=31..31", "--format=json"]).exits(1), CODE);
    assert_eq!((&all["shifts"][0]["verdict"], &all["shifts"][0]["got"]), (&json!("refuted"), &Value::Null));
}

/// An instruction or function that the translator does not know is rejected by name.
#[test]
fn what_is_not_known_is_refused_by_name() {
    if !tools() {
        return;
    }
    let run = prove("loop", "ties-up", &["--shift=0..0"]).exits(2);
    assert!(run.printed().contains("a loop that depends on the input"), "{}", run.printed());
    let dir = tempfile::tempdir().expect("a directory");
    for (instruction, said) in [
        ("%r = udiv i32 %x, %m\n  %f = uitofp i32 %r to float\n  %q = fptosi float %f to i32", "`uitofp`"),
        ("%q = call i32 @llvm.bitreverse.i32(i32 %x)", "`llvm.bitreverse.i32`"),
        ("%q = call i32 @elsewhere(i32 %x)", "`elsewhere`"),
        ("%q = add i32 %x, undef", "`undef`"),
    ] {
        let path = dir.path().join("code.ll");
        let declared = "declare i32 @llvm.bitreverse.i32(i32)\ndeclare i32 @elsewhere(i32)\n";
        let text = format!("define i32 @f(i32 %x, i32 %m, i32 %s) {{\n  {instruction}\n  ret i32 %q\n}}\n{declared}");
        std::fs::write(&path, text).expect("a file");
        let path = path.display().to_string();
        let run = tiebreak(&["prove", "--ir", &path, "--function=f", "--contract=ties-up", "--shift=0..0"]);
        // A function that cannot be linked is rejected before it is translated.
        assert_eq!(run.code, 2, "{}", run.printed());
        assert!(run.printed().contains(said.trim_matches('`')), "{said}: {}", run.printed());
    }
}

/// Bounds of narrow lanes, the largest difference of two casts, and the axioms of products, proved by both solvers.
#[test]
fn bounds_are_proved_and_false_axioms_refused() {
    if !tools() {
        return;
    }
    let all = described(&tiebreak(&["prove", "--bounds", "--format=json"]).exits(0), "prove-bounds");
    let bounds = all["bounds"].as_array().expect("bounds");
    let claims: Vec<&str> = bounds.iter().filter_map(|bound| bound["claim"].as_str()).collect();
    for claim in ["66,051 terms", "b0 + b1 <= 257", "at most 128, and negative", "for s = 0.3, by 1 at most"] {
        assert!(claims.iter().any(|said| said.contains(claim)), "{claim}: {claims:#?}");
    }
    // Beyond each bound on two weights, and for the cast with different results, an input was found and computed again.
    let witnesses = bounds.iter().flat_map(|bound| bound["questions"].as_array().expect("questions"));
    assert_eq!(witnesses.filter(|question| question["witness"].is_string()).count(), 5, "{all}");
    let axioms = all["axioms"].as_array().expect("axioms");
    let denials: Vec<&Value> = axioms.iter().map(|axiom| &axiom["denial"]).collect();
    assert_eq!(json!(denials), json!(["no", "no", "no", "no", "yes", "yes"]), "{all}");
}

/// Wrong calls.
#[test]
fn a_call_that_proves_nothing() {
    prove("nothing", "ties-up", &[]).exits(2);
    prove("once", "ties-uq", &[]).exits(2);
    tiebreak(&["prove", "--c", "missing.c", "--function=f", "--contract=ties-up"]).exits(2);
    tiebreak(&["prove", "--ir", "code.ll"]).exits(2);
    tiebreak(&["prove", "--kernels"]).exits(2);
}

/// Kernels from their LLVM IR: three are proved, and mutants refuted with a witness that the mutant itself confirms. Each verdict equals the recorded
/// one.
#[test]
fn kernels_are_proved_and_mutants_refuted() {
    if !tools() {
        return;
    }
    let file = |target: &str| workspace().join(format!("target/tiebreak/prove/elements-{target}.ll"));
    let (host, arm) = (file("host"), file("aarch64-unknown-linux-gnu"));
    for file in [&host, &arm] {
        let remedy = "`cargo xtask test` makes it before the tests, and `cargo xtask prove --kernels` alone";
        assert!(Path::exists(file), "no LLVM IR of the kernels, {}: {remedy}", file.display());
    }
    let names = ["tvm-relay", "xnnpack-rndnu-scalar", "cmsis-nn-mve-single"];
    let mutants = ["mutant-ties-down", "mutant-no-saturation", "mutant-double-rounding", "mutant-tail-double-rounding"];
    let dir = tempfile::tempdir().expect("a directory");
    let kept = dir.path().join("kept.jsonl").display().to_string();
    let (host, arm) = (host.display().to_string(), arm.display().to_string());
    let mut arguments = vec!["prove", "--kernels", "--elements", &host, "--elements", &arm, "--format=json"];
    arguments.extend(["--kept", &kept]);
    names.iter().chain(&mutants).for_each(|name| arguments.extend(["--kernel", name]));
    let all = described(&tiebreak(&arguments).exits(0), "prove-kernels");
    let rows = all["rows"].as_array().expect("rows");
    for row in rows {
        assert_eq!(row["kept"], false, "{row}");
        let refuted = row["shifts"].as_array().expect("shifts").iter().filter(|shift| shift["verdict"] == "refuted");
        for shift in refuted {
            assert_eq!(shift["returned"], shift["got"], "{shift}");
            assert_ne!(shift["returned"], shift["expected"], "{shift}");
        }
    }
    let same = |theorem: &&Theorem| names.iter().chain(&mutants).any(|name| *name == theorem.kernel);
    let recorded = recorded();
    let recorded: Vec<&Theorem> = recorded.theorems.iter().filter(same).collect();
    assert_eq!(recorded.len(), rows.len(), "{all}");
    for (theorem, row) in recorded.into_iter().zip(rows) {
        let said =
            json!([theorem.kernel, theorem.form, theorem.positions, theorem.contract, theorem.proved, theorem.refuted]);
        let now = ["kernel", "form", "positions", "contract", "proved", "refuted"].map(|key| row[key].clone());
        assert_eq!(said, json!(now));
    }
    // A second run takes every row from the file.
    let again = described(&tiebreak(&arguments).exits(0), "prove-kernels");
    assert!(again["rows"].as_array().expect("rows").iter().all(|row| row["kept"] == true), "{again}");
}

/// A proof that runs out of time gives no verdict, as the row states.
#[test]
fn a_proof_that_runs_out_is_no_verdict() {
    if tools() {
        let limits = ["--limit=1", "--query-limit=1", "--shift=-8..-8", "--format=json"];
        let all = described(&prove("hard", "ties-up:wrap", &limits).exits(1), CODE);
        assert_eq!(all["shifts"][0]["verdict"], "unknown", "{all}");
        assert!(all["shifts"][0]["reason"].as_str().is_some_and(|r| r.starts_with("no verdict within 1 s")), "{all}");
    }
}

/// Requantizations without terms: those of the legacy pipeline, whose multiplier is an integer, and one in floats.
const WITHOUT_TERMS: [&str; 6] = [
    "gemmlowp-quantize-down",
    "gemmlowp-quantize-down-shipped",
    "gemmlowp-eight-bit-int",
    "mutant-logical-shift",
    "mutant-legacy-wraps",
    "mutant-requantize-f32",
];

/// Every kernel is proved, every mutant is refuted, and the record is about the sources of this program.
#[test]
fn every_kernel_is_a_theorem_and_every_mutant_is_refuted() {
    let recorded = recorded();
    let again = "`cargo xtask prove --kernels --record suites/analysis/src/proofs/recorded.json` records them again";
    assert!(!recorded.stale, "the recorded proofs are about other sources of the kernels: {again}");
    let kernels = tiebreak_impls::fpm::kernels().iter().map(|kernel| (kernel.name, false));
    let mutants = tiebreak_impls::mutants::fpm::mutants().iter().map(|mutant| (mutant.kernel.name, true));
    for (name, mutant) in kernels.chain(mutants) {
        assert_eq!(proofs::counted(&recorded, mutant).get(&("fpm", name)), Some(&true), "{name}: {again}");
    }
    // A requantization has a theorem, or its contract has no Q0.31 multiplier. One known bug computes in floats.
    for kernel in <Requantize as TensorOperation>::kernels() {
        let wanted = (!WITHOUT_TERMS.contains(&kernel.name)).then_some(true);
        let held = proofs::counted(&recorded, false).get(&("requantize", kernel.name)).copied();
        assert_eq!(held, wanted, "{}: {again}", kernel.name);
    }
    for mutant in <Requantize as TensorOperation>::mutants().iter().map(|mutant| mutant.kernel.name) {
        let is_own = tiebreak_impls::mutants::fpm::find(mutant).is_none() && !WITHOUT_TERMS.contains(&mutant);
        let refuted = proofs::counted(&recorded, true).get(&("requantize", mutant)).copied();
        assert_eq!(refuted, is_own.then_some(true), "{mutant}: {again}");
    }
    let natives = tiebreak_impls::fpm::kernels().iter().filter(|kernel| kernel.native.is_some());
    for kernel in natives {
        let native: usize = recorded
            .theorems
            .iter()
            .filter(|theorem| theorem.kernel == kernel.name && theorem.form == "native")
            .map(|theorem| theorem.positions.len())
            .sum();
        assert_eq!(native, 5, "{}: native form at each position: {again}", kernel.name);
    }
}

/// The screen has a line on proofs, and the report the table.
#[test]
fn verify_states_the_recorded_proofs() {
    let run = whole();
    let said = "48 of 48 kernels proved for all inputs, 24 of 24 mutants refuted";
    assert!(
        run.stdout.lines().any(|line| line.trim_start().starts_with("proofs") && line.ends_with(said)),
        "{}",
        run.stdout
    );
    assert!(run.details.contains(&proofs::markdown(&recorded())));
}

/// The page has the recorded table, with a row for each kernel and each mutant; `UPDATE_EXPECT=1` updates it.
#[test]
fn the_page_has_the_recorded_table() {
    let path = workspace().join("docs/src/proofs.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the beginning of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let table = proofs::markdown(&recorded());
    expect_test::expect_file![path].assert_eq(&format!("{before}{BEGIN}\n{table}{END}{after}"));
    let [kernels, mutants] = [tiebreak_impls::fpm::kernels().len(), tiebreak_impls::mutants::fpm::mutants().len()];
    let count = format!("{kernels} kernels and {mutants} mutants");
    assert!(page.contains(&count), "docs/src/proofs.md does not say `{count}`");
}
