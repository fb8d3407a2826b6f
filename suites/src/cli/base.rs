//! The run that another one is compared with: the caller's `--base`, or the latest published run of the same command.

use super::ledgers::ended;
use anyhow::Result;
use std::path::Path;
use tiebreak_reports::diff::is_same_request;
use tiebreak_reports::files::LEDGER;
use tiebreak_reports::ledger::Ledger;
use tiebreak_reports::read;

/// Where a project keeps the reports that it publishes.
const PUBLISHED: &str = "reports/published";

/// The run of `--base`, read before anything else: a wrong path ends a run at its beginning. The default depends on when the run began.
#[derive(Debug)]
pub(super) enum Base {
    /// A run of the caller's.
    Given(Box<Ledger>),
    /// [`published`].
    Published,
}

impl Base {
    /// Reads the caller's run, `ledger.json` or its directory.
    pub(super) fn read(path: Option<&Path>) -> Result<Self> {
        path.map_or(Ok(Self::Published), |path| ended(path).map(|ledger| Self::Given(Box::new(ledger))))
    }

    /// The run to compare with, if there is one.
    pub(super) fn of(self, ledger: &Ledger) -> Option<Ledger> {
        match self {
            Self::Given(base) => Some(*base),
            Self::Published => published(ledger),
        }
    }
}

/// The latest published run of the same command before this one. None in a directory without published runs.
pub(super) fn published(ledger: &Ledger) -> Option<Ledger> {
    let directories = std::fs::read_dir(PUBLISHED).ok()?.flatten().map(|entry| entry.path().join(LEDGER));
    // A whole ledger takes a tenth of a second, and most are of other commands.
    let same = directories.filter(|path| command(path).is_some_and(|other| is_same_request(&other, &ledger.command)));
    let runs = same.filter_map(|path| ended(&path).ok());
    let date = |run: &Ledger| run.environment.as_ref().map(|environment| environment.date.clone());
    runs.filter(|old| date(old) < date(ledger)).max_by_key(date)
}

/// The command of a ledger; none of what is no ledger.
fn command(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        command: String,
    }
    let text = read::text(path, read::LEDGER).ok()?;
    serde_json::from_str::<Head>(&text).ok().map(|head| head.command)
}
