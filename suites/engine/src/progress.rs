//! Progress bars on a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressFinish, ProgressStyle};
use std::sync::LazyLock;

/// Bars of concurrent work, stacked.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Returns all bars.
pub(crate) fn bars() -> &'static MultiProgress {
    &BARS
}

/// Creates a bar on a terminal, invisible elsewhere. The bar disappears when the work ends or stops early.
pub fn progress(what: &str, tasks: usize) -> ProgressBar {
    let bar = BARS.add(ProgressBar::new(tasks as u64).with_finish(ProgressFinish::AndClear));
    if let Ok(style) = ProgressStyle::with_template("{msg:20} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}
