//! A call of a function of `tiebreak.h` as C source: the parameters, the operands, and the results that are expected.

use super::abi::{FUNCTIONS, Function, columns};
use crate::conv2d;
use crate::protocol::Job;
use crate::quantized::Granularity;
use serde_json::Value;

/// An array of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name in the header.
    pub name: &'static str,
    /// Type of its elements in C. Floats are written by their bits, as `uint32_t`.
    pub stored: &'static str,
    /// Type of the elements that a function gets.
    pub passed: &'static str,
    /// The elements as C writes them.
    pub elements: Vec<String>,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name.
    pub symbol: String,
    /// Type of its parameters.
    pub params: &'static str,
    /// Arrays that the parameters point to.
    pub arrays: Vec<Array>,
    /// Fields of the parameters in their order; a field that points to an array has its name after a `*`.
    pub fields: Vec<String>,
    /// The operands.
    pub operands: Vec<Array>,
    /// The results.
    pub results: Array,
}

/// The call of a job on its operands, with the results that are expected; `domain` has the types that the parameters leave open. An error says why `tiebreak.h` has
/// no such call.
pub fn call(job: &Job, domain: &Value, input: &[i32], results: &[i32]) -> Result<Call, String> {
    let op = job.names().0;
    let mut of_op = FUNCTIONS.iter().filter(|function| function.op == op).peekable();
    if of_op.peek().is_none() {
        return Err(format!("tiebreak.h has no function of {op}"));
    }
    let fits = |function: &&Function| types(job, domain, function).is_some_and(|names| names == function.types);
    let function = of_op.find(fits).ok_or_else(|| format!("tiebreak.h has no function of {op} for these types"))?;
    let lengths = operands(job, input.len()).ok_or_else(|| format!("the {op} has no sizes"))?;
    let mut rest = input;
    let mut of = Vec::new();
    for (at, (name, len)) in lengths.iter().enumerate() {
        let (own, others) = rest.split_at_checked(*len).ok_or_else(|| format!("the {op} has too few inputs"))?;
        of.push(array(name, operand(op, function, at), own));
        rest = others;
    }
    let (arrays, fields) = parameters(job, input.len())?;
    let result = match op {
        "matmul" | "conv2d" => None,
        _ => function.types.last().copied(),
    };
    Ok(Call {
        symbol: function.symbol(),
        params: params(op),
        arrays,
        fields,
        operands: of,
        results: array("out", result, results),
    })
}

/// Type of an operand; none of int32.
fn operand(op: &str, function: &Function, at: usize) -> Option<&'static str> {
    match op {
        // The type in the name is that of the results.
        "requantize" => None,
        // Both operands have one type.
        "add" | "mul" => function.types.first().copied(),
        _ => function.types.get(at).copied(),
    }
}

/// What the types of a function are for a job.
fn types(job: &Job, domain: &Value, function: &Function) -> Option<Vec<String>> {
    let name = |field: &&str| match job {
        Job::Quantize { params, .. } | Job::Dequantize { params, .. } => Some(match *field {
            "expressed" => params.quantized.expressed.name().to_owned(),
            _ => params.quantized.storage.name(),
        }),
        Job::Add { params, .. } | Job::Mul { params, .. } => Some(params.element.name().to_owned()),
        Job::Pool { params, .. } => Some(params.element.name().to_owned()),
        _ => named(domain, field)?.as_str().map(str::to_owned),
    };
    function.fields.iter().map(name).collect()
}

/// A field of a domain, which may be a part of another field.
fn named<'a>(domain: &'a Value, field: &str) -> Option<&'a Value> {
    let fields = domain.as_object()?;
    fields.get(field).or_else(|| fields.values().find_map(|inner| named(inner, field)))
}

/// Names of the operands in the header, with the words of each.
fn operands(job: &Job, input: usize) -> Option<Vec<(&'static str, usize)>> {
    let two =
        |names: [&'static str; 2], first: usize| Some(vec![(names[0], first), (names[1], input.checked_sub(first)?)]);
    match job {
        Job::Fpm { .. } => Some(vec![("x", input)]),
        Job::Requantize { .. } => Some(vec![("acc", input)]),
        Job::Quantize { .. } => Some(vec![("real", input)]),
        Job::Dequantize { .. } => Some(vec![("stored", input)]),
        Job::Add { params, .. } | Job::Mul { params, .. } => two(["lhs", "rhs"], params.len),
        Job::Matmul { params, .. } => two(["lhs", "rhs"], params.m * params.k),
        Job::Conv2d { params, .. } => two(["input", "weights"], params.sizes().ok()?.inputs[0]),
        Job::Pool { .. } => Some(vec![("input", input)]),
        Job::Qconv2d { params, .. } => two(["input", "weights"], params.shape.sizes().ok()?.inputs[0]),
        _ => None,
    }
}

/// Name of an operation's parameters.
fn params(op: &str) -> &'static str {
    match op {
        "fpm" => "tiebreak_fpm_params",
        "requantize" => "tiebreak_requantize_params",
        "add" | "mul" => "tiebreak_elementwise_params",
        "matmul" => "tiebreak_matmul_params",
        "conv2d" => "tiebreak_conv2d_params",
        "pool" => "tiebreak_pool_params",
        "qconv2d" => "tiebreak_qconv2d_params",
        _ => "tiebreak_cast_params",
    }
}

