//! Fixed point multiply in a run: catalogue first, then sampled cases, sweeps, and the harness's own mutants.

use super::rows::{self, OP};
use crate::fpm::catalogue::{self, Entry};
use crate::fpm::sampled::{Formats, Group, Record, Settled, Subject, run_batch, run_group, wide};
use crate::fpm::self_check;
use crate::fpm::shrink::{Freedom, shrink};
use crate::fpm::sweep::{self, SPACE};
use crate::fpm::tally::Account;
use crate::fpm::yardstick::{Norm, Yardstick};
use crate::listing;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::Value;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::Effort;
use tiebreak_common::parameters::{SWEPT, grid};
use tiebreak_engine::lane::Lane;
use tiebreak_engine::tensor::Parameter;
use tiebreak_engine::verify::coverage::{Plan, not_asked_again, outside_domain};
use tiebreak_engine::verify::{Pairs, Part, Request, failed_check, progress};
use tiebreak_engine::verify::{Verifies, every_name};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::{Channel, Fpm, Kernel, Params, kernels};
use tiebreak_impls::operation::Operation;
use tiebreak_oracle::fpm::Definition;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::ledger::{CatalogueRun, Coverage, OutsideDomain, Planned, SelfCheck, Unit};

/// Channels of one task: enough for a per-channel batch or two, few enough for many tasks.
const GROUP: usize = 10;
/// Groups whose records are held before they are added up, in order: enough to keep every core busy, few enough to bound memory.
const GROUPS_HELD: usize = 32;

/// The operation.
pub struct FixedPointMultiply;

impl Verifies for FixedPointMultiply {
    fn op(&self) -> &'static str {
        Fpm::NAME
    }

    fn names(&self) -> Vec<&'static str> {
        every_name::<Fpm>()
    }

    fn listed(&self) -> Vec<Value> {
        listing::fixed_point_multiply()
    }

    fn schemes(&self) -> Vec<Described> {
        Described::all::<&'static Definition>()
    }

    fn takes(&self, parameter: Parameter) -> bool {
        parameter == Parameter::Pairs
    }

    fn verify(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Part> {
        let named = names.iter().filter_map(|name| Fpm::find(name).ok());
        let kernels: Vec<&Kernel> = if names.is_empty() { kernels().iter().collect() } else { named.collect() };
        verify(request, &kernels, lanes)
    }
}

