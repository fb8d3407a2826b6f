//! Changes that a kernel may make to a matrix product. Each change predicts every result from the scheme with one modification.

use super::{Matmul, nibbles};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected, Observed, Operation};
use tiebreak_impls::element::Element;
use tiebreak_impls::matmul::{Domain, Params};
use tiebreak_oracle::matmul::{Narrow, Scheme};
use tiebreak_oracle::word::Overflow;

/// Depth of a block, and rows in a block.
const BLOCK: usize = 16;
const ROWS: usize = 4;
/// Depths of blocks after which the remainder may be lost, or padded.
const BLOCKS: [usize; 5] = [BLOCK, 8, ROWS, 32, 64];

/// Returns every change, in the order of preference.
pub fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Matmul>> {
    let base = wrapping(scheme);
    let mut out = widths(scheme, domain);
    out.push(Change::predicts(
        Class::Saturation,
        "the accumulator saturates at each product",
        |case: &Case<Params>| Some(saturating_steps(case)),
    ));
    out.push(Change::predicts(
        Class::Saturation16,
        "the accumulator has 16 bits, and saturates at each product",
        |case: &Case<Params>| {
            // Each product is an int32.
            let step =
                |sum: i128, product: i128| (sum + i128::from(product as i32)).clamp(i16::MIN.into(), i16::MAX.into());
            Some(each_result(case, step))
        },
    ));
    out.extend(offsets(base));
    out.extend(narrow_offsets(base, domain));
    out.extend(transposed(base));
    if domain.rhs == Element::I4 {
        out.extend(nibbles::changes(base));
    }
    out.extend(tails(base));
    let products = |c: &Case<Params>, i: usize, j: usize| {
        let Params { n, k, .. } = c.params;
        (0..k).fold(0i32, |sum, l| sum.wrapping_add(c.tensors[0][i * k + l].wrapping_mul(c.tensors[1][l * n + j])))
    };
    let because = "products of the last column of each block of 4 are ignored";
    out.push(corrected(Class::Layout, because, base, move |c, i, j| {
        if j % ROWS == ROWS - 1 { products(c, i, j).wrapping_neg() } else { 0 }
    }));
    out.extend(signedness(base, domain));
    out.push(Change::predicts(Class::F32Step, "the accumulator is kept in f32", |case: &Case<Params>| {
        Some(in_f32(case))
    }));
    out.push(Change::predicts(
        Class::F32Step,
        "int32 products are added to an f32, and a sum beyond int32 becomes the least int32",
        |case: &Case<Params>| Some(products_in_f32(case)),
    ));
    let because = "the sum of int32 is converted to f32 and back";
    out.push(Change::predicts(Class::F32Step, because, move |case: &Case<Params>| Some(through_f32(&base, case))));
    let because = "the sum of int32 is converted to f32 and back if the left operand has an offset";
    out.push(Change::predicts(Class::F32Step, because, move |case: &Case<Params>| {
        if case.params.lhs_offset == 0 { Matmul::expected(&base, case).ok() } else { Some(through_f32(&base, case)) }
    }));
    out.push(Change::found(Class::Layout, move |evidence| permutation(base, evidence)));
    out
}

/// Replaces a policy without a value for some sums by wrapping.
pub fn wrapping(scheme: &Scheme) -> Scheme {
    match scheme.overflow {
        Overflow::OutOfDomain => Scheme { overflow: Overflow::Wrap, ..*scheme },
        _ => *scheme,
    }
}

