//! This test writes `docs/src/protocol.md`: one request and answer for each operation, as bytes. `UPDATE_EXPECT=1` updates the page.

use crate::common::workspace;
use serde_json::Value;
use std::fmt::Write;
use tiebreak_suites::lane;
use tiebreak_suites::presented::fitting::Fitting;
use tiebreak_suites::presented::sample::Sample;
use tiebreak_suites::presented::{self, sample};
use tiebreak_worker::protocol::{Answer, Hello, Job, Offer, Own, Request, VERSION};

/// Arithmetic of an operation, the meaning of each field of its parameters, and the order of its inputs and results.
struct Operation {
    op: &'static str,
    computes: &'static str,
    fields: &'static [(&'static str, &'static str)],
    inputs: &'static str,
    results: &'static str,
}

const PAGE: &[Operation] = &[
    Operation {
        op: "fpm",
        computes: "Fixed point multiply: `x * multiplier * 2^(shift - q)`, rounded as the scheme says.",
        fields: &[
            ("q", "fractional bits of the multipliers, 31 for nearly all kernels"),
            (
                "channels",
                "multipliers and shifts. Element `i` is of channel `i % channels`: the channel is the last axis.",
            ),
            ("multiplier", "an int32, `multiplier / 2^q` in fixed point"),
            ("shift", "positive is left, negative is right"),
        ],
        inputs: "`len` accumulators, int32",
        results: "`len` int32",
    },
    Operation {
        op: "requantize",
        computes: "`clamp(fpm(x + bias) + zero_point, min, max)`. The sum of accumulator and bias wraps modulo 2^32, unless the scheme says otherwise.",
        fields: &[
            ("len", "number of elements, the same as `len` of the request"),
            ("channels", "multipliers and shifts, with `q` 31. Element `i` is of channel `i % channels`."),
            ("multiplier", "an int32 with 31 fractional bits; for the scheme `legacy` an integer"),
            ("shift", "positive is left, negative is right"),
            ("bias", "an int32 for each channel, added to the accumulators of that channel before the multiplication"),
            ("zero_point", "zero point of the output, added after the multiplication"),
            ("min", "smallest result"),
            ("max", "largest result"),
        ],
        inputs: "`len` accumulators, int32",
        results: "`len` values of the output type, each as an int32",
    },
    Operation {
        op: "quantize",
        computes: "Reals to stored integers, where `real = scale * (stored - zero_point)`; results are within `min` and `max`.",
        fields: &[
            ("quantized", "the quantized type, with the fields from `storage` to `zero_points`"),
            ("storage", "type of stored values: `bits`, and `signed` or not"),
            ("bits", "1 to 32"),
            ("signed", "two's complement, or unsigned"),
            ("min", "smallest stored value"),
            ("max", "largest stored value"),
            ("expressed", "type of reals: `f16`, `bf16`, `f32` or `f64`"),
            (
                "granularity",
                "`\"layer\"`: one scale. `{\"channel\":{\"axis\":A}}`: one scale for each index of axis `A`. \
                 `{\"blocks\":{\"sizes\":[[A,N]],\"counts\":[..]}}`: one scale for each block, which is `N` long along axis `A`; `counts` are the blocks along each \
                 axis, and scales lie row-major over them.",
            ),
            ("scales", "a double for each scale; kernels round it to the expressed type"),
            ("zero_points", "stored value of 0, as many as scales"),
            (
                "container",
                "`ranked`, `unranked` or `scalar`: how the tensor is passed to compiled code. Other kernels may ignore this field.",
            ),
            ("shape", "sizes of the tensor, row-major"),
        ],
        inputs: "one word for each real: the bits of an f32, or those of an f16 or bf16 in the low half; an f64 has two words, the low one first",
        results: "one stored value for each real, as an int32. An unsigned value of 32 bits has the same bits.",
    },
    Operation {
        op: "dequantize",
        computes: "Stored integers to reals: `scale * (stored - zero_point)`.",
        fields: &[
            ("quantized", "as in `quantize`"),
            ("storage", "as in `quantize`"),
            ("bits", "as in `quantize`"),
            ("signed", "as in `quantize`"),
            ("min", "as in `quantize`"),
            ("max", "as in `quantize`"),
            ("expressed", "as in `quantize`"),
            ("granularity", "as in `quantize`"),
            ("scales", "as in `quantize`"),
            ("zero_points", "as in `quantize`"),
            ("container", "as in `quantize`"),
            ("shape", "as in `quantize`"),
        ],
        inputs: "one stored value for each element, as an int32",
        results: "one word for each real, or two for each f64, as the inputs of `quantize`; `len` counts words",
    },
    Operation {
        op: "add",
        computes: "The sum of two quantized tensors, element by element, quantized by the scale and the zero point of the output.",
        fields: &[
            ("element", "type of both operands and of the result: `i8`, `u8` or `i16`"),
            ("len", "number of elements of each tensor, the same as `len` of the request"),
            ("lhs", "the left operand: `real = scale * (stored - zero_point)`"),
            ("rhs", "the right operand"),
            ("out", "the result"),
            ("scale", "a double that is an f32"),
            ("zero_point", "stored value of 0"),
            ("min", "smallest result"),
            ("max", "largest result"),
        ],
        inputs: "`len` stored values of the left operand, then `len` of the right one",
        results: "`len` stored values",
    },
    Operation {
        op: "sub",
        computes: "The difference of two quantized tensors, element by element: left minus right. Fields, inputs and results are those of `add`.",
        fields: &[
            ("element", "as in `add`"),
            ("len", "as in `add`"),
            ("lhs", "as in `add`"),
            ("rhs", "as in `add`"),
            ("out", "as in `add`"),
            ("scale", "as in `add`"),
            ("zero_point", "as in `add`"),
            ("min", "as in `add`"),
            ("max", "as in `add`"),
        ],
        inputs: "`len` stored values of the left operand, then `len` of the right one",
        results: "`len` stored values",
    },
    Operation {
        op: "mul",
        computes: "The product of two quantized tensors, element by element. Fields, inputs and results are those of `add`.",
        fields: &[
            ("element", "as in `add`"),
            ("len", "as in `add`"),
            ("lhs", "as in `add`"),
            ("rhs", "as in `add`"),
            ("out", "as in `add`"),
            ("scale", "as in `add`"),
            ("zero_point", "as in `add`"),
            ("min", "as in `add`"),
            ("max", "as in `add`"),
        ],
        inputs: "`len` stored values of the left operand, then `len` of the right one",
        results: "`len` stored values",
    },
    Operation {
        op: "matmul",
        computes: "`out[i][j] = sum over l of (lhs[i][l] + lhs_offset) * (rhs[l][j] + rhs_offset)`, modulo 2^32. The types of `lhs` and `rhs` are those of the kernel.",
        fields: &[
            ("m", "rows of `lhs` and of the result"),
            ("n", "columns of `rhs` and of the result"),
            ("k", "columns of `lhs`, rows of `rhs`"),
            ("lhs_offset", "added to each element of `lhs`: minus its zero point"),
            ("rhs_offset", "added to each element of `rhs`: minus its zero point"),
        ],
        inputs: "`lhs` as `[m,k]`, then `rhs` as `[k,n]`, both row-major, each element as an int32",
        results: "`[m,n]`, row-major; `len` is `m * n`",
    },
    Operation {
        op: "conv2d",
        computes: "Sums of `(input - input_zero_point) * (weight - weight_zero_point)`, modulo 2^32. Padding has the value `input_zero_point`, so it adds nothing. With the further fields `transposed` (true), `output_padding_h` and `output_padding_w` (0 if absent), each element of the input is instead added to a window of the output, from which padding is removed.",
        fields: &[
            ("batches", "images"),
            ("height", "rows of the input"),
            ("width", "columns of the input"),
            ("channels", "channels of the input"),
            ("kernel_h", "rows of the filter"),
            ("kernel_w", "columns of the filter"),
            ("out_channels", "channels of the output"),
            (
                "groups",
                "number of groups of consecutive input and output channels, each convolved separately; in a depthwise convolution as many \
                 as channels",
            ),
            ("stride_h", "rows of the input from one result to the next"),
            ("stride_w", "columns of the input from one result to the next"),
            ("dilation_h", "rows of the input from one row of the filter to the next"),
            ("dilation_w", "columns of the input from one column of the filter to the next"),
            ("top", "rows of padding above"),
            ("bottom", "rows of padding below"),
            ("left", "columns of padding to the left"),
            ("right", "columns of padding to the right"),
            (
                "input_zero_point",
                "subtracted from each element of the input (an offset of `matmul` is a negated zero point)",
            ),
            ("weight_zero_point", "subtracted from each weight"),
        ],
        inputs: "the input as `[batches,height,width,channels]`, then the weights as `[kernel_h,kernel_w,channels/groups,out_channels]`, both row-major",
        results: "`[batches,rows,columns,out_channels]`, row-major, where `rows` is `(height + top + bottom - (kernel_h - 1) * dilation_h - 1) / stride_h + 1`, rounded down, \
                  and `columns` likewise; `len` is their number. If transposed, `rows` is `(height - 1) * stride_h + (kernel_h - 1) * dilation_h + 1 - top - bottom + output_padding_h`",
    },
    Operation {
        op: "concat",
        computes: "The concatenation of quantized tensors along one axis, each rescaled from its own scale and zero point to those of the output.",
        fields: &[
            ("element", "type of all tensors: `i8` or `u8`"),
            ("shape", "sizes of the output, 1 to 4 of them; that of the axis is the sum of the sizes of the inputs"),
            ("axis", "the axis, counted from 0"),
            ("inputs", "2 to 4 inputs, each with `size` and `operand`"),
            ("size", "size of an input along the axis; its other sizes are those of the output"),
            ("operand", "scale and zero point of an input: `real = scale * (stored - zero_point)`"),
            ("out", "scale and zero point of the output"),
            ("scale", "a double that is an f32"),
            ("zero_point", "stored value of 0"),
        ],
        inputs: "the stored values of each input, row-major, one input after another, each element as an int32",
        results: "`shape`, row-major; `len` is their number",
    },
    Operation {
        op: "pool",
        computes: "The average or the maximum of each window of a quantized tensor, quantized by the scale and the zero point of the output. The kernel's scheme determines which. Padding is real 0 in an average, and is left out of a maximum.",
        fields: &[
            ("element", "type of input and output: `i8`, `u8` or `i16`"),
            ("batches", "images"),
            ("height", "rows of the input"),
            ("width", "columns of the input"),
            ("channels", "channels of the input and of the output"),
            ("kernel_h", "rows of the window"),
            ("kernel_w", "columns of the window"),
            ("stride_h", "rows of the input from one result to the next"),
            ("stride_w", "columns of the input from one result to the next"),
            ("top", "rows of padding above; on each side padding is less than the window"),
            ("bottom", "rows of padding below"),
            ("left", "columns of padding to the left"),
            ("right", "columns of padding to the right"),
            (
                "count_padding",
                "whether the divisor of an average is the whole window (`true`) or the part of the window in the image (`false`)",
            ),
            ("input", "the input: `real = scale * (stored - zero_point)`"),
            ("out", "the output"),
            ("scale", "a double that is an f32"),
            ("zero_point", "stored value of 0"),
            ("min", "smallest result"),
            ("max", "largest result"),
        ],
        inputs: "the input as `[batches,height,width,channels]`, row-major, each element as an int32",
        results: "`[batches,rows,columns,channels]`, row-major, where `rows` is `(height + top + bottom - kernel_h) / stride_h + 1`, rounded down, and `columns` likewise; \
                  `len` is their number",
    },
    Operation {
        op: "qconv2d",
        computes: "`conv2d` and `requantize` in one: `clamp(fpm(sum + bias) + zero_point, min, max)` of each sum. `channels` and `bias` have one element, or one for each output \
                   channel. The types of input, weights and results are those of the kernel. Output channel `o` of a depthwise convolution is of input channel \
                   `o / (out_channels / channels)`. If the kernel has sums of 64 bits, `bias64` is a list of biases of 64 bits, and `bias` is `[0]`.",
        fields: &[
            ("shape", "the convolution, with the fields of `conv2d`"),
            ("batches", "as in `conv2d`"),
            ("height", "as in `conv2d`"),
            ("width", "as in `conv2d`"),
            ("kernel_h", "as in `conv2d`"),
            ("kernel_w", "as in `conv2d`"),
            ("out_channels", "as in `conv2d`"),
            ("groups", "as in `conv2d`"),
            ("stride_h", "as in `conv2d`"),
            ("stride_w", "as in `conv2d`"),
            ("dilation_h", "as in `conv2d`"),
            ("dilation_w", "as in `conv2d`"),
            ("top", "as in `conv2d`"),
            ("bottom", "as in `conv2d`"),
            ("left", "as in `conv2d`"),
            ("right", "as in `conv2d`"),
            ("input_zero_point", "as in `conv2d`"),
            ("weight_zero_point", "as in `conv2d`"),
            (
                "channels",
                "in `shape`, channels of the input; beside it, multipliers and shifts: one, or one for each output channel",
            ),
            ("multiplier", "of Q0.31"),
            ("shift", "positive is left"),
            ("bias", "added to the sums: one, or one for each output channel"),
            ("zero_point", "added after the multiplication"),
            ("min", "smallest result"),
            ("max", "largest result"),
        ],
        inputs: "as those of `conv2d`",
        results: "as those of `conv2d`, values of the kernel's output type",
    },
    Operation {
        op: "qmatmul",
        computes: "`matmul`, and on each sum the output stages in the order of `stages`. The types of lhs and rhs are those of the kernel. gemmlowp's kernels take any list; others take \
                   `bias`, `scale`, `clamp` and `cast` along columns, or `down` and `cast`. Further stages are `down` (`offset`, an integer `multiplier`, `shift`), `tanh` \
                   (`zero_point`, `amplitude`) and `bias64`, the first of a list, before `scale`: sum and bias have 64 bits.",
        fields: &[
            ("shape", "the product, with the fields of `matmul`"),
            ("m", "as in `matmul`"),
            ("n", "as in `matmul`"),
            ("k", "as in `matmul`"),
            ("lhs_offset", "as in `matmul`"),
            ("rhs_offset", "as in `matmul`"),
            ("stages", "the output stages, in their order"),
            ("stage", "`bias`, `bias64`, `down`, `scale`, `clamp`, `tanh`, or `cast`, which is the last"),
            ("along", "`rows` or `columns`: the axis of the list of `bias`, `bias64` and `scale`"),
            ("values", "biases: one, or one for each place of the axis"),
            ("channels", "multipliers and shifts: one, or one for each place of the axis"),
            ("multiplier", "Q0.31; for `down` an integer"),
            ("shift", "positive is left"),
            ("zero_point", "added after the multiplication"),
            ("min", "smallest result of `clamp`"),
            ("max", "largest result of `clamp`"),
            ("to", "type of the results: `u8`, `i8` or `i16`"),
        ],
        inputs: "lhs as `[m,k]`, row-major, then rhs as `[k,n]`, row-major, each element as an int32",
        results: "`[m,n]`, row-major; `len` is their number",
    },
    Operation {
        op: "exp",
        computes: "The exponential in fixed point: `e^(x * 2^(integer_bits - 31))` in units of 2^-31, of numbers that are not positive. The result 1 is `2^31 - 1`.",
        fields: &[
            ("len", "number of inputs, the same as `len` of the request"),
            ("integer_bits", "integer bits of the inputs; all other bits except the sign are fractional"),
        ],
        inputs: "`len` int32 that are not positive",
        results: "`len` int32",
    },
    Operation {
        op: "softmax",
        computes: "The softmax of each row of a quantized tensor, in steps of 2^-8 of an 8-bit output, or of 2^-16, from the least value of its type on. A difference `d` of stored values \
                   stands for the exponent `d * multiplier * 2^(left_shift - 57)`.",
        fields: &[
            ("input", "type of the input: `i8` or `u8`"),
            ("output", "type of the output: `i8`, `u8` or `i16`"),
            ("rows", "rows"),
            ("depth", "elements of a row, 511 at most"),
            ("multiplier", "2^30 to 2^31 - 1"),
            ("left_shift", "0 to 30"),
            ("diff_min", "the smallest difference from the row's maximum whose exponential is not replaced by 0"),
        ],
        inputs: "the input as `[rows,depth]`, row-major, each element as an int32",
        results: "`[rows,depth]`, values of the output's type; `len` is their number",
    },
    Operation {
        op: "dot",
        computes: "Steps of a dot product: accumulators plus a few products each, as one instruction computes them. The kernel determines how many.",
        fields: &[("len", "number of results, the same as `len` of the request")],
        inputs: "`len` accumulators, then the elements of the first operand, then those of the second",
        results: "`len` int32",
    },
    Operation {
        op: "instruction",
        computes: "One vector instruction, vector by vector.",
        fields: &[("vectors", "vectors in each operand: of 128 bits, or of the register that the kernel names")],
        inputs: "the lanes of the first operand, then those of the second, then those of the accumulator, if the instruction has them; each in an int32",
        results: "a value for each lane of the result, then, for each vector, 1 if it set the saturation flag, otherwise 0",
    },
    Operation {
        op: "transform",
        computes: "Layout transforms around a convolution by matrix product, padding, and packing of few bits: they move elements or bits, and pad.",
        fields: &[
            (
                "conv2d",
                "for `tvm-im2col`, `tvm-unflatten` and the spatial pack: the shape of the convolution, with the fields of `conv2d`",
            ),
            (
                "matrix",
                "for the blocks of a matrix product: `rows` and `columns` of the plain matrix, and `batches`, the number of matrices, if it is not 1",
            ),
            (
                "pad",
                "for the kernels of padding: `batches`, `height`, `width` and `channels` of the tensor, the elements before and after each axis, and `zero_point`",
            ),
            (
                "packed",
                "for bit planes and nibbles: `rows` and `columns` of the elements, `bits` of an element, `word`, the bits of a word, and whether unpacked elements are `signed`",
            ),
        ],
        inputs: "the elements before the transform",
        results: "the elements after the transform",
    },
];

