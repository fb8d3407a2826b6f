//! `check-worker` names the first problem of a worker, and finds none in workers that speak the protocol.

use crate::caller_lanes::python;
use crate::common::*;
use std::fs;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What is promised of a worker that is silent, and time to start two programs on a busy machine.
const LIMIT: Duration = Duration::from_secs(5 + 5);

/// Checks a worker, whose first line of output is returned.
#[track_caller]
fn checked(command: &[String], code: i32) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let run = tiebreak(&[&["check-worker"], &words[..]].concat()).exits(code);
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    run.stdout
}

/// The problem of the worker of the documentation with something replaced.
#[track_caller]
fn problem(changes: &[(&str, &str)]) -> String {
    let dir = TempDir::new().expect("a temporary directory");
    checked(&python(dir.path(), changes), 1)
}

#[test]
fn a_worker_that_speaks_the_protocol_has_no_problem() {
    let dir = TempDir::new().expect("a temporary directory");
    for command in [python(dir.path(), &[]), worker("host-worker")] {
        let said = checked(&command, 0);
        assert!(said.starts_with("no problem found: ") && said.contains("was asked four batches"), "{said}");
    }
    let requantize = [(r#""op": "fpm", "kernel": "tflite-single""#, r#""op": "requantize", "kernel": "mine""#)];
    let said = checked(&python(dir.path(), &requantize), 0);
    assert!(said.contains("mine was asked four batches"), "{said}");
    let other = [(r#""op": "fpm""#, r#""op": "matmul""#)];
    let said = checked(&python(dir.path(), &other), 0);
    assert!(said.contains("no kernel of fpm or requantize is offered, so no batch was asked"), "{said}");
}

#[test]
fn the_first_problem_is_named() {
    let loops = "for line in sys.stdin.buffer:";
    let done = r#"answer({"answer": "done", "bytes": 4 * count}, struct.pack("<%di" % count, *out))"#;
    let flush = "    sys.stdout.buffer.flush()\n";
    for (changes, words) in [
        // No greeting, and another.
        (&[(r#""answer": "hello""#, r#""answer": "hi""#)][..], "the answer to `hello` is not one of the protocol: `{"),
        (&[(r#""protocol": 1"#, r#""protocol": 7"#)], "speaks protocol 7; this program speaks 1"),
        (&[(r#""kernels": [offer]"#, r#""kernels": []"#)], "offers no kernel"),
        (&[(loops, "sys.exit(0)\nfor line in sys.stdin.buffer:")], "the worker ended before it answered `hello`"),
        (&[(loops, "import time\ntime.sleep(60)\nfor line in sys.stdin.buffer:")], "no answer to `hello` within"),
        (&[(flush, "")], "no answer to `hello` within"),
        // Debugging lines.
        (&[(loops, "print('debug: 42', flush=True)\nfor line in sys.stdin.buffer:")], "`debug: 42` (expected value"),
        // Lengths.
        (
            &[(r#""bytes": 4 * count"#, r#""bytes": 4 * count - 4"#)],
            "16 bytes were announced, and 5 results are 20 bytes",
        ),
        (&[(r#"count, *out)"#, r#"count, *out)[:-4]"#)], "20 bytes were announced, and 16 came"),
        (
            &[(r#"count, *out)"#, r#"count, *out) + b"more\n""#)],
            "the second batch of tflite-single is not one of the protocol: `more`",
        ),
        // One batch and no more, or another answer to it.
        (&[(done, &format!("{done}\n    break"))], "the worker ended before it answered the second batch"),
        (
            &[
                ("import sys\n", "import sys\nimport random\n"),
                ("    return (result", "    return random.randrange(2**31) or (result"),
            ],
            "was asked twice",
        ),
        // Two in flight, in another order.
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

/// Keeps the answer of three results until the next has been written.
fn reordered(done: &str) -> String {
    format!("if count == 3:\n        kept = out\n        continue\n    {done}")
}

#[test]
fn a_program_that_does_not_start_is_a_wrong_call() {
    let dir = TempDir::new().expect("a temporary directory");
    let missing = dir.path().join("none").to_string_lossy().into_owned();
    let run = tiebreak(&["check-worker", &missing]).exits(2);
    assert!(
        run.stderr.contains("cannot start `") && run.stderr.contains("name a program that runs"),
        "{}",
        run.printed()
    );
    tiebreak(&["check-worker"]).exits(2);
    // What a worker left running ends too.
    let script = dir.path().join("worker.sh");
    fs::write(&script, "sleep 300 &\nread -r hello\n").expect("written");
    let said = checked(&["/bin/sh".to_owned(), script.to_string_lossy().into_owned()], 1);
    assert!(said.contains("`hello`"), "{said}");
}
