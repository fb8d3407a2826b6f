//! Sums of floors, by the Euclidean algorithm: `sum over x in 0..n of floor((a*x + b) / m)` counts the lattice points below a
//! line, and exchanging the axes exchanges slope and denominator (Graham, Knuth, Patashnik, Concrete Mathematics, 3.5).

use crate::fpm::div_floor;

/// Computes `sum over x in 0..n of floor((a*x + b) / m)`, exactly. `n` is at most 2^33, `m` in 1..=2^93, `|a|` and `|b|` at most 2^93,
/// so `a*n + b` is below 2^127. The sum must be below 2^126.
pub fn floor_sum(n: u64, a: i128, b: i128, m: i128) -> i128 {
    if n == 0 {
        return 0;
    }
    let (n, pairs) = (i128::from(n), i128::from(n) * (i128::from(n) - 1) / 2);
    let (whole_a, whole_b) = (div_floor(a, m), div_floor(b, m));
    let whole = whole_a * pairs + whole_b * n;
    whole + from_residues(n as u128, (a - whole_a * m) as u128, (b - whole_b * m) as u128, m as u128) as i128
}

/// Computes the sum for `a` and `b` in `0..m`. No step makes `a*n + b` larger.
fn from_residues(mut n: u128, mut a: u128, mut b: u128, mut m: u128) -> u128 {
    let mut sum = 0;
    loop {
        let y = a * n + b;
        if y < m {
            return sum;
        }
        n = quotient(y, m);
        b = y - n * m;
        (a, m) = (m, a);
        let (whole_a, whole_b) = (quotient(a, m), quotient(b, m));
        sum += n * (n - 1) / 2 * whole_a + n * whole_b;
        (a, b) = (a - whole_a * m, b - whole_b * m);
    }
}

/// Computes `a / b`. Most numerators fit in 64 bits, where division is several times faster.
fn quotient(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => (a / b).into(),
        _ => a / b,
    }
}

/// Computes the sum over x in `0..n` of `floor((a*x + b + more) / 2^k) - floor((a*x + b) / 2^k)`, which is the number of x with
/// `(a*x + b) mod 2^k` among the last `more` residues. `n` at most 2^32, `k` at most 62, `b` and `more` below 2^k.
///
/// Uses 64 bits if `a*n + b` fits, always true for `|a|` up to 2^31 as `2^31 * 2^32 + 2^62 < 2^64`; otherwise 128.
#[inline]
pub(super) fn floor_sum_step(n: u64, a: i128, b: u64, more: u64, k: u32) -> u64 {
    let mask = (1u64 << k) - 1;
    // Counted from the other end, the slope is positive and stays small. Whole multiples of 2^k add the same to both sums.
    let (a, b) = if a < 0 { (-a, (i128::from(b) + a * (i128::from(n) - 1)) as u64 & mask) } else { (a, b) };
    let a = a as u64 & mask;
    let (high, carried) = ((b + more) & mask, if b + more > mask { n } else { 0 });
    if a.checked_mul(n).is_some_and(|y| y.checked_add(mask).is_some()) {
        return carried.wrapping_add(two_sums(n, a, [b, high], k));
    }
    let sum = |b: u64| floor_sum(n, a.into(), b.into(), 1 << k);
    carried.wrapping_add((sum(high) - sum(b)) as u64)
}

