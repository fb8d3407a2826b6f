//! Work on all cores. The code of rayon is instantiated here once, not for each item type of the engine's generic code. Those instances were a
//! seventh of the largest crate.

use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Calls `task` with each of `0..count`.
fn each(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(task);
}

/// Returns the results of `f` for all items, in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let made = Mutex::new(items.iter().map(|_| None).collect::<Vec<Option<R>>>());
    each(items.len(), &|at| {
        let one = f(&items[at]);
        made.lock().expect("no task panics while it stores a result")[at] = Some(one);
    });
    let made = made.into_inner().expect("no task panics while it stores a result");
    // A loop: iterators that collect are compiled again for every type, and these are many.
    let mut results = Vec::with_capacity(made.len());
    for one in made {
        results.push(one.expect("every task has run"));
    }
    results
}

/// Version of [`map`] for tasks that can fail. After a failure, no further task begins. The error is the first one in the order of the items.
pub fn try_map<T: Sync, R: Send, E: Send>(items: &[T], f: impl Fn(&T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let failed = AtomicBool::new(false);
    let one = |item: &T| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let made = f(item);
        failed.fetch_or(made.is_err(), Ordering::Relaxed);
        Some(made)
    };
    let mut results = Vec::with_capacity(items.len());
    for made in map(items, one).into_iter().flatten() {
        results.push(made?);
    }
    Ok(results)
}

/// Runs two tasks in parallel and returns both results.
pub fn both<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (None, None);
    join(Box::new(|| a = Some(first())), Box::new(|| b = Some(second())));
    (a.expect("the first has run"), b.expect("the second has run"))
}

type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

fn join(first: Task<'_>, second: Task<'_>) {
    rayon::join(first, second);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map(&items, |n| n * n), items.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(map(&items[..0], |n| n * n).is_empty());
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn nothing_begins_after_a_failure() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(try_map(&items, |n| Ok::<_, usize>(n + 1)), Ok((1..=1000).collect()));
        let begun = AtomicUsize::new(0);
        let task = |n: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(*n)
        };
        assert!(try_map(&items, task).is_err());
        // At most one task for each thread had begun.
        assert!(begun.into_inner() <= rayon::current_num_threads());
    }
}
