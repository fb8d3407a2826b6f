//! Identification of a kernel's scheme, from lane, operation and domain only.
//!
//! Every scheme of the operation is a candidate. The plan of the domain provides the inputs. Each answer excludes the schemes with other results, and
//! the inputs that excluded a scheme are kept. The remaining schemes give the results of the kernel on the whole plan. If no scheme remains,
//! [`apart`] repeats the plan, for whole vectors and for the following elements separately, and [`causes`] explains the nearest schemes.

mod apart;
mod causes;

pub use apart::Apart;
pub use causes::{Cause, family};

use crate::erased::{Domain, Op, Params, Scheme};
use crate::lane::Lane;
use crate::offered;
use crate::operation::case::{Case, Spec};
use crate::operation::expected::Expected;
use crate::operation::selection::CaseSelection;
use crate::plan::plans;
use crate::run::answers::outs;
use anyhow::{Result, bail};
use serde::Serialize;
use tiebreak_common::budget::Effort;
use tiebreak_common::parallel;
use tiebreak_reports::text;
use tiebreak_worker::protocol::{Offer, Own};

/// Number of cases evaluated by the schemes at once.
const AT_ONCE: usize = 64;

/// Number of cases on which excluded schemes are still compared, to find the nearest of them.
const COMPARED: usize = 64;

/// Overflow policies of schemes.
const POLICIES: [&str; 3] = ["", ":wrap", ":saturate"];

/// Input with the schemes excluded by its result.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// Case for `verify --case`: reduced to a single element if the kernel gives the same result, or only the parameters of a large case.
    pub case: String,
    /// Index of the first result that excludes the first of the schemes.
    pub at: usize,
    /// Result of the kernel at `at`.
    pub got: String,
    /// Result of the first scheme at `at`.
    pub gives: String,
    /// Schemes excluded by the input.
    pub excluded: Vec<String>,
}

/// Scheme excluded by an answer.
#[derive(Clone, Debug, Serialize)]
pub struct Excluded {
    /// Name and policy.
    pub scheme: String,
    /// Number of compared results equal to the kernel's.
    pub explained: u64,
    /// Number of results with a value, on the first cases of the plan.
    pub compared: u64,
    /// Without a remaining scheme: the change to the scheme that reproduces all results of the first cases, if any; for the nearest schemes.
    pub cause: Option<Cause>,
}

/// Scheme that gives the kernel's results, but fewer values than the remaining schemes.
#[derive(Clone, Debug, Serialize)]
pub struct Partly {
    /// Name and policy.
    pub scheme: String,
    /// Number of results with a value.
    pub judged: u64,
}

/// Outcome of an identification.
#[derive(Clone, Debug, Serialize)]
pub struct Identified {
    /// Name of the operation.
    pub op: &'static str,
    /// Name of the kernel.
    pub kernel: String,
    /// Scheme that the lane claims, if any.
    pub claimed: Option<String>,
    /// Number of candidate schemes, each policy separately.
    pub candidates: usize,
    /// Remaining schemes with the most values; all give the same results on the whole plan.
    pub left: Vec<String>,
    /// Schemes with equal results but fewer values, because they are undefined or overflow on some inputs.
    pub partly: Vec<Partly>,
    /// Without a remaining scheme: schemes of whole vectors and of the following elements, which together give the results.
    pub apart: Option<Apart>,
    /// Inputs that excluded schemes, in order.
    pub inputs: Vec<Input>,
    /// Excluded schemes: first schemes with a known cause, then schemes that give most of the results.
    pub excluded: Vec<Excluded>,
    /// Number of results of the first cases, on which excluded schemes are compared.
    pub examined: u64,
    /// Number of cases of the plan.
    pub cases: usize,
    /// Number of cases without results: refused, outside the kernel's domain, or failed.
    pub refused: usize,
    /// Number of results of the kernel.
    pub results: u64,
    /// Number of results for which the first remaining scheme has a value.
    pub judged: u64,
    /// First reason for a case without results.
    pub refusal: Option<String>,
    /// Kernel of this project whose domain, or part of whose domain, was used.
    pub like: &'static str,
}

/// Candidate scheme of the kernel.
struct Candidate {
    label: String,
    explained: u64,
    compared: u64,
    /// Number of results with a value, of the whole plan.
    judged: u64,
    out: bool,
}

