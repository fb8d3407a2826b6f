//! Quantized multiplication: any small case through any kernel, in both its forms, against its contract.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::elementwise::Mul;
use tiebreak_suites::fuzzing::tensor::run;

fuzz_target!(|bytes: &[u8]| {
    if let Err(report) = run::<Mul>(bytes) {
        panic!("{report}");
    }
});
