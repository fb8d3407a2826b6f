//! Audit of a model: the number, place and size of changes in its results if the runtime changes.
//!
//! For each channel, the accumulators that weights, bias and input type allow are counted, not sampled. Each side is a staircase with at most as many
//! steps as the output type has values, and the sides differ on intervals.

mod compare;
mod constants;
mod hazards;
mod reach;
pub mod report;
mod runtime;
mod runtimes;

pub use constants::{Constants, constants, of as constants_of, rescaled};
pub use hazards::{LANES, Lanes};
pub use reach::Reach;
pub use runtime::{NoMultiplier, Rescaling, Runtime, Side, Sums, Way};
pub use runtimes::RUNTIMES;

use crate::model::operators::{Arithmetic, Kind, MOVES, Operator, Products, Rescale};
use crate::model::{self, BadModel, Fault, MAX_LAYERS, Quantized};
use compare::Binary;
use indexmap::IndexSet;
use rayon::prelude::*;
use report::{
    Accumulators, Audit, Channel, ChannelCounts, Comparison, FORMAT, Layer, LayerCounts, NotAudited, Tensor, Totals,
    Worst,
};
use std::path::Path;
use tiebreak_common::identity::hash_bytes as hash;
use tiebreak_impls::element::Element;
use tiebreak_oracle::Rational;
use tiebreak_oracle::census::Requantizer;
use tiebreak_oracle::derivation::{Derivation, Scales, quantize_multiplier};
use tiebreak_oracle::fpm::pieces::Output;

/// Upper bound on the weights of a model. A tensor counts once for each layer that reads it.
const MAX_WEIGHTS: usize = 1 << 28;

/// Upper bound on the channels of a model.
const MAX_CHANNELS: usize = 1 << 20;

/// Length of the list of worst channels.
const WORST: usize = 10;

/// Derivations shown for each channel.
const DERIVATIONS: [&str; 3] = ["f64", "f32-f64", "f32"];

/// Audits the model `bytes` of the file at `path`, and compares `left` with each of `right`.
pub fn audit(path: &Path, bytes: &[u8], left: Side, right: &[Side]) -> Result<Audit, BadModel> {
    let fault = |fault| BadModel::Fault { path: path.to_owned(), fault };
    let audit = examine(bytes, left, right).map_err(fault)?;
    Ok(Audit { model: path.display().to_string(), sha256: hash(bytes), ..audit })
}

/// Version of [`audit`] without the name of a file.
pub fn examine(bytes: &[u8], left: Side, right: &[Side]) -> Result<Audit, Fault> {
    let comparison = |side: &Side| Comparison {
        left: left.label(),
        left_summary: left.summary(),
        left_version: left.version(),
        right: side.label(),
        right_summary: side.summary(),
        right_version: side.version(),
        totals: Totals::default(),
        derivation: Totals::default(),
        worst: Vec::new(),
        layers: Vec::new(),
        not_compared: Vec::new(),
    };
    let mut comparisons: Vec<Comparison> = right.iter().map(comparison).collect();
    let (mut layers, mut not_audited, mut without_arithmetic) = (Vec::new(), Vec::new(), Vec::new());
    let (mut weights, mut channels) = (0usize, 0usize);
    let kind = model::operators(bytes, &mut |operator| {
        let Operator { index, op, name, arithmetic } = operator;
        let outside = |reason: String| NotAudited { index, op: op.clone(), name: name.clone(), reason };
        let arithmetic = match arithmetic {
            Ok(arithmetic) => arithmetic,
            Err(reason) => {
                let list = if reason == MOVES { &mut without_arithmetic } else { &mut not_audited };
                list.push(outside(reason));
                return Ok(());
            }
        };
        if layers.len() == MAX_LAYERS {
            let problem = format!("more than {MAX_LAYERS} layers; give a smaller model");
            return Err(Fault::Unsupported { place: name, problem });
        }
        if let Arithmetic::Products(products) = &arithmetic {
            weights = weights.saturating_add(products.weights.channels.saturating_mul(products.weights.depth));
            channels += products.weights.channels;
            if weights > MAX_WEIGHTS || channels > MAX_CHANNELS {
                let problem =
                    format!("more than {MAX_WEIGHTS} weights or {MAX_CHANNELS} channels; give a smaller model");
                return Err(Fault::Unsupported { place: name, problem });
            }
        }
        let examined = examined(&arithmetic);
        for (comparison, side) in comparisons.iter_mut().zip(right) {
            match compared(&arithmetic, &examined, left, *side) {
                Ok((ways, channels, derivation)) => {
                    comparison.derivation.add(&derivation);
                    comparison.put((index, &op, &name), ways, channels);
                }
                Err(reason) => comparison.not_compared.push(outside(reason)),
            }
        }
        layers.push(layer((index, op, name), &arithmetic, examined));
        Ok(())
    })?;
    comparisons.iter_mut().for_each(Comparison::settle);
    let (model, sha256) = (String::new(), String::new());
    Ok(Audit { format: FORMAT, model, sha256, kind, comparisons, layers, not_audited, without_arithmetic })
}

