//! The tests of the suites, one binary so that it is linked once; one subject a file.
//!
//! They need the lanes of `cargo xtask test`. A lane that is missing is a failure here: nothing passes by being skipped.

mod additions;
mod agreement;
mod atlas;
mod bad_cases;
mod bad_input;
mod blocks;
mod bounds;
mod catalogue;
mod census;
mod classes;
mod common;
mod explain;
mod explain_casts;
mod fingerprint;
mod installed_lanes;
mod judging;
mod large_types;
mod listings;
mod mlir;
mod mlir_faults;
mod models;
mod mutants;
mod object_code;
mod positions;
mod processes;
mod quant_types;
mod quantize;
mod readers;
mod registry;
mod reports;
mod rewrites;
mod scratch;
mod scratch_tensors;
mod spaces;
mod spaces_edited;
mod spaces_refused;
mod sweeps;
mod tensor_causes;
mod tensor_places;
mod tensors;
