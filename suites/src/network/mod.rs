//! Network of a model, run by the exact oracle layer after layer. The exact run supplies the case of each layer for the kernels of its operation.
//! Kernels of one system also run through all layers.
//!
//! The exact network is the composition of the contracts of TFLite's reference kernels ([`EXACT`]). The stages of the engine judge each kernel on the
//! exact input of each layer, against its own contract. This module counts differences at the outputs of the network.

mod blocks;
mod call;
mod families;

pub use blocks::{Piece, pieces};

use crate::audit;
use crate::dequantize::Dequantize;
use crate::elementwise::{Add, Mul};
use crate::model::Fault;
use crate::model::network::{self, Node, Source, Stored, Work};
use crate::model::operators::{Quantized, Rescale};
use crate::operation::{Block, Case, Stage};
use crate::pool::Pool;
use crate::quantize::Quantize;
use crate::requantize::Requantize;
use crate::stream::{int32, stream};
use call::{Call, Of, Parts, convolution};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::{Container, Expressed, Granularity, Scale};
use tiebreak_impls::{elementwise, qconv2d, quantized, requantize};
use tiebreak_reports::ledger;

/// Kernels whose contracts define the exact arithmetic.
pub const EXACT: [&str; 8] = [
    "tflite-conv-i8",
    "tflite-add-i8",
    "tflite-mul-i8",
    "tflite-average-pool-i8",
    "tflite-max-pool-i8",
    "tflite-requantize-i8",
    "tflite-quantize",
    "tflite-dequantize",
];

/// Values of a tensor: stored integers, or bits of floats.
type Values = Rc<Vec<i32>>;

/// Results by layer position and input.
type Results = HashMap<(usize, usize), Vec<i32>>;

/// Inputs of the network. An input has the values of every input tensor.
pub type Inputs = Vec<Vec<Vec<i32>>>;

/// Network with its cases.
pub struct Planned {
    /// Cases of the layers, for every kernel.
    pub stages: Vec<Arc<Stage>>,
    /// Entry of the network in the ledger.
    pub network: ledger::Network,
}

/// Draws random inputs: stored integers over the full type, and floats in the range of the `QUANTIZE` that reads them.
pub fn random(net: &network::Network<'_>, count: usize, seed: u64) -> Inputs {
    let one = |input: usize| net.inputs.iter().map(|at| drawn(net, *at, input, seed)).collect();
    (0..count).map(one).collect()
}

/// Draws random values of a tensor.
fn drawn(net: &network::Network<'_>, at: usize, input: usize, seed: u64) -> Vec<i32> {
    let mut rng = stream(seed, &format!("network/tensor {at}/input {input}"));
    let tensor = &net.tensors[at];
    let quantizes =
        |node: &&Node<'_>| matches!(node.work, Ok(Work::Quantize)) && node.inputs.first() == Some(&Some(at));
    let quantized = net.nodes.iter().find(quantizes).and_then(|node| quantized_as(net, node.outputs[0]));
    let uniform = |element: Element, bits: i32| {
        let (lo, hi) = (i64::from(*element.range().start()), i64::from(*element.range().end()));
        (lo + ((i64::from(bits as u32) * (hi - lo + 1)) >> 32)) as i32
    };
    let mut value = || match (tensor.stored, quantized) {
        (Stored::Quantized(q), _) => uniform(q.element, int32(&mut rng)),
        // A value of the type plus sixteenths of a step: most values are rounded, and some are ties.
        (Stored::Float, Some(q)) => {
            let steps = uniform(q.element, int32(&mut rng)) - q.zero_point;
            let part = uniform(Element::I8, int32(&mut rng)) & 15;
            ((steps * 16 + part) as f32 / 16.0 * q.scale).to_bits() as i32
        }
        _ => (f32::from(uniform(Element::I16, int32(&mut rng)) as i16) / 32768.0).to_bits() as i32,
    };
    (0..tensor.len()).map(|_| value()).collect()
}

