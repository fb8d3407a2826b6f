//! Changes to a scheme, listed once for each operation. The cause of a difference, the path from a reference to a contract, and the texts of
//! `explain` are all searched in the list.
//!
//! Three searches share the list: `verify` looks for a cause, the path from reference to contract takes the changes that lead nearer to the contract,
//! and `explain` takes the fewest changes that give the other result.

use crate::operation::case::Case;
use crate::operation::expected::Expected;
use crate::operation::observed::Observed;
use crate::operation::types::Types;
use tiebreak_common::class::Class;
use tiebreak_oracle::scheme::{Registered, Scheme};

/// Predicts the results of a kernel with the change; `None` if the change predicts nothing for the case.
type Predict<O> = Box<dyn Fn(&Case<<O as Types>::Params>) -> Option<Expected> + Send + Sync>;

/// Searches all outputs at once, for families of many changes: the permutations of a layout.
type Search<O> = Box<dyn Fn(&[&Observed<<O as Types>::Params>]) -> Option<String> + Send + Sync>;

/// Checks if the evidence allows the change.
pub(crate) type Condition<O> = Box<dyn Fn(&[&Observed<<O as Types>::Params>]) -> bool + Send + Sync>;

/// Checks if the change applies at the parameters.
pub(crate) type AppliesTo<O> = Box<dyn Fn(&<O as Types>::Params) -> bool + Send + Sync>;

/// Returns the direction of a change, relative to a target scheme.
pub(crate) type LeadsTo<O> = Box<dyn Fn(&<O as Types>::Scheme) -> Lead<<O as Types>::Scheme> + Send + Sync>;

/// Direction of a change, relative to a target scheme.
#[derive(Clone, Copy, Debug)]
pub enum Lead<S> {
    /// Not nearer to the target.
    Away,
    /// Nearer to the target, by steps that no scheme has.
    Nearer,
    /// To a scheme: the target, or a scheme nearer to the target.
    To(S),
}

/// Change to a scheme.
pub struct Change<O: Types> {
    /// Class of the differences that the change makes.
    pub class: Class,
    pub(crate) kind: Kind<O>,
    pub(crate) may_be: Option<Condition<O>>,
    pub(crate) applies: Option<AppliesTo<O>>,
    pub(crate) leads: Option<LeadsTo<O>>,
}

pub(crate) enum Kind<O: Types> {
    Predicts(String, Predict<O>),
    Found(Search<O>),
}

impl<O: Types> Change<O> {
    /// Creates a change that predicts every output.
    pub fn predicts(
        class: Class,
        because: impl Into<String>,
        predict: impl Fn(&Case<O::Params>) -> Option<Expected> + Send + Sync + 'static,
    ) -> Self {
        Self::of(class, Kind::Predicts(because.into(), Box::new(predict)))
    }

    /// Creates a change to the case: the kernel computes the scheme on a modified case.
    pub fn of_case(
        class: Class,
        because: impl Into<String>,
        scheme: O::Scheme,
        change: impl Fn(&mut Case<O::Params>) + Send + Sync + 'static,
    ) -> Self
    where
        O::Scheme: 'static,
    {
        Self::predicts(class, because, move |case| {
            let mut case = case.clone();
            change(&mut case);
            O::expected(&scheme, &case).ok()
        })
    }

    /// Creates a change to the parameters: the kernel computes the scheme at other parameters.
    pub fn of_params(class: Class, because: impl Into<String>, scheme: O::Scheme, change: fn(&mut O::Params)) -> Self
    where
        O::Scheme: 'static,
    {
        Self::of_case(class, because, scheme, move |case| change(&mut case.params))
    }

    /// Creates a change that loses the results of each row after its last whole vector: they are 0. `row` gives the length of a row.
    pub fn lost(because: impl Into<String>, scheme: O::Scheme, row: fn(&O::Params) -> usize, vector: usize) -> Self
    where
        O::Scheme: 'static,
    {
        Self::predicts(Class::TruncatedTail, because, move |case| {
            let row = row(&case.params);
            let mut out = O::expected(&scheme, case).ok()?;
            let lost = out.iter_mut().enumerate().filter(|(at, _)| at % row >= row - row % vector);
            lost.for_each(|(_, v)| *v = Some(0));
            Some(out)
        })
    }

