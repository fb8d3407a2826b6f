//! Output of an atlas as a table, JSON or CSV.

use super::agreement::{Agreement, agreement, percent};
use crate::atlas::{Atlas, Between, Witness};
use crate::cli::{csv_of, table};
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_impls::fpm::{self, Channel};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::text;

/// Returns the kernels whose contract promises the scheme, or names it in a deviation.
fn kernels(scheme: &Scheme) -> Vec<&'static str> {
    let name = scheme.definition.name;
    let promises = |k: &&fpm::Kernel| {
        k.contract.promise.scheme == name || k.contract.deviations.iter().any(|d| d.instead.scheme == name)
    };
    fpm::kernels().iter().filter(promises).map(|k| k.name).collect()
}

/// Returns the name of a class in the matrix: `A`, `B`, ..., `AA`, ...
fn letter(at: usize) -> String {
    let last = char::from(b'A' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { format!("{}{last}", letter(at / 26 - 1)) }
}

fn largest(between: &Between) -> String {
    match between.largest() {
        None => "-".to_owned(),
        Some(Some(delta)) => delta.to_string(),
        Some(None) => format!("above {}", tiebreak_oracle::census::MAX_COUNTED_DELTA),
    }
}

fn at(witness: &Witness) -> String {
    let Witness { x, channel: Channel { multiplier, shift }, values: (left, right) } = witness;
    format!("x={x} m={multiplier} s={shift}: {left}, {right}")
}

/// Formats classes, matrix and pairs of classes. Pairs in which kernels follow both classes come first, then pairs with more agreement.
pub(super) fn as_table(atlas: &Atlas) -> String {
    let label = |scheme: usize| atlas.schemes[scheme].label();
    let firsts: Vec<usize> = atlas.classes.keys().copied().collect();
    let name = |first: usize| firsts.iter().position(|f| *f == first).map_or_else(String::new, letter);
    let pairs = text::plural(atlas.channels.len(), "pair");
    let mut out = format!(
        "{} on {pairs} (m, s), all 2^32 accumulators of each: {}\n\n",
        text::plural(atlas.schemes.len(), "scheme"),
        text::plural(firsts.len(), "class").replace("classs", "classes")
    );
    let members = |class: &Vec<usize>| class.iter().map(|s| label(*s)).collect::<Vec<_>>().join(", ");
    let followers = |class: &Vec<usize>| {
        let all: Vec<_> = class.iter().flat_map(|s| kernels(&atlas.schemes[*s])).collect();
        if all.is_empty() { "-".to_owned() } else { all.join(", ") }
    };
    let legend = atlas.classes.iter().map(|(first, class)| vec![name(*first), members(class), followers(class)]);
    out += &table(&["", "identical on all of these inputs", "kernels that promise it"], legend.collect());
    out += "\nIdentical where both have a value: = everywhere, s at these shifts, % on this share of the pairs (m, s), . nowhere\n";
    let agreements: Vec<Agreement> = atlas.between.iter().map(|b| agreement(atlas, b)).collect();
    let glyph = |i: usize, j: usize| {
        let at = atlas.between.iter().position(|b| b.pair == (i.min(j), i.max(j)));
        at.map_or("\\".to_owned(), |at| agreements[at].glyph())
    };
    let rows = firsts
        .iter()
        .enumerate()
        .map(|(row, i)| std::iter::once(name(*i)).chain(firsts[..=row].iter().map(|j| glyph(*i, *j))).collect());
    let header: Vec<String> = std::iter::once(String::new()).chain(firsts.iter().map(|f| name(*f))).collect();
    out += &table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows.collect());
    out += "\n";
    let mut order: Vec<usize> = (0..atlas.between.len()).collect();
    let followed = |first: usize| atlas.classes[&first].iter().any(|s| !kernels(&atlas.schemes[*s]).is_empty());
    let unfollowed = |(i, j): (usize, usize)| !(followed(i) && followed(j));
    order.sort_by_key(|at| (unfollowed(atlas.between[*at].pair), std::cmp::Reverse(agreements[*at].identical), *at));
    let rows = order.into_iter().map(|i| {
        let between = &atlas.between[i];
        let (left, right) = between.pair;
        let worst = between.worst().map_or("-".to_owned(), |(rate, _)| percent(rate));
        let witness = between.witness.as_ref().map_or("none".to_owned(), at);
        let names = format!("{} {}, {} {}", name(left), label(left), name(right), label(right));
        vec![names, agreements[i].described(), worst, largest(between), witness]
    });
    out += &table(
        &["schemes", "identical on", "highest rate", "delta", "smallest witness: first, second"],
        rows.collect(),
    );
    out + "\nIdentical means: no difference on any accumulator of the pairs (m, s) examined. Other pairs were not examined.\n"
}

