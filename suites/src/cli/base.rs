//! Run to compare with: the caller's `--base`, or the latest published run of the same command.

use super::ledgers::ended;
use anyhow::Result;
use std::path::Path;
use tiebreak_reports::diff::is_same_request;
use tiebreak_reports::files::LEDGER;
use tiebreak_reports::ledger::Ledger;
use tiebreak_reports::read;

/// Directory of a project's published reports.
const PUBLISHED: &str = "reports/published";

/// Run to compare with. `--base` is read first, so that a wrong path fails at once. The default depends on the start of the run.
#[derive(Debug)]
pub(super) enum Base {
    /// Run given by the caller.
    Given(Box<Ledger>),
    /// Run found by [`published`].
    Published,
}

impl Base {
    /// Reads the caller's run from `ledger.json` or its directory.
    pub(super) fn read(path: Option<&Path>) -> Result<Self> {
        path.map_or(Ok(Self::Published), |path| ended(path).map(|ledger| Self::Given(Box::new(ledger))))
    }

    /// Returns the run to compare with, if there is a run.
    pub(super) fn of(self, ledger: &Ledger) -> Option<Ledger> {
        match self {
            Self::Given(base) => Some(*base),
            Self::Published => published(ledger),
        }
    }
}

/// Finds the latest published run of the same command before this run. `None` in a directory without published runs.
pub(super) fn published(ledger: &Ledger) -> Option<Ledger> {
    let directories = std::fs::read_dir(PUBLISHED).ok()?.flatten().map(|entry| entry.path().join(LEDGER));
    // A full ledger takes a tenth of a second to read, and most ledgers have another command.
    let same = directories.filter(|path| command(path).is_some_and(|other| is_same_request(&other, &ledger.command)));
    let runs = same.filter_map(|path| ended(&path).ok());
    let date = |run: &Ledger| run.environment.as_ref().map(|environment| environment.date.clone());
    runs.filter(|old| date(old) < date(ledger)).max_by_key(date)
}

/// Reads the command of a ledger. `None` if the file is not a ledger.
fn command(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        command: String,
    }
    let text = read::text(path, read::LEDGER).ok()?;
    serde_json::from_str::<Head>(&text).ok().map(|head| head.command)
}
