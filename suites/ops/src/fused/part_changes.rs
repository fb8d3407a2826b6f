//! Changes of the product and of the requantization as changes of the fused operation. A change of the product alters the sums; a change of the
//! requantization alters the results of the sums.

use super::{Fused, Promised};
use crate::requantize::{Requantize, multiplication, path as steps_to};
use std::sync::{Arc, Mutex, PoisonError};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected, Operation, PathStep};
use tiebreak_impls::requantize;
use tiebreak_oracle::matmul;
use tiebreak_oracle::requantize::Scheme;
use tiebreak_oracle::word::Overflow;

/// Classes of product changes that a sum shows alone.
const OF_SUMS: [Class; 10] = [
    Class::Padding,
    Class::OffsetSign,
    Class::OffsetTerm,
    Class::OperandOrder,
    Class::Block,
    Class::Signedness,
    Class::Layout,
    Class::Wrap,
    Class::Wrap16,
    Class::Saturation16,
];

/// Cache of the sums of recent cases, because many changes are tried on few cases.
pub(crate) struct Sums<P>(Arc<Mutex<Vec<CachedSums<P>>>>);

/// Case with its sums.
type CachedSums<P> = (Case<P>, Arc<Vec<i64>>);

/// Upper bound on cached cases.
const MOST: usize = 512;

impl<P> Default for Sums<P> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<P> Clone for Sums<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Clone + PartialEq> Sums<P> {
    /// Returns the sums of products, as [`Fused::sums`].
    pub(crate) fn of<F: Fused<Params = P>>(&self, case: &Case<P>) -> Option<Arc<Vec<i64>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sums)) = kept.iter().find(|(other, _)| other == case) {
            return Some(Arc::clone(sums));
        }
        let sums = Arc::new(F::sums(case)?);
        if kept.len() == MOST {
            kept.remove(0);
        }
        kept.push((case.clone(), Arc::clone(&sums)));
        Some(sums)
    }
}

/// Returns the scheme of the exact sum modulo 2^32.
pub(crate) fn wrapping() -> matmul::Scheme {
    matmul::Scheme::parse("exact:wrap").expect("the exact product is registered")
}

fn whole(sums: Expected) -> Option<Vec<i64>> {
    sums.into_iter().map(|sum| sum.map(i64::from)).collect()
}

/// Returns the sums of a case modulo 2^32.
pub(crate) fn wrapped<F: Fused>(case: &Case<F::Params>) -> Option<Vec<i64>> {
    whole(F::Product::expected(&wrapping(), &F::product(case)).ok()?)
}

/// Builds the requantization of sums; `None` if the fused operation does not end in a requantization.
pub(crate) fn requantized<F: Fused>(p: &F::Params, sums: &[i64]) -> Option<Case<requantize::Params>> {
    let params = F::requantize(p, sums.len())?;
    let sums = sums.iter().map(|sum| *sum as i32).collect();
    Some(Case { params, tensors: [sums, Vec::new(), Vec::new()].into(), misalign: 0 })
}

/// Replaces a policy without a value for some sums by wrapping.
pub(crate) fn total(scheme: &Scheme) -> Scheme {
    let saturates = scheme.overflow == Overflow::Saturate;
    Scheme { overflow: if saturates { Overflow::Saturate } else { Overflow::Wrap }, ..*scheme }
}

/// Returns the changes of the product, followed by the promised requantization.
pub(crate) fn of_product<F: Fused>(scheme: &Scheme, domain: &F::Domain) -> Vec<Change<F>> {
    let base = total(scheme);
    let causes = F::Product::changes(&wrapping(), &F::product_domain(domain));
    let lift = |change: Change<F::Product>| {
        let because = change.because()?.to_owned();
        Some(Change::predicts(change.class, because, move |case: &Case<F::Params>| {
            F::finished(&base, &case.params, &whole(change.predict(&F::product(case))?)?)
        }))
    };
    causes.into_iter().filter(|change| OF_SUMS.contains(&change.class)).filter_map(lift).collect()
}

/// Applies a change of the requantization to the promised sums.
pub(crate) fn of_output<F: Fused>(sums: &Sums<F::Params>, change: Change<Requantize>) -> Option<Change<F>> {
    let (because, sums) = (change.because()?.to_owned(), sums.clone());
    Some(Change::predicts(change.class, because, move |case: &Case<F::Params>| {
        change.predict(&requantized::<F>(&case.params, &sums.of::<F>(case)?)?)
    }))
}

/// Separates changes at some places of the results, which come after changes of all results: at few results both can be right.
pub(crate) fn by_place<F: Fused>(changes: Vec<Change<F>>) -> (Vec<Change<F>>, Vec<Change<F>>) {
    changes.into_iter().partition(|change| matches!(change.class, Class::Position | Class::TruncatedTail))
}

/// Returns the changes of the requantization.
pub(crate) fn of_requantization<F: Fused>(
    sums: &Sums<F::Params>,
    scheme: &Scheme,
    domain: &F::Domain,
) -> Vec<Change<F>> {
    let causes = Requantize::changes(&Promised::plain(*scheme), F::requantize_domain(domain));
    causes.into_iter().filter_map(|change| of_output(sums, change)).collect()
}

/// Returns the changes to the scheme of a group. If the kernel keeps its contract, its own multiplication comes first.
pub(crate) fn in_group<F: Fused>(
    group: usize,
    contract: &Promised,
    scheme: &Promised,
    domain: &F::Domain,
    kept: bool,
) -> Vec<Change<F>> {
    let (contract, scheme) = (contract.at(group), scheme.at(group));
    let own = if kept { own(&Sums::default(), contract, scheme) } else { None };
    own.into_iter().chain(F::changes(&Promised::plain(*scheme), domain)).collect()
}

/// Replaces the multiplication of the reference by the contract's.
fn own<F: Fused>(sums: &Sums<F::Params>, contract: &Scheme, reference: &Scheme) -> Option<Change<F>> {
    let change = multiplication(reference, contract);
    let (because, sums, base) = (change.because()?.to_owned(), sums.clone(), total(contract));
    Some(Change::predicts(change.class, because, move |case: &Case<F::Params>| {
        let sums = sums.of::<F>(case)?;
        match requantized::<F>(&case.params, &sums) {
            Some(posed) => change.predict(&posed),
            None => F::finished(&base, &case.params, &sums),
        }
    }))
}

/// Returns the path from the reference to a contract's scheme: the steps of the requantization. If no requantization follows the product, the first
/// step already gives the contract's results.
pub(crate) fn path<F: Fused>(contract: &Promised, reference: &Promised, _: &F::Domain) -> Vec<PathStep<F>> {
    let sums = Sums::default();
    let base = total(&contract.scheme);
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
        PathStep::of(Change::predicts(class, class.name(), move |case: &Case<F::Params>| {
            let sums = sums.of::<F>(case)?;
            match requantized::<F>(&case.params, &sums) {
                Some(posed) => step.expected(&posed),
                None => F::finished(&base, &case.params, &sums),
            }
        }))
    };
    let steps = steps_to(&contract.scheme, &reference.scheme);
    steps.into_iter().map(step).collect()
}
