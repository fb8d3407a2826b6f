//! The readers of parameter files and of the catalogue refuse a text or read it, and never panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::texts;

fuzz_target!(|text: &[u8]| texts(text));