fn verify(request: &Request, kernels: &[&'static Kernel], lanes: &[Lane]) -> Result<Part> {
    let channels = channels(request);
    let mut part = Part::default();
    let covered = covered(request, kernels, lanes, &channels, &mut part)?;
    let reference = Norm::new(request.reference);
    let mut subjects = Vec::new();
    let formats = if request.pairs == Pairs::Grid && request.x.is_none() { 2 } else { 1 };
    for kernel in &covered {
        for lane in lanes {
            if lane.isa_path(OP, kernel.name).is_some() {
                subjects.push(Subject::new(kernel, lane, Some(&reference))?);
            } else {
                part.not_offered(&plan(request, kernel, &channels, formats), lane);
            }
        }
    }
    let catalogue = match (request.x, request.q) {
        (None, 31) => run_catalogue(request, &subjects, lanes)?,
        _ => Part::default(),
    };
    let sweeps = request.effort == Effort::Exhaustive && request.x.is_none();
    if !(sweeps && matches!(request.pairs, Pairs::Given(_))) {
        for (subject, record) in subjects.iter().zip(sampled(request, &subjects, &channels, &part)) {
            rows::record(request, subject, &record, Coverage::Sampled, &mut part);
            part.planned.push(planned(&plan(request, subject.kernel, &channels, formats), subject.lane, &record));
        }
        request.kept.stage(&part);
    }
    if sweeps {
        let swept = if request.pairs == Pairs::Grid { SWEPT.to_vec() } else { distinct(&channels) };
        let plans = subjects.iter().map(|subject| in_domain(subject, &swept).count()).sum::<usize>();
        let bar = progress("fpm sweep", plans * SPACE.chunks().count());
        for subject in &subjects {
            let record = sweep(subject, &swept, &bar);
            part.planned.push(planned(&plan(request, subject.kernel, &swept, 1), subject.lane, &record));
            if record.parameters > 0 {
                rows::record(request, subject, &record, swept_coverage(&record), &mut part);
                request.kept.stage(&part);
            }
        }
        bar.finish_and_clear();
    }
    part.extend(catalogue.without_findings_of(&part));
    if request.kernels.is_empty() && request.x.is_none() {
        let checks = self_checks(request, lanes)?;
        part.findings.extend(checks.iter().filter(|c| !c.passed).map(failed_check));
        part.self_checks = checks;
        part.unchecked(OP, lanes);
    }
    Ok(part)
}

/// What a kernel is to run: each pair in so many formats.
fn plan<'a>(request: &Request, kernel: &'a Kernel, channels: &[Channel], formats: u64) -> Plan<'a> {
    let domain = &kernel.contract.domain;
    let inside = |c: &Channel| domain.contains(c.multiplier, c.shift, request.q);
    let first = channels.iter().find(|c| !inside(c));
    let told = |c: &Channel| (format!("m={} s={}", c.multiplier, c.shift), domain_text(domain));
    Plan {
        op: OP,
        kernel: kernel.name,
        unit: Unit::Pair,
        given: request.pairs != Pairs::Grid,
        planned: channels.len() as u64 * formats,
        outside: outside_domain(channels.iter().filter(|c| !inside(c)).count() as u64, first.map(told)),
    }
}

/// What it ran in a lane. What it did not run and had not given up was outside its domain, by its pair or by another format of it.
fn planned(plan: &Plan<'_>, lane: &Lane, record: &Settled) -> Planned {
    let outside = plan.planned - record.parameters - record.given_up;
    let known = plan.outside.clone().map(|dropped| (dropped.first, dropped.because));
    let first = known.unwrap_or_else(|| (String::new(), "another format of the multiplier".to_owned()));
    let plan = Plan { outside: outside_domain(outside, Some(first)), ..*plan };
    plan.ran(lane, [not_asked_again(record.given_up)])
}

fn channels(request: &Request) -> Vec<Channel> {
    match &request.pairs {
        Pairs::Grid => grid(request.effort, request.seed),
        Pairs::Given(channels) => channels.clone(),
    }
}

fn distinct(channels: &[Channel]) -> Vec<Channel> {
    let mut out = channels.to_vec();
    out.sort_unstable();
    out.dedup();
    out
}

/// Kernels whose domain holds any of the parameters. The others are listed; where all were named and none does, that is an error.
fn covered(
    request: &Request,
    kernels: &[&'static Kernel],
    lanes: &[Lane],
    channels: &[Channel],
    part: &mut Part,
) -> Result<Vec<&'static Kernel>> {
    let mut out = Vec::new();
    for kernel in kernels {
        let domain = &kernel.contract.domain;
        if channels.iter().any(|c| domain.contains(c.multiplier, c.shift, request.q)) {
            out.push(*kernel);
            continue;
        }
        let plan = plan(request, kernel, channels, 1);
        part.planned.extend(lanes.iter().map(|lane| plan.ran(lane, None)));
        let (kernel, domain) = (kernel.name.to_owned(), domain_text(domain));
        part.outside_domain.push(OutsideDomain { op: OP.to_owned(), kernel, domain });
    }
    match &part.outside_domain[..] {
        [first, ..] if out.is_empty() && !request.kernels.is_empty() => {
            bail!("{}: none of the given parameters is in its domain ({})", first.kernel, first.domain)
        }
        _ => Ok(out),
    }
}

