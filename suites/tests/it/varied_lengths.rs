//! Invariant 9 for plans: along every axis and for every remainder after whole vectors, some case of a short run has a last vector in which all
//! elements differ from their possible replacements. A tail that is read or written at the wrong place is therefore detected.

use std::fmt::Debug;
use tiebreak_impls::transform::{Kind, Params};
use tiebreak_suites::budget::Effort;
use tiebreak_suites::elementwise::{Add, Mul, Sub};
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::operation::{Case, CaseSelection, Operation};
use tiebreak_suites::{conv2d::Conv2d, dot::Dot, matmul::Matmul, pool::Pool, transform::Transform};

/// Elements of a vector.
const WIDTHS: [usize; 5] = [4, 8, 16, 32, 64];
/// Number of elements above which a case is skipped, because there are enough smaller cases.
const LARGE: usize = 1 << 15;

/// Axis of a tensor: `[outer, len, inner]`.
struct Axis {
    name: &'static str,
    len: usize,
    inner: usize,
    values: Vec<i32>,
}

impl Axis {
    /// True if the last vector reveals every shift by less than a vector, and by at most half of the elements.
    fn tells(&self, width: usize) -> bool {
        let first = if self.len.is_multiple_of(width) { self.len - width } else { self.len / width * width };
        let rows: Vec<&[i32]> = self.values.chunks_exact(self.inner * self.len).collect();
        let differ = |i: usize, shift: usize| {
            let at = |row: &[i32], i: usize| row[i * self.inner..][..self.inner].to_vec();
            rows.iter().any(|row| at(row, i) != at(row, i - shift))
        };
        let most = (width - 1).min(self.len.div_ceil(2));
        self.len > 1 && (1..=most).all(|shift| (first.max(shift)..self.len).any(|i| differ(i, shift)))
    }
}

/// Checks that each kernel has every length along an axis that the operation's plan can test.
fn every_rest<O: Operation>(axes: impl Fn(&O::Domain, &Case<O::Params>, Vec<i32>) -> Vec<Axis>)
where
    O::Params: Debug,
{
    for kernel in op::<O>().kernels() {
        let domain = &kernel.contract.domain;
        let scheme = kernel.promise().expect("a known scheme");
        let mut described: std::collections::BTreeMap<&str, [Vec<bool>; 5]> = std::collections::BTreeMap::new();
        let specs = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 0);
        let covered = specs.iter().filter(|spec| kernel.covers(&spec.params));
        for case in covered.filter_map(|spec| spec.case(domain, 0)) {
            let sizes = domain.sizes(&case.params).expect("what is covered has sizes");
            if sizes.outputs + sizes.input() > LARGE {
                continue;
            }
            let results = scheme.expected(&case).expect("a case").into_iter().map(Option::unwrap_or_default).collect();
            for axis in axes(domain.typed::<O>(), &case.typed::<O>(), results) {
                let seen = described.entry(axis.name).or_insert_with(|| WIDTHS.map(|width| vec![false; width]));
                for (seen, width) in seen.iter_mut().zip(WIDTHS) {
                    seen[axis.len % width] |= !seen[axis.len % width] && axis.tells(width);
                }
            }
        }
        assert!(!described.is_empty(), "{} {}", O::OP, kernel.name);
        for (name, seen) in described {
            for (seen, width) in seen.iter().zip(WIDTHS) {
                let blind: Vec<_> = (0..width).filter(|rest| !seen[*rest]).collect();
                assert!(blind.is_empty(), "{} {}: {name} modulo {width}: nothing tells {blind:?}", O::OP, kernel.name);
            }
        }
    }
}

#[test]
fn of_additions() {
    every_rest::<Add>(|_, case, values| vec![Axis { name: "len", len: case.params.len, inner: 1, values }]);
}

#[test]
fn of_subtractions() {
    every_rest::<Sub>(|_, case, values| vec![Axis { name: "len", len: case.params.len, inner: 1, values }]);
}

#[test]
fn of_multiplications() {
    every_rest::<Mul>(|_, case, values| vec![Axis { name: "len", len: case.params.len, inner: 1, values }]);
}

