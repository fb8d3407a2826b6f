//! `census --space` and `merge`: one ledger, whoever counts it and however often it is interrupted.

use crate::common::{Run, ended, program, tiebreak};
use serde_json::Value;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tiebreak_oracle::census::{Census, Counts};
use tiebreak_oracle::fpm::scheme::Definition;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::space::{Chunk, Ledger, Place, Plan};
use tiebreak_suites::space::{self, Part, Request, count, journal};

/// A piece of the space with an end of each kind of chunk: whole ones, parts of one, and the first multiplier.
const SOME: [&str; 4] =
    ["--left=ties-up", "--right=sqrdmulh-srshl", "--shift=-9..-7", "--multipliers=1073741824..1073746000"];
const CHUNK: &str = "--chunk=500";

fn some(out: &Path, more: &[&str]) -> Vec<String> {
    let fixed = ["census", "--space=q31", "--commit=test", CHUNK, "--out"];
    let out = [out.to_str().expect("UTF-8")];
    [&fixed[..], &out, &SOME, more].concat().into_iter().map(str::to_owned).collect()
}

fn run(arguments: &[String]) -> Run {
    tiebreak(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn merge(out: &Path, files: &[PathBuf]) -> Run {
    let files = files.iter().chain([&out.to_owned()]).map(|f| f.to_str().expect("UTF-8"));
    let mut arguments: Vec<&str> = ["merge", "--format=json"].into_iter().chain(files).collect();
    let last = arguments.len() - 1;
    arguments.insert(last, "--out");
    tiebreak(&arguments)
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The same counted at once, with one thread.
fn reference(dir: &Path) -> PathBuf {
    let out = dir.join("reference.jsonl");
    run(&some(&out, &["--jobs=1"])).exits(0);
    out
}

#[test]
fn one_ledger_whatever_the_threads_and_shards() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    let expected = bytes(&reference(dir.path()));
    run(&some(&at("two"), &["--jobs=2"])).exits(0);
    assert!(bytes(&at("two")) == expected, "two threads");
    for of in [1, 3, 7] {
        let shards: Vec<PathBuf> = (1..=of).rev().map(|i| at(&format!("{i}-of-{of}"))).collect();
        for (i, out) in (1..=of).rev().zip(&shards) {
            run(&some(out, &[&format!("--shard={i}/{of}"), &format!("--jobs={}", 1 + i % 2)])).exits(0);
            assert!(!journal::path(out).exists());
        }
        let merged = at(&format!("merged-{of}"));
        merge(&merged, &shards).exits(0);
        assert!(bytes(&merged) == expected, "{of} shards");
    }
}

#[test]
fn what_is_printed_is_what_is_written() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("ledger");
    let json = run(&some(&out, &["--format=json"])).exits(0);
    let text = String::from_utf8(bytes(&out)).expect("UTF-8");
    let sums: String = text.split_inclusive('\n').filter(|line| !line.starts_with("{\"chunk\"")).collect();
    assert_eq!(json.stdout, sums);
    assert!(
        json.stderr.contains("12,531 pairs in ") && json.stderr.contains("pairs a second a thread"),
        "{}",
        json.told()
    );
    let csv = run(&some(&out, &["--format=csv", "--resume"])).exits(0);
    assert!(csv.stderr.contains("everything was counted before"), "{}", csv.told());
    let total: Value = serde_json::from_str(text.lines().last().expect("a total")).expect("JSON");
    let row = csv.stdout.lines().last().expect("a total").to_owned();
    assert!(
        row.starts_with(&format!(
            "ties-up,sqrdmulh-srshl,all,12531,12531,{},0,",
            total["total"]["inputs"].as_str().expect("a text")
        )),
        "{row}"
    );
    let table = run(&some(&out, &["--resume"])).exits(0).stdout;
    assert!(table.contains(" -7 ") && table.contains("m=1073741824 x=127: 0, 1"), "{table}");
}

/// Whole lines of a journal.
fn lines(path: &Path) -> usize {
    std::fs::read(path).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
}

/// Killed without warning five times, once before it has done anything and then behind some chunks, it loses no chunk that it
/// wrote down, counts none twice, and ends with the ledger of one that was left alone.
#[test]
fn killed_five_times_at_random() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    let asked = |name: &str| {
        let whole = ["--shift=-16..-2", "--multipliers=1395000000..1395131071", "--jobs=2"];
        let mut arguments: Vec<String> =
            ["census", "--space=q31", "--commit=test", "--chunk=4096", "--left=ties-up", "--right=gemmlowp-double"]
                .map(str::to_owned)
                .into();
        arguments.extend(whole.map(str::to_owned));
        arguments.extend(["--out".to_owned(), at(name).to_string_lossy().into_owned()]);
        arguments
    };
    run(&asked("alone")).exits(0);
    let journal = journal::path(&at("killed"));
    let total = bytes(&at("alone")).split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{\"chunk\"")).count();
    for attempt in 0..5u64 {
        let random = RandomState::new().hash_one(attempt);
        let before = lines(&journal);
        let mut command = program();
        command.args(asked("killed")).arg("--resume").stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("tiebreak starts");
        let wanted = if attempt == 0 { 0 } else { before + 1 + random as usize % (total / 12) };
        let begun = Instant::now();
        while lines(&journal) < wanted && begun.elapsed() < Duration::from_secs(60) {
            assert!(child.try_wait().expect("a child").is_none(), "attempt {attempt}: it ended before it was killed");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random % 20_000));
        assert!(child.try_wait().expect("a child").is_none(), "attempt {attempt}: it ended before it was killed");
        child.kill().expect("it can be killed");
        child.wait().expect("it is dead");
        assert!(lines(&journal) >= before.max(wanted), "attempt {attempt}: lines were lost");
        println!("attempt {attempt}: {} of {total} chunks", lines(&journal).saturating_sub(1));
    }
    let left = total - lines(&journal).saturating_sub(1);
    assert!((1..total).contains(&left), "{left}");
    let last = run(&[asked("killed"), vec!["--resume".to_owned()]].concat()).exits(0);
    // Chunks that begin on multiples of 4096 are whole but for the first and the last of a shift.
    let counted: usize = last.stderr.split(' ').next().expect("a number").replace(',', "").parse().expect("a number");
    assert!(
        counted <= left * 4096 && counted + 2 * 15 * 4096 >= left * 4096,
        "{counted} for {left} chunks\n{}",
        last.told()
    );
    assert!(bytes(&at("killed")) == bytes(&at("alone")));
    assert!(!journal.exists());
}

