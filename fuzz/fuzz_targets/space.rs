//! The readers of ledgers and journals of a space refuse a text or read it, and never panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::space;

fuzz_target!(|text: &[u8]| space(text));
