//! `identify`: schemes that the kernels of a lane follow.
//!
//! `--format json` prints a list with an object for each kernel:
//!
//! ```json
//! [{
//!   "op": "requantize", "kernel": "mine-requantize-i8",
//!   "claimed": null,                        // scheme that the lane claims, or null
//!   "candidates": 60,                       // schemes of the operation; each policy counts
//!   "left": ["gemmlowp-double:wrap"],       // schemes that give the kernel's results on the whole plan; can be empty
//!   "partly": [{"scheme": "ties-up", "judged": 90}],   // schemes that give the kernel's results wherever the schemes have a value
//!   "results": 100,                         // number of the kernel's results
//!   "apart": null,                          // {"vector": 4, "body": SCHEME, "tail": SCHEME} if no scheme is left and two schemes together fit
//!   "inputs": [{"case": "m=1 s=0 x=1", "excluded": ["ties-up"]}],   // inputs that excluded schemes, in their order
//!   "excluded": [{"scheme": "ties-up", "explained": 9, "compared": 10, "cause": null}],   // nearest scheme first, on the first 64 cases
//!   "examined": 10,                         // results of the first 64 cases
//!   "cases": 1500, "refused": 0, "judged": 145034,   // counts of the plan; `judged`: results that the first scheme in `left` also gives
//!   "refusal": null,                        // first reason for which the kernel gave no results
//!   "like": "tflite-requantize-i8"          // kernel of this project whose domain supplies the inputs
//! }]
//! ```
//!
//! `cause` is `{"class": CLASS, "because": SENTENCE}` if no scheme is left and a change to this scheme reproduces all results of the first cases.

use super::{Format, library, note};
use crate::budget::Effort;
use crate::engine::identify::{Apart, Cause, Excluded, Identified, Input, Partly, family};
use crate::lane::Lane;
use crate::lane::config::Lanes;
use crate::verify::{OPERATIONS, OPS};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use std::path::PathBuf;
use tiebreak_common::called;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::drawable::escaped;
use tiebreak_reports::text::count;
use tiebreak_shards::shell::quoted;
use tiebreak_worker::library::Promise;
use tiebreak_worker::protocol::Offer;

/// Maximum number of inputs and of excluded schemes in the table.
const SHOWN: usize = 6;

/// Arguments of `identify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    place: library::Place,
    /// Lane: host, aarch64-qemu, or a name from the lanes file
    #[arg(long, value_name = "NAME", conflicts_with = "place")]
    lane: Option<String>,
    /// Lanes file
    #[arg(long, value_name = "FILE.json", overrides_with = "lanes")]
    lanes: Option<PathBuf>,
    /// Operation; may be repeated [default: all that the lane offers]
    #[arg(long, value_name = "NAME")]
    op: Vec<String>,
    /// Kernel; may be repeated [default: all that the lane offers, known bugs left out]
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// Part of the domain in which the kernels are asked, such as 'shifts=[-31,0]' or 'q=31'; may be repeated
    #[arg(long, value_name = "FIELD=JSON", value_parser = library::part)]
    domain: Vec<(String, Value)>,
    /// Size of the plan whose inputs are asked
    #[arg(long, value_enum, default_value = "quick")]
    effort: Effort,
    /// Seed of all samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Identifies the kernels. Returns true if each kernel follows a scheme.
