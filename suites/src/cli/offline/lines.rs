//! Lines of a file of cases: JSON lines, a table, node tests of ONNX, or tests of TOSA.

use super::{chain, onnx, table, tensors, tosa};
use crate::engine::offline::Line;
use crate::verify::OPS;
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use tiebreak_oracle::names::unknown;

/// Number of lines that are read before they are judged.
const CHUNK: usize = 4096;

/// Number of a line, with the line or its error.
pub(super) type Numbered = (usize, Result<Line, String>);

/// Reads a file in chunks, in the order of its lines, and skips blank lines. A path that ends with `.csv` is a table. A directory with a
/// `desc.json` has tests of TOSA. Another directory, or a path that ends with `.onnx`, has node tests. Other files have JSON lines.
pub(super) fn chunks(path: &Path, mut each: impl FnMut(Vec<Numbered>) -> Result<()>) -> Result<()> {
    let ends = |ending: &str| path.extension().is_some_and(|extension| extension == ending);
    let of_tosa = if path.is_dir() { tosa::found(path) } else { Vec::new() };
    if !of_tosa.is_empty() {
        return chunked(tosa::lines(&of_tosa, path)?, &mut each).with_context(|| path.display().to_string());
    }
    if path.is_dir() || ends("onnx") {
        return chunked(onnx::lines(path)?, &mut each).with_context(|| path.display().to_string());
    }
    if ends("csv") {
        return chunked(table::lines(path)?, &mut each).with_context(|| path.display().to_string());
    }
    json(path, each)
}

/// Passes lines in chunks after all of them were read.
fn chunked(mut lines: Vec<Numbered>, each: &mut impl FnMut(Vec<Numbered>) -> Result<()>) -> Result<()> {
    if lines.is_empty() {
        bail!("no case in it");
    }
    while !lines.is_empty() {
        let rest = lines.split_off(lines.len().min(CHUNK));
        each(std::mem::replace(&mut lines, rest))?;
    }
    Ok(())
}

fn json(path: &Path, mut each: impl FnMut(Vec<Numbered>) -> Result<()>) -> Result<()> {
    let named = || format!("{}: cannot be read", path.display());
    let mut file: Box<dyn BufRead> = match path.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(BufReader::new(File::open(path).with_context(named)?)),
    };
    let base = base(path);
    let (mut number, mut any) = (0, false);
    loop {
        let mut texts: Vec<(usize, Vec<u8>)> = Vec::new();
        while texts.len() < CHUNK {
            let mut text = Vec::new();
            if file.read_until(b'\n', &mut text).with_context(named)? == 0 {
                break;
            }
            number += 1;
            if !text.trim_ascii().is_empty() {
                texts.push((number, text));
            }
        }
        if texts.is_empty() {
            break;
        }
        any = true;
        let read = |(number, text): &(usize, Vec<u8>)| (*number, read(text, base).and_then(known));
        each(texts.par_iter().map(read).collect())?;
    }
    if !any {
        bail!("{}: no case in it", path.display());
    }
    Ok(())
}

/// Returns the directory that file names in the lines are relative to.
pub(super) fn base(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn read(text: &[u8], base: &Path) -> Result<Line, String> {
    if !text.contains(&b'@') {
        return serde_json::from_slice(text).map_err(of_line);
    }
    let json = serde_json::from_slice::<Json>(text).map_err(of_line)?;
    line(json, base)
}

/// Removes the line number from an error, because the number counts within a single line.
fn of_line(error: serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// Parses a line and loads the tensors of the files that the line names.
pub(super) fn line(mut json: Json, base: &Path) -> Result<Line, String> {
    tensors::fill(&mut json, base)?;
    serde_json::from_value(json).map_err(|error| error.to_string())
}

/// Returns the line if its operation is known. A chain becomes the line of its last operation.
pub(super) fn known(line: Line) -> Result<Line, String> {
    let line = chain::resolved(line)?;
    match OPS.contains(&line.op.as_str()) {
        true => Ok(line),
        false => Err(unknown("operation", &line.op, OPS.iter().copied()).to_string()),
    }
}
