//! Workers contain the instructions that their ISA paths name, as compiled, not only in the source.

use crate::common::{LANES, aarch64};
use crate::registry::{self, Described};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use tiebreak_impls::{fpm, mutants};

/// Disassembly of the aarch64 worker.
static LISTING: LazyLock<String> = LazyLock::new(|| {
    let lane = LANES.lanes.iter().find(|l| l.name == aarch64()).expect("it was found");
    let objdump = lane
        .objdump
        .as_ref()
        .expect("a disassembler: run `cargo xtask test`, and `cargo xtask doctor` if it stays away");
    disassembly(objdump, lane.command.as_ref().and_then(|c| c.last()).expect("the worker ends the command"))
});

fn disassembly(objdump: &Path, worker: &str) -> String {
    let output = Command::new(objdump).args(["-d", "--no-show-raw-insn", worker]).output();
    let output = output.unwrap_or_else(|e| panic!("{}, of binutils: {e}", objdump.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the lines of a listing under a symbol.
fn body<'a>(listing: &'a str, symbol: &str) -> impl Iterator<Item = &'a str> {
    let labels = [format!("<{symbol}>:"), format!("<_{symbol}>:")];
    let mut body = listing.lines().skip_while(move |line| !labels.iter().any(|label| line.ends_with(label.as_str())));
    body.next().unwrap_or_else(|| panic!("no symbol {symbol} in the worker"));
    body.take_while(|line| !line.trim().is_empty())
}

/// Returns mnemonics on vector registers under a symbol.
fn vector_mnemonics(symbol: &str) -> BTreeSet<&'static str> {
    let on_vectors = body(&LISTING, symbol).filter_map(|line| {
        let (_, code) = line.split_once(":\t")?;
        let (mnemonic, operands) = code.trim().split_once(char::is_whitespace)?;
        // `sqrdmulh v0.4s, ...`; some disassemblers write `sqrdmulh.4s v0, ...`.
        let operands = operands.trim();
        operands.starts_with('v').then(|| mnemonic.split('.').next().unwrap_or(mnemonic))
    });
    on_vectors.collect()
}

#[test]
fn every_vector_form_holds_its_instructions() {
    let kernels = fpm::kernels().iter().chain(mutants::fpm::mutants().iter().map(|m| &m.kernel));
    let (mut forms, mut checked) = (0, 0);
    for kernel in kernels {
        let Some(neon) = &kernel.native else { continue };
        let there = vector_mnemonics(neon.symbol);
        for instruction in neon.instructions {
            assert!(there.contains(instruction), "{}: no {instruction} among {there:?}", kernel.name);
            checked += 1;
        }
        forms += 1;
    }
    assert!(forms >= 5, "only {forms} vector forms");
    println!("{checked} instructions of {forms} vector forms");
}

/// The check can fail: an instruction that a form does not use is not under its symbol.
#[test]
fn what_is_not_there_is_not_found() {
    let there = vector_mnemonics("tiebreak_fpm_tvm_neon_rfc");
    assert!(there.contains("sqrdmulh") && !there.contains("sqadd") && !there.contains("sqdmulh"), "{there:?}");
}

/// Returns tensor kernels with a native form for `arch`. Kernels of `instruction` are excluded: they are the instruction itself, in a function
/// without a name, with the flags of a processor.
fn tensor_forms(arch: &str) -> Vec<Described> {
    let all = registry::kernels().into_iter().filter(|kernel| kernel.op != "instruction");
    all.filter(|kernel| kernel.native.as_ref().is_some_and(|form| form.arch == arch)).collect()
}

/// Checks that every named instruction is under its symbol, in the body of every tensor kernel of an operation.
fn holds_its_instructions(forms: &[Described], mnemonics: impl Fn(&str) -> BTreeSet<&'static str>) {
    for kernel in forms {
        let form = kernel.native.as_ref().expect("it has one");
        let there = mnemonics(form.symbol);
        for instruction in form.instructions {
            assert!(there.contains(instruction), "{} {}: no {instruction} among {there:?}", kernel.op, kernel.name);
        }
        assert!(!form.instructions.is_empty(), "{} {} names none", kernel.op, kernel.name);
    }
}

#[test]
fn every_tensor_form_for_aarch64_holds_its_instructions() {
    let forms = tensor_forms("aarch64");
    holds_its_instructions(&forms, vector_mnemonics);
    let count = |op| forms.iter().filter(|kernel| kernel.op == op).count();
    assert!(count("dot") >= 10 && count("matmul") >= 10 && count("conv2d") >= 10 && count("requantize") >= 2);
    println!("{} forms of tensor kernels", forms.len());
}

