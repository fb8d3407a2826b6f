//! The reader of quantized types refuses a text or reads it, prints what is read as the same, and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::quant_type;

fuzz_target!(|text: &[u8]| quant_type(text));