fn quantized_as(net: &network::Network<'_>, at: usize) -> Option<Quantized> {
    match net.tensors[at].stored {
        Stored::Quantized(q) => Some(q),
        _ => None,
    }
}

/// Node with the data for its computation.
struct Layer<'n, 'a> {
    node: &'n Node<'a>,
    constants: Option<audit::Constants>,
    channel: Option<tiebreak_impls::fpm::Channel>,
    exact: &'static str,
}

/// Network with data for every layer.
struct Run<'n, 'a> {
    net: &'n network::Network<'a>,
    layers: Vec<Layer<'n, 'a>>,
    seed: u64,
}

/// Computation of a part of a layer.
type Compute<'c> = &'c dyn Fn(&dyn Call, &'static str) -> Result<Vec<i32>, String>;

/// Outcome of a layer for an input.
enum Ended {
    /// The parts were computed.
    Computed(Parts),
    /// Values were moved, or the layer has no values.
    Moved,
    /// The results were drawn at random, for this reason.
    Drawn(String),
}

impl<'n, 'a> Run<'n, 'a> {
    /// Prepares the layers.
    fn new(net: &'n network::Network<'a>, seed: u64) -> Self {
        let layer = |node: &'n Node<'a>| {
            let (mut constants, mut channel) = (None, None);
            let exact = match &node.work {
                Ok(Work::Products(products)) => {
                    constants = audit::constants_of(&products.1);
                    EXACT[0]
                }
                Ok(Work::Add(_)) => EXACT[1],
                Ok(Work::Mul(_)) => EXACT[2],
                Ok(Work::Pool { largest: false, .. }) => EXACT[3],
                Ok(Work::Pool { .. }) => EXACT[4],
                Ok(Work::Rescale) => {
                    let ends = node.inputs.first().copied().flatten().zip(node.outputs.first().copied());
                    let ends = ends.and_then(|(i, o)| quantized_as(net, i).zip(quantized_as(net, o)));
                    channel = ends.and_then(|(input, output)| audit::rescaled(&Rescale { input, output }));
                    EXACT[5]
                }
                Ok(Work::Quantize) => EXACT[6],
                _ => EXACT[7],
            };
            Layer { node, constants, channel, exact }
        };
        Self { net, layers: net.nodes.iter().map(layer).collect(), seed }
    }

    /// Runs the inputs in sequence. Variables keep their values between inputs. `compute` computes the parts of a layer, and `ended` receives each
    /// layer with its results.
    fn all(&self, inputs: &Inputs, compute: Compute<'_>, mut ended: impl FnMut(usize, usize, Ended, &[i32])) {
        let variables: RefCell<HashMap<String, Values>> = RefCell::default();
        for (input, given) in inputs.iter().enumerate() {
            let mut values: Vec<Option<Values>> =
                self.net.tensors.iter().map(|tensor| tensor.constant.clone().map(Rc::new)).collect();
            for (at, given) in self.net.inputs.iter().zip(given) {
                values[*at] = Some(Rc::new(given.clone()));
            }
            for (at, layer) in self.layers.iter().enumerate() {
                let (how, results) = self.layer(layer, input, &values, &variables, compute);
                ended(at, input, how, results.as_ref().map_or(&[], |results| &results[..]));
                for (which, out) in layer.node.outputs.iter().enumerate() {
                    let other = || Some(Rc::new(drawn(self.net, *out, input, self.seed)));
                    values[*out] = if which == 0 { results.clone() } else { other() };
                }
            }
        }
    }

    fn layer(
        &self,
        layer: &Layer<'_, '_>,
        input: usize,
        values: &[Option<Values>],
        variables: &RefCell<HashMap<String, Values>>,
        compute: Compute<'_>,
    ) -> (Ended, Option<Values>) {
        let node = layer.node;
        let operand = |which: usize| values[node.inputs.get(which).copied().flatten()?].clone();
        let Some(out) = node.outputs.first().copied() else {
            if let Ok(Work::Assign(name)) = &node.work {
                let new = operand(1).unwrap_or_default();
                variables.borrow_mut().insert(name.clone(), new);
            }
            return (Ended::Moved, None);
        };
        let draw = |reason: String| match self.net.tensors[out].stored {
            Stored::Other => (Ended::Drawn(reason), None),
            _ => (Ended::Drawn(reason), Some(Rc::new(drawn(self.net, out, input, self.seed)))),
        };
        match &node.work {
            Err(reason) => draw(reason.clone()),
            Ok(Work::Nothing | Work::Assign(_)) => (Ended::Moved, None),
            Ok(Work::Read(name)) => {
                // Streaming models begin with zeros.
                let zeros = || {
                    Rc::new(vec![quantized_as(self.net, out).map_or(0, |q| q.zero_point); self.net.tensors[out].len()])
                };
                (Ended::Moved, Some(variables.borrow().get(name).cloned().unwrap_or_else(zeros)))
            }
            Ok(Work::Move(sources)) => {
                let zero = quantized_as(self.net, out).map_or(0, |q| q.zero_point);
                let operands: Vec<Option<Values>> = (0..node.inputs.len()).map(operand).collect();
                let value = |source: &Source| match source {
                    Source::Zero => Some(zero),
                    Source::Value(which, at) => operands.get(*which as usize)?.as_ref()?.get(*at as usize).copied(),
                };
                match sources.iter().map(value).collect() {
                    Some(moved) => (Ended::Moved, Some(Rc::new(moved))),
                    None => draw("its operands have no values here".to_owned()),
                }
            }
            Ok(work) => {
                let operands = [operand(0), operand(1)];
                let parts = self.parts(layer, input, work, &operands, out);
                let computed = parts.and_then(|parts| {
                    let mut results = vec![0; self.net.tensors[out].len()];
                    for (block, call) in &parts {
                        for (index, value) in compute(&**call, layer.exact)?.into_iter().enumerate() {
                            *results.get_mut(block.at(index)).ok_or("its shapes do not fit")? = value;
                        }
                    }
                    Ok((parts, results))
                });
                match computed {
                    Err(reason) => draw(reason),
                    Ok((parts, mut results)) => {
                        let bytes = matches!(work, Work::Products(_))
                            && quantized_as(self.net, out).is_some_and(|q| q.element == Element::U8);
                        // Convolutions are computed on int8.
                        results.iter_mut().filter(|_| bytes).for_each(|v| *v += 128);
                        (Ended::Computed(parts), Some(Rc::new(results)))
                    }
                }
            }
        }
    }

    /// Builds the cases of a layer. Fails with the reason if the layer has no case.
    fn parts(
        &self,
        layer: &Layer<'_, '_>,
        input: usize,
        work: &Work<'_>,
        operands: &[Option<Values>; 2],
        out: usize,
    ) -> Result<Parts, String> {
        let none = || "an operand has no values here".to_owned();
        let tensor = |which: usize| operands[which].as_ref().map(|values| values.to_vec()).ok_or_else(none);
        let at = |which: usize| {
            layer.node.inputs.get(which).copied().flatten().and_then(|at| quantized_as(self.net, at)).ok_or_else(none)
        };
        let result = || quantized_as(self.net, out).ok_or("its result is not quantized with one scale");
        let one = |values: Vec<i32>| [values, Vec::new(), Vec::new()];
        let operand = |q: Quantized| elementwise::Operand { scale: Scale(q.scale.into()), zero_point: q.zero_point };
        let pair = |(min, max): (i32, i32)| {
            let (lhs, rhs, to) = (at(0)?, at(1)?, result()?);
            if [lhs.element, rhs.element] != [to.element; 2] {
                return Err("its tensors have different types".to_owned());
            }
            let tensors = [tensor(0)?, tensor(1)?, Vec::new()];
            let len = tensors[0].len();
            let params = elementwise::Params {
                element: to.element,
                len,
                lhs: operand(lhs),
                rhs: operand(rhs),
                out: operand(to),
                min,
                max,
            };
            Ok(Case { params, tensors: tensors.into(), misalign: 0 })
        };
        let typed = |q: Quantized| quantized::Params {
            quantized: quantized::Quantized {
                storage: quantized::Storage { bits: 8 * q.element.bytes() as u32, signed: q.element != Element::U8 },
                min: (*q.element.range().start()).into(),
                max: (*q.element.range().end()).into(),
                expressed: Expressed::F32,
                granularity: Granularity::Layer,
                scales: vec![Scale(q.scale.into())],
                zero_points: vec![q.zero_point.into()],
            },
            container: Container::Ranked,
            shape: vec![self.net.tensors[out].len()],
        };
        let call: Box<dyn Call> = match work {
            Work::Products(products) => {
                let (shape, constants) = (&products.0, layer.constants.as_ref());
                let constants = constants.ok_or("its scales give no fixed-point multiplier")?;
                let requantize::Params { channels, bias, zero_point, min, max, .. } = constants.output.clone();
                let params = qconv2d::Params {
                    shape: shape.on_int8(),
                    channels,
                    bias,
                    bias64: Vec::new(),
                    zero_point,
                    min,
                    max,
                };
                let mut image = tensor(0)?;
                image.iter_mut().filter(|_| shape.input == Element::U8).for_each(|v| *v -= 128);
                let case = Case { params, tensors: [image, constants.weights.clone(), Vec::new()].into(), misalign: 0 };
                return convolution(&case, layer.node.index, input);
            }
            Work::Add(clamp) => Box::new(Of::<Add>(pair(*clamp)?)),
            Work::Mul(clamp) => Box::new(Of::<Mul>(pair(*clamp)?)),
            Work::Pool { params, .. } => {
                Box::new(Of::<Pool>(Case { params: *params, tensors: one(tensor(0)?).into(), misalign: 0 }))
            }
            Work::Rescale => {
                let (from, to) = (at(0)?, result()?);
                let channels = vec![layer.channel.ok_or("no fixed-point multiplier is the quotient of its scales")?];
                let x: Vec<i32> = tensor(0)?.iter().map(|v| v - from.zero_point).collect();
                let (min, max) = (*to.element.range().start(), *to.element.range().end());
                let params =
                    requantize::Params { len: x.len(), channels, bias: vec![0], zero_point: to.zero_point, min, max };
                Box::new(Of::<Requantize>(Case { params, tensors: one(x).into(), misalign: 0 }))
            }
            Work::Quantize => Box::new(Of::<Quantize>(Case {
                params: typed(result()?),
                tensors: one(tensor(0)?).into(),
                misalign: 0,
            })),
            Work::Dequantize => {
                Box::new(Of::<Dequantize>(Case { params: typed(at(0)?), tensors: one(tensor(0)?).into(), misalign: 0 }))
            }
            Work::Move(_) | Work::Read(_) | Work::Assign(_) | Work::Nothing => return Err("it moves values".to_owned()),
        };
        Ok(vec![(Block { layer: layer.node.index, input, from: 0, channels: 1, of: 1 }, call)])
    }
}

/// Runs the exact network: returns the cases of each layer, and the ledger entry before any judged kernel runs.
/// A layer is not judged if `takes` refuses any of its stages.
pub fn plan(
    bytes: &[u8],
    net: &network::Network<'_>,
    (inputs, seed): (&Inputs, u64),
    named: &[String],
    takes: impl Fn(&Stage) -> bool,
) -> Result<Planned, Fault> {
    let run = Run::new(net, seed);
    let described = |node: &Node<'_>| ledger::NetworkLayer {
        layer: node.index,
        operator: node.op.clone(),
        input: node.inputs.first().copied().flatten().map_or_else(Vec::new, |at| net.tensors[at].shape.clone()),
        output: node.outputs.first().map_or_else(Vec::new, |at| net.tensors[*at].shape.clone()),
        blocks: 1,
        drawn_from: Vec::new(),
        ..ledger::NetworkLayer::default()
    };
    let mut layers: Vec<ledger::NetworkLayer> = net.nodes.iter().map(described).collect();
    let (mut stages, mut exact_results) = (Vec::new(), Results::new());
    let exact: Compute<'_> = &|call, kernel| call.exact(kernel);
    run.all(inputs, exact, |at, input, ended, results| {
        let layer = &mut layers[at];
        exact_results.insert((at, input), results.to_vec());
        match ended {
            Ended::Moved => layer.not_judged = Some("moves values".to_owned()),
            Ended::Drawn(reason) => layer.not_judged = Some(format!("{reason}; its results are drawn at random")),
            Ended::Computed(parts) => {
                layer.blocks = parts.len();
                let mut of_layer: Vec<Stage> =
                    parts.iter().filter_map(|(block, call)| call.stage(*block).ok()).collect();
                if of_layer.is_empty() || !of_layer.iter().all(&takes) {
                    layer.not_judged = Some("no kernel takes its types and scales".to_owned());
                    return;
                }
                layer.op = parts.first().map(|(_, call)| call.op().to_owned());
                stages.extend(of_layer.drain(..).map(Arc::new));
            }
        }
    });
    drawn_from(net, &mut layers);
    let ends = ends(net, &layers);
    let families = families::run(&run, inputs, (&ends, &exact_results), named);
    let network = ledger::Network {
        sha256: crate::identity::hash_bytes(bytes),
        inputs: inputs.len(),
        exact: EXACT.map(str::to_owned).to_vec(),
        ends: ends.iter().map(|at| net.nodes[*at].index).collect(),
        layers,
        families,
        ..ledger::Network::default()
    };
    Ok(Planned { stages, network })
}

