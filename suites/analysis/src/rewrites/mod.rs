//! Numerical effect of the rewrites of MLIR's quant dialect: the values on which a canonicalization changes a result, and the size of the change (RFC
//! "Improvements in the 'quant' dialect", "Canonicalization" of `quant.dcast`, `quant.qcast`, `quant.scast`; "Workflow example"; "Common
//! subexpression elimination"). The oracle executes the RFC's steps of both sides.

mod expr;
pub mod fallback;
pub mod recorded;
mod round_trip;
mod tfl;
mod workflow;

use anyhow::{Result, anyhow, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;
use tiebreak_mlir::quant_type::{Quantized, Spelled};
use tiebreak_mlir::types::quantizations;
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::{self, Quantization};
use tiebreak_oracle::{dequantize, quantize::Storage as Stored};

/// Statement of the RFC on a rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RfcStatement {
    /// Both values are equal.
    Same,
    /// The results are "slightly different".
    Slight,
    /// The RFC does not mention that a clamp is lost.
    Nothing,
    /// The RFC names two ways, and does not compare their results.
    Ways,
}

/// Share of the inputs that were judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// All inputs.
    Exhaustive,
    /// Ends, powers of two, neighbours of the zero point, and random inputs.
    Sampled,
}

/// Measurement of one rewrite at one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// Rewrite as `before -> after`, or name of the example.
    pub rewrite: String,
    /// Quantized type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Statement of the RFC.
    pub said: RfcStatement,
    /// Coverage of the inputs.
    pub coverage: Coverage,
    /// Number of inputs judged.
    pub inputs: u128,
    /// Inputs on which both sides are defined and equal.
    pub same: u128,
    /// Inputs on which both sides are defined and differ.
    pub differ: u128,
    /// Inputs on which one side is poison.
    pub undefined: u128,
    /// Largest difference, in stored values, or as an exact fraction for expressed values.
    pub largest: Option<String>,
    /// Input with a difference: the one nearest to zero, or with the largest difference.
    pub witness: Option<String>,
    /// Side of the witness that is nearer to the real value: `before`, `after` or `neither`. `None` if nothing differs, or if there is no real value.
    pub nearer: Option<&'static str>,
}

impl Claim {
    fn new(
        rewrite: &str,
        ty: &str,
        said: RfcStatement,
        coverage: Coverage,
        tally: &Tally,
        witness: Option<(Distance, String)>,
    ) -> Self {
        Self {
            rewrite: rewrite.to_owned(),
            ty: ty.to_owned(),
            said,
            coverage,
            inputs: tally.same + tally.differ + tally.undefined,
            same: tally.same,
            differ: tally.differ,
            undefined: tally.undefined,
            largest: (tally.differ > 0).then(|| tally.largest.to_string()),
            witness: witness.map(|(_, described)| described),
            nearer: None,
        }
    }

    /// Adds the side that is nearer to the real value, if there are differences.
    fn nearer(self, side: &'static str) -> Self {
        let nearer = (self.differ > 0).then_some(side);
        Self { nearer, ..self }
    }

    /// Returns the verdict in a few words.
    pub fn verdict(&self) -> &'static str {
        match (self.said, self.differ) {
            (RfcStatement::Same, 0) => "same, as the RFC says",
            (RfcStatement::Same, _) => "not the same",
            (RfcStatement::Slight, 0) => "same",
            (RfcStatement::Slight, _) => "differs, as the RFC says",
            (RfcStatement::Ways, 0) => "equal",
            (RfcStatement::Ways, _) => "differs",
            (RfcStatement::Nothing, 0) => "no clamp is lost",
            (RfcStatement::Nothing, _) => "the clamp is lost",
        }
    }
}

/// Distance of an input from zero, and an order of inputs at equal distance.
type Distance = (u64, i64, i64, i64);

/// Counts of compared stored values.
#[derive(Default)]
struct Tally {
    same: u128,
    differ: u128,
    undefined: u128,
    largest: u64,
    nearest: Option<(Distance, String)>,
}

impl Tally {
    fn undefined(&mut self, inputs: u64) {
        self.undefined += u128::from(inputs);
    }

    fn stored(&mut self, inputs: u64, before: i64, after: i64, at: Distance, described: impl Fn() -> String) {
        if before == after {
            self.same += u128::from(inputs);
            return;
        }
        self.differ += u128::from(inputs);
        self.largest = self.largest.max(before.abs_diff(after));
        if self.nearest.as_ref().is_none_or(|(known, _)| at < *known) {
            self.nearest = Some((at, described()));
        }
    }
}

