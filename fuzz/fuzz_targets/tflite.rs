//! The readers of TFLite models refuse any bytes or read them, and never panic; an audit is made of what is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::tflite;

fuzz_target!(|bytes: &[u8]| tflite(bytes));
