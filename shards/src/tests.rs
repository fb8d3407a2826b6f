use super::*;
use serde_json::json;
use std::sync::Mutex;

const PROGRAM: &str = "tiebreak";

fn plan(shard: &str, units: usize) -> Plan {
    Plan {
        format: Plan::FORMAT,
        command: "verify".to_owned(),
        arguments: vec!["--op".to_owned(), "mul".to_owned()],
        version: "1".to_owned(),
        sources: None,
        units: (0..units).map(|unit| format!("unit {unit}")).collect(),
        shard: shard.parse().expect("a shard"),
        context: json!({"lanes": 1}),
    }
}

fn square(units: &[usize], sink: Sink<'_>) -> Result<()> {
    units.iter().rev().try_for_each(|unit| sink(*unit, (unit * unit).to_string(), 0.5))
}

fn parts(out: &Path, of: u32, units: usize) -> Vec<Part> {
    let part = |index| {
        let plan = plan(&format!("{index}/{of}"), units);
        read(&plan.file(out)).expect("it can be read").expect("a shard")
    };
    (1..=of).map(part).collect()
}

fn gave(merged: Merged) -> Vec<String> {
    match merged {
        Merged::Whole(_, units) => units.into_iter().map(|unit| unit.gave).collect(),
        Merged::Missing { units, .. } => panic!("{units:?} are missing"),
    }
}

#[test]
fn the_whole_is_the_same_whatever_the_number_of_shards() {
    let whole: Vec<String> = (0..7).map(|unit: usize| (unit * unit).to_string()).collect();
    for of in [1, 2, 3, 7, 9] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for index in 1..=of {
            let plan = plan(&format!("{index}/{of}"), 7);
            let ran = run(&plan, dir.path(), false, square).expect("it runs");
            assert_eq!((ran.before, ran.now), (0, plan.own().count()));
        }
        let mut parts = parts(dir.path(), of, 7);
        parts.reverse();
        assert_eq!(gave(merge(parts, PROGRAM, |_, _| Vec::new()).expect("they go together")), whole, "{of}");
    }
}

#[test]
fn what_is_missing_or_there_twice_is_named_with_its_command() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().display().to_string();
    for shard in ["1/3", "3/3"] {
        run(&plan(shard, 7), dir.path(), false, square).expect("it runs");
    }
    let all = parts_of(dir.path(), &["1/3", "3/3"]);
    let Ok(Merged::Missing { units, commands }) = merge(all.clone(), PROGRAM, |_, _| Vec::new()) else {
        panic!("it is whole")
    };
    assert_eq!(units, ["unit 1", "unit 4"]);
    assert_eq!(commands, [format!("{PROGRAM} verify --op mul --shard 2/3 --out {out}")]);
    let twice = [all[0].clone(), all[0].clone()].to_vec();
    let error = merge(twice, PROGRAM, |_, _| Vec::new()).unwrap_err().to_string();
    assert!(error.contains("both have the unit `unit 0`") && error.contains("--shard 1/3 --out"), "{error}");
    let error =
        merge(all.clone(), PROGRAM, |_, _| vec!["lane host ran other code".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("lane host ran other code"), "{error}");
    let mut other = all;
    other[1].plan.version = "2".to_owned();
    let error = merge(other, PROGRAM, |_, _| Vec::new()).unwrap_err().to_string();
    assert!(error.contains("not of one run") && error.contains("version `2`, there `1`"), "{error}");
}

fn parts_of(out: &Path, shards: &[&str]) -> Vec<Part> {
    shards.iter().map(|shard| read(&plan(shard, 7).file(out)).expect("it can be read").expect("a shard")).collect()
}

#[test]
fn a_torn_line_is_run_again_and_nothing_is_counted_twice() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let plan = plan("1/2", 7);
    run(&plan, dir.path(), false, square).expect("it runs");
    let path = plan.file(dir.path());
    let text = std::fs::read_to_string(&path).expect("a file");
    let torn = &text[..text.len() - 9];
    std::fs::write(&path, torn).expect("a torn line");
    let seen = Mutex::new(Vec::new());
    let again = |units: &[usize], sink: Sink<'_>| {
        seen.lock().expect("one thread").extend_from_slice(units);
        square(units, sink)
    };
    assert!(run(&plan, dir.path(), false, square).unwrap_err().to_string().contains("exists"));
    let ran = run(&plan, dir.path(), true, again).expect("it goes on");
    assert_eq!((ran.now, ran.before, &*seen.lock().expect("one thread")), (1, 3, &vec![0]));
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
    let ran = run(&plan, dir.path(), true, |_, _| panic!("nothing is left")).expect("it has ended");
    assert_eq!(ran, Ran { now: 0, before: 4 });
}

#[test]
fn a_file_of_another_run_is_left_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    run(&plan("1/2", 7), dir.path(), false, square).expect("it runs");
    let other = Plan { arguments: Vec::new(), ..plan("1/2", 7) };
    let error = run(&other, dir.path(), true, square).unwrap_err().to_string();
    assert!(error.contains("belongs to another run: arguments"), "{error}");
}

#[test]
fn damage_is_named_by_its_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let plan = plan("1/2", 7);
    run(&plan, dir.path(), false, square).expect("it runs");
    let path = plan.file(dir.path());
    let text = std::fs::read_to_string(&path).expect("a file");
    for (from, to, says) in [
        ("\"gave\":\"4\"", "\"gave\":\"4\",", "line 4 is damaged"),
        ("unit 6\",\"sec", "unit 4\",\"sec", "there twice"),
    ] {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text);
        std::fs::write(&path, edited).expect("a file");
        let error = format!("{:#}", read(&path).unwrap_err());
        assert!(error.contains(says) || error.contains("is damaged"), "{error}");
    }
}

#[test]
fn arguments_of_a_shard_are_those_of_the_run() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let given = "--op mul --shard 1/2 --jobs=3 --seed 5 --resume --out=a --out b --output --shards=2";
    assert_eq!(without_shard(&words(given)), words("--op mul --seed 5 --output --shards=2"));
}

#[test]
fn options_come_before_the_words_of_another_program() {
    let words = ["--runs", "5", "--", "-max_len=9"].map(str::to_owned).to_vec();
    assert_eq!(with_options(&words, vec!["--resume".to_owned()]).join(" "), "--runs 5 --resume -- -max_len=9");
    let plan = Plan { arguments: words, ..plan("1/2", 7) };
    assert_eq!(
        plan.line(PROGRAM, Path::new("out"), false),
        "tiebreak verify --runs 5 --shard 1/2 --out out -- -max_len=9"
    );
}