/// The plan of [`SOME`].
fn plan() -> Plan {
    let scheme = |name| Scheme::parse(name).expect("a scheme");
    let part = Part {
        left: scheme("ties-up"),
        right: scheme("sqrdmulh-srshl"),
        shifts: [-9, -7],
        multipliers: [1_073_741_824, 1_073_746_000],
        chunk: 500,
        shard: None,
    };
    part.plan(Some("test".to_owned())).expect("it lies in the space")
}

/// A journal beside `out` with the first `n` chunks of the reference, left as by a run that ended.
fn begun(out: &Path, reference: &Path, n: usize) -> PathBuf {
    let text = String::from_utf8(bytes(reference)).expect("UTF-8");
    let ledger = Ledger::parse(&text).expect("a ledger");
    let (mut journal, done) = journal::Journal::open(out, &plan(), false).expect("a new journal");
    assert!(done.is_empty());
    ledger.chunks.iter().take(n).for_each(|chunk| journal.add(chunk).expect("it can be written"));
    journal::path(out)
}

/// Whatever part of the last line is there, it is dropped and nothing else; a line that is damaged before others is no such part.
#[test]
fn torn_and_damaged_lines() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let reference = reference(dir.path());
    let out = dir.path().join("torn");
    let file = begun(&out, &reference, 4);
    let whole = bytes(&file);
    let chunks = |bytes: &[u8]| journal::read(bytes).map(|read| read.map(|contents| contents.chunks.len()));
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("lines") + 1;
    let head = whole.iter().position(|byte| *byte == b'\n').expect("lines");
    assert_eq!(chunks(&whole).expect("whole"), Some(4));
    for end in last..whole.len() {
        assert_eq!(chunks(&whole[..end]).expect("torn"), Some(3), "{end}");
    }
    for end in 0..=head {
        assert_eq!(chunks(&whole[..end]).expect("torn"), None, "{end}");
    }
    for at in (head + 1..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        match chunks(&damaged) {
            Ok(found) => assert!(at >= last && found == Some(3), "{at}: {found:?}"),
            Err(e) => assert!(at < last && e.to_string().contains("is damaged"), "{at}: {e}"),
        }
    }
    std::fs::write(&file, &whole[..last + 20]).expect("it can be written");
    run(&some(&out, &["--resume"])).exits(0);
    assert!(bytes(&out) == bytes(&reference));
    // The same chunk twice.
    let twice = [&whole[..], &whole[last..]].concat();
    assert!(chunks(&twice).expect_err("twice").to_string().contains("counted twice"));
}

