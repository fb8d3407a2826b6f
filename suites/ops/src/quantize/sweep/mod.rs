//! Sweep of every pattern of a float type through one quantization. The exact results change at a few decision boundaries, so a block between two
//! boundaries is compared with a constant. The reference is a constant there, too: if the contract is kept, differences from the reference are
//! counted without reading the results again.

mod counted;
mod path;
mod pieces;

use super::{Promised, Quantize};
use crate::quantized::{self, quantizations, with_one_scale};
use counted::{DifferenceCause, Side, one_by_one, poison, whole};
use path::described;
use pieces::{Piece, pieces};
use std::collections::BTreeMap;
use tiebreak_common::Class;
use tiebreak_engine::case::text;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::lane::runner::Runner;
use tiebreak_engine::operation::fault::{self, Extent, Faulty, KnownFault, Seen, Sighting};
use tiebreak_engine::operation::{
    Case, CaseSelection, Element, Operation, SweepOutcome, SweptSide, SweptWitness, Wanted, path,
};
use tiebreak_engine::run::sweep::{self, Blocks, ChunkOutcome, Space};
use tiebreak_impls::quantize::{Domain, Kernel};
use tiebreak_impls::quantized::{Expressed, Params, Quantized, Scale, Storage};
use tiebreak_oracle::quantize::{Quantization, Scheme, Stored};
use tiebreak_reports::ledger::{self, Against, PathStep};
use tiebreak_worker::protocol::Job;

/// Patterns in one task.
pub const CHUNK: u64 = 1 << 22;
/// Patterns in one in-process batch: input and output fit a core's cache.
pub const BLOCK_IN_PROCESS: usize = 1 << 14;
/// Patterns in one batch of a worker: enough to make a message's cost small.
const BLOCK_IN_WORKER: usize = 1 << 16;
/// Largest number of patterns of which each is checked for the results of known faults.
const FEW_PATTERNS: u64 = 1 << 16;

/// Results judged against contract and reference.
#[derive(Clone, Default)]
pub struct Sides {
    contract: Side,
    reference: Side,
    faults: Seen,
}

impl Sides {
    /// Returns the number of patterns with a result.
    pub fn seen(&self) -> u64 {
        self.contract.count.seen()
    }
}

/// Sweep of a kernel in a lane at one type, with the exact results of all patterns.
pub struct Plan<'a> {
    kernel: &'static Kernel,
    lane: &'a Lane,
    runner: &'a Runner<'a>,
    q: Quantization,
    /// Parameters of a batch of one pattern.
    params: Params,
    /// True if a known fault changes the lane's code for the type.
    faulty: bool,
    pieces: Vec<Piece>,
    /// Schemes from the reference to the contract, each with the class of its change.
    path: Vec<(Class, Scheme)>,
    contract: Promised,
    reference: Scheme,
}

/// Sweeps each requested type, or by default one type that the kernel accepts.
pub(super) fn sweeps(
    kernel: &'static Kernel,
    runner: &Runner<'_>,
    selection: &CaseSelection,
    wanted: &Wanted,
) -> Vec<SweepOutcome> {
    let types = types(&kernel.contract.domain, selection);
    types.iter().filter_map(|ty| Plan::new(kernel, runner, ty, wanted)).map(|plan| plan.sweep()).collect()
}

/// Returns the parameters of all sweeps.
pub(super) fn params(domain: &Domain, selection: &CaseSelection) -> Vec<Params> {
    types(domain, selection).iter().filter_map(|ty| quantized::swept(domain, ty, 1)).collect()
}

fn types(domain: &Domain, selection: &CaseSelection) -> Vec<Quantized> {
    if selection.types.is_empty() { usual(domain) } else { selection.types.clone() }
}

/// Returns an 8-bit type to f32, with bounds if the domain has any.
fn usual(domain: &Domain) -> Vec<Quantized> {
    let ty = |signed, min, max, zero_point| {
        with_one_scale(Storage { bits: 8, signed }, (min, max), Expressed::F32, Scale(0.3), zero_point)
    };
    let types = [ty(true, -8, 7, 1), ty(true, -128, 127, 1), ty(false, 0, 255, 129)];
    let taken = |ty: &Quantized| {
        let params = Params { quantized: ty.clone(), container: domain.containers[0], shape: vec![1] };
        domain.contains(&params)
    };
    types.into_iter().find(taken).into_iter().collect()
}

