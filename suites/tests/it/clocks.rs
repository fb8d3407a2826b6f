//! T.11: settings that differ between machines: a clock at year 322,000 caused a panic, and one number of threads an endless run.

use crate::common::*;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[path = "../../src/cli/date.rs"]
mod date;

#[test]
fn a_clock_may_say_anything() {
    let at = |seconds| date::of(UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!(at(0), "1970-01-01T00:00:00Z");
    assert_eq!(at(1_795_564_800), "2026-11-25T00:00:00Z");
    assert_eq!(at(253_402_300_799), "9999-12-31T23:59:59Z");
    assert_eq!(date::of(UNIX_EPOCH - Duration::from_secs(1)), "1969-12-31T23:59:59Z");
    let year_322_000 = 10_099_000_000_000;
    for seconds in [253_402_300_800, year_322_000, i64::MAX as u64] {
        let time: Option<SystemTime> = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let said = date::of(time.expect("the system has that time"));
        assert_eq!(said, format!("not known: the clock says {seconds} s after 1970-01-01T00:00:00Z"));
    }
}

#[test]
fn a_number_of_threads_that_no_machine_starts_is_refused() {
    for (threads, code) in [("100000", 2), ("1025", 2), ("18446744073709551615", 2), ("2", 0), ("0", 0), ("many", 0)] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut command = program();
        command
            .args(["verify", "--lane=host", "--op=transform", "--effort=quick", "--out"])
            .arg(dir.path().join("out"));
        let output = command.env("RAYON_NUM_THREADS", threads).current_dir(dir.path()).output().expect("it starts");
        let run = ended(output, dir).exits(code);
        if code == 2 {
            let said = format!("RAYON_NUM_THREADS={threads} asks for more than 1024 threads");
            assert!(run.stderr.contains(&said), "{}", run.printed());
            assert_eq!(run.ledger()["verdict"], "unfinished");
        }
    }
    let other = program().args(["schemes"]).env("RAYON_NUM_THREADS", "100000").output().expect("it starts");
    assert_eq!(other.status.code(), Some(2));
}
