//! Layout transforms in the harness. Every element has a tag for its place, so that every move shows.

mod changes;
mod few_bits;
mod fuzzed;
mod maps;
mod padding;
mod presented;

use crate::conv2d::{Conv2d, convolution};
use crate::types;
use tiebreak_common::Budget;
use tiebreak_engine::erased::Domain as AnyDomain;
use tiebreak_engine::operation::{
    Arguments, Case, CaseError, CaseSelection, Change, Expected, Fill, NamedScheme, Operation, Spec, Unposable, Wanted,
    arguments,
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

/// Transform, which is its own scheme.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    kind: Kind,
    name: &'static str,
    summary: &'static str,
}

const fn layout(kind: Kind, name: &'static str, summary: &'static str) -> Layout {
    Layout { kind, name, summary }
}

const LAYOUTS: [Layout; 17] = [
    layout(Kind::Im2col, "im2col", "[B,H,W,C] to [B, OH*OW, KH*KW*C], the zero point outside the image"),
    layout(
        Kind::Interleave,
        "interleave",
        "[batches, rows, columns] to [batches, rows'/4, columns'/16, 4, 16], padded by 0",
    ),
    layout(
        Kind::BlockTranspose,
        "block-transpose",
        "[rows, columns] to [columns'/4, rows'/16, 4, 16] transposed, padded by 0",
    ),
    layout(Kind::Unpack, "unpack", "[batches, rows'/4, columns'/4, 4, 4] to [batches, rows, columns]"),
    layout(Kind::Unflatten, "unflatten", "[B, OH*OW, O] to [B,OH,OW,O], the same elements in the same order"),
    layout(
        Kind::DataPack,
        "data-pack",
        "[B,C,H,W] to [B, OH, OW'/16, C, KH, KW, 16], the zero point outside the image",
    ),
    layout(Kind::KernelPack, "kernel-pack", "[O,C,KH,KW] to [O'/16, C, KH, KW, 16], padded by 0"),
    layout(Kind::WeightPrepack, "weight-prepack", "[KH,KW,C,O] to [O'/4, (KH*KW*C)'/16, 4, 16], padded by 0"),
    layout(Kind::SpatialUnpack, "spatial-unpack", "[B, OH, OW'/16, O'/16, 16, 16] to [B,O,OH,OW]"),
    layout(Kind::Pad, "pad", "[B,H,W,C] with the zero point before and after each axis"),
    layout(Kind::MatrixMap, "matrix-map", "a matrix in memory by rows or columns, with a stride, to [rows, columns]"),
    layout(
        Kind::BitPack,
        "bit-pack",
        "[rows, columns] to bit planes [rows, bits, columns/word], the first element highest",
    ),
    layout(Kind::BitUnpack, "bit-unpack", "bit planes [rows, bits, columns/word] to [rows, columns]"),
    layout(Kind::NibblePackLow, "nibble-pack-low", "[rows, columns] to bytes of two nibbles, the first one low"),
    layout(Kind::NibblePackHigh, "nibble-pack-high", "[rows, columns] to bytes of two nibbles, the first one high"),
    layout(Kind::NibbleUnpackLow, "nibble-unpack-low", "bytes of two nibbles to [rows, columns], the low one first"),
    layout(Kind::NibbleUnpackHigh, "nibble-unpack-high", "bytes of two nibbles to [rows, columns], the high one first"),
];

