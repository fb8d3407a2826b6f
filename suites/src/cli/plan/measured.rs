//! Durations of units. A sample of units runs in sequence. Other units get the mean of the sample with their operation, or of the whole sample.

use super::super::bite::CorruptArgs;
use super::super::{audit as audit_cli, census as census_cli, shards, verify as verify_cli};
use crate::engine::self_check::Measure;
use crate::engine::sharded::Campaign;
use crate::space;
use crate::verify::REGISTRY;
use anyhow::{Result, anyhow};
use std::time::Instant;
use tiebreak_oracle::fpm::Scheme;

/// Duration of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Took {
    pub(super) seconds: f64,
    /// True if the unit was run; otherwise the duration is a mean.
    pub(super) is_measured: bool,
}

/// Units of a command.
pub(super) struct Measured {
    /// Units with their durations, if any were measured.
    pub(super) units: Vec<(String, Option<Took>)>,
    /// Seconds before the first unit.
    pub(super) start: f64,
    pub(super) command: &'static str,
}

/// Measures units of `verify`.
pub(super) fn verify(args: &verify_cli::Args, sample: usize) -> Result<Measured> {
    let begun = Instant::now();
    let request = verify_cli::request(args)?;
    let campaign = Campaign::open(&request, &REGISTRY)?;
    let start = begun.elapsed().as_secs_f64();
    let units = timed(campaign.units(), sample, |at| clocked(|| campaign.run(&[at], &|_, _, _| Ok(()))))?;
    Ok(Measured { units, start, command: "verify" })
}

/// Measures units of `corrupt`.
pub(super) fn corrupt(args: &CorruptArgs, sample: usize) -> Result<Measured> {
    let begun = Instant::now();
    let lane = args.what.lane()?;
    let measure = Measure { lane: &lane, effort: args.what.effort, seed: args.what.seed, sample: args.sample };
    let units = shards::faulted(args, &lane)?;
    let start = begun.elapsed().as_secs_f64();
    let names = units.iter().map(|(op, kernel)| format!("{} {kernel}", op.op())).collect();
    let run = |at: usize| units[at].0.planted_in_kernel(&measure, units[at].1).map(drop);
    let units = timed(names, sample, |at| clocked(|| run(at)))?;
    Ok(Measured { units, start, command: "corrupt" })
}

/// Measures units of `audit`.
pub(super) fn audit(args: &audit_cli::Args, sample: usize) -> Result<Measured> {
    let run = |at: usize| audit_cli::answer(args, &args.models[at]).map(drop);
    Ok(Measured {
        units: timed(shards::models(args)?, sample, |at| clocked(|| run(at)))?,
        start: 0.0,
        command: "audit",
    })
}

/// Measures chunks of `census --space`.
pub(super) fn census(args: &census_cli::Args, sample: usize) -> Result<Measured> {
    let plan = census_cli::plan(args)?;
    let scheme = |name: &str| Scheme::parse(name).map_err(|unknown| anyhow!("{unknown}"));
    let (left, right) = (scheme(&plan.left)?, scheme(&plan.right)?);
    let places: Vec<_> = plan.places().collect();
    let names = places.iter().map(|p| format!("shift {}, multipliers {}..{}", p.shift, p.from, p.to)).collect();
    let count = |at: usize| space::count(left, right, places[at]).map(drop).map_err(Into::into);
    Ok(Measured { units: timed(names, sample, |at| clocked(|| count(at)))?, start: 0.0, command: "census" })
}

/// Measures the seconds of a run.
fn clocked(run: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    run().map(|()| begun.elapsed().as_secs_f64())
}

/// Runs a sample at equal distances; `run` returns seconds. The first word of a unit's name is its kind, and other units get the mean of their kind.
pub(super) fn timed(
    names: Vec<String>,
    sample: usize,
    run: impl Fn(usize) -> Result<f64>,
) -> Result<Vec<(String, Option<Took>)>> {
    let mut took: Vec<Option<f64>> = vec![None; names.len()];
    for at in chosen(names.len(), sample) {
        took[at] = Some(run(at)?);
    }
    let kind = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
    let mean = |of: &dyn Fn(&str) -> bool| {
        let known: Vec<f64> =
            names.iter().zip(&took).filter(|(name, _)| of(name)).filter_map(|(_, took)| *took).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let each = |(name, took): (&String, &Option<f64>)| {
        let alike = || mean(&|other| kind(other) == kind(name)).or_else(|| mean(&|_| true));
        let seconds = took.or_else(alike);
        (name.clone(), seconds.map(|seconds| Took { seconds, is_measured: took.is_some() }))
    };
    Ok(names.iter().zip(&took).map(each).collect())
}

/// Chooses `sample` indices below `of`, at equal distances.
fn chosen(of: usize, sample: usize) -> Vec<usize> {
    let sample = sample.min(of);
    (0..sample).map(|i| (2 * i + 1) * of / (2 * sample)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_and_what_was_not_run_is_as_others_of_its_kind() {
        assert_eq!(chosen(10, 2), [2, 7]);
        assert_eq!(chosen(3, 9), [0, 1, 2]);
        assert!(chosen(0, 4).is_empty() && chosen(4, 0).is_empty());
        let names = || ["a 1", "a 2", "b 1", "b 2"].map(str::to_owned).to_vec();
        let all = timed(names(), 2, |_| Ok(1.0)).expect("they run");
        let measured: Vec<bool> = all.iter().map(|(_, took)| took.expect("a time").is_measured).collect();
        assert_eq!(measured, [false, true, false, true]);
        assert_eq!(all[0].1.expect("a time").seconds, all[1].1.expect("a time").seconds);
        assert!(timed(names(), 0, |_| Ok(1.0)).expect("nothing runs").iter().all(|(_, took)| took.is_none()));
    }
}
