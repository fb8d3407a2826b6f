//! Layers with biases of 64 bits: sums around ties of results, around the ends of int32 and of 48 bits, and 512 products of the largest magnitude; and what a kernel may do
//! otherwise with such a sum.

use super::Qmatmul;
use crate::fpm::hypotheses::hypotheses;
use crate::fused::Fused;
use crate::fused::lifted::{Sums, total};
use crate::requantize::channels::any;
use crate::requantize::multiply;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::class::Class;
use tiebreak_common::stream::{below, stream};
use tiebreak_engine::operation::fill::Fill;
use tiebreak_engine::operation::{Case, Change, Expected, Spec};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::matmul;
use tiebreak_impls::qmatmul::{Domain, Layer64, Params, Stage};
use tiebreak_oracle::fpm::Parameters;
use tiebreak_oracle::qmatmul::Scheme;
use tiebreak_oracle::requantize::Definition;
use tiebreak_oracle::scheme::Registered;
use tiebreak_oracle::word::{INT32, Overflow};

/// Batches of sums, in a short run and in others.
const SUMS: [usize; 2] = [16, 56];
/// Sums of a batch around each target.
const WINDOW: usize = 16;
/// Depths around 512, and one whose sums leave int32.
const DEPTHS: [usize; 5] = [511, 512, 513, 516, 1100];
/// Multipliers next to the largest whose high half is no int16 if it is rounded.
const LARGEST: [i32; 4] = [i32::MAX, 0x7FFF_8000, 0x7FFF_7FFF, 0x7FFF_0000];
/// Products that some code sums in int32.
const FAST: usize = 512;
/// Columns of a vector, after the last of which a kernel may do otherwise.
const VECTORS: [usize; 3] = [4, 8, 16];

/// Every spec.
pub(super) fn sums(domain: &Domain, long: usize, seed: u64) -> Vec<Spec<Params>> {
    let around = (0..SUMS[long]).map(|i| targets(domain, i, seed));
    around.chain(DEPTHS.into_iter().enumerate().map(|(i, k)| deep(domain, k, i))).collect()
}

fn spec(domain: &Domain, shape: matmul::Params, bias: &[i64], channels: &[Channel], fills: [Fill; 2]) -> Spec<Params> {
    let output = domain.requantize.output;
    let (min, max) = (*output.range().start(), *output.range().end());
    let layer = Layer64 { bias, channels, zero_point: 0, min, max, output };
    let [lhs, rhs] = fills;
    Spec::new(Params { shape, stages: layer.stages() }, [lhs, rhs, Fill::None], 0)
}

/// One product of 1, and biases that take the sums to a target in each column.
fn targets(domain: &Domain, i: usize, seed: u64) -> Spec<Params> {
    let mut rng = stream(seed, &format!("qmatmul/wide/{i}"));
    let n = [7, 4, 9, 1, 16, 5][i % 6];
    let count = if domain.requantize.channels.per_channel { n } else { 1 };
    let channels: Vec<Channel> = (0..count).map(|j| channel(domain, i + j, &mut rng)).collect();
    let of = |j: usize| channels[if count == 1 { 0 } else { j }];
    let bias: Vec<i64> = (0..n).map(|j| target(of(j), i / 2 + j, &mut rng)).collect();
    let shape = matmul::Params { m: WINDOW, n, k: 1, lhs_offset: 0, rhs_offset: 0 };
    let lhs = (0..WINDOW as i32).map(|at| at - WINDOW as i32 / 2).collect();
    let spec = spec(domain, shape, &bias, &channels, [Fill::Given(lhs), Fill::Constant(1)]);
    Spec { misalign: i % 16, ..spec }
}

/// Any of the domain, or one of the largest, or one that takes 32 bits to the output.
fn channel(domain: &Domain, i: usize, rng: &mut ChaCha8Rng) -> Channel {
    let multiple = domain.requantize.channels.multiple_of;
    let drawn = any(&domain.requantize, rng);
    let multiplier = LARGEST[below(rng, 4) as usize];
    let multiplier = multiplier - multiplier % multiple;
    let wanted = match i % 4 {
        0 => Channel { multiplier, ..drawn },
        1 => Channel { shift: -14 - below(rng, 6) as i32, ..drawn },
        _ => drawn,
    };
    if domain.requantize.takes(wanted) { wanted } else { drawn }
}

/// A sum at a tie of a result, by the multiplier of 16 bits or by the whole one; or next to the ends of int32, of 48 bits, or of a product that is cast to int32.
fn target(channel: Channel, i: usize, rng: &mut ChaCha8Rng) -> i64 {
    let whole = i128::from(channel.multiplier);
    let high = ((whole + (1 << 15)) >> 16).min(0x7FFF);
    let result = i128::from(below(rng, 1 << 16)) - (1 << 15);
    let of = |halves: i128, multiplier: i128, places: i32| {
        (halves << (places - 1)).checked_div_euclid(multiplier).and_then(|sum| i64::try_from(sum).ok())
    };
    let places = 15 - channel.shift;
    let sign = if below(rng, 2) == 0 { 1 } else { -1 };
    let found = match i % 6 {
        0 | 1 => of(2 * result - 1, high, places),
        2 => of(2 * result - 1, whole, places + 16),
        3 => of(i128::from(sign) << 31, high, places),
        4 => Some(sign << 31),
        _ => Some((sign << 47) - i64::from(below(rng, 64) as i32 - 32)),
    };
    found.filter(|sum| sum.unsigned_abs() <= 1 << 47).unwrap_or_else(|| sign << below(rng, 47))
}