pub(super) fn as_json(atlas: &Atlas) -> Value {
    let label = |scheme: usize| atlas.schemes[scheme].label();
    let class = |members: &Vec<usize>| {
        let one = |s: &usize| json!({"scheme": label(*s), "kernels": kernels(&atlas.schemes[*s])});
        members.iter().map(one).collect::<Vec<_>>()
    };
    let pair = |b: &Between| {
        let (agreement, (inputs, differ)) = (agreement(atlas, b), b.total());
        let worst = b.worst().map(|(rate, at)| {
            json!({"rate": rate, "multiplier": atlas.channels[at].multiplier, "shift": atlas.channels[at].shift})
        });
        let witness = b.witness.map(|w| {
            json!({
                "x": w.x, "multiplier": w.channel.multiplier, "shift": w.channel.shift,
                "left": w.values.0, "right": w.values.1,
            })
        });
        let shifts: Vec<[i32; 2]> = agreement.shifts.iter().map(|r| [*r.start(), *r.end()]).collect();
        json!({
            "left": label(b.pair.0), "right": label(b.pair.1), "identical": agreement.everywhere && agreement.not_counted == 0,
            "identical_parameters": agreement.identical, "counted_parameters": agreement.counted,
            "apart_parameters": agreement.apart,
            "not_counted_parameters": agreement.not_counted, "identical_shifts": shifts,
            "identical_multipliers": agreement.multipliers, "inputs": inputs, "differ": differ, "highest_rate": worst,
            "largest_delta": b.largest().flatten(), "larger_than_told": b.largest() == Some(None), "witness": witness,
        })
    };
    json!({
        "parameters": atlas.channels.len(), "accumulators_each": 1u64 << 32,
        "classes": atlas.classes.values().map(class).collect::<Vec<_>>(),
        "pairs": atlas.between.iter().map(pair).collect::<Vec<_>>(),
    })
}

pub(super) fn as_csv(atlas: &Atlas) -> Result<String> {
    let names = ["left", "right", "identical_parameters", "counted_parameters", "not_counted_parameters", "inputs"];
    let rest = ["differ", "highest_rate", "largest_delta", "witness_x", "witness_multiplier", "witness_shift"];
    let members = |first: usize| atlas.classes.get(&first).into_iter().flatten().map(|s| atlas.schemes[*s].label());
    let records = |between: &Between| {
        let (agreement, (inputs, differ)) = (agreement(atlas, between), between.total());
        let counts = [agreement.identical, agreement.counted, agreement.not_counted].map(|n| n.to_string());
        let rate = between.worst().map_or_else(|| "0".to_owned(), |(rate, _)| rate.to_string());
        let witness = between.witness.map(|w| {
            [w.x, w.channel.multiplier.into(), w.channel.shift.into(), w.values.0, w.values.1].map(|v| v.to_string())
        });
        let sums = [inputs.to_string(), differ.to_string(), rate, largest(between)];
        let numbers = [&counts[..], &sums, &witness.unwrap_or_default()].concat();
        let pairs = members(between.pair.0).flat_map(|l| members(between.pair.1).map(move |r| [l.clone(), r]));
        pairs.map(|pair| [&pair[..], &numbers].concat()).collect::<Vec<_>>()
    };
    csv_of(names.iter().chain(&rest).chain(&["witness_left", "witness_right"]), atlas.between.iter().flat_map(records))
}
