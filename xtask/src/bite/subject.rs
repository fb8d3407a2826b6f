//! What is changed, and by what its changes are judged.

use super::outcome::Ended;
use super::sample::Choice;
use super::scratch::Scratch;
use anyhow::Result;

/// A package whose code is changed.
pub(crate) trait Subject {
    /// The package's folder.
    fn package(&self) -> &'static str;

    /// Folders, of the package and beside it, that are copied.
    fn folders(&self) -> &'static [&'static str];

    /// What is added to the profile that the copy is built with.
    fn profile(&self) -> &'static str;

    /// Files that are changed at no place, as patterns.
    fn left_out(&self) -> &'static [&'static str];

    /// Longest time for one change, in seconds.
    fn patience(&self) -> u32;

    /// Files that only the copy has: what judges there, by their paths.
    fn added(&self) -> Result<Vec<(&'static str, String)>>;

    /// The rows of the table, and the changes of each.
    fn parts(&self, scratch: &Scratch, choice: &Choice, asked: &[String]) -> Result<Vec<Part>>;

    /// Builds the copy as it is and judges it: where that does not hold, no change can be judged.
    fn holds(&self, scratch: &Scratch) -> Result<()>;

    /// Tries changes of a part.
    fn judge(&self, scratch: &Scratch, part: &str, changes: &[String]) -> Result<Vec<(String, Ended)>>;

    /// The heading of the parts.
    fn heading(&self) -> &'static str;

    /// Whether a change that unit tests see, and `verify` not, is convicted.
    fn is_judged_by_tests(&self) -> bool;
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// All its changes.
    pub(crate) every: Vec<String>,
    /// Those that are to be tried.
    pub(crate) chosen: Vec<String>,
}
