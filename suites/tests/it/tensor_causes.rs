//! Classes of tensor operations: each is given to its mutant and to no sound kernel, a difference without a matching cause is unexplained, and every
//! witness is reproduced by its command.

use crate::common::*;
use crate::registry::{self, Bug};
use serde_json::Value;
use std::collections::BTreeSet;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::Class;
use tiebreak_suites::engine::erased::{AnyCase, Mutant, Op, Params, op};
use tiebreak_suites::engine::explain::cause::explain;
use tiebreak_suites::engine::judge::record::run;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::engine::run::subject::ExpectedCase;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::matmul::Matmul;
use tiebreak_suites::operation::{Case, CaseSelection, Observed};
use tiebreak_suites::verify::{Visitor, visit_tensors};

/// The cause that names a mutant reproduces the mutant's results, but not those of a sound kernel on the same cases.
fn is_not_given_to_a_sound_kernel(op: Op) {
    let host = lane("host");
    for mutant in op.mutants() {
        let scheme = mutant.kernel.scheme().expect("known");
        let (name, domain) = (mutant.kernel.name, &mutant.kernel.contract.domain);
        let groups = evidence(mutant, &host);
        assert!(!groups.is_empty(), "{name}: nothing differs");
        for (group, evidence) in groups {
            let causes = scheme.causes(group, &scheme, domain, false);
            let seen: Vec<&Observed<Params>> = evidence.iter().collect();
            let found = explain(&causes, &seen);
            assert_eq!(found.class.name(), mutant.class, "{name}: {}", found.because);
            let sound = evidence.iter().map(|seen| {
                let outs = scheme.expected(&seen.case).expect("it was posed");
                // If the scheme gives no value, a sound kernel may have the mutant's result.
                let outs = outs.iter().zip(&seen.outs).map(|(right, got)| right.unwrap_or(*got)).collect();
                Observed { outs, differ: 0, ..seen.clone() }
            });
            let sound: Vec<_> = sound.collect();
            let sound: Vec<&Observed<Params>> = sound.iter().collect();
            for cause in causes.iter().filter(|cause| cause.class == found.class && cause.explains(&seen).is_some()) {
                let described = cause.explains(&sound);
                assert_eq!(described, None, "{name}: {} is said of a kernel without it", cause.class);
            }
        }
    }
    assert!(op.mutants().len() >= 3);
}

/// Returns a mutant's results on the host, by the groups of results in which it differs.
fn evidence(mutant: &Mutant, host: &tiebreak_suites::lane::Lane) -> Vec<(usize, Vec<Observed<Params>>)> {
    let (kernel, domain) = (&mutant.kernel, &mutant.kernel.contract.domain);
    let scheme = kernel.scheme().expect("known");
    let plan = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let cases = plan.iter().filter_map(|spec| spec.case(domain, 1));
    let posed = |case: AnyCase| Some(ExpectedCase::new(case.clone(), scheme.expected(&case).ok()?, None));
    let record = run(host, kernel, &scheme, &[], &cases.filter_map(posed).collect::<Vec<_>>());
    let differing = record.contract.groups.iter().filter(|(_, seen)| !seen.differing.is_empty());
    differing.map(|(group, seen)| (*group, seen.evidence().into_iter().cloned().collect())).collect()
}

#[test]
fn a_sound_kernel_is_not_given_the_class_of_a_mutant() {
    struct Sound;
    impl Visitor for Sound {
        fn visit<O: Fuzzed>(&mut self) {
            is_not_given_to_a_sound_kernel(op::<O>());
        }
    }
    visit_tensors(&mut Sound);
}

