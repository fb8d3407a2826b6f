//! Layout transforms in the harness. Every element is tagged by its place, so that every move can be seen.

mod changes;
mod fuzzed;

use crate::conv2d::{Conv2d, convolution};
use crate::types;
use tiebreak_common::budget::Budget;
use tiebreak_engine::operation::fill::Fill;
use tiebreak_engine::operation::{
    Arguments, Asked, Case, CaseError, Change, Expected, NamedScheme, Operation, Spec, Unposable, Wanted, arguments,
};
use tiebreak_engine::plan::plans;
use tiebreak_impls::conv2d::Params as Convolution;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::shape::Sizes;
use tiebreak_impls::transform::{Domain, Kind, Params, Run};
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::scheme::Described;
use tiebreak_oracle::transform::Transform as Exact;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Transform {}

/// A transform, which is a scheme of its own.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    kind: Kind,
    name: &'static str,
    summary: &'static str,
}

const fn layout(kind: Kind, name: &'static str, summary: &'static str) -> Layout {
    Layout { kind, name, summary }
}

const LAYOUTS: [Layout; 8] = [
    layout(Kind::Im2col, "im2col", "[B,H,W,C] to [B, OH*OW, KH*KW*C], the zero point outside the image"),
    layout(Kind::Interleave, "interleave", "[rows, columns] to [rows'/4, columns'/16, 4, 16], padded by 0"),
    layout(
        Kind::BlockTranspose,
        "block-transpose",
        "[rows, columns] to [columns'/4, rows'/16, 4, 16] transposed, padded by 0",
    ),
    layout(Kind::Unpack, "unpack", "[rows'/4, columns'/4, 4, 4] to [rows, columns]"),
    layout(Kind::Unflatten, "unflatten", "[B, OH*OW, O] to [B,OH,OW,O], the same elements in the same order"),
    layout(
        Kind::DataPack,
        "data-pack",
        "[B,C,H,W] to [B, OH, OW'/16, C, KH, KW, 16], the zero point outside the image",
    ),
    layout(Kind::KernelPack, "kernel-pack", "[O,C,KH,KW] to [O'/16, C, KH, KW, 16], padded by 0"),
    layout(Kind::SpatialUnpack, "spatial-unpack", "[B, OH, OW'/16, O'/16, 16, 16] to [B,O,OH,OW]"),
];

impl NamedScheme for Layout {
    fn described() -> Vec<Described> {
        let source = "TVM RFC quantized convolution for armv8, input, weight and output transform";
        LAYOUTS.map(|Self { name, summary, .. }| Described { name, summary, source, steps: Vec::new() }).into()
    }

    fn named(text: &str) -> Result<Self, UnknownName> {
        let name = text.split(':').next().unwrap_or(text);
        let found = LAYOUTS.into_iter().find(|layout| layout.name == name);
        found.ok_or_else(|| unknown("scheme", name, LAYOUTS.map(|layout| layout.name)))
    }

    fn label(&self) -> String {
        self.name.to_owned()
    }
}

/// The oracle's transform; `None` where kind and parameters do not go together.
fn exact(layout: Layout, params: &Params) -> Option<Exact> {
    Some(match (layout.kind, params) {
        (Kind::Im2col, Params::Conv2d(p)) => Exact::Im2col(convolution(p)),
        (Kind::Unflatten, Params::Conv2d(p)) => Exact::Unflatten(convolution(p)),
        (Kind::DataPack, Params::Conv2d(p)) => Exact::DataPack(whole(p)),
        (Kind::KernelPack, Params::Conv2d(p)) => Exact::KernelPack(whole(p)),
        (Kind::SpatialUnpack, Params::Conv2d(p)) => Exact::SpatialUnpack(whole(p)),
        (Kind::Interleave, Params::Matrix { rows, columns }) => Exact::Interleave { rows: *rows, columns: *columns },
        (Kind::BlockTranspose, Params::Matrix { rows, columns }) => {
            Exact::BlockTranspose { rows: *rows, columns: *columns }
        }
        (Kind::Unpack, Params::Matrix { rows, columns }) => Exact::Unpack { rows: *rows, columns: *columns },
        _ => return None,
    })
}

