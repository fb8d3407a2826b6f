//! `census --space` and `merge`: one ledger, for any counting process and any number of interruptions.

use crate::common::{Run, program, seed, tiebreak, wait_for};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tiebreak_oracle::census::{Census, Counts};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::space::{Chunk, Ledger, Place, Plan};
use tiebreak_suites::space::{Part, count};
use tiebreak_suites::stream::{below, stream};

/// Part of the space with an end of each kind of chunk: whole chunks, parts of a chunk, and the first multiplier.
pub(crate) const SOME: [&str; 4] =
    ["--left=ties-up", "--right=sqrdmulh-srshl", "--shift=-9..-7", "--multipliers=1073741824..1073746000"];
pub(crate) const CHUNK: &str = "--chunk=500";

pub(crate) fn some(out: &Path, more: &[&str]) -> Vec<String> {
    let fixed = ["census", "--space=q31", "--commit=test", CHUNK, "--out"];
    let out = [out.to_str().expect("UTF-8")];
    [&fixed[..], &out, &SOME, more].concat().into_iter().map(str::to_owned).collect()
}

pub(crate) fn run(arguments: &[String]) -> Run {
    tiebreak(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(crate) fn merge(out: &Path, files: &[PathBuf]) -> Run {
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let fixed = ["merge", "--format=json", "--out"].map(str::to_owned);
    run(&fixed.into_iter().chain([text(out)]).chain(files.iter().map(|file| text(file))).collect::<Vec<_>>())
}

pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Counts the part in one run, with one thread.
pub(crate) fn reference(dir: &Path) -> PathBuf {
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
    // A run this short prints no rate.
    assert!(json.stderr.contains("12,531 pairs in "), "{}", json.printed());
    let csv = run(&some(&out, &["--format=csv", "--resume"])).exits(0);
    assert!(csv.stderr.contains("everything was counted before"), "{}", csv.printed());
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

/// Counts the whole lines of the file of a run.
fn lines(path: &Path) -> usize {
    std::fs::read(path).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
}

/// A run that is killed without warning five times, once at its start and then after some chunks, loses no written chunk, counts none twice, and has
/// the same ledger as an undisturbed run.
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
    let journal = at("killed");
    let total = bytes(&at("alone")).split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{\"chunk\"")).count();
    let mut rng = stream(seed(), "when the process is killed");
    for attempt in 0..5 {
        let before = lines(&journal);
        let mut command = program();
        command.args(asked("killed")).arg("--resume").stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("tiebreak starts");
        let wanted = if attempt == 0 { 0 } else { before + 1 + below(&mut rng, total as u32 / 12) as usize };
        wait_for("it has counted that much", || {
            assert!(child.try_wait().expect("a child").is_none(), "attempt {attempt}: it ended before it was killed");
            (lines(&journal) >= wanted).then_some(())
        });
        std::thread::sleep(Duration::from_micros(below(&mut rng, 20_000).into()));
        assert!(child.try_wait().expect("a child").is_none(), "attempt {attempt}: it ended before it was killed");
        child.kill().expect("it can be killed");
        child.wait().expect("it is dead");
        assert!(lines(&journal) >= before.max(wanted), "attempt {attempt}: lines were lost");
        println!("attempt {attempt}: {} of {total} chunks", lines(&journal).saturating_sub(1));
    }
    let left = total - lines(&journal).saturating_sub(1);
    assert!((1..total).contains(&left), "{left}");
    let last = run(&[asked("killed"), vec!["--resume".to_owned()]].concat()).exits(0);
    // Chunks begin at multiples of 4096, and are whole except for the first and the last of a shift.
    let counted: usize = last.stderr.split(' ').next().expect("a number").replace(',', "").parse().expect("a number");
    assert!(
        counted <= left * 4096 && counted + 2 * 15 * 4096 >= left * 4096,
        "{counted} for {left} chunks\n{}",
        last.printed()
    );
    assert!(bytes(&at("killed")) == bytes(&at("alone")));
}

/// Returns the plan of [`SOME`].
pub(crate) fn plan() -> Plan {
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

/// Counts, number of pairs that differ, largest difference with its multiplier, first multiplier with its accumulator.
type Found = (Counts, u64, Option<(u64, i32)>, Option<(i32, i64)>);

/// Returns the sums of a chunk from a separate census of each pair.
fn alone(left: Scheme, right: Scheme, place: Place) -> Found {
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

/// Every part is covered once, for any chunks and shards.
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

/// If there are more shards than chunks, some are empty: they succeed, and change nothing.
#[test]
fn shards_without_a_chunk_are_empty() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    let one = |out: &Path, more: &[&str]| {
        let fixed =
            ["census", "--space=q31", "--commit=test", "--left=ties-up", "--right=sqrdmulh-srshl", "--shift=-8"];
        let some = ["--multipliers=1073741824..1073742000", "--out", out.to_str().expect("UTF-8")];
        run(&[&fixed[..], &some, more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()).exits(0)
    };
    one(&at("whole"), &[]);
    let shards: Vec<PathBuf> = (1..=3).map(|i| at(&format!("shard-{i}"))).collect();
    for (i, out) in shards.iter().enumerate() {
        one(out, &[&format!("--shard={}/3", i + 1)]);
    }
    one(&shards[2], &["--shard=3/3", "--resume"]);
    merge(&at("merged"), &shards).exits(0);
    assert!(bytes(&at("merged")) == bytes(&at("whole")));
}
