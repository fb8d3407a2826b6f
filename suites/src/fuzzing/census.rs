//! Censuses in closed form and along staircases, compared with single accumulators.
//!
//! An input is a question as JSON, or bytes from which `arbitrary` makes a question.

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

/// Maximum number of visited accumulators, and of accumulators compared with rationals.
const VISITED: u32 = 1 << 11;
const EXACT: usize = 64;
/// Number of nearest differing accumulators that are compared.
const NEAREST: usize = 40;

/// Question about two schemes with some parameters over a range of accumulators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Left scheme: a scheme of fixed point multiply with its policy, or a float scheme.
    pub left: String,
    /// Right scheme.
    pub right: String,
    /// Bits of the word, 2 to 32.
    pub bits: u32,
    /// Multiplier, within the word.
    pub multiplier: i64,
    /// Shift, -31 to 31, positive = left.
    pub shift: i32,
    /// Fractional bits of the multiplier, fewer than the bits of the word.
    pub q: u32,
    /// First accumulator, within the word.
    pub first: i64,
    /// Number of accumulators. The range ends at the end of the word.
    pub count: u32,
    /// Zero point, smallest and largest output. `None` if results are compared directly.
    pub output: Option<[i32; 3]>,
}

/// Compares the censuses of an input's question with brute force. Fails if they differ.
pub fn census(bytes: &[u8]) -> Result<(), String> {
    match Question::read(bytes) {
        Some(question) => question.judge(),
        None => Ok(()),
    }
}

/// Formats the question of an input as a line that reads as the same question.
pub fn line(bytes: &[u8]) -> Option<String> {
    serde_json::to_string(&Question::read(bytes)?).ok()
}

/// Returns questions about pairs of neighbouring schemes in the list of all schemes.
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

/// Returns the labels of all schemes.
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

    /// Returns the parameters. `None` if a parameter is out of range.
    fn parameters(&self) -> Option<Parameters> {
        let word = (2..=32).contains(&self.bits).then_some(Word { bits: self.bits })?;
        let held = word.holds(self.multiplier.into()) && word.holds(self.first.into());
        let ordered = self.output.is_none_or(|[_, min, max]| min <= max);
        let inside = (-31..=31).contains(&self.shift) && self.q < self.bits && (1..=VISITED).contains(&self.count);
        (held && ordered && inside).then_some(Parameters { m: self.multiplier, s: self.shift, q: self.q, word })
    }

    /// Returns the requantization of that name. `None` for an unknown name, or for a float scheme with a multiplier that is not positive.
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

    /// Compares staircases with each accumulator, and with rationals.
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

    /// Compares closed forms with each accumulator.
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

    /// Returns the `census` command for the same question. Valid only for 32-bit words with 31 fractional bits.
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

/// Returns the first differing accumulators, from zero outwards. At equal distance, the positive accumulator is first.
fn nearest(xs: &RangeInclusive<i64>, differs: impl Fn(&i64) -> bool) -> Vec<i64> {
    let mut all: Vec<i64> = xs.clone().filter(differs).collect();
    all.sort_by_key(|x| (x.abs(), *x < 0));
    all.truncate(NEAREST);
    all
}

/// Samples accumulators of the range, first and last included.
fn spread(xs: &RangeInclusive<i64>) -> impl Iterator<Item = i64> + use<> {
    let step = ((xs.end() - xs.start()) as usize / EXACT).max(1);
    xs.clone().step_by(step).chain([*xs.end()])
}
