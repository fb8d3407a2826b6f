//! Instructions that widen, narrow, combine or move lanes: products of small integers, sums of neighbours, and combinations of these.
//!
//! Each instruction has two forms. The first form gathers: each result is a sum of products of operand lanes, in big integers. The
//! second form scatters: it visits the operand lanes in register order and adds each lane to its result, in
//! machine integers.

use rug::Integer;

/// Lanes of an operand, or of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Number of lanes in a vector; 0 if the instruction does not have the operand.
    pub count: usize,
    /// Bits of a lane.
    pub bits: u32,
    /// True if lanes are signed.
    pub signed: bool,
}

impl Lanes {
    /// Absent operand.
    pub const NONE: Self = Self { count: 0, bits: 8, signed: true };

    const fn of(count: usize, bits: u32, signed: bool) -> Self {
        Self { count, bits, signed }
    }

    /// Returns the smallest and the largest value of a lane.
    fn ends(self) -> (i64, i64) {
        match self.signed {
            true => (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }
}

/// Conversion of a sum that does not fit in the result lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Low bits of the sum.
    Wrap,
    /// Nearest value of the lane.
    Saturate,
    /// Nearest value of the lane, with the cumulative saturation flag set.
    SaturateWithFlag,
}

/// Operand lanes that form a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// `acc[i] + a[from + each*i]*b[from + each*i] + ...`, `each` products.
    Products {
        /// Products of one result.
        each: usize,
        /// First lane of the operands.
        from: usize,
    },
    /// `acc[i] + a[2i] + a[2i+1]`.
    Pairs,
    /// `a[i] + b[i]`.
    Sums,
    /// Sums of neighbours; the sums of `a` are in the lower half, the sums of `b` in the upper half.
    PairsOfBoth,
    /// Rows of eight: result `2r + c` is `acc[2r + c]` plus the products of row r of `a` and row c of `b`.
    Rows,
    /// Number of bits set in `a[i]`.
    SetBits,
    /// Two lanes of `a` from lane `from` on, then two lanes of `b`.
    Zip {
        /// First lane.
        from: usize,
    },
    /// `a[from + i]`.
    Extend {
        /// First lane.
        from: usize,
    },
    /// `a[i]` in the lower half, 0 in the upper half.
    NarrowLower,
    /// `acc[i]` in the lower half, `a` in the upper half.
    NarrowUpper,
}

/// Definition of an instruction on registers.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Mnemonic with the arrangement of the result, or the register: `umull.8h`, `vpmaddwd.ymm`.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Manual that defines the instruction.
    pub source: &'static str,
    /// First operand.
    pub a: Lanes,
    /// Second operand.
    pub b: Lanes,
    /// Previous content of the destination, if the instruction reads it.
    pub acc: Lanes,
    /// Destination.
    pub result: Lanes,
    /// Operand lanes that form a result.
    pub formula: Formula,
    /// Conversion of a sum that does not fit.
    pub fit: Fit,
}

/// Operands of a vector: first, second, accumulator.
pub type Operands<'a> = [&'a [i32]; 3];

const ARM: &str = "Arm Architecture Reference Manual (DDI 0487), section C7.2";
const INTEL: &str = "Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2";
const NONE: Lanes = Lanes::NONE;
const U8: Lanes = Lanes::of(16, 8, false);
const S8: Lanes = Lanes::of(16, 8, true);
const U16: Lanes = Lanes::of(8, 16, false);
const S16: Lanes = Lanes::of(8, 16, true);
const S32: Lanes = Lanes::of(4, 32, true);
const WIDE_U8: Lanes = Lanes::of(32, 8, false);
const WIDE_S8: Lanes = Lanes::of(32, 8, true);
const WIDE_S16: Lanes = Lanes::of(16, 16, true);
const WIDE_S32: Lanes = Lanes::of(8, 32, true);
const WIDEST_U8: Lanes = Lanes::of(64, 8, false);
const WIDEST_S8: Lanes = Lanes::of(64, 8, true);
const WIDEST_S16: Lanes = Lanes::of(32, 16, true);
const WIDEST_S32: Lanes = Lanes::of(16, 32, true);

/// Builds an entry of the list.
macro_rules! register {
    ($name:literal, $summary:literal, $source:expr, ($a:expr, $b:expr, $acc:expr) => $result:expr, $formula:expr, $fit:ident) => {
        Register {
            name: $name,
            summary: $summary,
            source: $source,
            a: $a,
            b: $b,
            acc: $acc,
            result: $result,
            formula: $formula,
            fit: Fit::$fit,
        }
    };
}

const fn products(each: usize, from: usize) -> Formula {
    Formula::Products { each, from }
}

