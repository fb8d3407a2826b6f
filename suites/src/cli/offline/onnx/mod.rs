//! Node tests of ONNX. A test is a directory with `model.onnx`, a model of one node, and `test_data_set_*` directories with a file for each
//! input and output. A directory of tests also works. Each data set is a line; its outputs are the results to judge.

mod concat;

use super::blocks::Blocks;
use super::chain;
use super::lines::{Numbered, known, line};
use super::tensors::single;
use crate::model::onnx::node::{self, Node, Tensor, Type};
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};
use tiebreak_oracle::Rational;
use tiebreak_oracle::derivation::{Derivation, Scales, quantize_multiplier};
use tiebreak_reports::read::{self, MODEL};

/// Operators that become lines.
const READ: [&str; 7] = [
    "QuantizeLinear",
    "DequantizeLinear",
    "MatMulInteger",
    "ConvInteger",
    "QLinearMatMul",
    "QLinearConv",
    "com.microsoft.QLinearConcat",
];

/// Scheme of integer sums.
const EXACT: &str = "exact:wrap";

/// Scheme of rescaled sums.
const ROUNDED: &str = "ties-even:wrap";

/// Reads the data sets of a path. In a directory of tests, tests of other operators are left out.
pub(super) fn lines(path: &Path) -> Result<Vec<Numbered>> {
    let named = || format!("{}: cannot be read", path.display());
    if !path.is_dir() {
        return test(path);
    }
    if path.join("model.onnx").is_file() {
        return test(&path.join("model.onnx"));
    }
    let models = sorted(path).with_context(named)?.into_iter().map(|dir| dir.join("model.onnx"));
    let (mut out, mut left_out, mut any) = (Vec::new(), 0, false);
    for model in models.filter(|model| model.is_file()) {
        any = true;
        let read = loaded(&model);
        if read.as_ref().is_ok_and(|node| !READ.contains(&node.op.as_str())) {
            left_out += 1;
            continue;
        }
        out.extend(sets(&model, &read)?);
    }
    if !any {
        bail!(
            "neither model.onnx (a node test of ONNX) nor desc.json (a test of TOSA) is in it or in one of its directories"
        );
    }
    if left_out > 0 {
        let names = READ.join(", ");
        super::super::note(&format!("{left_out} node tests of other operators than {names} were left out"));
    }
    Ok(numbered(out))
}

fn test(model: &Path) -> Result<Vec<Numbered>> {
    Ok(numbered(sets(model, &loaded(model))?))
}

fn numbered(lines: Vec<Result<crate::engine::offline::Line, String>>) -> Vec<Numbered> {
    lines.into_iter().enumerate().map(|(at, line)| (at + 1, line)).collect()
}

/// Lists the files of a directory, sorted by the number at the end of their names, then by name.
fn sorted(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<_>>()?;
    let number = |path: &PathBuf| {
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        name.rsplit('_').next().and_then(|digits| digits.parse::<u64>().ok()).unwrap_or(0)
    };
    all.sort_by_cached_key(|path| (number(path), path.clone()));
    Ok(all)
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    read::bytes(path, MODEL).map_err(|error| error.to_string())
}

fn loaded(model: &Path) -> Result<Node, String> {
    node::node(&bytes(model)?).map_err(|fault| format!("{}: {fault}", model.display()))
}

/// Reads a line for each data set in the directory of the model.
fn sets(model: &Path, node: &Result<Node, String>) -> Result<Vec<Result<crate::engine::offline::Line, String>>> {
    let dir = model.parent().unwrap_or(Path::new("."));
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let is_set = |path: &PathBuf| {
        path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_data_set_"))
    };
    let sets: Vec<PathBuf> = sorted(dir)?.into_iter().filter(is_set).collect();
    if sets.is_empty() {
        bail!("{}: no test_data_set_* beside it; give the directory of a node test", model.display());
    }
    let one = |set: &PathBuf| {
        let node = node.as_ref().map_err(String::clone)?;
        let of_set = |error: String| format!("{}: {error}", set.display());
        let data = Data::read(node, set).map_err(of_set)?;
        let mut json = data.line().map_err(of_set)?;
        json["id"] = json!(set.strip_prefix(dir.parent().unwrap_or(dir)).unwrap_or(set).display().to_string());
        line(json, Path::new("")).and_then(known)
    };
    Ok(sets.par_iter().map(one).collect())
}

/// Node with the tensors of a data set.
struct Data<'a> {
    node: &'a Node,
    given: Vec<Tensor>,
    output: Tensor,
}