impl Comparison {
    fn put(
        &mut self,
        (index, op, name): (usize, &str, &str),
        [left, right]: [String; 2],
        channels: Vec<ChannelCounts>,
    ) {
        let mut totals = Totals::default();
        channels.iter().for_each(|channel| totals.add(&channel.totals()));
        self.totals.add(&totals);
        let (op, name) = (op.to_owned(), name.to_owned());
        self.layers.push(LayerCounts { index, op, name, left, right, totals, channels });
    }

    /// Sorts the worst channels: highest rate, then largest difference, then first.
    fn settle(&mut self) {
        let all = self.layers.iter().flat_map(|layer| layer.channels.iter().map(move |channel| (layer, channel)));
        let mut worst: Vec<_> = all.filter(|(_, channel)| channel.differ > 0).collect();
        worst.sort_by(|(_, a), (_, b)| {
            let share = |x: &ChannelCounts, y: &ChannelCounts| u128::from(x.differ) * u128::from(y.inputs);
            share(b, a).cmp(&share(a, b)).then(b.totals().largest.cmp(&a.totals().largest))
        });
        let row = |(layer, channel): &(&LayerCounts, &ChannelCounts)| Worst {
            index: layer.index,
            op: layer.op.clone(),
            counts: (*channel).clone(),
        };
        self.worst = worst.iter().take(WORST).map(row).collect();
    }
}

/// Properties of a layer's channels that do not depend on a runtime.
struct Examined {
    reaches: Vec<Reach>,
    channels: Vec<Channel>,
}

fn examined(arithmetic: &Arithmetic<'_>) -> Examined {
    let (reaches, channels) = match arithmetic {
        Arithmetic::Products(products) => {
            let all = 0..products.weights.channels;
            all.into_par_iter().map(|channel| of_products(products, channel)).unzip()
        }
        Arithmetic::Rescale(rescale) => {
            let reach = Reach::of(0, std::iter::once(1), differences(rescale.input));
            let channel = facts(0, 1.0, 0, &reach, &rescale_scales(rescale));
            (vec![reach], vec![channel])
        }
        Arithmetic::Add(_) | Arithmetic::Mul(_) => (Vec::new(), Vec::new()),
    };
    Examined { reaches, channels }
}

