//! Single instructions: any vectors through any kernel, in both its forms, against its contract.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::tensor::run;
use tiebreak_suites::instruction::Instruction;

fuzz_target!(|bytes: &[u8]| {
    if let Err(report) = run::<Instruction>(bytes) {
        panic!("{report}");
    }
});
