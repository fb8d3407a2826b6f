//! `!quant.uniform` and its ops: the RFC's examples, errors in a text, and the command `check-type`.

use crate::common::{Run, tiebreak, workspace};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use tiebreak_suites::quant_type::{Scale, parse, parse_type};

const RFC: &str = include_str!("../../ops/data/quant_rfc.txt");
const BAD: &str = include_str!("../../ops/data/quant_bad.txt");

/// Every "Correct" example is accepted and printed unchanged. Every "Incorrect" one is rejected at the right place, with the rule's name.
#[test]
fn examples_of_the_rfc() {
    let mut counts = [0; 2];
    let mut lines = RFC.lines();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("Correct ").or(line.strip_prefix("example ")) {
            let read = parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.to_string(), text);
            counts[0] += 1;
        } else if let Some(text) = line.strip_prefix("Incorrect ") {
            let error = parse(text).expect_err(text);
            let (place, rule) = lines.next().and_then(|below| below.split_once("^ ")).expect("a caret below");
            assert_eq!("Incorrect ".len() + error.character, place.len() + 1, "{error}");
            assert!(error.to_string().starts_with(rule), "{error}\n{rule}");
            counts[1] += 1;
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line}");
        }
    }
    assert_eq!(counts, [RFC.matches("\nCorrect ").count() + RFC.matches("\nexample ").count(), 4]);
}

/// Texts that break each rule: the place and the message of the error, which begins with mlir-opt's text if the table says so.
#[test]
fn texts_that_break_a_rule() {
    let mut cases = 0;
    for block in BAD.split("\n\n").map(str::trim_end).filter(|block| !block.is_empty() && !block.starts_with('#')) {
        let lines: Vec<&str> = block.lines().collect();
        let [text, caret, described] = lines[..] else { panic!("three lines are wanted:\n{block}") };
        let (place, rule) = caret.split_once("^ ").expect("a caret");
        let error = parse(text).expect_err(text);
        assert_eq!((error.character, error.rule.to_string().as_str()), (place.chars().count() + 1, rule), "{error}");
        if let Some(words) = described.strip_prefix("mlir-opt: ") {
            assert!(rule.starts_with(words), "{block}");
        } else {
            assert!(
                described.starts_with("mlir-opt otherwise: ") || described.starts_with("mlir-opt accepts"),
                "{block}"
            );
        }
        cases += 1;
    }
    assert!(cases > 150, "{cases}");
}

/// The message shows the text, a caret under the offending character, and only as much of a long text as fits a terminal.
#[test]
fn an_error_shows_where() {
    let error = parse("!quant.uniform<i8:f32, 1.0:300>").expect_err("no such zero point").to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[1..], ["  !quant.uniform<i8:f32, 1.0:300>", "                             ^ character 28"]);
    let long = format!("!quant.uniform<i8:f32:0, {{{}0.0{}}}>", "1.0, ".repeat(100), ", 1.0".repeat(100));
    let error = parse(&long).expect_err("a scale of 0").to_string();
    let lines: Vec<&str> = error.lines().collect();
    let caret = lines[2].find('^').expect("a caret");
    assert_eq!((&lines[1][caret..caret + 3], lines[1].len()), ("0.0", 117));
    assert!(lines[1].starts_with("  ...") && lines[1].ends_with("..."));
    let second = parse("// a comment\n!quant.uniform<i8:f32, \u{e9}>").expect_err("no scale").to_string();
    assert!(second.contains("\n  !quant.uniform<i8:f32, \u{e9}>\n                         ^ character 37"), "{second}");
}

/// An omitted part has its default value.
#[test]
fn spellings_of_one_type() {
    for (text, printed) in [
        ("!quant.uniform<i8<-128:127>:f32, 2.0:0>", "!quant.uniform<i8:f32, 2.0>"),
        (" !quant.uniform< u08 : f32 , 2. : 0x10 > // blanks", "!quant.uniform<u8:f32, 2.0:16>"),
        ("!quant.uniform<i8<- 8:0x7>:f64, 0x3FF8000000000000:-8>", "!quant.uniform<i8<-8:7>:f64, 1.5:-8>"),
        ("!quant.uniform<i32:f64, 1.0e-300>", "!quant.uniform<i32:f64, 1.0e-300>"),
        ("!quant.uniform<i8:f32, 25.0e+5>", "!quant.uniform<i8:f32, 2500000.0>"),
        ("tensor < 2 x ? x 0 x f16 >", "tensor<2x?x0xf16>"),
        ("tensor<0x10xi4>", "tensor<0x10xi4>"),
        ("tensor<* x bf16>", "tensor<*xbf16>"),
        (
            "!quant.uniform<i8:f32:{0:1,1:2},{{1.0,2.0:0},{3.0,4.0:-5}}>",
            "!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0, 2.0}, {3.0, 4.0:-5}}>",
        ),
        (
            "tensor<?x4x!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}}>>",
            "tensor<?x4x!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}}>>",
        ),
        ("quant.scast %a : i8 to !quant.uniform<u8:f32, 2.0>", "quant.scast %a : i8 to !quant.uniform<u8:f32, 2.0>"),
    ] {
        let read = parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read.to_string(), printed);
        assert_eq!(parse(printed).expect(printed), read);
    }
}

