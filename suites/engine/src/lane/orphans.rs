//! Processes that leave the group of their worker, by `setsid` or in a new group. Descendants of a worker are listed before it ends. On Linux, a
//! process whose parent has ended becomes a child of this program and is recognized by its environment; a process that cleared its environment ends
//! with this program.
//!
//! `tiebreak` asks Linux to adopt orphans (`PR_SET_CHILD_SUBREAPER`), so processes that a worker leaves become its children. `PR_SET_PDEATHSIG` does
//! not serve: it signals the end of the thread that started the worker, and threads end before the process. A `tiebreak` that is killed by SIGKILL
//! closes the pipes of its workers, and does no more.

use super::group::INSIDE;
use procfs::process::{Process, Stat};
use rustix::process::{Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, set_child_subreaper, waitpid};
use std::collections::BTreeSet;
use std::sync::Once;

/// Makes the program the parent of each descendant whose own parent ends.
pub(super) fn adopt() {
    static ADOPTS: Once = Once::new();
    ADOPTS.call_once(|| {
        // Systems without this call give the orphans to the first process.
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// Lists all processes.
fn all() -> Vec<Stat> {
    let all = procfs::process::all_processes().into_iter().flatten();
    all.filter_map(|process| process.ok()?.stat().ok()).collect()
}

/// Returns the descendants of some processes.
fn below(all: &[Stat], above: impl IntoIterator<Item = i32>) -> BTreeSet<i32> {
    let mut waiting: Vec<i32> = above.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(parent) = waiting.pop() {
        let children = all.iter().filter(|stat| stat.ppid == parent).map(|stat| stat.pid);
        waiting.extend(children.filter(|child| found.insert(*child)).collect::<Vec<_>>());
    }
    found
}

/// Returns the descendants of the leader of a worker's group.
pub(super) fn family(leader: i32) -> BTreeSet<i32> {
    below(&all(), [leader])
}

/// Ends the processes in `ended`, and orphans of this program that `is_meant` selects; true if no process is left. `leaders` are reaped by others,
/// and no leader may be added meanwhile. Afterwards `ended` has the processes left to end.
pub(super) fn end_some(ended: &mut BTreeSet<i32>, leaders: &BTreeSet<i32>, is_meant: impl Fn(i32) -> bool) -> bool {
    for pid in ended.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // The process may have ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
    let all = all();
    let left = left_to(getpid().as_raw_nonzero().get(), &all, leaders);
    let (gone, living): (Vec<_>, Vec<_>) = left.into_iter().partition(|stat| stat.state == 'Z');
    for pid in gone.into_iter().filter_map(|stat| Pid::from_raw(stat.pid)) {
        // Nobody else waits for the process.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
    let meant: Vec<i32> = living.into_iter().map(|stat| stat.pid).filter(|pid| is_meant(*pid)).collect();
    let known = all.iter().filter(|stat| stat.state != 'Z').map(|stat| stat.pid).filter(|pid| ended.contains(pid));
    let mut next: BTreeSet<i32> = known.chain(meant.iter().copied()).collect();
    next.extend(below(&all, meant));
    *ended = next;
    ended.is_empty()
}

/// Returns the children of the program that a worker left: not in the group of a living worker, and not in the program's own group, which has the
/// programs that it calls.
fn left_to(me: i32, all: &[Stat], leaders: &BTreeSet<i32>) -> Vec<Stat> {
    let own = getpgrp().as_raw_nonzero().get();
    let is_left = |stat: &&Stat| {
        stat.ppid == me && stat.pgrp != own && !leaders.contains(&stat.pid) && !leaders.contains(&stat.pgrp)
    };
    all.iter().filter(is_left).cloned().collect()
}

/// True if a process has the mark of a worker.
pub(super) fn is_marked(pid: i32, mark: &str) -> bool {
    let environment = Process::new(pid).and_then(|process| process.environ()).unwrap_or_default();
    environment.get(std::ffi::OsStr::new(INSIDE)).is_some_and(|value| value == mark)
}