/// Returns changes to narrower accumulators, or to another overflow policy, for any operation that sums such products.
pub fn widths<O: Operation<Scheme = Scheme>>(scheme: &Scheme, domain: &Domain) -> Vec<Change<O>> {
    let pairs = match (domain.lhs, domain.rhs) {
        (Element::U8, Element::U8) => "pairs-u16-wrap:wrap",
        _ => "pairs-s16-wrap:wrap",
    };
    let named = [
        (Class::Wrap16, "products k and k+8 are added in 16 bits, wrapping", pairs),
        (Class::Saturation16, "products 2k and 2k+1 are added in 16 bits, saturating", "pairs-s16-saturate:wrap"),
        (Class::Saturation, "each of four 32-bit lanes saturates", "quads-32-saturate:wrap"),
    ];
    let base = wrapping(scheme);
    let known = |(class, because, name)| Some(Change::scheme(class, because, Scheme::parse(name).ok()?));
    let mut out = if scheme.definition.narrow == Some(Narrow::Sum16) { sums_of_32_bits() } else { Vec::new() };
    out.extend(named.into_iter().filter_map(known));
    // Applies to whole sums, whatever their terms are.
    out.push(Change::predicts(
        Class::Wrap16,
        "the accumulator has 16 bits, and wraps",
        move |case: &Case<O::Params>| {
            let whole = O::expected(&base, case).ok()?;
            Some(whole.into_iter().map(|v| v.map(|v| i32::from(v as i16))).collect())
        },
    ));
    let (wraps, saturates) =
        (Scheme { overflow: Overflow::Wrap, ..*scheme }, Scheme { overflow: Overflow::Saturate, ..*scheme });
    out.push(Change::scheme(Class::MissingSaturation, "the 32-bit result wraps", wraps));
    out.push(Change::scheme(Class::Saturation, "the 32-bit result saturates", saturates));
    out
}

/// Returns changes to a promised 16-bit sum: the sum keeps 32 bits, or saturates when it is narrowed.
fn sums_of_32_bits<O: Operation<Scheme = Scheme>>() -> Vec<Change<O>> {
    let Ok(whole) = Scheme::parse("exact:wrap") else { return Vec::new() };
    let because = "a sum of 32 bits saturates to 16 bits";
    let saturates = Change::predicts(Class::Saturation16, because, move |case: &Case<O::Params>| {
        let narrow = |sum: i32| sum.clamp(i16::MIN.into(), i16::MAX.into());
        Some(O::expected(&whole, case).ok()?.into_iter().map(|sum| sum.map(narrow)).collect())
    });
    vec![Change::scheme(Class::Wrap16, "sums keep the 32 bits of the accumulator", whole), saturates]
}

/// Returns a change of the first operand, of the second, and of both. `change` gets the index of an operand.
pub(crate) fn either<O: Operation<Scheme: 'static>>(
    class: Class,
    base: O::Scheme,
    because: [impl Into<String>; 3],
    change: impl Fn(&mut Case<O::Params>, usize) + Copy + Send + Sync + 'static,
) -> Vec<Change<O>> {
    let operands: [&[usize]; 3] = [&[0], &[1], &[0, 1]];
    let of = |(because, operands): (_, &'static [usize])| {
        Change::of_case(class, because, base.clone(), move |case| operands.iter().for_each(|t| change(case, *t)))
    };
    because.into_iter().zip(operands).map(of).collect()
}

/// Returns the offset of an operand.
fn offset(case: &mut Case<Params>, t: usize) -> &mut i32 {
    if t == 0 { &mut case.params.lhs_offset } else { &mut case.params.rhs_offset }
}

