//! What the counts of a ledger say together: how many inputs its contracts judged, and whether the counts can be added up, as every report
//! does. A ledger that somebody else wrote may hold anything.

use super::{Against, Ledger, Row};

/// All counts of a ledger together, at most.
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
    /// Inputs to which the contract gave a value, and that were compared with it. A reference promises nothing, so that none of its inputs count.
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