#[track_caller]
fn refused(run: Run, code: i32, words: &[&str]) {
    let run = run.exits(code);
    assert_eq!(run.stdout, "", "{}", run.told());
    for word in words {
        assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.told());
    }
}

#[test]
fn another_run_is_not_gone_on_with() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let reference = reference(dir.path());
    let out = dir.path().join("begun");
    let file = begun(&out, &reference, 4);
    let before = bytes(&file);
    refused(run(&some(&out, &[])), 2, &["begun.journal is there", "--resume", "--out"]);
    let resumed = |more: &[&str]| run(&some(&out, &[&["--resume"], more].concat()));
    let changed = |from: &str, to: &str| {
        let line = some(&out, &["--resume"]).into_iter().map(|a| if a == from { to.to_owned() } else { a });
        run(&line.collect::<Vec<_>>())
    };
    refused(
        changed("--commit=test", "--commit=other"),
        2,
        &["is of another run", "commit \"other\" is \"test\" there"],
    );
    refused(changed(SOME[1], "--right=ties-away"), 2, &["right \"ties-away\" is \"sqrdmulh-srshl\" there"]);
    refused(changed(SOME[2], "--shift=-9"), 2, &["shifts [-9,-9] is [-9,-7] there"]);
    refused(changed(CHUNK, "--chunk=501"), 2, &["chunk 501 is 500 there"]);
    refused(resumed(&["--shard=1/2"]), 2, &["shard 1/2 is none there"]);
    let held = journal::Journal::open(&out, &plan(), true).expect("it is the same plan");
    assert_eq!(held.1.len(), 4);
    refused(resumed(&[]), 2, &["begun.journal is in use by another process"]);
    drop(held);
    assert!(bytes(&file) == before, "what is refused is left alone");
    resumed(&[]).exits(0);
    assert!(bytes(&out) == bytes(&reference));
    refused(run(&some(&out, &[])), 2, &["begun is there", "--resume"]);
    refused(changed("--commit=test", "--commit=other"), 2, &["begun is of another run"]);
}

#[test]
fn merging_what_does_not_belong_together() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    let shard = |name: &str, more: &[&str]| {
        run(&some(&at(name), more)).exits(0);
        at(name)
    };
    let (one, two) = (shard("one", &["--shard=1/3"]), shard("two", &["--shard=2/3"]));
    let half = shard("half", &["--shard=1/2"]);
    let out = at("merged");
    refused(
        merge(&out, &[one.clone(), half]),
        2,
        &["half and", "overlap: both have shift -9, multipliers 1073741824..1073741999"],
    );
    refused(merge(&out, &[one.clone(), one.clone()]), 2, &["overlap"]);
    run(&some(&at("other"), &["--shard=2/3"]).into_iter().map(|a| a.replace("=test", "=other")).collect::<Vec<_>>())
        .exits(0);
    refused(merge(&out, &[one.clone(), at("other")]), 2, &["are not of one run", "commit \"other\" is \"test\" there"]);
    std::fs::write(
        at("edited"),
        String::from_utf8(bytes(&two)).expect("UTF-8").replacen("\"pairs_differ\":500", "\"pairs_differ\":499", 1),
    )
    .expect("it can be written");
    refused(merge(&out, &[one.clone(), at("edited")]), 2, &["edited", "is not what its plan and chunks make"]);
    let cut = bytes(&two);
    std::fs::write(at("cut"), &cut[..cut.len() / 2]).expect("it can be written");
    refused(merge(&out, &[one.clone(), at("cut")]), 2, &["cut is neither a ledger of a space nor a journal"]);
    refused(merge(&out, &[at("nowhere")]), 2, &["cannot read", "nowhere"]);
    refused(merge(&one, &[one.clone(), two.clone()]), 2, &["is there: name another file with --out"]);
    assert!(!out.exists());
}