fn offsets(base: Scheme) -> Vec<Change<Matmul>> {
    let because = ["lhs_offset is subtracted", "rhs_offset is subtracted", "both offsets are subtracted"];
    let mut out = either(Class::OffsetSign, base, because, |case, t| {
        *offset(case, t) = offset(case, t).wrapping_neg();
    });
    let terms: [(&str, Term); 3] = [
        ("lhs_offset times the sums of rhs columns is missing", |c, _, j| {
            c.params.lhs_offset.wrapping_mul(column_sum(c, j))
        }),
        ("rhs_offset times the sums of lhs rows is missing", |c, i, _| c.params.rhs_offset.wrapping_mul(row_sum(c, i))),
        ("lhs_offset * rhs_offset * depth is missing", |c, _, _| fourth(c, c.params.k)),
    ];
    out.extend(terms.map(|(because, term)| {
        corrected(Class::OffsetTerm, because, base, move |c, i, j| term(c, i, j).wrapping_neg())
    }));
    let because = "each offset is multiplied by the sums of its own operand";
    out.push(corrected(Class::OperandOrder, because, base, |c, i, j| {
        let exchanged = c.params.lhs_offset.wrapping_sub(c.params.rhs_offset);
        exchanged.wrapping_mul(row_sum(c, i).wrapping_sub(column_sum(c, j)))
    }));
    for block in [ROWS, 8, BLOCK] {
        let because = format!("columns after the first {block} have the sums of the first {block} columns");
        out.push(corrected(Class::Block, because, base, move |c, _, j| {
            c.params.lhs_offset.wrapping_mul(column_sum(c, j % block).wrapping_sub(column_sum(c, j)))
        }));
    }
    let because = ["lhs_offset is not added", "rhs_offset is not added", "neither offset is added"];
    out.extend(either(Class::OffsetTerm, base, because, |case, t| *offset(case, t) = 0));
    for block in BLOCKS {
        let because = format!("lhs_offset * rhs_offset * depth takes the depth rounded up to {block}");
        out.push(corrected(Class::PaddedDepth, because, base, move |c, _, _| {
            fourth(c, c.params.k.next_multiple_of(block) - c.params.k)
        }));
    }
    out
}

/// Returns changes that add offsets in the type of their operand, which wraps.
fn narrow_offsets(base: Scheme, domain: &Domain) -> Vec<Change<Matmul>> {
    let types = [domain.lhs, domain.rhs];
    let because = [
        "lhs_offset is added in the type of lhs, and wraps",
        "rhs_offset is added in the type of rhs, and wraps",
        "both offsets are added in the types of their operands, and wrap",
    ];
    either(Class::Wrap, base, because, move |case, t| {
        let added = std::mem::take(offset(case, t));
        case.tensors[t].iter_mut().for_each(|v| *v = wrapped_to(types[t], v.wrapping_add(added)));
    })
}

/// Converts the low bits of a value to a type.
pub fn wrapped_to(element: Element, v: i32) -> i32 {
    match element {
        Element::U8 => (v as u8).into(),
        Element::I8 => (v as i8).into(),
        Element::U1 | Element::U2 | Element::U3 | Element::U4 => v & *element.range().end(),
        Element::I16 => (v as i16).into(),
        Element::I4 => v << 28 >> 28,
    }
}

/// Returns changes that read operands as transposed: element (l, j) of rhs at `j * k + l`, and element (i, l) of lhs at `l * m + i`.
fn transposed(base: Scheme) -> Vec<Change<Matmul>> {
    let because = ["lhs is read transposed", "rhs is read transposed", "both are read transposed"];
    let mut out = either(Class::Layout, base, because, |case, t| {
        let Params { m, n, k, .. } = case.params;
        let (rows, columns) = [(m, k), (k, n)][t];
        let from = |at: usize| case.tensors[t][at % columns * rows + at / columns];
        case.tensors[t] = (0..rows * columns).map(from).collect();
    });
    out.swap(0, 1);
    out
}

/// Function that returns a term of result (i, j).
type Term = fn(&Case<Params>, usize, usize) -> i32;

fn fourth(case: &Case<Params>, depth: usize) -> i32 {
    case.params.lhs_offset.wrapping_mul(case.params.rhs_offset).wrapping_mul(depth as i32)
}

fn row_sum(case: &Case<Params>, i: usize) -> i32 {
    case.tensors[0][i * case.params.k..][..case.params.k].iter().fold(0i32, |sum, v| sum.wrapping_add(*v))
}

fn column_sum(case: &Case<Params>, j: usize) -> i32 {
    case.tensors[1].iter().skip(j).step_by(case.params.n).fold(0i32, |sum, v| sum.wrapping_add(*v))
}

/// Predicts the scheme's results with a correction added to each.
fn corrected(
    class: Class,
    because: impl Into<String>,
    base: Scheme,
    correction: impl Fn(&Case<Params>, usize, usize) -> i32 + Send + Sync + 'static,
) -> Change<Matmul> {
    Change::predicts(class, because, move |case: &Case<Params>| {
        let n = case.params.n;
        let expected = Matmul::expected(&base, case).ok()?;
        let add = |(at, v): (usize, Option<i32>)| v.map(|v| v.wrapping_add(correction(case, at / n, at % n)));
        Some(expected.into_iter().enumerate().map(add).collect())
    })
}

