//! Text and CSV of an audit. Table and page share this text.

use crate::audit::LANES;
use crate::audit::report::{Audit, ChannelCounts, Comparison, Input, Layer, LayerCounts, Multiplier, Witness};
use crate::cli::csv_of;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_common::called;
use tiebreak_reports::text;

/// Formats at most two deltas (right minus left), and the count of other deltas.
fn deltas(counts: &ChannelCounts) -> String {
    let by_delta: BTreeMap<String, u64> = counts.by_delta.iter().map(|(d, n)| (d.to_string(), *n)).collect();
    text::deltas(&by_delta, 2).join(" ")
}

/// Formats the input nearest to zero, with both results.
fn witness(witness: &Option<Witness>) -> String {
    let Some(Witness { input, left, right }) = witness else { return "none".to_owned() };
    match input {
        Input::Accumulator { x } => format!("x={x}: {left}, {right}"),
        Input::Pair { lhs, rhs } => format!("{lhs}, {rhs}: {left}, {right}"),
    }
}

/// Formats a share in per cent with three significant digits.
pub(super) fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0%".to_owned();
    }
    let percent = 100.0 * part as f64 / whole as f64;
    let places = (2 - percent.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{percent:.places$}%")
}

/// Describes the model without any runtime: derivations, 16-bit lanes, int32 and floats.
pub(super) fn facts(audit: &Audit) -> Vec<String> {
    let channels = || audit.layers.iter().flat_map(|layer| layer.channels.iter().map(move |channel| (layer, channel)));
    let all = channels().count();
    if all == 0 {
        return Vec::new();
    }
    let apart = |name: &str| channels().filter(|(_, c)| c.multipliers.get(name) != c.multipliers.get("f64")).count();
    let mut out = vec![format!(
        "Derivation: among {}, the multiplier by f32 differs from the multiplier by f64 in {}, and the multiplier by f32-f64 in {}.",
        text::plural(all, "channel"),
        text::count(apart("f32") as u64),
        text::count(apart("f32-f64") as u64),
    )];
    let first = channels().find_map(|(layer, c)| {
        let [f64, f32] = ["f64", "f32"].map(|name| c.multipliers.get(name));
        f64.zip(f32).filter(|(a, b)| a != b).map(|(a, b)| (layer.index, c.channel, *a, *b))
    });
    if let Some((layer, channel, a, b)) = first {
        let read = |m: Multiplier| format!("m={} s={}", m.multiplier, m.shift);
        out.push(format!("First in layer {layer} channel {channel}: {} by f64, {} by f32.", read(a), read(b)));
    }
    for c in audit.comparisons.iter().filter(|c| c.derivation.inputs > 0) {
        out.push(format!(
            "With the scheme of {} and the multipliers of {}, {} accumulators change, by the derivation alone.",
            c.left,
            c.right,
            text::count(c.derivation.differ),
        ));
    }
    let farthest = channels().map(|(_, c)| c.accumulators.min.abs().max(c.accumulators.max.abs())).max().unwrap_or(0);
    let overflowing: Vec<_> = channels().filter(|(_, c)| c.overflows_int32).collect();
    out.push(match overflowing.first() {
        None => format!(
            "int32: no partial sum overflows, in any order; the accumulator farthest from zero is {}.",
            text::count(farthest as u64)
        ),
        Some((layer, channel)) => format!(
            "int32: a partial sum can overflow in {}, first in layer {} channel {}.",
            text::plural(overflowing.len(), "channel"),
            layer.index,
            channel.channel,
        ),
    });
    let inexact = channels().filter(|(_, c)| c.inexact_in_float).count();
    out.push(match inexact {
        0 => "float32: every accumulator is exact in float32.".to_owned(),
        n => {
            format!("float32: {} beyond 2^24, which are rounded.", text::plural(n, "channel") + " with accumulators")
        }
    });
    let unlooked = channels().filter(|(_, c)| !c.accumulators.exact).count();
    if unlooked > 0 {
        let channels = text::plural(unlooked, "channel");
        out.push(format!(
            "Reach: in {channels} some counted accumulators cannot occur; there were too many to examine."
        ));
    }
    out
}

