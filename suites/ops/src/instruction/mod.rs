//! Single instructions: the portable model on the host and the instruction itself on aarch64, both against the definition on big
//! integers. Every operand pair fills a whole vector, so that each is seen in every lane position and the saturation flag
//! is that pair's alone.

pub mod run;

use std::collections::BTreeMap;
use std::time::Instant;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_common::stream::{int32, int32_of_any_size, stream};
use tiebreak_engine::lane::{Failure, Input, Lane, Order};
use tiebreak_impls::instruction::Kernel;
use tiebreak_impls::operation::Nothing;
use tiebreak_impls::protocol::Job;
use tiebreak_oracle::instruction::Mnemonic;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::word::Word;

/// Name of the operation.
pub const OP: &str = "instruction";

/// Mismatches kept.
const KEPT: usize = 64;
/// Vectors in one batch.
const VECTORS: usize = 1 << 11;

/// One operand pair with what the definition gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// First operand.
    pub a: i32,
    /// Second operand.
    pub b: i32,
    /// The value.
    pub value: i32,
    /// Whether it saturates.
    pub saturates: bool,
}

/// An instruction with its cases, ready for any lane.
pub struct Cases {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Assembler name of the instruction.
    pub mnemonic: &'static str,
    /// Whether these are all operand pairs there are.
    pub exhaustive: bool,
    /// Operand pairs, each with what the definition gives.
    pub pairs: Vec<Expected>,
}

/// What a lane gave.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Operand pairs that ran.
    pub cases: u64,
    /// Lane results compared, values and flags.
    pub inputs: u64,
    /// Values that differ.
    pub values: u64,
    /// Flags that differ.
    pub flags: u64,
    /// The first mismatches: operands, what was given, what is right, class.
    pub kept: Vec<Mismatch>,
    /// Why a batch gave no output.
    pub failure: Option<Failure>,
    /// Seconds of lane and judge.
    pub seconds: f64,
}

/// One wrong result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// First operand.
    pub a: i32,
    /// Second operand.
    pub b: i32,
    /// What the lane gave.
    pub got: i32,
    /// What is right.
    pub expected: i32,
    /// `value` or `saturation-flag`.
    pub class: Class,
}

/// The instruction of a kernel name, and the immediate where it takes one: `sshr31.s32` is SSHR by 31.
fn mnemonic(kernel: &Kernel) -> Result<(&'static str, Mnemonic, Option<i32>), UnknownName> {
    let stem = kernel.name.split('.').next().unwrap_or(kernel.name);
    let name = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    Ok((name, Mnemonic::parse(name)?, stem[name.len()..].parse().ok()))
}

/// Why a text is no case of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GivenError {
    /// There is no such operand, or no such instruction.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// An operand is no element of the vector.
    #[error("`{word}`: an operand of this instruction is an integer in {least}..={most}, such as a=1")]
    Value {
        /// As it was written.
        word: String,
        /// The smallest element.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// An operand is there more than once.
    #[error("{0}: given twice")]
    Twice(String),
    /// There is no operand at all.
    #[error("the case is empty: write its operands, such as 'a=1 b=-2'")]
    Empty,
}

impl Cases {
    /// All pairs at 8 bits; directed and random ones at 16 and 32.
    pub fn new(kernel: &'static Kernel, budget: &Budget, seed: u64) -> Result<Self, UnknownName> {
        let operands = if kernel.bits == 8 { all_bytes() } else { sampled(kernel, budget.instruction_pairs, seed) };
        Ok(Self { exhaustive: kernel.bits == 8, ..Self::of(kernel, operands)? })
    }

    /// These pairs of operands, each sign-extended to int32.
    fn of(kernel: &'static Kernel, operands: Vec<(i32, i32)>) -> Result<Self, UnknownName> {
        let (name, instruction, immediate) = mnemonic(kernel)?;
        let word = Word { bits: kernel.bits };
        let pairs = operands
            .into_iter()
            .map(|(a, b)| {
                let (value, saturates) = instruction.lane(word, a.into(), immediate.unwrap_or(b).into());
                Expected { a, b, value: value as i32, saturates }
            })
            .collect();
        Ok(Self { kernel, mnemonic: name, exhaustive: false, pairs })
    }

