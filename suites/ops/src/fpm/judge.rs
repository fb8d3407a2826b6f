//! Judges one batch: every output against what the yardstick expects of it.

use super::classify::Observation;
use super::tally::{Regime, Tally};
use super::yardstick::Yardstick;
use super::{case, parameters};
use tiebreak_impls::fpm::Params;
use tiebreak_oracle::fpm::Parameters;
use tiebreak_reports::ledger::Against;

/// Outputs of one batch kept as evidence for each zone: the first that differ and twice as many spread over the batch, and as many
/// that do not differ.
const KEPT: usize = 8;

/// Compares `outs` with what `yardstick` expects of `xs`.
pub fn judge(yardstick: &Yardstick, params: &Params, xs: &[i32], outs: &[i32]) -> Tally {
    let mut tally = Tally::default();
    let mut agreeing: Vec<Vec<Observation>> = vec![Vec::new(); yardstick.zones.len()];
    let stride = (outs.len() / (2 * KEPT)).max(1);
    let channels: Vec<Parameters> = params.channels.iter().map(|channel| parameters(*channel, params.q)).collect();
    for (index, (&got, p)) in outs.iter().zip(channels.iter().cycle()).enumerate() {
        let zone = yardstick.zone_at(index, outs.len(), params.q);
        let Some(expected) = yardstick.expected_in(zone, xs[index], p) else {
            tally.count.out_of_domain += 1;
            continue;
        };
        tally.count.inputs += 1;
        let observation = || Observation { case: case(params, xs, index), got };
        if i64::from(got) == expected {
            if index.is_multiple_of(stride) || index + 4 >= outs.len() {
                agreeing[zone].push(observation());
            }
            note_deviation(&mut tally, yardstick, zone, (xs[index], p), expected);
        } else {
            note_difference(&mut tally, zone, stride, observation(), expected);
        }
    }
    for (key, bucket) in &mut tally.buckets {
        // Only what the differences can be told apart from.
        let here = |o: &&Observation| Regime::of(o.case.channel.shift) == key.1;
        bucket.agreeing = agreeing[key.0].iter().filter(here).copied().collect();
    }
    tally
}

fn note_difference(tally: &mut Tally, zone: usize, stride: usize, observation: Observation, expected: i64) {
    let case = observation.case;
    tally.count.differs(i64::from(observation.got) - expected, None, 1);
    tally.offer((observation, expected));
    let bucket = tally.buckets.entry((zone, Regime::of(case.channel.shift))).or_default();
    let count = bucket.counts.entry((case.channel, case.q)).or_default();
    *count += 1;
    if *count <= KEPT as u64 || case.index.is_multiple_of(stride) || case.index + 4 >= case.len {
        bucket.differing.push((observation, expected));
    }
}

/// Counts an output that followed a declared deviation where that makes a difference.
fn note_deviation(tally: &mut Tally, yardstick: &Yardstick, zone: usize, (x, p): (i32, &Parameters), expected: i64) {
    if let (Some((_, class)), Against::Contract) = (yardstick.zones[zone].region, yardstick.against)
        && yardstick.own.fast(x.into(), p) != Some(expected)
    {
        *tally.deviations.entry(class).or_default() += 1;
    }
}
