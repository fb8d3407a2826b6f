//! Explanation of a requantization: schemes and kernels for one accumulator.

use super::sheet::Line;
use super::{Comparison, Explained, Party, fpm, word_losses, words};
use crate::requantize::{Promised, Requantize, multiply, parameters};
use anyhow::{Result, anyhow, bail};
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::{Class, Effort};
use tiebreak_engine::erased::AnyCase;
use tiebreak_engine::explain::cause;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::operation::{
    Case, Change, Observed, Operation, changes_in, contract, differs, find, kernels, mutants,
};
use tiebreak_engine::run::answers::outs;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Kernel, Params};
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Effect, Trace};
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::requantize::{Definition, Parameters, Scheme};
use tiebreak_oracle::word::{INT32, Overflow};

/// Finds a kernel or mutant by name.
pub fn kernel(name: &str) -> Result<&'static Kernel, UnknownName> {
    let every = kernels::<Requantize>().iter().chain(mutants::<Requantize>().iter().map(|mutant| &mutant.kernel));
    find::<Requantize>(name).ok_or_else(|| unknown("kernel", name, every.map(|kernel| kernel.name)))
}

/// Returns the steps of one result of a case.
pub fn steps(scheme: &<Requantize as Operation>::Scheme, case: &Case<Params>, at: usize) -> Option<Vec<Line>> {
    let (p, acc) = (&case.params, *case.tensors[0].get(at)?);
    let trace = scheme.at_result(at, p.len).trace(&parameters(p), at % p.channels.len(), acc);
    Some(trace.steps.iter().map(Line::from).collect())
}

/// Explains schemes and kernels for one accumulator and one channel, compared with the first scheme or else with the first kernel's contract.
pub fn explain(acc: i32, p: &Parameters, schemes: &[Scheme], kernels: &[&Kernel]) -> Result<Explained> {
    let promised =
        kernels.first().map(|kernel| Ok::<_, UnknownName>(contract::<Requantize>(kernel)?.scheme)).transpose()?;
    let schemes: Vec<Scheme> = if schemes.is_empty() { promised.into_iter().collect() } else { schemes.to_vec() };
    let mut explained = of_schemes(acc, p, &schemes)?;
    for kernel in kernels {
        run(acc, p, &mut explained, kernel)?;
    }
    Ok(explained)
}

fn of_schemes(acc: i32, p: &Parameters, schemes: &[Scheme]) -> Result<Explained> {
    for scheme in schemes {
        p.check(scheme.definition, 1)?;
    }
    let traces: Vec<Trace> = schemes.iter().map(|s| s.trace(p, 0, acc)).collect();
    let exact = traces.first().map_or_else(Rational::new, |t| t.exact.clone());
    let named = schemes.iter().zip(traces);
    let parties: Vec<Party> =
        named.map(|(s, t)| Party { steps_of: other_meaning(s), ..Party::of(s.label(), t) }).collect();
    let comparisons = (1..schemes.len()).map(|right| compare(acc, p, schemes, &parties, right)).collect();
    Ok(Explained { exact, parties, comparisons })
}

/// Runs a kernel in a batch, and alone, and adds the second result if it differs.
fn run(acc: i32, p: &Parameters, explained: &mut Explained, kernel: &Kernel) -> Result<()> {
    let (multiplier, shift) = p.channels[0];
    let channel = Channel { multiplier, shift };
    let mut all = vec![acc];
    all.extend(accumulators(channel, 31, &Effort::Quick.budget(), 0));
    let own = contract::<Requantize>(kernel)?;
    // The batch is cut so that all its elements are outside the contract's tail deviation, which the single element shows.
    all.truncate(all.len() - (0..all.len()).filter(|at| own.is_tail(*at, all.len())).count());
    let [batch, single] = [all, vec![acc]].map(|acc| ran(p, channel, acc, kernel));
    let (batch, single) = (batch?, single?);
    let places: &[(&str, &Observed<Params>)] = match batch.outs[0] == single.outs[0] {
        _ if own.tail.is_some() => &[(" (body)", &batch), (" (tail)", &single)],
        true => &[("", &batch)],
        false => &[(" (in a batch)", &batch), (" (alone)", &single)],
    };
    for (place, seen) in places {
        let promised = own.at_result(0, seen.outs.len());
        let keeps = !differs(&seen.expected[..1], &seen.outs[..1]);
        let described = if keeps { "gives what it promises here" } else { "breaks its promise here" };
        let found = (seen.differ > 0).then(|| {
            let plain = Promised::plain(promised);
            let causes = changes_in::<Requantize>(0, &plain, &plain, &kernel.contract.domain, false);
            let causes: Vec<_> = causes.into_iter().map(Change::erased).collect();
            cause::explain(&causes, &[&Observed::of::<Requantize>((*seen).clone())])
        });
        explained.parties.push(Party {
            name: format!("{}{place}", kernel.name),
            value: Some(seen.outs[0].into()),
            trace: keeps.then(|| promised.trace(p, 0, acc)),
            steps_of: Some(format!("{described}, {}", tiebreak_reports::text::scheme(&promised.label()))),
        });
        let right = explained.parties.len() - 1;
        let (a, b) = (&explained.parties[0], &explained.parties[right]);
        let overall = found.as_ref().map(|found| found.class);
        let here = word_losses::class(a, b, &multiplied(p));
        let class = here.or(overall);
        let sentence = match (a.value == b.value, overall) {
            (false, overall) => words::sentence(a, b, overall.or(Some(Class::OtherScheme)), here),
            (true, None) => words::both_give(a, b),
            (true, Some(class)) => {
                format!(
                    "{}; on other accumulators examined it breaks its promise, class {class}",
                    words::both_give(a, b)
                )
            }
        };
        let because = found.map(|found| found.because);
        explained.comparisons.push(Comparison { left: 0, right, class, because, sentence });
    }
    Ok(())
}

