//! Graph with its nodes and constants, the node that produces each value, and the nodes that read it.

use super::proto;
use crate::model::names::data_type;
use crate::model::operators::ELSEWHERE;
use crate::model::{Fault, MAX_CHANNELS, MAX_OPERATORS, Quantized};
use prost::Message;
use prost::bytes::Bytes;
use std::borrow::Cow;
use std::collections::HashMap;
use tiebreak_impls::element::Element;

/// Upper bound on the file, in bytes. Each entry of a list costs 32 bytes of memory, and as few as 2 bytes of the file.
const MAX_FILE: usize = 1 << 27;

/// Upper bound on constants.
const MAX_CONSTANTS: usize = 1 << 17;

/// Upper bound on dimensions.
const MAX_RANK: usize = 8;

/// Numbers of `TensorProto.DataType`.
const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT8: i32 = 3;
const INT32: i32 = 6;

/// Number of `TensorProto.DataLocation`.
const EXTERNAL: i32 = 1;

/// Only graph of a model.
pub(super) struct Graph {
    pub(super) nodes: Vec<proto::Node>,
    constants: HashMap<String, proto::Tensor>,
    makers: HashMap<String, usize>,
    readers: HashMap<String, Vec<usize>>,
}

/// Constant with the place that errors name.
#[derive(Clone, Copy)]
pub(super) struct Constant<'a> {
    pub(super) tensor: &'a proto::Tensor,
    name: &'a str,
}

impl Graph {
    pub(super) fn read(file: &[u8]) -> Result<Self, Fault> {
        if file.len() > MAX_FILE {
            return Err(unsupported("ModelProto", format!("more than {MAX_FILE} bytes; give a smaller model")));
        }
        let file = Bytes::copy_from_slice(file);
        let at = |part: &Bytes| (part.as_ptr() as usize).saturating_sub(file.as_ptr() as usize);
        let model: proto::Model = decoded(&file, "ModelProto", 0)?;
        let graph = model.graph.filter(|_| model.ir_version > 0).ok_or(Fault::NoModel)?;
        let graph: proto::Graph = decoded(&graph, "ModelProto.graph", at(&graph))?;
        for (count, most, what) in
            [(graph.node.len(), MAX_OPERATORS, "nodes"), (graph.initializer.len(), MAX_CONSTANTS, "initializers")]
        {
            if count > most {
                return Err(unsupported("ModelProto.graph", format!("more than {most} {what}; give a smaller model")));
            }
        }
        let mut constants = HashMap::new();
        for (i, bytes) in graph.initializer.iter().enumerate() {
            let place = format!("ModelProto.graph.initializer[{i}]");
            let mut tensor: proto::Tensor = decoded(bytes, &place, at(bytes))?;
            constants.insert(std::mem::take(&mut tensor.name), packed(tensor)?);
        }
        let mut nodes = Vec::with_capacity(graph.node.len());
        for (i, bytes) in graph.node.iter().enumerate() {
            let place = format!("ModelProto.graph.node[{i}]");
            let mut node: proto::Node = decoded(bytes, &place, at(bytes))?;
            if node.op_type == "Constant" {
                let value = node.attribute.iter_mut().find(|a| a.name == "value").and_then(|a| a.t.take());
                if let Some((name, value)) = node.output.first().cloned().zip(value) {
                    constants.insert(name, packed(value)?);
                }
            }
            nodes.push(node);
        }
        let (mut makers, mut readers) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        for (i, node) in nodes.iter().enumerate() {
            makers.extend(node.output.iter().map(|name| (name.clone(), i)));
            for name in &node.input {
                readers.entry(name.clone()).or_default().push(i);
            }
        }
        Ok(Self { nodes, constants, makers, readers })
    }

    /// Returns the node that produces a value.
    pub(super) fn maker(&self, name: &str) -> Option<(usize, &proto::Node)> {
        let at = *self.makers.get(name)?;
        Some((at, &self.nodes[at]))
    }

    /// Returns the nodes that read a value; a node that reads it twice comes twice.
    pub(super) fn readers(&self, name: &str) -> impl Iterator<Item = (usize, &proto::Node)> {
        self.readers.get(name).into_iter().flatten().map(|at| (*at, &self.nodes[*at]))
    }

    /// Returns a constant by name.
    pub(super) fn constant<'a>(&'a self, name: &'a str) -> Option<Constant<'a>> {
        self.constants.get(name).map(|tensor| Constant { tensor, name })
    }

    /// Returns a constant that an operator requires.
    pub(super) fn needed<'a>(&'a self, name: &'a str, what: &str) -> Result<Constant<'a>, Fault> {
        let found = self.constant(name);
        found.ok_or_else(|| unsupported(name, format!("{what} is computed, not constant")))
    }

    /// Returns the quantization of a tensor, by the names of its scale and zero point. Without a zero point, the type is u8 and the zero point 0.
    pub(super) fn quantized(&self, scale: &str, zero_point: Option<&str>) -> Result<Quantized, Fault> {
        let [scale] = self.needed(scale, "its scale")?.scales()?[..] else {
            return Err(unsupported(scale, "a scale for each channel, where there must be one for the tensor"));
        };
        let (element, zero_points) = self.zero_points(zero_point)?;
        let [zero_point] = zero_points[..] else {
            return Err(unsupported("zero point", "one for each channel, where there must be one for the tensor"));
        };
        Ok(Quantized { element, scale, zero_point })
    }

