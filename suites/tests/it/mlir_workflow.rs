//! Workflow example of the quant dialect's RFC, in its stages. The shipped passes make each stage, which is compiled and run on every input to which
//! the casts give a value. Also the pass `strip-func-quant-types` on headers, returns, calls and declarations. `cargo xtask test` installs the tools.

use crate::common::*;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;
use tiebreak_suites::mlir::Toolchain;

/// Lane of compiled modules that runs on this host without an emulator.
const NATIVE: &str = if cfg!(target_arch = "aarch64") { "mlir-aarch64" } else { "mlir-x86" };

/// Passes from any stage to LLVM's dialect, as in the lanes of compiled casts.
const REST: &str = "builtin.module(func.func(lower-quant-ops),strip-func-quant-types,canonicalize,cse,\
    func.func(convert-elementwise-to-linalg),linalg-fuse-elementwise-ops,canonicalize,cse,\
    one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},\
    buffer-deallocation-pipeline,canonicalize,cse,convert-bufferization-to-memref,func.func(convert-linalg-to-loops),\
    convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-arith-to-llvm,finalize-memref-to-llvm,\
    convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)";

const TYPE: &str = "tensor<3x!quant.uniform<i8:f32:0, {2.0, 3.0, 4.0}>>";

/// Returns `@multiply_add` as the RFC's pass lowers it op by op: the product is quantized and dequantized again.
fn op_by_op() -> String {
    format!(
        "func.func @multiply_add(%a: {TYPE}, %b: {TYPE}, %c: {TYPE}) -> {TYPE} attributes {{llvm.emit_c_interface}} {{\n  \
           %x = quant.dcast %a : {TYPE} to tensor<3xf32>\n  %y = quant.dcast %b : {TYPE} to tensor<3xf32>\n  \
           %xy = arith.mulf %x, %y : tensor<3xf32>\n  %p = quant.qcast %xy : tensor<3xf32> to {TYPE}\n  \
           %q = quant.dcast %p : {TYPE} to tensor<3xf32>\n  %z = quant.dcast %c : {TYPE} to tensor<3xf32>\n  \
           %s = arith.addf %q, %z : tensor<3xf32>\n  %r = quant.qcast %s : tensor<3xf32> to {TYPE}\n  return %r : {TYPE}\n}}\n"
    )
}

/// Returns `@multiply_add` with calls of functions in place of the casts, and these functions with the given scales.
fn by_calls([dequantize, quantize]: [&str; 2]) -> String {
    let (bytes, floats) = ("tensor<3xi8>", "tensor<3xf32>");
    let ty = |scales: &str| format!("tensor<3x!quant.uniform<i8:f32:0, {{{scales}}}>>");
    let (from, to) = (ty(dequantize), ty(quantize));
    let dcast = |name: &str| {
        format!(
            "  %{name}8 = quant.scast %{name} : {TYPE} to {bytes}\n  \
               %{name}f = func.call @dequantize(%{name}8) : ({bytes}) -> {floats}\n"
        )
    };
    format!(
        "func.func @dequantize(%a: {bytes} {{bufferization.writable = false}}) -> {floats} {{\n  \
           %q = quant.scast %a : {bytes} to {from}\n  %x = quant.dcast %q : {from} to {floats}\n  return %x : {floats}\n}}\n\
         func.func @quantize(%x: {floats} {{bufferization.writable = false}}) -> {bytes} {{\n  \
           %q = quant.qcast %x : {floats} to {to}\n  %a = quant.scast %q : {to} to {bytes}\n  return %a : {bytes}\n}}\n\
         func.func @multiply_add(%a: {TYPE}, %b: {TYPE}, %c: {TYPE}) -> {TYPE} attributes {{llvm.emit_c_interface}} {{\n\
         {}{}  %p = arith.mulf %af, %bf : {floats}\n{}  %s = arith.addf %p, %cf : {floats}\n  \
           %s8 = func.call @quantize(%s) : ({floats}) -> {bytes}\n  %r = quant.scast %s8 : {bytes} to {TYPE}\n  \
           return %r : {TYPE}\n}}\n",
        dcast("a"),
        dcast("b"),
        dcast("c"),
    )
}

