//! The folds of the quant dialect, as mlir-opt performs them: a function with a chain of casts after `canonicalize`, and the same chain with each cast in a function
//! of its own, where nothing folds. Both are compiled and run, and held to the oracle and to the counts of `rewrites`. `cargo xtask test` installs the tools.
//!
//! `--lower-quant-ops` folds too: without functions of their own, both sides would be the folded one.

use crate::common::tiebreak;
use crate::mlir_workflow::Tools;
use rayon::prelude::*;
use serde_json::Value;
use std::fmt::Write;
use tiebreak_oracle::arithmetic::Arithmetic;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{Quantization, Runs};
use tiebreak_oracle::{dequantize, quantize};
use tiebreak_suites::mlir::types::{quantizations, read_type};

/// Types of a layer with eight bits: whose casts truncate, with bounds, of two bytes that are run on every pattern, unsigned.
const TYPES: [&str; 5] = [
    "!quant.uniform<i8:f32, 0.3>",
    "!quant.uniform<i8<-8:7>:f32, 0.3:1>",
    "!quant.uniform<i8<-8:7>:f16, 0.3:1>",
    "!quant.uniform<u8:bf16, 0.1:128>",
    "!quant.uniform<u8<10:200>:f32, 0.1:128>",
];

/// Neighbours of a boundary between two results that are run on both sides.
const AROUND: i64 = 64;

/// A type, and its only channel.
struct Type {
    text: &'static str,
    channel: Quantization,
}

impl Type {
    fn new(text: &'static str) -> Self {
        let channel = quantizations(&read_type(text).expect("a type")).expect("a type of the oracle")[0];
        Self { text, channel }
    }

    /// `quant.qcast`; nothing where it is poison.
    fn qcast(&self, bits: u64) -> Option<i64> {
        quantize::Scheme::parse("mlir-qcast").expect("a scheme").expected(&self.channel, bits).value()
    }

    fn dcast(&self, stored: i64) -> u64 {
        dequantize::Scheme::parse("mlir-dcast").expect("a scheme").expected(&self.channel, stored)
    }

    fn stored(&self, byte: u64) -> i64 {
        self.channel.storage.wrap(byte as i64)
    }

    /// Floats in order, then a NaN of either sign: every pattern of two bytes; of four those around each boundary between two results, and around each
    /// dequantized value.
    fn floats(&self) -> Vec<u64> {
        let format = self.channel.format;
        let infinity = format.infinity() as i64;
        let mut keys: Vec<i64> = if format.bits() == 16 {
            (-infinity - 1..=infinity).collect()
        } else {
            let runs = Runs::new(&quantize::Scheme::parse("mlir-qcast").expect("a scheme"), &self.channel);
            let ends = runs.expect("few results").iter().flat_map(|(keys, _)| [*keys.start(), *keys.end()]).collect();
            let values = (0..256).filter_map(|byte| format.key(self.dcast(self.stored(byte)))).collect();
            let centres: [Vec<i64>; 2] = [ends, values];
            centres.into_iter().flatten().flat_map(|key| key - AROUND..=key + AROUND).collect()
        };
        keys.retain(|key| (-infinity - 1..=infinity).contains(key));
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(|key| format.from_key(key)).chain([format.nan(), format.nan() | format.sign()]).collect()
    }
}

/// A chain of casts: name, then each op with the type before and after it.
type Chain = (&'static str, Vec<(&'static str, String, String)>);

/// Casts to a type and back, from a type to another and back, and `scast` there and back.
fn chains(from: &Type, to: &Type) -> [Chain; 3] {
    let of = |element: &str| format!("tensor<?x{element}>");
    let (floats, bytes) = (of(from.channel.format.name()), of("i8"));
    let (a, b) = (of(from.text), of(to.text));
    let cast = |op, before: &String, after: &String| (op, before.clone(), after.clone());
    [
        ("floats", vec![cast("qcast", &floats, &a), cast("dcast", &a, &floats)]),
        (
            "stored",
            vec![
                cast("scast", &bytes, &a),
                cast("dcast", &a, &floats),
                cast("qcast", &floats, &b),
                cast("scast", &b, &bytes),
            ],
        ),
        ("bits", vec![cast("scast", &bytes, &a), cast("scast", &a, &bytes)]),
    ]
}

