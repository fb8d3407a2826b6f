//! Elimination of common casts (RFC "Improvements in the 'quant' dialect", "Common subexpression elimination"), compiled and run.

use super::chains::{Type, lines};
use super::{TYPES, class, rewrites};
use crate::mlir_workflow::Tools;
use tiebreak_oracle::arithmetic::Arithmetic;
use tiebreak_oracle::float::Format;

/// Returns `@division` of the RFC: quotient and remainder of two arguments. Each is dequantized twice, by casts or by calls, which no pass removes.
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

/// Program that calls `@division` on every pair of bytes, and prints a line of quotients and a line of remainders.
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

/// Elimination leaves two of four casts and every result. Both compiled forms equal the oracle on every pair with a value, as many as `rewrites`
/// counts.
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
