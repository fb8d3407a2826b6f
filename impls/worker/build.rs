//! Passes the hash of the crate's sources to its build.

fn main() {
    tiebreak_sources::bake("impls/worker");
}
