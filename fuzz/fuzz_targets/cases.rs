//! The readers of cases and of the catalogues refuse a text or read it, and never panic; a small case keeps every contract.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::cases::cases;

fuzz_target!(|text: &[u8]| cases(text));
