//! Tensors of a subgraph, and their places in the file.

use super::tables::{self, Buffer, QuantizationParameters, Tables};
use crate::model::names::tensor_type;
use crate::model::{Fault, MAX_CHANNELS, Quantized};
use flatbuffers::Vector;
use tiebreak_impls::element::Element;

/// Upper bound on dimensions.
const MAX_RANK: usize = 8;

/// Upper bound on a displayed name, in bytes: a converter joins the names of all operators that it has fused.
const MAX_NAME: usize = 256;

/// Path of a table from the root, and its byte in the file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) offset: usize,
}

impl Place {
    /// Returns the fault of a contradiction at this place.
    pub(super) fn malformed(&self, problem: impl Into<String>) -> Fault {
        Fault::malformed(&self.name, self.offset, problem)
    }

    /// Returns the fault of an unsupported part at this place. `problem` includes a remedy.
    pub(super) fn unsupported(&self, problem: impl Into<String>) -> Fault {
        Fault::Unsupported { place: self.name.clone(), problem: problem.into() }
    }
}

/// Objects that operators refer to by number.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) tensors: Option<Tables<'a, tables::Tensor<'a>>>,
    pub(super) buffers: Option<Tables<'a, Buffer<'a>>>,
    /// Number of the subgraph.
    pub(super) graph: usize,
}

/// Tensor with its shape.
#[derive(Clone)]
pub(super) struct Tensor<'a> {
    table: tables::Tensor<'a>,
    buffers: Option<Tables<'a, Buffer<'a>>>,
    pub(super) place: Place,
    /// Sizes, each at least 1.
    pub(super) shape: Vec<usize>,
}

impl<'a> Tensor<'a> {
    /// Reads the tensor whose number is element `at` of `operands`; `None` for an omitted operand.
    pub(super) fn optional(
        context: &Context<'a>,
        place: &Place,
        operands: Option<Vector<'a, i32>>,
        at: usize,
    ) -> Result<Option<Self>, Fault> {
        match operands.filter(|operands| at < operands.len()).map(|operands| operands.get(at)) {
            None | Some(-1) => Ok(None),
            Some(number) => Self::numbered(context, place, number, at).map(Some),
        }
    }

    /// Reads the tensor of a required operand.
    pub(super) fn read(
        context: &Context<'a>,
        place: &Place,
        operands: Option<Vector<'a, i32>>,
        at: usize,
    ) -> Result<Self, Fault> {
        let found = Self::optional(context, place, operands, at)?;
        found.ok_or_else(|| place.malformed(format!("there is no operand {at}")))
    }

    pub(super) fn numbered(context: &Context<'a>, place: &Place, number: i32, at: usize) -> Result<Self, Fault> {
        let count = context.tensors.map_or(0, |tensors| tensors.len());
        let index = usize::try_from(number).ok().filter(|index| *index < count);
        let none = || place.malformed(format!("operand {at} is tensor {number}; {count} are counted from 0"));
        let table = index.zip(context.tensors).map(|(index, tensors)| tensors.get(index)).ok_or_else(none)?;
        let name = format!("Model.subgraphs[{}].tensors[{number}]", context.graph);
        let place = Place { name, offset: table.offset() };
        let sizes: Vec<i32> = table.shape().map_or_else(Vec::new, |shape| shape.iter().take(MAX_RANK + 1).collect());
        if sizes.len() > MAX_RANK {
            let count = table.shape().map_or(0, |shape| shape.len());
            return Err(place.unsupported(format!("{count} dimensions; at most {MAX_RANK} can be used")));
        }
        let size = |size: &i32| usize::try_from(*size).ok().filter(|size| *size > 0).ok_or(*size);
        let shape = sizes.iter().map(size).collect::<Result<_, _>>().map_err(|size| {
            place.unsupported(format!("a dimension is {size}; convert the model with a shape that is fixed"))
        })?;
        Ok(Self { table, buffers: context.buffers, place, shape })
    }

    pub(super) fn four(&self) -> Result<[usize; 4], Fault> {
        let wrong = |_| self.place.malformed(format!("a shape of {:?}; there must be four dimensions", self.shape));
        self.shape.as_slice().try_into().map_err(wrong)
    }

    /// Returns the number in `enum TensorType`.
    pub(super) fn element_type(&self) -> i8 {
        self.table.element_type().unwrap_or(0)
    }

    pub(super) fn element(&self) -> Result<Element, Fault> {
        match self.element_type() {
            3 => Ok(Element::U8),
            7 => Ok(Element::I16),
            9 => Ok(Element::I8),
            other => Err(self.place.unsupported(format!(
                "its type is {}, not UINT8, INT16 or INT8; quantize the model with full integer quantization",
                tensor_type(other)
            ))),
        }
    }

    /// True if some dimension is open until the model runs. Its size in the shape is then a placeholder.
    pub(super) fn is_dynamic(&self) -> bool {
        self.table.shape_signature().is_some_and(|signature| signature.iter().any(|size| size < 0))
    }