/// `@NAME` with the chain, or with calls of functions with one cast each.
fn function((name, casts): &Chain, is_apart: bool) -> String {
    let mut text = String::new();
    let mut body = String::new();
    let mut header = |name: &str, [from, to]: [&str; 2], attributes: &str, body: &str, result: usize| {
        let _ = write!(
            text,
            "func.func {name}(%0: {from} {{bufferization.writable = false}}) -> {to} {attributes}{{\n{body}  return %{result} : {to}\n}}\n"
        );
    };
    for (at, (op, from, to)) in casts.iter().enumerate() {
        let next = at + 1;
        if is_apart {
            let own = format!("  %1 = quant.{op} %0 : {from} to {to}\n");
            header(&format!("private @{name}_{at}"), [from, to], "", &own, 1);
            let _ = writeln!(body, "  %{next} = func.call @{name}_{at}(%{at}) : ({from}) -> {to}");
        } else {
            let _ = writeln!(body, "  %{next} = quant.{op} %{at} : {from} to {to}");
        }
    }
    let ends = [casts[0].1.as_str(), casts[casts.len() - 1].2.as_str()];
    let name = format!("@{name}{}", if is_apart { "_apart" } else { "" });
    header(&name, ends, "attributes {llvm.emit_c_interface} ", &body, casts.len());
    text
}

/// These chains apart, and those in one function.
fn module(apart: &[Chain], together: &[Chain]) -> String {
    let apart = apart.iter().map(|chain| function(chain, true));
    apart.chain(together.iter().map(|chain| function(chain, false))).collect()
}

/// The text of a function.
fn body<'a>(module: &'a str, name: &str) -> &'a str {
    let start = module.find(&format!("@{name}(")).unwrap_or_else(|| panic!("no @{name}: {module}"));
    let rest = &module[start..];
    &rest[..rest.find("\n  }").expect("a function ends")]
}

/// Runs both functions of each chain on these floats and on all bytes, and prints a line for each.
fn driver(floats: &[u64], bits: u32) -> String {
    let numbers: Vec<String> = floats.iter().map(|bits| format!("{bits:#x}")).collect();
    format!(
        r#"#include <stdint.h>
#include <stdio.h>
typedef uint{bits}_t word;
typedef uint8_t byte;
typedef struct {{ void *base, *data; int64_t offset, size, stride; }} vector;
static word floats[] = {{{}}};
static byte bytes[256];
#define RUN(f, type, inputs) do {{ \
        void _mlir_ciface_##f(vector *out, vector *x); \
        vector x = {{inputs, inputs, 0, sizeof inputs / sizeof *inputs, 1}}, out; \
        _mlir_ciface_##f(&out, &x); \
        for (int64_t i = 0; i < out.size; i++) printf("%x ", (unsigned)((type *)out.data)[out.offset + i * out.stride]); \
        printf("\n"); \
    }} while (0)
int main(void) {{
    for (int i = 0; i < 256; i++) bytes[i] = (byte)i;
    RUN(floats_apart, word, floats);
    RUN(floats, word, floats);
    RUN(stored_apart, byte, bytes);
    RUN(stored, byte, bytes);
    RUN(bits_apart, byte, bytes);
    RUN(bits, byte, bytes);
    return 0;
}}
"#,
        numbers.join(",")
    )
}

/// Numbers of each line.
fn lines(printed: &str) -> Vec<Vec<u64>> {
    let line = |line: &str| line.split_whitespace().map(|n| u64::from_str_radix(n, 16).expect("a number")).collect();
    printed.lines().map(line).collect()
}

/// Inputs with equal results, with different results, and with poison on one side.
type Counts = [u64; 3];

/// A class of [`Counts`].
fn class(before: Option<u64>, after: u64, same: impl Fn(u64, u64) -> bool) -> usize {
    before.map_or(2, |before| usize::from(!same(before, after)))
}

/// Runs a module, and holds both functions of each chain to the oracle: what the folds change of every float but NaN, and of every byte, or the first wrong result.
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

/// Holds the results apart to what is expected, and those of the other function to what the fold leaves, or to the same if nothing folds.
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

/// The counts of floats in order, without the NaNs at their end. Between two that are no neighbours both ends have one result, and so has all between: division, addition,
/// conversion and clamp never decrease.
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

/// What `rewrites` counts of a type, summed over claims.
fn rewrites(ty: &str, claims: &[&str]) -> Counts {
    let run = tiebreak(&["rewrites", "--type", ty, "--format", "json"]).exits(0);
    let all = serde_json::from_str::<Value>(&run.stdout).expect("JSON");
    let found = all.as_array().expect("claims").iter().filter(|c| claims.iter().any(|name| c["rewrite"] == *name));
    found.fold([0; 3], |sums, claim| {
        let counts = ["same", "differ", "undefined"].map(|name| claim[name].as_u64().expect("a count"));
        std::array::from_fn(|i| sums[i] + counts[i])
    })
}

/// `canonicalize` leaves no op of a chain of equal types, and all of two types; `cse` alone folds nothing; the chain apart, inlined, is the chain.
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
            // The lowering folds by itself.
            assert_eq!(body(&lowered, name).contains("arith.divf"), left > 0, "{name}: {lowered}");
        }
    }
}

/// The results of both functions of each type are those of the oracle, and what a fold changes is what `rewrites` counts, at both levels.
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

/// Casts of two types do not fold. A function without them loses the clamp, and a chain apart without them computes nothing: both are detected.
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

