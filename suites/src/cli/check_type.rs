//! `check-type`: checks and explains a type or an op of MLIR's quant dialect.

use super::{Format, table};
use crate::quant_type::file::{self, Found};
use crate::quant_type::{Element, Explanation, Granularity, Item, Type, parse};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::fs;
use tiebreak_reports::text as words;

/// Arguments of `check-type`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The type, such as '!quant.uniform<i8<-8:7>:f32, 0.3:1>' or 'tensor<?x2x!quant.uniform<i8:f32:1, {2.0, 3.0}>>', or an op, such
    /// as '%1 = quant.qcast %0 : f32 to !quant.uniform<i8:f32, 2.0>'; or a file FILE.mlir, of which every type and op is verified. Exit code 1 if one of a file breaks a
    /// rule
    text: String,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Maximum number of scales in a table.
const SHOWN: usize = 16;

/// Prints the meaning of the text and returns true. Fails if the text breaks a rule. For a file, returns true if nothing in the file breaks a rule.
pub(super) fn run(args: &Args) -> Result<bool> {
    if args.text.ends_with(".mlir") {
        return whole(&args.text, args.format);
    }
    let item = parse(&args.text)?;
    let ty = match &item {
        Item::Type(ty) => ty,
        Item::Op(op) if op.input.uniform().is_some() => &op.input,
        Item::Op(op) => &op.result,
    };
    let explanation = ty.uniform().map(Explanation::new);
    let op = match &item {
        Item::Op(op) => Some(op.cast.name()),
        Item::Type(_) => None,
    };
    let json = || json!({"text": item.to_string(), "op": op, "quantized": explanation});
    args.format.print(|| as_table(&item, ty, explanation.as_ref()), json)?;
    Ok(true)
}

/// Prints every type and op of a file with its line. Returns true if all types and ops are valid.
fn whole(path: &str, format: Format) -> Result<bool> {
    let text = fs::read_to_string(path).with_context(|| path.to_owned())?;
    let found = file::items(&text);
    if found.is_empty() {
        bail!("{path}: no quantized type and no op of the quant dialect is in it");
    }
    let broken = found.iter().filter(|one| one.item.is_err()).count();
    let json = || {
        let one = |Found { line, text, item }: &Found| {
            let error = item.as_ref().err().map(ToString::to_string);
            json!({"line": line, "text": text, "error": error})
        };
        json!({"file": path, "items": found.iter().map(one).collect::<Vec<_>>(), "broken": broken})
    };
    let table = || {
        let one = |Found { line, text, item }: &Found| match item {
            Ok(_) => format!("{path}:{line}: sound: {text}\n"),
            Err(error) => format!("{path}:{line}: broken: {error}\n"),
        };
        let each: String = found.iter().map(one).collect();
        format!("{each}\n{}: {} sound, {broken} broken\n", words::plural(found.len(), "item"), found.len() - broken)
    };
    format.print(table, json)?;
    Ok(broken == 0)
}

fn as_table(item: &Item, ty: &Type, explanation: Option<&Explanation>) -> String {
    let mut out = format!("{item}\n");
    let Some(Explanation { storage, min, max, expressed, shares, scales, warnings }) = explanation else {
        return out + "\nNot quantized.\n";
    };
    let mut facts = vec![
        vec!["stored".to_owned(), format!("{storage}, {min} to {max}")],
        vec!["expressed".to_owned(), (*expressed).to_owned()],
        vec!["scales".to_owned(), shares.clone()],
    ];
    facts.extend(at_run_time(ty, scales.len()));
    out += &format!("\n{}\n", table(&["quantized type", ""], facts));
    let reals = |ends: [crate::quant_type::Dyadic; 2]| format!("{} to {}", ends[0].about(), ends[1].about());
    let rows = scales.iter().take(SHOWN).map(|s| {
        vec![s.step.to_string(), s.bits.clone(), s.zero_point.to_string(), reals([s.least, s.most]), reals(s.converted)]
    });
    out += &table(&["step, exact", "bits", "zero point", "reals", "not poison in mlir-opt"], rows.collect());
    if scales.len() > SHOWN {
        out += &format!(" and {} more; all with --format json\n", scales.len() - SHOWN);
    }
    if warnings.is_empty() {
        out += "\nEvery stored value is dequantized exactly, each to a number of its own.\n";
    }
    for (i, warning) in warnings.iter().enumerate() {
        out += &format!("{}warning: {warning}\n", if i == 0 { "\n" } else { "" });
    }
    out
}

/// Returns conditions that only hold or fail at run time.
fn at_run_time(ty: &Type, scales: usize) -> Option<Vec<String>> {
    let Element::Uniform(uniform) = ty.element() else { return None };
    let text = match (&uniform.granularity, ty) {
        (Granularity::Layer, _) => return None,
        (Granularity::Channel { axis }, Type::Scalar(_)) => {
            format!("a tensor of this type must have {scales} at axis {axis}; a scalar may not have it")
        }
        (Granularity::Channel { axis }, Type::Ranked { dims, .. }) if dims[*axis].is_some() => return None,
        (Granularity::Channel { axis }, _) => format!("the size of axis {axis} must be {scales}"),
        (Granularity::Blocks { sizes, counts }, _) => {
            let known = |axis: usize| matches!(ty, Type::Ranked { dims, .. } if dims[axis].is_some());
            let at = |(axis, size): &(usize, usize)| {
                let count = counts.get(*axis).filter(|_| !known(*axis))?;
                Some(format!("{} at axis {axis}", size.saturating_mul(*count)))
            };
            let sizes: Vec<String> = sizes.iter().filter_map(at).collect();
            match (ty, sizes.is_empty()) {
                (Type::Ranked { .. }, true) => return None,
                (Type::Ranked { .. }, false) => format!("the tensor must have {}", sizes.join(", ")),
                _ => format!(
                    "a tensor of this type must be ranked, of {} dimensions{}{}",
                    counts.len(),
                    if sizes.is_empty() { "" } else { ", with " },
                    sizes.join(", ")
                ),
            }
        }
    };
    Some(vec!["at run time".to_owned(), text])
}
