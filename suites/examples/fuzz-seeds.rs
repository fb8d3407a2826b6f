//! Writes what fuzzing of the readers begins with: `fuzz-seeds DIR` makes `DIR/quant_type` and `DIR/texts`, a file a seed.
//! `cargo xtask fuzz` runs it.

#[path = "../analysis/src/model/tests/build.rs"]
mod build;
#[path = "../analysis/src/model/tests/onnx.rs"]
mod onnx;
#[path = "../analysis/src/model/tests/samples.rs"]
mod samples;

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use tiebreak_suites::fuzzing::seeds;

fn main() -> Result<()> {
    let directory = std::env::args_os().nth(1).context("name the directory to write to: fuzz-seeds DIR")?;
    let directory = PathBuf::from(directory);
    let text = |text: String| text.into_bytes();
    write(&directory.join("quant_type"), seeds::quant_types().into_iter().map(text))?;
    let models = models();
    for model in &models {
        let layers = tiebreak_suites::model::parse(model).context("a model of the seeds is refused")?;
        anyhow::ensure!(!layers.is_empty(), "a model of the seeds has no layer");
    }
    // Those that an audit reads; without the others, which have no scales, it would see few.
    let audited = [samples::every(), onnx::every().model()];
    write(&directory.join("texts"), seeds::texts().into_iter().map(text).chain(models).chain(audited))
}

/// A model of each layer, and one of all.
fn models() -> Vec<Vec<u8>> {
    let all = [samples::conv(), samples::depthwise(), samples::fully_connected()];
    let mut out: Vec<Vec<u8>> = all.iter().map(|operator| build::model(std::slice::from_ref(operator))).collect();
    out.push(build::model(&[&all[..], &[samples::add()]].concat()));
    out
}

/// A file a seed, in a directory that holds no others.
fn write(directory: &Path, seeds: impl Iterator<Item = Vec<u8>>) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    for (i, seed) in seeds.enumerate() {
        let file = directory.join(format!("{i:03}"));
        fs::write(&file, seed).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
