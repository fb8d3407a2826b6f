//! Processes that leave the group of their worker: by `setsid`, or into a group of their own. Those below a worker are seen before it ends. One whose own
//! parent has ended is this program's from then on, on Linux, and is known by its environment; one that cleared that ends with this program.
//!
//! `tiebreak` asks Linux to adopt orphans (`PR_SET_CHILD_SUBREAPER`), so processes that a worker leaves become its
//! children. `PR_SET_PDEATHSIG` does not serve: it signals the end of the thread that started the worker, and threads end
//! before the process. A `tiebreak` that is killed by SIGKILL closes the pipes of its workers, and does no more.

use super::group::INSIDE;
use procfs::process::{Process, Stat};
use rustix::process::{Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, set_child_subreaper, waitpid};
use std::collections::BTreeSet;
use std::sync::Once;

/// Makes this program the parent of each process below it whose own parent ends.
pub(super) fn adopt() {
    static ADOPTS: Once = Once::new();
    ADOPTS.call_once(|| {
        // Where the system has no such call, they are the first process's.
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// The processes there are.
fn all() -> Vec<Stat> {
    let all = procfs::process::all_processes().into_iter().flatten();
    all.filter_map(|process| process.ok()?.stat().ok()).collect()
}

/// The processes below some, and those below them.
fn below(all: &[Stat], above: impl IntoIterator<Item = i32>) -> BTreeSet<i32> {
    let mut waiting: Vec<i32> = above.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(parent) = waiting.pop() {
        let children = all.iter().filter(|stat| stat.ppid == parent).map(|stat| stat.pid);
        waiting.extend(children.filter(|child| found.insert(*child)).collect::<Vec<_>>());
    }
    found
}

/// The processes below the one that leads a worker's group.
pub(super) fn family(leader: i32) -> BTreeSet<i32> {
    below(&all(), [leader])
}

/// Ends these, and then what some worker left to this program and `is_meant`; whether there is no more of it. `leaders` have somebody who waits for
/// them, and no other may be added meanwhile. What is left to end is in `ended` afterwards.
pub(super) fn end_some(ended: &mut BTreeSet<i32>, leaders: &BTreeSet<i32>, is_meant: impl Fn(i32) -> bool) -> bool {
    for pid in ended.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
    }
    let all = all();
    let left = left_to(getpid().as_raw_nonzero().get(), &all, leaders);
    let (gone, living): (Vec<_>, Vec<_>) = left.into_iter().partition(|stat| stat.state == 'Z');
    for pid in gone.into_iter().filter_map(|stat| Pid::from_raw(stat.pid)) {
        // Nobody else waits for it.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
    let meant: Vec<i32> = living.into_iter().map(|stat| stat.pid).filter(|pid| is_meant(*pid)).collect();
    let known = all.iter().filter(|stat| stat.state != 'Z').map(|stat| stat.pid).filter(|pid| ended.contains(pid));
    let mut next: BTreeSet<i32> = known.chain(meant.iter().copied()).collect();
    next.extend(below(&all, meant));
    *ended = next;
    ended.is_empty()
}

/// Children of this program that a worker left: in no group of a living worker, and not in this program's own, in which the programs are that it asks.
fn left_to(me: i32, all: &[Stat], leaders: &BTreeSet<i32>) -> Vec<Stat> {
    let own = getpgrp().as_raw_nonzero().get();
    let is_left = |stat: &&Stat| {
        stat.ppid == me && stat.pgrp != own && !leaders.contains(&stat.pid) && !leaders.contains(&stat.pgrp)
    };
    all.iter().filter(is_left).cloned().collect()
}

/// Whether a process was started in the worker with this mark.
pub(super) fn is_marked(pid: i32, mark: &str) -> bool {
    let environment = Process::new(pid).and_then(|process| process.environ()).unwrap_or_default();
    environment.get(std::ffi::OsStr::new(INSIDE)).is_some_and(|value| value == mark)
}
