//! Subjects of proofs: for each kernel, the promise at each position of a batch, the domain, and the code to run.

use super::decide::Argument;
use std::ops::RangeInclusive;
use tiebreak_common::parameters::SHIFTS;
use tiebreak_impls::contract::{Domain, Overflow, Promise};
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::{Form, fpm, mutants, operation, requantize};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::fpm::pieces::Output;

/// Batch size of the feature `elements`: one vector and the element after it.
pub(super) const BATCH: usize = 5;

/// Function that returns the results at a position and shift, for accumulators and multipliers.
type Run = fn(&Code, usize, i32, &[(i32, i32)]) -> Vec<i32>;

/// Code of a kernel, for both forms.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) op: &'static str,
    pub(super) name: &'static str,
    pub(super) mutant: bool,
    pub(super) has_native: bool,
    /// Scheme at each position, NAME or NAME:POLICY.
    pub(super) promises: Vec<String>,
    /// Zero point and clamp of a requantization.
    pub(super) output: Option<Output>,
    pub(super) multipliers: RangeInclusive<i32>,
    pub(super) multiple_of: i32,
    /// Shifts of the domain, for multipliers in Q0.31.
    pub(super) shifts: RangeInclusive<i32>,
    /// Runs the portable form on accumulators and multipliers at one position and shift; elements at other positions are 0.
    pub(super) run: Run,
}

/// Returns every kernel and every mutant.
pub(super) fn all() -> Vec<Code> {
    let multiplies = fpm::kernels().iter().map(|kernel| multiply(kernel, false));
    let broken = mutants::fpm::mutants().iter().map(|mutant| multiply(&mutant.kernel, true));
    let all = multiplies.chain(broken);
    let kernels = <requantize::Requantize as operation::TensorOperation>::kernels();
    let mutants = <requantize::Requantize as operation::TensorOperation>::mutants();
    let requantized = kernels.iter().map(|kernel| requantization(kernel, false));
    // Mutants of a multiplication are proved above. As requantizations, they would put the batch on the heap.
    let own = mutants.iter().filter(|mutant| mutants::fpm::find(mutant.kernel.name).is_none());
    all.chain(requantized).chain(own.map(|mutant| requantization(&mutant.kernel, true))).collect()
}

fn multiply(kernel: &'static fpm::Kernel, mutant: bool) -> Code {
    let promise = |position| text(kernel.contract.at(position, BATCH, 31).0);
    Code {
        op: "fpm",
        name: kernel.name,
        mutant,
        has_native: kernel.native.is_some(),
        promises: (0..BATCH).map(promise).collect(),
        output: None,
        multipliers: kernel.contract.domain.multipliers.clone(),
        multiple_of: kernel.contract.domain.multiple_of,
        shifts: shifts(&kernel.contract.domain),
        run: |code, position, s, inputs| {
            let kernel = <fpm::Fpm as operation::Operation>::known(code.name).expect("a kernel of the list");
            let run = |batch: &[i32; BATCH], m, out: &mut [i32; BATCH]| {
                kernel.run(Form::Portable)(&fpm::Params::single(m, s), batch, out);
            };
            each(position, inputs, run)
        },
    }
}

/// Returns zero point, smallest and largest result of the proof, if the kernel accepts any. The values are asymmetric, and for unsigned bytes the
/// zero point is negative as a signed byte.
fn chosen(output: Element) -> (i32, i32, i32) {
    match output {
        Element::I8 => (-5, -100, 120),
        Element::I16 => (-5, -30_000, 32_000),
        // No requantization has fewer bits.
        _ => (200, 3, 250),
    }
}

fn requantization(kernel: &'static requantize::Kernel, mutant: bool) -> Code {
    let domain = &kernel.contract.domain;
    let (whole, (zero_point, min, max)) = (domain.output.range(), chosen(domain.output));
    let (min, max) = if domain.clamp { (min, max) } else { (*whole.start(), *whole.end()) };
    Code {
        op: "requantize",
        name: kernel.name,
        mutant,
        has_native: kernel.native.is_some(),
        promises: (0..BATCH).map(|position| text(kernel.contract.at(position, BATCH, 31).0)).collect(),
        output: Some(Output { zero_point: if domain.zero_point { zero_point } else { 0 }, min, max }),
        multipliers: domain.channels.multipliers.clone(),
        multiple_of: domain.channels.multiple_of,
        shifts: shifts(&domain.channels),
        run: |code, position, s, inputs| {
            let kernel = <requantize::Requantize as operation::Operation>::known(code.name);
            let (kernel, output) = (kernel.expect("a kernel of the list"), code.output.expect("an output"));
            let run = |batch: &[i32; BATCH], multiplier, out: &mut [i32; BATCH]| {
                let channels = vec![Channel { multiplier, shift: s }];
                let Output { zero_point, min, max } = output;
                let params = requantize::Params { len: BATCH, channels, bias: vec![0], zero_point, min, max };
                kernel.run(Form::Portable)(&params, batch, out);
            };
            each(position, inputs, run)
        },
    }
}

fn each(position: usize, inputs: &[(i32, i32)], run: impl Fn(&[i32; BATCH], i32, &mut [i32; BATCH])) -> Vec<i32> {
    let one = |(x, m): &(i32, i32)| {
        let (mut batch, mut out) = ([0; BATCH], [0; BATCH]);
        batch[position] = *x;
        run(&batch, *m, &mut out);
        out[position]
    };
    inputs.iter().map(one).collect()
}

fn text(promise: Promise) -> String {
    let policy = match promise.overflow {
        Overflow::Wrap => ":wrap",
        Overflow::Saturate => ":saturate",
        Overflow::OutOfDomain => "",
    };
    format!("{}{policy}", promise.scheme)
}

fn shifts(domain: &Domain) -> RangeInclusive<i32> {
    let right = &domain.right_shifts;
    let (first, last) = (31i32.saturating_sub(*right.end()), 31i32.saturating_sub(*right.start()));
    let first = (*domain.shifts.start()).max(*SHIFTS.start()).max(first);
    first..=(*domain.shifts.end()).min(*SHIFTS.end()).min(last)
}

impl Code {
    /// Returns the meaning of each parameter of an element's function: the batch, multiplier, shift, then zero point and clamp of a requantization.
    pub(super) fn arguments(&self, position: usize) -> Vec<Argument> {
        let batch = (0..BATCH).map(|at| if at == position { Argument::Accumulator } else { Argument::Free });
        let constant = |value| Argument::Shift(0, value);
        let output = self.output.map(|output| [output.zero_point, output.min, output.max].map(constant));
        batch.chain([Argument::Multiplier, Argument::Shift(1, 0)]).chain(output.into_iter().flatten()).collect()
    }

    /// Returns the promise with zero point and clamp.
    pub(super) fn label(&self, scheme: &Scheme) -> String {
        match self.output {
            None => scheme.label(),
            Some(Output { zero_point, min, max }) => format!("{}, {zero_point:+}, {min}..{max}", scheme.label()),
        }
    }
}
