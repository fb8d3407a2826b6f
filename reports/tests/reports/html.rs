//! Page of a run: every number is the ledger's, no text of a ledger becomes markup, and changes are shown.

use crate::sample;
use expect_test::{expect, expect_file};
use serde_json::Value as Json;
use tiebreak_reports::files::{self, REPORT, write_all, write_report};
use tiebreak_reports::html::index::{self, Entry, Holds};
use tiebreak_reports::html::{Earlier, render};
use tiebreak_reports::ledger::{Against, Ledger, Value, Verdict};
use tiebreak_reports::text::count;

fn alone(ledger: &Ledger) -> String {
    render(ledger, Earlier::default())
}

fn with_figures(ledger: Ledger) -> Ledger {
    Ledger { figures: sample::figures(), ..ledger }
}

/// Returns the text between two texts, with each tag on a line.
fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} after {from}")).0
}

/// Returns the cells with a number: the place in the ledger, and the text.
fn cells(page: &str) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    for piece in page.split("<t").skip(1) {
        let Some((tag, rest)) = piece.split_once('>') else { continue };
        let Some(from) = tag.strip_prefix("d").and_then(|tag| tag.split_once("data-from=\"")) else { continue };
        let from = from.1.split('"').next().unwrap();
        let text = rest.split("</td>").next().unwrap();
        cells.push((from.to_owned(), text.to_owned()));
    }
    for piece in page.split("<tr data-from=\"").skip(1) {
        let (from, rest) = piece.split_once('"').unwrap();
        let row = rest.split("</tr>").next().unwrap();
        let texts = row.split("<t").skip(1).filter_map(|cell| cell.split_once('>')).map(|(_, text)| text);
        for (i, text) in texts.enumerate() {
            let text = text.split("</t").next().unwrap();
            if !text.starts_with("<details") {
                cells.push((format!("{from}/{i}"), text.to_owned()));
            }
        }
    }
    cells
}

/// Returns the value of the ledger there: a text, an integer, or the sum of integers at several places.
fn at(ledger: &Json, from: &str) -> String {
    let value = |pointer: &str| {
        let pointer = pointer.replace("%20", " ");
        ledger.pointer(&pointer).unwrap_or_else(|| panic!("the ledger has nothing at {pointer}"))
    };
    if let Json::String(text) = value(from.split(' ').next().unwrap()) {
        return text.clone();
    }
    let sum: i64 = from.split(' ').map(|pointer| value(pointer).as_i64().expect("an integer")).sum();
    sum.to_string()
}

/// Ten random numbers, then all numbers.
#[test]
fn numbers_of_the_page_are_those_of_the_ledger() {
    for ledger in [with_figures(sample::holding()), with_figures(sample::broken())] {
        let json = serde_json::to_value(&ledger).unwrap();
        let cells = cells(&alone(&ledger));
        assert!(cells.len() > 80, "{}", cells.len());
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % cells.len()
        };
        let ten: Vec<usize> = (0..10).map(|_| random()).collect();
        for i in ten.into_iter().chain(0..cells.len()) {
            let (from, text) = &cells[i];
            assert_eq!(text.replace(',', ""), at(&json, from), "{from}");
        }
    }
}