/// Returns the RFC's steps of both casts.
fn schemes() -> Result<(quantize::Scheme, dequantize::Scheme)> {
    Ok((quantize::Scheme::parse("mlir-qcast")?, dequantize::Scheme::parse("mlir-dcast")?))
}

/// Upper bound on the scales of a type. Each scale adds every input of every rewrite.
pub const MOST_SCALES: usize = 256;

/// Measures every rewrite: at `ty`, or at types of every storage and expressed type. A terminal shows the progress.
pub fn claims(ty: Option<&Quantized>, seed: u64) -> Result<Vec<Claim>> {
    let types: Vec<(String, Vec<Quantization>)> = match ty {
        Some(ty) if ty.scales.len() > MOST_SCALES => {
            let scales = ty.scales.len();
            bail!(
                "{scales} scales are more than the {MOST_SCALES} of which rewrites are measured; give the type of some of them"
            )
        }
        Some(ty) => vec![(Spelled(ty).to_string(), channels(ty)?)],
        None => tried(),
    };
    let bar = ProgressBar::new(0);
    let round_trips: Vec<Vec<Claim>> = types
        .par_iter()
        .map(|(name, channels)| round_trip::claims(name, channels, seed, &bar))
        .collect::<Result<_>>()?;
    let mut claims: Vec<Claim> = round_trips.into_iter().flatten().collect();
    claims.sort_by(|a, b| a.rewrite.cmp(&b.rewrite));
    let examples = match ty {
        Some(_) => types,
        None => vec![of_the_rfc()],
    };
    for (name, channels) in examples.iter().filter(|(_, channels)| channels.iter().all(|c| c.storage.bits <= 8)) {
        claims.extend(workflow::claims(name, channels, &bar)?);
    }
    if ty.is_none() {
        claims.extend(tfl::claims()?);
    }
    bar.finish_and_clear();
    Ok(claims)
}

/// Returns the type of `@multiply_add` in the RFC.
fn of_the_rfc() -> (String, Vec<Quantization>) {
    let storage = Stored { bits: 8, signed: true };
    let channel = |scale: f64| Quantization::whole(Format::F32, rounded(Format::F32, scale), 0, storage);
    ("!quant.uniform<i8:f32:0, {2.0, 3.0, 4.0}>".to_owned(), [2.0, 3.0, 4.0].map(channel).to_vec())
}

const SCALES: [f64; 3] = [0.1, 0.3, 1.0 / 255.0];

/// Returns types of every storage and expressed type, with three scales and the zero points 0, 1 and the maximum; and one type with bounds.
fn tried() -> Vec<(String, Vec<Quantization>)> {
    let storages = [(4, true), (8, true), (8, false), (16, true), (16, false), (32, true), (32, false)];
    let storages = storages.map(|(bits, signed)| Stored { bits, signed });
    let types = storages.into_iter().flat_map(|storage| Format::ALL.map(|format| (storage, format)));
    let mut out: Vec<_> = types
        .map(|(storage, format)| {
            let zero_points = [0, 1, storage.max()];
            let channel = |scale| zero_points.map(|z| Quantization::whole(format, rounded(format, scale), z, storage));
            let name = format!("{}:{}, 3 scales x 3 zero points", storage.name(), format.name());
            (name, SCALES.iter().flat_map(|scale| channel(*scale)).collect())
        })
        .collect();
    let narrow = Quantization {
        min: -8,
        max: 7,
        ..Quantization::whole(Format::F32, rounded(Format::F32, 0.3), 1, Stored { bits: 8, signed: true })
    };
    out.push(("!quant.uniform<i8<-8:7>:f32, 0.3:1>".to_owned(), vec![narrow]));
    out
}

/// Rounds the double `scale` to `format`, as the class of the type does.
fn rounded(format: Format, scale: f64) -> u64 {
    match Format::F64.decode(scale.to_bits()) {
        Float::Finite { value, .. } => format.nearest(&value),
        _ => 0,
    }
}

/// Returns the channels of a type, with rounded scales.
fn channels(ty: &Quantized) -> Result<Vec<Quantization>> {
    quantizations(ty).map_err(|reason| anyhow!("{}: {reason}", Spelled(ty)))
}

/// Formats a channel's scale, as its shortest decimal, and zero point.
fn scale_of(channel: &Quantization) -> String {
    format!("{}:{}", tiebreak_common::floats::shortest(channel.format, channel.scale), channel.zero_point)
}