/// Every instruction of this kind.
pub static REGISTERS: &[Register] = &[
    register!("umull.8h", "unsigned products, lower halves", ARM, (U8, U8, NONE) => U16, products(1, 0), Wrap),
    register!("umull2.8h", "unsigned products, upper halves", ARM, (U8, U8, NONE) => U16, products(1, 8), Wrap),
    register!("smull.8h", "signed products, lower halves", ARM, (S8, S8, NONE) => S16, products(1, 0), Wrap),
    register!("smull2.8h", "signed products, upper halves", ARM, (S8, S8, NONE) => S16, products(1, 8), Wrap),
    register!("umlal2.8h", "unsigned products added, upper halves", ARM, (U8, U8, U16) => U16, products(1, 8), Wrap),
    register!("smlal2.8h", "signed products added, upper halves", ARM, (S8, S8, S16) => S16, products(1, 8), Wrap),
    register!("umlal.4s", "unsigned products added, lower halves", ARM, (U16, U16, S32) => S32, products(1, 0), Wrap),
    register!("umlal2.4s", "unsigned products added, upper halves", ARM, (U16, U16, S32) => S32, products(1, 4), Wrap),
    register!("smlal.4s", "signed products added, lower halves", ARM, (S16, S16, S32) => S32, products(1, 0), Wrap),
    register!("smlal2.4s", "signed products added, upper halves", ARM, (S16, S16, S32) => S32, products(1, 4), Wrap),
    register!("uadalp.8h", "sums of adjacent unsigned bytes added", ARM, (U8, NONE, U16) => U16, Formula::Pairs, Wrap),
    register!("sadalp.8h", "sums of adjacent signed bytes added", ARM, (S8, NONE, S16) => S16, Formula::Pairs, Wrap),
    register!("uadalp.4s", "sums of adjacent unsigned halves added", ARM, (U16, NONE, S32) => S32, Formula::Pairs, Wrap),
    register!("sadalp.4s", "sums of adjacent signed halves added", ARM, (S16, NONE, S32) => S32, Formula::Pairs, Wrap),
    register!("add.8h", "sums of lanes", ARM, (U16, U16, NONE) => U16, Formula::Sums, Wrap),
    register!("addp.4s", "sums of neighbours", ARM, (S32, S32, NONE) => S32, Formula::PairsOfBoth, Wrap),
    register!("udot.4s", "four unsigned products added", ARM, (U8, U8, S32) => S32, products(4, 0), Wrap),
    register!("sdot.4s", "four signed products added", ARM, (S8, S8, S32) => S32, products(4, 0), Wrap),
    register!("ummla.4s", "unsigned rows times rows added", ARM, (U8, U8, S32) => S32, Formula::Rows, Wrap),
    register!("smmla.4s", "signed rows times rows added", ARM, (S8, S8, S32) => S32, Formula::Rows, Wrap),
    register!("cnt.16b", "number of set bits", ARM, (U8, NONE, NONE) => U8, Formula::SetBits, Wrap),
    register!("zip1.2d", "lower halves of both", ARM, (S32, S32, NONE) => S32, Formula::Zip { from: 0 }, Wrap),
    register!("zip2.2d", "upper halves of both", ARM, (S32, S32, NONE) => S32, Formula::Zip { from: 2 }, Wrap),
    register!("sxtl.8h", "sign extension, lower half", ARM, (S8, NONE, NONE) => S16, Formula::Extend { from: 0 }, Wrap),
    register!("sxtl2.8h", "sign extension, upper half", ARM, (S8, NONE, NONE) => S16, Formula::Extend { from: 8 }, Wrap),
    register!("uxtl.8h", "zero extension, lower half", ARM, (U8, NONE, NONE) => U16, Formula::Extend { from: 0 }, Wrap),
    register!("uxtl2.8h", "zero extension, upper half", ARM, (U8, NONE, NONE) => U16, Formula::Extend { from: 8 }, Wrap),
    register!("sqxtn.4h", "saturating narrowing", ARM, (S32, NONE, NONE) => S16, Formula::NarrowLower, SaturateWithFlag),
    register!("sqxtn2.8h", "saturating narrowing into the upper half", ARM, (S32, NONE, S16) => S16, Formula::NarrowUpper, SaturateWithFlag),
    register!("sqxtn.8b", "saturating narrowing", ARM, (S16, NONE, NONE) => S8, Formula::NarrowLower, SaturateWithFlag),
    register!("sqxtun.8b", "saturating narrowing to unsigned", ARM, (S16, NONE, NONE) => U8, Formula::NarrowLower, SaturateWithFlag),
    register!("vpmaddubsw.ymm", "pairs of unsigned times signed products, saturated", INTEL, (WIDE_U8, WIDE_S8, NONE) => WIDE_S16, products(2, 0), Saturate),
    register!("vpmaddwd.ymm", "pairs of signed products", INTEL, (WIDE_S16, WIDE_S16, NONE) => WIDE_S32, products(2, 0), Wrap),
    register!("vpdpbusd.ymm", "four unsigned times signed products added", INTEL, (WIDE_U8, WIDE_S8, WIDE_S32) => WIDE_S32, products(4, 0), Wrap),
    register!("vpdpbusds.ymm", "four unsigned times signed products added, saturated", INTEL, (WIDE_U8, WIDE_S8, WIDE_S32) => WIDE_S32, products(4, 0), Saturate),
    register!("vpdpbssd.ymm", "four signed products added", INTEL, (WIDE_S8, WIDE_S8, WIDE_S32) => WIDE_S32, products(4, 0), Wrap),
    register!("vpmaddubsw.zmm", "pairs of unsigned times signed products, saturated", INTEL, (WIDEST_U8, WIDEST_S8, NONE) => WIDEST_S16, products(2, 0), Saturate),
    register!("vpmaddwd.zmm", "pairs of signed products", INTEL, (WIDEST_S16, WIDEST_S16, NONE) => WIDEST_S32, products(2, 0), Wrap),
    register!("vpdpbusd.zmm", "four unsigned times signed products added", INTEL, (WIDEST_U8, WIDEST_S8, WIDEST_S32) => WIDEST_S32, products(4, 0), Wrap),
    register!("vpdpbusds.zmm", "four unsigned times signed products added, saturated", INTEL, (WIDEST_U8, WIDEST_S8, WIDEST_S32) => WIDEST_S32, products(4, 0), Saturate),
];