/// The widening instructions that distinguish the fast from the exact kernel are each in only one of them.
#[test]
fn fast_and_exact_products_are_told_apart() {
    let [fast, exact] = ["tiebreak_matmul_arm_umlal_fast", "tiebreak_matmul_arm_uadalp"].map(vector_mnemonics);
    assert!(fast.contains("umlal2") && !fast.contains("umull2"), "{fast:?}");
    assert!(exact.contains("umull2") && !exact.contains("umlal2"), "{exact:?}");
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    /// Disassembly of the host's worker.
    static LISTING: LazyLock<String> = LazyLock::new(|| {
        disassembly(Path::new("objdump"), crate::common::worker("host-worker").last().expect("the worker"))
    });

    /// Returns mnemonics on registers of 256 and 512 bits under a symbol, without the prefix that selects an encoding.
    fn wide_mnemonics(symbol: &str) -> BTreeSet<&'static str> {
        let on_vectors = body(&LISTING, symbol).filter_map(|line| {
            let (_, code) = line.split_once(":\t")?;
            let code = code.trim();
            let code = code.strip_prefix('{').and_then(|code| code.split_once("} ")).map_or(code, |(_, code)| code);
            let (mnemonic, operands) = code.split_once(char::is_whitespace)?;
            (operands.contains("%ymm") || operands.contains("%zmm")).then_some(mnemonic)
        });
        on_vectors.collect()
    }

    #[test]
    fn every_tensor_form_for_x86_holds_its_instructions() {
        let forms = tensor_forms("x86_64");
        holds_its_instructions(&forms, wide_mnemonics);
        let count = |op| forms.iter().filter(|kernel| kernel.op == op).count();
        assert!(count("dot") >= 4 && count("matmul") >= 4 && count("conv2d") >= 4);
    }

    /// VNNI instructions are in both encodings, in the kernel without saturation and in the one with it.
    #[test]
    fn vnni_is_there_in_both_encodings() {
        for (symbol, there, not) in [
            ("tiebreak_matmul_x86_vnni", "vpdpbusd", "vpdpbusds"),
            ("tiebreak_matmul_x86_vnni_saturating", "vpdpbusds", "vpdpbusd"),
        ] {
            let count = |mnemonic: &str, prefix: bool| {
                let uses = body(&LISTING, symbol).filter(|line| line.split_whitespace().any(|word| word == mnemonic));
                uses.filter(|line| line.contains("{vex}") == prefix).count()
            };
            assert!(count(there, true) > 0 && count(there, false) > 0, "{symbol}");
            assert_eq!(count(not, true) + count(not, false), 0, "{symbol}");
        }
        let maddubs = wide_mnemonics("tiebreak_matmul_x86_maddubs");
        assert!(maddubs.contains("vpmaddubsw") && !maddubs.contains("vpdpbusd"), "{maddubs:?}");
    }
}

/// A convolution runs the product of its matrix kernel, so both have the same symbol.
#[test]
fn convolutions_share_the_symbols_of_products() {
    let all = registry::kernels();
    let symbol = |k: &Described| k.native.as_ref().map(|form| form.symbol);
    let of = |op: &str| -> BTreeSet<&'static str> { all.iter().filter(|k| k.op == op).filter_map(symbol).collect() };
    // Only the spatial pack has a separate micro-kernel.
    let (convolutions, products) = (of("conv2d"), of("matmul"));
    assert!(convolutions.is_superset(&products), "{convolutions:?} {products:?}");
    assert!(convolutions.difference(&products).all(|symbol| *symbol == "tiebreak_conv2d_spatial_pack"));
}

/// Kernels of `requantize` that differ only in the bounds of their results share a form.
#[test]
fn symbols_are_each_used_once() {
    let symbols = mutants::fpm::mutants().iter().filter_map(|m| Some(m.kernel.native.as_ref()?.symbol));
    let tensors = registry::kernels();
    let tensors = tensors
        .iter()
        .filter(|k| !["conv2d", "instruction"].contains(&k.op))
        .filter_map(|k| Some(k.native.as_ref()?.symbol));
    let mut symbols: Vec<_> = symbols.chain(tensors).collect();
    let shared = ["tiebreak_requantize_tvm_neon_rfc", "tiebreak_requantize_tvm_neon_fixup"];
    for symbol in shared {
        assert_eq!(symbols.extract_if(.., |one| *one == symbol).count(), 2, "{symbol}");
    }
    assert_eq!(symbols.iter().collect::<BTreeSet<_>>().len(), symbols.len(), "{symbols:?}");
}
