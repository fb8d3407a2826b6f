//! Progress bars on a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use std::sync::LazyLock;

/// The bars of what runs at the same time, one below the other.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// All bars.
pub(crate) fn bars() -> &'static MultiProgress {
    &BARS
}

/// A bar on a terminal, nothing elsewhere. It is gone once its work has ended, or has stopped early.
pub fn progress(what: &str, tasks: usize) -> ProgressBar {
    let bar = BARS.add(ProgressBar::new(tasks as u64).with_finish(ProgressFinish::AndClear));
    if let Ok(style) = ProgressStyle::with_template("{msg:20} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}