impl<'a> Data<'a> {
    fn read(node: &'a Node, set: &Path) -> Result<Self, String> {
        let tensor = |name: String| {
            let path = set.join(&name);
            node::tensor(&bytes(&path)?).map_err(|fault| format!("{name}: {fault}"))
        };
        let given = (0..node.given.len()).map(|at| tensor(format!("input_{at}.pb"))).collect::<Result<_, _>>()?;
        Ok(Self { node, given, output: tensor("output_0.pb".to_owned())? })
    }

    /// Returns an input of the node. `None` if the node omits the input.
    fn optional(&self, at: usize) -> Option<&Tensor> {
        let name = self.node.inputs.get(at).filter(|name| !name.is_empty())?;
        let place = self.node.given.iter().position(|given| given == name);
        place.and_then(|place| self.given.get(place)).or_else(|| self.node.constants.get(name))
    }

    fn input(&self, at: usize) -> Result<&Tensor, String> {
        self.optional(at).ok_or_else(|| format!("{} has no input {at}", self.node.op))
    }

    fn integers(&self, name: &str, usual: &[i64]) -> Vec<i64> {
        self.node.integers.get(name).map_or_else(|| usual.to_vec(), Clone::clone)
    }

    fn line(&self) -> Result<Json, String> {
        match self.node.op.as_str() {
            "QuantizeLinear" => self.quantize(),
            "DequantizeLinear" => self.dequantize(),
            "MatMulInteger" => self.matmul(),
            "ConvInteger" => self.convolution(),
            "QLinearMatMul" => self.scaled_matmul(),
            "QLinearConv" => self.scaled_convolution(),
            "com.microsoft.QLinearConcat" => self.concatenation(),
            op => Err(format!("{op} is no operator that is read; {} are", READ.join(", "))),
        }
    }

    /// Returns the type of stored values, with the scales of the node.
    fn quantized(&self, stored: Type, dims: &[usize]) -> Result<String, String> {
        let scales = self.input(1)?;
        if scales.element != Type::F32 {
            return Err("its scale is no FLOAT; convert the model".to_owned());
        }
        let points = match self.optional(2) {
            Some(points) => points.integers.clone(),
            None => vec![0; scales.floats.len()],
        };
        if points.len() != scales.floats.len() {
            return Err(format!("{} zero points for {} scales", points.len(), scales.floats.len()));
        }
        let storage = match stored {
            Type::U8 => "u8",
            Type::I8 => "i8",
            Type::U16 => "u16",
            Type::I16 => "i16",
            Type::I32 | Type::F32 => return Err("its stored values are neither of 8 nor of 16 bits".to_owned()),
        };
        let scale = |(scale, point): (&f32, &i64)| format!("{}:{point}", decimal(*scale));
        let each: Vec<String> = scales.floats.iter().zip(&points).map(scale).collect();
        if let ([only], true) = (&each[..], scales.dims.iter().all(|size| *size == 1)) {
            return Ok(format!("!quant.uniform<{storage}:f32, {only}>"));
        }
        let axis = self.integers("axis", &[1])[0];
        let axis = if axis < 0 { axis + dims.len() as i64 } else { axis } as usize;
        if scales.dims.len() != 1 || dims.get(axis) != Some(&each.len()) {
            let size = self.integers("block_size", &[0])[0];
            let blocks = Blocks { values: dims, scales: &scales.dims, axis, size }.text(&each)?;
            return Ok(format!("!quant.uniform<{storage}:f32:{blocks}>"));
        }
        Ok(format!("!quant.uniform<{storage}:f32:{axis}, {{{}}}>", each.join(", ")))
    }

    fn quantize(&self) -> Result<Json, String> {
        let x = self.input(0)?;
        if x.element != Type::F32 {
            return Err("its values are no FLOAT; convert the model".to_owned());
        }
        let stored = self.optional(2).map_or(self.output.element, |points| points.element);
        Ok(json!({
            "op": "quantize", "scheme": "onnx", "type": self.quantized(stored, &x.dims)?,
            "case": {"shape": shape(&x.dims), "x": values(x)}, "expected": values(&self.output),
        }))
    }

    fn dequantize(&self) -> Result<Json, String> {
        let q = self.input(0)?;
        if self.output.element != Type::F32 {
            return Err("its results are no FLOAT; convert the model".to_owned());
        }
        Ok(json!({
            "op": "dequantize", "scheme": "integer-difference", "type": self.quantized(q.element, &q.dims)?,
            "case": {"shape": shape(&q.dims), "q": values(q)}, "expected": values(&self.output),
        }))
    }

