//! `rewrites`: values that rewrites of the quant dialect change.

use super::{Format, table};
use crate::quant_type::{self, Quantized};
use crate::rewrites::{Claim, Coverage, claims, fallback};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use tiebreak_reports::text;

/// Arguments of `rewrites`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A quantized type, such as '!quant.uniform<i8:f32, 0.3:1>' [default: every storage and expressed type, several scales and zero points]
    #[arg(long = "type", value_name = "TYPE")]
    ty: Option<String>,
    /// Compare the fallback of an operation (add, mul, log_softmax, l2_normalization, split or arg_min) through f32 with the exact result, and with an integer lowering
    #[arg(long, value_name = "OP", conflicts_with = "ty")]
    fallback: Option<String>,
    /// Seed of the sampled inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Prints the values that each rewrite changes.
pub(super) fn run(args: &Args) -> Result<()> {
    let claims = match &args.fallback {
        Some(operation) => fallback::claims(operation)?,
        None => claims(args.ty.as_deref().map(uniform).transpose()?.as_ref(), args.seed)?,
    };
    let table = || as_table(&claims) + &args.fallback.as_deref().map(exact).unwrap_or_default();
    args.format.print(table, || &claims)
}

/// Describes the exact cases of a fallback.
fn exact(operation: &str) -> String {
    format!("{}\n", fallback::exact(operation))
}

fn uniform(text: &str) -> Result<Quantized> {
    let ty = quant_type::parse_type(text)?;
    match ty.uniform() {
        Some(uniform) => Ok(uniform.clone()),
        None => bail!("{ty}: not a quantized type; --type takes one such as !quant.uniform<i8:f32, 0.3:1>"),
    }
}

fn as_table(claims: &[Claim]) -> String {
    let row = |claim: &Claim| {
        vec![
            claim.rewrite.clone(),
            claim.ty.clone(),
            count(claim.inputs) + if claim.coverage == Coverage::Sampled { " sampled" } else { "" },
            count(claim.same),
            count(claim.differ),
            count(claim.undefined),
            claim.largest.as_deref().map(decimals).unwrap_or_default().to_owned(),
            claim.verdict().to_owned(),
            claim.nearer.unwrap_or_default().to_owned(),
            claim.witness.clone().unwrap_or_default(),
        ]
    };
    let header = [
        "rewrite",
        "type",
        "inputs",
        "same",
        "differ",
        "poison",
        "largest",
        "verdict",
        "nearer the real value",
        "witness",
    ];
    let mut out = table(&header, claims.iter().map(row).collect());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    claims.iter().for_each(|claim| *counts.entry(claim.verdict()).or_default() += 1);
    let described: Vec<String> = counts.into_iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
    out += &format!("\n{} rewrites of a type: {}\n", claims.len(), described.join("; "));
    out
}

/// Formats all digits of a number below 2^40, and three significant digits of a larger number.
fn count(n: u128) -> String {
    u64::try_from(n).ok().filter(|n| *n < 1 << 40).map_or_else(|| format!("{:.2e}", n as f64), text::count)
}

/// Returns the decimals in `FRACTION = DECIMALS`.
fn decimals(largest: &str) -> &str {
    largest.split(" = ").last().unwrap_or(largest)
}
