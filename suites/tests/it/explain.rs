//! `explain`: every published witness of a known bug of fixed point multiply, with both values and the cause in a sentence.

use crate::common::{Run, tiebreak};
use crate::installed_program::{installed, shell, text};
use crate::libraries::{compiled, example};
use expect_test::expect;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use tiebreak_impls::mutants;
use tiebreak_oracle::fpm::Scheme;

fn explain(op: &str, more: &[&str]) -> Run {
    tiebreak(&[&["explain", op], more].concat())
}

fn described(op: &str, more: &[&str]) -> Value {
    let run = explain(op, &[more, &["--format=json"]].concat()).exits(0);
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn at(x: i64, m: i64, s: i64) -> [String; 3] {
    [format!("--x={x}"), format!("--multiplier={m}"), format!("--shift={s}")]
}

fn fpm(parties: &[&str], (x, m, s): (i64, i64, i64)) -> Value {
    let input = at(x, m, s);
    let input: Vec<&str> = input.iter().map(String::as_str).collect();
    described("fpm", &[parties, &input].concat())
}

/// Row of the list of known bugs, mutant, (x, m, s), result of the bug, and correct result.
type Row = (u32, &'static str, (i64, i64, i64), i64, i64);

const MIN: i64 = i32::MIN as i64;
const MAX: i64 = i32::MAX as i64;

#[rustfmt::skip]
const ROWS: [Row; 15] = [
    (1, "mutant-double-rounding", (1, 1 << 30, -1), 1, 0),
    (1, "mutant-double-rounding", (7984, 1_583_594_044, -9), 12, 11),
    (1, "mutant-single-rounding", (1, 1 << 30, -1), 0, 1),
    (1, "mutant-single-rounding", (7984, 1_583_594_044, -9), 11, 12),
    (2, "mutant-dead-fixup", (-1, (1 << 30) + 1, -1), 0, -1),
    (3, "mutant-fixup-lost", (-1, (1 << 30) + 1, -1), 0, -1),
    (4, "mutant-narrow-before-rounding", (1 << 30, MAX, 0), -(1 << 30), 1 << 30),
    (5, "mutant-narrowed-multiplier", (10_000, 0x7FFF_EA86, -10), -10, 10),
    (6, "mutant-power-of-two-wrap", (MAX - 1, 1 << 30, -1), -(1 << 29), 1 << 29),
    (6, "mutant-power-of-two-shift-minus-one", (100, 1 << 30, 1), -2_147_483_548, 100),
    (7, "mutant-left-shift-wrap", (1 << 30, 1 << 30, 0), -(1 << 29), 1 << 29),
    (7, "mutant-tail-double-rounding", (1, 1 << 30, -1), 1, 0),
    (8, "mutant-no-saturation", (MIN, MIN, 0), MIN, MAX),
    (8, "mutant-sqrdmulh-no-saturation", (MIN, MIN, 0), MIN, MAX),
    (8, "mutant-floor-for-truncation", (-1, 1 << 30, 0), -1, 0),
];

/// Returns the comparison with the contract in which the bug is visible.
fn comparison(row: &Row) -> Value {
    let (number, name, case, got, expected) = row;
    let all = fpm(&["--kernel", name], *case);
    let shown = |c: &&Value| c["right_value"] == json!(got) && c["left_value"] == json!(expected);
    let found = all["comparisons"].as_array().expect("comparisons").iter().find(shown);
    let found = found.unwrap_or_else(|| panic!("row {number}: {name} does not show {got} for {expected}: {all:#}"));
    // Both sides have steps that end in their values.
    for (party, value) in [(&found["left"], expected), (&found["right"], got)] {
        let party = all["parties"].as_array().expect("parties").iter().find(|p| p["name"] == *party).expect("listed");
        let last = party["steps"].as_array().and_then(|steps| steps.last()).expect("steps");
        assert_eq!(last["after"]["fraction"], json!(value.to_string()), "row {number}: {party:#}");
    }
    found.clone()
}

#[test]
fn every_witness_of_rows_1_to_8() {
    for row in &ROWS {
        let (number, name, (x, m, s), got, expected) = row;
        let mutant = mutants::fpm::find(name).unwrap_or_else(|| panic!("no mutant {name}"));
        let published =
            |w: &mutants::Witness| [w.x, w.m, w.s, w.got, w.expected].map(i64::from) == [*x, *m, *s, *got, *expected];
        assert!(mutant.witnesses.iter().any(published), "row {number}: {name} does not claim it");
        let found = comparison(row);
        assert_eq!(found["class"], json!(mutant.class), "row {number}: {found:#}");
        let sentence = found["sentence"].as_str().expect("a sentence");
        for words in [format!(" gives {got} where "), format!(" gives {expected}, class {}: ", mutant.class)] {
            assert!(sentence.contains(&words), "row {number}: no `{words}` in: {sentence}");
        }
        assert!(found["because"].as_str().is_some_and(|b| b.contains("reproduces all ")), "row {number}: {found:#}");
    }
    assert_eq!(ROWS.iter().map(|row| row.0).collect::<BTreeSet<_>>(), (1..=8).collect());
    // Every witness of a shipped bug is included.
    let shipped = mutants::fpm::mutants().iter().filter(|m| !m.origin.starts_with("of our own"));
    let witnesses: usize = shipped.map(|m| m.witnesses.len()).sum();
    assert_eq!(ROWS.iter().filter(|row| row.1 != "mutant-sqrdmulh-no-saturation").count(), witnesses);
}

/// Sentences as a reader sees them.
#[test]
fn reasons() {
    let mut text = String::new();
    for row in &ROWS {
        text += &format!("{}: {}\n", row.0, comparison(row)["sentence"].as_str().expect("a sentence"));
    }
    expect![[r#"
        1: mutant-double-rounding gives 1 where ties-up gives 0, class double-rounding: mutant-double-rounding rounds twice: first at bit 31 (1/2 to 1, ties-up, a tie), then at bit 32 (1/2 to 1, ties-away, a tie); the single rounding of ties-up, at bit 32, sees 1/4 and gives 0
        1: mutant-double-rounding gives 12 where ties-up gives 11, class double-rounding: mutant-double-rounding rounds twice: first at bit 31 (5887.5488337576... to 5888, ties-up), then at bit 40 (23/2 to 12, ties-away, a tie); the single rounding of ties-up, at bit 40, sees 11.4991188159... and gives 11
        1: mutant-single-rounding gives 0 where gemmlowp-double gives 1, class double-rounding: gemmlowp-double rounds twice: first at bit 31 (1/2 to 1, ties-up, a tie), then at bit 32 (1/2 to 1, ties-away, a tie); the single rounding of mutant-single-rounding, at bit 32, sees 1/4 and gives 0
        1: mutant-single-rounding gives 11 where gemmlowp-double gives 12, class double-rounding: gemmlowp-double rounds twice: first at bit 31 (5887.5488337576... to 5888, ties-up), then at bit 40 (23/2 to 12, ties-away, a tie); the single rounding of mutant-single-rounding, at bit 40, sees 11.4991188159... and gives 11
        2: mutant-dead-fixup gives 0 where gemmlowp-double gives -1, class tie-direction: mutant-dead-fixup rounds twice: first at bit 31 (-0.5000000004... to -1, ties-up), then at bit 32 (-1/2 to 0, ties-up, a tie); gemmlowp-double rounds twice: first at bit 31 (-0.5000000004... to -1, ties-up), then at bit 32 (-1/2 to -1, ties-away, a tie)
        3: mutant-fixup-lost gives 0 where gemmlowp-double gives -1, class fixup-lost: mutant-fixup-lost rounds at bit 31 (-0.5000000004... to -1, ties-up), then moves -1 to 0 ("add the masked fixup"); gemmlowp-double rounds twice: first at bit 31 (-0.5000000004... to -1, ties-up), then at bit 32 (-1/2 to -1, ties-away, a tie)
        4: mutant-narrow-before-rounding gives -1073741824 where cmsis-nn-single gives 1073741824, class wrap: mutant-narrow-before-rounding moves 2147483647 to 2147483648 ("add 1"), then wraps 2147483648 to -2147483648 ("wrap"); cmsis-nn-single moves 2147483647 to 2147483648 ("plus one")
        5: mutant-narrowed-multiplier gives -10 where tflite-int16-multiplier gives 10, class multiplier-narrowed: mutant-narrowed-multiplier multiplies by -32768, a narrowed multiplier ("product with the high half of m, wrapped"), then rounds at bit 41 (-625/64 to -10, ties-up); tflite-int16-multiplier multiplies by 32767, a narrowed multiplier ("product x*m16"), then rounds at bit 41 (9.7653269767... to 10, ties-up)
        6: mutant-power-of-two-wrap gives -536870912 where ties-up gives 536870912, class wrap: mutant-power-of-two-wrap moves 2147483646 to 2147483648 ("add the rounding constant"), then wraps 2147483648 to -2147483648 ("the sum wraps"); ties-up rounds once, at bit 32 (536870911.5 to 536870912, ties-up, a tie)
        6: mutant-power-of-two-shift-minus-one gives -2147483548 where ties-up gives 100, class wrap: mutant-power-of-two-shift-minus-one moves 100 to 2147483748 ("add the rounding constant"), then wraps 2147483748 to -2147483548 ("the sum wraps"); ties-up rounds nothing away
        7: mutant-left-shift-wrap gives -536870912 where ties-up gives 536870912, class wrap: mutant-left-shift-wrap wraps 2147483648 to -2147483648 ("wrap"); ties-up rounds nothing away
        7: mutant-tail-double-rounding (tail) gives 1 where ties-up gives 0, class position: mutant-tail-double-rounding (tail) rounds twice: first at bit 31 (1/2 to 1, ties-up, a tie), then at bit 32 (1/2 to 1, ties-up, a tie); the single rounding of ties-up, at bit 32, sees 1/4 and gives 0
        8: mutant-no-saturation gives -2147483648 where gemmlowp-double gives 2147483647, class missing-saturation: mutant-no-saturation wraps 2147483648 to -2147483648 ("wrap"); gemmlowp-double saturates 2147483648 to 2147483647 ("doubling high multiply saturates")
        8: mutant-sqrdmulh-no-saturation gives -2147483648 where sqrdmulh-srshl gives 2147483647, class missing-saturation: mutant-sqrdmulh-no-saturation wraps 2147483648 to -2147483648 ("wrap"); sqrdmulh-srshl saturates 2147483648 to 2147483647 ("doubling high multiply saturates")
        8: mutant-floor-for-truncation gives -1 where gemmlowp-double gives 0, class directed-rounding: mutant-floor-for-truncation moves -1073741824 to -2147483647 ("nudge by 2^(Q-1) or 1-2^(Q-1), by sign"), then rounds at bit 31 (-0.9999999995... to -1, toward-negative); gemmlowp-double rounds once, at bit 31 (-1/2 to 0, ties-up, a tie)
    "#]].assert_eq(&text);
}

/// Row 1 with schemes only, in both directions.
#[test]
fn schemes_against_each_other() {
    for (left, right, values) in [("ties-up", "gemmlowp-double", (11, 12)), ("gemmlowp-double", "ties-up", (12, 11))] {
        let all = fpm(&["--scheme", left, "--scheme", right], (7984, 1_583_594_044, -9));
        let c = &all["comparisons"][0];
        assert_eq!((&c["left_value"], &c["right_value"]), (&json!(values.0), &json!(values.1)));
        let sentence = c["sentence"].as_str().expect("a sentence");
        let expected = "gemmlowp-double rounds twice: first at bit 31 (5887.5488337576... to 5888, ties-up), then at bit 40 \
                        (23/2 to 12, ties-away, a tie); the single rounding of ties-up, at bit 40, sees 11.4991188159... and gives 11";
        assert!(sentence.ends_with(expected), "{sentence}");
        assert_eq!(c["class"], "double-rounding");
    }
    let all = fpm(&["--scheme=ties-up"], (1, 1 << 30, -1));
    assert_eq!(all["exact"], json!({"fraction": "1/4", "decimal": "0.25"}));
    let rounding = json!({
        "step": "round ties-up", "before": {"fraction": "1/4", "decimal": "0.25"}, "after": {"fraction": "0", "decimal": "0"},
        "effect": "rounded", "by": "-1/4", "rule": "ties-up", "bit": 32, "tie": false,
    });
    assert_eq!(all["parties"][0]["steps"][2], rounding);
    assert_eq!(all["comparisons"], json!([]));
}

/// Equal results: on this input only, or everywhere.
#[test]
fn agreement() {
    let sentence = |left: &str, right: &str| {
        let all = fpm(&["--scheme", left, "--scheme", right], (0, 1_395_864_371, -8));
        all["comparisons"][0]["sentence"].as_str().expect("a sentence").to_owned()
    };
    let elsewhere = sentence("ties-up", "sqrdmulh-srshl");
    assert_eq!(
        elsewhere,
        "ties-up and sqrdmulh-srshl both give 0; at this multiplier and shift they differ on other accumulators examined, \
         such as x=-197, class double-rounding"
    );
    let everywhere = sentence("ties-up", "tflite-single");
    assert!(everywhere.ends_with("as on every accumulator examined at this multiplier and shift"), "{everywhere}");
}

/// A kernel that fulfils its contract has the contract's steps, separately for body and tail if it declares so.
#[test]
fn kernels_with_declared_deviations() {
    let all = fpm(&["--scheme=ties-up", "--kernel=tvm-neon-rfc"], (-197, 1_395_864_371, -8));
    let names: Vec<_> = all["parties"].as_array().expect("parties").iter().map(|p| p["name"].clone()).collect();
    assert_eq!(names, ["ties-up", "tvm-neon-rfc (body)", "tvm-neon-rfc (tail)"]);
    let values: Vec<_> = all["parties"].as_array().expect("parties").iter().map(|p| p["result"].clone()).collect();
    assert_eq!(values, [-1, 0, -1]);
    assert_eq!(all["comparisons"][0]["class"], "double-rounding");
    assert_eq!(all["comparisons"][1]["class"], Value::Null);
    let of_contract = all["parties"][1]["steps_of"].as_str().expect("words");
    assert!(of_contract.starts_with("the steps of sqrdmulh-srshl, which it equals on all "), "{of_contract}");
    // Without a scheme, body and tail are compared with their own contracts.
    let own = fpm(&["--kernel=tvm-neon-rfc"], (-197, 1_395_864_371, -8));
    let names: Vec<_> = own["comparisons"].as_array().expect("two").iter().map(|c| c["left"].clone()).collect();
    assert_eq!(names, ["sqrdmulh-srshl", "ties-up"]);
}

/// A named scheme is the baseline. A contract that the input breaks is compared, too.
#[test]
fn a_broken_contract_is_always_told() {
    let all = fpm(&["--scheme=ties-up", "--kernel=mutant-fixup-lost"], (-1, (1 << 30) + 1, -1));
    let lefts: Vec<_> = all["comparisons"].as_array().expect("two").iter().map(|c| c["left"].clone()).collect();
    assert_eq!(lefts, ["gemmlowp-double", "ties-up"]);
    let kept = fpm(&["--scheme=ties-up", "--kernel=mutant-double-rounding"], (1, 1 << 30, -1));
    assert_eq!(kept["comparisons"].as_array().map(Vec::len), Some(1), "one scheme under two policies is one: {kept:#}");
}

#[test]
fn requantization() {
    let given = |more: &[&str]| {
        let base = ["--acc=1", "--multiplier=1073741824", "--shift=-1", "--zero-point=3"];
        described("requantize", &[&base[..], more].concat())
    };
    let all = given(&["--scheme=ties-up", "--scheme=gemmlowp-double", "--scheme=legacy"]);
    assert_eq!(all["exact"]["fraction"], "13/4");
    let results: Vec<_> = all["parties"].as_array().expect("parties").iter().map(|p| p["result"].clone()).collect();
    assert_eq!(results, [3, 4, 127]);
    let classes: Vec<_> = all["comparisons"].as_array().expect("two").iter().map(|c| c["class"].clone()).collect();
    assert_eq!(classes, [json!("double-rounding"), json!(null)]);
    let other = all["comparisons"][1]["sentence"].as_str().expect("a sentence");
    assert!(other.starts_with("legacy gives 127 where ties-up gives 3, of no class, because their exact values are not the same to begin with: "), "{other}");
    let sentence = all["comparisons"][0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.starts_with("gemmlowp-double gives 4 where ties-up gives 3, class double-rounding: gemmlowp-double rounds twice: first at bit 31"), "{sentence}");
    let clamped = given(&["--scheme=ties-up", "--scheme=gemmlowp-double", "--clamp=-128:2"]);
    let hidden = "gemmlowp-double both give 2; the clamp hides that they have 3 and 4 before it";
    assert_eq!(clamped["comparisons"][0]["sentence"], format!("ties-up and {hidden}"));
    let legacies = described(
        "requantize",
        &["--acc=-3", "--multiplier=1", "--shift=-1", "--scheme=legacy", "--scheme=legacy-ties-away"],
    );
    let c = &legacies["comparisons"][0];
    assert_eq!((&c["left_value"], &c["right_value"], &c["class"]), (&json!(-1), &json!(-2), &json!("tie-direction")));
}

/// Equal multiplications, but the zero point exceeds int32, where only one scheme wraps.
#[test]
fn words_after_the_zero_point() {
    let at_the_end = ["--acc=2147483647", "--multiplier=2147483647", "--shift=0", "--zero-point=100"];
    let schemes = ["ties-up:wrap", "ties-up:saturate"];
    for (left, right, values, class) in [(0, 1, [-128, 127], "saturation"), (1, 0, [127, -128], "missing-saturation")] {
        let all = described("requantize", &[&at_the_end[..], &["--scheme", schemes[left], schemes[right]]].concat());
        let c = &all["comparisons"][0];
        let expected = (&json!(values[0]), &json!(values[1]), &json!(class));
        assert_eq!((&c["left_value"], &c["right_value"], &c["class"]), expected);
    }
}

#[test]
fn lines_for_a_spreadsheet() {
    let input = ["--scheme=ties-up", "--x=1", "--multiplier=1073741824", "--shift=-1", "--format=csv"];
    let csv = explain("fpm", &input).exits(0).stdout;
    assert_eq!(csv.lines().next(), Some("party,step,name,before,after,effect,by,bit,tie,result"));
    assert_eq!(csv.lines().nth(3), Some("ties-up,3,round ties-up,1/4,0,rounded,-1/4,32,false,0"));
}

#[test]
fn bad_input() {
    let refused = |op: &str, more: &[&str], words: &[&str]| {
        let run = explain(op, more);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.printed());
        for word in words {
            assert!(run.stderr.contains(word), "no `{word}` in\n{}", run.printed());
        }
    };
    let input = ["--x=1", "--multiplier=1", "--shift=0"];
    let with = |more: &[&'static str]| [&input[..], more].concat();
    refused("fpm", &with(&[]), &["--scheme"]);
    refused("fpm", &with(&["--scheme=tie-up"]), &["unknown scheme", "`ties-up`"]);
    refused("fpm", &with(&["--kernel=mutant-dead-fixpu"]), &["unknown kernel", "`mutant-dead-fixup`"]);
    refused(
        "fpm",
        &with(&["--kernel=mutant-power-of-two-wrap"]),
        &["promises nothing at m=1 s=0", "1073741824..=1073741824"],
    );
    refused("fpm", &["--scheme=ties-up", "--x=1", "--multiplier=1", "--shift=32"], &["--shift", "-31..=31"]);
    refused("fpmm", &[], &["'fpmm'", "fpm"]);
    let legacy = ["--scheme=legacy", "--acc=1", "--multiplier=1", "--shift=1"];
    refused("requantize", &legacy, &["shift", "-31 to 0", "legacy"]);
    refused("requantize", &["--acc=1", "--multiplier=1", "--shift=0"], &["--scheme"]);
    let clamp = ["--scheme=ties-up", "--acc=1", "--multiplier=1", "--shift=0", "--clamp=3:1"];
    refused("requantize", &clamp, &["--clamp", "3 is above 1"]);
}

/// Found by the fuzz target `census`: half a unit without fractional bits caused a panic for every scheme with doubling.
#[test]
fn a_multiplier_without_fractional_bits_is_explained() {
    let mut arguments = vec!["explain", "fpm", "--q=0", "--x=3", "--multiplier=-5", "--shift=0", "--format=csv"];
    let labels: Vec<String> = Scheme::every().map(|scheme| scheme.label()).collect();
    arguments.extend(labels.iter().flat_map(|label| ["--scheme", label.as_str()]));
    let run = tiebreak(&arguments).exits(0);
    let double = run.stdout.lines().filter(|line| line.contains("gemmlowp-double") && line.contains("-15"));
    assert!(double.count() > 0, "{}", run.printed());
}

/// Only a left shift that wraps loses something on this accumulator. The class was that of other accumulators, `double-rounding`.
#[test]
fn a_wrap_is_the_class_of_an_input_that_only_wraps() {
    let case = ["--case", "m=-4 s=5 zero_point=0 min=-128 max=127 x=67108864"];
    for (schemes, sentence) in [
        (
            ["gemmlowp-double", "ties-up"],
            "ties-up gives -4 where gemmlowp-double gives 4, class wrap: ties-up rounds nothing away",
        ),
        (
            ["ties-up", "gemmlowp-double"],
            "gemmlowp-double gives 4 where ties-up gives -4, class wrap: gemmlowp-double wraps",
        ),
    ] {
        let run =
            explain("requantize", &[&["--scheme", schemes[0], "--scheme", schemes[1]], &case[..]].concat()).exits(0);
        assert!(run.stdout.contains(sentence), "{}", run.printed());
        // The class of the other accumulators is said to be theirs.
        let whole = run.stdout.contains("; over all accumulators examined, class double-rounding\n");
        assert_eq!(whole, schemes[0] == "gemmlowp-double", "{}", run.printed());
    }
    let words = |schemes: [&str; 2]| {
        let input = ["--x=1073741824", "--multiplier=1073741824", "--shift=2"];
        let all = described("fpm", &[&["--scheme", schemes[0], "--scheme", schemes[1]], &input[..]].concat());
        all["comparisons"][0]["class"].as_str().expect("a class").to_owned()
    };
    assert_eq!(words(["ties-up:wrap", "ties-up:saturate"]), "saturation");
    assert_eq!(words(["ties-up:saturate", "ties-up:wrap"]), "missing-saturation");
}

/// `explain` runs a kernel of the caller's: a library of C, and a program of lines.
#[test]
fn kernels_of_the_callers_are_explained() {
    let (bin, work) = installed();
    let wrong = [("(mask >> 1) + (x < 0)", "(mask >> 1)")];
    compiled(bin.path(), work.path(), "requantize.c", &example("requantize.c", &wrong));
    let printed_by = |arguments: &str, code: i32| {
        let run = shell(bin.path(), work.path(), &format!("tiebreak explain {arguments}"));
        let printed = format!("{}{}", text(&run.stdout), text(&run.stderr));
        assert_eq!(run.status.code(), Some(code), "{printed}");
        printed
    };
    let case = "--case 'm=1073741824 s=-1 x=-2'";
    let own = "requantize --library ./libmine.so --scheme gemmlowp-double";
    let found = printed_by(&format!("{own} {case}"), 0);
    let sentence = "mine-requantize-i8 gives 0 where gemmlowp-double gives -1, class tie-direction";
    assert!(found.contains(sentence) && found.contains("of a quick plan that tell causes apart"), "{found}");
    assert!(found.contains("divide by power of two rounds (ties-away)"), "the steps of the scheme: {found}");
    let kept = printed_by(&format!("{own} --case 'm=1073741824 s=-1 x=4'"), 0);
    assert!(kept.contains("gives what it promises here"), "{kept}");
    // A program of another type than int8 needs no --type: the case is read in the program's domain.
    fs::write(work.path().join("k.py"), example("requantize-lines.py", &[(" + (x < 0))", ")")])).expect("written");
    let lines = "requantize --program 'python3 k.py' --scheme gemmlowp-double --like tflite-requantize-u8";
    let found = printed_by(&format!("{lines} --case 'm=1073741824 s=-1 x=-2 zero_point=200 min=0 max=255'"), 0);
    let sentence = " gives 200 where gemmlowp-double gives 199, class tie-direction";
    assert!(found.contains(sentence), "{found}");
    let outside = printed_by(&format!("{own} --like tvm-requantize-i8 --type uint8 --case 'm=1 s=0 x=1 max=255'"), 2);
    assert!(outside.contains("promises nothing of these parameters"), "{outside}");
    for (arguments, said) in [
        (format!("{own} --acc=1 --multiplier=1 --shift=0"), "give the input as --case"),
        (format!("fpm --library ./libmine.so --scheme ties-up {case}"), "exports no function of tiebreak.h for fpm"),
        (format!("requantize --library ./missing.so --scheme ties-up {case}"), "missing.so"),
    ] {
        let refused = printed_by(&arguments, 2);
        assert!(refused.contains(said), "{refused}");
    }
}

/// On an even accumulator, the first of two roundings loses nothing. The sentence said "double-rounding" and that each party "rounds once".
#[test]
fn a_class_of_other_accumulators_is_said_to_be_theirs() {
    let schemes = ["--scheme=ties-up", "--scheme=gemmlowp-double"];
    let differs =
        explain("fpm", &[&schemes[..], &["--x=-2", "--multiplier=1073741824", "--shift=-1"]].concat()).exits(0);
    let both = "class double-rounding over all accumulators examined; on this one both round once";
    assert!(differs.stdout.contains(both), "{}", differs.printed());
    // Equal results have no cause.
    let equal = explain("fpm", &[&schemes[..], &["--x=4", "--multiplier=1073741824", "--shift=-1"]].concat()).exits(0);
    assert!(
        equal.stdout.contains(" both give 1; at this multiplier and shift they differ on other accumulators"),
        "{}",
        equal.printed()
    );
    assert!(!equal.stdout.contains("reproduces"), "{}", equal.printed());
}