#[test]
fn of_dot_products() {
    every_rest::<Dot>(|domain, case, values| {
        let (inner, elements) = (domain.results, domain.elements);
        let len = case.params.len / inner;
        let operand = |name, t: usize| Axis { name, len, inner: elements, values: case.tensors[t].clone() };
        vec![Axis { name: "steps", len, inner, values }, operand("a", 1), operand("b", 2)]
    });
}

#[test]
fn of_matrix_products() {
    every_rest::<Matmul>(|_, case, values| {
        let (p, [lhs, rhs, _]) = (case.params, case.tensors.clone().into_inner());
        vec![
            Axis { name: "m", len: p.m, inner: p.n, values: values.clone() },
            Axis { name: "n", len: p.n, inner: 1, values },
            Axis { name: "k of lhs", len: p.k, inner: 1, values: lhs },
            Axis { name: "k of rhs", len: p.k, inner: p.n, values: rhs },
        ]
    });
}

#[test]
fn of_convolutions() {
    every_rest::<Conv2d>(|_, case, values| {
        let (p, input) = (case.params, case.tensors[0].clone());
        vec![
            Axis { name: "out_channels", len: p.out_channels, inner: 1, values },
            Axis { name: "channels", len: p.channels, inner: 1, values: input.clone() },
            Axis { name: "width", len: p.width, inner: p.channels, values: input },
        ]
    });
}

#[test]
fn of_poolings() {
    every_rest::<Pool>(|_, case, values| {
        let (p, input) = (case.params, case.tensors[0].clone());
        vec![
            Axis { name: "channels of results", len: p.channels, inner: 1, values },
            Axis { name: "channels", len: p.channels, inner: 1, values: input.clone() },
            Axis { name: "width", len: p.width, inner: p.channels, values: input },
        ]
    });
}

#[test]
fn of_transforms() {
    every_rest::<Transform>(|domain, case, values| {
        let input = case.tensors[0].clone();
        let axis = |name, len, values| Axis { name, len, inner: 1, values };
        match (domain.kind, case.params) {
            (Kind::Unpack, Params::Matrix { columns, .. }) => vec![axis("columns", columns, values)],
            (_, Params::Map(p)) if p.column_major => vec![axis("rows", p.rows, input)],
            (_, Params::Map(p)) => vec![axis("columns", p.columns, input)],
            (_, Params::Pad(p)) => vec![axis("channels", p.channels, input)],
            (Kind::BitPack, Params::Packed(p)) => {
                vec![Axis { name: "words", len: p.columns / p.word, inner: p.word, values: input }]
            }
            (Kind::BitUnpack, Params::Packed(p)) => {
                vec![Axis { name: "words", len: p.columns / p.word, inner: p.word, values }]
            }
            (Kind::NibbleUnpackLow | Kind::NibbleUnpackHigh, Params::Packed(p)) => {
                vec![axis("columns", p.columns, values)]
            }
            (_, Params::Packed(p)) => vec![axis("columns", p.columns, input)],
            (_, Params::Matrix { rows, columns, .. }) => {
                let by_rows = Axis { name: "rows", len: rows, inner: columns, values: input.clone() };
                vec![by_rows, axis("columns", columns, input)]
            }
            (Kind::Unflatten, Params::Conv2d(p)) => vec![axis("out_channels", p.out_channels, input)],
            // In an image NCHW, and in weights OIHW, a channel is a plane.
            (Kind::DataPack, Params::Conv2d(p)) => {
                vec![Axis { name: "channels", len: p.channels, inner: p.height * p.width, values: input }]
            }
            (Kind::KernelPack, Params::Conv2d(p)) => {
                vec![Axis { name: "channels", len: p.channels, inner: p.kernel_h * p.kernel_w, values: input }]
            }
            (Kind::WeightPrepack, Params::Conv2d(p)) => vec![axis("out_channels", p.out_channels, input)],
            (Kind::SpatialUnpack, Params::Conv2d(p)) => {
                let pixels = p.output().map_or(1, |(rows, columns)| rows * columns);
                vec![Axis { name: "out_channels", len: p.out_channels, inner: pixels, values }]
            }
            (_, Params::Conv2d(p)) => vec![axis("channels", p.channels, input)],
        }
    });
}
