//! Schemes of a contract: the promise, and another scheme for the results after the last whole vector of a row. A row has the output channels of a
//! pixel, the columns of a product, or all elements of a requantization or a cast.

use super::{Case, Change, Expected, NamedScheme, Operation, promised};
use tiebreak_common::class::Class;
use tiebreak_impls::contract::{Contract, Deviation, Region};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::Described;

/// Fractional bits of the multipliers of a requantization; a cast has no multipliers.
const Q31: u32 = 31;

/// Declared deviation of the results at the end of a row.
#[derive(Clone, Debug)]
pub struct Tail<S> {
    /// Part of a row that deviates.
    pub region: Region,
    /// Class of the deviating results.
    pub class: Class,
    /// Reason of the deviation.
    pub reason: &'static str,
    /// Scheme of the deviating results.
    pub scheme: S,
}

/// Scheme, with the deviation that a contract declares.
#[derive(Clone, Debug)]
pub struct Promised<S> {
    /// Scheme of the results outside the deviation.
    pub scheme: S,
    /// Deviation; `None` if the contract declares no deviation.
    pub tail: Option<Tail<S>>,
}

impl<S: NamedScheme> Tail<S> {
    /// Parses the declaration of a contract.
    pub fn of(deviation: &Deviation) -> Result<Self, UnknownName> {
        let (region, class, reason) = (deviation.region, deviation.class.parse()?, deviation.reason);
        Ok(Self { region, class, reason, scheme: promised(deviation.instead)? })
    }
}

impl<S> Tail<S> {
    /// True if result `index` of a row of `len` results is in the deviation.
    pub fn contains(&self, index: usize, len: usize) -> bool {
        self.region.contains(index, len, Q31)
    }
}

impl<S: NamedScheme> NamedScheme for Promised<S> {
    fn described() -> Vec<Described> {
        S::described()
    }

    fn named(text: &str) -> Result<Self, UnknownName> {
        S::named(text).map(Self::plain)
    }

    fn label(&self) -> String {
        self.scheme.label()
    }
}

impl<S: NamedScheme> Promised<S> {
    /// Wraps a scheme without a deviation.
    pub fn plain(scheme: S) -> Self {
        Self { scheme, tail: None }
    }

    /// Returns scheme and deviation of a contract.
    pub fn by<D>(contract: &Contract<D>) -> Result<Self, UnknownName> {
        let tail = contract.deviations.first().map(Tail::of).transpose()?;
        Ok(Self { scheme: promised(contract.promise)?, tail })
    }

    /// Returns the cause for a stale deviation: the kernel follows the contract's scheme in the deviation. `None` for other groups.
    pub fn stale<O: Operation<Scheme = Self>>(&self, scheme: &Self, group: usize) -> Option<Change<O>> {
        (group == 1 && scheme.tail.is_some()).then(|| {
            let because = "the contract's scheme is followed where a deviation is declared";
            Change::scheme(Class::StaleDeviation, because, Self::plain(self.scheme.clone()))
        })
    }

    /// True if result `index` of a row of `outputs` results is in the deviation.
    pub fn is_tail(&self, index: usize, outputs: usize) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.contains(index, outputs))
    }

    /// Returns the scheme of result `at`, in rows of `outputs`.
    pub fn at_result(&self, at: usize, outputs: usize) -> S {
        self.at(usize::from(self.is_tail(at % outputs, outputs))).clone()
    }

    /// Returns the group of each result, in rows of `outputs`: 1 in the deviation, 0 elsewhere. Empty if there is no deviation.
    pub fn groups(&self, outputs: usize, results: usize) -> Vec<usize> {
        if self.tail.is_none() {
            return Vec::new();
        }
        (0..results).map(|at| usize::from(self.is_tail(at % outputs, outputs))).collect()
    }

    /// Returns class and reason of the deviation.
    pub fn declared(&self) -> Vec<(Class, &'static str)> {
        self.tail.iter().map(|tail| (tail.class, tail.reason)).collect()
    }

    /// Returns, for each result of a case, the class of the deviation if the deviation changes the result.
    pub fn deviations<O: Operation<Scheme = Self>>(&self, case: &Case<O::Params>) -> Vec<Option<Class>> {
        let Some(tail) = &self.tail else { return Vec::new() };
        let plain = Self::plain(self.scheme.clone());
        let (Ok(with), Ok(without)) = (O::expected(self, case), O::expected(&plain, case)) else {
            return Vec::new();
        };
        with.iter().zip(without).map(|(with, without)| (*with != without).then_some(tail.class)).collect()
    }

    /// Returns the scheme of a group: 1 is the deviation, 0 the other results.
    pub fn at(&self, group: usize) -> &S {
        self.tail.as_ref().filter(|_| group == 1).map_or(&self.scheme, |tail| &tail.scheme)
    }

    /// Replaces the results in the deviation by the results of the deviating scheme, which `of` computes.
    pub fn joined<E>(
        &self,
        mut results: Expected,
        outputs: usize,
        of: impl Fn(&S) -> Result<Expected, E>,
    ) -> Result<Expected, E> {
        let Some(tail) = &self.tail else { return Ok(results) };
        if (0..outputs).any(|channel| self.is_tail(channel, outputs)) {
            let others = of(&tail.scheme)?;
            for (at, (result, other)) in results.iter_mut().zip(others).enumerate() {
                if self.is_tail(at % outputs, outputs) {
                    *result = other;
                }
            }
        }
        Ok(results)
    }
}
