//! Comparison of two runs with one row for each kernel, its lanes and classes merged.

use super::{Change, Count, Diff, Difference};
use crate::ledger::Against;
use crate::text;
use indexmap::{IndexMap, IndexSet};

/// Number of parts of a row that are written out.
const MOST: usize = 3;

/// Changes of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChange<'a> {
    /// Worst change.
    pub change: Change,
    /// Operation.
    pub op: &'a str,
    /// Kernel; empty for a finding about a lane.
    pub kernel: &'a str,
    /// Lanes with a change, each once.
    pub lanes: Vec<&'a str>,
    /// Changes, the worst first; a change names its lanes unless all of the kernel's lanes have it.
    pub what: Vec<String>,
    /// [`Difference::says`] of the worst change.
    pub says: Option<&'a str>,
    /// Command that reproduces the worst change.
    pub command: Option<&'a str>,
}

impl Diff {
    /// Returns one row for each changed kernel, the worst first.
    pub fn kernels(&self) -> Vec<KernelChange<'_>> {
        let mut kernels: IndexMap<[&str; 2], Vec<&Difference>> = IndexMap::new();
        for difference in &self.differences {
            kernels.entry([&difference.op, &difference.kernel]).or_default().push(difference);
        }
        // The differences are sorted, so the first of a kernel is its worst.
        kernels.into_values().map(|all| merged(&all)).collect()
    }
}

fn merged<'a>(all: &[&'a Difference]) -> KernelChange<'a> {
    let worst = all[0];
    let lanes: IndexSet<&str> = all.iter().map(|difference| difference.lane.as_str()).collect();
    let mut parts: IndexMap<String, IndexSet<&str>> = IndexMap::new();
    for difference in all {
        parts.entry(part(difference, worst.change)).or_default().insert(&difference.lane);
    }
    let everywhere = lanes.len();
    let what = parts.into_iter().map(|(part, lanes)| match lanes.len() {
        n if n == everywhere => part,
        _ => format!("{part} in {}", lanes.into_iter().collect::<Vec<_>>().join(", ")),
    });
    KernelChange {
        change: worst.change,
        op: &worst.op,
        kernel: &worst.kernel,
        what: what.collect(),
        lanes: lanes.into_iter().collect(),
        says: all.iter().find_map(|difference| Some(difference).filter(|d| d.change == worst.change)?.says.as_deref()),
        command: all.iter().find_map(|d| Some(d).filter(|d| d.change == worst.change)?.command.as_deref()),
    }
}

/// Describes one change; the kind of change is a prefix if the row has a worse one.
fn part(difference: &Difference, worst: Change) -> String {
    let Difference { change, class, .. } = difference;
    let kind = if *change == worst { String::new() } else { format!("{}: ", change.name()) };
    let what = match (class, difference.against) {
        (Some(class), None) => format!("finding {class}"),
        (class, against) => {
            let class = class.as_ref().map_or(String::new(), |class| format!("{class} "));
            let against = match against {
                Some(Against::Contract) => " against the contract",
                Some(Against::Reference) => " against the reference",
                None => "",
            };
            format!("{class}{}{against}", counts(difference.old, difference.new))
        }
    };
    format!("{kind}{what}")
}

/// `3 of 100 before, 5 of 100 now`; equal numbers of inputs appear once.
fn counts(old: Option<Count>, new: Option<Count>) -> String {
    let of = |count: Count| format!("{} of {}", text::count(count.differ), text::count(count.inputs));
    match (old, new) {
        (Some(old), Some(new)) if old.inputs == new.inputs => {
            let [before, now, inputs] = [old.differ, new.differ, new.inputs].map(text::count);
            format!("{before} before, {now} now, of {inputs}")
        }
        (Some(old), Some(new)) => format!("{} before, {} now", of(old), of(new)),
        (Some(old), None) => format!("{} before", of(old)),
        (None, Some(new)) => format!("{} now", of(new)),
        (None, None) => String::new(),
    }
}

impl KernelChange<'_> {
    /// Column heads of [`Self::cells`].
    pub const HEADS: [&'static str; 5] = ["change", "operation", "kernel", "lanes", "what"];

    /// Returns the cells: change, operation, kernel, lanes, description.
    pub fn cells(&self) -> [String; 5] {
        let named = |name: &str| if name.is_empty() { "-".to_owned() } else { name.to_owned() };
        let what = match self.what.len().saturating_sub(MOST) {
            0 => self.what.join("; "),
            more => format!("{}; and {} more", self.what[..MOST].join("; "), text::count(more as u64)),
        };
        [self.change.name().to_owned(), named(self.op), named(self.kernel), named(&self.lanes.join(", ")), named(&what)]
    }
}
