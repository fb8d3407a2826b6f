//! First difference of two candidates, outwards from zero: in closed form for two Q0.31 multipliers, by walking the changes of output for monotone
//! functions, and by trying accumulators one after another for other functions.

use super::candidates::Function;
use tiebreak_oracle::census::Census;
use tiebreak_oracle::fpm;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::requantize::{Definition, Scheme};
use tiebreak_oracle::word::Overflow;

/// Difference of two functions of the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// First difference: no accumulator nearer to zero differs. At equal distance, it is the positive accumulator.
    At(i32),
    /// No difference on any int32.
    Nowhere,
    /// No difference up to this magnitude; larger accumulators were not compared.
    NotWithin(i64),
}

/// Upper bound on output changes that a walk passes in each direction.
const MOST_CHANGES: u32 = 1 << 16;
/// Upper bound on accumulators tried in each direction, if no better method applies.
const MOST_TRIED: i64 = 1 << 18;

/// Returns the first difference. The closed form ignores accumulators at which a function has no output.
pub fn difference(left: &Function, right: &Function, output: &Output) -> Difference {
    if let Some(known) = closed_form(left, right, output) {
        return known;
    }
    let (f, g) = (|x: i64| left.at(x as i32, output), |x: i64| right.at(x as i32, output));
    if is_monotone(left, output) && is_monotone(right, output) { walk(f, g) } else { one_by_one(f, g) }
}

fn closed_form(left: &Function, right: &Function, output: &Output) -> Option<Difference> {
    let of = |function: &Function| match function {
        Function::Fixed(Scheme { definition: Definition::Fpm(definition), overflow }, (m, s)) => {
            Some((fpm::Scheme { definition, overflow: *overflow }, fpm::Parameters::q31(*m, *s)))
        }
        _ => None,
    };
    let ((left, p), (right, q)) = (of(left)?, of(right)?);
    if p.s.abs_diff(q.s) > 1 {
        return None;
    }
    let plain = *output == Output { zero_point: 0, min: i32::MIN, max: i32::MAX };
    let census =
        Census { right_parameters: Some(q), output: (!plain).then_some(*output), ..Census::of(left, right, p) };
    let first = census.differing()?.next();
    Some(first.map_or(Difference::Nowhere, |x| Difference::At(x as i32)))
}

/// True if outputs never fall as the accumulator rises: no word wraps, and no input is refused.
fn is_monotone(function: &Function, output: &Output) -> bool {
    match function {
        // With a right shift, results are within 2^30, so with such a zero point they fit int32.
        Function::Fixed(scheme, (m, s)) => {
            let fits = scheme.overflow == Overflow::Saturate || output.zero_point.unsigned_abs() < 1 << 30;
            matches!(scheme.definition, Definition::Fpm(_)) && *m >= 0 && *s < 0 && fits
        }
        Function::Float(scheme) => *scheme.factor() >= 0,
        Function::Nothing => true,
    }
}

/// Walks both directions from zero, from one change of an output to the next.
fn walk<F: Fn(i64) -> Option<i32>, G: Fn(i64) -> Option<i32>>(f: F, g: G) -> Difference {
    if f(0) != g(0) {
        return Difference::At(0);
    }
    let up = side(&f, &g, i32::MAX.into());
    let nearer = if let Difference::At(x) = up { i64::from(x) - 1 } else { -i64::from(i32::MIN) };
    match (up, side(&|x| f(-x), &|x| g(-x), nearer)) {
        (_, Difference::At(x)) => Difference::At(x.wrapping_neg()),
        (Difference::At(x), _) => Difference::At(x),
        (Difference::NotWithin(a), Difference::NotWithin(b)) => Difference::NotWithin(a.min(b)),
        (Difference::NotWithin(a), _) | (_, Difference::NotWithin(a)) => Difference::NotWithin(a),
        (Difference::Nowhere, Difference::Nowhere) => Difference::Nowhere,
    }
}

