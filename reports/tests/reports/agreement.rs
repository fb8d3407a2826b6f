//! Bit-for-bit comparisons in the reports.

use crate::sample::{self, agreement};
use expect_test::expect;
use tiebreak_reports::ledger::Ledger;
use tiebreak_reports::table::{Detail, Style, render};
use tiebreak_reports::{json, markdown};

fn compared() -> Ledger {
    let o0 = |lane, other, differ, types| agreement("mlir-opt-qcast-o0", lane, other, differ, types);
    let agreements = vec![
        agreement("mlir-qcast", "host", ["mlir-qcast-vector", "host"], [0, 7], &[("i8:f32", 7)]),
        agreement("mlir-qcast", "host", ["mlir-qcast-arm", "host"], [0, 9], &[("i8:f32", 4), ("u8:f32", 5)]),
        o0("mlir-x86", ["mlir-qcast", "host"], [0, 0], &[]),
        o0("mlir-x86", ["mlir-qcast-arm", "host"], [0, 635_023], &[("u8:f32", 635_023)]),
        o0("mlir-x86", ["mlir-opt-qcast-o0", "mlir-aarch64"], [0, 635_023], &[("u8:f32", 635_023)]),
        o0("mlir-x86", ["mlir-opt-qcast-o0", "mlir-aarch64-bf16"], [0, 635_023], &[("u8:f32", 635_023)]),
        o0("mlir-aarch64", ["mlir-qcast", "host"], [0, 635_023], &[("u8:f32", 635_023)]),
        o0("mlir-aarch64", ["mlir-qcast-arm", "host"], [6, 3], &[("i8:bf16", 8), ("u8:f32", 1)]),
    ];
    Ledger { agreements, ..sample::holding() }
}

/// Returns the section, from its heading to `end`.
fn section<'a>(text: &'a str, end: &str) -> &'a str {
    let (_, text) = text.split_at(text.find("To the bit, also where").expect("the section"));
    text.split_once(end).map_or(text, |(section, _)| section)
}

/// A kernel equal everywhere is the only one listed, otherwise the nearest one. Two lanes, and kernels of one lane, are always listed.
#[test]
fn the_nearest_is_told_and_every_two_lanes() {
    let text = render(&compared(), Detail::Tables, Style::default());
    expect![[r#"
        To the bit, also where the contract gives no value
          mlir-qcast  host
            as mlir-qcast-vector except 7 of 1,313,714 poison results and none in range (i8:f32)
            type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-qcast 255, mlir-qcast-vector 0
            cargo xtask verify --op quantize --kernel mlir-qcast --lane host --case '...'
          mlir-qcast  host
            as mlir-qcast-arm except 9 of 1,313,714 poison results and none in range (u8:f32: 5, i8:f32: 4)
            type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-qcast 255, mlir-qcast-arm 0
            cargo xtask verify --op quantize --kernel mlir-qcast --lane host --case '...'
          mlir-opt-qcast-o0  mlir-x86
            as mlir-qcast in all 4,204,203 results, 1,313,714 of them poison
          mlir-opt-qcast-o0  mlir-x86 and mlir-aarch64, mlir-x86 and mlir-aarch64-bf16
            the same except 635,023 of 1,313,714 poison results and none in range (u8:f32)
            type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-x86 255, mlir-aarch64 0
            cargo xtask verify --op quantize --kernel mlir-opt-qcast-o0 --lane mlir-x86 --case '...'
          mlir-opt-qcast-o0  mlir-aarch64
            as mlir-qcast-arm except 3 of 1,313,714 poison results and 6 in range (i8:bf16: 8, u8:f32: 1)
            type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-opt-qcast-o0 255, mlir-qcast-arm 0
            cargo xtask verify --op quantize --kernel mlir-opt-qcast-o0 --lane mlir-aarch64 --case '...'"#]]
    .assert_eq(section(&text, "\n\n"));
    let text = render(&compared(), Detail::Tables, Style { colour: false, width: Some(80) });
    let prose = section(&text, "\n\n").lines().filter(|line| !line.contains("cargo xtask") && !line.contains("type="));
    assert!(prose.clone().count() > 8 && prose.into_iter().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_pull_request_has_them() {
    expect![[r#"
        To the bit, also where the contract gives no value

        - `mlir-qcast` host: as mlir-qcast-vector except 7 of 1,313,714 poison results and none in range (i8:f32)
          - `type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-qcast 255, mlir-qcast-vector 0`
          - again: `cargo xtask verify --op quantize --kernel mlir-qcast --lane host --case '...'`
        - `mlir-qcast` host: as mlir-qcast-arm except 9 of 1,313,714 poison results and none in range (u8:f32: 5, i8:f32: 4)
          - `type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-qcast 255, mlir-qcast-arm 0`
          - again: `cargo xtask verify --op quantize --kernel mlir-qcast --lane host --case '...'`
        - `mlir-opt-qcast-o0` mlir-x86: as mlir-qcast in all 4,204,203 results, 1,313,714 of them poison
        - `mlir-opt-qcast-o0` mlir-x86 and mlir-aarch64, mlir-x86 and mlir-aarch64-bf16: the same except 635,023 of 1,313,714 poison results and none in range (u8:f32)
          - `type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-x86 255, mlir-aarch64 0`
          - again: `cargo xtask verify --op quantize --kernel mlir-opt-qcast-o0 --lane mlir-x86 --case '...'`
        - `mlir-opt-qcast-o0` mlir-aarch64: as mlir-qcast-arm except 3 of 1,313,714 poison results and 6 in range (i8:bf16: 8, u8:f32: 1)
          - `type=!quant.uniform<u8:f32,0.1> x=-0.1: mlir-opt-qcast-o0 255, mlir-qcast-arm 0`
          - again: `cargo xtask verify --op quantize --kernel mlir-opt-qcast-o0 --lane mlir-aarch64 --case '...'`
    "#]].assert_eq(section(&markdown::render(&compared()), "\n## "));
}

/// JSON has all comparisons, and a ledger without comparisons keeps its form.
#[test]
fn programs_get_all() {
    let all: serde_json::Value = serde_json::from_str(&json::render(&compared())).expect("it is JSON");
    assert_eq!(all["agreements"].as_array().map(Vec::len), Some(8));
    assert_eq!(all["agreements"][4]["other_lane"], "mlir-aarch64");
    let ledger = sample::holding();
    let text = serde_json::to_string(&ledger).expect("string keys only");
    assert!(!text.contains("agreements"));
    assert_eq!(serde_json::from_str::<Ledger>(&text).expect("its own form"), ledger);
}