/// Returns every scheme of an operation with its label, each policy separately.
pub(crate) fn schemes(op: Op) -> Vec<(Scheme, String)> {
    let mut out: Vec<(Scheme, String)> = Vec::new();
    for described in op.schemes() {
        for policy in POLICIES {
            let Ok(scheme) = op.scheme(&format!("{}{policy}", described.name)) else { continue };
            let label = scheme.label();
            if out.iter().all(|(_, known)| *known != label) {
                out.push((scheme, label));
            }
        }
    }
    out
}

fn candidates(labels: Vec<String>) -> Vec<Candidate> {
    let candidate = |label| Candidate { label, explained: 0, compared: 0, judged: 0, out: false };
    labels.into_iter().map(candidate).collect()
}

/// Identifies a kernel that a lane offers.
pub fn identify(op: Op, offer: &Offer, lane: &Lane, effort: Effort, seed: u64) -> Result<Identified> {
    let (like, domain) = offered::asked(op, offer)?;
    if op.find(&offer.kernel).is_none() {
        let own = Own { scheme: None, like: Some(like.to_owned()), domain: offer.own.domain.clone() };
        offered::adopt(op, &Offer { own, ..offer.clone() })?;
    }
    let mut specs = plans::whole(&domain, &CaseSelection::default(), &effort.budget(), seed);
    // A plan also has cases for other kernels, which this domain does not cover.
    specs.retain(|spec| domain.covers(&spec.params));
    let (schemes, labels): (Vec<Scheme>, Vec<String>) = schemes(op).into_iter().unzip();
    let mut candidates = candidates(labels);
    let mut identified = Identified {
        op: op.name(),
        kernel: offer.kernel.clone(),
        claimed: offer.own.scheme.clone().or_else(|| offer.own.like.as_deref().and_then(|like| promised(op, like))),
        candidates: candidates.len(),
        left: Vec::new(),
        partly: Vec::new(),
        apart: None,
        inputs: Vec::new(),
        excluded: Vec::new(),
        examined: 0,
        cases: specs.len(),
        refused: 0,
        results: 0,
        judged: 0,
        refusal: None,
        like,
    };
    let asked: Probe<'_> = Probe { lane, kernel: &offer.kernel, domain: &domain };
    let mut first = Vec::new();
    for (round, chunk) in specs.chunks(AT_ONCE).enumerate() {
        let compares_all = round * AT_ONCE < COMPARED;
        let (cases, answered) = asked.answers(chunk, seed);
        let wanted: Vec<bool> = candidates.iter().map(|one| compares_all || !one.out).collect();
        let predicted = predictions(&schemes, &wanted, &cases);
        for (at, given) in answered.into_iter().enumerate() {
            match given {
                Err(reason) => {
                    identified.refused += 1;
                    identified.refusal.get_or_insert(reason);
                }
                Ok(given) => {
                    identified.results += given.len() as u64;
                    if compares_all {
                        identified.examined += given.len() as u64;
                    }
                    let excluded = exclude(&mut candidates, &predicted, at, &given, compares_all);
                    if let Some(first) = excluded.first() {
                        let input = asked.input(&schemes[*first], &cases[at], &given);
                        let excluded = excluded.iter().map(|at| candidates[*at].label.clone()).collect();
                        identified.inputs.extend(input.map(|input| Input { excluded, ..input }));
                    }
                    if compares_all {
                        first.push((cases[at].clone(), given));
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
    if identified.left.is_empty() {
        causes::add(&asked, &mut identified.excluded, &first);
    }
    Ok(identified)
}

/// Returns the results of each scheme for each case, if they are wanted.
fn predictions(schemes: &[Scheme], wanted: &[bool], cases: &[Case<Params>]) -> Vec<Vec<Option<Expected>>> {
    let places: Vec<usize> = (0..schemes.len()).collect();
    parallel::map(&places, |at| {
        let scheme = wanted[*at].then_some(&schemes[*at]);
        cases.iter().map(|case| (scheme?).expected(case).ok()).collect()
    })
}

/// Returns the scheme of a kernel of this project.
fn promised(op: Op, kernel: &str) -> Option<String> {
    Some(op.find(kernel)?.promise().ok()?.label())
}

/// Kernel under identification.
struct Probe<'a> {
    lane: &'a Lane,
    kernel: &'a str,
    domain: &'a Domain,
}

/// Cases, and the results of each case or the reason for missing results.
type Answers = (Vec<Case<Params>>, Vec<Result<Vec<i32>, String>>);

impl Probe<'_> {
    fn answers(&self, specs: &[Spec<Params>], seed: u64) -> Answers {
        let cases: Vec<_> = specs.iter().filter_map(|spec| spec.case(self.domain, seed)).collect();
        let answered = parallel::map(&cases, |case| self.answer(case));
        (cases, answered)
    }

    /// Returns the results of the kernel for a case.
    fn answer(&self, case: &Case<Params>) -> Result<Vec<i32>, String> {
        if let Some(why) = self.lane.exhausted() {
            return Err(why);
        }
        let results = self.domain.sizes(&case.params).map_err(|error| error.to_string())?.outputs;
        outs(&mut self.lane.lease(), self.kernel, case, results).map_err(|failure| failure.to_string())
    }

    /// Returns the input for a case that excludes a scheme, reduced to the element if the reduced case also excludes the scheme.
    fn input(&self, scheme: &Scheme, case: &Case<Params>, given: &[i32]) -> Option<Input> {
        let at = Self::differs(scheme, case, given)?;
        let alone = self.domain.isolate_result(case, at).into_iter().find_map(|(small, _)| {
            let given = self.answer(&small).ok()?;
            let at = Self::differs(scheme, &small, &given)?;
            crate::case::text::arguments(self.domain, &small)?;
            Some((small, given, at))
        });
        let (case, given, at) = alone.unwrap_or_else(|| (case.clone(), given.to_vec(), at));
        let element = self.domain.result_element(&case.params);
        let expected = scheme.expected(&case).ok()?;
        let words = at / element.words() * element.words()..(at / element.words() + 1) * element.words();
        let gives: Option<Vec<i32>> = expected[words.clone()].iter().copied().collect();
        Some(Input {
            case: written(self.domain, &case),
            at: at / element.words(),
            got: element.described(&given[words]).to_string(),
            gives: element.described(&gives?).to_string(),
            excluded: Vec::new(),
        })
    }

    /// Returns the index of the first word with another value than the scheme's.
    fn differs(scheme: &Scheme, case: &Case<Params>, given: &[i32]) -> Option<usize> {
        let expected = scheme.expected(case).ok()?;
        expected.iter().zip(given).position(|(expected, got)| expected.is_some_and(|expected| expected != *got))
    }
}

/// Excludes the schemes with other results for case `case`, and returns their indices.
fn exclude(
    candidates: &mut [Candidate],
    predicted: &[Vec<Option<Expected>>],
    case: usize,
    given: &[i32],
    counts: bool,
) -> Vec<usize> {
    let mut excluded = Vec::new();
    for (at, candidate) in candidates.iter_mut().enumerate() {
        let Some(predicted) = &predicted[at][case] else { continue };
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
            excluded.push(at);
        }
    }
    excluded
}

fn conclude(identified: &mut Identified, candidates: Vec<Candidate>) {
    let (mut out, mut left): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| candidate.out);
    left.retain(|candidate| candidate.judged > 0);
    left.sort_by_key(|candidate| std::cmp::Reverse(candidate.judged));
    // Of two schemes with equally many of the results, the one without a value elsewhere is nearer than the one with other values.
    out.sort_by_key(|candidate| (std::cmp::Reverse(candidate.explained), candidate.compared));
    identified.judged = left.first().map_or(0, |candidate| candidate.judged);
    let (left, partly): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|candidate| candidate.judged == identified.judged);
    identified.partly =
        partly.into_iter().map(|Candidate { label, judged, .. }| Partly { scheme: label, judged }).collect();
    identified.left = left.into_iter().map(|candidate| candidate.label).collect();
    let excluded =
        |Candidate { label: scheme, explained, compared, .. }| Excluded { scheme, explained, compared, cause: None };
    identified.excluded = out.into_iter().map(excluded).collect();
}

/// Formats the case as text, or only its parameters.
fn written(domain: &Domain, case: &Case<Params>) -> String {
    let small = crate::case::text::arguments(domain, case);
    text::case(&small.unwrap_or_else(|| case.params.arguments().into_iter().collect()))
}