/// Runs a kernel on accumulators of one channel; an error if its domain does not cover the parameters.
fn ran(p: &Parameters, channel: Channel, acc: Vec<i32>, kernel: &Kernel) -> Result<Observed<Params>> {
    let params = Params {
        len: acc.len(),
        channels: vec![channel],
        bias: p.bias.clone(),
        zero_point: p.zero_point,
        min: p.min,
        max: p.max,
    };
    let domain = &kernel.contract.domain;
    if !Requantize::covers(domain, &params) {
        let described = Requantize::domain_text(domain);
        bail!("kernel `{}` promises nothing of these parameters: its domain is {described}", kernel.name);
    }
    let case = Case { params, tensors: [acc, Vec::new(), Vec::new()].into(), misalign: 0 };
    let expected = Requantize::expected(&contract::<Requantize>(kernel)?, &case)?;
    let given = outs(&mut Lane::host().lease(), kernel.name, &AnyCase::of::<Requantize>(case.clone()), expected.len());
    let outs = given.map_err(|failure| anyhow!("kernel `{}`: {failure}", kernel.name))?;
    let wrong = expected.iter().zip(&outs).filter(|(right, got)| right.is_some_and(|right| right != **got));
    Ok(Observed { differ: wrong.count(), case, outs, expected, faulty: Vec::new(), due: Vec::new() })
}

/// Describes the meaning of the multiplier in legacy schemes.
fn other_meaning(scheme: &Scheme) -> Option<String> {
    let legacy = matches!(scheme.definition, Definition::Legacy | Definition::LegacyTiesAway);
    legacy.then(|| "the multiplier is an integer here: (acc + bias) * m * 2^s".to_owned())
}

fn compare(acc: i32, p: &Parameters, schemes: &[Scheme], parties: &[Party], right: usize) -> Comparison {
    let (a, b) = (&parties[0], &parties[right]);
    let (overall, because) = why(acc, p, [&schemes[0], &schemes[right]], [a, b]);
    let here = overall.and_then(|_| word_losses::class(a, b, &multiplied(p)));
    let sentence = match a.value == b.value {
        true => words::both_give(a, b) + &hidden(a, b),
        false => words::sentence(a, b, overall, here),
    };
    Comparison { left: 0, right, class: here.or(overall), because, sentence }
}

/// Returns the parameters of the multiplication.
fn multiplied(p: &Parameters) -> tiebreak_oracle::fpm::Parameters {
    let (multiplier, shift) = p.channels[0];
    tiebreak_oracle::fpm::Parameters::q31(multiplier, shift)
}

/// Returns the class of the difference and its hypothesis; `None` if the multiplier is an integer for only one of the schemes.
fn why(acc: i32, p: &Parameters, schemes: [&Scheme; 2], parties: [&Party; 2]) -> (Option<Class>, Option<String>) {
    match schemes.map(multiply) {
        [Some(first), Some(own)] => {
            let (multiplier, shift) = p.channels[0];
            let biased = INT32.wrap(i128::from(acc) + i128::from(p.bias[0])) as i32;
            let input = fpm::Input { x: biased, channel: Channel { multiplier, shift }, q: 31 };
            let (found, _) = fpm::between(input, &first, &own);
            // If the multiplication does not differ, the word after the zero point does.
            let placed = || parties[0].value != parties[1].value;
            let (class, because) = found.map_or((None, None), |found| (Some(found.class), Some(found.because)));
            (class.or_else(|| placed().then(|| by_word(schemes, parties, Class::Saturation))), because)
        }
        [None, None] => (Some(by_word(schemes, parties, Class::TieDirection)), None),
        _ => (None, None),
    }
}

/// Returns the class of a result word that wraps in one of the parties, as `verify` names it; otherwise `rest`.
fn by_word(schemes: [&Scheme; 2], parties: [&Party; 2], rest: Class) -> Class {
    let wraps = |party: &Party| party.trace.iter().any(|t| t.events().any(|t| t.effect == Effect::Wrapped));
    match schemes.map(|scheme| scheme.overflow) {
        _ if !parties.into_iter().any(wraps) => rest,
        [Overflow::Saturate, _] => Class::MissingSaturation,
        [_, Overflow::Saturate] => Class::Saturation,
        _ => Class::Wrap,
    }
}

/// Describes a difference that the clamp hides.
fn hidden(a: &Party, b: &Party) -> String {
    let before = |party: &Party| {
        let clamp = party.trace.as_ref()?.steps.iter().find(|t| matches!(t.step, Step::Clamp(..)))?;
        Some(clamp.before.clone())
    };
    match (before(a), before(b)) {
        (Some(left), Some(right)) if left != right => {
            format!("; the clamp hides that they have {left} and {right} before it")
        }
        _ => String::new(),
    }
}
