//! Covering arrays of strength t: few rows, such that any t factors occur with every combination of their levels. A fault that needs t conditions at
//! once is therefore hit. All combinations of all factors would be too many rows.
//!
//! The algorithm is greedy and deterministic. The first missing combination begins the next row, and each remaining factor takes the level that
//! completes most missing combinations. Factors are independent: an operation maps every row to a case.

use crate::stream::below;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

/// Returns rows with a level for each factor; factor `f` has the levels `0..levels[f]`. Any `strength` factors occur with every combination of their
/// levels. If there are fewer factors, the rows are all combinations.
pub fn covering(levels: &[usize], strength: usize) -> Vec<Vec<usize>> {
    let mut missing = Missing::of(levels, strength.min(levels.len()));
    let mut rows: Vec<Vec<usize>> = Vec::new();
    while let Some(begun) = missing.first(levels.len()) {
        // Of equally good levels, the least used comes first, so that all levels occur about equally often.
        let used = |factor: usize, level: usize| rows.iter().filter(|row| row[factor] == level).count();
        let mut row = begun;
        for factor in 0..levels.len() {
            if row[factor].is_none() {
                let best = (0..levels[factor]).min_by_key(|level| {
                    (std::cmp::Reverse(missing.gained(&row, factor, *level)), used(factor, *level))
                });
                row[factor] = best;
            }
        }
        let row: Vec<usize> = row.into_iter().flatten().collect();
        missing.take(&row);
        rows.push(row);
    }
    rows
}

/// Returns the rows of a plan, with strength 3. If `every` is false, a factor has two levels: the first, and a random other level in each row.
/// Factors in `whole` always have all levels.
pub fn rows(levels: &[usize], whole: &[usize], every: bool, rng: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    if every {
        return covering(levels, STRENGTH);
    }
    let is_whole = |factor: usize| whole.contains(&factor);
    let fewer = |(factor, levels): (usize, &usize)| if is_whole(factor) { *levels } else { 2.min(*levels) };
    let few: Vec<usize> = levels.iter().enumerate().map(fewer).collect();
    let mut of = |(factor, (level, levels)): (usize, (&usize, &usize))| match level {
        0 => 0,
        level if is_whole(factor) => *level,
        _ => 1 + below(rng, (levels - 1) as u32) as usize,
    };
    covering(&few, STRENGTH).iter().map(|row| row.iter().zip(levels).enumerate().map(&mut of).collect()).collect()
}

/// Strength of plans: number of conditions that a fault may need at once.
const STRENGTH: usize = 3;

/// Combinations that no row has.
struct Missing {
    /// Factors of each group in order, and for each combination of their levels `true` if it is missing. The last factor varies fastest.
    groups: Vec<(Vec<usize>, Vec<bool>)>,
    /// Groups of each factor.
    of_factor: HashMap<usize, Vec<usize>>,
    levels: Vec<usize>,
    /// Index of the first group that can have a missing combination.
    from: usize,
}