/// As many products of the largest magnitude.
fn deep(domain: &Domain, k: usize, i: usize) -> Spec<Params> {
    let operands = &domain.operands;
    let channels = [Channel { multiplier: 1 << 30, shift: -16 }];
    let shape = matmul::Params { m: 1, n: 1 + i % 3, k, lhs_offset: 0, rhs_offset: 0 };
    let rhs = if i == 4 { *operands.rhs_values.end() } else { *operands.rhs_values.start() };
    let fills = [Fill::Constant(*operands.lhs_values.start()), Fill::Constant(rhs)];
    spec(domain, shape, &[0], &channels, fills)
}

/// What a kernel may do otherwise with a sum of 64 bits, in the order of preference.
pub(super) fn changes(kept: &Sums<Params>, scheme: &Scheme) -> Vec<Change<Qmatmul>> {
    let base = total(scheme);
    let mut out = words(kept, base);
    out.extend(biases(kept, base));
    out.extend(multiplications(kept, base));
    out.extend(multipliers(kept, base));
    out.extend(tails(kept, base));
    out
}

/// A change of what becomes of the sums.
fn change(
    kept: &Sums<Params>,
    class: Class,
    because: impl Into<String>,
    predict: impl Fn(&Case<Params>, &[i64]) -> Option<Expected> + Send + Sync + 'static,
) -> Change<Qmatmul> {
    let kept = kept.clone();
    Change::predicts(class, because, move |case: &Case<Params>| predict(case, &kept.of::<Qmatmul>(case)?))
}

/// The same list with other biases.
fn with_biases(p: &Params, of: impl Fn(i64) -> i64) -> Params {
    let mut p = p.clone();
    if let Some(Stage::Bias64 { values, .. }) = p.stages.first_mut() {
        values.iter_mut().for_each(|bias| *bias = of(*bias));
    }
    p
}

/// Each result of its sum with its bias, and of its column: what is scaled, then zero point and clamp.
fn scaled(
    base: &Scheme,
    p: &Params,
    sums: &[i64],
    scale: impl Fn(i64, Channel, i64) -> Option<i64>,
) -> Option<Expected> {
    let layer = p.layer64()?;
    let one = |(at, sum): (usize, &i64)| {
        let column = at % p.shape.n;
        let scaled = scale(*sum, layer.channel(column), layer.bias(column))?;
        let placed = base.overflow.fit_int32(i128::from(scaled) + i128::from(layer.zero_point))?;
        Some(placed.clamp(layer.min, layer.max))
    };
    Some(sums.iter().enumerate().map(one).collect())
}

/// Sums that are kept in int32: with their biases, without, or of the first products only.
fn words(kept: &Sums<Params>, base: Scheme) -> Vec<Change<Qmatmul>> {
    let biased = |class, because: &'static str, overflow: Overflow| {
        change(kept, class, because, move |case, sums| {
            let p = &case.params;
            let layer = p.layer64()?;
            let of = |(at, sum): (usize, &i64)| {
                let sum = i128::from(*sum) + i128::from(layer.bias(at % p.shape.n));
                overflow.fit_int32(sum).map(i64::from)
            };
            let sums: Option<Vec<i64>> = sums.iter().enumerate().map(of).collect();
            Qmatmul::finished(&base, &with_biases(p, |_| 0), &sums?)
        })
    };
    let first = change(kept, Class::Wrap, "the first 512 products are summed in int32", move |case, sums| {
        let firsts = first_products(case);
        let wrapped = sums.iter().zip(firsts).map(|(sum, first)| sum - first + i64::from(first as i32));
        Qmatmul::finished(&base, &case.params, &wrapped.collect::<Vec<_>>())
    });
    let summed =
        change(kept, Class::Wrap, "products are summed in int32, and the bias in 64 bits", move |case, sums| {
            let wrapped: Vec<i64> = sums.iter().map(|sum| i64::from(*sum as i32)).collect();
            Qmatmul::finished(&base, &case.params, &wrapped)
        });
    vec![
        biased(Class::Wrap, "the sum with its bias wraps in int32", Overflow::Wrap),
        biased(Class::Saturation, "the sum with its bias saturates in int32", Overflow::Saturate),
        summed,
        first,
    ]
}

/// The sum of the first products of each result.
fn first_products(case: &Case<Params>) -> Vec<i64> {
    let matmul::Params { n, k, lhs_offset, rhs_offset, .. } = case.params.shape;
    let [lhs, rhs, _] = &case.tensors;
    let plus = |v: i32, offset: i32| i64::from(v) + i64::from(offset);
    let one = |row: &[i32], j: usize| -> i64 {
        let column = rhs.iter().skip(j).step_by(n);
        row.iter().zip(column).take(FAST).map(|(l, r)| plus(*l, lhs_offset) * plus(*r, rhs_offset)).sum()
    };
    lhs.chunks_exact(k).flat_map(|row| (0..n).map(move |j| (row, j))).map(|(row, j)| one(row, j)).collect()
}