    fn quantization(&self) -> Option<QuantizationParameters<'a>> {
        self.table.quantization()
    }

    /// Returns the zero point that all channels share.
    pub(super) fn zero_point(&self, element: Element) -> Result<i32, Fault> {
        let none = || self.place.unsupported("no zero point; quantize the model with full integer quantization");
        let quantization = self.quantization().ok_or_else(none)?;
        let points = quantization.zero_point().filter(|points| points.len() > 0).ok_or_else(none)?;
        if points.len() > MAX_CHANNELS {
            return Err(self.place.unsupported(format!("more than {MAX_CHANNELS} zero points cannot be used")));
        }
        let point = points.iter().next().ok_or_else(none)?;
        if points.iter().any(|other| other != point) {
            let problem =
                "channels of different zero points, which no kernel takes; quantize the weights symmetrically";
            return Err(self.place.unsupported(problem));
        }
        let valid = i32::try_from(point).ok().filter(|point| element.range().contains(point));
        let place =
            Place { name: format!("{}.quantization.zero_point", self.place.name), offset: quantization.offset() };
        valid.ok_or_else(|| place.malformed(format!("{point} is no {}", element.name())))
    }

    /// Returns the scales, one for the tensor or one for each channel, all positive and normal.
    pub(super) fn scales(&self) -> Result<Vec<f32>, Fault> {
        let scales = self.quantization().and_then(|quantization| quantization.scale()).filter(|s| !s.is_empty());
        let scales = scales
            .ok_or_else(|| self.place.unsupported("no scale; quantize the model with full integer quantization"))?;
        if scales.len() > MAX_CHANNELS {
            return Err(self.place.unsupported(format!("more than {MAX_CHANNELS} scales cannot be used")));
        }
        let scales: Vec<f32> = scales.iter().collect();
        match scales.iter().find(|scale| !(scale.is_normal() && **scale > 0.0)) {
            Some(scale) => {
                Err(self.place.unsupported(format!("a scale of {scale:e}; it must be a positive normal float")))
            }
            None => Ok(scales),
        }
    }

    /// Returns the dimension along which scales differ.
    pub(super) fn quantized_dimension(&self) -> i32 {
        self.quantization().and_then(|quantization| quantization.quantized_dimension()).unwrap_or(0)
    }

    /// Returns type, scale and zero point of a tensor with one scale.
    pub(super) fn quantized(&self) -> Result<Quantized, Fault> {
        let element = self.element()?;
        let [scale] = self.scales()?[..] else {
            return Err(self.place.unsupported("a scale for each channel, where there must be one for the tensor"));
        };
        Ok(Quantized { element, scale, zero_point: self.zero_point(element)? })
    }

    /// Returns type, bits of the scale, and zero point; `None` unless the tensor has one of each.
    pub(super) fn stored_as(&self) -> Option<(i8, u32, i64)> {
        let quantization = self.quantization()?;
        let scale = quantization.scale().filter(|scales| scales.len() == 1)?.get(0);
        let point = quantization.zero_point().filter(|points| points.len() == 1)?.iter().next()?;
        Some((self.element_type(), scale.to_bits(), point))
    }

    /// Returns the constant bytes, `width` bytes for each element.
    pub(super) fn constant(&self, width: usize) -> Result<&'a [u8], Fault> {
        if self.table.sparsity().is_some() {
            return Err(self.place.unsupported("the tensor is stored sparsely; convert the model with dense weights"));
        }
        let number = self.table.buffer().unwrap_or(0);
        let count = self.buffers.map_or(0, |buffers| buffers.len());
        let index = usize::try_from(number).ok().filter(|index| *index < count);
        let none = || self.place.malformed(format!("its buffer is {number}; {count} are counted from 0"));
        let buffer = index.zip(self.buffers).map(|(index, buffers)| buffers.get(index)).ok_or_else(none)?;
        let data = buffer.data().map(|data| data.bytes()).unwrap_or_default();
        if data.is_empty() {
            let apart = buffer.data_offset().unwrap_or(0) > 1;
            let problem = if apart { "its values stand outside the buffers" } else { "it is computed, not constant" };
            return Err(self.place.unsupported(problem));
        }
        let wanted = product(&self.shape).and_then(|n| n.checked_mul(width));
        if wanted != Some(data.len()) {
            let (have, shape) = (data.len(), &self.shape);
            return Err(self.place.malformed(format!("{have} bytes for a shape of {shape:?} with {width} bytes each")));
        }
        Ok(data)
    }

    pub(super) fn name(&self) -> Option<String> {
        printable(self.table.name()?.bytes())
    }
}

/// Cleans a name for terminals and reports.
pub(super) fn printable(name: &[u8]) -> Option<String> {
    let name = String::from_utf8_lossy(&name[..name.len().min(MAX_NAME)]);
    let name = name.replace(char::is_control, "?");
    (!name.is_empty()).then_some(name)
}

pub(super) fn product(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size))
}
