//! Gives the crate the hash of the sources that it is built from.

fn main() {
    tiebreak_sources::bake("reports");
}
