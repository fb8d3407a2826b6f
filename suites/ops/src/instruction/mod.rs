//! Single instructions: the portable model, and the instruction itself on a machine that has it, both judged by the definition in big integers.
//! Every operand pair fills a whole vector, so that each pair is in every lane position and the saturation flag depends on that pair only.

mod fuzzed;
mod plan;
mod presented;

use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Change, Expected, Field, NamedScheme, Observed, Operation,
    Spec, Sweeps, Unposable, Wanted, Witnesses, differs, fields,
};
use tiebreak_impls::instruction::{Domain, Lanes, Params, Run, kernels};
use tiebreak_impls::kernel::Kernel;
use tiebreak_oracle::instruction::{Lanes as Defined, Mnemonic, Operands, Register};
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::scheme::Described;
use tiebreak_oracle::word::Word;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Instruction {}

/// Definition of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Name, as in the kernels: `sqrdmulh.s32`, `umull.8h`.
    name: &'static str,
    definition: Definition,
}

#[derive(Clone, Copy, Debug)]
enum Definition {
    /// Each lane separately, with the immediate if the instruction has one: `sshr31.s32`.
    Lane { mnemonic: Mnemonic, word: Word, immediate: Option<i64> },
    /// Lanes that are widened, narrowed, combined or moved.
    Register(&'static Register),
}

impl PartialEq for Scheme {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Scheme {}

impl Scheme {
    fn of(kernel: &Kernel<Run, Domain>) -> Result<Self, UnknownName> {
        let name = kernel.contract.promise.scheme;
        if let Some(register) = Register::find(name) {
            return Ok(Self { name, definition: Definition::Register(register) });
        }
        let stem = name.split('.').next().unwrap_or(name);
        let mnemonic = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        let immediate = stem[mnemonic.len()..].parse().ok();
        let word = Word { bits: kernel.contract.domain.a.bits };
        Ok(Self { name, definition: Definition::Lane { mnemonic: Mnemonic::parse(mnemonic)?, word, immediate } })
    }

    /// Returns the lanes of operands and results.
    fn domain(&self) -> Domain {
        let lanes = |lanes: Defined| Lanes { count: lanes.count, bits: lanes.bits, signed: lanes.signed };
        match self.definition {
            Definition::Lane { word, .. } => Domain::lane_wise(word.bits),
            Definition::Register(Register { a, b, acc, result, .. }) => {
                Domain { a: lanes(*a), b: lanes(*b), acc: lanes(*acc), result: lanes(*result) }
            }
        }
    }

