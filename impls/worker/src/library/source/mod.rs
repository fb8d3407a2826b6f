//! C source of a call to a function of `tiebreak.h`: parameters, operands and expected results.

mod fields;

use super::abi::{FUNCTIONS, Function};
use crate::protocol::Job;
use fields::parameters;
use serde_json::Value;
use tiebreak_impls::element::Element;

/// Array of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Name of the array in the header.
    pub name: &'static str,
    /// C type of the elements. Floats are written as their bits, in `uint32_t`.
    pub stored: &'static str,
    /// C type of the elements that the function receives.
    pub passed: &'static str,
    /// Elements as C literals.
    pub elements: Vec<String>,
}

/// Call of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the function.
    pub symbol: String,
    /// C type of the parameters.
    pub params: &'static str,
    /// Arrays that the parameters point to.
    pub arrays: Vec<Array>,
    /// Fields of the parameters in their order. A field that points to an array is `*` and the array's name.
    pub fields: Vec<String>,
    /// Operands.
    pub operands: Vec<Array>,
    /// Expected results.
    pub results: Array,
}

/// Builds the call of a job on its operands, with the expected results. `domain` has the types that the job's parameters do not state. An error says
/// why `tiebreak.h` has no such call.
pub fn call(job: &Job, domain: &Value, input: &[i32], results: &[i32]) -> Result<Call, String> {
    let op = job.names().0;
    let mut of_op = FUNCTIONS.iter().filter(|function| function.op == op).peekable();
    if of_op.peek().is_none() {
        return Err(format!("tiebreak.h has no function of {op}"));
    }
    let fits = |function: &&Function| {
        function.transposed == is_transposed(job)
            && types(job, domain, function).is_some_and(|names| names == function.types)
    };
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

/// Returns the type of an operand; `None` for int32.
fn operand(op: &str, function: &Function, at: usize) -> Option<&'static str> {
    match op {
        // The type in the name is the type of the results.
        "requantize" => None,
        // Both operands have one type.
        "add" | "sub" | "mul" => function.types.first().copied(),
        _ => function.types.get(at).copied(),
    }
}

/// True if a job is a transposed convolution, which has separate functions.
fn is_transposed(job: &Job) -> bool {
    match job {
        Job::Conv2d { params, .. } => params.transposed,
        Job::Qconv2d { params, .. } => params.shape.transposed,
        _ => false,
    }
}

/// Returns the job's types for the type fields of a function; `None` if a type is missing.
fn types(job: &Job, domain: &Value, function: &Function) -> Option<Vec<String>> {
    let name = |field: &&str| match job {
        Job::Quantize { params, .. } | Job::Dequantize { params, .. } => Some(match *field {
            "expressed" => params.quantized.expressed.name().to_owned(),
            _ => params.quantized.storage.name(),
        }),
        Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => {
            Some(params.element.name().to_owned())
        }
        Job::Concat { params, .. } => Some(params.element.name().to_owned()),
        Job::Softmax { params, .. } => Some(match *field {
            "input" => params.input.name().to_owned(),
            _ => params.output.name().to_owned(),
        }),
        Job::Qmatmul { params, .. } if *field == "output" => Some(params.layer()?.output.name().to_owned()),
        Job::Pool { params, .. } => Some(params.element.name().to_owned()),
        _ => named(domain, field)?.as_str().map(str::to_owned),
    };
    function.fields.iter().map(name).collect()
}

/// Returns a field of a domain, which may be nested in another field.
fn named<'a>(domain: &'a Value, field: &str) -> Option<&'a Value> {
    let fields = domain.as_object()?;
    fields.get(field).or_else(|| fields.values().find_map(|inner| named(inner, field)))
}

/// Returns the names of the operands in the header, and the number of words of each operand.
fn operands(job: &Job, input: usize) -> Option<Vec<(&'static str, usize)>> {
    let two =
        |names: [&'static str; 2], first: usize| Some(vec![(names[0], first), (names[1], input.checked_sub(first)?)]);
    match job {
        Job::Fpm { .. } => Some(vec![("x", input)]),
        Job::Requantize { .. } => Some(vec![("acc", input)]),
        Job::Quantize { .. } => Some(vec![("real", input)]),
        Job::Dequantize { .. } => Some(vec![("stored", input)]),
        Job::Add { params, .. } | Job::Sub { params, .. } | Job::Mul { params, .. } => two(["lhs", "rhs"], params.len),
        Job::Matmul { params, .. } => two(["lhs", "rhs"], params.m * params.k),
        Job::Qmatmul { params, .. } => two(["lhs", "rhs"], params.shape.m * params.shape.k),
        Job::Conv2d { params, .. } => two(["input", "weights"], params.sizes().ok()?.inputs[0]),
        Job::Pool { .. } | Job::Softmax { .. } => Some(vec![("input", input)]),
        Job::Concat { .. } => Some(vec![("inputs", input)]),
        Job::Qconv2d { params, .. } => two(["input", "weights"], params.shape.sizes().ok()?.inputs[0]),
        _ => None,
    }
}

/// Returns the C type of an operation's parameters.
fn params(op: &str) -> &'static str {
    match op {
        "fpm" => "tiebreak_fpm_params",
        "requantize" => "tiebreak_requantize_params",
        "add" | "sub" | "mul" => "tiebreak_elementwise_params",
        "matmul" => "tiebreak_matmul_params",
        "conv2d" => "tiebreak_conv2d_params",
        "pool" => "tiebreak_pool_params",
        "qconv2d" => "tiebreak_qconv2d_params",
        "qmatmul" => "tiebreak_qmatmul_params",
        "concat" => "tiebreak_concat_params",
        "softmax" => "tiebreak_softmax_params",
        _ => "tiebreak_cast_params",
    }
}

