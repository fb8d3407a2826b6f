//! A worker that lies: `tiebreak-corruptor TABLE.json PROGRAM ARGUMENT...` passes everything on to a real worker, and gives the results that the table says
//! for the inputs that it names. A row is `{"kernel": NAME, "results": {"INPUT": RESULT}}`, each a word of int32; for operations on single values.

use serde::Deserialize;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use tiebreak_impls::protocol::{Answer, Batch, Request, Source};

#[derive(Deserialize)]
struct Row {
    kernel: String,
    results: HashMap<i32, i32>,
}

fn main() -> ExitCode {
    match corrupt() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tiebreak-corruptor: {error}");
            ExitCode::from(2)
        }
    }
}

fn corrupt() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let table = arguments.next().ok_or_else(|| io::Error::other("no table"))?;
    let rows: Vec<Row> = serde_json::from_slice(&std::fs::read(table)?)?;
    let program = arguments.next().ok_or_else(|| io::Error::other("no worker"))?;
    let mut worker = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut requests = worker.stdin.take().expect("piped");
    let mut answers = BufReader::new(worker.stdout.take().expect("piped"));
    let (mut asked, mut told) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::new();
    while {
        line.clear();
        asked.read_line(&mut line)?
    } > 0
    {
        let request: Request = serde_json::from_str(&line)?;
        let payload = match &request {
            Request::Run(batch) => words(&mut asked, batch)?,
            Request::Hello => Vec::new(),
        };
        requests.write_all(line.as_bytes())?;
        requests.write_all(&bytes(&payload))?;
        requests.flush()?;
        line.clear();
        answers.read_line(&mut line)?;
        told.write_all(line.as_bytes())?;
        if let (Request::Run(batch), Answer::Done { bytes: length }) = (&request, serde_json::from_str(&line)?) {
            let mut results = vec![0; length];
            answers.read_exact(&mut results)?;
            told.write_all(&lied(&rows, batch, &payload, results))?;
        }
        told.flush()?;
    }
    drop(requests);
    worker.wait().map(|_| ())
}

/// The payload behind a request.
fn words(asked: &mut impl Read, batch: &Batch) -> io::Result<Vec<i32>> {
    let Source::Payload { bytes } = batch.source else { return Ok(Vec::new()) };
    let mut payload = vec![0; bytes];
    asked.read_exact(&mut payload)?;
    Ok(payload.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

fn bytes(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The results with those of the table in their places.
fn lied(rows: &[Row], batch: &Batch, payload: &[i32], mut results: Vec<u8>) -> Vec<u8> {
    let (_, kernel) = batch.job.names();
    for row in rows.iter().filter(|row| row.kernel == kernel) {
        for (i, result) in results.chunks_exact_mut(4).enumerate() {
            let input = match batch.source {
                Source::Range { start } => Some(start.wrapping_add(i as i32)),
                Source::Payload { .. } => payload.get(i).copied(),
            };
            if let Some(lie) = input.and_then(|input| row.results.get(&input)) {
                result.copy_from_slice(&lie.to_le_bytes());
            }
        }
    }
    results
}