/// Program that calls `@multiply_add` on every triple of bytes with a channel in which product and sum fit, and compares with integers.
const DRIVER: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int8_t *base, *data; int64_t offset, size, stride; } vector;
void _mlir_ciface_multiply_add(vector *out, vector *a, vector *b, vector *c);
int main(void) {
    static const int scales[3] = {2, 3, 4};
    long judged = 0, wrong = 0;
    int8_t a[3], b[3], c[3];
    vector va = {a, a, 0, 3, 1}, vb = {b, b, 0, 3, 1}, vc = {c, c, 0, 3, 1}, out;
    for (int x = -128; x < 128; x++)
        for (int y = -128; y < 128; y++)
            for (int z = -128; z < 128; z++) {
                int sum[3], fits[3], any = 0;
                for (int i = 0; i < 3; i++) {
                    int product = scales[i] * x * y;
                    sum[i] = product + z;
                    fits[i] = product == (int8_t)product && sum[i] == (int8_t)sum[i];
                    any |= fits[i];
                    a[i] = (int8_t)x, b[i] = (int8_t)y, c[i] = (int8_t)z;
                }
                if (!any) continue;
                _mlir_ciface_multiply_add(&out, &va, &vb, &vc);
                for (int i = 0; i < 3; i++) {
                    judged += fits[i];
                    wrong += fits[i] && out.data[out.offset + i * out.stride] != sum[i];
                }
                free(out.base);
            }
    printf("%ld %ld\n", judged, wrong);
    return 0;
}
"#;

/// Shipped tools, and a directory to work in.
pub(crate) struct Tools {
    dir: TempDir,
    tools: Toolchain,
}