/// Computes the second of two sums with one slope minus the first, modulo 2^64; `a` and `b` are below 2^k. Both sums are computed
/// together: they share the quotients of the slope, and neither waits for the other.
fn two_sums(n: u64, a: u64, b: [u64; 2], k: u32) -> u64 {
    let pairs = |n: u64| n.wrapping_mul(n.wrapping_sub(1)) / 2;
    let (y1, y2) = (a * n + b[0], a * n + b[1]);
    let (mut n1, mut n2) = (y1 >> k, y2 >> k);
    let (mut b1, mut b2) = (y1 - (n1 << k), y2 - (n2 << k));
    let (mut a, mut m) = (1u64 << k, a);
    let mut sum = 0u64;
    while n1 | n2 != 0 {
        let (q, q1, q2) = (a / m, b1 / m, b2 / m);
        a -= q * m;
        sum = sum.wrapping_add(pairs(n2).wrapping_sub(pairs(n1)).wrapping_mul(q));
        sum = sum.wrapping_add(n2.wrapping_mul(q2)).wrapping_sub(n1.wrapping_mul(q1));
        let (y1, y2) = (a * n1 + (b1 - q1 * m), a * n2 + (b2 - q2 * m));
        (n1, n2) = (y1 / m, y2 / m);
        (b1, b2) = (y1 - n1 * m, y2 - n2 * m);
        (a, m) = (m, a);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rug::Integer;
    use rug::ops::DivRounding;

    fn one_by_one(n: u64, a: i128, b: i128, m: i128) -> i128 {
        (0..i128::from(n)).map(|x| (a * x + b).div_euclid(m)).sum()
    }

    /// Computes [`floor_sum`] in big integers of any size, by the definition of the floor and without limits on width.
    fn floor_sum_exact(n: &Integer, a: &Integer, b: &Integer, m: &Integer) -> Integer {
        let (mut n, mut m) = (n.clone(), m.clone());
        let (mut a, mut b) = (a.clone(), b.clone());
        let (mut sum, mut sign) = (Integer::new(), 1);
        // Points under a line and points left of it fill a rectangle: S(n, a, b, m) = n*h - S(h, m, m*n - y, a) with h = y div m.
        while n > 0 {
            let (whole_a, whole_b) = (a.clone().div_floor(&m), b.clone().div_floor(&m));
            let pairs = Integer::from(&n * &n) - &n;
            sum += sign * (Integer::from(&whole_a * &(pairs / 2)) + Integer::from(&whole_b * &n));
            a -= whole_a * &m;
            b -= whole_b * &m;
            let last = Integer::from(&a * &Integer::from(&n - 1)) + &b;
            let height = last.div_floor(&m);
            if height == 0 {
                break;
            }
            // For y in 0..height, the x with floor((a*x + b) / m) > y begin at ceil((m*(y+1) - b) / a).
            sum += sign * Integer::from(&n * &height);
            sign = -sign;
            let start = Integer::from(&m - &b) + &a - 1u32;
            (n, b) = (height, start);
            (a, m) = (m, a);
        }
        sum
    }

    #[test]
    fn every_small_sum() {
        for n in 0..=9u64 {
            for m in 1..=9 {
                for a in -12..=12 {
                    for b in -12..=12 {
                        let expected = one_by_one(n, a, b, m);
                        assert_eq!(floor_sum(n, a, b, m), expected, "n={n} a={a} b={b} m={m}");
                        assert_eq!(floor_sum_exact(&n.into(), &a.into(), &b.into(), &m.into()), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn every_small_step() {
        for k in 0..=4u32 {
            for (n, a) in (0..=9).flat_map(|n| (-20..=20).map(move |a| (n, a))) {
                for (b, more) in (0..1 << k).flat_map(|b| (0..1 << k).map(move |more| (b, more))) {
                    let sum = |b: u64| one_by_one(n, a, b.into(), 1 << k);
                    let got = floor_sum_step(n, a, b, more, k);
                    assert_eq!(i128::from(got), sum(b + more) - sum(b), "n={n} a={a} b={b} more={more} k={k}");
                }
            }
        }
    }

    /// Generates numbers below 2^bits in magnitude, of either sign and any size.
    fn sized(bits: u32) -> impl Strategy<Value = i128> {
        (any::<i128>(), 0..bits).prop_map(move |(v, size)| v >> (127 - size))
    }

    proptest! {
        #[test]
        fn machine_integers_are_wide_enough(n in 0..=1u64 << 33, a in sized(93), b in sized(93), m in sized(93)) {
            let m = m.abs().max(1);
            let exact = floor_sum_exact(&n.into(), &a.into(), &b.into(), &m.into());
            prop_assume!(exact.significant_bits() <= 126);
            prop_assert_eq!(exact, floor_sum(n, a, b, m));
        }

        #[test]
        fn steps_are_differences(n in 0..=1u64 << 32, a in sized(94), b: u64, more: u64, k in 0u32..=62) {
            let (b, more) = (b & ((1 << k) - 1), more & ((1 << k) - 1));
            let sum = |b: u64| floor_sum_exact(&n.into(), &a.into(), &b.into(), &(Integer::from(1) << k));
            prop_assert_eq!(sum(b + more) - sum(b), floor_sum_step(n, a, b, more, k));
        }
    }
}
