//! The reader of ONNX models refuses any bytes or reads them, and never panics; an audit is made of what is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::onnx;

fuzz_target!(|bytes: &[u8]| onnx(bytes));
