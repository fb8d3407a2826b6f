//! Dequantizations: any small tensor of any type through any kernel, in both its forms, against its contract.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::tensor::run;
use tiebreak_suites::dequantize::Dequantize;

fuzz_target!(|bytes: &[u8]| {
    if let Err(report) = run::<Dequantize>(bytes) {
        panic!("{report}");
    }
});