    /// Creates a change to another scheme.
    pub fn scheme(class: Class, because: impl Into<String>, scheme: O::Scheme) -> Self {
        Self::predicts(class, because, move |case| O::expected(&scheme, case).ok())
    }

    /// Creates a change to each other scheme, with the class of the difference from `scheme`. `next` gives the scheme that follows on the path to a
    /// target. `noun` names the kernel's results.
    pub fn others<D: Registered + Send + Sync + 'static>(
        noun: &str,
        scheme: Scheme<D>,
        others: impl Iterator<Item = D>,
        class: impl Fn(D) -> Class,
        next: fn(&Scheme<D>, &Scheme<D>) -> Option<Scheme<D>>,
    ) -> Vec<Self>
    where
        O: Types<Scheme = Scheme<D>>,
    {
        let change = |definition: D| {
            let because = format!("the {noun} is {}", definition.name());
            let change = Self::scheme(class(definition), because, Scheme { definition, ..scheme });
            change.leading(move |target| match next(&scheme, target) {
                Some(next) if next.definition.name() == definition.name() => Lead::To(next),
                _ => Lead::Away,
            })
        };
        let mut out: Vec<Self> = others.filter(|other| other.name() != scheme.definition.name()).map(change).collect();
        // With little evidence, schemes of several systems give the same results, so the more specific classes come first.
        out.sort_by_cached_key(|change| change.class == Class::OtherScheme);
        out
    }

    /// Creates the change to the contract's scheme, for differences from a reference that no other cause explains. `noun` names the kernel's results.
    pub fn own(noun: &str, contract: &O::Scheme) -> Self {
        Self::scheme(Class::OtherScheme, format!("the {noun} are those of {}", O::label(contract)), contract.clone())
    }

    /// Creates a change that is searched in the outputs; `search` describes the change that it finds.
    pub fn found(
        class: Class,
        search: impl Fn(&[&Observed<O::Params>]) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::of(class, Kind::Found(Box::new(search)))
    }

    fn of(class: Class, kind: Kind<O>) -> Self {
        Self { class, kind, may_be: None, applies: None, leads: None }
    }

    /// Restricts the change to evidence that meets a condition.
    pub fn only_if(self, may_be: impl Fn(&[&Observed<O::Params>]) -> bool + Send + Sync + 'static) -> Self {
        Self { may_be: Some(Box::new(may_be)), ..self }
    }

    /// Restricts the change to parameters that meet a condition.
    pub fn at(self, applies: impl Fn(&O::Params) -> bool + Send + Sync + 'static) -> Self {
        Self { applies: Some(Box::new(applies)), ..self }
    }

    /// Sets the schemes that the change leads to.
    pub fn leading(self, leads: impl Fn(&O::Scheme) -> Lead<O::Scheme> + Send + Sync + 'static) -> Self {
        Self { leads: Some(Box::new(leads)), ..self }
    }

    /// Returns the direction of the change, relative to a target scheme.
    pub fn lead(&self, target: &O::Scheme) -> Lead<O::Scheme> {
        self.leads.as_ref().map_or(Lead::Away, |leads| leads(target))
    }

    /// True if the change applies at the parameters.
    pub fn applies(&self, params: &O::Params) -> bool {
        self.applies.as_ref().is_none_or(|applies| applies(params))
    }

    /// Returns the description of the change; `None` if the description depends on the outputs.
    pub fn because(&self) -> Option<&str> {
        match &self.kind {
            Kind::Predicts(because, _) => Some(because),
            Kind::Found(_) => None,
        }
    }

    /// Predicts the results of a case; `None` if the change makes no prediction.
    pub fn predict(&self, case: &Case<O::Params>) -> Option<Expected> {
        match &self.kind {
            Kind::Predicts(_, predict) if self.applies(&case.params) => predict(case),
            _ => None,
        }
    }

    /// Describes the change if it reproduces the evidence; `None` otherwise.
    pub fn explains(&self, evidence: &[&Observed<O::Params>]) -> Option<String> {
        self.reproduces(evidence).map(|(because, _)| because)
    }

    /// Returns description and predictions for the cases, if the change reproduces the evidence. Changes searched in the outputs have no predictions.
    pub(crate) fn reproduces(&self, evidence: &[&Observed<O::Params>]) -> Option<(String, Vec<Expected>)> {
        let found = match &self.kind {
            Kind::Predicts(because, _) => {
                let one = |seen: &Observed<O::Params>| {
                    self.predict(&seen.case).filter(|predicted| reproduces::<O>(predicted, seen))
                };
                // Small cases refute most changes, so a case of a million results is rarely predicted.
                let mut predicted = vec![None; evidence.len()];
                for at in smallest_first(evidence) {
                    predicted[at] = Some(one(evidence[at])?);
                }
                let predicted: Vec<_> = predicted.into_iter().flatten().collect();
                // Without evidence, a change explains nothing.
                (!predicted.is_empty()).then(|| (because.clone(), predicted))?
            }
            Kind::Found(search) => (search(evidence)?, Vec::new()),
        };
        self.may_be.as_ref().is_none_or(|may_be| may_be(evidence)).then_some(found)
    }
}

