//! The reader of lanes files refuses a text or reads it, and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::lanes;

fuzz_target!(|text: &[u8]| lanes(text));