fn tails(base: Scheme) -> Vec<Change<Matmul>> {
    let mut out = Vec::new();
    for first in BLOCKS {
        let because = format!("products after the first {first} of the depth are dropped, with their offsets");
        out.push(Change::predicts(Class::TruncatedTail, because, move |case: &Case<Params>| {
            let Params { m, n, k, .. } = case.params;
            Matmul::expected(&base, &super::cropped(case, (m, n, k.min(first)), false)).ok()
        }));
    }
    for block in BLOCKS {
        let because = format!("products after the last whole {block} of the depth are dropped");
        out.push(Change::predicts(Class::TruncatedTail, because.clone(), move |case: &Case<Params>| {
            let whole = Matmul::expected(&base, case).ok()?;
            let raw = |case: &Case<Params>| Matmul::expected(&base, &without_offsets(case)).ok();
            let (all, kept) = (raw(case)?, raw(&without_depth_tail(case, block))?);
            let lost = all.into_iter().zip(kept);
            let predict = |(whole, (all, kept)): (Option<i32>, (Option<i32>, Option<i32>))| {
                Some(whole?.wrapping_sub(all?).wrapping_add(kept?))
            };
            Some(whole.into_iter().zip(lost).map(predict).collect())
        }));
        out.push(Change::predicts(
            Class::TruncatedTail,
            format!("{because}, with their offsets"),
            move |case: &Case<Params>| {
                let k = case.params.k - case.params.k % block;
                if k == 0 {
                    return Some(vec![Some(0); case.params.m * case.params.n]);
                }
                Matmul::expected(&base, &super::cropped(case, (case.params.m, case.params.n, k), false)).ok()
            },
        ));
    }
    for (because, columns) in
        [("columns after the last whole 4 are left 0", true), ("rows after the last whole 4 are left 0", false)]
    {
        out.push(Change::predicts(Class::TruncatedTail, because, move |case: &Case<Params>| {
            let (m, n) = (case.params.m, case.params.n);
            let mut expected = Matmul::expected(&base, case).ok()?;
            for (at, value) in expected.iter_mut().enumerate() {
                let in_tail = if columns { at % n >= n - n % ROWS } else { at / n >= m - m % ROWS };
                *value = if in_tail { Some(0) } else { *value };
            }
            Some(expected)
        }));
    }
    out
}

fn without_offsets(case: &Case<Params>) -> Case<Params> {
    Case { params: Params { lhs_offset: 0, rhs_offset: 0, ..case.params }, ..case.clone() }
}

fn without_depth_tail(case: &Case<Params>, block: usize) -> Case<Params> {
    let k = case.params.k;
    let mut case = case.clone();
    case.tensors[0].iter_mut().enumerate().filter(|(at, _)| at % k >= k - k % block).for_each(|(_, v)| *v = 0);
    case
}

fn signedness(base: Scheme, domain: &Domain) -> Vec<Change<Matmul>> {
    let types = [domain.lhs, domain.rhs];
    let [lhs, rhs] = types.map(Element::name);
    let [lhs, rhs] = [format!("lhs ({lhs}) with the other sign"), format!("rhs ({rhs}) with the other sign")];
    let because = [format!("reads {lhs}"), format!("reads {rhs}"), format!("reads {lhs} and {rhs}")];
    either(Class::Signedness, base, because, move |case, t| {
        case.tensors[t].iter_mut().for_each(|v| *v = other_sign(types[t], *v));
    })
}

/// Reads the bits of a value as the type with the opposite sign.
pub fn other_sign(element: Element, v: i32) -> i32 {
    match element {
        Element::U1 | Element::U2 | Element::U3 | Element::U4 => {
            let unused = i32::BITS - element.bits();
            v << unused >> unused
        }
        Element::U8 => (v as u8 as i8).into(),
        Element::I8 => (v as i8 as u8).into(),
        Element::I16 => (v as i16 as u16).into(),
        Element::I4 => v & 15,
    }
}

