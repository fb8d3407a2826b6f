//! Changes that a kernel may make to a pooling.

use super::{Pool, parts, pooling, windows};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::pool::{Domain, Params};
use tiebreak_oracle::pool::{Definition, Pooling, Scheme};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Registered;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: Scheme, domain: &Domain) -> Vec<Change<Pool>> {
    let average = !scheme.definition.is_largest();
    let mut out = Vec::new();
    if average {
        for (because, counts) in
            [("the divisor counts the padding", true), ("the divisor leaves the padding out", false)]
        {
            out.push(Change::of_case(Class::Divisor, because, scheme, move |case: &mut Case<Params>| {
                case.params.count_padding = counts;
            }));
        }
    }
    out.extend(paddings(scheme, domain));
    out.extend(bounds(scheme));
    if average {
        out.extend(narrow(scheme));
    }
    if !scheme.definition.is_of_stored() {
        out.extend(offsets(scheme));
    }
    out.extend(layouts(scheme));
    out.extend(windows::changes(scheme));
    out.extend(tails(scheme));
    if average {
        out.extend(others(scheme));
    }
    out
}

/// Returns changes that fill the border with stored values as part of the image: the padded image is built and pooled without padding.
fn paddings(scheme: Scheme, domain: &Domain) -> Vec<Change<Pool>> {
    let range = domain.element.range();
    let mut values = vec![Some(0), None, Some(*range.start()), Some(*range.end())];
    values.dedup();
    let padded = |value: Option<i32>| {
        let filled = value.map_or_else(|| "the input's zero point".to_owned(), |value| value.to_string());
        let because = format!("the border is filled with {filled}, and taken as part of the image");
        Change::of_case(Class::Padding, because, scheme, move |case: &mut Case<Params>| {
            let value = value.unwrap_or(case.params.input.zero_point);
            *case = bordered(case, value);
        })
    };
    // Only an average that counts the padding.
    let counted = |value: i32| {
        let because = format!("counted padding is {value} where it must be the input's zero point");
        Change::of_case(Class::Padding, because, scheme, move |case: &mut Case<Params>| {
            if case.params.count_padding {
                *case = bordered(case, value);
            }
        })
    };
    let counted = [0, -128, 128].into_iter().filter(|value| range.contains(value)).map(counted);
    let taken: Vec<Change<Pool>> = values.into_iter().map(padded).collect();
    counted.chain(taken).collect()
}

fn bordered(case: &Case<Params>, value: i32) -> Case<Params> {
    let p = case.params;
    let (height, width) = (p.top + p.height + p.bottom, p.left + p.width + p.right);
    let mut input = vec![value; p.batches * height * width * p.channels];
    let row = p.width * p.channels;
    for at in 0..p.batches * p.height {
        let (b, y) = (at / p.height, at % p.height);
        let to = ((b * height + p.top + y) * width + p.left) * p.channels;
        input[to..to + row].copy_from_slice(&case.tensors[0][at * row..][..row]);
    }
    let params = Params { height, width, top: 0, bottom: 0, left: 0, right: 0, count_padding: false, ..p };
    Case { params, tensors: [input, Vec::new(), Vec::new()].into(), misalign: case.misalign }
}

/// Returns changes that ignore the bounds, or that replace the clamp by a wrapping cast.
fn bounds(scheme: Scheme) -> Vec<Change<Pool>> {
    let open = "results are clamped to the type alone, not to the activation's bounds";
    let left_out = Change::of_case(Class::MissingSaturation, open, scheme, |case: &mut Case<Params>| {
        let range = case.params.element.range();
        (case.params.min, case.params.max) = (*range.start(), *range.end());
    });
    let wraps = "a cast that wraps stands for the clamp";
    let wrapped = Change::predicts(Class::MissingSaturation, wraps, move |case: &Case<Params>| {
        let p = pooling(&case.params);
        let storage = Storage { bits: 32, signed: true };
        let wide = Pooling { storage, min: storage.min() as i32, max: storage.max() as i32, ..p };
        let results = Pool::at(&scheme, case, &wide).filter(|_| p.storage.bits == 8)?;
        Some(results.into_iter().map(|v| v.map(|v| p.storage.wrap(v.into()) as i32)).collect())
    });
    let sides: [(&str, Swap); 2] = [
        ("the upper bound is left out, and results are clamped to the type", |p| p.max = *p.element.range().end()),
        ("the lower bound is left out, and results are clamped to the type", |p| p.min = *p.element.range().start()),
    ];
    let one_sided = sides.map(|(because, swap)| Change::of_params(Class::MissingSaturation, because, scheme, swap));
    [left_out, wrapped].into_iter().chain(one_sided).collect()
}

/// Returns changes to sums that wrap in 16 bits.
fn narrow(scheme: Scheme) -> Vec<Change<Pool>> {
    let of = |(because, signed): (&'static str, bool)| {
        Change::predicts(Class::Wrap16, because, move |case: &Case<Params>| {
            let p = Pooling { sum: Storage { bits: 16, signed }, ..pooling(&case.params) };
            Pool::at(&scheme, case, &p)
        })
    };
    [("the sum wraps in a signed word of 16 bits", true), ("the sum wraps in an unsigned word of 16 bits", false)]
        .map(of)
        .into()
}

type Swap = fn(&mut Params);

fn offsets(scheme: Scheme) -> Vec<Change<Pool>> {
    let with: [(Class, &str, Swap); 4] = [
        (Class::OffsetTerm, "the zero point of the input is not subtracted", |p| p.input.zero_point = 0),
        (Class::OffsetTerm, "the zero point of the result is left out", |p| p.out.zero_point = 0),
        (Class::OffsetSign, "the zero point of the input is added", |p| p.input.zero_point = -p.input.zero_point),
        (Class::OffsetSign, "the zero point of the result is subtracted", |p| p.out.zero_point = -p.out.zero_point),
    ];
    with.map(|(class, because, swap)| Change::of_params(class, because, scheme, swap)).into()
}

fn layouts(scheme: Scheme) -> Vec<Change<Pool>> {
    let swaps: [(&str, Swap); 5] = [
        ("the borders at the top and at the bottom are exchanged", |p| std::mem::swap(&mut p.top, &mut p.bottom)),
        ("the borders at the left and at the right are exchanged", |p| std::mem::swap(&mut p.left, &mut p.right)),
        ("the borders are exchanged, top with bottom and left with right", |p| {
            std::mem::swap(&mut p.top, &mut p.bottom);
            std::mem::swap(&mut p.left, &mut p.right);
        }),
        ("the strides of rows and columns are exchanged", |p| std::mem::swap(&mut p.stride_h, &mut p.stride_w)),
        ("rows and columns of the window are exchanged", |p| std::mem::swap(&mut p.kernel_h, &mut p.kernel_w)),
    ];
    swaps.map(|(because, swap)| Change::of_params(Class::Layout, because, scheme, swap)).into()
}

/// Vector lengths in channels.
const VECTORS: [usize; 4] = [4, 8, 16, 32];

/// Returns changes that set the channels after the last whole vector to 0.
fn tails(scheme: Scheme) -> Vec<Change<Pool>> {
    let of = |vector: usize| {
        let because = format!("channels after the last whole {vector} are lost");
        Change::lost(because, scheme, |p: &Params| p.channels, vector)
    };
    VECTORS.map(of).into()
}

/// Returns changes to every other average, each with the class of the difference.
fn others(scheme: Scheme) -> Vec<Change<Pool>> {
    let others = <&Definition>::all().filter(|other| !other.is_largest());
    Change::others("average", scheme, others, |other| parts::class(scheme.definition, other), parts::next)
}
