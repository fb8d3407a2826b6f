//! Censuses in closed form and along staircases, of any two schemes, against one accumulator after another.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::census::census;

fuzz_target!(|bytes: &[u8]| {
    if let Err(report) = census(bytes) {
        panic!("{report}");
    }
});