impl Missing {
    fn of(levels: &[usize], strength: usize) -> Self {
        let mut groups = Vec::new();
        let mut chosen: Vec<usize> = (0..strength).collect();
        loop {
            groups.push((chosen.clone(), vec![true; chosen.iter().map(|factor| levels[*factor]).product()]));
            // Next choice of factors; the last factor moves first.
            let Some(at) = (0..strength).rev().find(|at| chosen[*at] + strength - at < levels.len()) else { break };
            chosen[at] += 1;
            for next in at + 1..strength {
                chosen[next] = chosen[next - 1] + 1;
            }
        }
        let mut of_factor: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, (factors, _)) in groups.iter().enumerate() {
            factors.iter().for_each(|factor| of_factor.entry(*factor).or_default().push(at));
        }
        Self { groups, of_factor, levels: levels.to_vec(), from: 0 }
    }

    /// Returns a row that has only the levels of the first missing combination.
    fn first(&mut self, factors: usize) -> Option<Vec<Option<usize>>> {
        while self.groups.get(self.from).is_some_and(|(_, missing)| !missing.contains(&true)) {
            self.from += 1;
        }
        let (chosen, missing) = self.groups.get(self.from)?;
        let mut code = missing.iter().position(|missing| *missing)?;
        let mut row = vec![None; factors];
        for factor in chosen.iter().rev() {
            row[*factor] = Some(code % self.levels[*factor]);
            code /= self.levels[*factor];
        }
        Some(row)
    }

    /// Returns the number of missing combinations that a level completes, given the present levels of the row.
    fn gained(&self, row: &[Option<usize>], factor: usize, level: usize) -> usize {
        let of = |f: usize| if f == factor { Some(level) } else { row[f] };
        let groups = self.of_factor.get(&factor).into_iter().flatten();
        groups.filter(|at| self.code(**at, of).is_some_and(|code| self.groups[**at].1[code])).count()
    }

    /// Returns the index of a combination in its group; `None` if a factor has no level yet.
    fn code(&self, group: usize, of: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        self.groups[group].0.iter().try_fold(0, |code, factor| Some(code * self.levels[*factor] + of(*factor)?))
    }

    fn take(&mut self, row: &[usize]) {
        for group in 0..self.groups.len() {
            if let Some(code) = self.code(group, |factor| Some(row[factor])) {
                self.groups[group].1[code] = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Checks that any `strength` factors have every combination of levels, by nested loops over all choices.
    fn is_covered(rows: &[Vec<usize>], levels: &[usize], strength: usize) -> bool {
        let choices = (0u32..1 << levels.len()).filter(|choice| choice.count_ones() as usize == strength);
        choices.into_iter().all(|choice| {
            let factors: Vec<usize> = (0..levels.len()).filter(|factor| choice >> factor & 1 == 1).collect();
            let seen: BTreeSet<Vec<usize>> =
                rows.iter().map(|row| factors.iter().map(|factor| row[*factor]).collect()).collect();
            seen.len() == factors.iter().map(|factor| levels[*factor]).product::<usize>()
        })
    }

    #[test]
    fn every_combination_is_in_a_row() {
        for (levels, strength) in [
            (&[2; 11][..], 3),
            (&[2, 3, 2, 4, 3, 2, 2], 3),
            (&[2, 3, 2, 4, 3, 2, 2], 2),
            (&[5, 1, 2], 2),
            (&[2; 6], 4),
            (&[3, 2], 3),
            (&[4], 1),
        ] {
            let rows = covering(levels, strength);
            assert!(is_covered(&rows, levels, strength.min(levels.len())), "{levels:?} {strength}");
            assert!(rows.iter().all(|row| row.iter().zip(levels).all(|(level, levels)| level < levels)));
            assert_eq!(rows, covering(levels, strength), "the same each time");
        }
    }

    /// One row more would be no error; three times the necessary rows would be slow.
    #[test]
    fn rows_are_few() {
        // Published tables (NIST, ACTS) have 12, 20 and 24 rows.
        assert!(covering(&[2; 5], 3).len() <= 16);
        assert!(covering(&[2; 11], 3).len() <= 28);
        assert!(covering(&[2; 14], 3).len() <= 32);
    }

    #[test]
    fn rows_of_a_plan_have_every_three_conditions() {
        let levels = [3, 2, 4, 3, 1, 2];
        let mut rng = crate::stream::stream(1, "test");
        let (short, long) = (rows(&levels, &[2], false, &mut rng), rows(&levels, &[2], true, &mut rng));
        let conditions: Vec<Vec<usize>> =
            short.iter().map(|row| row.iter().map(|level| usize::from(*level > 0)).collect()).collect();
        assert!(is_covered(&conditions, &levels.map(|levels| levels.min(2)), 3));
        assert!(is_covered(&long, &levels, 3));
        let whole: BTreeSet<usize> = short.iter().map(|row| row[2]).collect();
        assert_eq!(whole.len(), levels[2]);
    }

    /// The last row has a combination that no earlier row has, so that the first test can fail.
    #[test]
    fn without_its_last_row_an_array_lacks_something() {
        for (levels, strength) in [(&[2; 11][..], 3), (&[2, 3, 2, 4], 3), (&[3, 3, 3], 2)] {
            let mut rows = covering(levels, strength);
            rows.pop();
            assert!(!is_covered(&rows, levels, strength), "{levels:?} {strength}");
        }
    }
}
