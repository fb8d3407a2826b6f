//! Folds of the quant dialect by mlir-opt: a function with a chain of casts after `canonicalize`, and the same chain with each cast in a separate
//! function, where nothing folds. Both are compiled and run, and compared with the oracle and with the counts of `rewrites`. `cargo xtask test`
//! installs the tools.
//!
//! `--lower-quant-ops` folds, too. Without separate functions, both sides would be folded.

mod chains;
mod elimination;

use crate::common::tiebreak;
use crate::mlir_workflow::Tools;
use chains::{Type, body, chains, driver, lines, module};
use rayon::prelude::*;
use serde_json::Value;
use tiebreak_oracle::float::Format;

/// Layer types of eight bits: with truncating casts, with bounds, with a two-byte float that runs on every pattern, unsigned.
const TYPES: [&str; 5] = [
    "!quant.uniform<i8:f32, 0.3>",
    "!quant.uniform<i8<-8:7>:f32, 0.3:1>",
    "!quant.uniform<i8<-8:7>:f16, 0.3:1>",
    "!quant.uniform<u8:bf16, 0.1:128>",
    "!quant.uniform<u8<10:200>:f32, 0.1:128>",
];

/// Number of inputs with equal results, with different results, and with poison on one side.
type Counts = [u64; 3];

/// Returns the index in [`Counts`].
fn class(before: Option<u64>, after: u64, same: impl Fn(u64, u64) -> bool) -> usize {
    before.map_or(2, |before| usize::from(!same(before, after)))
}

/// Runs a module, and compares both functions of each chain with the oracle. Returns the changes of the folds for every float but NaN, and for every
/// byte, or the first wrong result.
fn judged(tools: &Tools, module: &str, [from, to]: [&Type; 2], level: u32) -> Result<[Counts; 3], String> {
    let floats = from.floats();
    let format = from.channel.format;
    let printed = tools.printed((module, &driver(&floats, format.bits())), level, &[]);
    let lines = lines(&printed);
    let [apart, folded, stored_apart, stored, bits_apart, bits] = &lines[..] else { panic!("{printed}") };
    let there: Vec<Option<u64>> = floats.iter().map(|x| from.qcast(*x).map(|q| from.dcast(q))).collect();
    held("floats", &floats, &there, (apart, folded), Some(&floats))?;
    let bytes: Vec<u64> = (0..256).collect();
    let back = |byte: &u64| to.qcast(from.dcast(from.stored(*byte))).map(|q| u64::from(q as u8));
    let back: Vec<Option<u64>> = bytes.iter().map(back).collect();
    held("stored", &bytes, &back, (stored_apart, stored), (from.text == to.text).then_some(&bytes))?;
    let same: Vec<Option<u64>> = bytes.iter().copied().map(Some).collect();
    held("bits", &bytes, &same, (bits_apart, bits), Some(&bytes))?;
    let defined = |expected: &[Option<u64>], results: &[u64]| -> Vec<Option<u64>> {
        expected.iter().zip(results).map(|(expected, result)| expected.map(|_| *result)).collect()
    };
    let of_bytes = |expected: &[Option<u64>], apart: &[u64], folded: &[u64]| {
        let mut counts = [0; 3];
        for (before, after) in defined(expected, apart).into_iter().zip(folded) {
            counts[class(before, *after, |a, b| a == b)] += 1;
        }
        counts
    };
    Ok([
        of_floats(format, &defined(&there, apart), folded),
        of_bytes(&back, stored_apart, stored),
        of_bytes(&same, bits_apart, bits),
    ])
}

/// Compares separate results with the expected ones, and the other function's results with those of the fold, or with the same if nothing folds.
fn held(
    name: &str,
    inputs: &[u64],
    expected: &[Option<u64>],
    (apart, together): (&[u64], &[u64]),
    folded: Option<&Vec<u64>>,
) -> Result<(), String> {
    for (at, (x, expected)) in inputs.iter().zip(expected).enumerate() {
        let left = folded.map_or(*expected, |folded| Some(folded[at]));
        for (form, result, expected) in [("apart", apart[at], *expected), ("in one function", together[at], left)] {
            if expected.is_some_and(|expected| expected != result) {
                return Err(format!("{name} {form}, {x:#x}: {result:#x}, expected {expected:x?}"));
            }
        }
    }
    Ok(())
}

/// Counts floats in order, without the NaNs at their end. If two floats that are not adjacent have the same result, so do all floats between them:
/// division, addition, conversion and clamp never decrease.
fn of_floats(format: Format, before: &[Option<u64>], after: &[u64]) -> Counts {
    let numbers: Vec<(i64, Option<u64>, usize)> = before
        .iter()
        .zip(after)
        .filter_map(|(before, after)| {
            Some((format.key(*after)?, *before, class(*before, *after, zeros_are_equal(format))))
        })
        .collect();
    let mut counts = [0; 3];
    for (at, (key, before, class)) in numbers.iter().enumerate() {
        counts[*class] += 1;
        let Some((next, result, its)) = numbers.get(at + 1) else { continue };
        if key + 1 < *next {
            assert!(before == result && class == its && *class > 0, "no end of a run: {key} and {next}");
            counts[*class] += key.abs_diff(*next) - 1;
        }
    }
    counts
}