impl<'a> Plan<'a> {
    /// Prepares a sweep. `None` if the type has too many patterns or is outside the kernel's domain, or if a scheme has no decision boundaries.
    pub fn new(
        kernel: &'static Kernel,
        runner: &'a Runner<'a>,
        quantized: &Quantized,
        wanted: &Wanted,
    ) -> Option<Self> {
        let lane = runner.lane;
        let params = quantized::swept(&kernel.contract.domain, quantized, 1)?;
        if quantized.expressed.bits() > 32 {
            return None;
        }
        let q = *quantizations(quantized).ok()?.first()?;
        // Patterns are run again one by one, so a tail with its own scheme would be judged by that scheme.
        let contract = Promised::by(&kernel.contract).ok().filter(|contract| contract.tail.is_none())?;
        let reference = Scheme::ideal(wanted.rounding);
        let steps = path::<Quantize>(&contract, &Promised::plain(reference), &kernel.contract.domain);
        let path: Vec<_> = steps.iter().filter_map(|step| Some((step.class(&params), step.scheme()?.scheme))).collect();
        let pieces = pieces(&q, &contract.scheme, &reference, &path)?;
        let faulty = quantized::is_at_fault(kernel.name, &lane.name, &params);
        Some(Self { kernel, lane, runner, q, params, faulty, pieces, path, contract, reference })
    }

    fn sweep(&self) -> SweepOutcome {
        let space = self.space();
        let sides = |mut all: Sides| {
            if all.contract.count.seen() == space.inputs() {
                self.extents(&mut all.faults);
            }
            let path = self.path(&all.reference);
            let because = described(&path);
            let unknown = "the finding on sampled cases names the cause if it is known".to_owned();
            let mut sides =
                vec![self.side(all.contract, Against::Contract, &self.contract.scheme, unknown, Vec::new())];
            if self.contract.scheme.label() != self.reference.label() {
                sides.push(self.side(all.reference, Against::Reference, &self.reference, because, path));
            }
            (sides, all.faults)
        };
        sweep::whole(self.runner, self, &space, "patterns", |bits| self.spelled(bits as u64), sides)
    }

    fn space(&self) -> Space {
        Space {
            first: 0,
            last: (1 << self.q.format.bits()) - 1,
            chunk: CHUNK as i64,
            in_process: BLOCK_IN_PROCESS as i64,
            in_worker: BLOCK_IN_WORKER as i64,
            outwards: false,
        }
    }

    /// Returns the kernel's parameters for a batch of `len` patterns.
    pub fn params(&self, len: usize) -> Params {
        Params { shape: vec![len], ..self.params.clone() }
    }

    /// Sweeps one chunk, beginning at a pattern.
    pub fn chunk(&self, start: u64) -> ChunkOutcome<Sides> {
        sweep::chunk(self.runner, self, &self.space(), start as i64)
    }

    fn compared(&self, at: u64, outs: &[i32], swept: &mut Sides) {
        let end = at + outs.len() as u64;
        let first = self.pieces.partition_point(|piece| piece.first <= at) - 1;
        for (i, piece) in self.pieces.iter().enumerate().skip(first).take_while(|(_, piece)| piece.first < end) {
            let from = piece.first.max(at);
            let to = self.pieces.get(i + 1).map_or(end, |next| next.first.min(end));
            let outs = &outs[(from - at) as usize..(to - at) as usize];
            self.piece(piece, from, outs, swept);
        }
    }

    fn piece(&self, piece: &Piece, from: u64, outs: &[i32], swept: &mut Sides) {
        let len = outs.len() as u64;
        let mut faulty = BTreeMap::new();
        let kept = match piece.contract.value() {
            None => {
                swept.contract.count.out_of_domain += len;
                None
            }
            Some(value) => {
                swept.contract.count.inputs += len;
                let kept = is_all(outs, value);
                if !kept {
                    faulty = self.faulty(value, from, outs, &mut swept.faults);
                    let due =
                        |i| if faulty.contains_key(&i) { DifferenceCause::Excused } else { DifferenceCause::To(None) };
                    one_by_one(&mut swept.contract, from, outs, value, due, self.q);
                }
                kept.then_some(value)
            }
        };
        let reference = &mut swept.reference;
        let Some(value) = piece.reference.value() else {
            reference.count.out_of_domain += len;
            return;
        };
        reference.count.inputs += len;
        match kept {
            Some(own) if own == value => {}
            Some(own) => whole(reference, (from, len), own, value, piece.class, self.q),
            // An undefined conversion is one class, whatever the target's result is.
            None if piece.contract == Stored::Poison => poison(reference, from, outs, value, self.q),
            None => {
                let due = |i| DifferenceCause::To(faulty.get(&i).copied().or(piece.class));
                one_by_one(reference, from, outs, value, due, self.q);
            }
        }
    }

    /// Returns the class of each result explained by a known fault, by index, and counts the results.
    #[cold]
    fn faulty(&self, value: i64, from: u64, outs: &[i32], faults: &mut Seen) -> BTreeMap<usize, Class> {
        if !self.faulty {
            return BTreeMap::new();
        }
        let at: Vec<usize> = (0..outs.len()).filter(|i| outs[*i] != value as i32).collect();
        let differing: Vec<i32> = at.iter().map(|i| outs[*i]).collect();
        let case = self.case(at.iter().map(|i| from + *i as u64), at.len());
        let faulty = fault::faulty(&self.known(&case), &vec![Some(value as i32); at.len()], 1, &differing, faults);
        at.iter().zip(faulty).filter_map(|(i, class)| Some((*i, class?))).collect()
    }