/// Returns the indices of the evidence, the case with the fewest results first.
pub(crate) fn smallest_first<P>(evidence: &[&Observed<P>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..evidence.len()).collect();
    order.sort_by_key(|at| evidence[*at].outs.len());
    order
}

/// Step on the path from the reference to the scheme of a contract: changes to the previous step, and results.
pub struct PathStep<O: Types> {
    pub(crate) changes: Vec<Change<O>>,
    pub(crate) scheme: Option<O::Scheme>,
    pub(crate) is_last: bool,
}

impl<O: Types> PathStep<O> {
    /// Creates a step without a scheme.
    pub fn of(change: Change<O>) -> Self {
        Self { changes: vec![change], scheme: None, is_last: false }
    }

    /// True if the step is the contract's scheme.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Returns the class of a difference that this step reproduces and no earlier step does.
    pub fn class(&self, params: &O::Params) -> Class {
        let class = self.changes.iter().find(|change| change.applies(params)).map(|change| change.class);
        class.unwrap_or(Class::OtherScheme)
    }

    /// Computes the results of the step; `None` if the step predicts nothing for the case.
    pub fn expected(&self, case: &Case<O::Params>) -> Option<Expected> {
        match &self.scheme {
            Some(scheme) => O::expected(scheme, case).ok(),
            None => self.changes.iter().find_map(|change| change.predict(case)),
        }
    }

    /// Returns the scheme of the step, if any.
    pub fn scheme(&self) -> Option<&O::Scheme> {
        self.scheme.as_ref()
    }
}

/// Returns the path from the reference to a contract: for each scheme the first change that leads nearer. Empty if no change leads to the contract.
pub fn path<O: Types>(contract: &O::Scheme, reference: &O::Scheme, domain: &O::Domain) -> Vec<PathStep<O>> {
    let mut out = Vec::new();
    let (mut at, end) = (reference.clone(), O::label(contract));
    loop {
        let leading = |change: Change<O>| match change.lead(contract) {
            Lead::To(scheme) => Some((change, scheme)),
            _ => None,
        };
        let mut leading = O::changes(&at, domain).into_iter().filter_map(leading);
        let Some((first, scheme)) = leading.next() else { return out };
        // One change may have different classes at different parameters.
        let name = O::label(&scheme);
        let others = leading.filter(|(_, other)| O::label(other) == name).map(|(change, _)| change);
        let changes = std::iter::once(first).chain(others).collect();
        at = scheme.clone();
        out.push(PathStep { changes, scheme: Some(scheme), is_last: name == end });
    }
}

/// True if a prediction gives every result for which the scheme expects a value. A word predicted without a value must pass
/// [`Causes::matches_undefined`](crate::operation::Causes::matches_undefined).
fn reproduces<O: Types>(predicted: &Expected, seen: &Observed<O::Params>) -> bool {
    if predicted.len() != seen.outs.len() {
        return false;
    }
    let words = seen.words();
    let is_open = |at: usize| seen.expected[at].is_none();
    let none = |at: usize| O::matches_undefined(&seen.case.params, &seen.outs, at) != Some(false);
    let is = |at, predicted: Option<i32>, out| predicted.map_or_else(|| none(at), |predicted| predicted == out);
    let mut results = predicted.iter().zip(&seen.outs).enumerate();
    results.all(|(at, (predicted, out))| is_open(at) || seen.is_faulty(at / words) || is(at, *predicted, *out))
}
