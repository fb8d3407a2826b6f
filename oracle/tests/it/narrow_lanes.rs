//! Schemes with narrow lanes compared with a third definition: the instructions of their names, one by one, and values
//! computed by hand.

use proptest::prelude::*;
use tiebreak_oracle::dot;
use tiebreak_oracle::matmul::{Product, Scheme};
use tiebreak_oracle::pair_sum::PairSum;

fn depth(k: usize) -> Product {
    Product { m: 1, n: 1, k, lhs_offset: 0, rhs_offset: 0 }
}

/// Returns the single result of one row and one column.
fn one(scheme: &str, p: &Product, lhs: &[i32], rhs: &[i32]) -> Option<i32> {
    Scheme::parse(scheme).unwrap().expected(p, lhs, rhs).unwrap()[0]
}

/// Applies a dot-product step along the depth to the same accumulators, and adds these modulo 2^32 at the end.
fn steps(scheme: &str, lanes: usize, lhs: &[i32], rhs: &[i32]) -> i32 {
    let scheme = dot::Scheme::parse(scheme).unwrap();
    let mut acc = vec![0; lanes];
    for (a, b) in lhs.chunks(16).zip(rhs.chunks(16)) {
        acc = scheme.expected(&acc, a, b).unwrap().into_iter().map(Option::unwrap).collect();
    }
    acc.into_iter().fold(0, i32::wrapping_add)
}

/// Computes `[us]mull`, `[us]mlal2`, `[us]adalp` on one vector of 16: the lower products, the upper products added in the same 16-bit lanes,
/// and adjacent lanes added to the accumulators.
fn mull_mlal2_adalp(acc: &[i32], a: &[i32], b: &[i32], read: fn(u16) -> i32) -> Vec<i32> {
    let lower: Vec<u16> = (0..8).map(|k| (a[k] * b[k]) as u16).collect();
    let lanes: Vec<u16> = (0..8).map(|k| lower[k].wrapping_add((a[k + 8] * b[k + 8]) as u16)).collect();
    acc.iter()
        .zip(lanes.chunks(2))
        .map(|(acc, two)| acc.wrapping_add(read(two[0])).wrapping_add(read(two[1])))
        .collect()
}

/// Computes `vpmaddubsw`, `vpmaddwd` by ones, `vpaddd`.
fn maddubs_madd_add(acc: &[i32], a: &[i32], b: &[i32]) -> Vec<i32> {
    let pairs: Vec<i32> = (0..8).map(|j| a[2 * j] * b[2 * j] + a[2 * j + 1] * b[2 * j + 1]).collect();
    let words: Vec<i32> = pairs.into_iter().map(|v| v.clamp(-32768, 32767)).collect();
    acc.iter().zip(words.chunks(2)).map(|(acc, two)| acc.wrapping_add(two[0] + two[1])).collect()
}

fn bytes(n: usize, low: i32, high: i32) -> impl Strategy<Value = Vec<i32>> {
    prop::collection::vec(prop_oneof![Just(low), Just(high), low..=high], n)
}

fn wrapped(scheme: &str, acc: &[i32], a: &[i32], b: &[i32]) -> Vec<i32> {
    let scheme = dot::Scheme::parse(&format!("{scheme}:wrap")).unwrap();
    scheme.expected(acc, a, b).unwrap().into_iter().map(|v| v.expect("wrap has a value")).collect()
}

proptest! {
    #[test]
    fn dot_steps_are_their_instructions(
        acc in prop::array::uniform4(any::<i32>()),
        (u, v) in (bytes(16, 0, 255), bytes(16, 0, 255)),
        (s, t) in (bytes(16, -128, 127), bytes(16, -128, 127)),
    ) {
        let unsigned = mull_mlal2_adalp(&acc, &u, &v, i32::from);
        prop_assert_eq!(wrapped("products-4-halves-u16-wrap", &acc, &u, &v), unsigned);
        let signed = mull_mlal2_adalp(&acc, &s, &t, |lane| (lane as i16).into());
        prop_assert_eq!(wrapped("products-4-halves-s16-wrap", &acc, &s, &t), signed);
        prop_assert_eq!(wrapped("products-4-s16-saturate", &acc, &u, &t), maddubs_madd_add(&acc, &u, &t));
    }

    #[test]
    fn matmul_is_its_dot_steps_along_the_depth(
        blocks in 1usize..=4,
        (u, v) in (bytes(64, 0, 255), bytes(64, 0, 255)),
        t in bytes(64, -128, 127),
    ) {
        let k = 16 * blocks;
        let (u, v, t, p) = (&u[..k], &v[..k], &t[..k], depth(k));
        prop_assert_eq!(one("pairs-u16-wrap", &p, u, v), Some(steps("products-4-halves-u16-wrap", 4, u, v)));
        prop_assert_eq!(one("pairs-s16-wrap", &p, t, t), Some(steps("products-4-halves-s16-wrap", 4, t, t)));
        prop_assert_eq!(one("pairs-s16-saturate", &p, u, t), Some(steps("products-4-s16-saturate", 4, u, t)));
        // Elements of 31 bits, so that lanes saturate.
        let large = |values: &[i32]| values.iter().map(|v| v << 20).collect::<Vec<_>>();
        let quads = steps("products-4:saturate", 4, &large(u), &large(t));
        prop_assert_eq!(one("quads-32-saturate", &p, &large(u), &large(t)), Some(quads));
    }

    #[test]
    fn a_pair_sum_is_that_of_the_step(a in prop::array::uniform2(-128..=255i32), b in prop::array::uniform2(-128..=255i32)) {
        for pair in [PairSum::WrapUnsigned, PairSum::WrapSigned, PairSum::Saturate] {
            prop_assert_eq!(pair.of_narrow(a, b), pair.of(a, b));
            prop_assert_eq!(pair.exact(&(a[0] * b[0] + a[1] * b[1]).into()), pair.of(a, b));
        }
        for scheme in dot::Scheme::every().filter(|scheme| scheme.pair().is_some()) {
            // Only this pair: every other product of the step is 0.
            let second = if scheme.definition.name.contains("halves") { 8 } else { 1 };
            let (mut lhs, mut rhs) = (vec![0; scheme.definition.elements], vec![0; scheme.definition.elements]);
            (lhs[0], lhs[second], rhs[0], rhs[second]) = (a[0], a[1], b[0], b[1]);
            let out = scheme.expected(&vec![0; scheme.definition.results], &lhs, &rhs).unwrap();
            prop_assert_eq!(out[0], Some(scheme.pair_sum(a, b)), "{}", scheme.label());
        }
    }
}

