//! Dot-product steps: `out[i] = acc[i] + sum over the terms of i of a[..] * b[..]`, int32, as computed by one instruction or one short
//! sequence. A batch is any number of steps, in order.

use crate::pair_sum::PairSum;
use crate::scheme::registered;
use crate::shape::{self, ShapeError, broken};
use crate::word::INT32;
use rug::Integer;

/// Choice and summation of the terms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Terms {
    /// This many adjacent elements.
    Adjacent(usize),
    /// Two adjacent elements of each half of 16, summed across the halves in the given lane; exact if `None`.
    Halves(Option<PairSum>),
    /// Four adjacent elements, summed pairwise in 16-bit lanes.
    AdjacentPairs(PairSum),
    /// Rows of 8: result `2r + c` is the product of row r of `a` and row c of `b`.
    Outer,
    /// Set bits shared by two adjacent bytes of `a` and `b`, counted modulo 2^16.
    Popcount,
    /// Shared bits like [`Terms::Popcount`], with the count read as signed.
    SignedPopcount,
    /// 32 adjacent elements; each of this many bits of an element of `b` represents 1 or -1, weighted by its place.
    Bipolar(u32),
    /// 32 adjacent elements of four bits. Bits shared by eight elements in planes i and j are counted; the count is shifted by `i + j`, modulo 2^8.
    CountsU8,
}

/// Mathematical definition of one dot-product step.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Number of accumulators, and of results, in one step.
    pub results: usize,
    /// Elements of each operand of one step.
    pub elements: usize,
    /// Terms of each result, and their summation.
    pub terms: Terms,
}

const BITS: &str = "apache/tvm python/tvm/topi/nn/bitserial_conv2d.py; arm_cpu/bitserial_conv2d.py";
const SEED: &str = "TVM RFC quantized convolution for armv8, convolution core algorithm";

/// Builds an entry of the list: its texts, the results and the elements of one step, and its terms.
macro_rules! dot {
    ($name:literal, $summary:literal, $source:expr, ($results:literal, $elements:literal) => $terms:expr) => {
        Definition {
            name: $name,
            summary: $summary,
            source: $source,
            results: $results,
            elements: $elements,
            terms: $terms,
        }
    };
}

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    dot!("products-1", "acc[i] + a[i]*b[i]", "Arm ARM, SMLAL, UMLAL", (1, 1) => Terms::Adjacent(1)),
    dot!("products-2", "acc[i] plus two adjacent products", "Intel SDM, VPDPWSSD, PMADDWD", (1, 2) => Terms::Adjacent(2)),
    dot!("products-4", "acc[i] plus four adjacent products", "Arm ARM, UDOT, SDOT; Intel SDM, VPDPBUSD; PTX ISA, dp4a", (1, 4) => Terms::Adjacent(4)),
    dot!("products-4-halves", "acc[i] plus products 2i, 2i+1, 8+2i, 9+2i of each 16 (umull, uadalp, umull2, uadalp)",
        SEED, (4, 16) => Terms::Halves(None)),
    dot!("products-4-halves-u16-wrap", "pairs (2i, 8+2i) and (2i+1, 9+2i) in unsigned 16-bit lanes first (umull, umlal2, uadalp)",
        SEED, (4, 16) => Terms::Halves(Some(PairSum::WrapUnsigned))),
    dot!("products-4-halves-s16-wrap", "pairs (2i, 8+2i) and (2i+1, 9+2i) in signed 16-bit lanes first (smull, smlal2, sadalp)",
        SEED, (4, 16) => Terms::Halves(Some(PairSum::WrapSigned))),
    dot!("products-4-s16-saturate", "pairs (4i, 4i+1) and (4i+2, 4i+3) each saturated to signed 16 bits first",
        "Intel SDM, VPMADDUBSW, VPMADDWD by ones, VPADDD", (1, 4) => Terms::AdjacentPairs(PairSum::Saturate)),
    dot!("products-8-outer", "acc[2r+c] plus eight products of row r of a and row c of b, 2 by 2", "Arm ARM, UMMLA, SMMLA", (4, 16) => Terms::Outer),
    dot!("popcount-2", "(acc[i] + bits shared by two adjacent bytes) modulo 2^16, unsigned", "Arm ARM, AND, CNT, UADALP", (8, 16) => Terms::Popcount),
    dot!("popcount-2-signed", "(acc[i] + bits shared by two adjacent bytes) modulo 2^16, signed",
        "Arm ARM, AND, CNT, SADALP", (8, 16) => Terms::SignedPopcount),
    dot!("products-32", "acc[i] plus 32 adjacent products", BITS, (1, 32) => Terms::Adjacent(32)),
    dot!("products-32-bipolar-1", "acc[i] plus 32 adjacent products, b of 1 bits, of which an unset one is -1", BITS, (1, 32) => Terms::Bipolar(1)),
    dot!("products-32-bipolar-2", "acc[i] plus 32 adjacent products, b of 2 bits, of which an unset one is -1", BITS, (1, 32) => Terms::Bipolar(2)),
    dot!("products-32-bipolar-3", "acc[i] plus 32 adjacent products, b of 3 bits, of which an unset one is -1", BITS, (1, 32) => Terms::Bipolar(3)),
    dot!("products-32-bipolar-4", "acc[i] plus 32 adjacent products, b of 4 bits, of which an unset one is -1", BITS, (1, 32) => Terms::Bipolar(4)),
    dot!("products-32-counts-u8-wrap", "acc[i] plus counts of shared bits, each shifted by the weight of its planes in 8 bits",
        BITS, (1, 32) => Terms::CountsU8),
];

