//! Edited counts with recomputed sums, which `merge` and `census --resume` reject: `pairs_differ` could once be 999999 of 500 pairs.

use crate::common::Run;
use crate::spaces::{bytes, merge, plan, reference, run, some};
use std::path::{Path, PathBuf};
use tiebreak_reports::space::{Accumulators, Ledger, Line, Sums, render};

fn ledger(path: &Path) -> Ledger {
    Ledger::parse(&String::from_utf8(bytes(path)).expect("UTF-8")).expect("a ledger")
}

/// Writes the ledger with the sums of one chunk changed, and the sums of its shift and of the total recomputed.
fn edited(of: &Ledger, at: usize, out: &Path, change: impl Fn(&mut Sums)) -> PathBuf {
    let mut ledger = of.clone();
    change(&mut ledger.chunks[at].sums);
    std::fs::write(out, ledger.render()).expect("it can be written");
    out.to_owned()
}

/// Writes the edited ledger as the file of a run that was interrupted after the chunk.
fn begun(of: &Ledger, at: usize, out: &Path, change: impl Fn(&mut Sums)) {
    let mut ledger = of.clone();
    change(&mut ledger.chunks[at].sums);
    let chunks = ledger.chunks.into_iter().take(at + 1).map(Line::Chunk);
    let text: String = [Line::Plan(ledger.plan)].into_iter().chain(chunks).map(|line| render(&line)).collect();
    std::fs::write(out, text).expect("it can be written");
}

#[track_caller]
fn refused(run: Run, words: &[&str]) {
    let run = run.exits(2);
    assert_eq!(run.stdout, "", "{}", run.printed());
    words.iter().for_each(|word| assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed()));
}

type Change = fn(&mut Sums);

/// Changes the delta of one input, which neither ranges nor named pairs reveal.
fn one_further(sums: &mut Sums) {
    sums.by_delta.values_mut().for_each(|count| count.0 -= 1);
    sums.by_delta.insert("2".to_owned(), Accumulators(1));
}

/// Changes with their error messages: beyond the possible counts, of a pair that the chunk names, and of another pair.
const CHANGES: [(Change, &[&str]); 5] = [
    (|s| s.pairs_differ = 999_999, &["do not add up", "shift -9, multipliers 1073742000..1073742499"]),
    (|s| s.out_of_domain.0 = 1, &["do not add up"]),
    (|s| s.first.as_mut().expect("it differs").x += 1, &["first {", "counted again {"]),
    (|s| s.most.as_mut().expect("it differs").differ -= 1, &["most {", "counted again {"]),
    (one_further, &["shift -9, multipliers 1073742000..1073742499: by_delta", "counted again"]),
];

#[test]
fn edited_counts_with_sums_made_anew_are_not_merged() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let sound = ledger(&reference(dir.path()));
    let out = dir.path().join("merged");
    for (change, words) in CHANGES {
        let file = edited(&sound, 1, &dir.path().join("edited"), change);
        refused(merge(&out, &[file]), &[&["edited"][..], words].concat());
        assert!(!out.exists());
    }
    let again = merge(&out, &[dir.path().join("reference.jsonl")]).exits(0);
    assert!(again.stderr.contains("counted again: 30 of 30 chunks"), "{}", again.printed());
    assert_eq!(ledger(&out), Ledger { plan: plan(), ..sound });
}

#[test]
fn edited_counts_are_not_gone_on_with() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let sound = ledger(&reference(dir.path()));
    for (i, (change, words)) in CHANGES.into_iter().enumerate() {
        let out = dir.path().join(format!("run-{i}"));
        begun(&sound, 1, &out, change);
        refused(run(&some(&out, &["--resume"])), &[&["cannot be resumed", "--out"][..], words].concat());
        // The complete ledger as output file is checked in the same way.
        edited(&sound, 1, &out, change);
        refused(run(&some(&out, &["--resume"])), words);
    }
    let out = dir.path().join("sound");
    begun(&sound, 1, &out, |_| ());
    let described = run(&some(&out, &["--resume"])).exits(0);
    assert!(described.stderr.contains("counted again: 2 of 2 chunks"), "{}", described.printed());
    assert_eq!(ledger(&out), sound);
}

/// T.8: a ledger or journal of an unknown space was taken for one of `q31`.
#[test]
fn an_unknown_space_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut sound = ledger(&reference(dir.path()));
    sound.plan.space = "q15".to_owned();
    let file = edited(&sound, 0, &dir.path().join("edited"), |_| ());
    let said = ["edited", "the space is `q15`", "`q31`"];
    refused(merge(&dir.path().join("merged"), &[file]), &said);
}

/// Among many chunks, some are counted again, and with `--verify-all` all, so that every edit is noticed.
#[test]
fn of_many_chunks_some_are_counted_again_and_all_where_that_is_asked_for() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("many");
    let path = out.to_str().expect("UTF-8").to_owned();
    let asked = |more: &[&str]| {
        let fixed =
            ["census", "--space=q31", "--commit=test", "--left=ties-up", "--right=sqrdmulh-srshl", "--out", &path];
        let some = ["--shift=-9", "--multipliers=1395000320..1398145023", "--chunk=16384"];
        run(&[&fixed, &some[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    asked(&[]).exits(0);
    let resumed = asked(&["--resume"]).exits(0);
    assert!(resumed.stderr.contains("counted again: 64 of 192 chunks"), "{}", resumed.printed());
    assert!(resumed.stderr.contains("--verify-all counts all of them"), "{}", resumed.printed());
    let all = asked(&["--resume", "--verify-all"]).exits(0);
    assert!(
        all.stderr.contains("counted again: 192 of 192 chunks that were read, with the same sums\n"),
        "{}",
        all.printed()
    );
    let sound = ledger(&out);
    // Some of the edited chunks are not counted again.
    let merged = |at: usize, more: &[&str]| {
        let file = edited(&sound, at, &dir.path().join("edited"), one_further);
        let [file, out] = [file, dir.path().join("merged")].map(|path| path.to_str().expect("UTF-8").to_owned());
        let _ = std::fs::remove_file(&out);
        let words = [&["merge", &file, "--out", &out], more].concat();
        run(&words.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let noticed: Vec<bool> = (0..12).map(|i| merged(i * 16, &[]).code == 2).collect();
    assert!(noticed.contains(&true) && noticed.contains(&false), "{noticed:?}");
    let missed = noticed.iter().position(|noticed| !noticed).expect("one") * 16;
    refused(merged(missed, &["--verify-all"]), &["by_delta", "counted again"]);
}
