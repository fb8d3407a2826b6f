//! Two schemes over all accumulators and all multipliers of one shift: 2^64 inputs of int32, decided and not sampled.
//!
//! Behind its product a scheme sees the accumulator and the multiplier only through `p = x*m`. So its steps are folded into pieces over `p`
//! (`floor((p + c) / 2^k)`), as a census folds them over `x` at one multiplier, and two lists of pieces are compared residue by residue modulo
//! `2^k`. What is equal at every integer between the smallest and the largest product is equal at every product; a difference counts only with
//! a witness, an accumulator and a multiplier at which both schemes have values that differ.
//!
//! The range of products needs care. The product of the two most negative words, `2^62` for int32, is alone: the next one below is
//! `2^62 - 2^31`, and no product lies between. SRDHM saturates at the first and differs from others between the two, where there is nothing.

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

/// Pieces of a scheme over products; more come only of wraps that no statement in closed form would help.
const MOST_PIECES: usize = 1 << 10;

/// Two schemes at one shift, over all accumulators and multipliers at which both have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proved: they have the same value wherever both have one.
    Identical {
        /// Whether they were proved to have values at the same inputs, too.
        same_domain: bool,
    },
    /// Refuted.
    Differ {
        /// Where, over products `p`; empty where there is no closed form.
        differences: Vec<Difference>,
        /// The smallest and the largest product.
        products: (i64, i64),
        /// Places by which accumulators were shifted to the left, in the word, before the products were made; 0 where `p = x*m`.
        left: u32,
        /// The inputs of which `differences` is all there is.
        extent: Extent,
        /// Both values at one input.
        witness: Witness,
    },
    /// Neither: never a pass.
    Unknown {
        /// Why.
        reason: &'static str,
    },
}

/// The inputs that a closed form covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// All of them.
    All,
    /// Those whose accumulator stays in the word when it is shifted to the left.
    WithoutOverflow,
    /// None: there is no closed form.
    Nothing,
}

/// Compares two schemes at the shift, word and format of `at`; its multiplier is not looked at.
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

/// What is known before a witness is looked for.
enum Examined {
    Equal { same_domain: bool },
    Apart(Apart),
}

/// Differences that no input shows yet.
struct Apart {
    differences: Vec<Difference>,
    products: (i64, i64),
    left: u32,
    extent: Extent,
    /// What is to be said if there is no witness.
    reason: &'static str,
}

impl Apart {
    /// No difference in closed form.
    fn open(extent: Extent, reason: &'static str) -> Examined {
        Examined::Apart(Self { differences: Vec::new(), products: (0, 0), left: 0, extent, reason })
    }
}

const NOT_A_PRODUCT: &str =
    "a scheme is no function of the product x*m, or not in closed form, and no input that differs was found";
const NO_INPUT: &str = "the schemes differ at integers that may be no product x*m, and no input that differs was found";
const BEYOND: &str =
    "accumulators that a left shift takes beyond the word are not decided, and no input that differs was found";

/// Two schemes, and what each does before its product.
struct Statement<'a> {
    schemes: [&'a Scheme; 2],
    fronts: [Option<Front>; 2],
    at: Parameters,
}

impl<'a> Statement<'a> {
    fn new(left: &'a Scheme, right: &'a Scheme, at: &Parameters) -> Self {
        let fronts = [left, right].map(|scheme| Front::of(scheme, at));
        // A multiplier that no step may look at.
        Self { schemes: [left, right], fronts, at: Parameters { m: 1, ..*at } }
    }

    fn examine(&self) -> Examined {
        let [Some(left), Some(right)] = &self.fronts else { return Apart::open(Extent::Nothing, NOT_A_PRODUCT) };
        if left.multiplier != right.multiplier {
            return Apart::open(Extent::Nothing, NOT_A_PRODUCT);
        }
        let word = self.at.word;
        let (xs, ms) = (left.common_accumulators(right), left.common_multipliers(right, word));
        let same_inputs = left.same_inputs(right);
        if xs.is_empty() || ms.is_empty() {
            return Examined::Equal { same_domain: left.has_no_input() && right.has_no_input() };
        }
        if left.same_words(right) {
            return match self.over(products(left.shifted(&xs, word), ms), [0, 0], same_inputs) {
                Examined::Apart(apart) => Examined::Apart(Apart { left: left.left, ..apart }),
                equal => equal,
            };
        }
        let inside = left.inside(&right.inside(&xs, word), word);
        let all = inside == xs;
        match self.over(products(inside, ms), [left.left, right.left], same_inputs) {
            examined if all => examined,
            Examined::Equal { .. } => Apart::open(Extent::WithoutOverflow, BEYOND),
            Examined::Apart(apart) if apart.extent == Extent::Nothing => Examined::Apart(apart),
            Examined::Apart(apart) => Examined::Apart(Apart { extent: Extent::WithoutOverflow, ..apart }),
        }
    }

    /// Over integers `p`, for each scheme multiplied by its own power of two first.
    fn over(&self, products: Products, lefts: [u32; 2], same_inputs: bool) -> Examined {
        let mut differences = Vec::new();
        let mut same_domain = same_inputs;
        for range in products.ranges() {
            // What is equal before results are fitted to the word is equal after the same policy, however often it wraps.
            if self.schemes[0].overflow == self.schemes[1].overflow
                && let [Some(left), Some(right)] = self.folded(&range, lefts, false)
                && compare::same(&left, &right)
            {
                continue;
            }
            let [Some(left), Some(right)] = self.folded(&range, lefts, true) else {
                return Apart::open(Extent::Nothing, NOT_A_PRODUCT);
            };
            same_domain &= compare::covered(&left) == compare::covered(&right);
            differences.extend(compare::differences(&left, &right));
        }
        if differences.is_empty() {
            return Examined::Equal { same_domain };
        }
        let differences = compare::merged(differences, &products);
        Examined::Apart(Apart {
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

/// The steps behind the product, over `range` times `2^left`.
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
    Some(folder.pieces().iter().map(compare::reduced).collect())
}

/// Every product of a range of words and a range of multipliers lies in one of two ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Products {
    /// All but the largest, if that is alone.
    most: RangeInclusive<i64>,
    /// The product of the two smallest, if no other product is near it.
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
    // One step away from that corner in either direction, or the product of the two largest.
    let next = (a * c - a.abs()).max(a * c - c.abs()).max(b * d);
    match alone && a < b && c < d && next < largest {
        true => Products { most: least..=next, top: Some(largest) },
        false => Products { most: least..=largest, top: None },
    }
}

/// All values of a word.
fn whole(word: Word) -> RangeInclusive<i64> {
    word.min() as i64..=word.max() as i64
}