/// Definition with the policy for results beyond int32.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

registered!(|_definition| Vec::new());

impl Definition {
    /// Returns the number of elements of each operand for a batch of `results`; the error is the invalid argument.
    pub fn check(&self, results: usize) -> Result<usize, ShapeError> {
        shape::positive(&[("acc", results)])?;
        shape::elements("acc", &[results])?;
        if !results.is_multiple_of(self.results) {
            let rule = format!("{results} are no multiple of {}, the results of one step", self.results);
            return Err(broken("acc", rule));
        }
        shape::elements("a", &[results / self.results, self.elements])
    }

    fn check_operands(&self, acc: &[i32], a: &[i32], b: &[i32]) -> Result<(), ShapeError> {
        let elements = self.check(acc.len())?;
        for (argument, values) in [("a", a), ("b", b)] {
            shape::length(argument, values.len(), elements)?;
            let (bits, name) = match self.terms {
                Terms::Popcount | Terms::SignedPopcount => (8, "u8"),
                Terms::Bipolar(bits) if argument == "b" => (bits, "value of its bits"),
                Terms::CountsU8 => (4, "u4"),
                _ => continue,
            };
            if let Some(v) = values.iter().find(|v| !(0..1 << bits).contains(*v)) {
                return Err(broken(argument, format!("{v} is no {name}, which `{}` takes", self.name)));
            }
        }
        Ok(())
    }

    /// Returns the elements of `a` and `b` that contribute to result `i` of a step, in groups; each group is summed in one lane.
    fn groups(&self, i: usize) -> Vec<Vec<(usize, usize)>> {
        let group = |elements: &[usize]| elements.iter().map(|k| (*k, *k)).collect();
        match self.terms {
            Terms::Adjacent(n) => vec![group(&Vec::from_iter(n * i..n * (i + 1)))],
            Terms::Popcount | Terms::SignedPopcount => vec![group(&[2 * i, 2 * i + 1])],
            Terms::Bipolar(_) => vec![group(&Vec::from_iter(32 * i..32 * (i + 1)))],
            Terms::CountsU8 => (0..4).map(|byte| group(&Vec::from_iter(8 * byte..8 * byte + 8))).collect(),
            Terms::Halves(_) => vec![group(&[2 * i, 8 + 2 * i]), group(&[2 * i + 1, 9 + 2 * i])],
            Terms::AdjacentPairs(_) => vec![group(&[4 * i, 4 * i + 1]), group(&[4 * i + 2, 4 * i + 3])],
            Terms::Outer => vec![(0..8).map(|k| (8 * (i / 2) + k, 8 * (i % 2) + k)).collect()],
        }
    }
}

impl Scheme {
    /// Returns the 16-bit lane that sums two products, if the scheme has one.
    pub fn pair(&self) -> Option<PairSum> {
        match self.definition.terms {
            Terms::Halves(pair) => pair,
            Terms::AdjacentPairs(pair) => Some(pair),
            _ => None,
        }
    }

    /// Computes `a[0]*b[0] + a[1]*b[1]` as the scheme sums one pair, or exactly if the scheme has no 16-bit lane. The sum of the operands'
    /// products must fit in int32, as for 8 bits. Long loops should call [`Scheme::pair`] once, outside the loop.
    #[inline(always)]
    pub fn pair_sum(&self, a: [i32; 2], b: [i32; 2]) -> i32 {
        match self.pair() {
            Some(pair) => pair.of_narrow(a, b),
            None => a[0].wrapping_mul(b[0]).wrapping_add(a[1].wrapping_mul(b[1])),
        }
    }

    /// Computes each result by big integers, straight from the definition; `None` if it is out of domain.
    pub fn exact(&self, acc: &[i32], a: &[i32], b: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        self.definition.check_operands(acc, a, b)?;
        let steps = acc.chunks(self.definition.results);
        let operands = a.chunks(self.definition.elements).zip(b.chunks(self.definition.elements));
        let one = |acc: &i32, i: usize, a: &[i32], b: &[i32]| {
            let groups = self.definition.groups(i);
            let sum: Integer = groups.iter().map(|group| self.group_exact(group, a, b)).sum();
            let result = sum + *acc;
            match self.definition.terms {
                Terms::Popcount => Some(PairSum::WrapUnsigned.exact(&result)),
                Terms::SignedPopcount => Some(PairSum::WrapSigned.exact(&result)),
                _ => self.overflow.fit_exact(INT32, &result),
            }
        };
        let step = |(acc, (a, b)): (&[i32], (&[i32], &[i32]))| {
            acc.iter().enumerate().map(|(i, acc)| one(acc, i, a, b)).collect::<Vec<_>>()
        };
        Ok(steps.zip(operands).flat_map(step).collect())
    }

