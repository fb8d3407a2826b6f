//! `explain quantize` and `explain dequantize`: steps of one value.

use super::show::{Shown, show};
use super::wanted;
use crate::cli::{Listing, scheme};
use crate::dequantize::Dequantize;
use crate::engine::erased::op;
use crate::explain::case::{Wanted, evaluated_line};
use crate::explain::{cast, dequantize, quantize};
use crate::floats::shortest;
use crate::operation::element::bits;
use crate::operation::{Element, Operation, kernels};
use crate::quantize::Quantize;
use crate::quantized::{format, places, read_type};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use tiebreak_impls::quantized::{Granularity, Params, Quantized};
use tiebreak_oracle::dequantize::Definition as Dequantization;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::names::unknown;
use tiebreak_oracle::quantize::Definition as Quantization;
use tiebreak_oracle::{dequantize as to_float, quantize as to_stored};

/// Arguments of both commands.
#[derive(Debug, clap::Args)]
struct Shared {
    /// The type, such as '!quant.uniform<i8<-8:7>:f32, 0.3:1>'
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "case")]
    text: Option<String>,
    /// The case in words, as `verify --case` takes it, in place of type, scale and value; `at=3` names the result [default: the first]
    #[arg(long, value_name = "CASE", conflicts_with_all = ["text", "channel"])]
    case: Option<String>,
    /// Number of the scale, from 0, for a type with several channels or blocks
    #[arg(long, value_name = "N")]
    channel: Option<usize>,
    #[command(flatten)]
    own: super::own::Args,
    /// Output format; CSV has one line for each step
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

/// Arguments of `explain quantize`.
#[derive(Debug, clap::Args)]
pub(super) struct ToStored {
    #[command(flatten)]
    shared: Shared,
    /// Scheme, NAME or NAME:POLICY; further schemes are compared with the first
    #[arg(long, value_name = "NAME", required_unless_present = "kernel", value_parser = scheme::<&'static Quantization>)]
    scheme: Vec<to_stored::Scheme>,
    /// Kernel to run in this process; compared with the first scheme, or with its contract if no scheme is given
    #[arg(long, value_name = "NAME", value_parser = kernel::<Quantize>)]
    kernel: Vec<&'static tiebreak_impls::quantize::Kernel>,
    /// The float: a decimal, rounded to the expressed type, or its bits as 0x...; inf, -inf, nan
    #[arg(
        long,
        value_name = "X",
        allow_hyphen_values = true,
        required_unless_present = "case",
        conflicts_with = "case"
    )]
    x: Option<String>,
}

/// Arguments of `explain dequantize`.
#[derive(Debug, clap::Args)]
pub(super) struct ToFloat {
    #[command(flatten)]
    shared: Shared,
    /// Scheme; further schemes are compared with the first
    #[arg(long, value_name = "NAME", required_unless_present = "kernel", value_parser = scheme::<&'static Dequantization>)]
    scheme: Vec<to_float::Scheme>,
    /// Kernel to run in this process; compared with the first scheme, or with its contract if no scheme is given
    #[arg(long, value_name = "NAME", value_parser = kernel::<Dequantize>)]
    kernel: Vec<&'static tiebreak_impls::dequantize::Kernel>,
    /// The stored value
    #[arg(
        long,
        value_name = "Q",
        allow_negative_numbers = true,
        required_unless_present = "case",
        conflicts_with = "case"
    )]
    q: Option<i64>,
}

type Found<O> = &'static tiebreak_impls::kernel::Kernel<<O as Operation>::Run, <O as Operation>::Domain>;

fn kernel<O: Operation>(name: &str) -> Result<Found<O>, String> {
    let found = kernels::<O>().iter().find(|kernel| kernel.name == name);
    found.ok_or_else(|| unknown("kernel", name, kernels::<O>().iter().map(|k| k.name)).to_string())
}

/// Returns the type reduced to the selected scale, and a description of that scale.
fn one(shared: &Shared) -> Result<(Quantized, Vec<String>)> {
    let text = shared.text.as_deref().unwrap_or_default();
    let all = read_type(text).map_err(|reason| anyhow!("--type: {reason}"))?;
    let count = all.scales.len();
    let at = match (shared.channel, &all.granularity) {
        (None, Granularity::Layer) => 0,
        (None, _) => bail!("--channel: the type has {count} scales; choose one with --channel 0 to {}", count - 1),
        (Some(at), _) if at < count => at,
        (Some(at), _) => bail!("--channel: {at} is beyond the last of {count} scales, which are numbered from 0"),
    };
    let (scale, zero_point) = (all.scales[at], all.zero_points[at]);
    let quantized =
        Quantized { granularity: Granularity::Layer, scales: vec![scale], zero_points: vec![zero_point], ..all };
    let format = format(quantized.expressed);
    let text = format!("{:?}", scale.0);
    let bits = format.from_decimal(&text).ok_or_else(|| anyhow!("--type: the scale {text} is not a number"))?;
    Ok((quantized, cast::read("scale", &text, format, bits).into_iter().collect()))
}

