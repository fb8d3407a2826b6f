//! Process group of a worker: all processes end with the lane, and signals of the terminal do not end them first.
//!
//! A worker leads a process group but no session: Linux schedules sessions apart, and on a busy machine a sweep took two to four times as long.

use super::orphans;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Environment variable with a unique mark for every worker; a `tiebreak` started by a worker finds the variable.
pub(super) const INSIDE: &str = "TIEBREAK_WORKER";

/// True if a lane's worker started the program.
pub(super) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some() || is_own_descendant()
}

/// True if an ancestor process runs the same program; detects workers that clear the environment.
#[cfg(target_os = "linux")]
fn is_own_descendant() -> bool {
    use procfs::process::Process;
    let Ok(me) = Process::myself() else { return false };
    let parent = |process: &Process| Process::new(process.stat().ok()?.ppid).ok();
    let mut above = std::iter::successors(parent(&me), parent);
    me.exe().is_ok_and(|program| above.any(|process| process.exe().is_ok_and(|other| other == program)))
}

#[cfg(not(target_os = "linux"))]
fn is_own_descendant() -> bool {
    false
}

/// Groups that have not been ended, by the process that leads each.
static LIVING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn living() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of workers started so far.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Ends the workers of all lanes and all their descendants, and prevents new workers. For a program that is about to end.
pub fn end_all() {
    if STARTED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let living = living();
    let mut family: BTreeSet<i32> = living.iter().flat_map(|leader| orphans::family(*leader)).collect();
    for leader in living.iter().filter_map(|leader| Pid::from_raw(*leader)) {
        // The process may have ended already.
        let _ = kill_process_group(leader, Signal::KILL);
    }
    // Nobody waits for the leaders any more.
    until_done(|| orphans::end_some(&mut family, &BTreeSet::new(), |_| true));
    std::mem::forget(living);
}

/// Number of searches for processes that were started during the end of others, and the pause between two searches.
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

/// Process with all descendants, ended together.
pub(super) struct Group {
    child: Child,
    status: Option<ExitStatus>,
    /// Value of the mark in the environment of the group's processes.
    mark: String,
}

/// Activity of a group's processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// Processor time used so far, including ended processes.
    pub(super) used: Duration,
    /// True if a process is ready to run.
    pub(super) runnable: bool,
    /// True if a process is stopped, by a signal or a debugger.
    pub(super) stopped: bool,
}

impl Group {
    /// Starts `command`. No separate session: systems that share processors between sessions would make each worker wait for the harness.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        orphans::adopt();
        let mark = format!("{}.{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        command.env(INSIDE, &mark).process_group(0);
        // Locked until the process is registered, so that `end_all` misses no process.
        let mut living = living();
        let child = command.spawn()?;
        living.insert(child.id().cast_signed());
        Ok(Self { child, status: None, mark })
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the process number of the leader.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn leader(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// True if the started process has ended. The process is not reaped, so that the number stays reserved for the group.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = self.leader().map(|leader| waitid(WaitId::Pid(leader), options));
        self.status.is_some() || matches!(ended, Some(Ok(Some(_))))
    }

    /// Waits for the group to end, then ends all its processes.
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
            // Fails for a group without members, which needs no signal.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let status = self.child.wait()?;
        living().remove(&leader);
        until_done(|| orphans::end_some(&mut family, &living(), |pid| orphans::is_marked(pid, &self.mark)));
        self.status = Some(status);
        Ok(status)
    }

    /// Returns the activity of the group's processes, if the system provides it.
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
        // Nobody is left to receive the status.
        let _ = self.end(Duration::ZERO);
    }
}