fn zeros_are_equal(format: Format) -> impl Fn(u64, u64) -> bool {
    move |a, b| a == b || (a | b) == format.sign()
}

/// Returns the counts of `rewrites` for a type, summed over claims.
fn rewrites(ty: &str, claims: &[&str]) -> Counts {
    let run = tiebreak(&["rewrites", "--type", ty, "--format", "json"]).exits(0);
    let all = serde_json::from_str::<Value>(&run.stdout).expect("JSON");
    let found = all.as_array().expect("claims").iter().filter(|c| claims.iter().any(|name| c["rewrite"] == *name));
    found.fold([0; 3], |sums, claim| {
        let counts = ["same", "differ", "undefined"].map(|name| claim[name].as_u64().expect("a count"));
        std::array::from_fn(|i| sums[i] + counts[i])
    })
}

/// `canonicalize` removes all ops of a chain of equal types, and none for two types. `cse` alone folds nothing. Inlining restores separate chains.
#[test]
fn canonicalization_folds_pairs_of_equal_types_alone() {
    let tools = Tools::new();
    let [bounded, whole] = [TYPES[1], "!quant.uniform<i8:f32, 0.3:1>"].map(Type::new);
    let ops = |text: &str, name: &str| body(text, name).matches(" = quant.").count();
    for (to, left) in [(&bounded, [0, 0, 0]), (&whole, [0, 4, 0])] {
        let chains = chains(&bounded, to);
        let text = module(&chains, &chains);
        let canonical = tools.made("builtin.module(canonicalize)", &text);
        let eliminated = tools.made("builtin.module(cse)", &text);
        let inlined = tools.made("builtin.module(inline{default-pipeline=})", &text);
        let lowered = tools.made("builtin.module(func.func(lower-quant-ops),canonicalize)", &text);
        for ((name, casts), left) in chains.iter().zip(left) {
            let apart = format!("{name}_apart");
            assert_eq!(ops(&canonical, name), left, "{name}: {canonical}");
            assert_eq!(
                [ops(&eliminated, name), ops(&inlined, &apart)],
                [casts.len(); 2],
                "{name}: {eliminated}{inlined}"
            );
            assert_eq!(body(&canonical, &apart).matches("call @").count(), casts.len(), "{name}: {canonical}");
            // The lowering itself folds.
            assert_eq!(body(&lowered, name).contains("arith.divf"), left > 0, "{name}: {lowered}");
        }
    }
}

/// The results of both functions of each type equal the oracle's, and the changes of a fold equal the counts of `rewrites`, at both levels.
#[test]
fn a_fold_changes_the_values_that_rewrites_counts() {
    TYPES.par_iter().for_each(|text| {
        let tools = Tools::new();
        let ty = Type::new(text);
        let chains = chains(&ty, &ty);
        let folded = tools.made("builtin.module(canonicalize)", &module(&chains, &chains));
        let expected = [
            rewrites(text, &["dcast(qcast(x)) -> x"]),
            rewrites(text, &["qcast(dcast(q)) -> q", "qcast(dcast(q)) -> q, q beyond the bounds"]),
            rewrites(text, &["scast(scast(q)) -> q"]),
        ];
        for level in [0, 2] {
            assert_eq!(judged(&tools, &folded, [&ty; 2], level), Ok(expected), "{text} at -O{level}: {folded}");
        }
        let [floats, stored, bits] = expected;
        assert_eq!(u128::from(floats.iter().sum::<u64>()), ty.channel.format.numbers(), "{text}");
        assert_eq!((stored.iter().sum::<u64>(), bits), (256, [256, 0, 0]), "{text}");
        assert!(floats[1] > 1000, "{text}: {floats:?}");
    });
}

/// Casts of two types do not fold. A function without them loses the clamp, and a separate chain without them computes nothing. Both are detected.
#[test]
fn wrong_folds_are_detected() {
    let tools = Tools::new();
    let [whole, bounded] = ["!quant.uniform<i8:f32, 0.3:1>", TYPES[1]].map(Type::new);
    let sound = chains(&whole, &bounded);
    let mut dropped = sound.clone();
    dropped[1].1 = sound[2].1.clone();
    let judged = |apart, together| {
        let text = tools.made("builtin.module(canonicalize)", &module(apart, together));
        judged(&tools, &text, [&whole, &bounded], 2)
    };
    let [_, stored, _] = judged(&sound, &sound).expect("the oracle's results");
    assert_eq!(stored, [256, 0, 0], "nothing folds");
    let found = judged(&sound, &dropped).expect_err("the clamp is lost");
    assert_eq!(found, "stored in one function, 0x8: 0x8, expected Some(7)");
    let found = judged(&dropped, &sound).expect_err("no cast is left");
    assert_eq!(found, "stored apart, 0x8: 0x8, expected Some(7)");
}
