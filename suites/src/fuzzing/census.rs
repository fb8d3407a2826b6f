//! Censuses in closed form and along staircases, against one accumulator after another.
//!
//! An input is numbers, of which `arbitrary` makes a question, or the question as JSON.

use crate::fuzzing::numbers::Numbers;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use tiebreak_common::called;
use tiebreak_oracle::Rational;
use tiebreak_oracle::census::{Census, Comparison, Requantizer};
use tiebreak_oracle::derivation::floats;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::word::Word;

/// Most accumulators that are visited one by one, and most of those that are compared with rationals too.
const VISITED: u32 = 1 << 11;
const EXACT: usize = 64;
/// How many of the nearest differing accumulators are compared.
const NEAREST: usize = 40;

/// Two schemes at some parameters over a range of accumulators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Left scheme, of fixed point multiply with its policy, or one in floats.
    pub left: String,
    /// Right scheme.
    pub right: String,
    /// Bits of the word, 2 to 32.
    pub bits: u32,
    /// Multiplier, of the word.
    pub multiplier: i64,
    /// Shift, -31 to 31, positive = left.
    pub shift: i32,
    /// Fractional bits of the multiplier, fewer than those of the word.
    pub q: u32,
    /// First accumulator, of the word.
    pub first: i64,
    /// How many accumulators, cut at the end of the word.
    pub count: u32,
    /// Zero point, smallest and largest output, where outputs are compared.
    pub output: Option<[i32; 3]>,
}

/// Holds the censuses of the question that an input is against brute force.
pub fn census(bytes: &[u8]) -> Result<(), String> {
    match Question::read(bytes) {
        Some(question) => question.judge(),
        None => Ok(()),
    }
}

/// The question of an input as a line, which is read as the same question.
pub fn line(bytes: &[u8]) -> Option<String> {
    serde_json::to_string(&Question::read(bytes)?).ok()
}

/// Questions about every pair of neighbouring schemes in the list of all.
pub fn seeds() -> Vec<String> {
    let names = names();
    let places = [(32, 1_395_864_371, -8, -1000), (32, 1 << 30, 1, -(1 << 31)), (8, 77, -3, -128), (12, -2048, 2, 0)];
    let questions = names.windows(2).zip(places.into_iter().cycle()).map(|(pair, (bits, multiplier, shift, first))| {
        let output = (bits == 32).then_some([-3, -128, 127]);
        let (left, right) = (pair[0].clone(), pair[1].clone());
        Question { left, right, bits, multiplier, shift, q: bits - 1, first, count: 600, output }
    });
    questions.map(|question| serde_json::to_string(&question).expect("names and numbers")).collect()
}

/// Every scheme.
fn names() -> Vec<String> {
    let fixed = Scheme::every().map(|scheme| scheme.label());
    fixed.chain(floats::DEFINITIONS.iter().map(|definition| definition.name.to_owned())).collect()
}