    /// The case of a text, such as `a=-128 b=3`; an operand that is not named is 0.
    pub fn given(kernel: &'static Kernel, text: &str) -> Result<Self, GivenError> {
        let half = 1i64 << (kernel.bits - 1);
        let mut operands = BTreeMap::new();
        for word in text.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if !["a", "b"].contains(&name) {
                return Err(GivenError::Name(unknown("operand", name, ["a", "b"])));
            }
            let value = value.parse().ok().filter(|value: &i64| (-half..half).contains(value));
            let value =
                value.ok_or_else(|| GivenError::Value { word: word.to_owned(), least: -half, most: half - 1 })?;
            if operands.insert(name, value as i32).is_some() {
                return Err(GivenError::Twice(name.to_owned()));
            }
        }
        if operands.is_empty() {
            return Err(GivenError::Empty);
        }
        let operand = |name| operands.get(name).copied().unwrap_or(0);
        Ok(Self::of(kernel, vec![(operand("a"), operand("b"))])?)
    }

    /// How many operand pairs there are.
    #[expect(clippy::len_without_is_empty, reason = "there are always some")]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Runs the cases in `lane`.
    pub fn run(&self, lane: &Lane) -> Outcome {
        let begun = Instant::now();
        let mut outcome = Outcome::default();
        let job = Job::Instruction { kernel: self.kernel.name.to_owned(), params: Nothing };
        let mut lease = lane.lease();
        let mut outs = Vec::new();
        for pairs in self.pairs.chunks(VECTORS) {
            let fill = |operand: fn(&Expected) -> i32| {
                pairs.iter().flat_map(move |p| std::iter::repeat_n(operand(p), self.kernel.lanes))
            };
            let values: Vec<i32> = fill(|p| p.a).chain(fill(|p| p.b)).collect();
            let order =
                Order { job: &job, input: Input::Values { len: values.len() / 2, values: &values }, misalign: 0 };
            match lease.run(&order, &mut outs) {
                Ok(()) => {
                    outcome.cases += pairs.len() as u64;
                    self.judge(pairs, &outs, &mut outcome);
                }
                Err(failure) => {
                    outcome.failure = Some(failure);
                    break;
                }
            }
        }
        outcome.seconds = begun.elapsed().as_secs_f64();
        outcome
    }

    /// Judges the results of a batch.
    pub fn judge(&self, pairs: &[Expected], outs: &[i32], outcome: &mut Outcome) {
        let (values, flags) = outs.split_at(pairs.len() * self.kernel.lanes);
        for ((pair, lanes), flag) in pairs.iter().zip(values.chunks(self.kernel.lanes)).zip(flags) {
            outcome.inputs += lanes.len() as u64;
            let mut note = |got, expected, class| {
                let seen = Mismatch { a: pair.a, b: pair.b, got, expected, class };
                // A pair is wrong in as many places as a vector has: it is kept once.
                if outcome.kept.len() < KEPT && outcome.kept.last() != Some(&seen) {
                    outcome.kept.push(seen);
                }
            };
            for &got in lanes.iter().filter(|v| **v != pair.value) {
                outcome.values += 1;
                note(got, pair.value, Class::Value);
            }
            if *flag != i32::from(pair.saturates) {
                outcome.flags += 1;
                note(*flag, pair.saturates.into(), Class::SaturationFlag);
            }
        }
    }
}

fn all_bytes() -> Vec<(i32, i32)> {
    (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b))).collect()
}

/// Every pair of corners, then random pairs.
fn sampled(kernel: &Kernel, count: usize, seed: u64) -> Vec<(i32, i32)> {
    let sign_extended = |v: i32| v << (32 - kernel.bits) >> (32 - kernel.bits);
    let corners: Vec<i32> = corners(kernel.bits);
    let mut pairs: Vec<(i32, i32)> = corners.iter().flat_map(|a| corners.iter().map(move |b| (*a, *b))).collect();
    let mut first = stream(seed, &format!("{OP}/{}/a", kernel.name));
    let mut second = stream(seed, &format!("{OP}/{}/b", kernel.name));
    for i in 0..count {
        let a = int32(&mut first);
        let b = if i % 2 == 0 { int32(&mut second) } else { int32_of_any_size(&mut second) };
        pairs.push((sign_extended(a), sign_extended(b)));
    }
    pairs
}

/// Both ends, powers of two and their neighbours; among them every shift amount that makes a difference.
fn corners(bits: u32) -> Vec<i32> {
    let top = 1i64 << (bits - 1);
    let mut out: Vec<i64> = (-40..=40).chain([top - 1, top - 2, -top, 1 - top]).collect();
    for bit in 5..bits - 1 {
        let power = 1i64 << bit;
        out.extend([power - 1, power, power + 1, -power]);
    }
    out.sort_unstable();
    out.dedup();
    out.into_iter().map(|v| v as i32).collect()
}
