//! Single instructions: the portable model on the host and the instruction itself on aarch64, both against the definition on big
//! integers. Every operand pair fills a whole vector, so that each is seen in every lane position and the saturation flag
//! is that pair's alone.

mod fuzzed;
mod plan;

use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_engine::operation::fields::{self, Field};
use tiebreak_engine::operation::{
    Arguments, Asked, Capabilities, Case, CaseError, Change, Expected, NamedScheme, Observed, Operation, Spec, Sweeps,
    Unposable, Wanted, differs,
};
use tiebreak_impls::instruction::{Domain, Params, Run, kernels};
use tiebreak_impls::kernel::Kernel;
use tiebreak_oracle::instruction::Mnemonic;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::scheme::Described;
use tiebreak_oracle::word::Word;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Instruction {}

/// The definition of an instruction at one width, with the immediate where it takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// As kernels are named: `sqrdmulh.s32`, and `sshr31.s32` for SSHR by 31.
    name: &'static str,
    mnemonic: Mnemonic,
    word: Word,
    immediate: Option<i64>,
}

impl Scheme {
    fn of(kernel: &Kernel<Run, Domain>) -> Result<Self, UnknownName> {
        let name = kernel.contract.promise.scheme;
        let stem = name.split('.').next().unwrap_or(name);
        let mnemonic = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        let immediate = stem[mnemonic.len()..].parse().ok();
        let word = Word { bits: kernel.contract.domain.bits };
        Ok(Self { name, mnemonic: Mnemonic::parse(mnemonic)?, word, immediate })
    }

    /// A value for each pair of operands, then for each vector whether any of its lanes saturates.
    fn results(&self, case: &Case<Params>, lane: impl Fn(i64, i64) -> (Option<i32>, bool)) -> Expected {
        let pairs = case.tensors[0].iter().zip(&case.tensors[1]);
        let lanes: Vec<(Option<i32>, bool)> =
            pairs.map(|(a, b)| lane((*a).into(), self.immediate.unwrap_or((*b).into()))).collect();
        let vectors = lanes.chunks(Domain { bits: self.word.bits }.lanes());
        let flags = vectors.map(|vector| i32::from(vector.iter().any(|(_, saturates)| *saturates)));
        lanes.iter().map(|(value, _)| *value).chain(flags.map(Some)).collect()
    }
}

/// The cause by which values differ, or nothing but flags.
fn differ(scheme: &Scheme, class: Class) -> Change<Instruction> {
    let scheme = scheme.clone();
    Change::found(class, move |evidence: &[&Observed<Params>]| {
        let (mut values, mut flags) = (0, 0);
        for seen in evidence {
            let elements = seen.case.tensors[0].len();
            for (at, (expected, out)) in scheme.results(&seen.case, fast(&scheme)).iter().zip(&seen.outs).enumerate() {
                let wrong = usize::from(differs(&[*expected], &[*out]));
                *(if at < elements { &mut values } else { &mut flags }) += wrong;
            }
        }
        let found = if class == Class::SaturationFlag { values == 0 && flags > 0 } else { values > 0 };
        found.then(|| "differs from the instruction's definition".to_owned())
    })
}

/// One lane by machine integers.
fn fast(scheme: &Scheme) -> impl Fn(i64, i64) -> (Option<i32>, bool) {
    |a, b| {
        let (value, saturates) = scheme.mnemonic.lane(scheme.word, a, b);
        (i32::try_from(value).ok(), saturates)
    }
}

/// The vectors of a range.
fn part(case: &Case<Params>, domain: &Domain, vectors: std::ops::Range<usize>) -> Case<Params> {
    let elements = vectors.start * domain.lanes()..vectors.end * domain.lanes();
    let tensor = |t: usize| case.tensors[t][elements.clone()].to_vec();
    let params = Params { vectors: vectors.len() };
    Case { params, tensors: [tensor(0), tensor(1), Vec::new()], misalign: case.misalign }
}

impl NamedScheme for Scheme {
    fn described() -> Vec<Described> {
        let described = |scheme: Self| {
            let source = "Arm Architecture Reference Manual";
            Described { name: scheme.name, summary: scheme.mnemonic.summary(), source, steps: Vec::new() }
        };
        kernels().iter().filter_map(|kernel| Self::of(kernel).ok()).map(described).collect()
    }

    fn named(text: &str) -> Result<Self, UnknownName> {
        let name = text.split(':').next().unwrap_or(text);
        let found = kernels().iter().find(|kernel| kernel.contract.promise.scheme == name);
        Self::of(found.ok_or_else(|| unknown("scheme", name, kernels().iter().map(|kernel| kernel.name)))?)
    }

    fn label(&self) -> String {
        self.name.to_owned()
    }
}

impl Operation for Instruction {
    const TENSORS: &'static [&'static str] = &["a", "b"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/instruction.txt");
    const CAPABILITIES: Capabilities<Self> =
        Capabilities { sweeps: Sweeps { exhaustive: Self::exhaustive, ..Sweeps::NONE }, ..Capabilities::NONE };
    type Impl = tiebreak_impls::instruction::Instruction;
    type Params = Params;
    type Domain = Domain;
    type Run = Run;
    type Scheme = Scheme;

    fn dimensions(domain: &Domain, params: &Params, t: usize) -> Vec<usize> {
        let elements = params.vectors * domain.lanes();
        vec![if t < Self::TENSORS.len() { elements } else { elements + params.vectors }]
    }

    fn range(domain: &Domain, _: usize) -> RangeInclusive<i32> {
        i32::MIN >> (32 - domain.bits)..=i32::MAX >> (32 - domain.bits)
    }

    fn open(scheme: &Scheme, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        types::none(Self::OP, ty)?;
        Ok(Domain { bits: scheme.word.bits })
    }

    fn covers(domain: &Domain, params: &Params) -> bool {
        domain.sizes(params).is_ok()
    }

    fn domain_text(domain: &Domain) -> String {
        format!("operands of {} bits", domain.bits)
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        Ok(scheme.results(case, fast(scheme)))
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        Ok(scheme.results(case, |a, b| {
            let (value, saturates) = scheme.mnemonic.lane_exact(scheme.word, a, b);
            (value.to_i32(), saturates)
        }))
    }

    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        None
    }

    fn own_plan(domain: &Domain, _: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(*domain, budget, seed)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        vec![differ(scheme, Class::SaturationFlag), differ(scheme, Class::Value)]
    }

    fn alone(case: &Case<Params>, domain: &Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        let values = case.tensors[0].len();
        let (vector, index) = match index.checked_sub(values) {
            Some(vector) => (vector, domain.lanes()),
            None => (index / domain.lanes(), index % domain.lanes()),
        };
        vec![(part(case, domain, vector..vector + 1), index)]
    }

    fn smaller(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let (all, half) = (case.params.vectors, case.params.vectors / 2);
        let halves = [0..half, half..all].into_iter().filter(|_| half > 0);
        halves.map(|vectors| part(case, domain, vectors)).collect()
    }

    fn arguments(params: &Params) -> Vec<(String, Value)> {
        fields::written(&[VECTORS], params, &ONE)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        fields::read_all(&[VECTORS], ONE, arguments, Self::TENSORS)
    }
}

impl Instruction {
    /// Whether the plan holds every pair of operands.
    pub fn exhaustive(domain: &Domain) -> bool {
        plan::is_exhaustive(*domain)
    }
}

const ONE: Params = Params { vectors: 1 };
const VECTORS: Field<Params> = Field::size("vectors", |p| &mut p.vectors);
