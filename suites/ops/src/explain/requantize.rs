//! Requantization explained: schemes at one accumulator.

use super::{Comparison, Explained, Party, fpm, words};
use crate::requantize::multiply;
use tiebreak_common::class::Class;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Effect, Trace};
use tiebreak_oracle::requantize::{Definition, Parameters, Scheme};
use tiebreak_oracle::shape::ShapeError;
use tiebreak_oracle::word::{INT32, Overflow};

/// Schemes at one accumulator of one channel; all are compared with the first. `p` has one channel.
pub fn explain(acc: i32, p: &Parameters, schemes: &[Scheme]) -> Result<Explained, ShapeError> {
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

/// What the multiplier means to legacy schemes.
fn other_meaning(scheme: &Scheme) -> Option<String> {
    let legacy = matches!(scheme.definition, Definition::Legacy | Definition::LegacyTiesAway);
    legacy.then(|| "the multiplier is an integer here: (acc + bias) * m * 2^s".to_owned())
}

fn compare(acc: i32, p: &Parameters, schemes: &[Scheme], parties: &[Party], right: usize) -> Comparison {
    let (a, b) = (&parties[0], &parties[right]);
    let (class, because) = why(acc, p, [&schemes[0], &schemes[right]], [a, b]);
    let sentence =
        if a.value != b.value { words::sentence(a, b, class) } else { words::both_give(a, b) + &hidden(a, b) };
    Comparison { left: 0, right, class, because, sentence }
}

/// The class, and its hypothesis; `None` if only one of the two takes the multiplier for an integer.
fn why(acc: i32, p: &Parameters, schemes: [&Scheme; 2], parties: [&Party; 2]) -> (Option<Class>, Option<String>) {
    match schemes.map(multiply) {
        [Some(first), Some(own)] => {
            let (multiplier, shift) = p.channels[0];
            let biased = INT32.wrap(i128::from(acc) + i128::from(p.bias[0])) as i32;
            let input = fpm::Input { x: biased, channel: Channel { multiplier, shift }, q: 31 };
            let found = fpm::explain(input, &[first, own], &[]).ok().and_then(|e| e.comparisons.into_iter().next());
            // Where the multiplication does not separate them, the word after the zero point does.
            let placed = || parties[0].value != parties[1].value;
            let (class, because) = found.map_or((None, None), |c| (c.class, c.because));
            (class.or_else(|| placed().then(|| by_word(schemes, parties, Class::Saturation))), because)
        }
        [None, None] => (Some(by_word(schemes, parties, Class::TieDirection)), None),
        _ => (None, None),
    }
}

/// The class of a word that wraps in either and not in the other, as `verify` names it; otherwise `rest`.
fn by_word(schemes: [&Scheme; 2], parties: [&Party; 2], rest: Class) -> Class {
    let wraps = |party: &Party| party.trace.iter().any(|t| t.events().any(|t| t.effect == Effect::Wrapped));
    match schemes.map(|scheme| scheme.overflow) {
        _ if !parties.into_iter().any(wraps) => rest,
        [Overflow::Saturate, _] => Class::MissingSaturation,
        [_, Overflow::Saturate] => Class::Saturation,
        _ => Class::Wrap,
    }
}

/// What the clamp hides.
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
