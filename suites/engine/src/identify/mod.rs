//! Which scheme a kernel follows. Nothing is known of the kernel but its lane, its operation and its domain.
//!
//! Every scheme of the operation is a candidate. The plan of the domain has the inputs; each answer excludes the schemes that give something else, and the inputs
//! that excluded one are kept. What is left gives the results of the kernel on the whole plan. If nothing is left, [`apart`] poses the plan again, to whole
//! vectors and to the elements after them.

mod apart;

pub use apart::Apart;

use crate::lane::Lane;
use crate::operation::asked::Asked;
use crate::operation::case::{Case, Spec};
use crate::operation::expected::Expected;
use crate::operation::scheme::NamedScheme;
use crate::operation::{self, Operation, find, offered, promise};
use crate::plan::plans;
use crate::run::answers::outs;
use anyhow::{Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use tiebreak_common::budget::Effort;
use tiebreak_impls::operation::Operation as _;
use tiebreak_impls::protocol::{Offer, Own};
use tiebreak_reports::text;

/// Cases that are posed to the schemes at once.
const AT_ONCE: usize = 64;

/// Cases on which the excluded schemes are still compared, so that the nearest of them is known.
const COMPARED: usize = 64;

/// Policies of a scheme's overflow.
const POLICIES: [&str; 3] = ["", ":wrap", ":saturate"];

/// An input that excluded schemes.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// The case, as `verify --case` takes it: of the element alone if the kernel gives the same for it; the parameters alone if it is large.
    pub case: String,
    /// Place of the first result that excludes the first of the schemes.
    pub at: usize,
    /// What the kernel gives there.
    pub got: String,
    /// What the first of the schemes gives there.
    pub gives: String,
    /// Schemes that it excluded.
    pub excluded: Vec<String>,
}

/// A scheme that an answer excluded.
#[derive(Clone, Debug, Serialize)]
pub struct Excluded {
    /// Name and policy.
    pub scheme: String,
    /// Results of the compared ones that it gives.
    pub explained: u64,
    /// Results to which it gives a value, on the first cases of the plan.
    pub compared: u64,
}

/// A scheme that gives the same, where it gives a value.
#[derive(Clone, Debug, Serialize)]
pub struct Partly {
    /// Name and policy.
    pub scheme: String,
    /// Results that it gives too.
    pub judged: u64,
}

/// What is known of a kernel afterwards.
#[derive(Clone, Debug, Serialize)]
pub struct Identified {
    /// Operation.
    pub op: &'static str,
    /// Kernel.
    pub kernel: String,
    /// The scheme that the lane claims, if it claims one.
    pub claimed: Option<String>,
    /// Schemes that were candidates, each policy apart.
    pub candidates: usize,
    /// Schemes that are left: first those that give a value to the most inputs. They give the same results on the whole plan.
    pub left: Vec<String>,
    /// Schemes that give the kernel's results too, and give no value to more of them, because they are not defined there or overflow.
    pub partly: Vec<Partly>,
    /// If none is left: schemes of whole vectors and of the rest, which together give the results.
    pub apart: Option<Apart>,
    /// Inputs that excluded schemes, in their order.
    pub inputs: Vec<Input>,
    /// The excluded schemes, the nearest first.
    pub excluded: Vec<Excluded>,
    /// Cases of the plan.
    pub cases: usize,
    /// Cases that the kernel refused, left out as outside its domain, or answered with a failure.
    pub refused: usize,
    /// Results of the kernel.
    pub results: u64,
    /// Results of the plan that the first scheme that is left gives too.
    pub judged: u64,
    /// Why the kernel gave no results, the first time.
    pub refusal: Option<String>,
    /// The kernel of this project in whose domain it was asked, or a part of it.
    pub like: &'static str,
}

/// A scheme that may be the kernel's.
struct Candidate<O: Operation> {
    scheme: O::Scheme,
    label: String,
    explained: u64,
    compared: u64,
    /// Results to which it gives a value, of the whole plan.
    judged: u64,
    out: bool,
}

/// Every scheme of an operation with its label, each policy apart.
pub(crate) fn schemes<O: Operation>() -> Vec<(O::Scheme, String)> {
    let mut out: Vec<(O::Scheme, String)> = Vec::new();
    for described in O::Scheme::described() {
        for policy in POLICIES {
            let Ok(scheme) = O::Scheme::named(&format!("{}{policy}", described.name)) else { continue };
            let label = scheme.label();
            if out.iter().all(|(_, known)| *known != label) {
                out.push((scheme, label));
            }
        }
    }
    out
}