proptest! {
    /// Any double that is a scale is parsed as the same double after printing, in any context.
    #[test]
    fn what_is_printed_is_read_as_the_same(
        bits in f64::MIN_POSITIVE.to_bits()..=f64::MAX.to_bits(), width in 1..=32u32, signed: bool, axis in 0..4usize, channels in 1..5usize,
    ) {
        let name = if signed { 'i' } else { 'u' };
        let text = format!("!quant.uniform<{name}{width}:f64:{axis}, {{{}}}>", vec![format!("0x{bits:X}"); channels].join(", "));
        let read = parse_type(&text).expect("a type");
        prop_assert_eq!(read.uniform().map(|u| u.scales.clone()), Some(vec![Scale(f64::from_bits(bits)); channels]));
        prop_assert_eq!(parse_type(&read.to_string()).expect("what is printed"), read);
    }
}

fn check(arguments: &[&str]) -> Run {
    tiebreak(&[&["check-type"], arguments].concat())
}

#[test]
fn the_command_explains() {
    let run = check(&["!quant.uniform<i8<-8:7>:f32, 0.3:1>", "--format=json"]).exits(0);
    let all: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((&all["text"], &all["op"]), (&json!("!quant.uniform<i8<-8:7>:f32, 0.3:1>"), &Value::Null));
    let scale = &all["quantized"]["scales"][0];
    assert_eq!((&scale["bits"], &scale["step"]), (&json!("0x3e99999a"), &json!("0.300000011920928955078125")));
    assert_eq!(
        (&scale["least"], &scale["most"]),
        (&json!("-2.700000107288360595703125"), &json!("1.80000007152557373046875"))
    );
    let table =
        check(&["%1 = quant.qcast %0 : tensor<?xf16> to tensor<?x!quant.uniform<u16:f16:0, {1.0, 0.5:3}>>"]).exits(0);
    for words in
        ["u16, 0 to 65535", "for each index of axis 0", "the size of axis 0 must be 2", "0x3c00", "warning: scale 0"]
    {
        assert!(table.stdout.contains(words), "no `{words}` in\n{}", table.printed());
    }
    assert!(check(&["tensor<2xf32>"]).exits(0).stdout.contains("Not quantized"));
}

#[test]
fn the_command_verifies_a_file() {
    let sound = workspace().join("docs/examples/casts.mlir").display().to_string();
    let run = check(&[&sound]).exits(0);
    assert!(run.stdout.ends_with("\n6 items: 6 sound, 0 broken\n"), "{}", run.printed());
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("wrong.mlir");
    fs::write(&path, "// a comment\n%1 = quant.dcast %0 : !quant.uniform<i8:f32, 2.0> to f16\n").expect("written");
    let path = path.display().to_string();
    let run = check(&[&path]).exits(1);
    assert!(run.stdout.starts_with(&format!("{path}:2: broken: expressed type")), "{}", run.printed());
    assert!(run.stdout.ends_with("\n1 item: 0 sound, 1 broken\n"), "{}", run.printed());
    fs::write(&path, "func.func @f() { return }\n").expect("written");
    assert_eq!(check(&[&path]).code, 2, "nothing is in it");
    assert_eq!(check(&["missing.mlir"]).code, 2);
}

#[test]
fn the_command_refuses() {
    let run = check(&["!quant.uniform<i8:f32, 0.0>"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.printed());
    assert!(
        run.stderr.contains("out of expressed type range")
            && run.stderr.contains("\n                         ^ character 24"),
        "{}",
        run.printed()
    );
    assert_eq!(check(&[""]).code, 2);
}
