//! SIGINT, SIGTERM and SIGHUP: results so far are kept, the workers end, and the exit code is the one that a shell expects.

use crate::lane;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

type Last = Box<dyn FnOnce(&str) + Send>;

/// What is done last.
static LAST: Mutex<Option<Last>> = Mutex::new(None);

/// A signal that comes so soon after the first is the same one: `timeout` and terminals send it to a process and to its group.
const SAME: Duration = Duration::from_secs(1);

fn last() -> MutexGuard<'static, Option<Last>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `f` with the name of the signal that ends this program, if one does.
pub(super) fn on_signal(f: impl FnOnce(&str) + Send + 'static) {
    *last() = Some(Box::new(f));
}

/// Does nothing then but end the workers.
pub(super) fn nothing_on_signal() {
    *last() = None;
}

/// Watches for signals from now on. A second one, a second later, does not wait for the work of the first.
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

/// Whether this program was started so that it outlives its terminal, as by `nohup`. Where the system does not say, the signal is left as it is.
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