#[test]
fn values_worked_out_by_hand() {
    let at = |places: &[usize], v: i32| (0..16).map(|k| if places.contains(&k) { v } else { 0 }).collect::<Vec<i32>>();
    let square = |scheme: &str, places: &[usize], v: i32| one(scheme, &depth(16), &at(places, v), &at(places, v));
    // 255 * 255 * 2 = 130050 = 64514 modulo 2^16 if both products are in one lane.
    assert_eq!(square("pairs-u16-wrap", &[3, 11], 255), Some(64_514));
    assert_eq!(square("pairs-u16-wrap", &[3, 4], 255), Some(130_050));
    // (-128) * (-128) * 2 = 2^15.
    assert_eq!(square("pairs-s16-wrap", &[7, 15], -128), Some(-32_768));
    assert_eq!(square("pairs-s16-wrap", &[7, 8], -128), Some(32_768));
    assert_eq!(square("pairs-s16-saturate", &[6, 7], -128), Some(32_767));
    assert_eq!(square("pairs-s16-saturate", &[7, 8], -128), Some(32_768));
    // Each lane saturates at 2^31 - 1, and the sum of four is 4 * (2^31 - 1) = -4 modulo 2^32.
    assert_eq!(square("quads-32-saturate", &[0, 4, 8, 12], 1 << 16), Some(-4));
    assert_eq!(square("quads-32-saturate", &[0, 1, 2, 3], 1 << 16), Some(i32::MAX));
    // Offsets do not pass through the lanes: 64514 + 1 * 510 + 2 * 510 + 2 * 16.
    let p = Product { lhs_offset: 1, rhs_offset: 2, ..depth(16) };
    let both = at(&[0, 8], 255);
    assert_eq!(one("pairs-u16-wrap", &p, &both, &both), Some(64_514 + 510 + 1_020 + 32));
    let popcount = dot::Scheme::parse("popcount-2").unwrap();
    let out = popcount.expected(&[65_530, 65_520, -1, 0, 0, 0, 0, 0], &[255; 16], &[255; 16]).unwrap();
    assert_eq!(out[..4], [Some(10), Some(0), Some(15), Some(16)]);
}

#[test]
fn depths_beyond_what_an_int32_sum_of_pairs_holds() {
    // More than 32768 pair sums of 65535 or -32768: the running sum of a lane must move to 64 bits.
    let k = 140_003;
    for (v, w) in [(257, 255), (-128, 127), (-256, 128)] {
        let (lhs, mut rhs) = (vec![v; k], vec![w; k]);
        (0..k).filter(|k| k % 16 >= 8).for_each(|k| rhs[k] = 0);
        for scheme in Scheme::every() {
            let exact = scheme.exact(&depth(k), &lhs, &rhs).unwrap();
            let fast = scheme.expected(&depth(k), &lhs, &rhs).unwrap();
            assert_eq!(fast[0].map(Into::into), exact[0], "{} {v} * {w}", scheme.label());
        }
    }
}

#[test]
fn depths_on_both_sides_of_every_word() {
    // Sums of equal products reach the bound that selects the width: int32 at 255 * 255 * 33025, 2^15 * 2^15 * 2 and
    // 46341^2, int64 at 2^31 * 2^31 * 2 (by offsets) and 2^32 * 2^31.
    let cases = [
        (255, 255, 33_025, 0),
        (-128, -128, 131_071, 0),
        (181, 181, 65_548, 0),
        (32_767, 32_768, 2, 0),
        (46_341, 46_340, 1, 0),
    ];
    let wide = [(0, 0, 1, i32::MIN), (-1, 0, 1, i32::MIN), (i32::MIN, -1, 1, i32::MIN), (i32::MAX, i32::MIN, 2, 0)];
    for (l, r, depth, offset) in cases.into_iter().chain(wide) {
        for k in depth..=depth + 1 {
            // One column, and enough columns for sums in vectors.
            for n in [1, 9] {
                let p = Product { m: 1, n, k, lhs_offset: offset, rhs_offset: offset };
                let (lhs, rhs) = (vec![l; k], vec![r; k * n]);
                for scheme in Scheme::every() {
                    let exact = scheme.exact(&Product { n: 1, ..p }, &lhs, &rhs[..k]).unwrap()[0].clone();
                    let fast = scheme.expected(&p, &lhs, &rhs).unwrap();
                    let all: Vec<_> = fast.into_iter().map(|v| v.map(Into::into)).collect();
                    assert_eq!(all, vec![exact; n], "{} {l} * {r} * {k}", scheme.label());
                }
            }
        }
    }
}
