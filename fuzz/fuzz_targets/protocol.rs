//! Both ends of the wire protocol: any bytes are refused or read, and every request that is whole has an answer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::protocol;

fuzz_target!(|bytes: &[u8]| protocol(bytes));
