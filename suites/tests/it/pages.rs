//! `report`: the page of a run, made only from its ledger, and the numbers of its figures, checked with big numbers.

use crate::common::*;
use serde_json::Value;
use std::collections::BTreeMap;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::{Parameters, Scheme, exact};
use tiebreak_reports::ledger::Ledger;
use tiebreak_reports::text::case;
use tiebreak_suites::engine::case::text;
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::verify::{Visitor, visit_tensors};

fn figure<'a>(ledger: &'a Value, kind: &str) -> &'a Value {
    items(ledger, "figures").iter().find(|figure| figure["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// Returns the rows of a figure, each with its values by column.
fn rows<'a>(figure: &'a Value) -> Vec<Vec<(&'a str, &'a Value)>> {
    let columns: Vec<&str> = items(figure, "columns").iter().map(|c| c["name"].as_str().expect("a name")).collect();
    let row = |row: &'a Value| columns.iter().copied().zip(row.as_array().expect("a row")).collect();
    items(figure, "rows").iter().map(row).collect()
}

fn of<'a>(row: &[(&str, &'a Value)], column: &str) -> &'a Value {
    row.iter().find(|(name, _)| *name == column).unwrap_or_else(|| panic!("no {column}")).1
}

fn int(row: &[(&str, &Value)], column: &str) -> i64 {
    of(row, column).as_i64().unwrap_or_else(|| panic!("{column} is no integer"))
}

fn scheme(row: &[(&str, &Value)], column: &str) -> Scheme {
    Scheme::parse(of(row, column).as_str().expect("a name")).expect("a scheme")
}

/// Returns ten rows, equal in each run, from all parts of the figure.
fn ten<T>(all: &[T]) -> impl Iterator<Item = &T> {
    (0..10).map(|i| &all[(i * 7919 + 13) % all.len()])
}

/// Corner cases and errors of the page, checked in rationals; rates and counts along the line, checked by sweeps.
#[test]
fn figures_hold_against_big_numbers() {
    let run = verify(&["--op=fpm", "--lane=host", "--effort=quick"]).exits(0);
    let ledger = run.ledger();
    let reference = Scheme::parse("ties-up").expect("a scheme");
    let corners = figure(&ledger, "corner-cases");
    let corners = rows(corners);
    assert!(corners.len() > 200, "{}", corners.len());
    for row in ten(&corners) {
        let p = Parameters::q31(int(row, "m") as i32, int(row, "shift") as i32);
        let x = int(row, "x");
        let fraction: Rational = of(row, "exact").as_str().expect("a fraction").parse().expect("a fraction");
        assert_eq!(fraction, exact(x, &p), "{row:?}");
        let value =
            |scheme: &Scheme, x| scheme.definition.exact(scheme.overflow, x, &p).map(|v| v.to_i64().expect("a word"));
        let own = scheme(row, "scheme");
        assert_eq!(value(&reference, x), Some(int(row, "reference")), "{row:?}");
        assert_eq!(value(&own, x), Some(int(row, "result")), "{row:?}");
        let delta = int(row, "delta");
        assert_eq!(int(row, "result") - int(row, "reference"), delta, "{row:?}");
        let nearer = (1 - x.abs()..x.abs()).take(64);
        for x in nearer.filter(|x| value(&reference, *x).is_some()) {
            let apart = value(&own, x).zip(value(&reference, x)).map(|(own, reference)| own - reference);
            assert_ne!(apart, Some(delta), "x={x} is nearer: {row:?}");
        }
    }
    let page = run.file("report.html");
    let mut witnesses = 0;
    for witness in items(&ledger, "rows").iter().map(|row| &row["witness"]).filter(|witness| !witness.is_null()) {
        let [x, m, s] = ["x", "m", "s"].map(|name| witness["case"][name].as_i64().expect("an integer"));
        let scheme = Scheme::parse(witness["scheme"].as_str().expect("a name")).expect("a scheme");
        let q = witness["case"]["q"].as_i64().map_or(31, |q| q as u32);
        let exact =
            scheme.definition.exact(scheme.overflow, x, &Parameters { q, ..Parameters::q31(m as i32, s as i32) });
        assert_eq!(exact.and_then(|v| v.to_i64()), witness["expected"].as_i64(), "{witness}");
        assert!(page.contains(&format!("x={x} m={m} s={s}")), "{witness} is not on the page");
        witnesses += 1;
    }
    assert!(witnesses >= 10, "{witnesses}");
    for (column, value) in &corners[0] {
        let text = value.as_str().map_or(value.to_string(), str::to_owned);
        assert!(page.contains(&format!(">{text}<")), "{column}={text} is not on the page");
    }
    for row in rows(figure(&ledger, "error-around-tie")) {
        let p = Parameters::q31(1 << 30, -1);
        for (name, value) in &row[2..] {
            let scheme = Scheme::parse(name).expect("a scheme");
            let own = scheme.definition.exact(scheme.overflow, int(&row, "x"), &p).and_then(|v| v.to_i64());
            assert_eq!(own, value.as_i64(), "{name} {row:?}");
        }
    }
    let rates = rows(figure(&ledger, "rate-by-shift"));
    let known = |row: &&Vec<_>| int(row, "shift") == -8 && of(row, "scheme") == "sqrdmulh-srshl:wrap";
    // A sign with a rate above zero has a corner case, of the scheme or of its representative.
    let stands_for = |scheme: &Value| {
        let same = figure(&ledger, "corner-cases")["same"].as_object().expect("an object");
        let first = same.iter().find(|(_, rest)| rest.as_array().expect("a list").contains(scheme));
        first.map_or_else(|| scheme.clone(), |(first, _)| first.as_str().into())
    };
    for row in &rates {
        let scheme = stands_for(of(row, "scheme"));
        for (column, delta) in [("one_up", 1), ("one_down", -1)] {
            let mut at = corners.iter().filter(|c| *of(c, "scheme") == scheme && of(c, "shift") == of(row, "shift"));
            assert!(int(row, column) == 0 || at.any(|corner| int(corner, "delta") == delta), "{column} of {row:?}");
        }
    }
    let row = rates.iter().find(known).expect("a row");
    assert_eq!([int(row, "inputs"), int(row, "differ"), int(row, "one_up")], [1 << 32, 8_388_607, 8_388_607]);
    let line = rows(figure(&ledger, "delta-by-accumulator"));
    let part = line.iter().filter(|row| of(row, "scheme") == "sqrdmulh-srshl:wrap");
    assert_eq!(part.map(|row| int(row, "one_up")).sum::<i64>(), 8_388_607, "the parts are the whole");
}

