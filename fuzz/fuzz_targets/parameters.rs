//! The reader of files of multipliers and shifts refuses a text or reads it, and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::parameters;

fuzz_target!(|text: &[u8]| parameters(text));
