//! Comparison of two schemes over all accumulators and all multipliers of one shift: 2^64 inputs of int32, decided instead of sampled.
//!
//! After its product, a scheme depends on accumulator and multiplier only through `p = x*m`. Its steps are folded into pieces over `p`
//! (`floor((p + c) / 2^k)`), as a census folds them over `x` at one multiplier, and two lists of pieces are compared residue by residue modulo
//! `2^k`. Equality at every integer between the smallest and the largest product implies equality at every product. A difference counts only with
//! a witness: an accumulator and a multiplier at which both schemes have values that differ.
//!
//! The range of products needs care. The product of the two most negative words, `2^62` for int32, is isolated: the next product below is
//! `2^62 - 2^31`. SRDHM saturates at the first, and differs from other schemes between the two, where no product exists.

mod compare;
mod front;
mod witness;

use crate::fpm::pieces::{Folder, Piece};
use crate::fpm::steps::Step;
use crate::fpm::{Parameters, Scheme};
use crate::word::Word;
use front::Front;
use serde::Serialize;
use std::ops::RangeInclusive;

pub use compare::{Delta, Difference};
pub use witness::Witness;

/// Most pieces of a scheme over products. More pieces come only from wraps, for which no closed form is useful.
const MOST_PIECES: usize = 1 << 10;

/// Result of comparing two schemes at one shift, over all accumulators and multipliers at which both have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proved: equal values at every input for which both schemes have a value.
    Identical {
        /// True if the proof covers the domain too: both have values at the same inputs.
        same_domain: bool,
    },
    /// Refuted by a witness.
    Differ {
        /// Differences over products `p`; empty if there is no closed form.
        differences: Vec<Difference>,
        /// Smallest and largest product.
        products: (i64, i64),
        /// Places of the left shift of accumulators, in the word, before the product; 0 if `p = x*m`.
        left: u32,
        /// Inputs for which `differences` is complete.
        extent: Extent,
        /// Both values at one input.
        witness: Witness,
    },
    /// Neither proved nor refuted; never a pass.
    Unknown {
        /// Reason why the schemes are not decided.
        reason: &'static str,
    },
}

/// Inputs that a closed form covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// All inputs.
    All,
    /// Inputs whose accumulator stays in the word after the left shift.
    WithoutOverflow,
    /// No input, because there is no closed form.
    Nothing,
}

/// Compares two schemes at the shift, word and format of `at`. The multiplier of `at` is ignored.
pub fn prove(left: &Scheme, right: &Scheme, at: &Parameters) -> Verdict {
    let statement = Statement::new(left, right, at);
    match statement.examine() {
        Examined::Equal { same_domain } => Verdict::Identical { same_domain },
        Examined::Apart(apart) => match witness::find(left, right, at) {
            Some(witness) => Verdict::Differ {
                differences: apart.differences,
                products: apart.products,
                left: apart.left,
                extent: apart.extent,
                witness,
            },
            None => Verdict::Unknown { reason: apart.reason },
        },
    }
}

/// Result before the search for a witness.
enum Examined {
    Equal { same_domain: bool },
    Apart(UnwitnessedDifference),
}

/// Differences without a witness so far.
struct UnwitnessedDifference {
    differences: Vec<Difference>,
    products: (i64, i64),
    left: u32,
    extent: Extent,
    /// Reason reported if no witness is found.
    reason: &'static str,
}

impl UnwitnessedDifference {
    /// Creates a result without a difference in closed form.
    fn open(extent: Extent, reason: &'static str) -> Examined {
        Examined::Apart(Self { differences: Vec::new(), products: (0, 0), left: 0, extent, reason })
    }
}

const NOT_A_PRODUCT: &str =
    "a scheme is no function of the product x*m, or not in closed form, and no input that differs was found";
const NO_INPUT: &str = "the schemes differ at integers that may be no product x*m, and no input that differs was found";
const BEYOND: &str =
    "accumulators that a left shift takes beyond the word are not decided, and no input that differs was found";

/// Two schemes, with their steps before the product.
struct Statement<'a> {
    schemes: [&'a Scheme; 2],
    fronts: [Option<Front>; 2],
    at: Parameters,
}

impl<'a> Statement<'a> {
    fn new(left: &'a Scheme, right: &'a Scheme, at: &Parameters) -> Self {
        let fronts = [left, right].map(|scheme| Front::of(scheme, at));
        // No step may depend on this multiplier.
        Self { schemes: [left, right], fronts, at: Parameters { m: 1, ..*at } }
    }