/// What is missing is said with the commands that count it; these run, and then it is whole. A journal is as good as a ledger.
#[test]
fn merging_says_what_is_missing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let reference = reference(dir.path());
    let whole = dir.path().join("begun");
    let file = begun(&whole, &reference, 5);
    let out = dir.path().join("merged");
    let told = merge(&out, std::slice::from_ref(&file)).exits(1);
    assert!(
        told.stderr.contains("missing: 25 of 30 chunks") && told.stdout.is_empty() && !out.exists(),
        "{}",
        told.told()
    );
    let one = dir.path().join("one");
    run(&some(&one, &["--shard=2/3"])).exits(0);
    let told = merge(&out, std::slice::from_ref(&one)).exits(1);
    let commands: Vec<&str> = told.stderr.lines().filter_map(|line| line.strip_prefix("  cargo xtask ")).collect();
    assert_eq!(commands.len(), 2, "{}", told.told());
    let mut shards = vec![one];
    for command in commands {
        // Sources are called by a name of the test's, and the default place is in the directory of the run.
        let (command, place) = command.split_once(" --out ").expect("a place");
        let place = dir.path().join(place);
        let place = place.to_str().expect("UTF-8").to_owned();
        let words = command.split(' ').chain(["--commit=test", "--out", &place]);
        tiebreak(&words.collect::<Vec<_>>()).exits(0);
        shards.push(place.into());
    }
    merge(&out, &shards).exits(0);
    assert!(bytes(&out) == bytes(&reference));
}

/// The sums of a chunk from censuses of each pair alone.
fn alone(left: Scheme, right: Scheme, place: Place) -> (Counts, u64, Option<(u64, i32)>, Option<(i32, i64)>) {
    let (mut counts, mut differ, mut most, mut first) = (Counts::default(), 0, None, None);
    for m in place.from..=place.to {
        let census = Census::of(left, right, Parameters::q31(m, place.shift));
        let here = census.counts().expect("it folds");
        counts.add(&here, 1);
        differ += u64::from(here.differ() > 0);
        if here.differ() > most.map_or(0, |(differ, _)| differ) {
            most = Some((here.differ(), m));
        }
        first = first.or_else(|| Some((m, census.differing().expect("it folds").next()?)));
    }
    (counts, differ, most, first)
}

#[test]
fn sums_are_those_of_censuses_alone() {
    let names = [
        "sqrdmulh-srshl",
        "gemmlowp-double",
        "ties-even",
        "tosa-apply-scale-32-double",
        "xnnpack-rndnu",
        "tflite-int16-multiplier:wrap",
    ];
    for (right, shift) in names.into_iter().flat_map(|right| [0, -1, -7, -31].map(|s| (right, s))) {
        let scheme = |name| Scheme::parse(name).expect("a scheme");
        let (left, right) = (scheme("ties-up"), scheme(right));
        for from in [1 << 30, 0x4000_7FF0, i32::MAX - 40] {
            let place = Place { shift, from, to: from + 40 };
            let sums = count(left, right, place).expect("it folds");
            let (counts, differ, most, first) = alone(left, right, place);
            assert_eq!((sums.pairs, sums.pairs_differ), (41, differ), "{} {place:?}", right.label());
            assert_eq!((sums.inputs.0, sums.differ.0), (counts.inputs.into(), counts.differ().into()));
            assert_eq!(sums.inputs.0 + sums.out_of_domain.0, 41 << 32);
            let mut deltas: Vec<(String, u128)> = counts.by_delta().map(|(d, n)| (d.to_string(), n.into())).collect();
            deltas.extend((counts.far() > 0).then(|| ("other".to_owned(), counts.far().into())));
            deltas.sort();
            assert_eq!(sums.by_delta.into_iter().map(|(d, n)| (d, n.0)).collect::<Vec<_>>(), deltas);
            assert_eq!(sums.most.map(|m| (m.differ, m.multiplier)), most);
            assert_eq!(sums.first.map(|f| (f.multiplier, f.x)), first);
        }
    }
}

/// Every part is covered once, however it is cut and dealt.
#[test]
fn chunks_partition_the_space() {
    let plan = plan();
    let pairs: u64 = plan.places().map(|place| place.pairs()).sum();
    assert_eq!(pairs, 3 * 4177);
    for of in [1, 2, 5, 30] {
        let shard = |index| Plan { shard: Some(tiebreak_reports::space::Shard { index, of }), ..plan.clone() };
        let mut dealt: Vec<Place> = (1..=of).flat_map(|i| shard(i).places().collect::<Vec<_>>()).collect();
        dealt.sort_unstable();
        assert_eq!(dealt, plan.places().collect::<Vec<_>>());
    }
}

