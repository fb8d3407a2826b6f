//! Faults of history: state that a kernel keeps between calls, or leaves to other kernels. Origin: issue 30, items 15 and 16: the commands of such
//! witnesses held, and a rounding mode left by one kernel was blamed on another.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use crate::libraries::{compiled, verified};
use serde_json::{Value, json};

/// Returns the findings about a kernel.
fn about<'a>(ledger: &'a Value, kernel: &str) -> Vec<&'a Value> {
    items(ledger, "findings").iter().filter(|finding| finding["kernel"] == kernel).collect()
}

fn command(finding: &Value) -> &str {
    finding["witness"]["command"].as_str().expect("a command")
}

/// Checks for a finding of this class whose command reproduces it by calls with these words.
#[track_caller]
fn shown_again(run: &Run, kernel: &str, calls: (&str, usize)) {
    let ledger = run.ledger();
    let [finding] = about(&ledger, kernel)[..] else { panic!("not one finding\n{}", run.printed()) };
    assert_eq!(finding["class"], "depends-on-history", "{}", run.printed());
    let command = command(finding);
    assert_eq!(command.matches(calls.0).count(), calls.1, "{command}");
    let again = again(command).exits(1).ledger();
    assert!(about(&again, kernel).iter().all(|found| found["class"] == "depends-on-history"), "{again}");
    assert_eq!(about(&again, kernel)[0]["witness"]["got"], finding["witness"]["got"]);
}

/// The run printed a case that held, as `unexplained`.
#[test]
fn a_stale_cache_is_shown_by_the_two_calls_it_takes() {
    for lane in ["host", "aarch64-qemu"] {
        let run = verify(&["--op=fpm", "--kernel=mutant-stale-shift", "--effort=quick", "--lane", lane]).exits(1);
        shown_again(&run, "mutant-stale-shift", ("--case", 2));
    }
}

/// The last call alone holds, and so do both calls in the other order.
#[test]
fn cases_run_in_the_order_given() {
    let of = |cases: &[&str]| {
        let mut arguments = vec!["--op=fpm", "--kernel=mutant-stale-shift", "--lane=host"];
        cases.iter().for_each(|case| arguments.extend(["--case", case]));
        verify(&arguments)
    };
    let (first, second) = ("m=1395864371 s=-8 x=1000", "m=1395864371 s=-3 x=1000");
    of(&[second]).exits(0);
    of(&[first, first, second]).exits(1);
    let run = of(&[first, second]).exits(1);
    let ledger = run.ledger();
    let planned = items(&ledger, "planned").iter().find(|planned| planned["unit"] == "case").expect("cases");
    assert_eq!((&planned["planned"], &planned["run"]), (&json!(2), &json!(2)));
    assert_eq!(finding_classes(&ledger), ["depends-on-history"], "{}", run.printed());
    of(&[first, "m=1395864371 s=-8 y=1"]).exits(2);
}

#[test]
fn each_fifth_call_takes_five() {
    let run = verify(&["--op=fpm", "--kernel=mutant-fifth-call", "--effort=quick", "--lane=host"]).exits(1);
    shown_again(&run, "mutant-fifth-call", ("--repeat 5", 1));
}

/// Returns a library with a right `fpm` of one channel, whose last result is one too high in calls for which `is_wrong` holds.
fn wrong_in(is_wrong: &str) -> String {
    let body = r#"#define _POSIX_C_SOURCE 200809L
#include "tiebreak.h"
#include <unistd.h>
TIEBREAK_LIBRARY
static unsigned calls, next;
static int is_wrong(void) { IS_WRONG }
int tiebreak_fpm(const tiebreak_fpm_params *p, const int32_t *x, int32_t *out) {
    int right = 31 - p->shift[0];
    for (size_t i = 0; i < p->len; i++) out[i] = (int32_t)(((int64_t)x[i] * p->multiplier[0] + ((int64_t)1 << (right - 1))) >> right);
    (void)next;
    if (p->len > 0 && is_wrong()) out[p->len - 1] = (int32_t)((uint32_t)out[p->len - 1] + 1);
    return TIEBREAK_OK;
}
"#;
    body.replace("IS_WRONG", is_wrong)
}

/// Runs a library and returns its finding, and the finding of the printed command.
fn finding_of(is_wrong: &str) -> [Value; 2] {
    let (bin, work) = installed();
    compiled(bin.path(), work.path(), "calls.c", &wrong_in(is_wrong));
    let options = "--op fpm --scheme ties-up:wrap --domain shifts=[-31,0] --domain per_channel=false";
    let (ledger, printed) = verified(bin.path(), work.path(), options, 1);
    let found = about(&ledger, "mine-fpm").first().map(|found| (*found).clone()).unwrap_or_else(|| panic!("{printed}"));
    let again = shell(bin.path(), work.path(), &format!("{} --out again", command(&found)));
    assert_eq!(again.status.code(), Some(1), "{}\n{}", command(&found), text(&again.stdout));
    let bytes = std::fs::read(work.path().join("again/ledger.json")).expect("a ledger");
    let again: Value = serde_json::from_slice(&bytes).expect("JSON");
    let again = about(&again, "mine-fpm")[0].clone();
    [found, again]
}