/// The page drawn from the ledger equals the file of the run.
#[test]
fn a_page_is_drawn_again_from_its_ledger() {
    let run = verify(&["--op=quantize", "--kernel=mlir-qcast", "--lane=host", "--effort=quick"]).exits(0);
    let (dir, left) = (tempfile::tempdir().expect("a directory"), run.file("report.html"));
    let [out, of_run] = [dir.path(), &run.out()].map(|path| path.display().to_string());
    let drawn = tiebreak(&["report", &of_run, "--out", &out]).exits(0);
    let page = dir.path().join("report.html");
    assert_eq!(drawn.stdout.trim(), page.display().to_string());
    assert_eq!(std::fs::read_to_string(&page).expect("it is written"), left);
    assert!(run.stdout.contains("report.html"), "{}", run.printed());

    tiebreak(&["report", &of_run, &of_run, "--out", &out]).exits(0);
    let compared = std::fs::read_to_string(&page).expect("it is written");
    assert!(
        compared.contains("Equal: ") && compared.contains(" in 2 comparisons of "),
        "a second ledger is compared with the first"
    );
    let against = tiebreak(&["report", &of_run, "--against", &of_run, "--out", &out]).exits(0);
    assert_eq!(against.stdout, drawn.stdout);
    assert_eq!(std::fs::read_to_string(&page).expect("it is written"), compared);
}

/// Without arguments, the run in tiebreak-out is compared with the latest published run of the same command.
#[test]
fn a_run_is_compared_with_the_published_one_of_its_command() {
    let run = verify(&["--op=transform", "--kernel=tvm-im2col", "--lane=host", "--effort=quick"]).exits(0);
    let dir = tempfile::tempdir().expect("a directory");
    let keep = |name: &str, date: &str, command: &str| {
        let mut ledger = run.ledger();
        (ledger["environment"]["date"], ledger["command"]) = (date.into(), command.into());
        std::fs::create_dir_all(dir.path().join(name)).expect("a directory");
        std::fs::write(dir.path().join(name).join("ledger.json"), ledger.to_string()).expect("it can be written");
    };
    keep("tiebreak-out", "2026-03-01T00:00:00Z", "cargo xtask verify");
    keep("reports/published/2026-01-01-default", "2026-01-01T00:00:00Z", "cargo xtask verify");
    keep("reports/published/2026-02-01-default", "2026-02-01T00:00:00Z", "cargo xtask verify");
    keep("reports/published/2026-02-02-other", "2026-02-02T00:00:00Z", "cargo xtask verify --op transform");
    keep("reports/published/2026-04-01-default", "2026-04-01T00:00:00Z", "cargo xtask verify");
    let drawn = program().current_dir(dir.path()).arg("report").output().expect("it starts");
    assert_eq!(drawn.status.code(), Some(0), "{}", String::from_utf8_lossy(&drawn.stderr));
    let page = std::fs::read_to_string(dir.path().join("tiebreak-out/report.html")).expect("it is written");
    assert!(page.contains("Against the run of 2026-02-01T00:00:00Z"), "{page}");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let empty = dir.path().display().to_string();
    let table: [(&[&str], &str); 4] = [
        (&["report", "no-such-ledger.json"], "no-such-ledger.json"),
        (&["report", &empty], "ledger.json"),
        (&["report", "--index", &empty], "none of its directories has a ledger.json"),
        (&["report", "--index", "no-such-directory"], "no-such-directory"),
    ];
    for (arguments, says) in table {
        let refused = tiebreak(arguments).exits(2);
        assert!(refused.stderr.contains(says), "{}", refused.printed());
    }
}

