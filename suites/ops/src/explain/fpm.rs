//! Explanation of a fixed point multiply: schemes and kernels for one accumulator.

use super::evidence::{Against, Evidence, Found, Ran};
use super::kernel::{self, Part};
use super::sheet::Line;
use super::{Comparison, Explained, Party, word_losses, words};
use crate::fpm::promised::{Promised, ShiftDirection};
use crate::fpm::{case, parameters};
use thiserror::Error;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::{Class, Effort};
use tiebreak_engine::operation::Case;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{self, Channel, Kernel};
use tiebreak_impls::mutants;
use tiebreak_oracle::fpm::{Scheme, Trace, exact};
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_reports::text;

/// Input of the explanation.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Accumulator.
    pub x: i32,
    /// Multiplier and shift.
    pub channel: Channel,
    /// Fractional bits of the multiplier.
    pub q: u32,
}

/// Error: an input that cannot be explained.
#[derive(Debug, Error)]
pub enum Unexplainable {
    /// The scheme of a kernel's contract is unknown.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The input is outside a kernel's domain.
    #[error("kernel `{kernel}` promises nothing at m={m} s={s} Q={q}: its domain is {domain}")]
    OutsideDomain {
        /// Name of the kernel.
        kernel: &'static str,
        /// Multiplier.
        m: i32,
        /// Shift.
        s: i32,
        /// Fractional bits.
        q: u32,
        /// Text of the domain.
        domain: String,
    },
}

/// Finds a kernel or mutant by name.
pub fn find(name: &str) -> Result<&'static Kernel, UnknownName> {
    let mutant = || mutants::fpm::find(name).map(|m| &m.kernel);
    let mutants = mutants::fpm::mutants().iter().map(|m| m.kernel.name);
    fpm::find(name)
        .or_else(mutant)
        .ok_or_else(|| unknown("kernel", name, fpm::kernels().iter().map(|k| k.name).chain(mutants)))
}

/// Returns the steps of one result of a case.
pub fn steps(scheme: &Promised, case: &Case<fpm::Batch>, at: usize) -> Option<Vec<Line>> {
    let (p, x) = (&case.params.params, *case.tensors[0].get(at)?);
    let own = scheme.at(scheme.zone_at(at, &case.params));
    let trace = own.definition.trace(own.overflow, x.into(), &parameters(p.channels[at % p.channels.len()], p.q));
    Some(trace.steps.iter().map(Line::from).collect())
}

/// Explains schemes and kernels for one input. All are compared with the first scheme; if `schemes` is empty, each kernel with its contract's
/// scheme. A kernel that breaks its contract on the input is always compared with its contract too.
pub fn explain(input: Input, schemes: &[Scheme], kernels: &[&Kernel]) -> Result<Explained, Unexplainable> {
    let mut table = Table { input, schemes: Vec::new(), parties: Vec::new(), comparisons: Vec::new() };
    for scheme in schemes {
        table.scheme(*scheme);
    }
    for right in 1..table.schemes.len() {
        let (left, right) = (&table.schemes[0], &table.schemes[right]);
        let comparison = table.schemes_apart(left, right);
        table.comparisons.push(comparison);
    }
    for kernel in kernels {
        let Input { x, channel: Channel { multiplier: m, shift: s }, q } = input;
        if !kernel.contract.domain.contains(m, s, q) {
            let domain = crate::listing::domain_with_format(&kernel.contract.domain);
            return Err(Unexplainable::OutsideDomain { kernel: kernel.name, m, s, q, domain });
        }
        for part in kernel::parts(kernel, x, input.channel, q)? {
            table.part(kernel, &part, schemes.first())?;
        }
    }
    let (exact, parties) = (exact(input.x.into(), &parameters(input.channel, input.q)), table.parties);
    Ok(Explained { exact, parties, comparisons: table.comparisons })
}

