//! Smaller cases of quantize and dequantize.

use crate::quantized::covers;
use crate::tensor::Case;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Granularity, Params, Quantized, Scale};

/// Halves of a tensor, or the elements of one channel by themselves; of a single element, plainer parameters. `words` is those of an
/// input element.
pub(crate) fn smaller(case: &Case<Params>, words: usize, domain: &Domain) -> Vec<Case<Params>> {
    let p = &case.params;
    let len = case.tensors[0].len() / words;
    let mut out = match p.quantized.granularity {
        Granularity::Layer if p.shape.len() > 1 => {
            vec![part(case, words, Params { shape: vec![len], ..p.clone() }, 0..len)]
        }
        Granularity::Layer if len > 1 => {
            let cuts = [0..len / 2, len / 2..len, 0..len - 1, 1..len];
            cuts.map(|cut| part(case, words, Params { shape: vec![cut.len()], ..p.clone() }, cut)).to_vec()
        }
        Granularity::Layer => plainer(p).into_iter().map(|params| Case { params, ..case.clone() }).collect(),
        _ => (0..p.quantized.scales.len()).map(|channel| of_channel(case, words, channel)).collect(),
    };
    if case.misalign > 0 {
        out.push(Case { misalign: 0, ..case.clone() });
    }
    out.retain(|smaller| smaller != case && covers(domain, &smaller.params));
    out
}

fn part(case: &Case<Params>, words: usize, params: Params, elements: impl IntoIterator<Item = usize>) -> Case<Params> {
    let element = |at: usize| &case.tensors[0][at * words..][..words];
    let values: Vec<i32> = elements.into_iter().flat_map(element).copied().collect();
    Case { params, tensors: [values, Vec::new(), Vec::new()], misalign: case.misalign }
}

/// The elements of one channel, per layer.
fn of_channel(case: &Case<Params>, words: usize, channel: usize) -> Case<Params> {
    let p = &case.params;
    let elements: Vec<usize> = (0..case.tensors[0].len() / words).filter(|at| p.scale_of(*at) == channel).collect();
    let quantized = Quantized {
        granularity: Granularity::Layer,
        scales: vec![p.quantized.scales[channel]],
        zero_points: vec![p.quantized.zero_points[channel]],
        ..p.quantized.clone()
    };
    part(case, words, Params { quantized, container: p.container, shape: vec![elements.len()] }, elements)
}

/// Each parameter as plain as can be, one at a time.
fn plainer(p: &Params) -> Vec<Params> {
    let quantized = &p.quantized;
    let (lo, hi) = (*quantized.storage.range().start(), *quantized.storage.range().end());
    let with = |quantized: Quantized| Params { quantized, ..p.clone() };
    vec![
        Params { container: Container::Ranked, ..p.clone() },
        with(Quantized { min: lo, max: hi, ..quantized.clone() }),
        with(Quantized { zero_points: vec![0.clamp(quantized.min, quantized.max)], ..quantized.clone() }),
        with(Quantized { scales: vec![Scale(1.0)], ..quantized.clone() }),
    ]
}
