//! The reader of ledgers refuses a text or reads it; every report is made of what is read, and what is written again is the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiebreak_suites::fuzzing::readers::ledger;

fuzz_target!(|text: &[u8]| ledger(text));
