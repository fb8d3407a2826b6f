//! The aarch64 worker holds the instructions that its ISA paths name: what the compiler made, not what the source says.

use crate::common::{LANES, aarch64};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::LazyLock;
use tiebreak_impls::{fpm, mutants};

/// The worker's disassembly.
static LISTING: LazyLock<String> = LazyLock::new(|| {
    let lane = LANES.lanes.iter().find(|l| l.name == aarch64()).expect("it was found");
    let objdump = lane
        .objdump
        .as_ref()
        .expect("a disassembler: run `cargo xtask test`, and `cargo xtask doctor` if it stays away");
    let worker = lane.command.as_ref().and_then(|c| c.last()).expect("the worker ends the command");
    let output = Command::new(objdump).args(["-d", "--no-show-raw-insn", worker]).output().expect("objdump starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
});

/// Mnemonics on vector registers under a symbol.
fn vector_mnemonics(symbol: &str) -> BTreeSet<&'static str> {
    let lines = LISTING.lines();
    let labels = [format!("<{symbol}>:"), format!("<_{symbol}>:")];
    let mut body = lines.skip_while(|line| !labels.iter().any(|label| line.ends_with(label.as_str())));
    body.next().unwrap_or_else(|| panic!("no symbol {symbol} in the worker"));
    let instructions = body.take_while(|line| !line.trim().is_empty());
    let on_vectors = instructions.filter_map(|line| {
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
        let Some(neon) = &kernel.neon else { continue };
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

/// The check can fail: an instruction that a form does not use is not found under its symbol.
#[test]
fn what_is_not_there_is_not_found() {
    let there = vector_mnemonics("tiebreak_fpm_tvm_neon_rfc");
    assert!(there.contains("sqrdmulh") && !there.contains("sqadd") && !there.contains("sqdmulh"), "{there:?}");
}

#[test]
fn symbols_are_each_used_once() {
    let kernels = fpm::kernels().iter().chain(mutants::fpm::mutants().iter().map(|m| &m.kernel));
    let symbols: Vec<_> = kernels.filter_map(|k| Some(k.neon.as_ref()?.symbol)).collect();
    assert_eq!(symbols.iter().collect::<BTreeSet<_>>().len(), symbols.len(), "{symbols:?}");
}
