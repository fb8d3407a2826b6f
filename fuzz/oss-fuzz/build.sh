#!/usr/bin/env bash
# Builds every fuzz target with its seeds and its dictionary, as OSS-Fuzz wants them: $OUT/TARGET, $OUT/TARGET_seed_corpus.zip, $OUT/TARGET.dict.
set -euo pipefail
cd "$SRC/tiebreak"

cargo fuzz build --release --debug-assertions

# The seeds are written by the harness, which is built as it always is: no sanitizer, no coverage.
harness() {
    env -u RUSTFLAGS -u CFLAGS -u CXXFLAGS cargo run --quiet --release --package tiebreak --example fuzzing -- "$@"
}

cargo fuzz list | while read -r target; do
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    harness seeds "$target" "$WORK/$target" </dev/null
    zip --quiet --junk-paths --recurse-paths "$OUT/${target}_seed_corpus.zip" "$WORK/$target/seeds"
    cp "$WORK/$target/words.dict" "$OUT/$target.dict"
done