impl Question {
    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.first() == Some(&b'{') {
            return serde_json::from_slice(bytes).ok();
        }
        Some(Self::made(&mut Numbers::new(bytes)))
    }

    fn made(numbers: &mut Numbers<'_>) -> Self {
        let names = names();
        let [left, right] = [0; 2].map(|_| numbers.one_of(&names).clone());
        let bits = *numbers.one_of(&[32, 8, 32, 12, 16, 31, 2, 24]);
        let word = word_range(bits);
        let (multiplier, shift) = (numbers.of(word.clone()).into(), numbers.of(-31..=31));
        let q = if numbers.byte().is_multiple_of(4) { numbers.of(0..=bits as i32 - 1) as u32 } else { bits - 1 };
        let first = numbers.of(word).into();
        let count = numbers.size(VISITED as usize) as u32;
        let output = numbers.byte().is_multiple_of(2).then(|| {
            let ends = [numbers.of(-300..=300), numbers.of(-300..=300)];
            [numbers.int32() >> 16, ends[0].min(ends[1]), ends[0].max(ends[1])]
        });
        Self { left, right, bits, multiplier, shift, q, first, count, output }
    }

    /// Its parameters, where they are in range.
    fn parameters(&self) -> Option<Parameters> {
        let word = (2..=32).contains(&self.bits).then_some(Word { bits: self.bits })?;
        let held = word.holds(self.multiplier.into()) && word.holds(self.first.into());
        let ordered = self.output.is_none_or(|[_, min, max]| min <= max);
        let inside = (-31..=31).contains(&self.shift) && self.q < self.bits && (1..=VISITED).contains(&self.count);
        (held && ordered && inside).then_some(Parameters { m: self.multiplier, s: self.shift, q: self.q, word })
    }

    /// The requantization of a name, where there is one at the parameters: one in floats multiplies by a positive number.
    fn requantizer(&self, name: &str, p: &Parameters) -> Option<Requantizer> {
        if let Ok(scheme) = Scheme::parse(name) {
            return Some(Requantizer::Fixed(scheme, *p));
        }
        let definition = floats::DEFINITIONS.iter().find(|definition| definition.name == name && p.m > 0)?;
        let exponent = self.shift - self.q as i32;
        let power = Rational::from((1, 1)) << exponent;
        definition.of_multiplier(&(power * p.m)).map(Requantizer::Float)
    }

    fn judge(&self) -> Result<(), String> {
        let Some(p) = self.parameters() else { return Ok(()) };
        let [left, right] = [&self.left, &self.right].map(|name| self.requantizer(name, &p));
        let (Some(left), Some(right)) = (left, right) else { return Ok(()) };
        let output = self.output.map(|[zero_point, min, max]| Output { zero_point, min, max });
        let last = (self.first + i64::from(self.count) - 1).min(p.word.max() as i64);
        let xs = self.first..=last;
        let stairs = Comparison { left: &left, right: &right, output: output.as_ref() };
        self.stairs(&stairs, &xs)?;
        if let (Requantizer::Fixed(left, _), Requantizer::Fixed(right, _)) = (&left, &right) {
            let (left, right) = (*left, *right);
            let closed =
                Census { left, right, parameters: p, right_parameters: None, lo: self.first, hi: last, output };
            self.closed(&closed, &xs)?;
        }
        Ok(())
    }

    /// Staircases against each accumulator, and against rationals.
    fn stairs(&self, stairs: &Comparison<'_>, xs: &RangeInclusive<i64>) -> Result<(), String> {
        let (counted, swept) = (stairs.counts(xs.clone()), stairs.sweep(xs.clone()));
        self.same("the staircases count", &counted, &swept)?;
        let differs = |x: &i64| stairs.values(*x).is_some_and(|(left, right)| left != right);
        self.same("nearest along the staircases", &stairs.nearest(NEAREST, xs.clone()), &nearest(xs, differs))?;
        for x in spread(xs) {
            for side in [stairs.left, stairs.right] {
                let at = format!("the result at x={x}");
                self.same(&at, &side.value(stairs.output, x), &side.exact(stairs.output, x))?;
            }
        }
        Ok(())
    }

    /// Closed forms against each accumulator.
    fn closed(&self, census: &Census, xs: &RangeInclusive<i64>) -> Result<(), String> {
        if let Some(counted) = census.counts() {
            self.same("the closed form counts", &counted, &census.sweep(xs.clone()))?;
        }
        if let Some(differing) = census.differing() {
            let listed: Vec<i64> = differing.take(NEAREST).collect();
            self.same("nearest in closed form", &listed, &nearest(xs, |x| census.differs(*x)))?;
        }
        Ok(())
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, got: &T, want: &T) -> Result<(), String> {
        if got == want {
            return Ok(());
        }
        let kept = serde_json::to_string(self).unwrap_or_default();
        Err(format!("census {what} {got:?}, one by one {want:?}\ncase: {kept}\nexplain: {}", self.command()))
    }

    /// The command that takes the same census; of words of 32 bits and 31 fractional bits alone.
    fn command(&self) -> String {
        let last = self.first + i64::from(self.count) - 1;
        let output = self.output.map(|[zero, min, max]| format!(" --zero-point={zero} --clamp={min}:{max}"));
        format!(
            "{} census --left {} --right {} --multiplier={} --shift={} --x-min={} --x-max={}{} --list {NEAREST}",
            called::program(),
            self.left,
            self.right,
            self.multiplier,
            self.shift,
            self.first,
            last.min(i32::MAX.into()),
            output.unwrap_or_default()
        )
    }
}

fn word_range(bits: u32) -> RangeInclusive<i32> {
    let word = Word { bits };
    word.min() as i32..=word.max() as i32
}

/// The first of those that differ, from zero outwards, of two at one distance the positive one first.
fn nearest(xs: &RangeInclusive<i64>, differs: impl Fn(&i64) -> bool) -> Vec<i64> {
    let mut all: Vec<i64> = xs.clone().filter(differs).collect();
    all.sort_by_key(|x| (x.abs(), *x < 0));
    all.truncate(NEAREST);
    all
}

/// Some accumulators of the range, from its first to its last.
fn spread(xs: &RangeInclusive<i64>) -> impl Iterator<Item = i64> + use<> {
    let step = ((xs.end() - xs.start()) as usize / EXACT).max(1);
    xs.clone().step_by(step).chain([*xs.end()])
}
