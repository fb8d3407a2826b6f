//! Changes that a kernel may make to the processing of a 64-bit sum: a 64-bit bias, a multiplication, zero point and clamp.

use super::Fused;
use super::composed::{each_tail, others, with_tail};
use super::part_changes::{Sums, total};
use crate::fpm::hypotheses::{Hypothesis, hypotheses};
use crate::requantize::multiply;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::fpm::Parameters;
use tiebreak_oracle::requantize::Scheme;
use tiebreak_oracle::word::{INT32, Overflow};

/// Number of products that some code sums in int32.
const FAST: usize = 512;

/// Processing of 64-bit sums.
#[derive(Clone)]
pub(crate) struct Wide {
    /// Columns of a row.
    pub(crate) columns: usize,
    /// Biases: one, or one for each column.
    pub(crate) bias: Vec<i64>,
    /// Multipliers and shifts: one, or one for each column.
    pub(crate) channels: Vec<Channel>,
    /// Zero point, smallest and largest result.
    pub(crate) ends: [i32; 3],
}

impl Wide {
    fn channel(&self, at: usize) -> Channel {
        self.channels[if self.channels.len() == 1 { 0 } else { at % self.columns }]
    }

    fn bias(&self, at: usize) -> i64 {
        self.bias[if self.bias.len() == 1 { 0 } else { at % self.columns }]
    }
}

/// Returns the changes to the processing of a 64-bit sum, in the order of preference.
pub(crate) fn changes<F: Fused>(kept: &Sums<F::Params>, scheme: &Scheme) -> Vec<Change<F>> {
    let base = total(scheme);
    let mut out = words(kept, base);
    out.extend(biases(kept, base));
    out.extend(multiplications(kept, base));
    out.extend(multipliers(kept, base));
    out.extend(tails(kept, base));
    out
}

/// Builds a change to the results of given sums.
fn change<F: Fused>(
    kept: &Sums<F::Params>,
    class: Class,
    because: impl Into<String>,
    predict: impl Fn(&Case<F::Params>, &[i64]) -> Option<Expected> + Send + Sync + 'static,
) -> Change<F> {
    let kept = kept.clone();
    Change::predicts(class, because, move |case: &Case<F::Params>| predict(case, &kept.of::<F>(case)?))
}

/// Returns the results of a scheme for given sums, with each bias replaced by `of`.
fn with_biases<F: Fused>(base: &Scheme, p: &F::Params, sums: &[i64], of: impl Fn(i64) -> i64) -> Option<Expected> {
    let wide = F::wide(p)?;
    let bias = wide.bias.iter().map(|bias| of(*bias)).collect();
    F::finished(base, &F::with_wide(p, Wide { bias, ..wide }), sums)
}

/// Computes each result from its sum and its bias by `scale`, followed by zero point and clamp.
fn scaled<F: Fused>(
    base: &Scheme,
    p: &F::Params,
    sums: &[i64],
    scale: impl Fn(i64, Channel, i64) -> Option<i64>,
) -> Option<Expected> {
    let wide = F::wide(p)?;
    let [zero_point, min, max] = wide.ends;
    let one = |(at, sum): (usize, &i64)| {
        let scaled = scale(*sum, wide.channel(at), wide.bias(at))?;
        Some(base.overflow.fit_int32(i128::from(scaled) + i128::from(zero_point))?.clamp(min, max))
    };
    Some(sums.iter().enumerate().map(one).collect())
}