/// Converts words to an array; its type is int32 if `ty` is `None`.
fn array(name: &'static str, ty: Option<&str>, words: &[i32]) -> Array {
    if ty == Some("i4") {
        let mut bytes = vec![0; Element::I4.size(words.len())];
        Element::I4.pack(words, &mut bytes);
        let elements = bytes.iter().map(u8::to_string).collect();
        return Array { name, stored: "uint8_t", passed: "uint8_t", elements };
    }
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

/// Writes an int32 in C. The smallest int32 is not a literal.
fn int32(value: i32) -> String {
    if value == i32::MIN { "(-2147483647 - 1)".to_owned() } else { value.to_string() }
}

/// Writes a float in decimal digits, which C reads as the same float.
fn single(value: f32) -> String {
    format!("{value:?}f")
}

/// Writes a double in decimal digits, which C reads as the same double.
fn double(value: f64) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_impls::fpm::{self, Channel};
    use tiebreak_impls::qmatmul::{self, Layer};
    use tiebreak_impls::quantized::Scale;
    use tiebreak_impls::{concat, conv2d, matmul};

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

    #[test]
    fn a_transposed_convolution_has_a_function_of_its_own() {
        let params =
            conv2d::Params { width: 2, kernel_w: 2, transposed: true, output_padding_w: 1, ..Default::default() };
        let of = |params| {
            let job = Job::Conv2d { kernel: "vector".to_owned(), params };
            let outputs = params.sizes().expect("a shape").outputs;
            call(&job, &serde_json::json!({"lhs": "i8", "rhs": "i8"}), &[1, 2, 3, 4], &vec![0; outputs])
                .expect("a call")
        };
        let transposed = of(params);
        assert_eq!(transposed.symbol, "tiebreak_conv2d_transposed_i8_i8");
        // The last sizes are those of the output with output padding.
        assert_eq!(transposed.fields[16..18], ["1", "4"]);
        let usual = of(conv2d::Params { transposed: false, output_padding_w: 0, ..params });
        assert_eq!((usual.symbol.as_str(), usual.params), ("tiebreak_conv2d_i8_i8", transposed.params));
    }

    #[test]
    fn weights_of_4_bits_are_bytes_of_two() {
        let channels = [Channel { multiplier: 1 << 30, shift: 1 }];
        let layer: Layer<'_> =
            Layer { bias: &[7], channels: &channels, zero_point: 1, min: -8, max: 9, output: Element::I8 };
        let shape = matmul::Params { m: 1, n: 1, k: 3, lhs_offset: -1, rhs_offset: 0 };
        let job =
            Job::Qmatmul { kernel: "vector".to_owned(), params: qmatmul::Params { shape, stages: layer.stages() } };
        let domain = serde_json::json!({"operands": {"lhs": "i8", "rhs": "i4"}});
        let call = call(&job, &domain, &[1, 2, 3, -8, 7, -1], &[1]).expect("a call");
        assert_eq!(call.symbol, "tiebreak_qmatmul_i8_i4_i8");
        assert_eq!(call.fields, ["{ 1, 1, 3, -1, 0 }", "*multiplier", "*shift", "*bias", "1", "-8", "9"]);
        assert_eq!(
            (call.operands[1].stored, &call.operands[1].elements[..]),
            ("uint8_t", &["120".to_owned(), "15".to_owned()][..])
        );
        let legacy = qmatmul::Params { shape, stages: vec![qmatmul::Stage::Cast { to: Element::I8 }] };
        let job = Job::Qmatmul { kernel: "vector".to_owned(), params: legacy };
        assert!(super::call(&job, &domain, &[1, 2, 3, -8, 7, -1], &[1]).is_err());
    }

    #[test]
    fn a_concatenation_has_a_list_for_each_field_of_its_inputs() {
        let operand = |scale, zero_point| concat::Operand { scale: Scale(scale), zero_point };
        let input = |size, scale, zero_point| concat::Input { size, operand: operand(scale, zero_point) };
        let params = concat::Params {
            element: Element::U8,
            shape: vec![1, 3],
            axis: 1,
            inputs: vec![input(1, 0.5, 3), input(2, 0.25, 0)],
            out: operand(1.5, 7),
        };
        let job = Job::Concat { kernel: "vector".to_owned(), params };
        let call = call(&job, &Value::Null, &[1, 2, 3], &[4, 5, 6]).expect("a call");
        assert_eq!((call.symbol.as_str(), call.params), ("tiebreak_concat_u8", "tiebreak_concat_params"));
        assert_eq!(call.fields, ["2", "1", "2", "*shape", "*sizes", "*scale", "*zero_point", "{ 1.5f, 7 }"]);
        let lists: Vec<String> = call.arrays.iter().map(|array| array.elements.join(" ")).collect();
        assert_eq!(lists, ["1 3", "1 2", "0.5f 0.25f", "3 0"]);
    }
}