fn of_products(products: &Products<'_>, channel: usize) -> (Reach, Channel) {
    let bias = products.bias(channel);
    let activations = differences(products.input);
    let reach = Reach::of(bias, products.weights.centred(channel), activations);
    let mut facts = facts(channel, products.scale(channel), bias, &reach, &scales(products, channel));
    if products.kind != Kind::Depthwise {
        // Unsigned bytes are stored with an offset of 128.
        let offset = if products.weights.element == Element::U8 { 128 } else { 0 };
        let weights: Vec<i32> = products.weights.stored(channel).map(|w| w - offset).collect();
        facts.pairs = hazards::pairs(&weights);
    }
    // Every product can be 0, so partial sums are between the sum of all negative products and the sum of all positive products.
    let (lo, hi) = (reach.lo.min(0).min(bias.into()), reach.hi.max(0).max(bias.into()));
    facts.overflows_int32 = lo < i64::from(i32::MIN) || hi > i64::from(i32::MAX);
    (reach, facts)
}

fn facts(channel: usize, scale: f32, bias: i32, reach: &Reach, scales: &Scales) -> Channel {
    let multiplier = |name: &'static str| {
        let derivation = Derivation::find(name).expect("a derivation");
        quantize_multiplier(&(derivation.real)(scales)).map(|m| (name, m.into()))
    };
    let large = reach.lo.abs().max(reach.hi.abs()) > 1 << 24;
    Channel {
        channel,
        weight_scale: scale.into(),
        bias,
        accumulators: Accumulators { min: reach.lo, max: reach.hi, count: reach.total(), exact: reach.exact },
        multipliers: DERIVATIONS.into_iter().filter_map(multiplier).collect(),
        pairs: Vec::new(),
        overflows_int32: false,
        inexact_in_float: large,
    }
}

/// Returns the range of stored values minus the zero point.
fn differences(tensor: Quantized) -> std::ops::RangeInclusive<i32> {
    let range = tensor.element.range();
    range.start() - tensor.zero_point..=range.end() - tensor.zero_point
}

fn exact(scale: f32) -> Rational {
    Rational::from_f32(scale).expect("a scale is a finite number")
}

fn scales(products: &Products<'_>, channel: usize) -> Scales {
    let [input, weight, output] = [products.input.scale, products.scale(channel), products.output.scale].map(exact);
    Scales { input, weight, output }
}

fn rescale_scales(rescale: &Rescale) -> Scales {
    Scales { input: exact(rescale.input.scale), weight: Rational::from(1), output: exact(rescale.output.scale) }
}

/// Derivation and scheme of both sides, counts of each channel, and changes by the derivation alone.
type Compared = ([String; 2], Vec<ChannelCounts>, Totals);

fn compared(arithmetic: &Arithmetic<'_>, examined: &Examined, left: Side, right: Side) -> Result<Compared, String> {
    let missing = |side: Side, what: &str| format!("{what} of {} is not defined here", side.label());
    let both = |of: fn(&Side, Element) -> Option<&'static str>, what: &str, element: Element| {
        let name =
            |side: Side| of(&side, element).ok_or_else(|| missing(side, &format!("{what} of {}", element.name())));
        Ok::<_, String>([name(left)?, name(right)?])
    };
    let pairs = |which, names: [&'static str; 2], layer| {
        let counts = compare::pairs(which, names, layer)?;
        Ok((names.map(str::to_owned), vec![counts], Totals::default()))
    };
    match arithmetic {
        Arithmetic::Add(layer) => pairs(Binary::Add, both(Side::add, "the addition", layer.output.element)?, layer),
        Arithmetic::Mul(layer) => {
            pairs(Binary::Mul, both(Side::mul, "the multiplication", layer.output.element)?, layer)
        }
        Arithmetic::Rescale(rescale) => {
            let (input, output) = (rescale.input.element, rescale.output.element);
            let what = || format!("the rescaling from {} to {}", input.name(), output.name());
            let of = |side: Side| side.rescale(input, output).ok_or_else(|| missing(side, &what()));
            let ways = [of(left)?, of(right)?];
            let range = output.range();
            let output = Output { zero_point: rescale.output.zero_point, min: *range.start(), max: *range.end() };
            channels(|_| ways, &output, &examined.reaches, |_| rescale_scales(rescale))
        }
        Arithmetic::Products(products) => {
            let of = |side: Side, channel: usize| side.products(Sums::of(products, channel));
            for side in [left, right] {
                of(side, 0).ok_or_else(|| missing(side, "the product of u8"))?;
            }
            let (min, max) = products.clamp;
            let output = Output { zero_point: products.output.zero_point, min, max };
            let ways = |channel| [left, right].map(|side| of(side, channel).expect("no channel alone has no way"));
            channels(ways, &output, &examined.reaches, |channel| scales(products, channel))
        }
    }
}