pub(super) fn run(args: &Args) -> Result<bool> {
    for op in &args.op {
        if !OPS.contains(&op.as_str()) {
            return Err(unknown("operation", op, OPS.iter().copied()).into());
        }
    }
    args.place.states_types(&args.op, None, &args.domain)?;
    let mut lanes = Lanes { own_worker: super::worker::command(), ..Lanes::given(args.lanes.as_deref())? };
    let entry = args.place.entry(&Promise { ops: args.op.clone(), ..Promise::default() }, &lanes)?;
    let name = match &entry {
        Some(entry) => entry.name.as_str(),
        None => args.lane.as_deref().context(
            "which kernels? Name their place: --library <FILE>, --program <CMD> with its --op, or --lane <NAME>",
        )?,
    };
    lanes.lanes.extend(entry.clone());
    let lane = Lane::open(name, &lanes)?.map_err(|reason| anyhow!("the lane {name} cannot run: {reason}"))?;
    let offers = offers(args, &lane)?;
    let mut all = Vec::new();
    for offer in &offers {
        let op =
            OPERATIONS.iter().find(|op| op.op() == offer.op).with_context(|| format!("no operation {}", offer.op))?;
        let found = op.identify(offer, &lane, args.effort, args.seed);
        match found.with_context(|| format!("{} {} in lane {name}", offer.op, escaped(&offer.kernel))) {
            Ok(found) => all.push(found),
            Err(error) if offers.len() > 1 => note(&format!("not identified: {error:#}")),
            Err(error) => return Err(error),
        }
    }
    let tables = || all.iter().map(|one| table(args, name, one)).collect::<Vec<_>>().join("\n");
    args.format.print(tables, || &all)?;
    Ok(all.len() == offers.len() && all.iter().all(|one| !one.left.is_empty() || one.apart.is_some()))
}

/// Returns the requested kernels.
fn offers(args: &Args, lane: &Lane) -> Result<Vec<Offer>> {
    let of_op = |offer: &&Offer| args.op.is_empty() || args.op.contains(&offer.op);
    let offered: Vec<&Offer> = lane.hello.kernels.iter().filter(of_op).collect();
    for kernel in &args.kernel {
        if offered.iter().all(|offer| offer.kernel != *kernel) {
            return Err(unknown("kernel", kernel, offered.iter().map(|offer| offer.kernel.as_str())).into());
        }
    }
    let wanted = |offer: &&&Offer| match args.kernel.is_empty() {
        true => !offer.kernel.starts_with("mutant-") && OPS.contains(&offer.op.as_str()),
        false => args.kernel.contains(&offer.kernel),
    };
    let within = |offer: &&Offer| {
        let mut offer = (*offer).clone();
        offer.own.domain.extend(args.domain.iter().cloned());
        offer
    };
    let wanted: Vec<Offer> = offered.iter().filter(wanted).map(within).collect();
    if wanted.is_empty() {
        bail!("the lane {} offers no such kernel", lane.name);
    }
    Ok(wanted)
}

fn table(args: &Args, lane: &str, found: &Identified) -> String {
    let mut lines = vec![format!("{} {} in lane {lane}", found.op, escaped(&found.kernel))];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<10}{text}"));
    let cases = format!("{} cases", count(found.cases as u64));
    match found.left.split_first() {
        Some((scheme, others)) => {
            line("scheme", scheme.clone());
            if !others.is_empty() {
                line("also", also(scheme, others));
            }
            let inputs = format!(
                "{} of {} schemes were excluded by {} inputs",
                found.excluded.len(),
                found.candidates,
                found.inputs.len()
            );
            line("asked", format!("{cases}; {inputs}; {} results are equal", count(found.judged)));
            if found.judged < found.results {
                let without = count(found.results - found.judged);
                line("no value", format!("the scheme gives no value to {without} of {} results", count(found.results)));
            }
        }
        None => line("scheme", format!("none of {} gives the results of this kernel", found.candidates)),
    }
    if !found.partly.is_empty() {
        line("partly", partly(&found.partly));
    }
    if let Some(Apart { vector, body, tail }) = &found.apart {
        line("apart", format!("{body} in whole vectors of {vector}, {tail} in the rest"));
    }
    if found.refused > 0 {
        let why = found.refusal.as_deref().map(|why| format!(", first: {}", escaped(why))).unwrap_or_default();
        line("refused", format!("{} of {cases}{why}", count(found.refused as u64)));
    }
    for near in nearest(found) {
        let Some(input) = found.inputs.iter().find(|input| input.excluded.contains(&near.scheme)) else { continue };
        let (gives, of) = (count(near.explained), count(found.examined));
        let without = match found.examined - near.compared {
            0 => String::new(),
            n => format!(", and no value to {}", count(n)),
        };
        line(
            "nearest",
            format!("{} gives {gives} of the first {of} results{without}; excluded by {}", near.scheme, input.case),
        );
        if let Some(Cause { class, because }) = &near.cause {
            line("", format!("class {class}: {because}"));
        }
    }
    for input in found.inputs.iter().take(SHOWN) {
        let Input { case, at, got, gives, excluded } = input;
        let first = format!("{case} at={at}: got {got}, {} gives {gives}", excluded[0]);
        line("input", format!("{first}; excludes {}", some(&families(excluded, &found.left))));
    }
    if found.inputs.len() > SHOWN {
        line("", format!("and {} inputs more (--format json)", found.inputs.len() - SHOWN));
    }
    let nearest = found.excluded.first().map(|near| ("differs", &near.scheme));
    if let Some((name, scheme)) = found.left.first().map(|scheme| ("verify", scheme)).or(nearest) {
        line(name, verify(args, found, scheme));
    }
    if let (Some(scheme), Some(_)) = (found.left.first(), args.place.written()) {
        let (program, scheme) = (called::program(), quoted(scheme));
        line("vectors", format!("{program} vectors --op {} --scheme {scheme} --like {}", found.op, found.like));
    }
    lines.join("\n") + "\n"
}