/// Returns a row for each kind of 16-bit lanes: name, layers and channels with unsafe pairs, and the first pair.
pub(super) fn lanes(audit: &Audit) -> Vec<Vec<String>> {
    let of = |name: &'static str, summary: &str| {
        let all: Vec<_> = audit.layers.iter().flat_map(|l| l.channels.iter().map(move |c| (l, c))).collect();
        let of = all.iter().filter_map(|(l, c)| Some((l, c, c.pairs.iter().find(|p| p.lanes == name)?)));
        let pairs: Vec<_> = of.collect();
        let count: usize = pairs.iter().map(|(.., p)| p.pairs).sum();
        let bad: Vec<_> = pairs.iter().filter(|(.., p)| p.unsafe_pairs > 0).collect();
        let unsafe_pairs: usize = bad.iter().map(|(.., p)| p.unsafe_pairs).sum();
        let first = bad.first().and_then(|(l, c, p)| Some((l.index, c.channel, p.witness?)));
        let first = first.map_or("safe with these weights".to_owned(), |(layer, channel, w)| {
            let ((a, b), (x, y)) = (w.weights, w.activations);
            format!("layer {layer} channel {channel} k={}: {x}*{a} + {y}*{b} = {}", w.k, w.sum)
        });
        let name = summary.split(':').next().map_or(name.to_owned(), |short| short.to_owned());
        vec![
            name,
            format!("{} of {}", text::count(unsafe_pairs as u64), text::count(count as u64)),
            text::count(bad.len() as u64),
            first,
        ]
    };
    let any = audit.layers.iter().flat_map(|l| &l.channels).any(|c| !c.pairs.is_empty());
    if any { LANES.iter().map(|lanes| of(lanes.name, lanes.summary)).collect() } else { Vec::new() }
}

/// Lists operators that are not audited, grouped by kind and reason.
pub(super) fn not_audited(audit: &Audit) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for n in &audit.not_audited {
        groups.entry((n.op.clone(), n.reason.clone())).or_default().push(n.index);
    }
    for c in &audit.comparisons {
        for n in &c.not_compared {
            groups.entry((n.op.clone(), format!("{} to {}: {}", c.left, c.right, n.reason))).or_default().push(n.index);
        }
    }
    let mut rows: Vec<_> = groups.into_iter().collect();
    rows.sort_by(|a, b| a.0.1.cmp(&b.0.1).then(a.1.cmp(&b.1)));
    rows.into_iter().map(|((op, reason), at)| vec![op, text::count(at.len() as u64), reason]).collect()
}

/// Maximum number of channels in the list of worst channels.
const WORST: usize = 10;

/// Comparison, number and name of an operator, and counts of a channel.
pub(super) type Row<'a> = (&'a Comparison, usize, &'a str, &'a ChannelCounts);

/// Formats the counts of a channel: to, layer, operator, channel, inputs, differ, rate, by delta, nearest to zero.
pub(super) fn channel_row((comparison, index, op, counts): Row<'_>) -> Vec<String> {
    vec![
        comparison.right.clone(),
        index.to_string(),
        op.to_owned(),
        counts.channel.map_or("-".to_owned(), |channel| channel.to_string()),
        text::count(counts.inputs),
        text::count(counts.differ),
        share(counts.differ, counts.inputs),
        deltas(counts),
        witness(&counts.witness),
    ]
}

/// Returns the worst channels of all comparisons. Each channel appears once, in the comparison with its highest rate.
pub(super) fn worst(audit: &Audit) -> Vec<Row<'_>> {
    let mut all: Vec<Row<'_>> = Vec::new();
    for c in &audit.comparisons {
        all.extend(c.worst.iter().map(|w| (c, w.index, w.op.as_str(), &w.counts)));
    }
    all.sort_by(|a, b| b.3.rate.total_cmp(&a.3.rate));
    let mut seen = BTreeSet::new();
    all.retain(|(_, index, _, counts)| seen.insert((*index, counts.channel)));
    all.truncate(WORST);
    all
}

/// Returns commands that examine the worst channel that `census` accepts.
pub(super) fn commands(audit: &Audit) -> Vec<String> {
    let found = worst(audit).into_iter().find_map(|(comparison, index, _, counts)| {
        let layer = audit.layers.iter().find(|layer| layer.index == index)?;
        let found = comparison.layers.iter().find(|layer| layer.index == index)?;
        Some((layer, found, counts, counts.left?, counts.right?))
    });
    found.map_or(Vec::new(), |(layer, found, counts, left, right)| closer(layer, found, counts, left, right))
}