impl Tools {
    pub(crate) fn new() -> Self {
        let lanes: Value =
            serde_json::from_str(&fs::read_to_string(lanes_file()).expect("the lanes file")).expect("it is JSON");
        let lane = items(&lanes, "lanes").iter().find(|lane| lane["name"] == NATIVE).expect("a known lane");
        let tools = serde_json::from_value(lane["modules"].clone());
        let tools = tools.expect("run `cargo xtask test`, which installs the tools");
        Self { dir: tempfile::tempdir().expect("a temporary directory"), tools }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs `mlir-opt` with passes on a module.
    fn passes(&self, passes: &str, module: &str) -> Output {
        let file = self.path("stage.mlir");
        fs::write(&file, module).expect("written");
        let mut command = Command::new(&self.tools.mlir_opt);
        command.arg(format!("--pass-pipeline={passes}")).arg(file).output().expect("mlir-opt starts")
    }

    /// Returns the module after some passes.
    pub(crate) fn made(&self, passes: &str, module: &str) -> String {
        let output = self.passes(passes, module);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{passes}: {complaint}\n{module}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn run(&self, command: &mut Command) -> String {
        let output = command.current_dir(self.dir.path()).output().expect("a tool starts");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Compiles a stage at a level and runs it; returns the number of judged and of wrong results.
    fn judged(&self, stage: &str, level: u32) -> (u64, u64) {
        let printed = self.printed((stage, DRIVER), level, &[]);
        let numbers: Vec<u64> = printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        (numbers[0], numbers[1])
    }

    /// Returns the output of a C program that is linked with a stage, compiled at a level; `options` are for the linker.
    pub(crate) fn printed(&self, (stage, driver): (&str, &str), level: u32, options: &[&str]) -> String {
        let Toolchain { mlir_translate, opt, llc, linker, archives, .. } = &self.tools;
        fs::write(self.path("low.mlir"), self.made(REST, stage)).expect("written");
        fs::write(self.path("driver.c"), driver).expect("written");
        let level = format!("-O{level}");
        self.run(Command::new(mlir_translate).args(["--mlir-to-llvmir", "low.mlir", "-o", "low.ll"]));
        self.run(Command::new(opt).args([&level, "low.ll", "-o", "low.bc"]));
        self.run(Command::new(llc).args([&level, "-relocation-model=pic", "-filetype=obj", "low.bc", "-o", "low.o"]));
        let files = ["-O2", "driver.c", "low.o", "-o", "driver"];
        self.run(Command::new(linker).args(files).args(options).args(archives));
        self.run(&mut Command::new(self.path("driver")))
    }
}

#[test]
fn every_stage_of_the_workflow_gives_the_real_sum() {
    let tools = Tools::new();
    let lowered = op_by_op();
    let folded = tools.made("builtin.module(canonicalize,cse)", &lowered);
    assert_eq!((lowered.matches("quant.qcast").count(), folded.matches("quant.qcast").count()), (2, 1), "{folded}");
    let arithmetic = tools.made("builtin.module(func.func(lower-quant-ops))", &folded);
    let calls = by_calls(["2.0, 3.0, 4.0"; 2]);
    let stripped = tools.made("builtin.module(strip-func-quant-types)", &calls);
    let cancelled =
        tools.made("builtin.module(func.func(lower-quant-ops),strip-func-quant-types,canonicalize)", &calls);
    assert!(stripped.contains("@multiply_add(%arg0: tensor<3xi8>"), "{stripped}");
    assert!(!cancelled.contains("quant."), "every scast is cancelled: {cancelled}");
    // `rewrites` counts the same number of results to which both casts give a value.
    let stages = [&lowered, &folded, &arithmetic, &calls, &stripped, &cancelled];
    for (at, stage) in stages.into_iter().enumerate() {
        for level in [0, 2] {
            assert_eq!(tools.judged(stage, level), (805_052, 0), "stage {at} at -O{level}: {stage}");
        }
    }
}

#[test]
fn wrong_functions_in_place_of_the_casts_are_detected() {
    let tools = Tools::new();
    for scales in [["2.0, 3.0, 4.0", "2.0, 4.0, 3.0"], ["2.0, 3.0, 4.0:1", "2.0, 3.0, 4.0"]] {
        let (judged, wrong) = tools.judged(&by_calls(scales), 2);
        assert_eq!(judged, 805_052);
        assert!(wrong > 1000, "{scales:?}: {wrong} wrong results");
    }
}

/// Each result of `@division` is a single expression, so elimination must not change it. The casts are pure, and two of four remain.
#[test]
fn common_casts_are_eliminated() {
    let ty = "tensor<3x!quant.uniform<i8:f32, 2.0>>";
    let casts = |n: u32| {
        format!("  %x{n} = quant.dcast %a : {ty} to tensor<3xf32>\n  %y{n} = quant.dcast %b : {ty} to tensor<3xf32>\n")
    };
    let division = format!(
        "func.func @division(%a: {ty}, %b: {ty}) -> ({ty}, {ty}) {{\n{}  %q = arith.divf %x1, %y1 : tensor<3xf32>\n  \
           %qq = quant.qcast %q : tensor<3xf32> to {ty}\n{}  %r = arith.remf %x2, %y2 : tensor<3xf32>\n  \
           %rq = quant.qcast %r : tensor<3xf32> to {ty}\n  return %qq, %rq : {ty}, {ty}\n}}\n",
        casts(1),
        casts(2),
    );
    let made = Tools::new().made("builtin.module(cse)", &division);
    assert_eq!((division.matches("quant.dcast").count(), made.matches("quant.dcast").count()), (4, 2), "{made}");
    assert!(made.contains("arith.divf %0, %1") && made.contains("arith.remf %0, %1"), "{made}");
}

/// Headers, returns, direct calls and declarations lose their quantized types. A function used as a value keeps them, or is rejected (finding 33).
#[test]
fn only_direct_calls_are_stripped() {
    let tools = Tools::new();
    let ty = "tensor<3x!quant.uniform<i8:f32, 2.0>>";
    let strip = "builtin.module(strip-func-quant-types,canonicalize)";
    let direct = format!(
        "func.func private @declared({ty}) -> {ty}\nfunc.func @callee(%a: {ty}) -> {ty} {{\n  \
           %b = func.call @declared(%a) : ({ty}) -> {ty}\n  return %b : {ty}\n}}\nfunc.func @caller(%a: {ty}) -> {ty} {{\n  \
           %b = func.call @callee(%a) : ({ty}) -> {ty}\n  return %b : {ty}\n}}\n"
    );
    let made = tools.made(strip, &direct);
    assert!(!made.contains("quant") && made.matches("tensor<3xi8>").count() >= 10, "{made}");
    let argument = format!(
        "func.func @caller(%f: ({ty}) -> {ty}, %a: {ty}) -> {ty} {{\n  \
           %b = func.call_indirect %f(%a) : ({ty}) -> {ty}\n  return %b : {ty}\n}}\n"
    );
    let made = tools.made(strip, &argument);
    assert!(made.contains("call_indirect") && made.matches("quant.uniform").count() >= 4, "{made}");
    let constant = format!(
        "func.func @callee(%a: {ty}) -> {ty} {{\n  return %a : {ty}\n}}\nfunc.func @caller(%a: {ty}) -> {ty} {{\n  \
           %f = func.constant @callee : ({ty}) -> {ty}\n  %b = func.call_indirect %f(%a) : ({ty}) -> {ty}\n  \
           return %b : {ty}\n}}\n"
    );
    let refused = tools.passes(strip, &constant);
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && complaint.contains("mismatched type"), "{complaint}");
}