    /// Returns the zero point of an operand. Fails if zero points differ within the tensor.
    fn point(&self, at: usize) -> Result<i64, String> {
        let Some(points) = self.optional(at) else { return Ok(0) };
        match points.integers.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => Ok(*first),
            _ => Err("its zero points differ along an axis; only one for a tensor is read".to_owned()),
        }
    }

    /// Returns the types of both operands.
    fn types(&self, [lhs, rhs]: [usize; 2]) -> Result<String, String> {
        let name = |at: usize| byte(self.input(at)?).ok_or_else(|| format!("its input {at} is neither UINT8 nor INT8"));
        Ok(format!("{},{}", name(lhs)?, name(rhs)?))
    }

    fn matmul(&self) -> Result<Json, String> {
        Ok(json!({
            "op": "matmul", "scheme": EXACT, "type": self.types([0, 1])?, "case": self.product([0, 1], [2, 3])?,
            "expected": values(&self.output),
        }))
    }

    /// Builds the case of a product of two inputs, with their zero points.
    fn product(&self, operands: [usize; 2], points: [usize; 2]) -> Result<Json, String> {
        let (lhs, rhs) = (self.input(operands[0])?, self.input(operands[1])?);
        let ([m, k], [depth, n]) = (&lhs.dims[..], &rhs.dims[..]) else {
            return Err(format!("operands of {:?} and {:?}; two matrices are read", lhs.dims, rhs.dims));
        };
        if k != depth {
            return Err(format!("operands of {:?} and {:?} cannot be multiplied", lhs.dims, rhs.dims));
        }
        Ok(json!({
            "m": m, "n": n, "k": k, "lhs_offset": -self.point(points[0])?, "rhs_offset": -self.point(points[1])?,
            "lhs": values(lhs), "rhs": values(rhs),
        }))
    }

    fn scaled_matmul(&self) -> Result<Json, String> {
        let (lhs, rhs) = (self.types([0, 3])?, self.product([0, 3], [2, 5])?);
        let scaled = self.rescaled([1, 4, 6], 7, None)?;
        let first = ("matmul", EXACT, lhs.as_str(), rhs);
        Ok(chain::of_two(first, ("requantize", ROUNDED, self.stored()?, scaled), json!(values(&self.output))))
    }

    fn scaled_convolution(&self) -> Result<Json, String> {
        let types = self.types([0, 3])?;
        let (case, channels_last) = self.filtered([0, 3], [2, 5])?;
        let scaled = self.rescaled([1, 4, 6], 7, self.optional(8))?;
        let first = ("conv2d", EXACT, types.as_str(), case);
        Ok(chain::of_two(first, ("requantize", ROUNDED, self.stored()?, scaled), json!(channels_last)))
    }

    /// Returns the type of the results.
    fn stored(&self) -> Result<&'static str, String> {
        byte(&self.output).ok_or_else(|| "its results are neither UINT8 nor INT8".to_owned())
    }

    /// Builds the case of a requantization. `scales` and `point` are places of inputs. The multiplier is `f32(f32(lhs * rhs) / out)`, as in
    /// ONNX Runtime, and exact as m * 2^(s-31).
    fn rescaled(&self, scales: [usize; 3], point: usize, bias: Option<&Tensor>) -> Result<Json, String> {
        let floats = |at: usize| {
            let tensor = self.input(at)?;
            match tensor.element {
                Type::F32 if !tensor.floats.is_empty() => Ok(&tensor.floats[..]),
                _ => Err(format!("its scale, input {at}, is no FLOAT; convert the model")),
            }
        };
        let ([input], weights, [output]) = (floats(scales[0])?, floats(scales[1])?, floats(scales[2])?) else {
            return Err("its first operand and its results need one scale each".to_owned());
        };
        let derivation = Derivation::find("f32").map_err(|error| error.to_string())?;
        let exact =
            |v: f32| Rational::from_f32(v).filter(|v| *v > 0).ok_or_else(|| format!("the scale {v} is not above 0"));
        let multiplier = |weight: &f32| {
            let scales = Scales { input: exact(*input)?, weight: exact(*weight)?, output: exact(*output)? };
            let real = (derivation.real)(&scales);
            let fits = quantize_multiplier(&real).filter(|(m, _)| *m > 0);
            fits.ok_or_else(|| format!("the multiplier {} is outside of 2^-32 to 2^31", real.to_f64()))
        };
        let channels = weights.iter().map(multiplier).collect::<Result<Vec<(i32, i32)>, String>>()?;
        let [min, max] = if self.output.element == Type::U8 { [0, 255] } else { [-128, 127] };
        let mut case = json!({
            "m": channels.iter().map(|(m, _)| m).collect::<Vec<_>>(), "s": channels.iter().map(|(_, s)| s).collect::<Vec<_>>(),
            "zero_point": self.point(point)?, "min": min, "max": max,
        });
        if let Some(bias) = bias {
            case["bias"] = json!(values(bias));
        }
        Ok(case)
    }

    fn convolution(&self) -> Result<Json, String> {
        let (case, channels_last) = self.filtered([0, 1], [2, 3])?;
        Ok(json!({
            "op": "conv2d", "scheme": EXACT, "type": self.types([0, 1])?, "case": case, "expected": channels_last,
        }))
    }

    /// Builds the case of a convolution of two inputs, with their zero points. Also returns the results, channels last.
    fn filtered(&self, operands: [usize; 2], points: [usize; 2]) -> Result<(Json, Vec<Json>), String> {
        let (image, filter) = (self.input(operands[0])?, self.input(operands[1])?);
        let ([n, c, h, w], [o, of_group, kh, kw]) = (&image.dims[..], &filter.dims[..]) else {
            return Err(format!(
                "operands of {:?} and {:?}; convolutions of two dimensions are read",
                image.dims, filter.dims
            ));
        };
        let pads = match self.node.texts.get("auto_pad").map_or("NOTSET", String::as_str) {
            "NOTSET" => self.integers("pads", &[0; 4]),
            "VALID" => vec![0; 4],
            other => return Err(format!("auto_pad {other}; write its pads")),
        };
        let (strides, dilations) = (self.integers("strides", &[1; 2]), self.integers("dilations", &[1; 2]));
        let ([top, left, bottom, right], [sh, sw], [dh, dw]) = (&pads[..], &strides[..], &dilations[..]) else {
            return Err("pads, strides and dilations are not those of two dimensions".to_owned());
        };
        let groups = self.integers("group", &[1])[0];
        if (*of_group as i64).checked_mul(groups) != Some(*c as i64) {
            return Err(format!("filters of {of_group} channels in {groups} groups for an image of {c}"));
        }
        let [_, _, out_h, out_w] = self.output.dims[..] else {
            return Err(format!("results of {:?}; four dimensions are read", self.output.dims));
        };
        let case = json!({
            "batches": n, "height": h, "width": w, "channels": c, "kernel_h": kh, "kernel_w": kw,
            "out_channels": o, "groups": groups, "stride_h": sh, "stride_w": sw, "dilation_h": dh,
            "dilation_w": dw, "top": top, "bottom": bottom, "left": left, "right": right,
            "input_zero_point": self.point(points[0])?, "weight_zero_point": self.point(points[1])?,
            "input": permuted(&values(image), [*n, *c, *h, *w], [0, 2, 3, 1]),
            "weights": permuted(&values(filter), [*o, *of_group, *kh, *kw], [2, 3, 1, 0]),
        });
        Ok((case, permuted(&values(&self.output), [*n, *o, out_h, out_w], [0, 2, 3, 1])))
    }
}