fn channels(
    ways: impl Fn(usize) -> [Way; 2] + Sync,
    output: &Output,
    reaches: &[Reach],
    scales: impl Fn(usize) -> Scales + Sync,
) -> Result<Compared, String> {
    let of = |(channel, reach): (usize, &Reach)| {
        let (scales, ways) = (scales(channel), ways(channel));
        // Scheme of the left side with the derivation of the right side.
        let moved = Way { derivation: ways[1].derivation, ..ways[0] };
        let same = ways[0].derivation.name == ways[1].derivation.name;
        let requantizer = |way: &Way| way.of(&scales).map_err(|error| format!("channel {channel}: {error}"));
        let counted = |a: &Requantizer, b: &Requantizer| {
            compare::channel(a, b, output, reach).map_err(|reason| format!("channel {channel}: {reason}"))
        };
        let (a, left) = requantizer(&ways[0])?;
        let (b, right) = requantizer(&ways[1])?;
        let counts = ChannelCounts {
            channel: Some(channel),
            left: left.map(Into::into),
            right: right.map(Into::into),
            ways: Some([0, 1].map(|side| ways[side].label())),
            ..counted(&a, &b)?
        };
        let derivation = if same {
            Totals { channels: 1, ..Totals::default() }
        } else {
            let (c, other): (Requantizer, _) = requantizer(&moved)?;
            let [real, moved] = [ways[0], moved].map(|way| (way.derivation.real)(&scales));
            match real == moved || other.is_some() && other == left {
                true => Totals { channels: 1, ..Totals::default() },
                false => counted(&a, &c)?.totals(),
            }
        };
        Ok((counts, derivation))
    };
    let counted: Vec<(ChannelCounts, Totals)> =
        reaches.par_iter().enumerate().map(of).collect::<Result<_, String>>()?;
    let mut derivation = Totals::default();
    counted.iter().for_each(|(_, totals)| derivation.add(totals));
    let labels = [0, 1].map(|side| labels(side, reaches.len(), &ways));
    Ok((labels, counted.into_iter().map(|(counts, _)| counts).collect(), derivation))
}

/// Lists the ways of a side, each once, in the order of channels.
fn labels(side: usize, channels: usize, ways: &impl Fn(usize) -> [Way; 2]) -> String {
    let ways = (0..channels).map(|channel| ways(channel)[side]);
    let labels: IndexSet<String> = ways.map(|way| way.label()).collect();
    labels.into_iter().collect::<Vec<_>>().join(", ")
}

fn layer((index, op, name): (usize, String, String), arithmetic: &Arithmetic<'_>, examined: Examined) -> Layer {
    let (depth, inputs, output, clamp) = match arithmetic {
        Arithmetic::Products(p) => (p.weights.depth, vec![p.input], p.output, p.clamp),
        Arithmetic::Add(e) | Arithmetic::Mul(e) => (0, e.operands.to_vec(), e.output, e.clamp),
        Arithmetic::Rescale(r) => {
            let range = r.output.element.range();
            (1, vec![r.input], r.output, (*range.start(), *range.end()))
        }
    };
    let inputs = inputs.into_iter().map(tensor).collect();
    Layer { index, op, name, depth, inputs, output: tensor(output), clamp, channels: examined.channels }
}

fn tensor(tensor: Quantized) -> Tensor {
    Tensor { element: tensor.element.name(), scale: tensor.scale.into(), zero_point: tensor.zero_point }
}

#[cfg(test)]
mod tests;