/// A convolution of one group: the layouts of the spatial pack are those of all channels.
fn whole(p: &Convolution) -> tiebreak_oracle::conv2d::Convolution {
    convolution(&Convolution { groups: 1, ..*p })
}

impl Operation for Transform {
    const TENSORS: &'static [&'static str] = &["input"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/transform.txt");
    type Impl = tiebreak_impls::transform::Transform;
    type Params = Params;
    type Domain = Domain;
    type Run = tiebreak_impls::transform::Run;
    type Scheme = Layout;

    fn dimensions(domain: &Domain, params: &Params, t: usize) -> Vec<usize> {
        let sizes = domain.sizes(params).unwrap_or(Sizes { inputs: [0; 3], outputs: 0 });
        vec![if t == 0 { sizes.inputs[0] } else { sizes.outputs }]
    }

    fn open(scheme: &Layout, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        types::none(Self::OP, ty)?;
        Ok(Domain { kind: scheme.kind })
    }

    fn covers(domain: &Domain, params: &Params) -> bool {
        domain.sizes(params).is_ok()
    }

    fn domain_text(_: &Domain) -> String {
        "every shape".to_owned()
    }

    fn expected(scheme: &Layout, case: &Case<Params>) -> Result<Expected, Unposable> {
        let exact = exact(*scheme, &case.params).ok_or_else(|| Unposable::new("another transform's parameters"))?;
        let out = exact.expected(&case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(Some).collect())
    }

    /// Each element put where it goes; what is expected fetches each from where it comes.
    fn exact(scheme: &Layout, case: &Case<Params>) -> Result<Expected, Unposable> {
        let exact = exact(*scheme, &case.params).ok_or_else(|| Unposable::new("another transform's parameters"))?;
        let out = exact.placed(&case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(Some).collect())
    }

    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        None
    }

    fn own_plan(domain: &Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        let params: Vec<Params> = match domain.kind {
            Kind::Interleave | Kind::BlockTranspose | Kind::Unpack => matrices(budget),
            // Every number of channels in few elements: a tile has 16 of each.
            Kind::DataPack => {
                let channels = |channels: usize| Convolution { channels, width: 2, ..Convolution::default() };
                let few = (1..=80).map(|count| Params::Conv2d(channels(count)));
                convolutions(asked, budget, seed).into_iter().chain(few).collect()
            }
            Kind::KernelPack => not_large(domain, convolutions(asked, budget, seed)),
            _ => convolutions(asked, budget, seed),
        };
        let spec = |(i, params): (usize, Params)| {
            // What has no size is no case, which the run counts.
            let len = domain.sizes(&params).map_or(0, |sizes| sizes.inputs[0]);
            // 1, 2, 3, ...: no element is like another, and none like the padding.
            let tagged = (1..=len as i32).collect();
            Spec::new(params, [Fill::Given(tagged), Fill::None, Fill::None], i % 16)
        };
        params.into_iter().enumerate().map(spec).collect()
    }

    fn changes(scheme: &Layout, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn smaller(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let mut params = Vec::new();
        match case.params {
            Params::Matrix { rows, columns } => {
                for (r, c) in [
                    (1, columns),
                    (rows, 1),
                    (rows / 2, columns),
                    (rows, columns / 2),
                    (rows - 1, columns),
                    (rows, columns - 1),
                ] {
                    params.push(Params::Matrix { rows: r, columns: c });
                }
            }
            Params::Conv2d(p) => params.extend(crate::conv2d::simpler(&p).into_iter().map(Params::Conv2d)),
        }
        let tagged = |params: Params| {
            let len = domain.sizes(&params).ok().filter(|_| params != case.params)?.inputs[0];
            Some(Case { params, tensors: [(1..=len as i32).collect(), Vec::new(), Vec::new()], misalign: 0 })
        };
        params.into_iter().filter_map(tagged).collect()
    }

    fn arguments(params: &Params) -> Vec<(String, Value)> {
        match params {
            Params::Conv2d(p) => Conv2d::arguments(p),
            Params::Matrix { rows, columns } => {
                vec![("rows".to_owned(), (*rows as i64).into()), ("columns".to_owned(), (*columns as i64).into())]
            }
        }
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        if !arguments.contains_key("rows") && !arguments.contains_key("columns") {
            return Ok(Params::Conv2d(Conv2d::from_arguments(arguments)?));
        }
        let mut left = arguments.clone();
        let rows = arguments::take_size(&mut left, "rows", 1)?;
        let columns = arguments::take_size(&mut left, "columns", 1)?;
        arguments::nothing_left(&left, &["rows", "columns", "input"])?;
        Ok(Params::Matrix { rows, columns })
    }
}

