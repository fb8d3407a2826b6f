//! Gives the crate the hash of what it is built from.

fn main() {
    tiebreak_sources::bake("shards");
}