/// Returns the cause of the differences between two schemes on the accumulators examined, and the differing accumulator nearest to zero. The outputs
/// follow the second scheme and are judged against the first.
pub(super) fn between(input: Input, first: &Scheme, own: &Scheme) -> (Option<Found>, Option<i32>) {
    let Input { x, channel, q } = input;
    let mut xs = vec![x];
    xs.extend(accumulators(channel, q, &Effort::Quick.budget(), 0));
    let value = |x: i32| own.fast(x.into(), &parameters(channel, q)).map(|v| v as i32);
    let ran = xs
        .into_iter()
        .filter_map(|x| Some(Ran { case: case(q, vec![channel], vec![x]), outs: vec![value(x)?], counted: 1 }));
    let evidence = Evidence { near: ran.collect(), far: Vec::new() };
    let (contract, scheme) = (Promised::plain(*own), Promised::plain(*first));
    let group = contract.group(contract.rest(), ShiftDirection::of(channel.shift));
    let against = Against { contract: &contract, scheme: &scheme, domain: &Domain::ALL, group, kept: true };
    (evidence.cause(&against), evidence.nearest_difference(&against))
}

struct Table {
    input: Input,
    /// Schemes with their indices among the parties.
    schemes: Vec<(Scheme, usize)>,
    parties: Vec<Party>,
    comparisons: Vec<Comparison>,
}

impl Table {
    /// Returns the index of a scheme among the parties; adds the scheme if it is new.
    fn scheme(&mut self, scheme: Scheme) -> usize {
        if let Some((_, at)) = self.schemes.iter().find(|(s, _)| s.label() == scheme.label()) {
            return *at;
        }
        let Input { x, channel, q } = self.input;
        let trace = scheme.definition.trace(scheme.overflow, x.into(), &parameters(channel, q));
        // The label omits the usual overflow policy, unless another party has that name.
        let label = scheme.label();
        let short = text::scheme(&label);
        let taken = self.parties.iter().any(|p| p.name == short);
        self.parties.push(Party::of(if taken { &label } else { short }.to_owned(), trace));
        self.schemes.push((scheme, self.parties.len() - 1));
        self.parties.len() - 1
    }

    /// Compares two schemes.
    fn schemes_apart(&self, (first, left): &(Scheme, usize), (own, right): &(Scheme, usize)) -> Comparison {
        let (found, nearest) = between(self.input, first, own);
        self.comparison(*left, *right, found, nearest)
    }

    /// Adds a kernel, or its body or tail.
    fn part(&mut self, kernel: &Kernel, part: &Part, first: Option<&Scheme>) -> Result<(), UnknownName> {
        let Input { x, channel, q } = self.input;
        let value = |scheme: &Scheme| scheme.fast(x.into(), &parameters(channel, q));
        let promised = part.promised(kernel)?;
        // A scheme that leaves overflow open counts as the wrapping scheme if both give the same value.
        let same = |f: &&Scheme| f.definition.name == promised.definition.name && value(f) == value(&promised);
        let breaks = part.broken.is_some() && value(&promised) != Some(part.value.into());
        let own = match first {
            Some(first) if same(&first) => Some(0),
            Some(_) if !breaks => None,
            _ => Some(self.scheme(promised)),
        };
        let place = part.place.map_or_else(String::new, |p| format!(" ({p})"));
        let traced = part
            .steps
            .as_ref()
            .map(|(steps, overflow)| Trace::of(steps.iter().cloned(), *overflow, x.into(), &parameters(channel, q)));
        self.parties.push(Party {
            name: format!("{}{place}", kernel.name),
            value: Some(part.value.into()),
            trace: traced,
            steps_of: Some(part.steps_of.clone()),
        });
        let right = self.parties.len() - 1;
        if let Some(left) = own {
            let nearest = part.nearest_break(kernel)?;
            self.comparisons.push(self.comparison(left, right, part.broken.clone(), nearest));
        }
        if let Some(first) = first.filter(|f| !same(f)) {
            let (found, nearest) = part.against(kernel, *first)?;
            self.comparisons.push(self.comparison(0, right, found, nearest));
        }
        Ok(())
    }

    fn comparison(&self, left: usize, right: usize, found: Option<Found>, nearest: Option<i32>) -> Comparison {
        let (a, b) = (&self.parties[left], &self.parties[right]);
        let overall = found.as_ref().map(|e| e.class);
        let here = word_losses::class(a, b, &parameters(self.input.channel, self.input.q));
        let sentence = match (a.value == b.value, overall) {
            (false, overall) => words::sentence(a, b, overall.or(Some(Class::Unexplained)), here),
            (true, overall) => words::agreement(a, b, nearest.zip(overall)),
        };
        Comparison { left, right, class: here.or(overall), because: found.map(|e| e.because), sentence }
    }
}