/// A single wrong result that fits no order of rows or columns does not have the class of a layout.
#[test]
fn one_wrong_result_is_no_layout() {
    let kernel = op::<Matmul>().find("arm-uadalp").expect("known");
    let scheme = kernel.promise().expect("known");
    let params = tiebreak_impls::matmul::Params { m: 1, n: 1, k: 1, lhs_offset: 0, rhs_offset: 0 };
    let tensors = [vec![3], vec![5], Vec::new()].into();
    let case = AnyCase::of::<Matmul>(Case { params, tensors, misalign: 0 });
    let expected = scheme.expected(&case).expect("in the domain");
    let observed = Observed { case, outs: vec![12345], expected, differ: 1, faulty: Vec::new(), due: Vec::new() };
    let causes = scheme.changes(&kernel.contract.domain);
    assert_eq!(explain(&causes, &[&observed]).class, Class::Unexplained);
}

/// Sound products with one result changed without a matching cause: no class is given, however many there are.
#[test]
fn a_result_changed_at_random_is_unexplained() {
    let host = lane("host");
    for (name, change) in [("one bit", 1), ("sixteen", 0x5555), ("the sign", i32::MIN)] {
        let kernel = op::<Matmul>().find("arm-uadalp").expect("known");
        let scheme = kernel.promise().expect("known");
        let causes = scheme.changes(&kernel.contract.domain);
        let (_, mut evidence) = evidence(&op::<Matmul>().mutants()[1], &host).remove(0);
        for seen in &mut evidence {
            let right = scheme.expected(&seen.case).expect("posed");
            seen.outs = right.into_iter().map(|v| v.expect("it wraps")).collect();
        }
        let last = evidence.last_mut().expect("some");
        *last.outs.last_mut().expect("some") ^= change;
        let explanation = explain(&causes, &evidence.iter().collect::<Vec<_>>());
        assert_eq!(explanation.class, Class::Unexplained, "{name}: {}", explanation.because);
    }
}

/// Writes a lanes file with a worker that offers `arm-uadalp`, and answers every 1 by 1 by 1 product with these four bytes.
fn answering(dir: &std::path::Path, answer: &str) -> std::path::PathBuf {
    let offer = r#"{"op":"matmul","kernel":"arm-uadalp","isa_path":"scalar"}"#;
    let hello = format!(r#"{{"answer":"hello","protocol":1,"arch":"x86_64","kernels":[{offer}]}}"#);
    // Two elements of four bytes follow each request.
    let take = "dd bs=1 count=8 of=/dev/null 2>&-";
    let body = format!("read line\necho '{hello}'\nwhile read line; do {take}; {answer}; done\n");
    let file = dir.join("worker.sh");
    std::fs::write(&file, body).expect("the temporary directory can be written");
    lanes_with(dir, "mine", &["/bin/sh".to_owned(), file.to_string_lossy().into_owned()])
}

const ONE: [&str; 5] = ["--op=matmul", "--kernel=arm-uadalp", "--lane=mine", "--case", "lhs=3 rhs=5"];

/// A kernel with an unknown fault fails as unexplained.
#[test]
fn a_kernel_wrong_in_no_known_way_is_unexplained_and_fails() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let done = r#"echo '{"answer":"done","bytes":4}'; printf '\071\060\000\000'"#;
    let run = verify_in(&answering(dir.path(), done), &ONE).exits(1);
    let ledger = run.ledger();
    assert!(
        !finding_classes(&ledger).is_empty()
            && finding_classes(&ledger).iter().all(|class| *class == Class::Unexplained.name())
    );
    let witness = &items(&ledger, "findings")[0]["witness"];
    assert_eq!(witness["got"], 0x3039);
    assert!(witness["because"].as_str().is_some_and(|b| b.starts_with("no known cause reproduces")), "{witness}");
    assert!(run.stdout.contains("class unexplained"), "{}", run.printed());
}

