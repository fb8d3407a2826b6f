//! Fixed point multiply: any batch through any kernel, in its portable form, against its contract.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::fpm::{Batch, held};

#[derive(Arbitrary, Debug)]
struct Input {
    kernel: u8,
    q: u8,
    misalign: u8,
    channels: Vec<(i32, i8)>,
    xs: Vec<i32>,
}

fuzz_target!(|input: Input| {
    let Input { kernel, q, misalign, channels, xs } = input;
    if let Err(report) = held(kernel.into()).run(&Batch { q, channels, misalign, xs }) {
        panic!("{report}");
    }
});