/// `@division` of the RFC: quotient and remainder of two arguments, each of which is dequantized twice: by casts, or by calls, which no pass of the pipeline eliminates.
fn division(ty: &str, by_calls: bool) -> String {
    let (quants, floats) = (format!("tensor<?x{ty}>"), "tensor<?xf32>");
    let private = |name: &str, op: &str, from: &str, to: &str| {
        format!(
            "func.func private @{name}(%a: {from} {{bufferization.writable = false}}) -> {to} {{\n  \
               %r = quant.{op} %a : {from} to {to}\n  return %r : {to}\n}}\n"
        )
    };
    let cast = |op: &str, operand: &str, from: &str, to: &str| {
        if by_calls {
            format!("func.call @{op}(%{operand}) : ({from}) -> {to}")
        } else {
            format!("quant.{op} %{operand} : {from} to {to}")
        }
    };
    let dcast = |operand| cast("dcast", operand, &quants, floats);
    let qcast = |operand| cast("qcast", operand, floats, &quants);
    let functions = if by_calls {
        private("dcast", "dcast", &quants, floats) + &private("qcast", "qcast", floats, &quants)
    } else {
        String::new()
    };
    let argument = format!("{quants} {{bufferization.writable = false}}");
    format!(
        "{functions}func.func @division(%a: {argument}, %b: {argument}) -> ({quants}, {quants}) attributes {{llvm.emit_c_interface}} {{\n  \
           %x = {}\n  %y = {}\n  %q = arith.divf %x, %y : {floats}\n  %quotient = {}\n  \
           %v = {}\n  %w = {}\n  %r = arith.remf %v, %w : {floats}\n  %remainder = {}\n  return %quotient, %remainder : {quants}, {quants}\n}}\n",
        dcast("a"),
        dcast("b"),
        qcast("q"),
        dcast("a"),
        dcast("b"),
        qcast("r"),
    )
}

/// Calls `@division` on every pair of bytes, and prints a line of quotients and one of remainders.
const PAIRS: &str = r#"#include <stdint.h>
#include <stdio.h>
typedef struct { uint8_t *base, *data; int64_t offset, size, stride; } vector;
typedef struct { vector quotient, remainder; } results;
void _mlir_ciface_division(results *out, vector *a, vector *b);
static uint8_t a[1 << 16], b[1 << 16];
static void print(vector *v) {
    for (int64_t i = 0; i < v->size; i++) printf("%x ", v->data[v->offset + i * v->stride]);
    printf("\n");
}
int main(void) {
    for (int i = 0; i < 1 << 16; i++) a[i] = (uint8_t)(i >> 8), b[i] = (uint8_t)i;
    vector x = {a, a, 0, 1 << 16, 1}, y = {b, b, 0, 1 << 16, 1};
    results out;
    _mlir_ciface_division(&out, &x, &y);
    print(&out.quotient);
    print(&out.remainder);
    return 0;
}
"#;

/// Elimination leaves two of four casts and every result: both compiled forms give what the oracle does on every pair that it defines, as many as `rewrites` counts.
#[test]
fn elimination_changes_no_result() {
    for text in ["!quant.uniform<i8:f32, 2.0>", TYPES[0]] {
        let tools = Tools::new();
        let ty = Type::new(text);
        let (before, direct) = (division(text, true), division(text, false));
        let after = tools.made("builtin.module(cse)", &direct);
        assert_eq!([&direct, &after].map(|text| text.matches("quant.dcast").count()), [4, 2], "{after}");
        let calls = |text: &str| text.matches("call @dcast").count();
        assert_eq!(
            (calls(&before), calls(&tools.made("builtin.module(canonicalize,cse)", &before))),
            (4, 4),
            "{before}"
        );
        let expected = [Arithmetic::Divide, Arithmetic::Remainder].map(|op| -> Vec<Option<u64>> {
            let operand = |byte| ty.dcast(ty.stored(byte));
            let one = |(a, b)| ty.qcast(op.apply(Format::F32, operand(a), operand(b))).map(|q| u64::from(q as u8));
            (0..256).flat_map(|a| (0..256).map(move |b| (a, b))).map(one).collect()
        });
        for (stage, level) in [&before, &after].into_iter().flat_map(|stage| [(stage, 0), (stage, 2)]) {
            let results = lines(&tools.printed((stage, PAIRS), level, &["-lm"]));
            for (name, expected, results) in
                [("quotient", &expected[0], &results[0]), ("remainder", &expected[1], &results[1])]
            {
                let mut counts = [0; 3];
                for (expected, result) in expected.iter().zip(results) {
                    counts[class(*expected, *result, |a, b| a == b)] += 1;
                }
                let recorded = rewrites(text, &[&format!("division, {name}, after CSE")]);
                assert_eq!((results.len(), counts), (1 << 16, recorded), "{text} {name} at -O{level}: {stage}");
                assert!(counts[0] > 30_000 && counts[1] == 0, "{counts:?}");
            }
        }
    }
}
