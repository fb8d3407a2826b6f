//! What the cases of a kernel span: the range of every parameter, of the results and of the first operand, and the axes of operands.

use crate::operation::element::Element;
use crate::operation::meaning::{Meaning, meaning};
use crate::operation::names;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// From the least to the greatest value seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Least.
    pub lo: f64,
    /// Greatest.
    pub hi: f64,
}

impl Range {
    /// Widens a range, so that it holds a value.
    pub fn reach(range: &mut Option<Self>, value: f64) {
        let Self { lo, hi } = range.unwrap_or(Self { lo: value, hi: value });
        *range = Some(Self { lo: lo.min(value), hi: hi.max(value) });
    }
}

/// What the cases of a kernel span.
#[derive(Debug, Default)]
pub struct Spanned {
    /// Parameters by name.
    pub parameters: BTreeMap<String, Range>,
    /// Results.
    pub results: Option<Range>,
    /// Elements of the first operand.
    pub inputs: Option<Range>,
    /// Whether results have more than one axis.
    pub rows: bool,
    /// Words of results that are the largest number of a float type, or infinite, of the types that results have.
    pub edges: BTreeSet<i32>,
    /// Each operand's name, with the most axes that it has.
    pub operands: Vec<(&'static str, usize)>,
}

impl Spanned {
    /// Nothing yet, of operands of these names.
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

    /// Adds the parameters of a case: every number by its name, of a list the first element and the length.
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

/// Parameters of a meaning that vary. What a granularity lists is axes and numbers of blocks by turns.
pub fn of_kind(parameters: &BTreeMap<String, Range>, wanted: Meaning) -> Vec<(&String, &Range)> {
    let is = |(name, range): &(&String, &Range)| {
        range.lo < range.hi && meaning(name, range.lo) == wanted && !name.contains("granularity")
    };
    parameters.iter().filter(is).collect()
}

/// Every two of one meaning.
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