const HEAD: &str = "# The protocol of a worker

<!-- Written by a test: `UPDATE_EXPECT=1 cargo test --release -p tiebreak --test it protocol_page` -->

A worker is a program that runs kernels for Tiebreak, in any language. It reads requests on its standard input and answers on its standard output, in order.
[Lanes and workers](lanes.md) describes how a run starts a worker; `docs/example-worker.py` is a worker in thirty lines, and [`check-worker`](lanes.md#checking-a-worker) finds mistakes of a worker in the protocol.

- **Messages.** A request or an answer is one line of JSON, followed by the bytes that the line announces.
- **Numbers.** Every number in these bytes is a word of 4 bytes, little-endian, whatever the type of the element: the int8 value -1 is the int32 `ff ff ff ff`, and an f32 is its bits.
- **Order.** Several requests may be sent before the first is answered. Answers come in the order of requests. Flush standard output after each answer.
- **End.** The end of the input ends the worker.
- **Other output.** Write only answers to standard output, and debugging lines to standard error.

In the examples below, `>` is what the worker reads, `<` is what it writes, and bytes are hexadecimal.

## Greeting

The first request is `hello`. In the answer, `protocol` is the version, `arch` is free text, and `kernels` are offers ([all fields of an offer](lanes.md#kernels-under-names-of-your-own)):
";

const REQUESTS: &str = "
## Fields of a request

| Field | Meaning |
| --- | --- |
| `command` | `hello` or `run` |
| `op`, `kernel` | the operation, and the name of the offered kernel |
| `params` | parameters of the batch, as the sections below describe them for each operation |
| `len` | number of results, in words of 4 bytes |
| `source` | `{\"payload\":{\"bytes\":N}}`: `N` bytes of inputs follow the line. `{\"range\":{\"start\":S}}`: no bytes follow; the inputs are `S`, `S + 1`, .., modulo 2^32. Sweeps send ranges. |
| `misalign` | the requested distance of inputs and results from a 64-byte boundary, in elements; a worker that cannot choose addresses ignores it. Results must not depend on addresses. |

A worker must ignore unknown fields. The order of fields is free.

## Fields of an answer

| Field | Meaning |
| --- | --- |
| `answer` | `hello`, `done` or `failed` |
| `bytes` | of `done`: the bytes of results that follow, four for each of `len` |
| `reason` | of `failed`: the reason, as text; no bytes follow, and the worker continues |
| `kind` | of `failed`: `refused` (the default), `panic`, `stray-write`, `changed-operand`, `unwritten`, `float-mode`, or `outside-domain`: the kernel does not support the batch, which is counted and is neither a failure nor a pass |
";

/// Formats bytes in hexadecimal, sixteen on each line.
fn hexadecimal(mark: char, bytes: &[u8]) -> String {
    let line = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    bytes.chunks(16).map(|bytes| format!("{mark} {}\n", line(bytes))).collect()
}

/// Formats words as integers, or as f32.
fn listed(words: &[i32], real: bool) -> String {
    let one = |word: &i32| if real { f32::from_bits(word.cast_unsigned()).to_string() } else { word.to_string() };
    words.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

/// Returns the answer of the project's worker: its line, and its results.
fn answered(sample: &Sample) -> (String, Vec<u8>) {
    let payload: Vec<u8> = sample.input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut input = (json(&Request::Run(Box::new(sample.batch()))) + "\n").into_bytes();
    input.extend_from_slice(&payload);
    let mut output = Vec::new();
    lane::serve(&input[..], &mut output).expect("it answers");
    let end = output.iter().position(|byte| *byte == b'\n').expect("a line");
    let line = String::from_utf8(output[..end].to_vec()).expect("text");
    (line, output[end + 1..].to_vec())
}

fn section(operation: &Operation, sample: &Sample) -> String {
    let (answer, results) = answered(sample);
    let payload: Vec<u8> = sample.input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let words: Vec<i32> = results.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
    let mut text =
        format!("\n## {}\n\n{}\n\n| Field of `params` | Meaning |\n| --- | --- |\n", operation.op, operation.computes);
    for (field, meaning) in operation.fields {
        let _ = writeln!(text, "| `{field}` | {meaning} |");
    }
    let _ = write!(
        text,
        "\n- **Inputs**: {}.\n- **Results**: {}.\n\n```text\n> {}\n{}< {answer}\n{}```\n\nThese are the inputs {}, and the results {}.\n",
        operation.inputs.trim_end_matches('.'),
        operation.results.trim_end_matches('.'),
        json(&Request::Run(Box::new(sample.batch()))),
        hexadecimal('>', &payload),
        hexadecimal('<', &results),
        listed(&sample.input, operation.op == "quantize"),
        listed(&words, operation.op == "dequantize"),
    );
    text
}

fn page() -> String {
    let own = Own { scheme: Some("tflite-single".to_owned()), ..Own::default() };
    let offer = Offer { op: "fpm".to_owned(), kernel: "mylib-multiply".to_owned(), isa_path: "avx2".to_owned(), own };
    let hello = Hello { protocol: VERSION, arch: "x86_64".to_owned(), kernels: vec![offer], sources: None };
    let mut text = HEAD.to_owned();
    let _ = write!(text, "\n```text\n> {}\n< {}\n```\n{REQUESTS}", json(&Request::Hello), json(&Answer::Hello(hello)));
    for operation in PAGE {
        text += &section(operation, &shown(operation.op));
    }
    text
}

fn shown(op: &str) -> Sample {
    let kernel = presented::shown(op).expect("a kernel");
    sample(op, kernel, Fitting::SHOWN).expect("a sample")
}

#[test]
fn the_page_of_the_protocol_is_what_the_worker_reads_and_writes() {
    expect_test::expect_file![workspace().join("docs/src/protocol.md")].assert_eq(&page());
}

/// Every operation has a section, every field of its parameters has a meaning, and its answer has results.
#[test]
fn every_operation_and_every_field_has_its_meaning() {
    let ops: Vec<&str> = PAGE.iter().map(|operation| operation.op).collect();
    let mut known: Vec<&str> = tiebreak_suites::verify::OPS.to_vec();
    known.sort_unstable();
    let mut sorted = ops.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, known);
    for operation in PAGE {
        let sample = shown(operation.op);
        assert!(answered(&sample).0.contains("\"done\""), "{}: {}", operation.op, answered(&sample).0);
        let request: Value = serde_json::from_str(&json(&Request::Run(Box::new(sample.batch())))).expect("JSON");
        let mut fields = Vec::new();
        names(&request["params"], &mut fields);
        // The section on convolutions describes their fields.
        if matches!(sample.job, Job::Transform { .. }) {
            fields = vec!["conv2d".to_owned()];
        }
        for field in fields {
            assert!(operation.fields.iter().any(|(name, _)| *name == field), "{}: no meaning of {field}", operation.op);
        }
    }
}

/// Results of fpm and requantize equal those that `check-worker` requires.
#[test]
fn exact_results_are_those_of_the_worker() {
    for op in ["fpm", "requantize"] {
        let kernel = presented::shown(op).expect("a kernel");
        let sample = sample(op, kernel, Fitting::PLAIN).expect("a sample");
        let results = answered(&sample).1;
        let words: Vec<i32> = results.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
        assert_eq!(sample.exact(), Some(words), "{op}");
    }
}

/// Collects the names of all fields below a value.
fn names(value: &Value, to: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            to.push(name.clone());
            names(value, to);
        }),
        Value::Array(values) => values.iter().for_each(|value| names(value, to)),
        _ => {}
    }
}
