//! Commands for `cargo xtask fuzz`: `fuzzing COMMAND TARGET ...`.
//!
//! - `seeds TARGET DIR [KEPT]`: writes the initial inputs of a campaign to `DIR/seeds`, with those of the lines of the file KEPT, and the words of
//!   its dictionary to `DIR/words.dict`.
//! - `keep TARGET DIR KEPT`: adds the inputs in the directory DIR to the file KEPT, a line each.
//! - `show TARGET FILE`: judges one input. If there is a find, prints it as text and ends with exit code 1.
//! - `kernel TARGET NAME`: checks that the target has such a kernel.
//!
//! This program is an example because the models among the seeds come from code of the tests.

#[path = "../analysis/src/model/tests/build.rs"]
mod build;
#[path = "../analysis/src/model/tests/onnx.rs"]
mod onnx;
#[path = "../../reports/tests/reports/sample.rs"]
#[allow(dead_code, reason = "the tests of the reports use more of it")]
mod sample;
#[path = "../analysis/src/model/tests/samples.rs"]
mod samples;

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use tiebreak_suites::fuzzing::{self, Target};
use tiebreak_suites::space::{Part, count};

/// Upper bound on the bytes of an input.
const LARGEST: u64 = 1 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The judge itself parses the kernel.
    let arguments = arguments.iter().map(String::as_str).filter(|argument| !argument.starts_with("--kernel="));
    let arguments: Vec<&str> = arguments.collect();
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn run(arguments: &[&str]) -> Result<ExitCode> {
    let target = |name: &str| fuzzing::find(name);
    match arguments {
        ["seeds", name, directory, kept @ ..] if kept.len() < 2 => seeds(&target(name)?, directory.as_ref(), kept)?,
        ["keep", name, directory, kept] => keep(&target(name)?, directory.as_ref(), kept.as_ref())?,
        ["show", name, file] => return show(&target(name)?, file.as_ref()),
        ["kernel", name, kernel] => match target(name)?.kernel {
            Some(known) => known(kernel)?,
            None => bail!("the target {name} runs no kernels"),
        },
        _ => bail!("write: seeds TARGET DIR [KEPT], keep TARGET DIR KEPT, show TARGET FILE, or kernel TARGET NAME"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns all initial inputs of a campaign.
fn all_seeds(target: &Target) -> Result<Vec<Vec<u8>>> {
    let mut all: Vec<Vec<u8>> = (target.seeds)().into_iter().map(String::into_bytes).collect();
    match target.name {
        "tflite" => all.extend(tflite()?),
        "onnx" => all.push(onnx::every().model()),
        "ledger" => {
            all.extend([sample::holding(), sample::broken()].iter().map(|l| serde_json::to_vec(l).expect("a ledger")))
        }
        "space" => all.extend(space()?),
        _ => {}
    }
    ensure!(!all.is_empty(), "the target {} has no seeds", target.name);
    Ok(all)
}

/// Returns a model of each layer, a model of all layers, and a model for audits, because the others have no scales.
fn tflite() -> Result<Vec<Vec<u8>>> {
    let all = [samples::conv(), samples::depthwise(), samples::fully_connected()];
    let mut out: Vec<Vec<u8>> = all.iter().map(|operator| build::model(std::slice::from_ref(operator))).collect();
    out.push(build::model(&[&all[..], &[samples::add()]].concat()));
    for model in &out {
        let layers = tiebreak_suites::model::parse(model).context("a model of the seeds is refused")?;
        ensure!(!layers.is_empty(), "a model of the seeds has no layer");
    }
    out.push(samples::every());
    Ok(out)
}

/// Returns the ledger of a few multipliers, and the part that an interrupted run leaves.
fn space() -> Result<Vec<Vec<u8>>> {
    let scheme = |name: &str| tiebreak_oracle::fpm::Scheme::parse(name);
    let (left, right) = (scheme("ties-up")?, scheme("gemmlowp-double")?);
    let part = Part { left, right, shifts: [-3, -2], multipliers: [1 << 30, (1 << 30) + 3], chunk: 2, shard: None };
    let plan = part.plan(None)?;
    let chunks =
        plan.places().map(|place| Ok(tiebreak_reports::space::Chunk { place, sums: count(left, right, place)? }));
    let ledger = tiebreak_reports::space::Ledger::new(plan.clone(), chunks.collect::<Result<Vec<_>>>()?).render();
    let begun: String = ledger.split_inclusive('\n').take(3).collect();
    Ok(vec![ledger.into_bytes(), begun.into_bytes()])
}

fn seeds(target: &Target, directory: &Path, kept: &[&str]) -> Result<()> {
    let mut all = all_seeds(target)?;
    let words = directory.join("words.dict");
    let dictionary = dictionary(target, &all)?;
    if let Some(kept) = kept.first() {
        all.extend(lines(kept.as_ref())?);
    }
    let inputs = directory.join("seeds");
    if inputs.exists() {
        fs::remove_dir_all(&inputs).with_context(|| format!("cannot empty {}", inputs.display()))?;
    }
    fs::create_dir_all(&inputs).with_context(|| format!("cannot make {}", inputs.display()))?;
    fs::write(&words, dictionary).with_context(|| format!("cannot write {}", words.display()))?;
    for (i, seed) in all.iter().enumerate() {
        let file = inputs.join(format!("{i:05}"));
        fs::write(&file, seed).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Returns the words of the seeds, and those of `fuzz/dictionaries` if the target has some.
fn dictionary(target: &Target, seeds: &[Vec<u8>]) -> Result<String> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/dictionaries").join(target.name).with_extension("dict");
    let more = if file.is_file() { fs::read_to_string(&file)? } else { String::new() };
    Ok(more + &fuzzing::dictionary(seeds))
}

/// Returns the inputs in the lines of a file; comments begin with `#`.
fn lines(kept: &Path) -> Result<Vec<Vec<u8>>> {
    let text = fs::read_to_string(kept).with_context(|| format!("cannot read {}", kept.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let bytes =
        |(at, line)| fuzzing::bytes(line).map_err(|why| anyhow::anyhow!("{}, line {}: {why}", kept.display(), at + 1));
    lines.map(bytes).collect()
}

fn keep(target: &Target, directory: &Path, kept: &Path) -> Result<()> {
    let old = if kept.exists() { fs::read_to_string(kept)? } else { String::new() };
    let mut all: BTreeSet<String> = old.lines().map(str::to_owned).collect();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let input = fs::read(entry?.path())?;
        all.insert(fuzzing::line(&input, (target.text)(&input)));
    }
    let text: String = all.into_iter().map(|line| line + "\n").collect();
    if let Some(parent) = kept.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    fs::write(kept, text).with_context(|| format!("cannot write {}", kept.display()))
}

fn show(target: &Target, file: &Path) -> Result<ExitCode> {
    let input = tiebreak_reports::read::bytes(file, LARGEST)?;
    // A panic prints its message itself.
    match catch_unwind(AssertUnwindSafe(|| (target.judge)(&input))) {
        Ok(Ok(())) => {
            println!("{}: nothing is wrong with {}", target.name, file.display());
            return Ok(ExitCode::SUCCESS);
        }
        Ok(Err(report)) => println!("{report}"),
        Err(_) => println!("{}: the panic above", target.name),
    }
    println!("input: {}", fuzzing::line(&input, (target.text)(&input)));
    println!("once more: cargo xtask fuzz {} --input {}", target.name, file.display());
    Ok(ExitCode::from(1))
}
