//! `check-worker` names the first problem of a worker, and finds none in correct workers.

use crate::caller_lanes::python;
use crate::common::*;
use std::fs;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for a silent worker, plus the time to start two programs on a busy machine.
const LIMIT: Duration = Duration::from_secs(5 + 10);

/// Checks a worker, and returns the output.
#[track_caller]
fn checked(command: &[String], code: i32) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let run = tiebreak(&[&["check-worker"], &words[..]].concat()).exits(code);
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    run.stdout
}

/// Returns the problem of the documentation's worker with some text replaced.
#[track_caller]
fn problem(changes: &[(&str, &str)]) -> String {
    let dir = TempDir::new().expect("a temporary directory");
    // Output is buffered until a flush.
    let buffered = ["env", "-u", "PYTHONUNBUFFERED"].map(str::to_owned);
    checked(&[&buffered[..], &python(dir.path(), changes)].concat(), 1)
}

#[test]
fn a_worker_that_speaks_the_protocol_has_no_problem() {
    let dir = TempDir::new().expect("a temporary directory");
    let said = checked(&python(dir.path(), &[]), 0);
    assert!(said.starts_with("no problem found\n"), "{said}");
    assert!(
        said.contains("tflite-single: 5 results, in four batches") && said.contains("ended       with its input"),
        "{said}"
    );
    // Every operation is tried.
    let said = checked(&worker("host-worker"), 0);
    let is_asked = |op: &str| said.lines().any(|line| line.trim().starts_with(op) && line.contains(" results, "));
    assert!(tiebreak_suites::verify::OPS.iter().all(|op| is_asked(op)), "{said}");
    assert!(said.contains("not asked") && said.contains(", .."), "{said}");
    let requantize = [(r#""op": "fpm", "kernel": "tflite-single""#, r#""op": "requantize", "kernel": "mine""#)];
    let said = checked(&python(dir.path(), &requantize), 0);
    assert!(said.contains("mine: 5 results, in four batches"), "{said}");
    let outside = r#"answer({"answer": "failed", "reason": "not for such shifts", "kind": "outside-domain"})"#;
    let said = checked(&python(dir.path(), &[(DONE, outside)]), 0);
    assert!(said.contains("left out as outside its domain: not for such shifts"), "{said}");
}

/// End of a batch in the documentation's worker, and the loop over its requests.
const DONE: &str = r#"answer({"answer": "done", "bytes": 4 * count}, struct.pack("<%di" % count, *out))"#;
const LOOP: &str = "for line in sys.stdin.buffer:";

/// Returns another end of a batch.
fn packed(size: usize, format: &str) -> String {
    DONE.replace("4 * count", &format!("{size} * count")).replace("<%di", format)
}

#[test]
fn the_first_problem_is_named() {
    let (loops, done) = (LOOP, DONE);
    let flush = "    sys.stdout.buffer.flush()\n";
    let late = "    import time\n    time.sleep(60)\n";
    for (changes, words) in [
        // No greeting, or another text.
        (&[(r#""answer": "hello""#, r#""answer": "hi""#)][..], "the answer to `hello` is not one of the protocol: `{"),
        (
            &[(r#""protocol": 1"#, r#""protocol": 7"#)],
            "speaks protocol 7, and this program speaks 1; write \"protocol\":1",
        ),
        (&[(r#""kernels": [offer]"#, r#""kernels": []"#)], "offers no kernel"),
        (&[(r#""op": "fpm""#, r#""op": "fmp""#)], "operation `fmp`"),
        (
            &[(loops, "sys.exit(4)\nfor line in sys.stdin.buffer:")],
            "the worker ended (exit status: 4) before it answered `hello`",
        ),
        (&[(loops, "import time\ntime.sleep(60)\nfor line in sys.stdin.buffer:")], "no answer to `hello` within"),
        (&[(flush, "")], "no answer to `hello` within"),
        // Debugging lines.
        (&[(loops, "print('debug: 42', flush=True)\nfor line in sys.stdin.buffer:")], "`debug: 42` (expected value"),
        // A greeting, but no results in time.
        (
            &[("    count = request", &format!("{late}    count = request"))],
            "no answer to the first batch of fpm tflite-single within",
        ),
        // Lengths.
        (
            &[(r#""bytes": 4 * count"#, r#""bytes": 4 * count - 4"#)],
            "16 bytes were announced, and 5 results are 20 bytes",
        ),
        (&[(r#"count, *out)"#, r#"count, *out)[:-4]"#)], "20 bytes were announced, and 16 came"),
        (
            &[(r#"count, *out)"#, r#"count, *out) + b"more\n""#)],
            "the second batch of fpm tflite-single is not one of the protocol: `more`",
        ),
        // Types and byte order.
        (&[(done, &packed(1, "<%db"))], "5 bytes were announced, 1 for each result, and 5 results are 20 bytes"),
        (&[(done, &packed(2, "<%dh"))], "10 bytes were announced, 2 for each result"),
        (&[(done, &packed(8, "<%dq"))], "40 bytes were announced, 8 for each result"),
        (&[(done, &packed(4, ">%di"))], "its results are big-endian; write little-endian int32"),
        (&[(done, &packed(4, "<%df"))], "its results are float32; write int32"),
        (
            &[(r#"unpack("<%di""#, r#"unpack(">%di""#)],
            "it reads the inputs as big-endian; they are little-endian int32",
        ),
        (
            &[(r#"unpack("<%di""#, r#"unpack(">%di""#), (done, &packed(4, ">%di"))],
            "it reads the inputs as big-endian; they are little-endian int32",
        ),
        // Offer of another operation than fpm, without its code.
        (
            &[(
                r#""kernels": [offer]"#,
                r#""kernels": [offer, {"op": "matmul", "kernel": "mine", "scheme": "exact"}]"#,
            )],
            "before it answered the first batch of matmul mine",
        ),
        (
            &[(done, r#"answer({"answer": "failed", "reason": "to do"})"#)],
            "was answered by a failure: to do; answer what is offered, and a batch that the kernel is not meant for with \"kind\":\"outside-domain\"",
        ),
        // Only one batch, or another answer to the same batch.
        (&[(done, &format!("{done}\n    break"))], "before it answered the second batch of fpm tflite-single"),
        (
            &[
                ("import sys\n", "import sys\nimport random\n"),
                ("    return (result", "    return random.randrange(2**31) or (result"),
            ],
            "was asked the same twice and gave two answers",
        ),
        // Two batches in flight, answered in the wrong order.
        (&[(done, &reordered(done))], "20 bytes were announced, and 3 results are 12 bytes"),
        // The end.
        (
            &[(done, &format!("{done}\nelse:\n    import time\n    time.sleep(60)"))],
            "does not end at the end of its input",
        ),
        (&[(done, &format!("{done}\nelse:\n    sys.exit(3)"))], "with exit status: 3"),
        (&[(done, &format!("{done}\nelse:\n    print('bye')"))], "behind the last answer came `bye`"),
    ] {
        let said = problem(changes);
        assert!(said.starts_with("problem: ") && said.contains(words), "{changes:?}: {said}");
    }
}

/// Delays the answer with three results until the next answer.
fn reordered(done: &str) -> String {
    format!("if count == 3:\n        kept = out\n        continue\n    {done}")
}

#[test]
fn a_program_that_does_not_start_is_a_problem() {
    let dir = TempDir::new().expect("a temporary directory");
    let missing = dir.path().join("none").to_string_lossy().into_owned();
    let said = checked(&[missing], 1);
    assert!(said.contains("does not start: No such file") && said.contains("name a program that runs"), "{said}");
    tiebreak(&["check-worker"]).exits(2);
    // Processes that a worker leaves running end, too.
    let script = dir.path().join("worker.sh");
    let shell = |text: &str| {
        fs::write(&script, text).expect("written");
        checked(&["/bin/sh".to_owned(), script.to_string_lossy().into_owned()], 1)
    };
    let said = shell("sleep 300 &\nread -r hello\n");
    assert!(said.contains("`hello`"), "{said}");
    let said = shell("echo 'mylib 1.2 (AVX2)'\nread -r hello\n");
    assert!(said.contains("`mylib 1.2 (AVX2)`") && said.contains("standard error"), "{said}");
}