fn closer(
    layer: &Layer,
    found: &LayerCounts,
    counts: &ChannelCounts,
    left: Multiplier,
    right: Multiplier,
) -> Vec<String> {
    let scheme = |way: &str| way.split(' ').nth(1).unwrap_or_default().to_owned();
    let [a, b] = ways(found, counts).map(scheme);
    let channel = &layer.channels[counts.channel.unwrap_or(0)];
    let other = match left == right {
        true => String::new(),
        false => format!(" --right-multiplier {} --right-shift={}", right.multiplier, right.shift),
    };
    let (x_min, x_max) = (channel.accumulators.min.max(i32::MIN.into()), channel.accumulators.max.min(i32::MAX.into()));
    let mut out = vec![format!(
        "{} census --left {a} --right {b} --multiplier {} --shift={}{other} --zero-point={} --clamp={}:{} --x-min={x_min} --x-max={x_max} --list 5",
        called::program(),
        left.multiplier,
        left.shift,
        layer.output.zero_point,
        layer.clamp.0,
        layer.clamp.1,
    )];
    let fixed = |scheme: &str| !scheme.starts_with("f32-") && !scheme.starts_with("f64-");
    if let (Some(Witness { input: Input::Accumulator { x }, .. }), true) =
        (counts.witness, left == right && fixed(&a) && fixed(&b))
    {
        out.push(format!(
            "{} explain fpm --scheme {a} --scheme {b} --x={x} --multiplier {} --shift={}",
            called::program(),
            left.multiplier,
            left.shift
        ));
    }
    out
}

/// Returns the ways of a channel: its own, or those of its layer.
fn ways<'a>(layer: &'a LayerCounts, channel: &'a ChannelCounts) -> [&'a str; 2] {
    channel.ways.as_ref().map_or([&layer.left, &layer.right], |[left, right]| [left, right])
}

/// Writes a line for each comparison, layer and channel.
pub(super) fn csv(model: &str, audit: &Audit) -> Result<String> {
    #[rustfmt::skip]
    let header = [
        "left", "right", "index", "op", "name", "channel", "left_way", "right_way", "left_multiplier", "left_shift",
        "right_multiplier", "right_shift", "inputs", "inside", "differ", "differ_inside", "rate", "by_delta", "witness", "left_value",
        "right_value", "method", "model",
    ];
    let layers = audit.comparisons.iter().flat_map(|comparison| comparison.layers.iter().map(move |l| (comparison, l)));
    let channels = layers.flat_map(|(comparison, layer)| {
        let of = move |channel| [record(comparison, layer, channel), vec![model.to_owned()]].concat();
        layer.channels.iter().map(of)
    });
    csv_of(header, channels)
}

fn record(comparison: &Comparison, layer: &LayerCounts, channel: &ChannelCounts) -> Vec<String> {
    let optional = |number: Option<i64>| number.map_or(String::new(), |n| n.to_string());
    let multiplier = |side: Option<Multiplier>| {
        [optional(side.map(|m| m.multiplier.into())), optional(side.map(|m| m.shift.into()))]
    };
    let deltas: Vec<String> = channel.by_delta.iter().map(|(delta, n)| format!("{delta}:{n}")).collect();
    let input = channel.witness.map_or(String::new(), |w| match w.input {
        Input::Accumulator { x } => x.to_string(),
        Input::Pair { lhs, rhs } => format!("{lhs} {rhs}"),
    });
    let mut row = vec![comparison.left.clone(), comparison.right.clone(), layer.index.to_string()];
    row.extend([layer.op.clone(), layer.name.clone(), optional(channel.channel.map(|c| c as i64))]);
    row.extend(ways(layer, channel).map(str::to_owned));
    row.extend(multiplier(channel.left).into_iter().chain(multiplier(channel.right)));
    row.extend([channel.inputs, channel.inside, channel.differ, channel.differ_inside].map(|n| n.to_string()));
    row.extend([channel.rate.to_string(), deltas.join(" "), input]);
    row.extend([optional(channel.witness.map(|w| w.left)), optional(channel.witness.map(|w| w.right))]);
    row.push(channel.method.to_owned());
    row
}