fn domain_text(domain: &Domain) -> String {
    format!(
        "multipliers {}..={}{}, shifts {}..={}, Q {}..={}",
        domain.multipliers.start(),
        domain.multipliers.end(),
        if domain.multiple_of == 1 { String::new() } else { format!(" in steps of {}", domain.multiple_of) },
        domain.shifts.start(),
        domain.shifts.end(),
        domain.q.start(),
        domain.q.end(),
    )
}

fn run_catalogue(request: &Request, subjects: &[Subject<'_>], lanes: &[Lane]) -> Result<Part> {
    let entries = catalogue::read(catalogue::TEXT).context("suites/catalogue/fpm.txt")?;
    let mut part = Part::default();
    let records: Vec<Settled> = subjects.par_iter().map(|subject| catalogue_cases(subject, &entries)).collect();
    for lane in lanes {
        let mut run = CatalogueRun {
            op: OP.to_owned(),
            lane: lane.name.clone(),
            cases: entries.len() as u64,
            not_taken: not_taken(&entries, subjects.iter().filter(|s| s.lane.name == lane.name)),
            judged: 0,
            broken: 0,
        };
        for (subject, record) in subjects.iter().zip(&records).filter(|(s, _)| s.lane.name == lane.name) {
            run.judged += record.contract.tally.count.inputs;
            run.broken += record.contract.tally.count.differ;
            let mut found = Part::default();
            rows::record(request, subject, record, Coverage::Sampled, &mut found);
            for finding in &mut found.findings {
                finding.message = format!("in the catalogue: {}", finding.message);
            }
            part.findings.extend(found.findings);
        }
        part.catalogue.push(run);
    }
    Ok(part)
}

/// The cases that no subject takes.
fn not_taken<'a>(entries: &[Entry], subjects: impl Iterator<Item = &'a Subject<'a>> + Clone) -> u64 {
    let taken = |entry: &&Entry| subjects.clone().any(|subject| takes(subject, entry));
    entries.iter().filter(|entry| !taken(entry)).count() as u64
}

fn takes(subject: &Subject<'_>, entry: &Entry) -> bool {
    subject.kernel.contract.domain.contains(entry.channel.multiplier, entry.channel.shift, 31)
}

/// Each case in a vector's body and, for nine elements, in its tail.
fn catalogue_cases(subject: &Subject<'_>, entries: &[Entry]) -> Settled {
    let mut record = Record::default();
    let mut lease = subject.lane.lease();
    for entry in entries.iter().filter(|entry| takes(subject, entry)) {
        let params = Params { q: 31, channels: vec![entry.channel] };
        record.merge(run_batch(subject, &mut lease, &params, &[entry.x; 9], 0));
    }
    record.settle(subject)
}