/// The sequence of 64 calls was not found, because only sequences of 2^n + 1 calls were tried.
#[test]
fn each_64th_call_is_shown_by_64_calls() {
    for found in finding_of("return ++calls % 64 == 0;") {
        assert_eq!(found["class"], "depends-on-history", "{found}");
        assert!(command(&found).ends_with(" --repeat 64"), "{}", command(&found));
        assert!(found["witness"]["because"].to_string().contains("call 64 is the first that differs"), "{found}");
    }
}

/// The calls that fail depend on the process: a fault by chance was said to depend on earlier calls.
#[test]
fn a_fault_by_chance_is_not_said_to_depend_on_earlier_calls() {
    let is_wrong = "unsigned seed = (unsigned)getpid() * 2654435761u; if (!next) next = 24 + seed % 48;         if (++calls < next) return 0; next += 16 + ((calls + seed) * 2654435761u >> 16) % 48; return 1;";
    for found in finding_of(is_wrong) {
        assert_eq!(found["class"], "nondeterministic", "{found}");
        assert!(command(&found).contains(" --repeat "), "{found}");
    }
}

/// Another kernel was blamed, and the faulty kernel was not named.
#[test]
fn the_kernel_that_leaves_a_rounding_mode_is_named() {
    for lane in ["host", "aarch64-qemu"] {
        let lane = format!("--lane={lane}");
        let kernels = ["--kernel=mutant-rounding-left", "--kernel=tflite-quantize", "--kernel=xnnpack-qs8-vadd"];
        let ops = ["--op=fpm", "--op=quantize", "--op=add", "--effort=quick"];
        let run = verify(&[&ops[..], &kernels[..], &[&lane]].concat()).exits(1);
        let ledger = run.ledger();
        let findings = items(&ledger, "findings");
        assert!(!findings.is_empty(), "{}", run.printed());
        for finding in findings {
            assert_eq!((&finding["kernel"], &finding["class"]), (&json!("mutant-rounding-left"), &json!("float-mode")));
        }
        let message = findings[0]["message"].as_str().expect("text");
        assert!(
            message.contains("it left another float mode behind") && message.contains("rounding mode"),
            "{message}"
        );
        again(command(&findings[0])).exits(1);
    }
}

/// Writes a lanes file with a worker that is wrong for one kernel at one place.
fn lying(dir: &std::path::Path, kernel: &str, place: &Value) -> std::path::PathBuf {
    let row = json!({"kernel": kernel, "where": {"place": place}});
    lanes_with(dir, "host-worker", &corruptor(dir, &worker("host-worker"), &json!([row])))
}

/// A call that differs from the previous one only in its depth: two calls reproduce the fault, also in a lane of workers.
#[test]
fn a_plan_of_the_last_depth_is_shown_by_two_calls() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lying(dir.path(), "gemmlowp-reference", &json!({"since": {"changed": "k"}}));
    let arguments = ["--lane=host-worker", "--op=matmul", "--kernel=gemmlowp-reference", "--effort=quick"];
    let run = verify_in(&file, &arguments).exits(1);
    let ledger = run.ledger();
    let finding = about(&ledger, "gemmlowp-reference")[0];
    assert_eq!(finding["class"], "depends-on-history", "{}", run.printed());
    assert_eq!(command(finding).matches("--case").count(), 2, "{}", command(finding));
    let because = finding["witness"]["because"].as_str().expect("text");
    assert!(because.starts_with("alone, in a fresh worker, this case is right; it differs after 1 call"), "{because}");
}

/// Fault at a call outside the plan, where the same input is repeated.
#[test]
fn a_fault_of_a_later_call_with_the_same_input_is_seen() {
    let arguments = ["--lane=host-worker", "--op=matmul", "--kernel=x86-vnni", "--effort=quick"];
    let dir = tempfile::tempdir().expect("a temporary directory");
    let sound = lanes_with(dir.path(), "host-worker", &worker("host-worker"));
    let run = verify_in(&sound, &arguments).exits(0);
    let calls = |run: &Run| items(&run.ledger(), "rows").iter().find_map(|row| row["calls"].as_u64()).expect("calls");
    let ledger = run.ledger();
    let kept = &items(&ledger, "catalogue")[0];
    let taken = kept["cases"].as_u64().expect("a number") - kept["not_taken"].as_u64().expect("a number");
    // Order of calls: the catalogue, the plan, and four equal calls. The third of the equal calls has the fault.
    let last = taken + calls(&run) - 1;
    let file = lying(dir.path(), "x86-vnni", &json!({"batches": [last, last]}));
    let run = verify_in(&file, &arguments).exits(1);
    let ledger = run.ledger();
    let [finding] = about(&ledger, "x86-vnni")[..] else { panic!("not one finding\n{}", run.printed()) };
    assert_eq!(finding["class"], "depends-on-history");
    let message = finding["message"].as_str().expect("text");
    assert!(message.starts_with("gives other results for the same input: call "), "{message}");
}
