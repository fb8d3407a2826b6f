//! Rewrites that every complete run measures, with their recorded counts. A change of the oracle's casts, floats or additions changes a count.
//!
//! The types are small, so that every input is counted in less than a second: the type of the RFC's example `@multiply_add`, whose scales are
//! integers, and a type with bounds. The test `rewrites::every_input_of_the_examples_is_counted` counts the second type with the machine's floats.

use super::{Claim, claims, tfl};
use anyhow::{Result, anyhow};
use tiebreak_common::called;
use tiebreak_mlir::quant_type;
use tiebreak_reports::ledger::{Counts, Rewrite};

/// Type of `@multiply_add`, and a type with bounds.
const TYPES: [&str; 2] = ["!quant.uniform<i8:f32:0, {2.0, 3.0, 4.0}>", "!quant.uniform<i8<-8:7>:f32, 0.3:1>"];

/// Inputs with equal results, with different results, and with poison on one side.
type Recorded = (&'static str, [u64; 3]);

const WHOLE_SCALES: [Recorded; 6] = [
    ("qcast(dcast(q)) -> q", [768, 0, 0]),
    ("scast(scast(q)) -> q", [768, 0, 0]),
    ("dcast(qcast(x)) -> x", [771, 6_820_166_909, 6_014_402_566]),
    ("multiply_add without the cast pair", [805_052, 0, 49_526_596]),
    ("division, quotient, after CSE", [195_840, 0, 768]),
    ("division, remainder, after CSE", [195_840, 0, 768]),
];

const BOUNDED: [Recorded; 8] = [
    ("qcast(dcast(q)) -> q", [16, 0, 0]),
    ("scast(scast(q)) -> q", [256, 0, 0]),
    ("qcast(dcast(q)) -> q, q beyond the bounds", [0, 240, 0]),
    ("dcast(qcast(x)) -> x", [17, 2_218_026_582, 2_060_163_483]),
    ("dcast(qcast(x)) -> x, x beyond the bounds", [0, 65_929_216, 0]),
    ("multiply_add without the cast pair", [2_889, 1_207, 0]),
    ("division, quotient, after CSE", [240, 0, 16]),
    ("division, remainder, after CSE", [240, 0, 16]),
];

/// Counts of every addition by both roundings, then of the border of a pad.
const TFL: [[u64; 3]; 9] = [
    [65_536, 0, 0],
    [65_536, 0, 0],
    [48_340, 17_196, 0],
    [65_536, 0, 0],
    [65_534, 2, 0],
    [65_524, 12, 0],
    [65_536, 0, 0],
    [65_536, 0, 0],
    [1, 255, 0],
];

/// Measures the rewrites of a complete run, and returns them with the recorded counts.
pub fn measured() -> Result<Vec<Rewrite>> {
    let mut rows = Vec::new();
    for (text, recorded) in TYPES.into_iter().zip([&WHOLE_SCALES[..], &BOUNDED]) {
        let ty = quant_type::parse_type(text)?;
        let ty = ty.uniform().ok_or_else(|| anyhow!("{text} is no quantized type"))?;
        let command = format!("{} rewrites --type '{text}'", called::program());
        let found = claims(Some(ty), 1)?;
        anyhow::ensure!(
            found.len() == recorded.len(),
            "{text}: {} rewrites, and {} recorded",
            found.len(),
            recorded.len()
        );
        for claim in &found {
            let record = recorded.iter().find(|(name, _)| *name == claim.rewrite);
            let (_, counts) = record.ok_or_else(|| anyhow!("{text}: no record of {}", claim.rewrite))?;
            rows.push(row(claim, *counts, &command)?);
        }
    }
    let command = format!("{} rewrites", called::program());
    let found = tfl::claims()?;
    anyhow::ensure!(
        found.len() == TFL.len(),
        "{} lowerings of TensorFlow Lite, and {} recorded",
        found.len(),
        TFL.len()
    );
    for (claim, counts) in found.iter().zip(TFL) {
        rows.push(row(claim, counts, &command)?);
    }
    Ok(rows)
}

fn row(claim: &Claim, [same, differ, undefined]: [u64; 3], command: &str) -> Result<Rewrite> {
    let counted = Counts {
        same: claim.same.try_into()?,
        differ: claim.differ.try_into()?,
        undefined: claim.undefined.try_into()?,
    };
    Ok(Rewrite {
        rewrite: claim.rewrite.clone(),
        ty: claim.ty.clone(),
        verdict: claim.verdict().to_owned(),
        counted,
        recorded: Counts { same, differ, undefined },
        command: command.to_owned(),
    })
}
