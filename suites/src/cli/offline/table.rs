//! Cases of a CSV table. The columns `op`, `scheme`, `kernel`, `type`, `case`, `expected` and `id` are the keys of a line. Each other column
//! is an argument of the case; empty cells are ignored.

use super::lines::{Numbered, base, known, line};
use anyhow::{Context, Result, bail};
use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value as Json, json};
use std::path::Path;
use tiebreak_reports::read::{self, TABLE};

/// Columns that are copied as text keys of a line.
const KEYS: [&str; 5] = ["op", "scheme", "kernel", "type", "id"];

/// Reads the lines of a table, numbered as in the file.
pub(super) fn lines(path: &Path) -> Result<Vec<Numbered>> {
    let bytes = read::bytes(path, TABLE)?;
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(&bytes[..]);
    let header = reader.headers().with_context(|| path.display().to_string())?.clone();
    if let Some(twice) =
        header.iter().enumerate().find(|(at, name)| header.iter().take(*at).any(|other| other == *name))
    {
        bail!("{}: the column `{}` is there twice; keep one of them", path.display(), twice.1);
    }
    if !header.iter().any(|name| name == "op") {
        bail!("{}: no column `op`; write a first line such as op,scheme,x,m,s,expected", path.display());
    }
    let one = |record: Result<StringRecord, csv::Error>| match record {
        Ok(record) => {
            let number = record.position().map_or(0, |position| position.line() as usize);
            let read = object(&header, &record).and_then(|json| line(json, base(path))).and_then(known);
            (number, read)
        }
        Err(error) => (error.position().map_or(0, |position| position.line() as usize), Err(error.to_string())),
    };
    Ok(reader.records().map(one).collect())
}

/// Converts a record to the object of a JSON line.
fn object(header: &StringRecord, record: &StringRecord) -> Result<Json, String> {
    if record.len() != header.len() {
        return Err(format!("{} cells, and the first line has {} columns", record.len(), header.len()));
    }
    let (mut out, mut arguments, mut case) = (Map::new(), Map::new(), None);
    for (name, cell) in header.iter().zip(record).filter(|(_, cell)| !cell.is_empty()) {
        match name {
            "case" => case = Some(cell),
            "expected" => drop(out.insert(name.to_owned(), expected(cell))),
            _ if KEYS.contains(&name) => drop(out.insert(name.to_owned(), json!(cell))),
            _ => drop(arguments.insert(name.to_owned(), json!(cell))),
        }
    }
    let case = match case {
        None => Json::Object(arguments),
        Some(text) => {
            let words = arguments.iter().map(|(name, value)| format!(" {name}={}", value.as_str().unwrap_or_default()));
            Json::String(text.to_owned() + &words.collect::<String>())
        }
    };
    out.insert("case".to_owned(), case);
    Ok(Json::Object(out))
}

/// Parses results separated by spaces or commas, or the name of a file with results.
fn expected(cell: &str) -> Json {
    if cell.starts_with('@') {
        return json!(cell);
    }
    let cell = cell.strip_prefix('[').and_then(|cell| cell.strip_suffix(']')).unwrap_or(cell);
    let values = cell.split([' ', ',']).filter(|value| !value.is_empty());
    // Each value is a number, null, or a text such as `inf`.
    values.map(|value| serde_json::from_str(value).unwrap_or_else(|_| json!(value))).collect()
}