fn candidates<O: Operation>() -> Vec<Candidate<O>> {
    let candidate = |(scheme, label)| Candidate { scheme, label, explained: 0, compared: 0, judged: 0, out: false };
    schemes::<O>().into_iter().map(candidate).collect()
}

/// Identifies a kernel that a lane offers.
pub fn identify<O: Operation>(offer: &Offer, lane: &Lane, effort: Effort, seed: u64) -> Result<Identified> {
    let (like, domain) = offered::asked::<O>(offer)?;
    if O::Impl::known(&offer.kernel).is_err() {
        let own = Own { scheme: None, like: Some(like.to_owned()), domain: offer.own.domain.clone() };
        offered::adopt::<O>(&Offer { own, ..offer.clone() })?;
    }
    let mut specs = plans::whole::<O>(&domain, &Asked::default(), &effort.budget(), seed);
    // A plan also has cases that an operation tries in every kernel.
    specs.retain(|spec| O::covers(&domain, &spec.params));
    let mut candidates = candidates::<O>();
    let mut identified = Identified {
        op: O::OP,
        kernel: offer.kernel.clone(),
        claimed: offer.own.scheme.clone().or_else(|| offer.own.like.as_deref().and_then(promised::<O>)),
        candidates: candidates.len(),
        left: Vec::new(),
        partly: Vec::new(),
        apart: None,
        inputs: Vec::new(),
        excluded: Vec::new(),
        cases: specs.len(),
        refused: 0,
        results: 0,
        judged: 0,
        refusal: None,
        like,
    };
    let asked: Put<'_, O> = Put { lane, kernel: &offer.kernel, domain: &domain };
    for (round, chunk) in specs.chunks(AT_ONCE).enumerate() {
        let compares_all = round * AT_ONCE < COMPARED;
        let (cases, answered) = asked.answers(chunk, seed);
        let predicted =
            predictions::<_, O>(&candidates, &cases, |one| (compares_all || !one.out).then_some(&one.scheme));
        for (at, given) in answered.into_iter().enumerate() {
            match given {
                Err(reason) => {
                    identified.refused += 1;
                    identified.refusal.get_or_insert(reason);
                }
                Ok(given) => {
                    identified.results += given.len() as u64;
                    let predictions = predicted.iter().map(|cases| cases[at].as_ref());
                    let excluded = exclude(&mut candidates, predictions, &given, compares_all);
                    if let Some(first) = excluded.first() {
                        let scheme = candidates.iter().find(|candidate| candidate.label == *first);
                        let input = scheme.and_then(|scheme| asked.input(&scheme.scheme, &cases[at], &given));
                        identified.inputs.extend(input.map(|input| Input { excluded, ..input }));
                    }
                }
            }
        }
        if !compares_all && candidates.iter().all(|one| one.out) {
            break;
        }
    }
    if identified.refused == identified.cases {
        let why = identified.refusal.unwrap_or_default();
        bail!("{} gave no results for any of the {} cases of its plan: {why}", offer.kernel, identified.cases);
    }
    if candidates.iter().all(|one| one.out || one.judged == 0) {
        identified.apart = apart::found(&asked, &specs, seed);
    }
    conclude(&mut identified, candidates);
    Ok(identified)
}

/// What each candidate gives for each case, if a scheme of the candidate is asked.
fn predictions<C: Sync, O: Operation>(
    candidates: &[C],
    cases: &[Case<O::Params>],
    scheme: impl Fn(&C) -> Option<&O::Scheme> + Sync,
) -> Vec<Vec<Option<Expected>>>
where
    O::Scheme: Sync,
{
    let of = |candidate: &C| {
        let scheme = scheme(candidate);
        cases.iter().map(|case| O::expected(scheme?, case).ok()).collect()
    };
    candidates.par_iter().map(of).collect()
}

/// The scheme of a kernel of this project.
fn promised<O: Operation>(kernel: &str) -> Option<String> {
    Some(promise::<O>(find::<O>(kernel)?).ok()?.label())
}

/// A kernel that is asked.
struct Put<'a, O: Operation> {
    lane: &'a Lane,
    kernel: &'a str,
    domain: &'a O::Domain,
}

/// Cases, and the results of each or the reason why there are none.
type Answers<O> = (Vec<Case<<O as Operation>::Params>>, Vec<Result<Vec<i32>, String>>);