/// Returns an operation's name of an 8-bit type. `None` for other types.
fn byte(tensor: &Tensor) -> Option<&'static str> {
    match tensor.element {
        Type::U8 => Some("uint8"),
        Type::I8 => Some("int8"),
        _ => None,
    }
}

/// Returns the elements of a tensor.
fn values(tensor: &Tensor) -> Vec<Json> {
    match tensor.element {
        Type::F32 => tensor.floats.iter().map(|value| single(*value)).collect(),
        _ => tensor.integers.iter().map(|value| json!(value)).collect(),
    }
}

/// Returns the elements of a four-dimensional tensor, row-major for another order of its dimensions.
pub(in crate::cli) fn permuted<T: Clone>(values: &[T], dims: [usize; 4], order: [usize; 4]) -> Vec<T> {
    let mut strides = [1; 4];
    (0..3).rev().for_each(|axis| strides[axis] = strides[axis + 1] * dims[axis + 1]);
    let place = |mut at: usize| {
        order.iter().rev().fold(0, |place, axis| {
            let own = place + at % dims[*axis] * strides[*axis];
            at /= dims[*axis];
            own
        })
    };
    (0..values.len()).filter_map(|at| values.get(place(at)).cloned()).collect()
}

/// Formats sizes as in a case. A scalar has one element.
fn shape(dims: &[usize]) -> String {
    if dims.is_empty() { "1".to_owned() } else { dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x") }
}

/// Formats a float32 scale exactly, with a decimal point as in a type.
fn decimal(scale: f32) -> String {
    let text = format!("{:?}", f64::from(scale));
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_become_the_last_dimension() {
        let values: Vec<Json> = (0..8).map(|v| json!(v)).collect();
        let last = permuted(&values, [1, 2, 2, 2], [0, 2, 3, 1]);
        assert_eq!(json!(last), json!([0, 4, 1, 5, 2, 6, 3, 7]));
    }

    #[test]
    fn scales_have_a_point() {
        assert_eq!([1e-10, 0.5, 2.0].map(decimal), ["1.000000013351432e-10", "0.5", "2.0"]);
    }
}