/// Workers that do not answer a tensor batch cause a finding with the case, and the run continues.
#[test]
fn a_worker_that_fails_on_a_tensor_is_a_finding() {
    let cases = [
        ("kill -9 $$", "crash", "signal: 9"),
        (r#"echo '{"answer":"failed","reason":"no memory"}'"#, "refused", "no memory"),
        (r#"echo '{"answer":"failed","reason":"arm-uadalp panicked","kind":"panic"}'"#, "panic", "panicked"),
        (r#"echo '{"answer":"done","bytes":0}'"#, "wrong-length", "0 results for 1"),
        ("exec sleep 100", "hang", "no answer within 2s"),
    ];
    for (answer, class, message) in cases {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let run = verify_in(&answering(dir.path(), answer), &ONE).exits(1);
        let ledger = run.ledger();
        let finding = &items(&ledger, "findings")[0];
        assert_eq!((finding["class"].as_str(), finding["op"].as_str()), (Some(class), Some("matmul")), "{finding}");
        assert!(finding["message"].as_str().is_some_and(|m| m.contains(message)), "{finding}");
        let witness = &finding["witness"];
        assert_eq!((&witness["expected"], &witness["case"]["lhs"]), (&Value::Null, &3.into()), "{finding}");
        assert!(
            witness["command"].as_str().is_some_and(|c| c.ends_with("--case 'm=1 n=1 k=1 lhs=3 rhs=5'")),
            "{finding}"
        );
        assert!(run.file("junit.xml").contains(&format!("type=\"{class}\"")), "{class}");
    }
}

/// Runs all mutants of an operation together: each has its own class and a witness, which its command reproduces.
fn shown_again(op: &str) {
    let bugs: Vec<Bug> = registry::bugs().into_iter().filter(|bug| bug.op == op).collect();
    for bug in bugs {
        let of = |r: &&Value| r["kernel"] == bug.name && r["against"] == "contract";
        let row = items(&everything(op).ledger, "rows").iter().find(of).expect("a row");
        let classes = row["classes"].as_object().expect("counts");
        assert_eq!(classes.keys().collect::<Vec<_>>(), [bug.class], "{}", bug.name);
        assert_eq!(classes[bug.class], row["differ"], "{}", bug.name);
        let witness = &row["witness"];
        let command = witness["command"].as_str().expect("a command");
        assert!(
            command.contains(" --case '") || command.contains(" --x="),
            "{}: too large to spell out: {command}",
            bug.name
        );
        let ledger = again(command).exits(1).ledger();
        let rows = items(&ledger, "rows");
        let same = rows.iter().find(|r| r["against"] == "contract").expect("a row");
        for key in ["case", "got", "expected", "scheme"] {
            assert_eq!(same["witness"][key], witness[key], "{}: {key} of `{command}`", bug.name);
        }
        assert!(finding_classes(&ledger).len() == 1, "{command}");
    }
}

#[test]
fn commands_beside_witnesses_of_tensor_mutants_show_them_again() {
    let ops: BTreeSet<&str> = registry::bugs().iter().map(|bug| bug.op).collect();
    assert_eq!(ops, registry::kernels().iter().map(|kernel| kernel.op).collect(), "every operation has mutants");
    ops.into_iter().for_each(shown_again);
}

/// Kernels with a contract of narrow sums differ from the exact product, in the class of the narrow sum.
#[test]
fn narrow_sums_are_told_apart_from_exact_ones() {
    let cases = [
        ("matmul", "arm-umlal-fast", "16-bit-wrap"),
        ("matmul", "arm-smlal-fast", "16-bit-wrap"),
        ("matmul", "x86-maddubs", "16-bit-saturation"),
        ("dot", "arm-umlal-fast", "16-bit-wrap"),
        ("dot", "x86-maddubs", "16-bit-saturation"),
        ("conv2d", "arm-umlal-fast", "16-bit-wrap"),
        ("conv2d", "x86-maddubs", "16-bit-saturation"),
    ];
    for (op, kernel, class) in cases {
        let of = |r: &&Value| r["kernel"] == kernel && r["against"] == "reference";
        let row = items(&everything(op).ledger, "rows").iter().find(of).expect("a row");
        let classes: Vec<_> = row["classes"].as_object().expect("counts").keys().map(String::as_str).collect();
        assert_eq!(classes, [class], "{op} {kernel}");
        let command = row["witness"]["command"].as_str().expect("a command");
        let ledger = again(command).exits(0).ledger();
        let same = items(&ledger, "rows").iter().find(|r| r["against"] == "reference").expect("a row");
        for key in ["case", "got", "expected"] {
            assert_eq!(same["witness"][key], row["witness"][key], "{op} {kernel}: {key} of `{command}`");
        }
    }
}

/// Returns the class of results from a sum in f32, on the quick plan of a kernel whose contract wraps.
fn of_sums(op: Op, kernel: &str, sums: impl Fn(&AnyCase) -> Option<Vec<i32>>) -> Class {
    let kernel = op.find(kernel).expect("known");
    let (scheme, domain) = (kernel.promise().expect("known"), &kernel.contract.domain);
    let plan = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let cases = plan.iter().filter_map(|spec| spec.case(domain, 1));
    let observed = cases.filter_map(|case| {
        let (outs, expected) = (sums(&case)?, scheme.expected(&case).ok()?);
        let differ = expected.iter().zip(&outs).filter(|(right, out)| **right != Some(**out)).count();
        Some(Observed { case, outs, expected, differ, faulty: Vec::new(), due: Vec::new() })
    });
    let observed: Vec<_> = observed.take(400).collect();
    assert!(observed.iter().any(|seen| seen.differ > 0), "{}: no sum needs more than 24 bits", kernel.name);
    explain(&scheme.changes(domain), &observed.iter().collect::<Vec<_>>()).class
}

/// Origin: issue 30, item 17. A dot product had no cause for sums in f32.
#[test]
fn sums_in_f32_of_a_dot_product_are_named_so() {
    use tiebreak_suites::dot::Dot;
    let dot = of_sums(op::<Dot>(), "nvidia-dp4a-s8", |case| {
        let [acc, a, b] = &*case.tensors;
        let sum = |(i, acc): (usize, &i32)| {
            (0..4).fold(*acc as f32, |sum, k| sum + (a[4 * i + k] * b[4 * i + k]) as f32) as i32
        };
        Some(acc.iter().enumerate().map(sum).collect())
    });
    assert_eq!(dot, Class::F32Step, "dot");
}

/// Origin: issue 30, items 7 and 17. `explains 55 of 55 that differ` hid differences that the cause predicts, but that did not occur.
#[test]
fn the_nearest_cause_counts_what_it_predicts_and_did_not_occur() {
    let kernel = op::<Matmul>().find("arm-uadalp").expect("known");
    let scheme = kernel.promise().expect("known");
    let causes = scheme.changes(&kernel.contract.domain);
    let params = tiebreak_impls::matmul::Params { m: 4, n: 4, k: 3, lhs_offset: 5, rhs_offset: 0 };
    let tensors = [(1..=12).collect(), (1..=12).collect(), Vec::new()].into();
    let case = AnyCase::of::<Matmul>(Case { params, tensors, misalign: 0 });
    let expected = scheme.expected(&case).expect("in the domain");
    let params = tiebreak_impls::matmul::Params { lhs_offset: -5, ..params };
    let negated = Case { params: Params::of::<Matmul>(params), ..case.clone() };
    let wrong = scheme.expected(&negated).expect("in the domain");
    let seen = |columns: usize| {
        let of = |at: usize| if at % 4 < columns { wrong[at] } else { expected[at] };
        let outs = (0..16).map(|at| of(at).expect("it wraps")).collect();
        Observed {
            case: case.clone(),
            outs,
            expected: expected.clone(),
            differ: 4 * columns,
            faulty: Vec::new(),
            due: Vec::new(),
        }
    };
    let said = |columns: usize| explain(&causes, &[&seen(columns)]).because;
    let near = said(3);
    assert!(near.contains("explains 12 of 12 that differ, and predicts 4 differences that did not occur"), "{near}");
    // The cause predicts 16 differences, of which 4 occurred.
    assert!(!said(1).contains("the nearest"), "{}", said(1));
}
