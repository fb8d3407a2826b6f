//! What may be done otherwise than a scheme says. An operation lists the changes to a scheme once: the cause of a difference, the way from a reference to a
//! contract, and the words of `explain` are all looked for in that list.
//!
//! Three commands share the list: `verify` searches it for a cause, the path from reference to contract takes the changes
//! that lead nearer to the contract, and `explain` takes the fewest changes that give the other result.

use crate::operation::case::Case;
use crate::operation::expected::Expected;
use crate::operation::observed::Observed;
use crate::operation::{Operation, label};
use tiebreak_common::class::Class;
use tiebreak_oracle::scheme::{Registered, Scheme};

/// What a kernel would give if the change were made; `None` where it says nothing about the case.
type Predict<O> = Box<dyn Fn(&Case<<O as Operation>::Params>) -> Option<Expected> + Send + Sync>;

/// Looks at all outputs at once, for changes that are many: the permutation that a layout is off by.
type Search<O> = Box<dyn Fn(&[&Observed<<O as Operation>::Params>]) -> Option<String> + Send + Sync>;

/// Whether a change may have been made at all.
type Condition<O> = Box<dyn Fn(&[&Observed<<O as Operation>::Params>]) -> bool + Send + Sync>;

/// Whether a change is one at these parameters.
type AppliesTo<O> = Box<dyn Fn(&<O as Operation>::Params) -> bool + Send + Sync>;

/// Where a change leads on the way to a scheme.
type LeadsTo<O> = Box<dyn Fn(&<O as Operation>::Scheme) -> Lead<<O as Operation>::Scheme> + Send + Sync>;

/// Where a change leads on the way to a scheme.
#[derive(Clone, Copy, Debug)]
pub enum Lead<S> {
    /// No nearer to it.
    Away,
    /// Nearer to it, by steps that no scheme has.
    Nearer,
    /// To this scheme, which is it or nearer to it.
    To(S),
}

/// One thing that is done otherwise than a scheme says.
pub struct Change<O: Operation> {
    /// Class of differences that it makes.
    pub class: Class,
    kind: Kind<O>,
    may_be: Option<Condition<O>>,
    applies: Option<AppliesTo<O>>,
    leads: Option<LeadsTo<O>>,
}

enum Kind<O: Operation> {
    Predicts(String, Predict<O>),
    Found(Search<O>),
}

impl<O: Operation> Change<O> {
    /// A change that predicts every output.
    pub fn predicts(
        class: Class,
        because: impl Into<String>,
        predict: impl Fn(&Case<O::Params>) -> Option<Expected> + Send + Sync + 'static,
    ) -> Self {
        Self::of(class, Kind::Predicts(because.into(), Box::new(predict)))
    }

    /// A kernel that does what a scheme does on a case with something changed.
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

    /// A kernel that does what a scheme does at other parameters.
    pub fn of_params(class: Class, because: impl Into<String>, scheme: O::Scheme, change: fn(&mut O::Params)) -> Self
    where
        O::Scheme: 'static,
    {
        Self::of_case(class, because, scheme, move |case| change(&mut case.params))
    }

    /// Another scheme.
    pub fn scheme(class: Class, because: impl Into<String>, scheme: O::Scheme) -> Self {
        Self::predicts(class, because, move |case| O::expected(&scheme, case).ok())
    }