/// Copies a directory with its ledgers.
fn copied_ledgers(from: &std::path::Path, to: &std::path::Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(from).expect("it is there").map(|entry| entry.expect("listed")) {
        let out = to.join(entry.file_name());
        for name in ["ledger.json", "README.md"] {
            let file = entry.path().join(name);
            if file.is_file() {
                std::fs::create_dir_all(&out).expect("a directory");
                std::fs::copy(&file, out.join(name)).expect("copied");
                count += usize::from(name == "ledger.json");
            }
        }
    }
    count
}

/// The index matches the published ledgers, and each page shows its ledger in a reasonable size. A page of an earlier day keeps its look.
#[test]
fn what_is_published_is_drawn_from_its_ledgers() {
    let (published, dir) = (workspace().join("reports/published"), tempfile::tempdir().expect("a directory"));
    let count = copied_ledgers(&published, dir.path());
    assert!(count >= 2, "{count}");
    tiebreak(&["report", "--index", &dir.path().display().to_string()]).exits(0);
    let read = |path: std::path::PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let part = |page: &str, tag: &str| {
        let (_, rest) = page.split_once(&format!("<{tag}")).expect("it begins");
        rest.split_once(&format!("</{tag}>")).expect("it ends").0.to_owned()
    };
    let again = "draw it again with `cargo xtask report --index reports/published`";
    let index = part(&read(dir.path().join("index.html")), "main");
    assert!(index == part(&read(published.join("index.html")), "main"), "the index is not of these ledgers; {again}");
    for entry in std::fs::read_dir(dir.path()).expect("it is there").map(|entry| entry.expect("listed")) {
        let name = entry.file_name().into_string().expect("a name");
        if !entry.path().join("report.html").is_file() {
            continue;
        }
        let [drawn, kept] = [dir.path(), &published].map(|d| read(d.join(&name).join("report.html")));
        assert_eq!(part(&drawn, "header"), part(&kept, "header"), "{name}; {again}");
        // A page has four kilobytes for each of the largest run's 439 kernels, because lanes of a reduced plan have separate rows and examples.
        assert!(kept.len() < 7 << 18, "{name} is larger than 1.75 megabytes");
        assert!(index.contains(&format!("href=\"./{name}/report.html\"")), "{name}");
    }
}

/// Checks the expected values in witnesses and examples of one operation's rows with big numbers.
struct Witnesses<'a> {
    ledger: &'a Ledger,
    checked: BTreeMap<&'static str, usize>,
}

impl Visitor for Witnesses<'_> {
    fn visit<O: Fuzzed>(&mut self) {
        let op = op::<O>();
        for row in self.ledger.rows.iter().filter(|row| row.op == op.name()) {
            let kernel = op.kernels().iter().find(|kernel| kernel.name == row.kernel).expect("a kernel");
            // A case of millions of elements is not written out: its command runs the kernel's plan.
            let whole = row.witness.iter().filter(|w| w.command.contains(" --case ") || w.command.contains(" --x="));
            let shown = whole.map(|w| (case(&w.case), w.expected.as_ref(), &w.scheme));
            let examples = row.examples.iter().map(|e| (e.case.clone(), Some(&e.expected), &row.scheme));
            for (spelled, expected, scheme) in shown.chain(examples) {
                let case = text::parse(&spelled, &kernel.contract.domain).expect("a case");
                let at = spelled
                    .split(' ')
                    .find_map(|word| word.strip_prefix("at="))
                    .map_or(0, |at| at.parse().expect("at"));
                let exact = op.scheme(scheme).expect("a scheme").exact(&case).expect("values");
                let element = kernel.contract.domain.result_element(&case.params);
                let words = exact.chunks(element.words()).nth(at).expect("a result").to_vec();
                let words: Vec<i32> = words.into_iter().map(|word| word.expect("a value")).collect();
                assert_eq!(Some(&element.described(&words)), expected, "{} {}: {spelled}", row.op, row.kernel);
                *self.checked.entry(op.name()).or_default() += 1;
            }
        }
    }
}

#[test]
fn every_witness_of_the_published_run_holds_against_big_numbers() {
    let file = workspace().join("reports/published/2026-11-27-default/ledger.json");
    let ledger: Ledger = serde_json::from_slice(&std::fs::read(file).expect("it is there")).expect("a ledger");
    let mut witnesses = Witnesses { ledger: &ledger, checked: BTreeMap::new() };
    visit_tensors(&mut witnesses);
    let checked = witnesses.checked;
    println!("checked {checked:?}");
    assert!(checked.len() >= 9 && checked.values().sum::<usize>() > 150, "{checked:?}");
}