/// Computes the sums in f32, product by product in the order of the depth: integers rounded to 24 significant bits, ties to even.
fn in_f32(case: &Case<Params>) -> Expected {
    each_result(case, |sum, product| round_24(sum + product))
}

/// Computes the sums in f32 as C code does: products wrap in int32 and are rounded; as on x86, a sum outside int32 becomes the least int32.
fn products_in_f32(case: &Case<Params>) -> Expected {
    let product = |product: i128| round_24(i128::from(product as i32));
    let sums = each_sum(case, |sum, of| round_24(sum + product(of)));
    sums.map(|sum| Some(i32::try_from(sum).unwrap_or(i32::MIN))).collect()
}

/// Computes the sums in int32, and converts each whole sum to f32 and back. The conversion from f32 saturates.
fn through_f32(base: &Scheme, case: &Case<Params>) -> Expected {
    let converted = |sum: i32| round_24(sum.into()).min(i32::MAX.into()) as i32;
    Matmul::expected(base, case)
        .map_or_else(|_| Vec::new(), |sums| sums.into_iter().map(|sum| sum.map(converted)).collect())
}

fn saturating_steps(case: &Case<Params>) -> Expected {
    each_result(case, |sum, product| (sum + product).clamp(i32::MIN.into(), i32::MAX.into()))
}