    /// Returns the zero points of this name, and the type of the values.
    pub(super) fn zero_points(&self, name: Option<&str>) -> Result<(Element, Vec<i32>), Fault> {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok((Element::U8, vec![0])) };
        let constant = self.needed(name, "its zero point")?;
        let (element, bytes) = constant.bytes()?;
        if bytes.is_empty() || bytes.len() > MAX_CHANNELS {
            return Err(
                constant.unsupported(format!("{} zero points; from 1 to {MAX_CHANNELS} can be used", bytes.len()))
            );
        }
        Ok((element, bytes.iter().map(|byte| element.read(&[*byte])).collect()))
    }
}

/// Packs 8-bit values that are stored as separate numbers into bytes, because they are read many times.
fn packed(mut tensor: proto::Tensor) -> Result<proto::Tensor, Fault> {
    let range = match tensor.data_type {
        UINT8 => Element::U8.range(),
        INT8 => Element::I8.range(),
        _ => return Ok(tensor),
    };
    let apart = std::mem::take(&mut tensor.int32_data);
    if let Some(value) = apart.iter().find(|value| !range.contains(*value)) {
        let place = format!("ModelProto.graph: tensor {}", printable(&tensor.name));
        return Err(Fault::malformed(&place, 0, format!("{value} is no number of 8 bits of its type")));
    }
    if !apart.is_empty() {
        tensor.raw_data = apart.iter().map(|value| *value as u8).collect();
    }
    Ok(tensor)
}

/// Decodes one message. Errors name its place and offset.
pub(super) fn decoded<M: Message + Default>(bytes: &Bytes, place: &str, offset: usize) -> Result<M, Fault> {
    M::decode(bytes.clone()).map_err(|error| Fault::malformed(place, offset, error.to_string()))
}

pub(super) fn unsupported(place: &str, problem: impl Into<String>) -> Fault {
    Fault::Unsupported { place: place.to_owned(), problem: problem.into() }
}

impl<'a> Constant<'a> {
    pub(super) fn unsupported(&self, problem: impl Into<String>) -> Fault {
        unsupported(self.name, problem)
    }

    fn malformed(&self, problem: impl Into<String>) -> Fault {
        Fault::malformed(&format!("ModelProto.graph: tensor {}", printable(self.name)), 0, problem)
    }

    /// Returns the dimensions, each at least 1.
    pub(super) fn shape(&self) -> Result<Vec<usize>, Fault> {
        if self.tensor.dims.len() > MAX_RANK {
            let count = self.tensor.dims.len();
            return Err(self.unsupported(format!("{count} dimensions; at most {MAX_RANK} can be used")));
        }
        let size = |size: &i64| usize::try_from(*size).ok().filter(|size| *size > 0);
        let shape: Option<Vec<usize>> = self.tensor.dims.iter().map(size).collect();
        let fits = shape.filter(|shape| shape.iter().try_fold(1usize, |n, size| n.checked_mul(*size)).is_some());
        fits.ok_or_else(|| self.malformed(format!("dimensions of {:?}", self.tensor.dims)))
    }

    /// Checks that there are as many values as the shape has: `apart` separate numbers, or raw values of `width` bytes.
    fn checked(&self, apart: usize, width: usize) -> Result<(), Fault> {
        if self.tensor.data_location == EXTERNAL {
            return Err(self.unsupported(format!("its values are {ELSEWHERE}; save the model as one file")));
        }
        let wanted = self.shape()?.iter().product::<usize>();
        let have = if apart > 0 { apart } else { self.tensor.raw_data.len() / width };
        let whole = apart > 0 || self.tensor.raw_data.len().is_multiple_of(width);
        if have == wanted && whole {
            return Ok(());
        }
        Err(self.malformed(format!("{have} values for dimensions of {:?}", self.tensor.dims)))
    }

    /// Returns 8-bit values with their type.
    pub(super) fn bytes(&self) -> Result<(Element, Cow<'a, [u8]>), Fault> {
        let element = match self.tensor.data_type {
            UINT8 => Element::U8,
            INT8 => Element::I8,
            other => return Err(self.unsupported(format!("its type is {}, not UINT8 or INT8", data_type(other)))),
        };
        self.checked(0, 1)?;
        Ok((element, Cow::Borrowed(&self.tensor.raw_data)))
    }

    /// Returns int32 values.
    pub(super) fn int32(&self) -> Result<Vec<i32>, Fault> {
        if self.tensor.data_type != INT32 {
            let other = data_type(self.tensor.data_type);
            return Err(self.unsupported(format!("a bias of {other}; one of INT32 can be audited")));
        }
        let apart = &self.tensor.int32_data;
        self.checked(apart.len(), 4)?;
        if !apart.is_empty() {
            return Ok(apart.clone());
        }
        Ok(self.tensor.raw_data.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect())
    }

    /// Returns positive normal floats.
    pub(super) fn scales(&self) -> Result<Vec<f32>, Fault> {
        if self.tensor.data_type != FLOAT {
            let other = data_type(self.tensor.data_type);
            return Err(self.unsupported(format!("a scale of {other}; one of FLOAT can be audited")));
        }
        let apart = &self.tensor.float_data;
        self.checked(apart.len(), 4)?;
        let scales: Vec<f32> = match apart.is_empty() {
            true => self.tensor.raw_data.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            false => apart.clone(),
        };
        if scales.is_empty() || scales.len() > MAX_CHANNELS {
            return Err(self.unsupported(format!("{} scales; from 1 to {MAX_CHANNELS} can be used", scales.len())));
        }
        match scales.iter().find(|scale| !(scale.is_normal() && **scale > 0.0)) {
            Some(scale) => Err(self.unsupported(format!("a scale of {scale:e}; it must be a positive normal float"))),
            None => Ok(scales),
        }
    }
}

/// Cleans a name for terminals and reports.
pub(super) fn printable(name: &str) -> String {
    let end = name.floor_char_boundary(256);
    name[..end].replace(char::is_control, "?")
}