impl<O: Operation> Put<'_, O> {
    fn answers(&self, specs: &[Spec<O::Params>], seed: u64) -> Answers<O> {
        let cases: Vec<_> = specs.iter().filter_map(|spec| spec.case::<O>(self.domain, seed)).collect();
        let answered = cases.par_iter().map(|case| self.answer(case)).collect();
        (cases, answered)
    }

    /// What the kernel gives for a case, or why it gives nothing.
    fn answer(&self, case: &Case<O::Params>) -> Result<Vec<i32>, String> {
        if let Some(why) = self.lane.exhausted() {
            return Err(why);
        }
        let results = operation::sizes::<O>(self.domain, &case.params).map_err(|error| error.to_string())?.outputs;
        outs::<O>(&mut self.lane.lease(), self.kernel, case, results).map_err(|failure| failure.to_string())
    }

    /// A case that excludes a scheme, cut down to the element if that excludes the scheme too.
    fn input(&self, scheme: &O::Scheme, case: &Case<O::Params>, given: &[i32]) -> Option<Input> {
        let at = Self::differs(scheme, case, given)?;
        let alone = operation::alone::<O>(case, self.domain, at).into_iter().find_map(|(small, _)| {
            let given = self.answer(&small).ok()?;
            let at = Self::differs(scheme, &small, &given)?;
            crate::case::text::arguments::<O>(self.domain, &small)?;
            Some((small, given, at))
        });
        let (case, given, at) = alone.unwrap_or_else(|| (case.clone(), given.to_vec(), at));
        let element = operation::result_element::<O>(self.domain, &case.params);
        let expected = O::expected(scheme, &case).ok()?;
        let words = at / element.words() * element.words()..(at / element.words() + 1) * element.words();
        let gives: Option<Vec<i32>> = expected[words.clone()].iter().copied().collect();
        Some(Input {
            case: written::<O>(self.domain, &case),
            at: at / element.words(),
            got: element.described(&given[words]).to_string(),
            gives: element.described(&gives?).to_string(),
            excluded: Vec::new(),
        })
    }

    /// The first result that the scheme does not give.
    fn differs(scheme: &O::Scheme, case: &Case<O::Params>, given: &[i32]) -> Option<usize> {
        let expected = O::expected(scheme, case).ok()?;
        expected.iter().zip(given).position(|(expected, got)| expected.is_some_and(|expected| expected != *got))
    }
}

/// Excludes the schemes that give other results, and names them.
fn exclude<'a, O: Operation>(
    candidates: &mut [Candidate<O>],
    predicted: impl Iterator<Item = Option<&'a Expected>>,
    given: &[i32],
    counts: bool,
) -> Vec<String> {
    let mut excluded = Vec::new();
    for (candidate, predicted) in candidates.iter_mut().zip(predicted) {
        let Some(predicted) = predicted else { continue };
        let values = || predicted.iter().zip(given).map(|(right, got)| right.map(|right| right == *got));
        let (compared, explained) =
            values().flatten().fold((0, 0), |(all, same), is_same| (all + 1, same + u64::from(is_same)));
        candidate.judged += compared;
        if counts {
            (candidate.compared, candidate.explained) =
                (candidate.compared + compared, candidate.explained + explained);
        }
        if explained < compared && !candidate.out {
            candidate.out = true;
            excluded.push(candidate.label.clone());
        }
    }
    excluded
}

fn conclude<O: Operation>(identified: &mut Identified, candidates: Vec<Candidate<O>>) {
    let (mut out, mut left): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| candidate.out);
    left.retain(|candidate| candidate.judged > 0);
    left.sort_by_key(|candidate| std::cmp::Reverse(candidate.judged));
    let share = |candidate: &Candidate<O>| candidate.explained as f64 / candidate.compared.max(1) as f64;
    out.sort_by(|one, other| share(other).total_cmp(&share(one)));
    identified.judged = left.first().map_or(0, |candidate| candidate.judged);
    let (left, partly): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|candidate| candidate.judged == identified.judged);
    identified.partly =
        partly.into_iter().map(|Candidate { label, judged, .. }| Partly { scheme: label, judged }).collect();
    identified.left = left.into_iter().map(|candidate| candidate.label).collect();
    let excluded = |Candidate { label: scheme, explained, compared, .. }| Excluded { scheme, explained, compared };
    identified.excluded = out.into_iter().map(excluded).collect();
}

/// The case as text, or its parameters alone.
fn written<O: Operation>(domain: &O::Domain, case: &Case<O::Params>) -> String {
    let small = crate::case::text::arguments::<O>(domain, case);
    text::case(&small.unwrap_or_else(|| O::arguments(&case.params).into_iter().collect()))
}