impl Register {
    /// Finds an instruction by name.
    pub fn find(name: &str) -> Option<&'static Self> {
        REGISTERS.iter().find(|register| register.name == name)
    }

    /// Computes the results of one vector, and true if any result sets the flag, in big integers: each result gathers its terms.
    pub fn exact(&self, [a, b, acc]: Operands<'_>) -> (Vec<Integer>, bool) {
        let lane = |i: usize| {
            let before = acc.get(i).map_or(Integer::new(), |value| Integer::from(*value));
            self.fit_exact(match self.formula {
                Formula::Products { each, from } => {
                    let at = from + each * i..from + each * (i + 1);
                    before + at.map(|k| Integer::from(a[k]) * b[k]).sum::<Integer>()
                }
                Formula::Pairs => before + a[2 * i] + a[2 * i + 1],
                Formula::Sums => Integer::from(a[i]) + b[i],
                Formula::PairsOfBoth if i < self.result.count / 2 => Integer::from(a[2 * i]) + a[2 * i + 1],
                Formula::PairsOfBoth => {
                    let i = i - self.result.count / 2;
                    Integer::from(b[2 * i]) + b[2 * i + 1]
                }
                Formula::Rows => {
                    let (row, column) = (i / 2, i % 2);
                    before + (0..8).map(|k| Integer::from(a[8 * row + k]) * b[8 * column + k]).sum::<Integer>()
                }
                Formula::SetBits => Integer::from(Integer::from(a[i]).count_ones().unwrap_or(0)),
                Formula::Zip { from } => Integer::from(if i < 2 { a[from + i] } else { b[from + i - 2] }),
                Formula::Extend { from } => Integer::from(a[from + i]),
                Formula::NarrowLower => Integer::from(a.get(i).copied().unwrap_or(0)),
                Formula::NarrowUpper => match i.checked_sub(a.len()) {
                    Some(upper) => Integer::from(a[upper]),
                    None => before,
                },
            })
        };
        let lanes: Vec<(Integer, bool)> = (0..self.result.count).map(lane).collect();
        let flag = lanes.iter().any(|(_, saturates)| *saturates);
        (lanes.into_iter().map(|(value, _)| value).collect(), flag)
    }

    /// Returns the value of a result lane, and true if the flag is set.
    fn fit_exact(&self, value: Integer) -> (Integer, bool) {
        let (min, max) = self.result.ends();
        if self.fit != Fit::Wrap {
            let fitted = value.clone().clamp(&Integer::from(min), &Integer::from(max));
            let flag = self.fit == Fit::SaturateWithFlag && fitted != value;
            return (fitted, flag);
        }
        let below = (value - min).keep_bits(self.result.bits);
        (below + min, false)
    }

    /// Computes the results in machine integers: each operand lane is added to its result.
    pub fn fast(&self, [a, b, acc]: Operands<'_>) -> (Vec<i64>, bool) {
        let mut sums = vec![0i64; self.result.count];
        sums.iter_mut().zip(acc).for_each(|(sum, before)| *sum = i64::from(*before));
        self.scatter(a, b, &mut sums);
        let mut flag = false;
        for sum in &mut sums {
            let fitted = match self.fit {
                Fit::Wrap => wrapped(self.result, *sum),
                _ => saturated(self.result, *sum),
            };
            flag |= self.fit == Fit::SaturateWithFlag && fitted != *sum;
            *sum = fitted;
        }
        (sums, flag)
    }

    /// Adds the contribution of each lane of `a`.
    fn scatter(&self, a: &[i32], b: &[i32], sums: &mut [i64]) {
        let half = sums.len() / 2;
        for (k, lane) in a.iter().map(|lane| i64::from(*lane)).enumerate() {
            match self.formula {
                Formula::Products { each, from } => {
                    if let Some(sum) = k.checked_sub(from).and_then(|k| sums.get_mut(k / each)) {
                        *sum += lane * i64::from(b[k]);
                    }
                }
                Formula::Pairs => sums[k >> 1] += lane,
                Formula::Sums => sums[k] = lane + i64::from(b[k]),
                Formula::PairsOfBoth => {
                    sums[k >> 1] += lane;
                    sums[half + (k >> 1)] += i64::from(b[k]);
                }
                Formula::Rows => {
                    let row = k & 8;
                    sums[row >> 2] += lane * i64::from(b[k & 7]);
                    sums[(row >> 2) + 1] += lane * i64::from(b[8 | (k & 7)]);
                }
                Formula::SetBits => sums[k] = (0..8).map(|bit| lane >> bit & 1).sum(),
                Formula::Zip { from } => {
                    if (from..from + 2).contains(&k) {
                        sums[k - from] = lane;
                        sums[k - from + 2] = i64::from(b[k]);
                    }
                }
                Formula::Extend { from } if k >= from && k - from < sums.len() => sums[k - from] = lane,
                Formula::Extend { .. } => {}
                Formula::NarrowLower => sums[k] = lane,
                Formula::NarrowUpper => sums[half + k] = lane,
            }
        }
    }
}

