//! Chains of casts as functions of MLIR, separate and in one function, and the program that runs them.

use std::fmt::Write;
use tiebreak_oracle::quantize::{Quantization, Runs};
use tiebreak_oracle::{dequantize, quantize};
use tiebreak_suites::mlir::types::{quantizations, read_type};

/// Number of tested neighbours on both sides of a boundary between two results.
const AROUND: i64 = 64;

/// Type, and its only channel.
pub(super) struct Type {
    pub(super) text: &'static str,
    pub(super) channel: Quantization,
}

impl Type {
    pub(super) fn new(text: &'static str) -> Self {
        let channel = quantizations(&read_type(text).expect("a type")).expect("a type of the oracle")[0];
        Self { text, channel }
    }

    /// Computes `quant.qcast`; `None` for poison.
    pub(super) fn qcast(&self, bits: u64) -> Option<i64> {
        quantize::Scheme::parse("mlir-qcast").expect("a scheme").expected(&self.channel, bits).value()
    }

    pub(super) fn dcast(&self, stored: i64) -> u64 {
        dequantize::Scheme::parse("mlir-dcast").expect("a scheme").expected(&self.channel, stored)
    }

    pub(super) fn stored(&self, byte: u64) -> i64 {
        self.channel.storage.wrap(byte as i64)
    }

    /// Returns floats in order, then a NaN of either sign: every pattern of two bytes; for four bytes, patterns around each boundary between two
    /// results, and around each dequantized value.
    pub(super) fn floats(&self) -> Vec<u64> {
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

/// Chain of casts: name, then each op with the type before and after it.
pub(super) type Chain = (&'static str, Vec<(&'static str, String, String)>);

/// Returns casts to a type and back, from a type to another and back, and `scast` in both directions.
pub(super) fn chains(from: &Type, to: &Type) -> [Chain; 3] {
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

/// Returns `@NAME` with the chain, or with calls of functions with one cast each.
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

/// Returns a module with the first chains as separate casts, and the second in one function each.
pub(super) fn module(apart: &[Chain], together: &[Chain]) -> String {
    let apart = apart.iter().map(|chain| function(chain, true));
    apart.chain(together.iter().map(|chain| function(chain, false))).collect()
}

/// Returns the text of a function.
pub(super) fn body<'a>(module: &'a str, name: &str) -> &'a str {
    let start = module.find(&format!("@{name}(")).unwrap_or_else(|| panic!("no @{name}: {module}"));
    let rest = &module[start..];
    &rest[..rest.find("\n  }").expect("a function ends")]
}

/// Returns a program that runs both functions of each chain on these floats and on all bytes, and prints a line for each.
pub(super) fn driver(floats: &[u64], bits: u32) -> String {
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

/// Returns the numbers of each line.
pub(super) fn lines(printed: &str) -> Vec<Vec<u64>> {
    let line = |line: &str| line.split_whitespace().map(|n| u64::from_str_radix(n, 16).expect("a number")).collect();
    printed.lines().map(line).collect()
}
