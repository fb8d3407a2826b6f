//! Greedy cover: chooses few candidates that show as many targets as possible.

use std::cmp::Reverse;

/// Limits of the choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Number of candidates.
    pub(super) count: usize,
    /// Bytes of all candidates.
    pub(super) bytes: usize,
    /// Number of targets that each further candidate must add.
    pub(super) gain: usize,
}

/// Order of candidates.
#[derive(Clone, Copy)]
enum By {
    /// By added targets, then by bytes.
    Gain,
    /// By added targets for each byte.
    Density,
}

/// Chooses candidates in addition to those already chosen, until no candidate that fits adds enough targets. `shows[t][c]` is true if candidate `c`
/// shows target `t`. Two orders are tried; the result reaches more targets, or the same number with fewer candidates.
pub(super) fn cover(shows: &[Vec<bool>], bytes: &[usize], limits: Limits, chosen: Vec<usize>) -> Vec<usize> {
    let worth = |chosen: &Vec<usize>| {
        let reached = shows.iter().filter(|of| chosen.iter().any(|at| of[*at])).count();
        (reached, Reverse(chosen.len()))
    };
    let tried = [By::Gain, By::Density].map(|by| greedy(shows, bytes, limits, chosen.clone(), by));
    let [first, second] = tried;
    if worth(&second) > worth(&first) { second } else { first }
}

fn greedy(shows: &[Vec<bool>], bytes: &[usize], limits: Limits, mut chosen: Vec<usize>, by: By) -> Vec<usize> {
    let mut left: Vec<&Vec<bool>> = shows.iter().filter(|of| !chosen.iter().any(|at| of[*at])).collect();
    let mut spent: usize = chosen.iter().map(|at| bytes[*at]).sum();
    while chosen.len() < limits.count {
        let gain = |at: usize| left.iter().filter(|of| of[at]).count();
        let fits = |at: &usize| spent + bytes[*at] <= limits.bytes && !chosen.contains(at);
        let worth = |(gain, at): &(usize, usize)| match by {
            By::Gain => (*gain as u64, Reverse(bytes[*at]), Reverse(*at)),
            By::Density => ((*gain as u64) << 32 >> (bytes[*at].max(1).ilog2()), Reverse(bytes[*at]), Reverse(*at)),
        };
        let gains =
            (0..bytes.len()).filter(fits).map(|at| (gain(at), at)).filter(|(gain, _)| *gain >= limits.gain.max(1));
        let Some((_, best)) = gains.max_by_key(worth) else { break };
        spent += bytes[best];
        left.retain(|of| !of[best]);
        chosen.push(best);
    }
    chosen
}

/// Removes chosen candidates that show no target alone, the largest first.
pub(super) fn needed(shows: &[Vec<bool>], bytes: &[usize], mut chosen: Vec<usize>) -> Vec<usize> {
    let mut order = chosen.clone();
    order.sort_by_key(|at| Reverse(bytes[*at]));
    for at in order {
        let alone = |of: &Vec<bool>| of[at] && !chosen.iter().any(|other| *other != at && of[*other]);
        if !shows.iter().any(alone) {
            chosen.retain(|other| *other != at);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Limits = Limits { count: 100, bytes: 1000, gain: 1 };

    /// Parses targets: a row for each target, a character for each candidate.
    fn rows(rows: &[&str]) -> Vec<Vec<bool>> {
        rows.iter().map(|row| row.chars().map(|c| c == '1').collect()).collect()
    }

    #[test]
    fn few_candidates_that_show_everything() {
        let shows = rows(&["100", "010", "110", "011"]);
        let chosen = cover(&shows, &[10, 10, 10], ALL, Vec::new());
        assert_eq!(chosen, [1, 0]);
        // A target that no candidate shows stays unreached and adds nothing.
        let shows = rows(&["10", "00"]);
        assert_eq!(cover(&shows, &[5, 1], ALL, Vec::new()), [0]);
    }

    #[test]
    fn limits_hold_and_small_candidates_are_tried_where_large_ones_do_not_fit() {
        let shows = rows(&["110", "101", "101"]);
        let bytes = [900, 200, 200];
        assert_eq!(cover(&shows, &bytes, Limits { bytes: 500, ..ALL }, Vec::new()), [2, 1]);
        assert_eq!(cover(&shows, &bytes, Limits { count: 1, ..ALL }, Vec::new()), [0]);
        assert_eq!(cover(&shows, &bytes, Limits { gain: 2, ..ALL }, Vec::new()), [0]);
        assert!(cover(&shows, &bytes, Limits { count: 0, ..ALL }, Vec::new()).is_empty());
    }

    #[test]
    fn what_others_show_together_is_not_needed() {
        let shows = rows(&["110", "101"]);
        assert_eq!(needed(&shows, &[9, 1, 1], vec![0, 1, 2]), [1, 2]);
        assert_eq!(needed(&shows, &[1, 1, 1], vec![0]), [0]);
    }
}