/// Describes the other schemes that are left. Schemes that differ only in policy show that no result overflows.
fn also(scheme: &str, others: &[String]) -> String {
    let alone = others.iter().all(|other| family(other) == family(scheme));
    let why = if alone { "no result overflows in this domain" } else { "the same results in this domain" };
    format!("{}: {why}", some(others))
}

/// Describes the schemes that give the kernel's results, and no value to some of them.
fn partly(partly: &[Partly]) -> String {
    let least = partly.iter().map(|one| one.judged).min().unwrap_or(0);
    let names: Vec<String> = partly.iter().map(|one| one.scheme.clone()).collect();
    match partly.len() {
        1 => format!("{} gives {} of these results, and no value to the others", names[0], count(least)),
        _ => format!("{} give {} of these results or more, and no value to the others", some(&names), count(least)),
    }
}

/// Returns the nearest excluded schemes, without duplicates that differ only in policy; only schemes with a known cause, if there are any.
fn nearest(found: &Identified) -> Vec<&Excluded> {
    let mut out: Vec<&Excluded> = Vec::new();
    for near in &found.excluded {
        let is_left = found.left.iter().any(|left| family(left) == family(&near.scheme));
        if !is_left && out.iter().all(|known| family(&known.scheme) != family(&near.scheme)) {
            out.push(near);
        }
    }
    if out.iter().any(|near| near.cause.is_some()) {
        out.retain(|near| near.cause.is_some());
    }
    out.truncate(if found.left.is_empty() { 3 } else { 1 });
    out
}

/// Returns schemes without policies and duplicates. A scheme keeps its policy if another policy of the scheme is left.
fn families(excluded: &[String], left: &[String]) -> Vec<String> {
    let is_left = |label: &str| left.iter().any(|other| family(other) == family(label));
    let name = |label: &String| if is_left(label) { label.clone() } else { family(label).to_owned() };
    let mut out: Vec<String> = excluded.iter().map(name).collect();
    out.dedup();
    out
}

/// Lists the first names, and the number of further names.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// Returns the command that judges the kernel by a scheme.
fn verify(args: &Args, found: &Identified, scheme: &str) -> String {
    let program = called::program();
    match args.place.written() {
        Some(place) => {
            let domain = args.domain.iter().map(|(field, value)| quoted(&format!("{field}={value}")));
            let domain: String = domain.map(|part| format!(" --domain {part}")).collect();
            let (op, scheme, like) = (found.op, quoted(scheme), found.like);
            format!("{program} verify {place} --op {op} --scheme {scheme} --like {like}{domain}")
        }
        None => {
            let promise =
                serde_json::json!({"op": found.op, "kernel": found.kernel, "scheme": scheme, "like": found.like});
            format!("offer {promise} in the worker or in the lanes file, and run {program} verify")
        }
    }
}
