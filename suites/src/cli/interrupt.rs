//! SIGINT, SIGTERM and SIGHUP: partial results are kept, the workers end, and the exit code follows the conventions of shells.

use crate::lane;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

type Last = Box<dyn FnOnce(&str) + Send>;

/// Last action before the exit.
static LAST: Mutex<Option<Last>> = Mutex::new(None);

/// Time in which a repeated signal counts as the first signal: `timeout` and terminals send a signal to a process and to its group.
const SAME: Duration = Duration::from_secs(1);

fn last() -> MutexGuard<'static, Option<Last>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the action for a signal that ends this program. The action receives the name of the signal.
pub(super) fn on_signal(f: impl FnOnce(&str) + Send + 'static) {
    *last() = Some(Box::new(f));
}

/// Removes the action: a signal then only ends the workers.
pub(super) fn nothing_on_signal() {
    *last() = None;
}

/// Starts to watch for signals. A second signal after one second ends the workers without waiting for the action; after two, it exits at once.
pub(super) fn watch() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    std::thread::spawn(move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            match first {
                None => {
                    first = Some(Instant::now());
                    std::thread::spawn(move || end(signal));
                }
                Some(first) if first.elapsed() > 2 * SAME => std::process::exit(128 + signal),
                Some(first) if first.elapsed() > SAME => drop(std::thread::spawn(move || end_workers(signal))),
                Some(_) => {}
            }
        }
    });
    Ok(())
}

/// True if this program was started to outlive its terminal, for example by `nohup`. False if procfs cannot be read.
#[cfg(target_os = "linux")]
fn ignores_hangup() -> bool {
    let status = procfs::process::Process::myself().and_then(|me| me.status());
    status.is_ok_and(|status| status.sigign >> (SIGHUP - 1) & 1 == 1)
}

#[cfg(not(target_os = "linux"))]
fn ignores_hangup() -> bool {
    true
}

fn end(signal: i32) {
    let f = last().take();
    if let Some(f) = f {
        f(match signal {
            SIGINT => "SIGINT",
            SIGHUP => "SIGHUP",
            _ => "SIGTERM",
        });
    }
    end_workers(signal)
}

fn end_workers(signal: i32) {
    lane::end_all();
    std::process::exit(128 + signal)
}