impl NamedScheme for Layout {
    fn described() -> Vec<Described> {
        let source = |kind| match kind {
            Kind::Pad => "TensorFlow Lite PAD; ONNX operators, Pad",
            Kind::BitPack | Kind::BitUnpack => "apache/tvm python/tvm/topi/nn/bitserial_util.py bitpack",
            Kind::NibblePackLow | Kind::NibbleUnpackLow => "ONNX types INT4 and UINT4",
            Kind::NibblePackHigh | Kind::NibbleUnpackHigh => "pytorch/ao torchao/dtypes/uintx/uint4_layout.py",
            _ => "TVM RFC quantized convolution for armv8, input, weight and output transform",
        };
        let described =
            |Self { kind, name, summary }| Described { name, summary, source: source(kind), steps: Vec::new() };
        LAYOUTS.map(described).into()
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

/// Returns the oracle's transform; `None` if the parameters do not fit the kind.
fn exact(layout: Layout, params: &Params) -> Option<Exact> {
    Some(match (layout.kind, params) {
        (Kind::Im2col, Params::Conv2d(p)) => Exact::Im2col(convolution(p)),
        (Kind::Unflatten, Params::Conv2d(p)) => Exact::Unflatten(convolution(p)),
        (Kind::DataPack, Params::Conv2d(p)) => Exact::DataPack(whole(p)),
        (Kind::KernelPack, Params::Conv2d(p)) => Exact::KernelPack(whole(p)),
        (Kind::WeightPrepack, Params::Conv2d(p)) => Exact::WeightPrepack(whole(p)),
        (Kind::SpatialUnpack, Params::Conv2d(p)) => Exact::SpatialUnpack(whole(p)),
        (Kind::Interleave, Params::Matrix { batches, rows, columns }) => {
            Exact::Interleave { batches: *batches, rows: *rows, columns: *columns }
        }
        (Kind::BlockTranspose, Params::Matrix { rows, columns, .. }) => {
            Exact::BlockTranspose { rows: *rows, columns: *columns }
        }
        (Kind::Unpack, Params::Matrix { batches, rows, columns }) => {
            Exact::Unpack { batches: *batches, rows: *rows, columns: *columns }
        }
        (Kind::Pad, Params::Pad(p)) => Exact::Pad(padding::exact(p)),
        (Kind::MatrixMap, Params::Map(p)) => Exact::Map(maps::exact(p)),
        (kind, Params::Packed(p)) => Exact::Packing(few_bits::exact(kind, p)?),
        _ => return None,
    })
}

/// Converts a convolution to a single group: the layouts of the spatial pack contain all channels.
fn whole(p: &Convolution) -> tiebreak_oracle::conv2d::Convolution {
    convolution(&Convolution { groups: 1, ..*p })
}

impl Operation for Transform {
    const TENSORS: &'static [&'static str] = &["input"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/transform.txt");
    types_of!(tiebreak_impls::transform::Transform, Layout);

    fn dimensions(domain: &Domain, params: &Params, t: usize) -> Vec<usize> {
        let sizes = domain.sizes(params).unwrap_or(Sizes { inputs: [0; 3], outputs: 0 });
        vec![if t == 0 { sizes.inputs[0] } else { sizes.outputs }]
    }

    fn widest_domain(scheme: &Layout, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
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

    /// Puts each element to its destination, whereas [`Operation::expected`] fetches each element from its source.
    fn exact(scheme: &Layout, case: &Case<Params>) -> Result<Expected, Unposable> {
        let exact = exact(*scheme, &case.params).ok_or_else(|| Unposable::new("another transform's parameters"))?;
        let out = exact.placed(&case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(Some).collect())
    }

    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        None
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        let params: Vec<Params> = match domain.kind {
            Kind::Interleave | Kind::Unpack => batched(matrices(budget)),
            Kind::BlockTranspose => matrices(budget),
            Kind::Pad => padding::plan(budget, seed),
            Kind::MatrixMap => maps::plan(budget),
            Kind::BitPack | Kind::BitUnpack => few_bits::planes(budget),
            Kind::NibblePackLow | Kind::NibblePackHigh | Kind::NibbleUnpackLow | Kind::NibbleUnpackHigh => {
                few_bits::nibbles(budget)
            }
            // Every number of channels with few elements, because a tile has 16 of each.
            Kind::DataPack => {
                let channels = |channels: usize| Convolution { channels, width: 2, ..Convolution::default() };
                let few = (1..=80).map(|count| Params::Conv2d(channels(count)));
                convolutions(selection, budget, seed).into_iter().chain(few).collect()
            }
            Kind::KernelPack | Kind::WeightPrepack => not_large(domain, convolutions(selection, budget, seed), budget),
            _ => convolutions(selection, budget, seed),
        };
        let spec = |(i, params): (usize, Params)| {
            // Parameters without a valid size are not a case, which the run counts.
            let len = domain.sizes(&params).map_or(0, |sizes| sizes.inputs[0]);
            let tagged = tagged(&params, len);
            Spec::new(params, [Fill::Given(tagged), Fill::None, Fill::None], i % 16)
        };
        params.into_iter().enumerate().map(spec).collect()
    }

    fn changes(scheme: &Layout, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let mut params = Vec::new();
        match case.params {
            Params::Matrix { batches, rows, columns } => {
                params.extend((1..batches).map(|batches| Params::Matrix { batches, rows, columns }));
                for (r, c) in [
                    (1, columns),
                    (rows, 1),
                    (rows / 2, columns),
                    (rows, columns / 2),
                    (rows - 1, columns),
                    (rows, columns - 1),
                ] {
                    params.push(Params::Matrix { batches, rows: r, columns: c });
                }
            }
            Params::Conv2d(p) => params.extend(crate::conv2d::simpler(&p).into_iter().map(Params::Conv2d)),
            Params::Pad(p) => params.extend(padding::smaller(&p).into_iter().map(Params::Pad)),
            Params::Map(p) => params.extend(maps::smaller(&p).into_iter().map(Params::Map)),
            Params::Packed(p) => params.extend(few_bits::smaller(&p).into_iter().map(Params::Packed)),
        }
        let again = |params: Params| {
            let len = domain.sizes(&params).ok().filter(|_| params != case.params)?.inputs[0];
            Some(Case { params, tensors: [tagged(&params, len), Vec::new(), Vec::new()].into(), misalign: 0 })
        };
        params.into_iter().filter_map(again).collect()
    }

    fn arguments(params: &Params) -> Vec<(String, Value)> {
        match params {
            Params::Conv2d(p) => Conv2d::arguments(p),
            Params::Matrix { batches, rows, columns } => {
                let named = |name: &str, size: usize| (name.to_owned(), Value::from(size as i64));
                let batches = (*batches != 1).then(|| named("batches", *batches));
                batches.into_iter().chain([named("rows", *rows), named("columns", *columns)]).collect()
            }
            Params::Pad(p) => padding::arguments(p),
            Params::Map(p) => maps::arguments(p),
            Params::Packed(p) => few_bits::arguments(p),
        }
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        if arguments.contains_key("zero_point") {
            return padding::from_arguments(arguments).map(Params::Pad);
        }
        if arguments.contains_key("stride") {
            return maps::from_arguments(arguments).map(Params::Map);
        }
        if arguments.contains_key("bits") {
            return few_bits::from_arguments(arguments).map(Params::Packed);
        }
        if !arguments.contains_key("rows") && !arguments.contains_key("columns") {
            return Ok(Params::Conv2d(Conv2d::from_arguments(arguments)?));
        }
        let mut left = arguments.clone();
        let batches = arguments::take_size(&mut left, "batches", 1)?;
        let rows = arguments::take_size(&mut left, "rows", 1)?;
        let columns = arguments::take_size(&mut left, "columns", 1)?;
        arguments::nothing_left(&left, &["batches", "rows", "columns", "input"])?;
        Ok(Params::Matrix { batches, rows, columns })
    }
}

/// Makes elements that identify their source: 1, 2, 3, and so on, unlike the padding. For few bits, patterns of all bits.
fn tagged(params: &Params, len: usize) -> Vec<i32> {
    match params {
        Params::Packed(p) => few_bits::tagged(p, len),
        _ => (1..=len as i32).collect(),
    }
}

/// Gives the matrices that are not large one to four matrices in a batch, in turn, and adds small batches.
fn batched(matrices: Vec<Params>) -> Vec<Params> {
    let batches = |(i, params)| match params {
        Params::Matrix { rows, columns, .. } if rows * columns <= MOST_OF_A_BATCH => {
            Params::Matrix { batches: 1 + i % 4, rows, columns }
        }
        other => other,
    };
    let small = [(1, 1), (3, 16), (4, 15), (4, 16), (5, 17), (2, 3)];
    let all = small
        .into_iter()
        .flat_map(|(rows, columns)| [2, 3, 17].map(|batches| Params::Matrix { batches, rows, columns }));
    matrices.into_iter().enumerate().map(batches).chain(all).collect()
}

/// Upper bound on elements of each matrix in a batch.
const MOST_OF_A_BATCH: usize = 1 << 12;

/// Upper bound on elements of a case, except for the largest: places of large weights repeat those of small layers.
const MOST: usize = 1 << 17;

/// Upper bound on elements of the largest case of a short run: a copy of nine million weights takes as long as all other cases.
const MOST_OF_SHORT_RUN: usize = 1 << 21;

/// Keeps the parameters that are not large, and the largest.
fn not_large(domain: &Domain, all: Vec<Params>, budget: &Budget) -> Vec<Params> {
    let size = |params: &Params| domain.sizes(params).map_or(0, |sizes| sizes.inputs[0]);
    let most = if budget.every_tail { usize::MAX } else { MOST_OF_SHORT_RUN };
    let largest = all.iter().filter(|params| size(params) <= most).max_by_key(|params| size(params)).cloned();
    let small = all.into_iter().filter(|params| size(params) <= MOST);
    let mut out: Vec<Params> = small.collect();
    out.extend(largest.filter(|largest| size(largest) > MOST));
    out
}

/// Rows and columns beyond a few blocks, some of very different sizes.
const LARGE: [(usize, usize); 10] =
    [(65, 129), (130, 70), (33, 257), (257, 33), (3, 1025), (1025, 3), (513, 5), (5, 513), (300, 300), (2, 4099)];

/// Rows, columns and elements that exceed 16 bits, and elements that exceed 18 bits.
const LARGEST: [(usize, usize); 3] = [(1, 65_539), (65_539, 1), (521, 509)];

/// Sizes beyond two blocks, with every remainder.
const BEYOND: std::ops::RangeInclusive<usize> = 33..=48;
/// Lengths of matrices with one to four rows or columns.
const LINES: std::ops::RangeInclusive<usize> = 34..=97;

/// Returns every tail of both block sizes: rows and columns from 1 to two blocks; every number of either up to 80, and larger numbers.
fn matrices(budget: &Budget) -> Vec<Params> {
    let mut out = Vec::new();
    for rows in 1..=33 {
        for columns in 1..=33 {
            if budget.every_tail || rows == columns || rows == 5 || columns == 6 || columns == 17 {
                out.push(Params::Matrix { batches: 1, rows, columns });
            }
        }
    }
    // Beyond two blocks along both axes, with every remainder.
    for rows in BEYOND {
        for columns in BEYOND {
            let few = (rows < BEYOND.start() + 4, columns < BEYOND.start() + 4);
            if few == (true, true) || budget.every_tail && few != (false, false) {
                out.push(Params::Matrix { batches: 1, rows, columns });
            }
        }
    }
    out.extend((1..=80).map(|rows| Params::Matrix { batches: 1, rows, columns: 1 + rows * 37 % 80 }));
    out.extend([64, 65, 66, 81].map(|size| Params::Matrix { batches: 1, rows: size, columns: size }));
    let lines = LINES.flat_map(|long| [(1 + long / 4 % 4, long), (long, 1 + long / 4 % 4)]);
    let lines = lines.chain([65, 81, 97].into_iter().flat_map(|long| [(1, long), (long, 1)]));
    out.extend(lines.map(|(rows, columns)| Params::Matrix { batches: 1, rows, columns }));
    let largest = LARGEST.into_iter().filter(|_| budget.every_tail);
    out.extend(LARGE.into_iter().chain(largest).map(|(rows, columns)| Params::Matrix { batches: 1, rows, columns }));
    out
}

/// Returns the shapes of the cases of convolutions, in one group.
fn convolutions(selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Params> {
    let Some(kernel) = tiebreak_impls::conv2d::kernels().first() else { return Vec::new() };
    let domain = AnyDomain::of::<Conv2d>(kernel.contract.domain.clone());
    let shapes = plans::whole(&domain, selection, budget, seed).into_iter().map(|spec| *spec.params.typed::<Conv2d>());
    shapes.map(|shape| Params::Conv2d(Convolution { groups: 1, ..shape })).collect()
}
