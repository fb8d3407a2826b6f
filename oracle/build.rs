//! Embeds the hash of the crate's sources.

fn main() {
    tiebreak_sources::bake("oracle");
}
