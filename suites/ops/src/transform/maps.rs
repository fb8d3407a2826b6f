//! Matrices in memory by rows or by columns: their cases, and the changes that a kernel may make.

use super::{Layout, Transform};
use crate::fuzzing::Numbers;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::{Arguments, Case, CaseError, Change, Field, arguments, fields};
use tiebreak_impls::transform::map::Params;
use tiebreak_impls::transform::{Kind, Params as Any};
use tiebreak_oracle::transform::map::Map;
use tiebreak_reports::ledger::Value;

/// Converts the parameters to the oracle's map.
pub(super) fn exact(p: &Params) -> Map {
    Map { rows: p.rows, columns: p.columns, stride: p.stride, column_major: p.column_major }
}

const USUAL: Params = Params { rows: 1, columns: 1, stride: 1, column_major: false };

const FIELDS: [Field<Params>; 3] = fields![Params; size stride always; size rows; size columns];

/// Formats the parameters as arguments of a case.
pub(super) fn arguments(p: &Params) -> Vec<(String, Value)> {
    let order = p.column_major.then(|| ("column_major".to_owned(), Value::from(1i64)));
    fields::written(&FIELDS, p, &USUAL).into_iter().chain(order).collect()
}

/// Parses the parameters from the arguments of a case.
pub(super) fn from_arguments(given: &Arguments) -> Result<Params, CaseError> {
    let mut left = given.clone();
    let column_major = arguments::take_size(&mut left, "column_major", 0)? != 0;
    fields::read_all(&FIELDS, Params { column_major, ..USUAL }, &left, &["column_major", "input"])
}

/// Returns parameters with fewer rows or columns, or a smaller stride.
pub(super) fn smaller(p: &Params) -> Vec<Params> {
    let rows = [1, p.rows / 2, p.rows.saturating_sub(1)].map(|rows| Params { rows, ..*p });
    let columns = [1, p.columns / 2, p.columns.saturating_sub(1)].map(|columns| Params { columns, ..*p });
    let (_, len) = p.runs();
    let strides = [len, p.stride.saturating_sub(1)].map(|stride| Params { stride, ..*p });
    rows.into_iter().chain(columns).chain(strides).filter(|p| p.stride >= p.runs().1).collect()
}

/// Returns every number of rows and columns up to 80 or 160, in both orders and with gaps; long matrices; and calls that differ in one parameter.
pub(super) fn plan(budget: &Budget) -> Vec<Any> {
    let most = if budget.every_tail { 160 } else { 80 };
    let with = |rows: usize, columns: usize, gap: usize| {
        [false, true].map(|column_major| {
            let p = Params { rows, columns, stride: 0, column_major };
            Params { stride: p.runs().1 + gap, ..p }
        })
    };
    let sizes = (1..=most).flat_map(|n| [(n, 1 + n % 5, n % 4), (1 + n % 7, n, (n + 1) % 3)]);
    let long = [(130, 9, 1), (9, 130, 0), (33, 33, 5), (17, 129, 2), (256, 17, 3), (1, 4_099, 0), (4_099, 1, 0)];
    let base = Params { rows: 12, columns: 12, stride: 17, column_major: false };
    let changed = [
        Params { stride: 18, ..base },
        Params { column_major: true, ..base },
        Params { rows: 17, ..base },
        Params { columns: 17, ..base },
        Params { rows: 13, columns: 11, ..base },
        Params { rows: 11, columns: 13, ..base },
    ];
    let around = changed.into_iter().flat_map(|one| [base, one]).chain([base]);
    sizes.chain(long).flat_map(|(rows, columns, gap)| with(rows, columns, gap)).chain(around).map(Any::Map).collect()
}

/// Draws a map from a fuzzer's numbers.
pub(super) fn fuzzed(numbers: &mut Numbers<'_>) -> Params {
    let (rows, columns) = (numbers.size(20), numbers.size(20));
    let p = Params { rows, columns, stride: 0, column_major: *numbers.one_of(&[false, true]) };
    Params { stride: p.runs().1 + numbers.size(6) - 1, ..p }
}

/// Returns every change, in the order of preference.
pub(super) fn changes(layout: Layout) -> Vec<Change<Transform>> {
    let with = move |because: &'static str, strides: fn(&Params) -> [usize; 2]| {
        Change::predicts(Class::Layout, because, move |case: &Case<Any>| {
            let (Any::Map(p), Kind::MatrixMap) = (&case.params, layout.kind) else { return None };
            let [of_rows, of_columns] = strides(p);
            let at = |at: usize| at / p.columns * of_rows + at % p.columns * of_columns;
            Some((0..p.rows * p.columns).map(|i| Some(case.tensors[0].get(at(i)).copied().unwrap_or(0))).collect())
        })
    };
    vec![
        with("the stride is ignored: runs are taken for adjacent", |p| {
            if p.column_major { [1, p.rows] } else { [p.columns, 1] }
        }),
        with("the order is ignored: columns are read as rows", |p| [p.stride, 1]),
        with("the other order is read", |p| if p.column_major { [p.stride, 1] } else { [1, p.stride] }),
    ]
}
