//! Sums of the counts of a ledger: the inputs that contracts judged, and a check that all counts can be added, as reports do. A foreign
//! ledger may contain any numbers.

use super::{Against, Ledger, Row};

/// Upper bound on the sum of all counts of a ledger.
const MOST: u128 = (u64::MAX / 2) as u128;

impl Ledger {
    /// True if no sum of the counts exceeds 63 bits.
    pub fn adds_up(&self) -> bool {
        let rows = self.rows.iter().flat_map(of_row);
        let catalogue = self.catalogue.iter().flat_map(|run| [run.cases, run.not_taken, run.judged, run.broken]);
        let agreements = self.agreements.iter().flat_map(|a| {
            [a.results, a.not_compared, a.open, a.differ, a.differ_open].into_iter().chain(a.types.values().copied())
        });
        let planned = self.planned.iter().flat_map(|planned| {
            [planned.planned, planned.run].into_iter().chain(planned.dropped.iter().map(|dropped| dropped.count))
        });
        rows.chain(catalogue).chain(agreements).chain(planned).map(u128::from).sum::<u128>() <= MOST
    }
}

impl Row {
    /// Returns the number of inputs compared with a value of the contract. A reference promises nothing, so its inputs do not count.
    pub fn judged(&self) -> u64 {
        match self.against {
            Against::Contract => self.inputs,
            Against::Reference => 0,
        }
    }
}

fn of_row(row: &Row) -> impl Iterator<Item = u64> {
    let own = [row.parameters, row.inputs, row.out_of_domain, row.differ];
    let maps = [&row.kinds, &row.by_delta, &row.classes, &row.deviations];
    own.into_iter().chain(maps.into_iter().flat_map(|map| map.values().copied()))
}