/// Returns changes that keep sums in int32: with their biases, without biases, or only for the first products.
fn words<F: Fused>(kept: &Sums<F::Params>, base: Scheme) -> Vec<Change<F>> {
    let biased = |class, because: &'static str, overflow: Overflow| {
        change(kept, class, because, move |case, sums| {
            let wide = F::wide(&case.params)?;
            let of = |(at, sum): (usize, &i64)| {
                overflow.fit_int32(i128::from(*sum) + i128::from(wide.bias(at))).map(i64::from)
            };
            let sums: Option<Vec<i64>> = sums.iter().enumerate().map(of).collect();
            with_biases::<F>(&base, &case.params, &sums?, |_| 0)
        })
    };
    let first = change(kept, Class::Wrap, "the first 512 products are summed in int32", move |case, sums| {
        let firsts = first_products::<F>(case)?;
        let wrapped = sums.iter().zip(firsts).map(|(sum, first)| sum - first + i64::from(first as i32));
        F::finished(&base, &case.params, &wrapped.collect::<Vec<_>>())
    });
    let summed =
        change(kept, Class::Wrap, "products are summed in int32, and the bias in 64 bits", move |case, sums| {
            let wrapped: Vec<i64> = sums.iter().map(|sum| i64::from(*sum as i32)).collect();
            F::finished(&base, &case.params, &wrapped)
        });
    vec![
        biased(Class::Wrap, "the sum with its bias wraps in int32", Overflow::Wrap),
        biased(Class::Saturation, "the sum with its bias saturates in int32", Overflow::Saturate),
        summed,
        first,
    ]
}

/// Returns the sum of the first products of each result. The weights of all later rows are replaced by the neutral element.
fn first_products<F: Fused>(case: &Case<F::Params>) -> Option<Vec<i64>> {
    let columns = F::wide(&case.params)?.columns;
    let mut first = case.clone();
    first.tensors[1].iter_mut().skip(FAST * columns).for_each(|v| *v = F::neutral_element(&case.params, 1));
    F::sums(&first)
}

/// Returns changes that add biases after the multiplication, read biases with fewer bits, subtract biases or leave them out.
fn biases<F: Fused>(kept: &Sums<F::Params>, base: Scheme) -> Vec<Change<F>> {
    let after = change(kept, Class::Bias, "the bias is added after the multiplication", move |case, sums| {
        let multiply = multiply(&base)?;
        scaled::<F>(&base, &case.params, sums, |sum, channel, bias| {
            let scaled = multiply.fast(sum, &Parameters::q31(channel.multiplier, channel.shift))?;
            INT32.holds(scaled.into()).then(|| i64::from((scaled as i32).wrapping_add(bias as i32)))
        })
    });
    let read = |class, because: &'static str, of: fn(i64) -> i64| {
        change(kept, class, because, move |case, sums| with_biases::<F>(&base, &case.params, sums, of))
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

/// Returns the changes of the multiplication: the hypotheses of fixed point multiply.
fn multiplications<F: Fused>(kept: &Sums<F::Params>, base: Scheme) -> Vec<Change<F>> {
    let of = |hypothesis: Hypothesis| {
        change(kept, hypothesis.class, hypothesis.because.clone(), move |case, sums| {
            scaled::<F>(&base, &case.params, sums, |sum, channel, bias| {
                hypothesis.predicts(sum + bias, &Parameters::q31(channel.multiplier, channel.shift))
            })
        })
    };
    multiply(&base).iter().flat_map(hypotheses).map(of).collect()
}

/// Change of the multipliers and shifts.
type Turned = Box<dyn Fn(&mut Vec<Channel>) + Send + Sync>;

/// Returns changes that cut the low bits of multipliers, or use the multiplier of the previous or the next column.
fn multipliers<F: Fused>(kept: &Sums<F::Params>, base: Scheme) -> Vec<Change<F>> {
    let with = |class, because: String, turn: Turned| {
        change(kept, class, because, move |case, sums| {
            let mut wide = F::wide(&case.params)?;
            turn(&mut wide.channels);
            F::finished(&base, &F::with_wide(&case.params, wide), sums)
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

/// Returns changes to the columns of a row after its last whole vector: another multiplication, or results of 0.
fn tails<F: Fused>(kept: &Sums<F::Params>, base: Scheme) -> Vec<Change<F>> {
    let tail = |vector: usize, class: Class, what: String, of: Option<Scheme>| {
        let because = format!("output channels after the last whole vector of {vector} of a row: {what}");
        change(kept, class, because, move |case, sums| {
            let p = &case.params;
            with_tail(|scheme| F::finished(scheme, p, sums), &base, of.as_ref(), F::wide(p)?.columns, vector)
        })
    };
    each_tail(others(base), tail)
}
