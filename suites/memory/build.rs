//! Gives the crate the hash of what it is built from.

#[path = "../../sources/bake.rs"]
mod bake;

fn main() {
    bake::bake("suites/memory");
}