fn each_result(case: &Case<Params>, step: impl Fn(i128, i128) -> i128) -> Expected {
    let fitted = |sum: i128| Some(sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    each_sum(case, step).map(fitted).collect()
}

fn each_sum(case: &Case<Params>, step: impl Fn(i128, i128) -> i128) -> impl Iterator<Item = i128> {
    let Params { m, n, k, lhs_offset, rhs_offset } = case.params;
    let [lhs, rhs, _] = &*case.tensors;
    (0..m * n).map(move |at| {
        let (i, j) = (at / n, at % n);
        let product = |d: usize| {
            let l = i128::from(lhs[i * k + d]) + i128::from(lhs_offset);
            l * (i128::from(rhs[d * n + j]) + i128::from(rhs_offset))
        };
        (0..k).fold(0, |sum, d| step(sum, product(d)))
    })
}

/// Rounds to the nearest integer with 24 significant bits, ties to even, as f32 does.
pub fn round_24(v: i128) -> i128 {
    let bits = 128 - v.unsigned_abs().leading_zeros();
    let unused = bits.saturating_sub(24);
    if unused == 0 {
        return v;
    }
    let (unit, half) = (1i128 << unused, 1i128 << (unused - 1));
    let (floor, rest) = (v.div_euclid(unit), v.rem_euclid(unit));
    let up = rest > half || (rest == half && floor % 2 != 0);
    (floor + i128::from(up)) * unit
}

/// Finds the permutation within blocks that turns the expected results into the observed results.
fn permutation(base: Scheme, evidence: &[&Observed<Params>]) -> Option<String> {
    let expected: Option<Vec<Expected>> =
        evidence.iter().map(|seen| Matmul::expected(&base, &seen.case).ok()).collect();
    let expected = expected?;
    for (columns, axis) in [(true, "columns"), (false, "rows")] {
        for order in orders(ROWS) {
            let predicted = |seen: &Observed<Params>, expected: &Expected| -> Expected {
                let Params { m, n, .. } = seen.case.params;
                let from = |at: usize| at / ROWS * ROWS + order[at % ROWS];
                let place = |(i, j): (usize, usize)| if columns { (i, from(j)) } else { (from(i), j) };
                // A value from beyond the matrix is padding, for which nothing is predicted.
                let value = |(i, j): (usize, usize)| if i < m && j < n { expected[i * n + j] } else { None };
                (0..m * n).map(|at| value(place((at / n, at % n)))).collect()
            };
            if reproduced(evidence, &expected, predicted) {
                return Some(format!("{axis} of each block of 4 come in the order {order:?}"));
            }
        }
    }
    packed_rows(base, evidence, &expected).or_else(|| depth_swap(base, evidence))
}

/// True if the prediction equals every result for which it has a value, including at least one differing result.
pub fn reproduced<P>(
    evidence: &[&Observed<P>],
    expected: &[Expected],
    predicted: impl Fn(&Observed<P>, &Expected) -> Expected,
) -> bool {
    let mut described = false;
    evidence.iter().zip(expected).all(|(seen, expected)| {
        predicted(seen, expected).iter().zip(expected).zip(&seen.outs).all(|((predicted, expected), out)| {
            described |= predicted.is_some() && *expected != Some(*out);
            predicted.is_none_or(|predicted| predicted == *out)
        })
    }) && described
}

/// Finds the order of the rows in packed blocks of rhs, if their sums were taken before: the products move, and the offset terms stay.
fn packed_rows(base: Scheme, evidence: &[&Observed<Params>], expected: &[Expected]) -> Option<String> {
    let raw: Option<Vec<Expected>> =
        evidence.iter().map(|seen| Matmul::expected(&base, &without_offsets(&seen.case)).ok()).collect();
    let raw = raw?;
    orders(ROWS).into_iter().find_map(|order| {
        let same = evidence.iter().zip(expected).zip(&raw).all(|((seen, expected), raw)| {
            let n = seen.case.params.n;
            seen.outs.iter().enumerate().all(|(at, out)| {
                let (row, j) = (at / n * n, at % n);
                let from = j / ROWS * ROWS + order[j % ROWS];
                // Beyond the last column is padding, whose products are 0.
                let moved = if from < n { raw[row + from] } else { Some(0) };
                let parts = expected[at].zip(raw[at]).zip(moved);
                parts.is_some_and(|((all, own), moved)| all.wrapping_sub(own).wrapping_add(moved) == *out)
            })
        });
        same.then(|| {
            format!("rows of each packed block of rhs come in the order {order:?}, after their sums were taken")
        })
    })
}

/// Upper bound on cases that are searched for exchanged depths, and on elements of their lhs.
const SWAPS_SHOWN: usize = 6;
const DEEP_ENOUGH: usize = 1024;

/// Finds two depths of each block that are exchanged in lhs but not in rhs.
fn depth_swap(base: Scheme, evidence: &[&Observed<Params>]) -> Option<String> {
    // Exchanged depths change every row of results alike, so a few cases suffice.
    let evidence: Vec<_> =
        evidence.iter().filter(|seen| seen.case.tensors[0].len() <= DEEP_ENOUGH).take(SWAPS_SHOWN).collect();
    if evidence.is_empty() {
        return None;
    }
    for a in 0..BLOCK {
        for b in a + 1..BLOCK {
            let swapped = |seen: &&&Observed<Params>| {
                let k = seen.case.params.k;
                if !k.is_multiple_of(BLOCK) {
                    return None;
                }
                let mut case = seen.case.clone();
                case.tensors[0].chunks_mut(BLOCK).for_each(|block| block.swap(a, b));
                Matmul::expected(&base, &case).ok()
            };
            let spoken: Vec<_> = evidence.iter().filter_map(|seen| Some((swapped(seen)?, *seen))).collect();
            let same = |(predicted, seen): &(Expected, &&Observed<Params>)| {
                predicted.iter().zip(&seen.outs).all(|(p, out)| *p == Some(*out))
            };
            if spoken.iter().any(|(_, seen)| seen.differ > 0) && spoken.iter().all(same) {
                return Some(format!("depths {a} and {b} of each block of 16 are exchanged in one operand"));
            }
        }
    }
    None
}

/// Returns every order of `n` items except for the identity.
pub fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut out = vec![vec![]];
    for _ in 0..n {
        let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let free = (0..n).filter(|i| !order.contains(i));
            free.map(|i| [order.clone(), vec![i]].concat()).collect()
        };
        out = out.iter().flat_map(longer).collect();
    }
    out.retain(|order| !order.is_sorted());
    out
}