/// Prose, too: every number of four digits or more is in the ledger, or is a sum that a cell shows.
#[test]
fn no_number_of_the_page_comes_from_elsewhere() {
    let ledger = with_figures(sample::broken());
    let page = alone(&ledger);
    let body = part(&page, "<header", "<footer").to_owned();
    let without_drawings: String =
        body.split("<svg").map(|piece| piece.split_once("</svg>").map_or(piece, |(_, rest)| rest)).collect();
    let text: String = without_drawings
        .split('<')
        .filter_map(|piece| piece.split_once('>'))
        .map(|(_, text)| format!("{text} "))
        .collect();
    let known = serde_json::to_string(&ledger).unwrap();
    let sums: Vec<String> = cells(&page).into_iter().map(|(_, text)| text).collect();
    let all_inputs = part(&page, "<p class=\"measure\">", " inputs").to_owned();
    let lanes: u64 = cells(part(&page, "id=\"lanes\"", "</table>"))
        .iter()
        .map(|(_, text)| text.replace(',', "").parse::<u64>().unwrap())
        .sum();
    assert_eq!(all_inputs.replace(',', ""), lanes.to_string());
    // Number of differences from the reference, in the line and the sentence of an operation.
    let differ: u64 = ledger.rows.iter().filter(|row| row.against == Against::Reference).map(|row| row.differ).sum();
    // Fault rate that the calls exclude.
    let rates = ledger.rows.iter().filter_map(|row| tiebreak_reports::calls::excluded(row.calls)).map(count);
    let sums = [sums, vec![count(differ)], rates.collect()].concat();
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || c == ',')).map(|n| n.trim_matches(','));
    let mut looked_at = 0;
    for number in numbers.filter(|n| n.len() >= 4) {
        looked_at += 1;
        let digits = number.replace(',', "");
        assert!(known.contains(&digits) || sums.iter().any(|sum| sum == number) || number == all_inputs, "{number}");
    }
    assert!(looked_at >= 100, "{looked_at}");
}

#[test]
fn the_first_screen_says_what_a_reviewer_asks() {
    let first = |ledger: &Ledger| part(&alone(ledger), "<header", "<section id=\"by-operation\">").to_owned();
    expect_file!["snapshots/first-holding.html"].assert_eq(&first(&sample::holding()));
    expect_file!["snapshots/first-broken.html"].assert_eq(&first(&sample::broken()));
    let unfinished = Ledger {
        verdict: Verdict::Unfinished,
        unfinished: Some("SIGINT".into()),
        rows: Vec::new(),
        ..sample::holding()
    };
    let page = alone(&unfinished);
    assert!(
        page.contains("<span class=\"verdict\">unfinished</span> The run did not end")
            && !page.contains("Every contract held")
    );
}

#[test]
fn a_figure_has_alternative_text_units_numbers_and_commands() {
    let page = alone(&with_figures(sample::holding()));
    for figure in sample::figures() {
        let kind = figure.kind.name();
        let article = part(&page, &format!("<article class=\"figure\" id=\"op-fpm-{kind}\">"), "</article>");
        assert_eq!(article.contains("role=\"img\" aria-label=\""), kind != "corner-cases", "{kind}");
        assert!(article.contains(&format!("href=\"figures/{kind}.csv\"")), "{kind}");
        let commands =
            ["command", "example"].map(|word| article.matches(&format!("<summary>{word}</summary>")).count());
        assert_eq!(commands.iter().sum::<usize>(), figure.rows.len(), "{kind}");
    }
    let rate = part(&page, "id=\"op-fpm-rate-by-shift\">", "</article>");
    assert!(rate.contains("gemmlowp-double: at most 0.1953 %, at shift -8"), "{rate}");
    assert!(rate.contains("<code>cargo xtask census --right gemmlowp-double:wrap --shift=-8</code>"));
    assert!(rate.contains("shift, bits (positive = left)") && rate.contains("share of accumulators"));
    assert!(rate.contains("gemmlowp-double:wrap also stands for cmsis-nn-double:wrap"));
    expect_file!["snapshots/figure-rate.html"].assert_eq(part(rate, "<details class=\"part\">", "</details>\n"));
}