fn sampled(request: &Request, subjects: &[Subject<'_>], channels: &[Channel], before: &Part) -> Vec<Settled> {
    if let Some(x) = request.x {
        return subjects.par_iter().map(|subject| one_case(request, subject, channels, x)).collect();
    }
    let groups: Vec<Group<'_>> = channels
        .chunks(GROUP)
        .enumerate()
        .map(|(i, channels)| Group {
            channels,
            first: i * GROUP,
            budget: request.effort.budget(),
            formats: formats(request),
            seed: request.seed,
        })
        .collect();
    let bar = progress("fpm", groups.len());
    let mut totals = vec![Record::default(); subjects.len()];
    for some in groups.chunks(GROUPS_HELD) {
        let parts: Vec<Vec<Record>> = some
            .par_iter()
            .map(|group| {
                let records = run_group(group, subjects);
                bar.inc(1);
                records
            })
            .collect();
        for records in parts {
            for (total, record) in totals.iter_mut().zip(records) {
                total.merge(record);
            }
        }
        let mut part = before.clone();
        for (subject, total) in subjects.iter().zip(&totals) {
            rows::record(request, subject, &total.counted(), Coverage::Sampled, &mut part);
        }
        request.kept.stage(&part);
    }
    bar.finish_and_clear();
    let q = formats(request).first();
    let quick = Effort::Quick.budget();
    for (subject, total) in subjects.iter().zip(&mut totals) {
        total.merge(wide(subject, q, channels, |channel| accumulators(channel, q, &quick, request.seed)));
    }
    let freedom = if request.pairs == Pairs::Grid { Freedom::Everything } else { Freedom::Accumulator };
    let settled = |(subject, total): (&Subject<'_>, Record)| {
        let mut settled = total.settle(subject);
        simplify(subject, &mut settled, freedom);
        settled
    };
    subjects.par_iter().zip(totals).map(settled).collect()
}

/// Formats of multiplier beside Q0.31: in a run of the grid all, otherwise the one asked for.
fn formats(request: &Request) -> Formats {
    match request.pairs {
        Pairs::Grid => Formats::Q31AndOthers,
        Pairs::Given(_) => Formats::Only(request.q),
    }
}

/// One accumulator at every length up to nine, in a body and in every tail; and in every channel of wide batches.
fn one_case(request: &Request, subject: &Subject<'_>, channels: &[Channel], x: i32) -> Settled {
    let mut record = Record::default();
    let mut lease = subject.lane.lease();
    for channel in channels {
        let params = Params { q: request.q, channels: vec![*channel] };
        for len in 1..=9 {
            record.merge(run_batch(subject, &mut lease, &params, &vec![x; len], 0));
        }
        record.merge(wide(subject, request.q, &[*channel], |_| vec![x]));
        record.parameters += 1;
        if record.contract.count.differ + record.reference.count.differ > 0 {
            // One accumulator fits many causes: others tell them apart, and are not counted.
            let others = accumulators(*channel, request.q, &Effort::Quick.budget(), request.seed);
            let more = run_batch(subject, &mut lease, &params, &others, 0);
            record.contract.learn_from(more.contract);
            record.reference.learn_from(more.reference);
        }
    }
    let mut settled = record.settle(subject);
    for account in [&mut settled.contract, &mut settled.reference] {
        account.kept.retain(|seen| seen.case().x == x);
    }
    settled
}

fn simplify(subject: &Subject<'_>, record: &mut Settled, freedom: Freedom) {
    let simpler = |yardstick: &Yardstick, account: &mut Account| {
        if let Some(seen) = &account.witness {
            account.witness = Some(shrink(subject, yardstick, seen, freedom));
        }
    };
    simpler(&subject.contract, &mut record.contract);
    if let Some(reference) = &subject.reference {
        simpler(reference, &mut record.reference);
    }
}

/// The channels in a subject's domain.
fn in_domain<'c>(subject: &Subject<'_>, channels: &'c [Channel]) -> impl Iterator<Item = &'c Channel> {
    let domain = &subject.kernel.contract.domain;
    channels.iter().filter(|c| domain.contains(c.multiplier, c.shift, 31))
}

/// Every accumulator of every channel in a subject's domain.
fn sweep(subject: &Subject<'_>, channels: &[Channel], bar: &ProgressBar) -> Settled {
    let mut record = Settled::default();
    for channel in in_domain(subject, channels) {
        let plan = sweep::Plan::new(subject, *channel);
        record.merge(plan.settle(plan.sweep(|| bar.inc(1))));
    }
    record
}

/// A sweep that lost blocks to a worker that died is not exhaustive.
fn swept_coverage(record: &Settled) -> Coverage {
    let seen = record.contract.tally.count.seen();
    if seen == record.parameters << 32 { Coverage::Exhaustive } else { Coverage::Sampled }
}

fn self_checks(request: &Request, lanes: &[Lane]) -> Result<Vec<SelfCheck>> {
    let checks: Result<Vec<Vec<SelfCheck>>, _> =
        lanes.par_iter().map(|lane| self_check::run(lane, request.seed)).collect();
    Ok(checks?.concat())
}