/// Words as an array; int32 if no type is named.
fn array(name: &'static str, ty: Option<&str>, words: &[i32]) -> Array {
    let (stored, passed) = match ty {
        Some("i8") => ("int8_t", "int8_t"),
        Some("u8") => ("uint8_t", "uint8_t"),
        Some("i16") => ("int16_t", "int16_t"),
        Some("u16") => ("uint16_t", "uint16_t"),
        Some("f32") => ("uint32_t", "float"),
        _ => ("int32_t", "int32_t"),
    };
    let element = |word: &i32| match passed {
        "float" => format!("0x{:08x}u", *word as u32),
        _ => int32(*word),
    };
    Array { name, stored, passed, elements: words.iter().map(element).collect() }
}

/// An int32 as C writes it: the smallest is no literal.
fn int32(value: i32) -> String {
    if value == i32::MIN { "(-2147483647 - 1)".to_owned() } else { value.to_string() }
}

/// A double by its digits, which C reads as the same one.
fn double(value: f64) -> String {
    format!("{value:?}")
}

/// Arrays and fields of the parameters of a call with so many inputs.
fn parameters(job: &Job, len: usize) -> Result<(Vec<Array>, Vec<String>), String> {
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
            let [multiplier, shift] = columns(&params.channels);
            let named = [("multiplier", &multiplier), ("shift", &shift), ("bias", &params.bias)];
            let arrays = named.map(|(name, words)| array(name, None, words)).to_vec();
            with(arrays, sizes(&[params.len, shift.len()]), words(&[params.zero_point, params.min, params.max]))
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
        Job::Add { params, .. } | Job::Mul { params, .. } => {
            let scaled = [params.lhs, params.rhs, params.out]
                .map(|operand| format!("{{ (float){}, {} }}", double(operand.scale.0), operand.zero_point));
            let fields = [sizes(&[params.len]), scaled.to_vec(), words(&[params.min, params.max])].concat();
            Ok((Vec::new(), fields))
        }
        Job::Matmul { params, .. } => {
            let offsets = words(&[params.lhs_offset, params.rhs_offset]);
            Ok((Vec::new(), [sizes(&[params.m, params.n, params.k]), offsets].concat()))
        }
        Job::Conv2d { params, .. } => Ok((Vec::new(), shape(params)?)),
        Job::Qconv2d { params, .. } => {
            let whole = params.requantize(0);
            let [multiplier, shift] = columns(&whole.channels);
            let named = [("multiplier", &multiplier), ("shift", &shift), ("bias", &whole.bias)];
            let arrays = named.map(|(name, words)| array(name, None, words)).to_vec();
            let conv = format!("{{ {} }}", shape(&params.shape)?.join(", "));
            with(arrays, vec![conv], words(&[params.zero_point, params.min, params.max]))
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
        other => Err(format!("tiebreak.h has no function of {}", other.names().0)),
    }
}

/// Fields of a convolution.
fn shape(p: &conv2d::Params) -> Result<Vec<String>, String> {
    if p.transposed {
        return Err("tiebreak.h has no transposed convolution".to_owned());
    }
    let (out_height, out_width) = p.output().map_err(|error| error.to_string())?;
    let shape = [p.batches, p.height, p.width, p.channels, p.kernel_h, p.kernel_w, p.out_channels, p.groups];
    let steps = [p.stride_h, p.stride_w, p.dilation_h, p.dilation_w];
    let padding = [p.top, p.bottom, p.left, p.right, out_height, out_width];
    let sizes = [&shape[..], &steps, &padding].concat().into_iter().map(|size| size.to_string());
    Ok(sizes.chain([p.input_zero_point, p.weight_zero_point].map(int32)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::{self, Channel};
    use crate::matmul;

    #[test]
    fn a_call_has_the_fields_of_the_header() {
        let params = fpm::Params { channels: vec![Channel { multiplier: i32::MIN, shift: -3 }], q: 31 };
        let job = Job::Fpm { kernel: "vector".to_owned(), params };
        let call = call(&job, &Value::Null, &[1, -2], &[0, i32::MIN]).expect("a call");
        assert_eq!((call.symbol.as_str(), call.params), ("tiebreak_fpm", "tiebreak_fpm_params"));
        assert_eq!(call.fields, ["2", "1", "*multiplier", "*shift", "31u"]);
        assert_eq!(call.arrays[0].elements, ["(-2147483647 - 1)"]);
        assert_eq!(call.operands[0].elements, ["1", "-2"]);
        assert_eq!((call.results.stored, call.results.elements[1].as_str()), ("int32_t", "(-2147483647 - 1)"));
    }

    #[test]
    fn types_that_the_header_has_not_are_an_error() {
        let params = matmul::Params { m: 1, n: 1, k: 1, lhs_offset: 0, rhs_offset: 0 };
        let job = Job::Matmul { kernel: "vector".to_owned(), params };
        let of = |lhs: &str, rhs: &str| call(&job, &serde_json::json!({"lhs": lhs, "rhs": rhs}), &[1, 2], &[2]);
        assert_eq!(of("u8", "i8").expect("a call").symbol, "tiebreak_matmul_u8_i8");
        assert_eq!(of("u8", "i8").expect("a call").operands[1].stored, "int8_t");
        let nested = serde_json::json!({"grouped": true, "operands": {"lhs": "u8", "rhs": "u8"}});
        assert_eq!(super::call(&job, &nested, &[1, 2], &[2]).expect("a call").symbol, "tiebreak_matmul_u8_u8");
        assert!(of("i8", "u8").is_err_and(|why| why.contains("for these types")));
    }
}
