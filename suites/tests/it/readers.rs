//! Foreign files: an endless file is rejected within its limit, where it was once read forever. Two columns of one name are rejected, where
//! `--params` once took the first.

use crate::bad_input::refused;
use crate::common::{GUARD, Run, tiebreak, verify};
use std::path::Path;
use std::time::Instant;

/// Call that reads one file.
struct Reader {
    name: &'static str,
    call: fn(&str) -> Run,
    limit: u64,
}

fn readers() -> [Reader; 8] {
    let reader = |name, limit, call| Reader { name, call, limit };
    [
        reader("verify --params", 1 << 26, |file| verify(&["--op=fpm", "--lane=host", "--params", file])),
        reader("census --params", 1 << 26, |file| {
            tiebreak(&["census", "--left=ties-up", "--right=ties-away", "--params", file])
        }),
        reader("fingerprint", 1 << 26, |file| tiebreak(&["fingerprint", "--observations", file])),
        reader("verify --lanes", 1 << 20, |file| tiebreak(&["verify", "--lanes", file])),
        reader("verify --model", 1 << 28, |file| verify(&["--op=conv2d", "--model", file])),
        reader("audit", 1 << 28, |file| tiebreak(&["audit", file])),
        reader("merge", 1 << 30, |file| tiebreak(&["merge", file])),
        reader("census --resume", 1 << 30, |file| {
            let space = ["census", "--space=q31", "--left=ties-up", "--right=ties-away", "--shift=-1", "--resume"];
            tiebreak(&[&space[..], &["--multipliers=1073741824..1073741840", "--out", file]].concat())
        }),
    ]
}

#[test]
fn what_has_no_end_is_refused() {
    for Reader { name, call, limit } in readers() {
        let begun = Instant::now();
        let run = call("/dev/zero");
        refused(&run, &["/dev/zero", &format!("larger than {limit} bytes"), "has no end"]);
        assert!(begun.elapsed() < GUARD, "{name} took {:?}", begun.elapsed());
    }
}

/// A pipe has no length to check.
#[test]
fn a_pipe_that_is_written_for_ever_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let pipe = dir.path().join("pipe");
    let path = pipe.to_str().expect("UTF-8");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
    assert!(made.success());
    let writer = {
        let pipe = pipe.clone();
        // The write fails when the reader closes its end.
        std::thread::spawn(move || {
            let mut file = std::fs::OpenOptions::new().write(true).open(pipe).expect("it can be opened");
            let lines = b"multiplier,shift\n".iter().chain(b"1,0\n".iter().cycle());
            let text: Vec<u8> = lines.copied().take(1 << 16).collect();
            let again = &text[text.len() - (1 << 15)..];
            let mut written = std::io::Write::write_all(&mut file, &text);
            while written.is_ok() {
                written = std::io::Write::write_all(&mut file, again);
            }
        })
    };
    refused(&verify(&["--op=fpm", "--lane=host", "--params", path]), &[path, "larger than 67108864 bytes"]);
    writer.join().expect("it ends");
}

fn with_file(text: &str, call: impl Fn(&str) -> Run) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("table.csv");
    std::fs::write(&path, text).expect("it can be written");
    call(path.to_str().expect("UTF-8"))
}

#[test]
fn two_columns_of_one_name_are_refused_everywhere() {
    let twice = "name,multiplier,shift,multiplier\na,1395864371,-8,1\n";
    for Reader { name, call, .. } in readers().into_iter().take(2) {
        let run = with_file(twice, call);
        assert_eq!(run.code, 2, "{name}: {}", run.printed());
        refused(&run, &["table.csv has two columns `multiplier`"]);
        // An unused column is checked, too, because either of the two could be meant.
        refused(&with_file("shift,a,multiplier,a\n-8,1,1395864371,2\n", call), &["two columns `a`"]);
    }
    let observed = "x,observed,multiplier,shift,shift\n1,1,1395864371,-8,0\n";
    let run = with_file(observed, |file| tiebreak(&["fingerprint", "--observations", file]));
    refused(&run, &["table.csv has two columns `shift`"]);
    // Empty columns that a spreadsheet adds at the end have no name.
    let unnamed = "multiplier,shift,,\n1395864371,-8,,\n";
    let census = |file: &str| tiebreak(&["census", "--left=ties-up", "--right=ties-away", "--params", file]);
    with_file(unnamed, census).exits(0);
}

/// Each observation has separate parameters. A search of each setting among all others once took minutes.
#[test]
fn many_settings_are_told_apart_at_once() {
    let rows = (0..200_000).map(|i| format!("{i},0,{},-8\n", 1_073_741_824 + i));
    let text = "x,observed,multiplier,shift\n".to_owned() + &rows.collect::<String>();
    let begun = Instant::now();
    let read = tiebreak_suites::fingerprint::observations::parse(Path::new("many.csv"), text.as_bytes());
    let read = read.expect("observations");
    assert_eq!((read.settings.len(), read.rows.len()), (200_000, 200_000));
    assert!(begun.elapsed() < GUARD, "{:?}", begun.elapsed());
}
