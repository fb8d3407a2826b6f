//! Range of the inputs of a run: the sizes of its cases, and the kinds of input without a case.

use crate::ledger::{Against, Ledger, Range, Row, Size};
use crate::text::{count, plural};
use crate::view;
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// Number of sizes of an operation that the first screen names.
const NAMED: usize = 3;
/// Parameter that is no size of a case: the number of elements past a boundary.
const NO_EXTENT: &str = "misalign";
/// Number of results. Every operation has this size; a sentence names it only without another size.
const RESULTS: &str = "results";

/// Returns contract rows of kernels that ran a plan, not only inputs of the caller.
fn planned(ledger: &Ledger) -> impl Iterator<Item = &Row> {
    let is = |row: &Row| {
        let of = |p: &&crate::ledger::Planned| p.op == row.op && p.kernel == row.kernel && p.lane == row.lane;
        ledger.planned.iter().filter(of).any(|planned| !planned.given && planned.run > 0)
    };
    ledger.rows.iter().filter(move |row| row.against == Against::Contract && !row.sizes.is_empty() && is(row))
}

/// Names the largest sizes of each operation. The run says nothing about larger ones.
pub(crate) fn largest(ledger: &Ledger) -> Option<String> {
    let mut ops: IndexMap<&str, BTreeMap<&str, u64>> = IndexMap::new();
    for row in planned(ledger) {
        let sizes = ops.entry(&row.op).or_default();
        for (name, size) in row.sizes.iter().filter(|(name, _)| is_extent(name)) {
            let most = sizes.entry(name).or_default();
            *most = size.greatest.max(*most);
        }
    }
    let each = ops.iter().map(|(op, sizes)| {
        let mut named: Vec<_> = sizes.iter().filter(|(name, _)| **name != RESULTS || sizes.len() == 1).collect();
        named.sort_by_key(|(_, most)| std::cmp::Reverse(**most));
        let sizes = named.iter().take(NAMED).map(|(name, most)| format!("{} {}", short(name), count(**most)));
        format!("{op} {}", sizes.collect::<Vec<_>>().join(", "))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("no case is larger than {}", each.join("; ")))
}

/// Returns the last meaningful part of a name: `quantized.scales.len` is the number of scales.
fn short(name: &str) -> &str {
    let name = name.strip_suffix(".len").unwrap_or(name);
    name.rsplit('.').next().unwrap_or(name)
}

/// True if the parameter is a size; ranks of shapes say little.
fn is_extent(name: &str) -> bool {
    name != NO_EXTENT && !name.ends_with("shape.len")
}

/// Names the kinds of input for which a kernel had no case.
pub(crate) fn unreached(ledger: &Ledger) -> Option<String> {
    let mut kinds: IndexMap<[&str; 2], BTreeMap<&str, u64>> = IndexMap::new();
    for row in planned(ledger) {
        for (kind, n) in &row.kinds {
            *kinds.entry([&row.op, kind]).or_default().entry(&row.kernel).or_default() += n;
        }
    }
    let never = |kernels: &BTreeMap<&str, u64>| kernels.values().filter(|n| **n == 0).count();
    let named = kinds.iter().map(|([op, kind], kernels)| (op, kind, never(kernels))).filter(|(.., n)| *n > 0);
    let named: Vec<String> = named.map(|(op, kind, n)| format!("{op} {kind} ({})", plural(n, "kernel"))).collect();
    (!named.is_empty()).then(|| format!("no result was {}", named.join("; ")))
}

/// Describes the range of a kernel's inputs: sizes, kinds, and other parameters.
pub(crate) fn described(row: &Row) -> [String; 3] {
    let size = |(name, size): (&String, &Size)| {
        let Size { least, greatest, remainders } = *size;
        let (from, to) = (count(least), count(greatest));
        match remainders {
            _ if least == greatest => format!("{name} {to}"),
            _ if name == NO_EXTENT => format!("{name} {from} to {to}"),
            64 => format!("{name} {from} to {to}, every remainder of 64"),
            n => format!("{name} {from} to {to}, {n} of 64 remainders"),
        }
    };
    let all: u64 = row.inputs.max(1);
    let kind = |(kind, n): (&String, &u64)| format!("{kind} {} %", percent(*n, all));
    let range = |(name, range): (&String, &Range)| match (number(range.least), number(range.greatest)) {
        (least, greatest) if least == greatest => format!("{name} {least}"),
        (least, greatest) => format!("{name} {least} to {greatest}"),
    };
    let line = |title: &str, parts: Vec<String>| match parts.is_empty() {
        true => String::new(),
        false => format!("{title}: {}", parts.join("; ")),
    };
    [
        line("sizes run", row.sizes.iter().map(size).collect()),
        line("kinds of results", row.kinds.iter().map(kind).collect()),
        line("parameters run", row.ranges.iter().map(range).collect()),
    ]
}

/// Returns a share in percent with one digit. A share above zero never appears as zero.
fn percent(n: u64, all: u64) -> String {
    match 100.0 * n as f64 / all as f64 {
        share if share > 0.0 && share < 0.1 => "< 0.1".to_owned(),
        share => format!("{share:.1}"),
    }
}

fn number(v: f64) -> String {
    if v.fract() == 0.0 && v.abs() < 1e15 { format!("{v}") } else { format!("{v:e}") }
}

/// Returns kernels with the range of their inputs, and the lanes with this range.
pub(crate) fn lines(ledger: &Ledger) -> Vec<(Vec<String>, Vec<&str>)> {
    let rows = ledger.rows.iter().filter(|row| row.against == Against::Contract && !row.sizes.is_empty());
    let cells = rows.map(|row| {
        let [sizes, kinds, ranges] = described(row);
        (vec![row.op.clone(), row.kernel.clone(), sizes, kinds, ranges], row.lane.as_str())
    });
    view::lanes_together(cells)
}
