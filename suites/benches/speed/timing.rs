//! Times measured by turns, so that a slow moment of the machine affects all compared runs.

use std::time::Instant;

/// Returns the seconds of each of `runs`, `rounds` times by turns, after an uncounted round: `[round][run]`.
pub(crate) fn by_turns(rounds: usize, runs: &mut [&mut dyn FnMut()]) -> Vec<Vec<f64>> {
    let mut round = || -> Vec<f64> {
        let timed = |run: &mut &mut dyn FnMut()| {
            let begun = Instant::now();
            run();
            begun.elapsed().as_secs_f64()
        };
        runs.iter_mut().map(timed).collect()
    };
    round();
    (0..rounds).map(|_| round()).collect()
}

/// Returns the median.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