/// Fills `drawn_from` of each layer: the earlier layers with drawn results on which its inputs depend.
fn drawn_from(net: &network::Network<'_>, layers: &mut [ledger::NetworkLayer]) {
    let mut of_tensor: HashMap<usize, Vec<usize>> = HashMap::new();
    for (node, layer) in net.nodes.iter().zip(layers) {
        let mut from: Vec<usize> =
            node.inputs.iter().flatten().filter_map(|at| of_tensor.get(at)).flatten().copied().collect();
        from.sort_unstable();
        from.dedup();
        let drawn = layer.not_judged.as_ref().is_some_and(|reason| reason.ends_with("at random"));
        let after = if drawn { vec![node.index] } else { from.clone() };
        node.outputs.iter().filter(|_| !after.is_empty()).for_each(|at| drop(of_tensor.insert(*at, after.clone())));
        layer.drawn_from = from;
    }
}

/// Returns the positions of layers whose results are compared at the end: layers with an output of the network, or the last layers before a layer
/// with drawn results.
fn ends(net: &network::Network<'_>, layers: &[ledger::NetworkLayer]) -> Vec<usize> {
    let giving = |tensor: usize| net.nodes.iter().position(|node| node.outputs.contains(&tensor));
    let is_drawn = |at: usize| layers[at].not_judged.as_ref().is_some_and(|reason| reason.ends_with("at random"));
    let before =
        |at: usize| net.nodes[at].inputs.iter().flatten().filter_map(|tensor| giving(*tensor)).collect::<Vec<_>>();
    let mut left: Vec<usize> = net.outputs.iter().filter_map(|tensor| giving(*tensor)).collect();
    let (mut ends, mut seen) = (Vec::new(), Vec::new());
    while let Some(at) = left.pop() {
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        let drawn: Vec<usize> = net
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| layers[at].drawn_from.contains(&node.index))
            .map(|(at, _)| at)
            .collect();
        match (is_drawn(at), drawn.is_empty()) {
            (true, _) => left.extend(before(at)),
            (false, false) => left.extend(drawn),
            (false, true) => ends.push(at),
        }
    }
    ends.sort_unstable();
    ends
}
