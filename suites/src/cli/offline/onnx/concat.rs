//! `QLinearConcat`, an operator of ONNX Runtime.

use super::{Data, byte, values};
use crate::model::onnx::node::{Tensor, Type};
use serde_json::{Value as Json, json};

impl Data<'_> {
    /// Reads a concatenation. Inputs: scale and zero point of the results, then tensor, scale and zero point of each operand.
    pub(super) fn concatenation(&self) -> Result<Json, String> {
        let scale = |at: usize| match (self.input(at)?.element, &self.input(at)?.floats[..]) {
            (Type::F32, [scale]) => Ok(f64::from(*scale)),
            _ => Err(format!("its scale, input {at}, is not one FLOAT")),
        };
        let places: Vec<usize> = (2..self.node.inputs.len()).step_by(3).collect();
        let tensors = places.iter().map(|at| self.input(*at)).collect::<Result<Vec<_>, _>>()?;
        let scales = places.iter().map(|at| scale(at + 1)).collect::<Result<Vec<_>, _>>()?;
        let points = places.iter().map(|at| self.point(at + 2)).collect::<Result<Vec<_>, _>>()?;
        let dims = &self.output.dims;
        let axis =
            self.integers("axis", &[]).first().map(|axis| if *axis < 0 { axis + dims.len() as i64 } else { *axis });
        let axis = axis.and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < dims.len());
        let axis = axis.ok_or_else(|| format!("its axis is none of {dims:?}"))?;
        let fits = |tensor: &&Tensor| {
            let alike = |(at, (own, out)): (usize, (&usize, &usize))| at == axis || own == out;
            tensor.dims.len() == dims.len() && tensor.dims.iter().zip(dims).enumerate().all(alike)
        };
        if let Some(other) = tensors.iter().find(|tensor| !fits(tensor)) {
            return Err(format!("an input of {:?} for results of {dims:?} along axis {axis}", other.dims));
        }
        let stored = self.stored()?;
        if let Some(at) = places.iter().zip(&tensors).find(|(_, tensor)| byte(tensor) != Some(stored)) {
            return Err(format!("its input {} is no {stored} as its results are", at.0));
        }
        Ok(json!({
            "op": "concat", "scheme": "onnx", "type": stored,
            "case": {
                "shape": dims, "axis": axis, "sizes": tensors.iter().map(|tensor| tensor.dims[axis]).collect::<Vec<_>>(),
                "scales": scales, "zero_points": points, "out_scale": scale(0)?, "out_zero_point": self.point(1)?,
                "inputs": tensors.iter().flat_map(|tensor| values(tensor)).collect::<Vec<_>>(),
            },
            "expected": values(&self.output),
        }))
    }
}