#[test]
fn the_csv_files_are_those_of_this_run() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path(), &with_figures(sample::holding()), &[], Earlier::default()).unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join("figures").join(name));
    expect![[r#"
        scheme,shift,delta,x,m,exact,reference,result
        gemmlowp-double:wrap,-8,1,-197,1395864371,-1/2,-1,0
    "#]]
    .assert_eq(&read("corner-cases.csv").unwrap());
    assert_eq!(read("rate-by-shift.csv").unwrap().lines().count(), 4);
    // A run without figures removes the figures of another run.
    write_report(dir.path(), &sample::holding(), Earlier::default()).unwrap();
    assert!(
        read("corner-cases.csv").is_err() && !dir.path().join("figures").exists() && dir.path().join(REPORT).exists()
    );
}

/// Every text of a ledger in turn, because names, messages, cases and commands may be foreign.
#[test]
fn nothing_of_a_ledger_is_taken_for_markup() {
    const HOSTILE: &str = "\"'><script>alert(1)</script></style><img src=x onerror=alert(2)>{{7*7}}";
    fn replace(value: &mut Json, is_ledger: &dyn Fn(&Json) -> bool, whole: &mut Json, path: &str, count: &mut usize) {
        match value {
            Json::String(text) => {
                let kept = std::mem::replace(text, HOSTILE.to_owned());
                *whole.pointer_mut(path).unwrap() = HOSTILE.into();
                match is_ledger(whole) {
                    true => *count += 1,
                    // The text must be one of a fixed set, such as a verdict.
                    false => *whole.pointer_mut(path).unwrap() = kept.into(),
                }
            }
            Json::Array(items) => {
                items
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, item)| replace(item, is_ledger, whole, &format!("{path}/{i}"), count));
            }
            Json::Object(fields) => {
                fields.iter_mut().for_each(|(name, item)| {
                    replace(item, is_ledger, whole, &format!("{path}/{}", name.replace('/', "~1")), count)
                });
            }
            _ => {}
        }
    }
    let is_ledger = |json: &Json| serde_json::from_value::<Ledger>(json.clone()).is_ok();
    let ledger = Ledger {
        rows: sample::broken().rows[..2].to_vec(),
        self_checks: sample::broken().self_checks[..2].to_vec(),
        ..with_figures(sample::broken())
    };
    let mut whole = serde_json::to_value(&ledger).unwrap();
    let (mut walked, mut count) = (whole.clone(), 0);
    replace(&mut walked, &is_ledger, &mut whole, "", &mut count);
    assert!(count > 150, "{count}");
    let mut hostile: Ledger = serde_json::from_value(whole).unwrap();
    hostile.rows[1].classes = [(HOSTILE.to_owned(), 7)].into();
    hostile.rows[1].declared = [(HOSTILE.to_owned(), HOSTILE.to_owned())].into();
    let entry = Entry { directory: HOSTILE.to_owned(), holds: Holds::Run(Box::new(hostile.clone())) };
    let holds = Holds::Other { title: HOSTILE.to_owned(), file: HOSTILE.to_owned() };
    let other = Entry { directory: HOSTILE.to_owned(), holds };
    let earlier = [sample::holding(), hostile.clone()];
    for page in
        [alone(&hostile), render(&sample::holding(), Earlier { runs: &earlier }), index::render(&[entry, other])]
    {
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
        assert_eq!((page.matches("<style").count(), page.matches("</style").count()), (1, 1));
        assert!(!page.contains("<img") && page.contains("{{7*7}}"));
    }
}

/// A page can be drawn even if the figures of the ledger have no numbers.
#[test]
fn numbers_that_are_none_are_left_out_of_a_drawing() {
    let odd = ["-", "nan", "inf", "1/0", "-1e400", ""].map(|text| Value::Text(text.into()));
    for replacement in odd.into_iter().chain([i64::MAX, i64::MIN, 0].map(Value::from)) {
        let mut ledger = with_figures(sample::holding());
        for figure in &mut ledger.figures {
            figure.rows.iter_mut().flatten().for_each(|value| *value = replacement.clone());
        }
        assert!(alone(&ledger).contains("</html>"));
    }
    let mut short = with_figures(sample::holding());
    for figure in &mut short.figures {
        figure.rows.iter_mut().for_each(|row| row.truncate(2));
        figure.rows.push(Vec::new());
    }
    assert!(alone(&short).contains("</html>"));
    short.figures.iter_mut().for_each(|figure| figure.columns.clear());
    let dir = tempfile::tempdir().unwrap();
    files::write_all(dir.path(), &short, &[], Earlier::default()).unwrap();
}