    /// Returns a value for each lane of a result, followed by one saturation flag for each vector. `one` computes one vector.
    fn results(
        &self,
        case: &Case<Params>,
        one: impl Fn(&Self, Operands<'_>) -> (Vec<Option<i32>>, bool),
    ) -> Result<Expected, Unposable> {
        let counts = self.domain().operands().map(|lanes| lanes.count);
        for ((name, count), tensor) in Instruction::TENSORS.iter().zip(counts).zip(case.tensors.iter()) {
            if tensor.len() != case.params.vectors * count {
                let elements = tensor.len();
                return Err(Unposable::new(format!("{name}: {elements} elements are not those of {}", self.name)));
            }
        }
        let vector = |i: usize| {
            let operand = |t: usize| &case.tensors[t][i * counts[t]..(i + 1) * counts[t]];
            one(self, [operand(0), operand(1), operand(2)])
        };
        let vectors: Vec<(Vec<Option<i32>>, bool)> = (0..case.params.vectors).map(vector).collect();
        let flags: Vec<Option<i32>> = vectors.iter().map(|(_, flag)| Some(i32::from(*flag))).collect();
        Ok(vectors.into_iter().flat_map(|(values, _)| values).chain(flags).collect())
    }

    /// Computes one vector with machine integers.
    fn fast(&self, operands: Operands<'_>) -> (Vec<Option<i32>>, bool) {
        match self.definition {
            Definition::Register(register) => {
                let (values, flag) = register.fast(operands);
                (values.into_iter().map(|value| i32::try_from(value).ok()).collect(), flag)
            }
            Definition::Lane { mnemonic, word, immediate } => {
                let lane = |a, b| {
                    let (value, saturates) = mnemonic.lane(word, a, b);
                    (i32::try_from(value).ok(), saturates)
                };
                of_lanes(operands, immediate, lane)
            }
        }
    }

    /// Computes one vector with big integers.
    fn exact(&self, operands: Operands<'_>) -> (Vec<Option<i32>>, bool) {
        match self.definition {
            Definition::Register(register) => {
                let (values, flag) = register.exact(operands);
                (values.into_iter().map(|value| value.to_i32()).collect(), flag)
            }
            Definition::Lane { mnemonic, word, immediate } => {
                let lane = |a, b| {
                    let (value, saturates) = mnemonic.lane_exact(word, a, b);
                    (value.to_i32(), saturates)
                };
                of_lanes(operands, immediate, lane)
            }
        }
    }
}

/// Computes the lanes of a vector one by one.
fn of_lanes(
    [a, b, _]: Operands<'_>,
    immediate: Option<i64>,
    lane: impl Fn(i64, i64) -> (Option<i32>, bool),
) -> (Vec<Option<i32>>, bool) {
    let pairs = a.iter().zip(b);
    let lanes: Vec<_> = pairs.map(|(a, b)| lane((*a).into(), immediate.unwrap_or((*b).into()))).collect();
    let flag = lanes.iter().any(|(_, saturates)| *saturates);
    (lanes.into_iter().map(|(value, _)| value).collect(), flag)
}

/// Finds the cause of differences in values, or of differences in saturation flags only.
fn differ(scheme: &Scheme, class: Class) -> Change<Instruction> {
    let scheme = *scheme;
    Change::found(class, move |evidence: &[&Observed<Params>]| {
        let (mut values, mut flags) = (0, 0);
        for seen in evidence {
            let elements = seen.case.params.vectors * scheme.domain().lanes();
            let expected = scheme.results(&seen.case, Scheme::fast).ok()?;
            for (at, (expected, out)) in expected.iter().zip(&seen.outs).enumerate() {
                let wrong = usize::from(differs(&[*expected], &[*out]));
                *(if at < elements { &mut values } else { &mut flags }) += wrong;
            }
        }
        let found = if class == Class::SaturationFlag { values == 0 && flags > 0 } else { values > 0 };
        found.then(|| "differs from the instruction's definition".to_owned())
    })
}

/// Cuts a range of vectors out of a case.
fn part(case: &Case<Params>, domain: &Domain, vectors: std::ops::Range<usize>) -> Case<Params> {
    let counts = domain.operands().map(|lanes| lanes.count);
    let tensor = |t: usize| case.tensors[t][vectors.start * counts[t]..vectors.end * counts[t]].to_vec();
    let params = Params { vectors: vectors.len() };
    Case { params, tensors: [tensor(0), tensor(1), tensor(2)].into(), misalign: case.misalign }
}

impl NamedScheme for Scheme {
    fn described() -> Vec<Described> {
        let described = |scheme: Self| {
            let (summary, source) = match scheme.definition {
                Definition::Lane { mnemonic, .. } => (mnemonic.summary(), "Arm Architecture Reference Manual"),
                Definition::Register(register) => (register.summary, register.source),
            };
            Described { name: scheme.name, summary, source, steps: Vec::new() }
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
    const TENSORS: &'static [&'static str] = &["a", "b", "acc"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/instruction.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        sweeps: Sweeps { exhaustive: Self::exhaustive, ..Sweeps::NONE },
        witnesses: Witnesses { isolate_result: Self::isolate_result, ..Witnesses::NONE },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::instruction::Instruction, Scheme);

    fn dimensions(domain: &Domain, params: &Params, t: usize) -> Vec<usize> {
        vec![match domain.operands().get(t) {
            Some(lanes) => params.vectors * lanes.count,
            None => params.vectors * (domain.lanes() + 1),
        }]
    }

    fn range(domain: &Domain, t: usize) -> RangeInclusive<i32> {
        domain.operands().get(t).unwrap_or(&domain.result).range()
    }

    fn widest_domain(scheme: &Scheme, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        types::none(Self::OP, ty)?;
        Ok(scheme.domain())
    }

    fn covers(domain: &Domain, params: &Params) -> bool {
        domain.sizes(params).is_ok()
    }

    fn domain_text(domain: &Domain) -> String {
        let named = Self::TENSORS.iter().zip(domain.operands()).filter(|(_, lanes)| lanes.count > 0);
        match *domain == Domain::lane_wise(domain.a.bits) {
            true => format!("operands of {} bits", domain.a.bits),
            false => named.map(|(name, lanes)| format!("{name}: {}", lanes_text(lanes))).collect::<Vec<_>>().join(", "),
        }
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        scheme.results(case, Scheme::fast)
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        scheme.results(case, Scheme::exact)
    }

    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        None
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(*domain, budget, seed)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        vec![differ(scheme, Class::SaturationFlag), differ(scheme, Class::Value)]
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
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
    fn isolate_result(case: &Case<Params>, domain: &Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        let values = case.params.vectors * domain.lanes();
        let (vector, index) = match index.checked_sub(values) {
            Some(vector) => (vector, domain.lanes()),
            None => (index / domain.lanes(), index % domain.lanes()),
        };
        vec![(part(case, domain, vector..vector + 1), index)]
    }

    /// True if the plan contains every pair of operands.
    pub fn exhaustive(domain: &Domain) -> bool {
        plan::is_exhaustive(*domain)
    }
}

/// Formats lanes: `16 unsigned lanes of 8 bits`.
fn lanes_text(lanes: Lanes) -> String {
    format!("{} {} lanes of {} bits", lanes.count, if lanes.signed { "signed" } else { "unsigned" }, lanes.bits)
}

const ONE: Params = Params { vectors: 1 };
const VECTORS: Field<Params> = Field::size("vectors", |p| &mut p.vectors);
