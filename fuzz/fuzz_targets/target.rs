//! Source of every fuzz target: the operation or the reader with the name of the binary. The target of an operation judges any small input of any
//! kernel, in both forms of the operation, against the contract. The target of a reader checks that any input is refused or read without a panic.
//!
//! The name is known at compile time, so that each binary contains only the code of its target.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::cases::cases;
use tiebreak_suites::fuzzing::census::census;
use tiebreak_suites::fuzzing::tensor::run;
use tiebreak_suites::fuzzing::{quant_type, readers};

/// Calls a reader.
fn read(reader: fn(&[u8]), input: &[u8]) -> Result<(), String> {
    reader(input);
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let judged = tiebreak_suites::for_operation! { env!("CARGO_BIN_NAME"), Operation => run::<Operation>(bytes),
        "cases" => read(cases, bytes),
        "census" => census(bytes),
        "lanes" => read(readers::lanes, bytes),
        "ledger" => read(readers::ledger, bytes),
        "onnx" => read(readers::onnx, bytes),
        "parameters" => read(readers::parameters, bytes),
        "protocol" => read(readers::protocol, bytes),
        "quant_type" => read(quant_type, bytes),
        "space" => read(readers::space, bytes),
        "tflite" => read(readers::tflite, bytes),
        other => panic!("no target {other}"),
    };
    if let Err(report) = judged {
        panic!("{report}");
    }
});