/// Ledgers add up in any order and grouping.
#[test]
fn sums_do_not_depend_on_their_order() {
    let scheme = |name| Scheme::parse(name).expect("a scheme");
    let places = [(-3, 1 << 30), (-2, i32::MAX - 7), (-3, 1 << 30 | 77), (0, 1_395_864_371)];
    let chunk = |(shift, from)| {
        let place = Place { shift, from, to: from + 7 };
        Chunk { place, sums: count(scheme("ties-up"), scheme("ties-away"), place).expect("it folds") }
    };
    let chunks: Vec<Chunk> = places.into_iter().map(chunk).collect();
    let forwards = Ledger::new(plan(), chunks.clone()).total();
    let mut backwards = chunks[3].sums.clone();
    let mut two = chunks[1].sums.clone();
    two.add(&chunks[0].sums);
    backwards.add(&chunks[2].sums);
    backwards.add(&two);
    assert_eq!(forwards, backwards);
    assert!(forwards.most.is_some_and(|m| m.multiplier == 1 << 30) && forwards.first.is_some_and(|f| f.shift == -3));
}

/// A shift in place of the multiply has no pieces; nothing is written.
#[test]
fn a_scheme_without_closed_form_is_refused() {
    const STEPS: &[(&str, Step)] = &[("shift", Step::PowerOfTwoShift)];
    static OTHER: Definition = Definition { name: "other", summary: "", source: "", steps: STEPS, fast: |_, _| None };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let left = Scheme::parse("ties-up").expect("a scheme");
    let request = Request {
        plan: plan(),
        left,
        right: Scheme { definition: &OTHER, ..left },
        out: dir.path().join("out"),
        resume: false,
        jobs: Some(1),
    };
    let told = space::run(&request).expect_err("it has no closed form").to_string();
    assert!(told.starts_with("other has no closed form at multiplier 1073741824, shift -9"), "{told}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn bad_calls() {
    let with = |more: &[&str]| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let fixed = ["census", "--left=ties-up", "--right=ties-even"];
        let output = program().args(fixed).args(more).current_dir(dir.path()).output().expect("tiebreak starts");
        assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0, "{more:?}");
        ended(output, dir)
    };
    let space = |more: &[&str]| with(&[&["--space=q31"], more].concat());
    refused(with(&["--space=q32"]), 2, &["q32", "--space", "q31"]);
    refused(with(&["--multiplier=1", "--shift=0", "--resume"]), 2, &["--space"]);
    refused(with(&["--multiplier=1", "--shift=0..1"]), 2, &["--shift A..B goes with --space"]);
    refused(space(&["--multiplier=1"]), 2, &["--multiplier", "cannot be used with"]);
    refused(space(&["--list=3"]), 2, &["--list", "cannot be used with"]);
    refused(space(&["--shard=0/3"]), 2, &["--shard", "there is no shard 0 of 3"]);
    refused(space(&["--shard=4/3"]), 2, &["there is no shard 4 of 3"]);
    refused(space(&["--shard=1"]), 2, &["--shard", "I/N"]);
    refused(
        space(&["--shard=9/9", "--shift=0", "--multipliers=1073741824..1073741830"]),
        2,
        &["has no chunk: there are 1"],
    );
    refused(space(&["--shift=1"]), 2, &["--shift 1..1: the space q31 has -31..0"]);
    refused(space(&["--shift=-40..0"]), 2, &["--shift", "-40 is not in -31..=31"]);
    refused(space(&["--shift=0..-3"]), 2, &["0 is above -3"]);
    refused(space(&["--shift=a..b"]), 2, &["`a` is no int32"]);
    refused(
        space(&["--multipliers=5..1073741830"]),
        2,
        &["--multipliers 5..1073741830: the space q31 has 1073741824..2147483647"],
    );
    refused(space(&["--chunk=0"]), 2, &["--chunk 0"]);
    refused(space(&["--chunk=1"]), 2, &["--chunk 1 makes 34359738368 chunks"]);
    refused(space(&["--jobs=0"]), 2, &["--jobs"]);
    refused(tiebreak(&["merge"]), 2, &["<FILE>"]);
}