/// Returns the first x of `1..=end` at which two monotone functions differ that agree at 0. 2^31 is returned as `i32::MIN`.
fn side(f: &impl Fn(i64) -> Option<i32>, g: &impl Fn(i64) -> Option<i32>, end: i64) -> Difference {
    let (mut x, mut gap) = (0, 1);
    for _ in 0..MOST_CHANGES {
        let (a, b) = (change(f, x, gap, end), change(g, x, gap, end));
        let next = match (a, b) {
            (None, None) => return Difference::Nowhere,
            (Some(a), Some(b)) if a == b && f(a) == g(b) => a,
            (Some(a), Some(b)) => return Difference::At(a.min(b) as i32),
            (Some(a), None) | (None, Some(a)) => return Difference::At(a as i32),
        };
        (x, gap) = (next, next - x);
    }
    Difference::NotWithin(x)
}

/// Returns the first y after x, up to `end`, at which a monotone function has another value than at x. The search starts around `x + gap`.
fn change(f: &impl Fn(i64) -> Option<i32>, x: i64, gap: i64, end: i64) -> Option<i64> {
    let here = f(x);
    // The value is unchanged up to `same`, and changed from `changed` on.
    let (mut same, mut step) = (x, 1);
    let mut changed = (x + gap).min(end);
    if changed == x {
        return None;
    }
    while f(changed) == here {
        if changed == end {
            return None;
        }
        (same, changed) = (changed, (changed + step).min(end));
        step *= 2;
    }
    let mut back = 1;
    while changed - same > 1 {
        // First, steps back from the guess, then bisection.
        let middle = if back < (changed - same) / 2 { changed - back } else { same + (changed - same) / 2 };
        back *= 2;
        if f(middle) == here { same = middle } else { changed = middle }
    }
    Some(changed)
}

fn one_by_one(f: impl Fn(i64) -> Option<i32>, g: impl Fn(i64) -> Option<i32>) -> Difference {
    let outwards = (0..=MOST_TRIED).flat_map(|x| [x, -x]);
    let first = outwards.into_iter().find(|x| f(*x) != g(*x));
    first.map_or(Difference::NotWithin(MOST_TRIED), |x| Difference::At(x as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nearest(f: impl Fn(i64) -> Option<i32>, g: impl Fn(i64) -> Option<i32>, reach: i64) -> Option<i64> {
        (0..=reach).flat_map(|x| [x, -x]).find(|x| f(*x) != g(*x))
    }

    proptest! {
        /// Compares the walk with a trial of every accumulator, for affine floors of similar slopes.
        #[test]
        fn walks_find_the_nearest(m in 1i64..1 << 20, apart in -3i64..=3, c in 0i64..1 << 16, d in -2i64..=2, clamp in 1i64..2000) {
            let of = |m: i64, c: i64| move |x: i64| Some(((m * x + c) >> 16).clamp(-clamp, clamp) as i32);
            let (f, g) = (of(m, c), of((m + apart).max(0), c + d));
            let reach = 3000;
            match (walk(f, g), nearest(f, g, reach)) {
                (Difference::At(x), None) => prop_assert!(i64::from(x).abs() > reach && f(x.into()) != g(x.into())),
                (Difference::At(x), Some(y)) => prop_assert_eq!(i64::from(x), y),
                (other, none) => prop_assert_eq!((other, none), (Difference::Nowhere, None)),
            }
        }
    }

    #[test]
    fn ends_of_the_word() {
        let step = |at: i64| move |x: i64| Some(i32::from(x >= at));
        let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
        assert_eq!(walk(step(most), step(most + 1)), Difference::At(i32::MAX));
        assert_eq!(walk(step(least), step(least + 1)), Difference::At(i32::MIN));
        assert_eq!(walk(step(0), step(0)), Difference::Nowhere);
        assert_eq!(walk(step(-7), step(5)), Difference::At(0));
        assert_eq!(walk(step(5), step(6)), Difference::At(5));
        assert_eq!(walk(step(-5), step(-6)), Difference::At(-6));
        let identity = |x: i64| Some(x as i32);
        assert_eq!(walk(identity, identity), Difference::NotWithin(i64::from(MOST_CHANGES)));
    }
}
