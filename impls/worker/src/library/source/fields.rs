//! C source of the parameters of a call.

use super::super::abi::columns;
use super::{Array, array, double, int32, single};
use crate::protocol::Job;
use tiebreak_impls::conv2d;
use tiebreak_impls::matmul;
use tiebreak_impls::quantized::Granularity;
use tiebreak_impls::requantize;

/// Returns the arrays and fields of the parameters of a call with `len` inputs. An error says why `tiebreak.h` has no such call.
pub(super) fn parameters(job: &Job, len: usize) -> Result<(Vec<Array>, Vec<String>), String> {
    let sizes = |all: &[usize]| all.iter().map(usize::to_string).collect::<Vec<_>>();
    let words = |all: &[i32]| all.iter().map(|word| int32(*word)).collect::<Vec<_>>();
    let pointers = |arrays: &[Array]| arrays.iter().map(|array| format!("*{}", array.name)).collect::<Vec<_>>();
    let with = |arrays: Vec<Array>, before: Vec<String>, after: Vec<String>| {
        let fields = [before, pointers(&arrays), after].concat();
        Ok((arrays, fields))
    };
    match job {
        Job::Fpm { params, .. } => {
            let [multiplier, shift] = columns(&params.channels);
            let arrays = vec![array("multiplier", None, &multiplier), array("shift", None, &shift)];
            with(arrays, sizes(&[len, shift.len()]), vec![format!("{}u", params.q)])
        }
        Job::Requantize { params, .. } => {
            let (arrays, output) = scaling(params);
            with(arrays, sizes(&[params.len, params.channels.len()]), output)
        }
        Job::Quantize { params, .. } | Job::Dequantize { params, .. } => {
            let quantized = &params.quantized;
            let inner = match &quantized.granularity {
                Granularity::Layer => 1,
                Granularity::Channel { axis } => params.shape.iter().skip(axis + 1).product(),
                Granularity::Blocks { .. } => return Err("tiebreak.h has no function for scales of blocks".to_owned()),
            };
            let scales = quantized.scales.iter().map(|scale| double(scale.0)).collect();
            let scale = Array { name: "scale", stored: "double", passed: "double", elements: scales };
            let points: Vec<i32> = quantized.zero_points.iter().map(|point| *point as i32).collect();
            let arrays = vec![scale, array("zero_point", None, &points)];
            let bounds = words(&[quantized.min as i32, quantized.max as i32]);
            with(arrays, sizes(&[params.shape.iter().product(), points.len(), inner]), bounds)
        }
        Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => {
            let scaled = [params.lhs, params.rhs, params.out]
                .map(|operand| format!("{{ (float){}, {} }}", double(operand.scale.0), operand.zero_point));
            let fields = [sizes(&[params.len]), scaled.to_vec(), words(&[params.min, params.max])].concat();
            Ok((Vec::new(), fields))
        }
        Job::Matmul { params, .. } => Ok((Vec::new(), product(params))),
        Job::Qmatmul { params, .. } => {
            let layer = params.layer().ok_or("tiebreak.h has no function for stages other than those of a layer")?;
            let product = format!("{{ {} }}", product(&params.shape).join(", "));
            let (arrays, output) = scaling(&layer.requantize(0, params.shape.n));
            with(arrays, vec![product], output)
        }
        Job::Conv2d { params, .. } => Ok((Vec::new(), shape(params)?)),
        Job::Qconv2d { params, .. } => {
            let conv = format!("{{ {} }}", shape(&params.shape)?.join(", "));
            let (arrays, output) = scaling(&params.requantize(0));
            with(arrays, vec![conv], output)
        }
        Job::Pool { params: p, .. } => {
            let (out_height, out_width) = p.output().map_err(|error| error.to_string())?;
            let shape = [p.batches, p.height, p.width, p.channels, p.kernel_h, p.kernel_w, p.stride_h, p.stride_w];
            let padding = [p.top, p.bottom, p.left, p.right, out_height, out_width];
            let scaled = [p.input, p.out].map(|o| format!("{{ (float){}, {} }}", double(o.scale.0), o.zero_point));
            let counted = words(&[p.count_padding.into()]);
            let bounds = words(&[p.min, p.max]);
            Ok((Vec::new(), [sizes(&shape), sizes(&padding), counted, scaled.to_vec(), bounds].concat()))
        }
        Job::Concat { params: p, .. } => {
            let of = |all: &[usize]| all.iter().map(usize::to_string).collect::<Vec<_>>();
            let list = |name, ty, elements| Array { name, stored: ty, passed: ty, elements };
            let scales = p.inputs.iter().map(|input| single(input.operand.single())).collect();
            let points: Vec<i32> = p.inputs.iter().map(|input| input.operand.zero_point).collect();
            let lens: Vec<usize> = p.inputs.iter().map(|input| input.size).collect();
            let arrays = vec![
                list("shape", "size_t", of(&p.shape)),
                list("sizes", "size_t", of(&lens)),
                list("scale", "float", scales),
                array("zero_point", None, &points),
            ];
            let out = format!("{{ {}, {} }}", single(p.out.single()), p.out.zero_point);
            with(arrays, sizes(&[p.shape.len(), p.axis, p.inputs.len()]), vec![out])
        }
        Job::Softmax { params: p, .. } => {
            let scaling = words(&[p.multiplier, p.left_shift, p.diff_min]);
            Ok((Vec::new(), [sizes(&[p.rows, p.depth]), scaling].concat()))
        }
        other => Err(format!("tiebreak.h has no function of {}", other.names().0)),
    }
}

/// Returns the fields of a product.
fn product(p: &matmul::Params) -> Vec<String> {
    let sizes = [p.m, p.n, p.k].into_iter().map(|size| size.to_string());
    sizes.chain([p.lhs_offset, p.rhs_offset].map(int32)).collect()
}

/// Returns the arrays and the last fields of a function that scales sums.
fn scaling(whole: &requantize::Params) -> (Vec<Array>, Vec<String>) {
    let [multiplier, shift] = columns(&whole.channels);
    let named = [("multiplier", &multiplier), ("shift", &shift), ("bias", &whole.bias)];
    let arrays = named.map(|(name, words)| array(name, None, words)).to_vec();
    (arrays, [whole.zero_point, whole.min, whole.max].map(int32).to_vec())
}

/// Returns the fields of a convolution.
fn shape(p: &conv2d::Params) -> Result<Vec<String>, String> {
    let (out_height, out_width) = p.output().map_err(|error| error.to_string())?;
    let shape = [p.batches, p.height, p.width, p.channels, p.kernel_h, p.kernel_w, p.out_channels, p.groups];
    let steps = [p.stride_h, p.stride_w, p.dilation_h, p.dilation_w];
    let padding = [p.top, p.bottom, p.left, p.right, out_height, out_width];
    let sizes = [&shape[..], &steps, &padding].concat().into_iter().map(|size| size.to_string());
    Ok(sizes.chain([p.input_zero_point, p.weight_zero_point].map(int32)).collect())
}
