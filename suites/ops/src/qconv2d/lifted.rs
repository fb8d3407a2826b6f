//! Causes of the two parts as causes of the whole: what a convolution may do otherwise changes the sums, and what a requantization may do otherwise
//! changes what becomes of them.

use super::{Qconv2d, of_conv2d, quantized};
use crate::conv2d::Conv2d;
use crate::requantize::Requantize;
use std::sync::{Arc, Mutex, PoisonError};
use tiebreak_common::class::Class;
use tiebreak_engine::operation::{Capabilities, Case, Change, Expected, Operation, PathStep};
use tiebreak_impls::qconv2d::{Domain, Params};
use tiebreak_impls::requantize;
use tiebreak_oracle::matmul;
use tiebreak_oracle::qconv2d::Scheme;
use tiebreak_oracle::word::Overflow;

/// Classes of what a convolution may do otherwise that a sum shows by itself.
const OF_SUMS: [Class; 8] = [
    Class::Padding,
    Class::OffsetSign,
    Class::OffsetTerm,
    Class::Signedness,
    Class::Layout,
    Class::Wrap,
    Class::Wrap16,
    Class::Saturation16,
];

/// The sums of the last cases: many causes are tried on few of them.
#[derive(Clone, Default)]
pub(super) struct Sums(Arc<Mutex<Vec<Kept>>>);

/// A case with its sums.
type Kept = (Case<Params>, Arc<Vec<i32>>);

/// Cases of which the sums are kept.
const MOST: usize = 512;

impl Sums {
    /// The sums of products, modulo 2^32; `None` if the case has no shape.
    pub(super) fn of(&self, case: &Case<Params>) -> Option<Arc<Vec<i32>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sums)) = kept.iter().find(|(other, _)| other == case) {
            return Some(Arc::clone(sums));
        }
        let sums = Arc::new(whole(Conv2d::expected(&wrapping(), &convolved(case)).ok()?)?);
        if kept.len() == MOST {
            kept.remove(0);
        }
        kept.push((case.clone(), Arc::clone(&sums)));
        Some(sums)
    }
}

/// The exact sum modulo 2^32.
fn wrapping() -> matmul::Scheme {
    matmul::Scheme::parse("exact:wrap").expect("the exact product is registered")
}

fn whole(sums: Expected) -> Option<Vec<i32>> {
    sums.into_iter().collect()
}

/// The convolution of a case.
fn convolved(case: &Case<Params>) -> Case<tiebreak_impls::conv2d::Params> {
    Case { params: case.params.shape, tensors: case.tensors.clone(), misalign: case.misalign }
}

/// The requantization of its sums.
pub(super) fn requantized(p: &Params, sums: &[i32]) -> Case<requantize::Params> {
    let params = p.requantize(sums.len());
    Case { params, tensors: [sums.to_vec(), Vec::new(), Vec::new()], misalign: 0 }
}

/// What a scheme makes of sums.
pub(super) fn finished(scheme: &Scheme, p: &Params, sums: &[i32]) -> Option<Expected> {
    scheme.expected(&quantized(p).output(), sums).ok()
}

/// The scheme under a policy that gives every sum a value.
pub(super) fn total(scheme: &Scheme) -> Scheme {
    let saturates = scheme.overflow == Overflow::Saturate;
    Scheme { overflow: if saturates { Overflow::Saturate } else { Overflow::Wrap }, ..*scheme }
}

/// Causes of the convolution, with the requantization as promised.
pub(super) fn of_convolution(scheme: &Scheme, domain: &Domain) -> Vec<Change<Qconv2d>> {
    let base = total(scheme);
    let causes = Conv2d::changes(&wrapping(), &of_conv2d(domain));
    let lift = |change: Change<Conv2d>| {
        let because = change.because()?.to_owned();
        Some(Change::predicts(change.class, because, move |case: &Case<Params>| {
            finished(&base, &case.params, &whole(change.predict(&convolved(case))?)?)
        }))
    };
    causes.into_iter().filter(|change| OF_SUMS.contains(&change.class)).filter_map(lift).collect()
}

/// A cause of the requantization, with the sums as promised.
pub(super) fn of_output(sums: &Sums, change: Change<Requantize>) -> Option<Change<Qconv2d>> {
    let (because, sums) = (change.because()?.to_owned(), sums.clone());
    Some(Change::predicts(change.class, because, move |case: &Case<Params>| {
        change.predict(&requantized(&case.params, &sums.of(case)?))
    }))
}

/// Causes of the requantization.
pub(super) fn of_requantization(sums: &Sums, scheme: &Scheme, domain: &Domain) -> Vec<Change<Qconv2d>> {
    let causes = Requantize::changes(scheme, &domain.requantize);
    causes.into_iter().filter_map(|change| of_output(sums, change)).collect()
}

/// The multiplication of the contract in place of that of the reference.
pub(super) fn own(sums: &Sums, contract: &Scheme, reference: &Scheme) -> Option<Change<Qconv2d>> {
    const OF: Capabilities<Requantize> = Requantize::CAPABILITIES;
    of_output(sums, (OF.causes.own)(contract, reference)?)
}

/// How the reference becomes the scheme of a contract: the steps of the requantization.
pub(super) fn path(contract: &Scheme, reference: &Scheme, domain: &Domain) -> Vec<PathStep<Qconv2d>> {
    const OF: Capabilities<Requantize> = Requantize::CAPABILITIES;
    let sums = Sums::default();
    let step = |step: PathStep<Requantize>| {
        let sums = sums.clone();
        let class = step.class(&requantize::Params {
            len: 0,
            channels: Vec::new(),
            bias: Vec::new(),
            zero_point: 0,
            min: 0,
            max: 0,
        });
        PathStep::of(Change::predicts(class, class.name(), move |case: &Case<Params>| {
            step.expected(&requantized(&case.params, &sums.of(case)?))
        }))
    };
    (OF.causes.path)(contract, reference, &domain.requantize).into_iter().map(step).collect()
}