    fn group_exact(&self, group: &[(usize, usize)], a: &[i32], b: &[i32]) -> Integer {
        let shared =
            |(p, q): (u32, u32)| group.iter().filter(|(i, j)| (a[*i] >> p) % 2 == 1 && (b[*j] >> q) % 2 == 1).count();
        match self.definition.terms {
            Terms::Popcount | Terms::SignedPopcount => {
                return Integer::from((0..8).map(|bit| shared((bit, bit))).sum::<usize>());
            }
            Terms::CountsU8 => {
                let planes = (0..4).flat_map(|p| (0..4).map(move |q| (p, q)));
                return planes.map(|(p, q)| Integer::from(shared((p, q)) << (p + q)).keep_bits(8)).sum();
            }
            // Each bit adds its sign times its weight.
            Terms::Bipolar(bits) => {
                let value = |b: i32| -> Integer {
                    (0..bits).map(|q| Integer::from(if (b >> q) % 2 == 1 { 1 } else { -1 }) << q).sum()
                };
                return group.iter().map(|(i, j)| value(b[*j]) * a[*i]).sum();
            }
            _ => {}
        }
        let sum: Integer = group.iter().map(|(i, j)| Integer::from(a[*i]) * b[*j]).sum();
        self.pair().map_or(sum.clone(), |pair| pair.exact(&sum))
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`]; `None` if it is out of domain.
    pub fn expected(&self, acc: &[i32], a: &[i32], b: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        self.definition.check_operands(acc, a, b)?;
        let Definition { results, elements, terms, .. } = *self.definition;
        let mut out = Vec::with_capacity(acc.len());
        let operands = a.chunks_exact(elements).zip(b.chunks_exact(elements));
        for (acc, (a, b)) in acc.chunks_exact(results).zip(operands) {
            for (i, acc) in acc.iter().enumerate() {
                let sum = i128::from(*acc) + terms.sum(i, a, b);
                out.push(match terms {
                    Terms::Popcount => Some((sum & 0xFFFF) as i32),
                    Terms::SignedPopcount => Some(i32::from(sum as i16)),
                    _ => self.overflow.fit_int32(sum),
                });
            }
        }
        Ok(out)
    }
}

/// Returns the products as i128: one product of int32 fits in 64 bits, but a sum of several may not.
fn products<'a>(a: &'a [i32], b: &'a [i32]) -> impl Iterator<Item = i128> + use<'a> {
    a.iter().zip(b).map(|(a, b)| i128::from(i64::from(*a) * i64::from(*b)))
}

impl Terms {
    /// Computes the sum that one step adds to accumulator `i`, in machine integers.
    fn sum(self, i: usize, a: &[i32], b: &[i32]) -> i128 {
        let pair = |lane: PairSum, [k, l]: [usize; 2]| i128::from(lane.of([a[k], a[l]], [b[k], b[l]]));
        match self {
            Self::Adjacent(n) => products(&a[n * i..][..n], &b[n * i..][..n]).sum(),
            Self::Halves(None) => {
                let half = |from: usize| products(&a[from + 2 * i..][..2], &b[from + 2 * i..][..2]).sum::<i128>();
                half(0) + half(8)
            }
            Self::Halves(Some(lane)) => pair(lane, [2 * i, 2 * i + 8]) + pair(lane, [2 * i + 1, 2 * i + 9]),
            Self::AdjacentPairs(lane) => pair(lane, [4 * i, 4 * i + 1]) + pair(lane, [4 * i + 2, 4 * i + 3]),
            Self::Outer => products(&a[i / 2 * 8..][..8], &b[i % 2 * 8..][..8]).sum(),
            Self::Bipolar(bits) => {
                let most = (1i64 << bits) - 1;
                let terms = a[32 * i..][..32].iter().zip(&b[32 * i..][..32]);
                terms.map(|(a, b)| i128::from(i64::from(*a) * (2 * i64::from(*b) - most))).sum()
            }
            Self::CountsU8 => a.chunks(8).zip(b.chunks(8)).map(|(a, b)| counts_u8(a, b)).sum(),
            Self::Popcount | Self::SignedPopcount => {
                [2 * i, 2 * i + 1].iter().map(|k| i128::from((a[*k] & b[*k]).count_ones())).sum()
            }
        }
    }
}

/// Counts eight elements of four bits, shifted as bytes. The nibbles are packed into one word, so that one bit of each makes a plane.
fn counts_u8(a: &[i32], b: &[i32]) -> i128 {
    let word = |values: &[i32]| values.iter().rev().fold(0u32, |word, value| word << 4 | *value as u32);
    let (a, b) = (word(a), word(b));
    let mut sum = 0;
    for shift in 0..16 {
        let (p, q) = (shift / 4, shift % 4);
        let count = (a >> p & b >> q & 0x1111_1111).count_ones();
        sum += i128::from(count.wrapping_shl(p + q) as u8);
    }
    sum
}
