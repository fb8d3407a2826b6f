//! Readers of foreign files and streams. A reader may refuse its input with a message. No reader may panic, and parsed data is used.

use super::refused;
use crate::audit::{self, Runtime, Side};
use crate::lane::config::Lanes;
use crate::parameters::parse_csv;
use crate::space::merge;
use std::path::Path;
use tiebreak_impls::job_error::JobError;
use tiebreak_reports::space::Ledger;
use tiebreak_reports::table::{self, Detail, Style};
use tiebreak_reports::{annotations, diff, html, json, junit, ledger, markdown, sarif, summary};
use tiebreak_worker::protocol::{Answer, Hello, Job};
use tiebreak_worker::serve::{Kernels, Runner, serve_with};

/// Maximum number of words that a run batch reads and writes.
const RUN: usize = 1 << 12;

/// Reads a file of multipliers and shifts, the format of `--params`.
pub fn parameters(text: &[u8]) {
    refused(parse_csv(Path::new("fuzz.csv"), text));
}

/// Reads a TFLite model: layers and network for `--model`, the audit, and a TOSA test, which has the same format.
pub fn tflite(bytes: &[u8]) {
    refused(crate::model::parse(bytes));
    refused(crate::model::network::network(bytes).map(drop));
    refused(crate::model::tosa::test(bytes));
    audited(bytes);
}

/// Reads an ONNX model: the audit, and the files of a node test. The audit reads an input as TFLite if it begins like a TFLite model.
pub fn onnx(bytes: &[u8]) {
    refused(crate::model::onnx::node::node(bytes));
    refused(crate::model::onnx::node::tensor(bytes));
    audited(bytes);
}

fn audited(bytes: &[u8]) {
    let [left, right] = ["tflite-reference", "xnnpack"].map(|name| Runtime::find(name).expect("a runtime"));
    refused(audit::examine(bytes, Side::Runtime(left), &[Side::Runtime(right)]));
}

/// Reads a lanes file.
pub fn lanes(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Lanes::parse(text) {
        Ok(lanes) => {
            let _names = (lanes.default_names(), lanes.compiled_names().count(), lanes.names().count());
        }
        error => refused(error.map(drop).map_err(|error| format!("{error:#}"))),
    }
}

/// Reads a ledger, makes every report, and compares the ledger with itself.
pub fn ledger(text: &[u8]) {
    let ledger = match serde_json::from_slice::<ledger::Ledger>(text) {
        Ok(ledger) if ledger.adds_up() && ledger.contradiction().is_none() => ledger,
        other => return refused(other.map(drop)),
    };
    html::render(&ledger, html::Earlier::default());
    markdown::render(&ledger);
    summary::render(&ledger, html::Earlier::default());
    junit::render(&ledger);
    sarif::render(&ledger);
    annotations::render(&ledger);
    table::render(&ledger, Detail::Screen, Style::default());
    table::render(&ledger, Detail::Tables, Style::default());
    json::render(&ledger);
    let written = serde_json::to_string(&ledger).expect("string keys only");
    let again = serde_json::from_str::<ledger::Ledger>(&written).expect("what was written is read");
    let twice = serde_json::to_string(&again).expect("string keys only");
    assert!(twice == written, "a ledger that is written and read is another: {written}");
    assert!(!diff::diff(&ledger, &again).is_worse(), "a ledger is worse than itself: {written}");
}

/// Reads the file of a space, complete or not.
pub fn space(text: &[u8]) {
    match merge::contents(text) {
        Ok(Some(contents)) if contents.whole => {
            let ledger = Ledger::new(contents.plan, contents.chunks);
            assert_eq!(ledger.render().as_bytes(), &text[..contents.length]);
        }
        Ok(_) => {}
        Err(error) => refused(Err::<(), _>(format!("{error:#}"))),
    }
}

/// Reads messages between harness and worker: an answer as the harness, and requests as a worker. Checks that all answers are complete, and
/// that there are at most as many answers as requests.
pub fn protocol(bytes: &[u8]) {
    refused(serde_json::from_slice::<Answer>(bytes));
    let mut answers = Vec::new();
    let served = serve_with(&Small, bytes, &mut answers);
    let given = frames(&answers).unwrap_or_else(|reason| panic!("{reason}: {}", answers.escape_ascii()));
    // A request without its payload has no answer, because the harness has gone.
    let requests = bytes.split_inclusive(|byte| *byte == b'\n').count();
    assert!(given <= requests && (given > 0 || requests == 0 || served.is_err()), "{given} answers: {served:?}");
}

/// Worker that refuses requests that would take long or end this process.
struct Small;

impl Runner for Small {
    fn hello(&self) -> Hello {
        Kernels.hello()
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
        if job.ends_its_process() {
            return Err(JobError::Elsewhere { kernel: job.names().1.to_owned(), place: "a worker process only" });
        }
        let len = input.len().max(output.len());
        if len > RUN {
            return Err(JobError::TooLong { len, most: RUN });
        }
        Kernels.run(job, input, output, misalign)
    }
}

/// Counts the answers.
fn frames(mut bytes: &[u8]) -> Result<usize, String> {
    let mut count = 0;
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("an answer without an end")?;
        let (line, rest) = bytes.split_at(end + 1);
        let payload = match serde_json::from_slice::<Answer>(line) {
            Ok(Answer::Done { bytes }) => bytes,
            Ok(Answer::Hello(_) | Answer::Failed { .. }) => 0,
            Err(error) => return Err(format!("no answer: {error}")),
        };
        bytes = rest.get(payload..).ok_or("an answer with less output than it says")?;
        count += 1;
    }
    Ok(count)
}
