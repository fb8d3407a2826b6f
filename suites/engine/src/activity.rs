//! Report on a long run's current work: a line on a terminal; elsewhere a line on standard error after a minute, then after each doubling of the
//! time.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::marker::PhantomData;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Time before the first line without a terminal.
const FIRST: Duration = Duration::from_secs(60);
/// Least duration of an activity for a line on a terminal.
const SHORT: Duration = Duration::from_secs(5);
/// Interval between two updates of the terminal line.
const TICK: Duration = Duration::from_secs(1);

/// Activities of each thread, the innermost last.
type Activities = HashMap<ThreadId, Vec<(Instant, String)>>;

static NOW: LazyLock<Mutex<Activities>> = LazyLock::new(Mutex::default);

fn now() -> MutexGuard<'static, Activities> {
    NOW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Activity of a thread, until dropped.
#[must_use]
pub struct Doing(PhantomData<*const ()>);

/// Begins an activity.
pub fn doing(what: impl FnOnce() -> String) -> Doing {
    now().entry(std::thread::current().id()).or_default().push((Instant::now(), what()));
    Doing(PhantomData)
}

impl Drop for Doing {
    fn drop(&mut self) {
        let (mut now, thread) = (now(), std::thread::current().id());
        if let Some(activities) = now.get_mut(&thread) {
            activities.pop();
            if activities.is_empty() {
                now.remove(&thread);
            }
        }
    }
}

/// Returns the longest innermost activity, and the number of other threads at work.
fn longest() -> Option<(Duration, String, usize)> {
    let now = now();
    let innermost = now.values().filter_map(|activities| activities.last());
    let (since, what) = innermost.min_by_key(|(since, _)| *since)?;
    Some((since.elapsed(), what.clone(), now.len() - 1))
}

/// Describes the work: `fpm tvm-relay in lane mine: a smaller input that fails is looked for (18 s), 1 other at work`
fn sentence() -> Option<(Duration, String)> {
    let (lasted, what, others) = longest()?;
    let others = match others {
        0 => String::new(),
        1 => ", 1 other at work".to_owned(),
        n => format!(", {n} others at work"),
    };
    Some((lasted, format!("{what} ({} s){others}", lasted.as_secs())))
}

/// Reporter of a run's work, until dropped.
#[must_use]
pub struct Said(Sender<()>);

/// Starts the reporter.
pub fn say(bars: &'static MultiProgress) -> Said {
    let (ends, ended) = channel();
    let begun = Instant::now();
    std::thread::spawn(move || {
        let mut line: Option<ProgressBar> = None;
        let mut next = FIRST;
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let said = sentence();
            if std::io::stderr().is_terminal() {
                draw(bars, &mut line, said);
            } else if begun.elapsed() >= next {
                next *= 2;
                let at = said.map_or(String::new(), |(_, sentence)| format!(": {sentence}"));
                // Errors of standard error are ignored.
                let _ =
                    writeln!(std::io::stderr(), "tiebreak: still at work after {} s{at}", begun.elapsed().as_secs());
            }
        }
        line.iter().for_each(ProgressBar::finish_and_clear);
    });
    Said(ends)
}

/// Draws or removes the line of a terminal.
fn draw(bars: &MultiProgress, line: &mut Option<ProgressBar>, said: Option<(Duration, String)>) {
    let Some((_, sentence)) = said.filter(|(lasted, _)| *lasted >= SHORT) else {
        return line.take().iter().for_each(ProgressBar::finish_and_clear);
    };
    let bar = line.get_or_insert_with(|| {
        let bar = bars.add(ProgressBar::no_length());
        bar.set_style(ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar
    });
    bar.set_message(sentence);
    bar.tick();
}

impl Drop for Said {
    fn drop(&mut self) {
        // The thread ends at once; it may have ended with the program.
        let _ = self.0.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 30, item 6: a run of 23 minutes printed nothing.
    #[test]
    fn the_innermost_activity_is_said() {
        let outer = doing(|| "fpm tvm-relay".to_owned());
        let inner = doing(|| "fpm tvm-relay in lane mine: waiting".to_owned());
        let said = |part: &str| sentence().is_some_and(|(_, sentence)| sentence.contains(part));
        assert!(said("in lane mine: waiting (0 s)"));
        drop(inner);
        assert!(said("fpm tvm-relay (0 s)"));
        drop(outer);
        assert!(!said("fpm tvm-relay"));
    }
}
