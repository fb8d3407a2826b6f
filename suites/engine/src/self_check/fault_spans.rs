//! Spans of a kernel's cases: ranges of every parameter, of the results and of the first operand, and the axes of operands.

use crate::operation::element::Element;
use crate::operation::meaning::{Meaning, meaning};
use crate::operation::names;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Range from the least to the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Least value.
    pub lo: f64,
    /// Greatest value.
    pub hi: f64,
}

impl Range {
    /// Widens a range to include a value.
    pub fn reach(range: &mut Option<Self>, value: f64) {
        let Self { lo, hi } = range.unwrap_or(Self { lo: value, hi: value });
        *range = Some(Self { lo: lo.min(value), hi: hi.max(value) });
    }
}

/// Spans of a kernel's cases.
#[derive(Debug, Default)]
pub struct FaultSpans {
    /// Ranges of parameters, by name.
    pub parameters: BTreeMap<String, Range>,
    /// Range of the results.
    pub results: Option<Range>,
    /// Range of the elements of the first operand.
    pub inputs: Option<Range>,
    /// True if results have more than one axis.
    pub rows: bool,
    /// Words for the largest finite value and for infinity, in the float types of the results.
    pub edges: BTreeSet<i32>,
    /// Name of each operand, with the largest number of axes.
    pub operands: Vec<(&'static str, usize)>,
}

impl FaultSpans {
    /// Creates empty spans for named operands.
    pub fn of(operands: &[&'static str]) -> Self {
        Self { operands: operands.iter().map(|name| (*name, 0)).collect(), ..Self::default() }
    }

    /// Adds the dimensions of a case's operands.
    pub fn ranks(&mut self, dimensions: &[Vec<usize>]) {
        for ((_, most), dimensions) in self.operands.iter_mut().zip(dimensions) {
            *most = dimensions.len().max(*most);
        }
    }

    /// Adds the type of a case's results.
    pub fn results_of(&mut self, element: &Element) {
        if let Element::Float(format) = element
            && element.words() == 1
        {
            self.edges.extend([format.largest(), format.infinity()].map(|bits| bits as i32));
        }
    }

    /// Adds the parameters of a case: every number by name, and the first element and the length of a list.
    pub fn parameters(&mut self, params: &Value) {
        let later = |key: &str| key.parse::<usize>().is_ok_and(|at| at > 0);
        for (name, value) in names::all(params).into_iter().filter(|(name, _)| !name.split('.').any(later)) {
            if let Some(number) = value.as_f64() {
                let mut range = self.parameters.get(&name).copied();
                Range::reach(&mut range, number);
                self.parameters.extend(range.map(|range| (name, range)));
            }
        }
    }
}

/// Returns the varying parameters of a meaning. A granularity is left out, because axes and numbers of blocks alternate there.
pub fn of_kind(parameters: &BTreeMap<String, Range>, wanted: Meaning) -> Vec<(&String, &Range)> {
    let is = |(name, range): &(&String, &Range)| {
        range.lo < range.hi && meaning(name, range.lo) == wanted && !name.contains("granularity")
    };
    parameters.iter().filter(is).collect()
}

/// Returns every two varying parameters of equal meaning.
pub fn pairs(parameters: &BTreeMap<String, Range>) -> Vec<[(&String, &Range); 2]> {
    let mut out = Vec::new();
    for meaning in [Meaning::Size, Meaning::ZeroPoint, Meaning::Scale] {
        let all = of_kind(parameters, meaning);
        for (i, one) in all.iter().enumerate() {
            out.extend(all[i + 1..].iter().map(|other| [*one, *other]));
        }
    }
    out
}