/// Returns the low bits of a value, read as a lane.
fn wrapped(lanes: Lanes, value: i64) -> i64 {
    let unused = 64 - lanes.bits;
    match lanes.signed {
        true => value << unused >> unused,
        false => ((value as u64) << unused >> unused) as i64,
    }
}

/// Returns the nearest value of a lane.
fn saturated(lanes: Lanes, value: i64) -> i64 {
    let (min, max) = lanes.ends();
    value.max(min).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws values from a deterministic stream, more than half of them the ends of the lane.
    fn lanes(lanes: Lanes, state: &mut u64) -> Vec<i32> {
        let (min, max) = lanes.ends();
        let value = |_| {
            *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let word = (*state >> 33) as i64;
            let drawn = match word % 4 {
                0 => min,
                1 => max,
                _ => min + (word >> 2) % (max - min + 1),
            };
            drawn as i32
        };
        (0..lanes.count).map(value).collect()
    }

    #[test]
    fn both_forms_agree() {
        let mut state = 1;
        for register in REGISTERS {
            for _ in 0..4000 {
                let [a, b, acc] = [register.a, register.b, register.acc].map(|operand| lanes(operand, &mut state));
                let (fast, flag) = register.fast([&a, &b, &acc]);
                let (exact, exactly) = register.exact([&a, &b, &acc]);
                assert!(fast == exact && flag == exactly, "{}: {a:?} {b:?} {acc:?}", register.name);
            }
        }
    }

    #[test]
    fn both_forms_agree_on_every_pair_of_bytes() {
        let of_bytes = |r: &&Register| r.a.bits == 8 && r.acc.count == 0;
        let mut checked = 0;
        for register in REGISTERS.iter().filter(of_bytes) {
            let all = |lanes: Lanes| lanes.ends().0 as i32..=lanes.ends().1 as i32;
            for x in all(register.a) {
                for y in all(if register.b.count == 0 { register.a } else { register.b }) {
                    let unary = register.b.count == 0;
                    let a: Vec<i32> = (0..register.a.count).map(|k| if unary && k % 2 == 1 { y } else { x }).collect();
                    let b = vec![y; register.b.count];
                    let (fast, exact) = (register.fast([&a, &b, &[]]), register.exact([&a, &b, &[]]));
                    assert!(fast.0 == exact.0 && fast.1 == exact.1, "{} {x} {y}", register.name);
                }
            }
            checked += 1;
        }
        assert_eq!(checked, 11);
    }

    #[test]
    fn names_are_unique() {
        for (i, register) in REGISTERS.iter().enumerate() {
            assert!(REGISTERS[..i].iter().all(|other| other.name != register.name), "{}", register.name);
        }
    }
}