    /// Returns the known faults of the lane's code at a case.
    fn known(&self, case: &Case<Params>) -> Vec<KnownFault> {
        Quantize::at_fault(self.kernel.name, &self.lane.name, &self.contract, case)
    }

    fn case(&self, patterns: impl Iterator<Item = u64>, len: usize) -> Case<Params> {
        let x = patterns.flat_map(|pattern| Element::Float(self.q.format).of(pattern)).collect();
        Case { params: self.params(len), tensors: [x, Vec::new(), Vec::new()].into(), misalign: 0 }
    }

    /// Adds the number of patterns that each known fault can change. Only for few patterns, because each is checked.
    fn extents(&self, faults: &mut Seen) {
        let patterns = 1u64 << self.q.format.bits();
        if !self.faulty || patterns > FEW_PATTERNS {
            return;
        }
        let case = self.case(0..patterns, patterns as usize);
        let Ok(expected) = Quantize::expected(&self.contract, &case) else { return };
        for fault in self.known(&case) {
            let because =
                format!("of so many of all {patterns} patterns a value that it can give is not that of the contract");
            let extent = Extent { most: fault.extent(&expected, 1), each: fault.each, because };
            faults.entry(fault.class).or_insert_with(|| Sighting::none(fault.reason)).extent = Some(extent);
        }
    }

    fn side(
        &self,
        counted: Side,
        against: Against,
        scheme: &Scheme,
        because: String,
        path: Vec<PathStep>,
    ) -> SweptSide {
        let domain = &self.kernel.contract.domain;
        let witness = counted.least.map(|(_, (bits, got, expected))| {
            let stored = Quantize::element(domain, &self.params(1), 1);
            SweptWitness { case: self.spelled(bits), got: stored.described(&[got]), expected: expected.into() }
        });
        let class = counted.least.and_then(|(_, (bits, got, _))| self.class_at(bits, got, against));
        let mut count = counted.count;
        count.leave_unexplained(Class::Unexplained);
        SweptSide { against, scheme: scheme.label(), count, class, because, path, witness }
    }

    /// Formats a case of one pattern for `--case`.
    fn spelled(&self, bits: u64) -> ledger::Case {
        let case = self.case([bits].into_iter(), 1);
        text::arguments_of::<Quantize>(&self.kernel.contract.domain, case).unwrap_or_default()
    }

    fn class_at(&self, bits: u64, got: i32, against: Against) -> Option<Class> {
        let case = self.case([bits].into_iter(), 1);
        let expected = Quantize::expected(&self.contract, &case).ok().filter(|_| self.faulty);
        let faulty = expected.map_or_else(Faulty::new, |expected| {
            fault::faulty(&self.known(&case), &expected, 1, &[got], &mut Seen::new())
        });
        if let Some(Some(class)) = faulty.first().filter(|_| against == Against::Reference) {
            return Some(*class);
        }
        let piece = &self.pieces[self.pieces.partition_point(|piece| piece.first <= bits) - 1];
        match against {
            Against::Contract => None,
            Against::Reference if piece.contract == Stored::Poison => Some(Class::Poison),
            Against::Reference => piece.class,
        }
    }
}

impl Blocks for Plan<'_> {
    type Seen = Sides;

    fn merge(&self, all: &mut Sides, part: Sides) {
        all.contract.merge(part.contract);
        all.reference.merge(part.reference);
        fault::merge(&mut all.faults, part.faults);
    }

    fn job(&self, len: usize) -> Job {
        Job::Quantize { kernel: self.kernel.name.to_owned(), params: self.params(len) }
    }

    fn judge(&self, first: i64, outs: &[i32], seen: &mut Sides) {
        self.compared(first as u64, outs, seen);
    }

    fn anchor(&self, pattern: i64) {
        let bits = pattern as u64;
        let piece = &self.pieces[self.pieces.partition_point(|piece| piece.first <= bits) - 1];
        for (scheme, result) in [(&self.contract.scheme, piece.contract), (&self.reference, piece.reference)] {
            let exact = scheme.exact(&self.q, bits);
            assert_eq!(result, exact, "the oracle disagrees with itself: {} at {bits:#x}", scheme.label());
        }
    }

    fn during(&self, first: i64, last: i64) -> String {
        format!("patterns {first:#x}..={last:#x}, {}", quantized::type_text(&self.params.quantized))
    }
}

fn is_all(outs: &[i32], value: i64) -> bool {
    outs.iter().fold(0, |differ, out| differ | (out ^ value as i32)) == 0
}
