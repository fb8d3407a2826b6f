//! What `ops` has of its own, tested here: its library is compiled once.

mod fuzz_seeds;
mod fuzz_targets;
mod fuzz_tensors;
mod fuzz_texts;
mod fuzz_types;
mod instructions;
mod scale_places;
mod self_checks;