/// Returns the result that a case names: its type with a single scale, and the input words.
fn of_case<O: Operation<Params = Params>>(wanted: &Wanted) -> Result<(Quantized, Vec<i32>)> {
    let evaluated_line = evaluated_line(op::<O>(), wanted)?;
    let (at, params) = (evaluated_line.at.unwrap_or(0), evaluated_line.case.params.typed::<O>());
    let element = evaluated_line.domain.element(&evaluated_line.case.params, 0);
    let words = evaluated_line.case.tensors[0].chunks(element.words()).nth(at).context("--case: it has no input")?;
    let scale = *places::scales(params).get(at).context("--case: the result has no scale")?;
    let q = &params.quantized;
    let (scales, zero_points) = (vec![q.scales[scale]], vec![q.zero_points[scale]]);
    Ok((Quantized { granularity: Granularity::Layer, scales, zero_points, ..q.clone() }, words.to_vec()))
}

/// Parses a float.
fn float(text: &str, format: Format) -> Result<u64> {
    let name = format.name();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let bits =
            u64::from_str_radix(digits, 16).ok().filter(|bits| bits.checked_shr(format.bits()).unwrap_or(0) == 0);
        return bits.ok_or_else(|| anyhow!("--x: `{text}` is not the {} bits of a {name}", format.bits()));
    }
    match text.to_ascii_lowercase().as_str() {
        "inf" | "+inf" => return Ok(format.infinity()),
        "-inf" => return Ok(format.infinity() | format.sign()),
        "nan" => return Ok(format.nan()),
        _ => {}
    }
    let value = tiebreak_oracle::float::decimal(text);
    let bits = value.map(|value| format.nearest(&value));
    let sign = if text.starts_with('-') { format.sign() } else { 0 };
    let bits = bits.map(|bits| if bits == 0 { sign } else { bits });
    bits.ok_or_else(|| {
        anyhow!("--x: `{text}` is neither a decimal, such as -0.25 or 1e-3, nor bits, such as 0x3e800000")
    })
}

/// Returns the field with the type or the case.
fn named(shared: &Shared) -> Vec<(&'static str, Value)> {
    match &shared.case {
        Some(case) => vec![("case", json!(case))],
        None => vec![("type", json!(shared.text))],
    }
}

pub(super) fn quantize(args: &ToStored) -> Result<()> {
    let wanted = wanted(&args.shared.case, &args.scheme, &args.kernel);
    if args.shared.own.is_given() {
        return args.shared.own.explain::<Quantize>(&wanted, args.shared.format);
    }
    let (quantized, notes, x) = match &args.shared.case {
        Some(_) => {
            let (quantized, words) = of_case::<Quantize>(&wanted)?;
            (quantized, Vec::new(), bits(&words))
        }
        None => {
            let (quantized, mut notes) = one(&args.shared)?;
            let (format, text) = (format(quantized.expressed), args.x.as_deref().unwrap_or_default());
            let x = float(text, format)?;
            notes.extend(cast::read("x", text, format, x));
            (quantized, notes, x)
        }
    };
    let format = format(quantized.expressed);
    let mut sheet = quantize::explain(&quantized, x, &args.scheme, &args.kernel).map_err(|reason| anyhow!(reason))?;
    sheet.notes = notes;
    let mut input = named(&args.shared);
    input.push(("x", json!(shortest(format, x))));
    input.push(("bits", json!(format!("{x:#x}"))));
    input.extend(args.shared.channel.map(|channel| ("channel", json!(channel))));
    show(&Shown { op: "quantize", input, sheet }, args.shared.format)
}

pub(super) fn dequantize(args: &ToFloat) -> Result<()> {
    let wanted = wanted(&args.shared.case, &args.scheme, &args.kernel);
    if args.shared.own.is_given() {
        return args.shared.own.explain::<Dequantize>(&wanted, args.shared.format);
    }
    let (quantized, notes, q) = match &args.shared.case {
        Some(_) => {
            let (quantized, words) = of_case::<Dequantize>(&wanted)?;
            let q = Element::Integer(quantized.storage.range()).place(&words);
            (quantized, Vec::new(), q)
        }
        None => {
            let (quantized, notes) = one(&args.shared)?;
            (quantized, notes, args.q.unwrap_or_default())
        }
    };
    let range = quantized.storage.range();
    if !range.contains(&q) {
        let (min, max) = range.into_inner();
        bail!("--q: {q} does not fit {}, which has {min} to {max}", quantized.storage.name());
    }
    let mut sheet = dequantize::explain(&quantized, q, &args.scheme, &args.kernel).map_err(|reason| anyhow!(reason))?;
    sheet.notes = notes;
    let mut input = named(&args.shared);
    input.push(("q", json!(q)));
    input.extend(args.shared.channel.map(|channel| ("channel", json!(channel))));
    show(&Shown { op: "dequantize", input, sheet }, args.shared.format)
}