    /// Each of some other schemes, with the class of what separates it from this one, and as a change to the scheme that is next on the way to another.
    /// `noun` names what a kernel gives.
    pub fn others<D: Registered + Send + Sync + 'static>(
        noun: &str,
        scheme: Scheme<D>,
        others: impl Iterator<Item = D>,
        class: impl Fn(D) -> Class,
        next: fn(&Scheme<D>, &Scheme<D>) -> Option<Scheme<D>>,
    ) -> Vec<Self>
    where
        O: Operation<Scheme = Scheme<D>>,
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
        // On little evidence schemes of several systems give the same: what tells more comes first.
        out.sort_by_key(|change| change.class == Class::OtherScheme);
        out
    }

    /// The contract's own scheme: the cause of differences from a reference that no other cause explains better. `noun` names what a kernel gives.
    pub fn own(noun: &str, contract: &O::Scheme) -> Self {
        Self::scheme(Class::OtherScheme, format!("the {noun} are those of {}", label::<O>(contract)), contract.clone())
    }

    /// A change that is looked for in the outputs; what is found is described in words.
    pub fn found(
        class: Class,
        search: impl Fn(&[&Observed<O::Params>]) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::of(class, Kind::Found(Box::new(search)))
    }

    fn of(class: Class, kind: Kind<O>) -> Self {
        Self { class, kind, may_be: None, applies: None, leads: None }
    }

    /// The same change, where the evidence is such that it may have been made.
    pub fn only_if(self, may_be: impl Fn(&[&Observed<O::Params>]) -> bool + Send + Sync + 'static) -> Self {
        Self { may_be: Some(Box::new(may_be)), ..self }
    }

    /// The same change, of its class at these parameters alone.
    pub fn at(self, applies: impl Fn(&O::Params) -> bool + Send + Sync + 'static) -> Self {
        Self { applies: Some(Box::new(applies)), ..self }
    }

    /// The same change as one on the way to some schemes.
    pub fn leading(self, leads: impl Fn(&O::Scheme) -> Lead<O::Scheme> + Send + Sync + 'static) -> Self {
        Self { leads: Some(Box::new(leads)), ..self }
    }

    /// Where it leads on the way to a scheme.
    pub fn lead(&self, target: &O::Scheme) -> Lead<O::Scheme> {
        self.leads.as_ref().map_or(Lead::Away, |leads| leads(target))
    }

    /// Whether it is a change at these parameters.
    pub fn applies(&self, params: &O::Params) -> bool {
        self.applies.as_ref().is_none_or(|applies| applies(params))
    }

    /// The change in words; `None` where they depend on what is found.
    pub fn because(&self) -> Option<&str> {
        match &self.kind {
            Kind::Predicts(because, _) => Some(because),
            Kind::Found(_) => None,
        }
    }

    /// The results that it predicts of a case; `None` where it predicts none.
    pub fn predict(&self, case: &Case<O::Params>) -> Option<Expected> {
        match &self.kind {
            Kind::Predicts(_, predict) if self.applies(&case.params) => predict(case),
            _ => None,
        }
    }

    /// What reproduces the evidence, in words; `None` where this change does not.
    pub fn explains(&self, evidence: &[&Observed<O::Params>]) -> Option<String> {
        self.reproduces(evidence).map(|(because, _)| because)
    }

    /// The same, with what the change predicts of each case; no predictions if it is looked for in the outputs.
    pub(crate) fn reproduces(&self, evidence: &[&Observed<O::Params>]) -> Option<(String, Vec<Expected>)> {
        let found = match &self.kind {
            Kind::Predicts(because, _) => {
                let one = |seen: &&Observed<O::Params>| {
                    self.predict(&seen.case).filter(|predicted| reproduces::<O>(predicted, seen))
                };
                let predicted: Vec<_> = evidence.iter().map(one).collect::<Option<_>>()?;
                // A prediction of no case explains nothing.
                (!predicted.is_empty()).then(|| (because.clone(), predicted))?
            }
            Kind::Found(search) => (search(evidence)?, Vec::new()),
        };
        self.may_be.as_ref().is_none_or(|may_be| may_be(evidence)).then_some(found)
    }
}

/// A step on the way from the reference to the scheme of a contract: the changes that make it of the one before, and what it gives.
pub struct PathStep<O: Operation> {
    changes: Vec<Change<O>>,
    scheme: Option<O::Scheme>,
    is_last: bool,
}

impl<O: Operation> PathStep<O> {
    /// A step that no scheme by itself is.
    pub fn of(change: Change<O>) -> Self {
        Self { changes: vec![change], scheme: None, is_last: false }
    }

    /// Whether it is the contract's scheme.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Class of a difference that this step, and none before it, reproduces.
    pub fn class(&self, params: &O::Params) -> Class {
        let class = self.changes.iter().find(|change| change.applies(params)).map(|change| change.class);
        class.unwrap_or(Class::OtherScheme)
    }

    /// What it gives; `None` where it says nothing about the case.
    pub fn expected(&self, case: &Case<O::Params>) -> Option<Expected> {
        match &self.scheme {
            Some(scheme) => O::expected(scheme, case).ok(),
            None => self.changes.iter().find_map(|change| change.predict(case)),
        }
    }

    /// The scheme, where it is one.
    pub fn scheme(&self) -> Option<&O::Scheme> {
        self.scheme.as_ref()
    }
}

/// The first change of each scheme that leads nearer to a contract's, from the reference on; empty if no change leads there.
pub fn path<O: Operation>(contract: &O::Scheme, reference: &O::Scheme, domain: &O::Domain) -> Vec<PathStep<O>> {
    let mut out = Vec::new();
    let (mut at, end) = (reference.clone(), label::<O>(contract));
    loop {
        let leading = |change: Change<O>| match change.lead(contract) {
            Lead::To(scheme) => Some((change, scheme)),
            _ => None,
        };
        let mut leading = O::changes(&at, domain).into_iter().filter_map(leading);
        let Some((first, scheme)) = leading.next() else { return out };
        // One change may have a class of its own at other parameters.
        let name = label::<O>(&scheme);
        let others = leading.filter(|(_, other)| label::<O>(other) == name).map(|(change, _)| change);
        let changes = std::iter::once(first).chain(others).collect();
        at = scheme.clone();
        out.push(PathStep { changes, scheme: Some(scheme), is_last: name == end });
    }
}

/// Whether every result of which the scheme expects a value is what a cause predicts. A prediction without a value reproduces nothing.
fn reproduces<O: Operation>(predicted: &Expected, seen: &Observed<O::Params>) -> bool {
    if predicted.len() != seen.outs.len() {
        return false;
    }
    let words = seen.words();
    let is_open = |at: usize| seen.expected[at].is_none();
    let none = |at: usize| (O::CAPABILITIES.causes.stands_for_none)(&seen.case.params, &seen.outs, at) != Some(false);
    let is = |at, predicted: Option<i32>, out| predicted.map_or_else(|| none(at), |predicted| predicted == out);
    let mut results = predicted.iter().zip(&seen.outs).enumerate();
    results.all(|(at, (predicted, out))| is_open(at) || seen.is_faulty(at / words) || is(at, *predicted, *out))
}
