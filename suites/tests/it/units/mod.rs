//! Tests of internal parts of `ops`. They are here so that its library is compiled only once.

mod fuzz_seeds;
mod fuzz_targets;
mod fuzz_tensors;
mod fuzz_texts;
mod fuzz_types;
mod instructions;
mod scale_places;
mod self_checks;