    fn examine(&self) -> Examined {
        let [Some(left), Some(right)] = &self.fronts else {
            return UnwitnessedDifference::open(Extent::Nothing, NOT_A_PRODUCT);
        };
        if left.multiplier != right.multiplier {
            return UnwitnessedDifference::open(Extent::Nothing, NOT_A_PRODUCT);
        }
        let word = self.at.word;
        let (xs, ms) = (left.common_accumulators(right), left.common_multipliers(right, word));
        let same_inputs = left.same_inputs(right);
        if xs.is_empty() || ms.is_empty() {
            return Examined::Equal { same_domain: left.has_no_input() && right.has_no_input() };
        }
        if left.same_words(right) {
            return match self.over(products(left.shifted(&xs, word), ms), [0, 0], same_inputs) {
                Examined::Apart(apart) => Examined::Apart(UnwitnessedDifference { left: left.left, ..apart }),
                equal => equal,
            };
        }
        let inside = left.inside(&right.inside(&xs, word), word);
        let all = inside == xs;
        match self.over(products(inside, ms), [left.left, right.left], same_inputs) {
            examined if all => examined,
            Examined::Equal { .. } => UnwitnessedDifference::open(Extent::WithoutOverflow, BEYOND),
            Examined::Apart(apart) if apart.extent == Extent::Nothing => Examined::Apart(apart),
            Examined::Apart(apart) => {
                Examined::Apart(UnwitnessedDifference { extent: Extent::WithoutOverflow, ..apart })
            }
        }
    }

    /// Compares over integers `p`, first multiplied by a power of two for each scheme.
    fn over(&self, products: Products, lefts: [u32; 2], same_inputs: bool) -> Examined {
        let mut differences = Vec::new();
        let mut same_domain = same_inputs;
        for range in products.ranges() {
            // Results that are equal before they are fitted to the word are equal after the same policy, even if they wrap often.
            if self.schemes[0].overflow == self.schemes[1].overflow
                && let [Some(left), Some(right)] = self.folded(&range, lefts, false)
                && compare::same(&left, &right)
            {
                continue;
            }
            let [Some(left), Some(right)] = self.folded(&range, lefts, true) else {
                return UnwitnessedDifference::open(Extent::Nothing, NOT_A_PRODUCT);
            };
            same_domain &= compare::covered(&left) == compare::covered(&right);
            differences.extend(compare::differences(&left, &right));
        }
        if differences.is_empty() {
            return Examined::Equal { same_domain };
        }
        let differences = compare::merged(differences, &products);
        Examined::Apart(UnwitnessedDifference {
            differences,
            products: products.hull(),
            left: 0,
            extent: Extent::All,
            reason: NO_INPUT,
        })
    }

    fn folded(&self, range: &RangeInclusive<i64>, lefts: [u32; 2], fitted: bool) -> [Option<Vec<Piece>>; 2] {
        [0, 1].map(|i| fold(self.schemes[i], &self.at, range.clone(), lefts[i], fitted))
    }
}

/// Folds the steps after the product, over `range` times `2^left`.
fn fold(scheme: &Scheme, at: &Parameters, range: RangeInclusive<i64>, left: u32, fitted: bool) -> Option<Vec<Piece>> {
    let mut folder = Folder::new(MOST_PIECES);
    folder.begin(range);
    folder.step(Step::Scale(crate::fpm::steps::Exponent::Constant(left as i32)), at)?;
    for step in front::behind(scheme) {
        folder.step(*step, at)?;
    }
    if fitted {
        folder.end(scheme.overflow, at)?;
    } else {
        folder.settle();
    }
    Some(folder.pieces().iter().map(Piece::reduced).collect())
}

/// Ranges that contain every product of a range of words and a range of multipliers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Products {
    /// All products, except the largest if it is isolated.
    most: RangeInclusive<i64>,
    /// Product of the two smallest values, if no other product is near.
    top: Option<i64>,
}

impl Products {
    fn ranges(&self) -> impl Iterator<Item = RangeInclusive<i64>> + use<> {
        [Some(self.most.clone()), self.top.map(|top| top..=top)].into_iter().flatten()
    }

    fn hull(&self) -> (i64, i64) {
        (*self.most.start(), self.top.unwrap_or(*self.most.end()))
    }
}

fn products(xs: RangeInclusive<i64>, ms: RangeInclusive<i64>) -> Products {
    let (a, b, c, d) = (*xs.start(), *xs.end(), *ms.start(), *ms.end());
    let corners = [a * c, a * d, b * c, b * d];
    let (least, largest) = (corners.iter().copied().min().unwrap_or(0), corners.iter().copied().max().unwrap_or(0));
    let alone = a < 0 && c < 0 && a * c == largest;
    // One step away from that corner in either direction, or the product of the two largest values.
    let next = (a * c - a.abs()).max(a * c - c.abs()).max(b * d);
    match alone && a < b && c < d && next < largest {
        true => Products { most: least..=next, top: Some(largest) },
        false => Products { most: least..=largest, top: None },
    }
}

/// Returns all values of a word.
fn whole(word: Word) -> RangeInclusive<i64> {
    word.min() as i64..=word.max() as i64
}
