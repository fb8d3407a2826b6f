//! An operation's functions on values without its types, each from the function with the types.

use super::capabilities;
use super::operation::{AnyOperation, Change, Erased};
use super::typed::Of;
use super::values::{Domain, Kernel, Lists, Params, Scheme};
use crate::operation::arguments::Arguments;
use crate::operation::case::{Case, Spec};
use crate::operation::errors::{CaseError, Unposable};
use crate::operation::expected::Expected;
use crate::operation::selection::{CaseSelection, Wanted};
use crate::operation::{self, Capabilities, NamedScheme, Operation};
use serde::Deserialize;
use serde_json::Value as Json;
use std::any::TypeId;
use std::fmt::{self, Debug};
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_impls::Form;
use tiebreak_impls::contract::Contract;
use tiebreak_impls::elsewhere;
use tiebreak_oracle::Rational;
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::ledger::Value;
use tiebreak_worker::protocol::Job;

impl<O: Operation> AnyOperation for Of<O> {
    fn id(&self) -> TypeId {
        TypeId::of::<O>()
    }

    fn name(&self) -> &'static str {
        O::OP
    }

    fn tensors(&self) -> &'static [&'static str] {
        O::TENSORS
    }

    fn catalogue(&self) -> &'static str {
        O::CATALOGUE
    }

    fn capabilities(&self) -> &'static Capabilities<Erased> {
        const { &capabilities::of::<O>() }
    }

    fn lists(&self) -> &'static Lists {
        Lists::of::<O>()
    }

    fn elsewhere(&self, name: &str) -> Option<&'static Kernel> {
        elsewhere::find(O::OP, name).map(Lists::elsewhere::<O>)
    }

    fn adopt(&self, name: &'static str, summary: &'static str, contract: &Contract<Domain>) {
        let Contract { promise, ref domain, deviations, source } = *contract;
        let contract = Contract { promise, domain: domain.typed::<O>().clone(), deviations, source };
        let portable = operation::kernels::<O>()[0].portable;
        elsewhere::add(O::OP, operation::Kernel::<O> { name, summary, contract, portable, native: None });
    }

    fn schemes(&self) -> Vec<Described> {
        O::Scheme::described()
    }

    fn scheme(&self, text: &str) -> Result<Scheme, UnknownName> {
        O::Scheme::named(text).map(Scheme::of::<O>)
    }

    fn params(&self, json: &Json) -> serde_json::Result<Params> {
        O::Params::deserialize(json).map(Params::of::<O>)
    }

    fn domain(&self, json: &Json) -> serde_json::Result<Domain> {
        O::Domain::deserialize(json).map(Domain::of::<O>)
    }

    fn params_of(&self, arguments: &Arguments) -> Result<Params, CaseError> {
        O::from_arguments(arguments).map(Params::of::<O>)
    }

    fn isa_path(&self, kernel: &Kernel, form: Form) -> String {
        kernel.typed::<O>().isa_path(form)
    }

    fn instructions(&self, kernel: &Kernel) -> Option<&'static [&'static str]> {
        kernel.typed::<O>().native.as_ref().map(|native| native.instructions)
    }

    fn reference(&self, kernel: &Kernel, wanted: &Wanted) -> Option<String> {
        O::reference(kernel.typed::<O>(), wanted)
    }

    fn label(&self, scheme: &Scheme) -> String {
        scheme.typed::<O>().label()
    }

    fn expected(&self, scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        O::expected(scheme.typed::<O>(), &case.typed::<O>())
    }

    fn exact(&self, scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        O::exact(scheme.typed::<O>(), &case.typed::<O>())
    }

    fn rational(&self, scheme: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        O::rational(scheme.typed::<O>(), &case.typed::<O>())
    }

    fn changes(&self, scheme: &Scheme, domain: &Domain) -> Vec<Change> {
        O::changes(scheme.typed::<O>(), domain.typed::<O>()).into_iter().map(operation::Change::erased).collect()
    }

    fn widest_domain(&self, scheme: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        O::widest_domain(scheme.typed::<O>(), ty, arguments).map(Domain::of::<O>)
    }

    fn dimensions(&self, domain: &Domain, params: &Params, t: usize) -> Vec<usize> {
        O::dimensions(domain.typed::<O>(), params.typed::<O>(), t)
    }

    fn range(&self, domain: &Domain, t: usize) -> RangeInclusive<i32> {
        O::range(domain.typed::<O>(), t)
    }

    fn covers(&self, domain: &Domain, params: &Params) -> bool {
        O::covers(domain.typed::<O>(), params.typed::<O>())
    }

    fn domain_text(&self, domain: &Domain) -> String {
        O::domain_text(domain.typed::<O>())
    }

    fn domain_json(&self, domain: &Domain) -> serde_json::Result<Json> {
        serde_json::to_value(domain.typed::<O>())
    }

    fn write_domain(&self, domain: &Domain, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        domain.typed::<O>().fmt(f)
    }

    fn own_plan(&self, domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        O::own_plan(domain.typed::<O>(), selection, budget, seed).into_iter().map(Spec::of::<O>).collect()
    }

    fn shrink_candidates(&self, case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        O::shrink_candidates(&case.typed::<O>(), domain.typed::<O>()).into_iter().map(Case::of::<O>).collect()
    }

    fn job(&self, kernel: &str, params: &Params) -> Job {
        operation::job::<O>(kernel, params.typed::<O>())
    }

    fn neutral_element(&self, params: &Params, t: usize) -> i32 {
        O::neutral_element(params.typed::<O>(), t)
    }

    fn arguments(&self, params: &Params) -> Vec<(String, Value)> {
        O::arguments(params.typed::<O>())
    }

    fn params_json(&self, params: &Params) -> serde_json::Result<Json> {
        serde_json::to_value(params.typed::<O>())
    }

    fn are_equal(&self, one: &Params, other: &Params) -> bool {
        one.typed::<O>() == other.typed::<O>()
    }

    fn write_params(&self, params: &Params, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        params.typed::<O>().fmt(f)
    }
}