/// Most elements of a case, but for the largest one: weights of the largest layers have millions, and their places repeat those of small ones.
const MOST: usize = 1 << 17;

/// Those that are not large, and the largest one.
fn not_large(domain: &Domain, all: Vec<Params>) -> Vec<Params> {
    let size = |params: &Params| domain.sizes(params).map_or(0, |sizes| sizes.inputs[0]);
    let largest = all.iter().max_by_key(|params| size(params)).cloned();
    let small = all.into_iter().filter(|params| size(params) <= MOST);
    let mut out: Vec<Params> = small.collect();
    out.extend(largest.filter(|largest| size(largest) > MOST));
    out
}

/// Rows and columns beyond a few blocks, and far apart.
const LARGE: [(usize, usize); 10] =
    [(65, 129), (130, 70), (33, 257), (257, 33), (3, 1025), (1025, 3), (513, 5), (5, 513), (300, 300), (2, 4099)];

/// Rows, columns and elements that 16 bits do not count, and elements that 18 bits do not.
const LARGEST: [(usize, usize); 3] = [(1, 65_539), (65_539, 1), (521, 509)];

/// Sizes beyond two blocks, with every rest.
const BEYOND: std::ops::RangeInclusive<usize> = 33..=48;
/// Lengths of matrices of one row or column to four.
const LINES: std::ops::RangeInclusive<usize> = 34..=97;

/// Every tail of both block sizes: rows from 1 to two blocks, columns likewise; every number of either up to 80, and larger ones.
fn matrices(budget: &Budget) -> Vec<Params> {
    let mut out = Vec::new();
    for rows in 1..=33 {
        for columns in 1..=33 {
            if budget.every_tail || rows == columns || rows == 5 || columns == 6 || columns == 17 {
                out.push(Params::Matrix { rows, columns });
            }
        }
    }
    // Beyond a block along both axes, with every rest.
    for rows in BEYOND {
        for columns in BEYOND {
            let few = (rows < BEYOND.start() + 4, columns < BEYOND.start() + 4);
            if few == (true, true) || budget.every_tail && few != (false, false) {
                out.push(Params::Matrix { rows, columns });
            }
        }
    }
    out.extend((1..=80).map(|rows| Params::Matrix { rows, columns: 1 + rows * 37 % 80 }));
    out.extend([64, 65, 66, 81].map(|size| Params::Matrix { rows: size, columns: size }));
    let lines = LINES.flat_map(|long| [(1 + long / 4 % 4, long), (long, 1 + long / 4 % 4)]);
    let lines = lines.chain([65, 81, 97].into_iter().flat_map(|long| [(1, long), (long, 1)]));
    out.extend(lines.map(|(rows, columns)| Params::Matrix { rows, columns }));
    let largest = LARGEST.into_iter().filter(|_| budget.every_tail);
    out.extend(LARGE.into_iter().chain(largest).map(|(rows, columns)| Params::Matrix { rows, columns }));
    out
}

/// The shapes that convolutions are tried on, in one group.
fn convolutions(asked: &Asked, budget: &Budget, seed: u64) -> Vec<Params> {
    let Some(kernel) = tiebreak_impls::conv2d::kernels().first() else { return Vec::new() };
    let specs = plans::whole::<Conv2d>(&kernel.contract.domain, asked, budget, seed);
    specs.into_iter().map(|spec| Params::Conv2d(Convolution { groups: 1, ..spec.params })).collect()
}