/// Three lanes that were not installed once gave three red paragraphs.
#[test]
fn lanes_that_may_be_absent_are_one_line() {
    let mut ledger = sample::holding();
    let absent = |name: &str| tiebreak_reports::ledger::Lane { name: name.into(), ..ledger.lanes[2].clone() };
    let more = ["mlir-x86", "mlir-aarch64"].map(absent);
    ledger.lanes.extend(more);
    let page = alone(&ledger);
    let part = part(&page, "<section id=\"where\">", "</section>");
    let line = "<p class=\"note\">aarch64-native, mlir-x86, mlir-aarch64 not run: the host is x86_64 (allowed)</p>";
    assert!(part.matches("not run").count() == 1 && part.contains(line) && !part.contains("bad"), "{part}");
    let tables = tiebreak_reports::table::render(&ledger, Default::default(), Default::default());
    assert!(
        tables.contains("  aarch64-native, mlir-x86, mlir-aarch64  not run: the host is x86_64 (allowed)\n"),
        "{tables}"
    );
    // A lane that must run has a red row.
    let broken = alone(&sample::broken());
    assert!(
        broken.contains("<td class=\"bad\" data-label") || broken.contains("<td class=\"bad\">not run"),
        "{broken}"
    );
}

#[test]
fn what_is_new_is_said() {
    let (old, new) = (sample::holding(), sample::broken());
    let new_part = |ledger: &Ledger, runs: &[Ledger]| {
        part(&render(ledger, Earlier { runs }), "<section id=\"new\">", "</section>").to_owned()
    };
    let worse = new_part(&new, std::slice::from_ref(&old));
    assert!(
        worse.contains("<p class=\"bad\">")
            && worse.contains("Against the run of 2026-11-22T05:40:00Z, commit 53fda1be03c7."),
        "{worse}"
    );
    assert!(
        worse.contains(">worse</th>") && worse.contains("gemmlowp-neon") && !worse.contains("id=\"history\""),
        "{worse}"
    );
    let equal = new_part(&old, &[new.clone(), old.clone()]);
    assert!(
        equal.contains("Equal: ") && !equal.contains("id=\"differences\"") && equal.contains("id=\"history\""),
        "{equal}"
    );
    assert!(new_part(&old, &[]).contains("No earlier ledger was given"));
}

#[test]
fn reports_of_one_name_are_compared_with_the_one_before() {
    let other = Holds::Other { title: "One whole shift".into(), file: "README.md".into() };
    let run = |ledger: Ledger| Holds::Run(Box::new(ledger));
    let entry = |directory: &str, holds: Holds| Entry { directory: directory.into(), holds };
    let entries = [
        entry("2026-11-20-default", run(sample::holding())),
        entry("2026-11-20.2-default", run(sample::broken())),
        entry("2026-11-21-wake-word", run(sample::holding())),
        entry("2026-11-22-default", run(sample::broken())),
        entry("space-q31", other),
    ];
    assert!(index::before(&entries, 0).is_none() && index::before(&entries, 2).is_none());
    assert_eq!(index::before(&entries, 1), entries[0].ledger());
    assert_eq!(index::before(&entries, 3), entries[1].ledger());
    let page = index::render(&entries);
    let table = part(&page, "<tbody>", "</tbody>");
    let newest_first =
        ["2026-11-22-default/report.html", "2026-11-21-wake-word/report.html", "2026-11-20-default/report.html"];
    let places: Vec<_> = newest_first.iter().map(|name| table.find(name).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(table.matches("no earlier report to compare with").count(), 2);
    assert!(page.contains("<a href=\"./space-q31/README.md\">One whole shift</a>"));
}
