//! Files of a run that has not ended. The files say so from the start of the run.
//!
//! A run marks its files before any other work, even for a call with wrong arguments. After exit code 2, a signal or a kill,
//! a reader of `ledger.json` must not find the `holds` of an earlier run.

use super::{environment, interrupt, out_lock};
use crate::verify::{Heading, Outcome, PartialRun};
use anyhow::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tiebreak_reports::files::{self, WriteError};
use tiebreak_reports::html::Earlier;
use tiebreak_reports::ledger::Environment;

/// Reason in the files until another reason is known.
const BEGUN: &str = "the run is still going on, or was killed";

/// Files of a run.
pub(super) struct Unfinished {
    out: PathBuf,
    heading: Heading,
    environment: Environment,
    partial: PartialRun,
    /// Lock held until this program ends.
    _lock: Option<File>,
    /// Mutex that serializes writes and stays locked after an interruption.
    writing: Mutex<()>,
}

impl Unfinished {
    /// Marks the files of an earlier run as unfinished. An interruption writes the results in `partial`.
    pub(super) fn begin(out: &Path, heading: Heading, partial: PartialRun) -> anyhow::Result<Arc<Self>> {
        files::check_writable(out)?;
        let lock = out_lock::take(out)?;
        let run = Arc::new(Self {
            out: out.to_owned(),
            heading,
            environment: environment::now(),
            partial,
            _lock: lock,
            writing: Mutex::new(()),
        });
        run.write(BEGUN)?;
        let interrupted = Arc::clone(&run);
        interrupt::on_signal(move |signal| interrupted.interrupted(signal));
        Ok(run)
    }

    fn locked(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, why: &str) -> Result<(), WriteError> {
        let Outcome { mut ledger, mismatches } = self.partial.unfinished(&self.heading, why);
        ledger.environment = Some(self.environment.clone());
        files::write_all(&self.out, &ledger, &mismatches, Earlier::default())
    }

    fn interrupted(&self, signal: &str) {
        let locked = self.locked();
        match self.write(&format!("interrupted by {signal}")) {
            Ok(()) => super::note(&format!(
                "interrupted by {signal}: {} has the results judged until then, marked as unfinished",
                self.out.display()
            )),
            Err(error) => super::note(&format!("interrupted by {signal}: {error}")),
        }
        // The workers end next. Results caused by their end must not be written.
        std::mem::forget(locked);
    }

    /// Returns time and place of the start of the run.
    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Writes the reason for which the run ended without an outcome.
    pub(super) fn failed(&self, error: &Error) -> Result<(), WriteError> {
        let _locked = self.locked();
        self.write(&format!("{error:#}"))
    }

    /// Writes the outcome, compared with earlier runs.
    pub(super) fn ended(&self, outcome: &Outcome, earlier: Earlier<'_>) -> Result<(), WriteError> {
        let _locked = self.locked();
        interrupt::nothing_on_signal();
        files::write_all(&self.out, &outcome.ledger, &outcome.mismatches, earlier)
    }
}