/// Biases that are added after the multiplication, read with fewer bits, subtracted or left out.
fn biases(kept: &Sums<Params>, base: Scheme) -> Vec<Change<Qmatmul>> {
    let after = change(kept, Class::Bias, "the bias is added after the multiplication", move |case, sums| {
        let multiply = multiply(&base)?;
        scaled(&base, &case.params, sums, |sum, channel, bias| {
            let scaled = multiply.fast(sum, &Parameters::q31(channel.multiplier, channel.shift))?;
            INT32.holds(scaled.into()).then(|| i64::from((scaled as i32).wrapping_add(bias as i32)))
        })
    });
    let read = |class, because: &'static str, of: fn(i64) -> i64| {
        change(kept, class, because, move |case, sums| Qmatmul::finished(&base, &with_biases(&case.params, of), sums))
    };
    vec![
        after,
        read(Class::Bias, "the bias is read as signed, of 32 bits", |bias| i64::from(bias as i32)),
        read(Class::Bias, "the bias is read as unsigned, of 32 bits", |bias| i64::from(bias as u32)),
        read(Class::Bias, "the bias is read as signed, of 16 bits", |bias| i64::from(bias as i16)),
        read(Class::OffsetSign, "the bias is subtracted", |bias| -bias),
        read(Class::OffsetTerm, "the bias is not added", |_| 0),
    ]
}

/// The multiplication with one thing changed, as fixed point multiply itself has it.
fn multiplications(kept: &Sums<Params>, base: Scheme) -> Vec<Change<Qmatmul>> {
    let of = |hypothesis: crate::fpm::hypotheses::Hypothesis| {
        change(kept, hypothesis.class, hypothesis.because.clone(), move |case, sums| {
            scaled(&base, &case.params, sums, |sum, channel, bias| {
                hypothesis.predicts(sum + bias, &Parameters::q31(channel.multiplier, channel.shift))
            })
        })
    };
    multiply(&base).iter().flat_map(hypotheses).map(of).collect()
}

/// What becomes of the multipliers.
type Turned = Box<dyn Fn(&mut Vec<Channel>) + Send + Sync>;

/// Multipliers without their low bits, and multipliers of the previous or the next column.
fn multipliers(kept: &Sums<Params>, base: Scheme) -> Vec<Change<Qmatmul>> {
    let with = |class, because: String, turn: Turned| {
        change(kept, class, because, move |case, sums| {
            let mut p = case.params.clone();
            if let Some(Stage::Scale { channels, .. }) = p.stages.get_mut(1) {
                turn(channels);
            }
            Qmatmul::finished(&base, &p, sums)
        })
    };
    let cut = (1..=24).map(|bits: u32| {
        let because = format!("the low {bits} bits of the multiplier are cut off");
        let turn = move |channels: &mut Vec<Channel>| {
            channels.iter_mut().for_each(|channel| channel.multiplier = channel.multiplier >> bits << bits);
        };
        with(Class::MultiplierNarrowed, because, Box::new(turn))
    });
    let mut out: Vec<_> = cut.collect();
    let next = "multiplier and shift are those of the next column".to_owned();
    out.push(with(Class::Channel, next, Box::new(|channels| channels.rotate_left(1))));
    let before = "multiplier and shift are those of the column before".to_owned();
    out.push(with(Class::Channel, before, Box::new(|channels| channels.rotate_right(1))));
    out
}

/// The columns of a row after its last whole vector: another multiplication, or nothing at all.
fn tails(kept: &Sums<Params>, base: Scheme) -> Vec<Change<Qmatmul>> {
    let tail = |vector: usize, class: Class, what: String, of: Option<Scheme>| {
        let because = format!("output channels after the last whole vector of {vector} of a row: {what}");
        change(kept, class, because, move |case, sums| {
            let p = &case.params;
            let mut out = Qmatmul::finished(&base, p, sums)?;
            let others = match of {
                Some(other) => Qmatmul::finished(&other, p, sums)?,
                None => vec![Some(0); out.len()],
            };
            let whole = p.shape.n / vector * vector;
            for (at, (out, other)) in out.iter_mut().zip(others).enumerate() {
                if at % p.shape.n >= whole {
                    *out = other;
                }
            }
            Some(out)
        })
    };
    let multiplied = |definition: &Definition| multiply(&Scheme { definition: *definition, ..base }).is_some();
    let others: Vec<Definition> =
        Definition::all().filter(|other| other.name() != base.definition.name() && multiplied(other)).collect();
    let mut out = Vec::new();
    for vector in VECTORS {
        for definition in &others {
            let what = format!("{} is computed", definition.name());
            out.push(tail(vector, Class::Position, what, Some(Scheme { definition: *definition, ..base })));
        }
        out.push(tail(vector, Class::TruncatedTail, "results are 0".to_owned(), None));
    }
    out
}
