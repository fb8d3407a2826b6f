//! A worker's processes: a group of their own, so that all of them end with the lane, and none by the terminal's signals first.
//!
//! A worker leads a process group but no session: Linux schedules a session apart from the harness, and on a busy machine a
//! sweep took two to four times as long.

use super::orphans;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Set for every worker, to a mark of its own, so that a `tiebreak` that a worker starts knows where it is.
pub(super) const INSIDE: &str = "TIEBREAK_WORKER";

/// Whether a lane's worker started this program.
pub(super) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some() || has_itself_above()
}

/// Whether a process that started this one, or the one before, runs this same program: of a worker that clears its environment.
#[cfg(target_os = "linux")]
fn has_itself_above() -> bool {
    use procfs::process::Process;
    let Ok(me) = Process::myself() else { return false };
    let parent = |process: &Process| Process::new(process.stat().ok()?.ppid).ok();
    let mut above = std::iter::successors(parent(&me), parent);
    me.exe().is_ok_and(|program| above.any(|process| process.exe().is_ok_and(|other| other == program)))
}

#[cfg(not(target_os = "linux"))]
fn has_itself_above() -> bool {
    false
}

/// The groups that have not been ended, by the process that leads each.
static LIVING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn living() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Workers started so far.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Ends the workers of all lanes with everything that they started, and lets nobody start another. For a program that is about to end.
pub fn end_all() {
    if STARTED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let living = living();
    let mut family: BTreeSet<i32> = living.iter().flat_map(|leader| orphans::family(*leader)).collect();
    for leader in living.iter().filter_map(|leader| Pid::from_raw(*leader)) {
        // It may have ended by itself.
        let _ = kill_process_group(leader, Signal::KILL);
    }
    // Leaders are nobody's to wait for any more.
    until_done(|| orphans::end_some(&mut family, &BTreeSet::new(), |_| true));
    std::mem::forget(living);
}

/// How often processes are looked for that were started while others were ended, and how long they have to be gone.
const ROUNDS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

fn until_done(mut is_done: impl FnMut() -> bool) {
    for _ in 0..ROUNDS {
        if is_done() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// A process with all that it starts, ended together.
pub(super) struct Group {
    child: Child,
    status: Option<ExitStatus>,
    /// In the environment of its processes.
    mark: String,
}

/// What the processes of a group are at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// Processor time used so far, by those that have ended too.
    pub(super) used: Duration,
    /// One is ready to run.
    pub(super) runnable: bool,
    /// One is stopped, by a signal or a debugger.
    pub(super) stopped: bool,
}

impl Group {
    /// Starts `command`. Not in a session of its own: where the system shares processors between sessions, each worker would
    /// wait for its harness.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        orphans::adopt();
        let mark = format!("{}.{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        command.env(INSIDE, &mark).process_group(0);
        // Held until the process is known, so that none is missed by `end_all`.
        let mut living = living();
        let child = command.spawn()?;
        living.insert(child.id().cast_signed());
        Ok(Self { child, status: None, mark })
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The number of the process that was started.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn leader(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Whether the process that was started has ended. It is not reaped, so that its number stays that of its group.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = self.leader().map(|leader| waitid(WaitId::Pid(leader), options));
        self.status.is_some() || matches!(ended, Some(Ok(Some(_))))
    }

    /// Gives it some time to end by itself, then ends all of it.
    pub(super) fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < grace {
            std::thread::sleep(Duration::from_millis(5));
        }
        if let Some(status) = self.status {
            return Ok(status);
        }
        let leader = self.child.id().cast_signed();
        let mut family = orphans::family(leader);
        if let Some(leader) = Pid::from_raw(leader) {
            // Without members there is nothing to end.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let status = self.child.wait()?;
        living().remove(&leader);
        until_done(|| orphans::end_some(&mut family, &living(), |pid| orphans::is_marked(pid, &self.mark)));
        self.status = Some(status);
        Ok(status)
    }

    /// What its processes are at; `None` where the system does not say.
    #[cfg(target_os = "linux")]
    pub(super) fn activity(&self) -> Option<Activity> {
        let group = self.child.id().cast_signed();
        let all = procfs::process::all_processes().ok()?;
        let members = all.filter_map(|process| process.ok()?.stat().ok()).filter(|stat| stat.pgrp == group);
        let mut activity = Activity { used: Duration::ZERO, runnable: false, stopped: false };
        for stat in members {
            let ticks = stat.utime + stat.stime + (stat.cutime + stat.cstime).cast_unsigned();
            activity.used += Duration::from_secs_f64(ticks as f64 / procfs::ticks_per_second() as f64);
            activity.runnable |= stat.state == 'R';
            activity.stopped |= matches!(stat.state, 'T' | 't');
        }
        Some(activity)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn activity(&self) -> Option<Activity> {
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // There is nobody left to report it to.
        let _ = self.end(Duration::ZERO);
    }
}
