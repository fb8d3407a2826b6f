//! Everyday bugs of a kernel engineer, in a library of the user. A quick run gives each a class and a small witness, and never `unexplained`.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use crate::libraries::{compiled, example, verified};

/// Wrong kernel: an example of the book, its operation and scheme, the change in it, and the class.
pub(crate) struct Bug {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) promise: [&'static str; 2],
    pub(crate) changes: &'static [(&'static str, &'static str)],
    pub(crate) class: &'static str,
}

pub(crate) const REQUANTIZE: Bug =
    Bug { name: "", file: "requantize.c", promise: ["requantize", "gemmlowp-double"], changes: &[], class: "" };
const QUANTIZE: Bug = Bug { file: "casts.c", promise: ["quantize", "tflite"], ..REQUANTIZE };
const DEQUANTIZE: Bug = Bug { file: "casts.c", promise: ["dequantize", "ideal"], ..REQUANTIZE };
const ADD: Bug = Bug { file: "casts.c", promise: ["add", "pytorch"], ..REQUANTIZE };
const MUL: Bug = Bug { file: "casts.c", promise: ["mul", "pytorch"], ..REQUANTIZE };
pub(crate) const POOL: Bug = Bug { file: "pool.c", promise: ["pool", "tflite"], ..REQUANTIZE };
pub(crate) const MATMUL: Bug = Bug { file: "matmul.cpp", promise: ["matmul", "exact:wrap"], ..REQUANTIZE };
pub(crate) const CONV2D: Bug = Bug { file: "depthwise.c", promise: ["conv2d", "exact:wrap"], ..REQUANTIZE };

pub(crate) const QCONV2D: Bug =
    Bug { file: "depthwise-relu6.c", promise: ["qconv2d", "gemmlowp-double"], ..REQUANTIZE };

const SUB: Bug = Bug { file: "casts.c", promise: ["sub", "onnx"], ..REQUANTIZE };
const QMATMUL: Bug = Bug { file: "fully-connected.c", promise: ["qmatmul", "gemmlowp-double:wrap"], ..REQUANTIZE };
const QMATMUL_I4: Bug = Bug { file: "fully-connected-i4.c", ..QMATMUL };
const TRANSPOSED: Bug = Bug { file: "transposed.c", promise: ["conv2d", "exact:wrap"], ..REQUANTIZE };
const TRANSPOSED_SCALED: Bug = Bug { file: "transposed.c", promise: ["qconv2d", "ties-up:wrap"], ..REQUANTIZE };
const CONCAT: Bug = Bug { file: "concat.c", promise: ["concat", "tflite"], ..REQUANTIZE };
const SOFTMAX: Bug = Bug { file: "softmax.c", promise: ["softmax", "tflite"], ..REQUANTIZE };

/// End of the loop of a requantization, and of a quantization.
const STORE: &str = "out[i] = (int8_t)result;";
/// The zero point is not yet added.
const PLACED_LATER: (&str, &str) =
    ("divide_by_power_of_two(scaled, right) + p->zero_point", "divide_by_power_of_two(scaled, right)");
const ROUNDED: &str = "out[i] = clamped((double)scaled + p->zero_point[channel], p->min, p->max);";
const SCALED: &str = "(int64_t)divide_by_power_of_two(scaled, right)";
const CALL: &str = "int32_t scaled = doubling_high_mul((int32_t)(sum << left), p->multiplier[channel]);";
const DIVISION: &str = "roundf(real[i] / (float)p->scale[channel])";
const TAIL: &str = "for (; l < p->k; l++) sum += product(l);";
const BLOCK: &str = "for (; l + 4 <= p->k; l += 4)";
const OUTSIDE: &str = "column >= p->left + p->width) continue;";

const STORED: &str = "out[i] = (float)((double)(float)p->scale[channel] * (stored[i] - p->zero_point[channel]));";
const SUM: &str = "out[i] = clamped((double)nearbyintf(sum * inverse) + p->out.zero_point, p->min, p->max);";
const PRODUCT: &str = "out[i] = clamped((double)nearbyintf(product * multiplier) + p->out.zero_point, p->min, p->max);";

/// Division of an average, the test of a row, and the end of an element of its window.
const AVERAGE: &str = "(sum > 0 ? sum + count / 2 : sum - count / 2) / count;";
const ROW: &str = "if (row < p->top || row >= p->top + p->height) continue;";
const COUNTED: &str = "                count++;\n            }\n        }\n";
/// Border, bias and scaling of a fused depthwise convolution.
const BORDER: &str = "column >= c->left + c->width) continue;";
const BIAS: &str = "sum += (uint32_t)p->bias[o];";
const FUSED: &str = "int64_t result = (int64_t)scaled + p->zero_point;";

const BUGS: &[Bug] = &[
    Bug {
        name: "the left operand is subtracted from the right one",
        changes: &[("left - right", "right - left")],
        class: "operand-order",
        ..SUB
    },
    Bug {
        name: "fully connected: the bias has 16 bits",
        changes: &[("(uint32_t)p->bias[j]", "(uint32_t)(int16_t)p->bias[j]")],
        class: "bias",
        ..QMATMUL
    },
    Bug {
        name: "int4: the first weight is in the high half",
        changes: &[("at % 2 ?", "at % 2 == 0 ?")],
        class: "layout",
        ..QMATMUL_I4
    },
    Bug {
        name: "int4: weights without their sign",
        changes: &[("return bits > 7 ? bits - 16 : bits;", "return bits;")],
        class: "signedness",
        ..QMATMUL_I4
    },
    Bug {
        name: "transposed: the filter is rotated",
        changes: &[(
            "weights[((i * p->kernel_w + j)",
            "weights[(((p->kernel_h - 1 - i) * p->kernel_w + p->kernel_w - 1 - j)",
        )],
        class: "layout",
        ..TRANSPOSED
    },
    Bug {
        name: "transposed and scaled: the bias has 16 bits",
        changes: &[("(uint32_t)p->bias[o]", "(uint32_t)(int16_t)p->bias[o]")],
        class: "bias",
        ..TRANSPOSED_SCALED
    },
    Bug {
        name: "the scale of the first input for all inputs",
        changes: &[("p->scale[t]", "p->scale[0]")],
        class: "channel",
        ..CONCAT
    },
    Bug {
        name: "an input of the output's scale is copied, whatever its zero point is",
        changes: &[(
            "p->scale[t] == p->out.scale && p->zero_point[t] == p->out.zero_point",
            "p->scale[t] == p->out.scale",
        )],
        class: "offset-term",
        ..CONCAT
    },
    Bug {
        name: "the largest element of a row begins with 0",
        changes: &[("largest = -128, sum", "largest = 0, sum")],
        class: "row-maximum",
        ..SOFTMAX
    },
    Bug {
        name: "terms of the sum are truncated",
        changes: &[(
            "sum += divide(exponential_of(p, input[i] - largest), 12);",
            "sum += exponential_of(p, input[i] - largest) >> 12;",
        )],
        class: "directed-rounding",
        ..SOFTMAX
    },
    Bug { name: "the division truncates", changes: &[(AVERAGE, "sum / count;")], class: "directed-rounding", ..POOL },
    Bug {
        name: "half the count is added to negative sums",
        changes: &[(AVERAGE, "(sum + count / 2) / count;")],
        class: "directed-rounding",
        ..POOL
    },
    Bug {
        name: "the divisor is the whole window",
        changes: &[(COUNTED, "            }\n        }\n        count = (int32_t)(p->kernel_h * p->kernel_w);\n")],
        class: "divisor",
        ..POOL
    },
    Bug {
        name: "the sum is held in 16 bits",
        changes: &[(
            "sum += input[pixel * p->channels + c];",
            "sum = (int16_t)(sum + input[pixel * p->channels + c]);",
        )],
        class: "16-bit-wrap",
        ..POOL
    },
    Bug {
        name: "no bounds",
        changes: &[("average < p->min ? p->min : average > p->max ? p->max : average", "average")],
        class: "missing-saturation",
        ..POOL
    },
    Bug {
        name: "top and bottom exchanged",
        changes: &[
            (ROW, "if (row < p->bottom || row >= p->bottom + p->height) continue;"),
            ("+ row - p->top)", "+ row - p->bottom)"),
        ],
        class: "layout",
        ..POOL
    },
    Bug {
        name: "tail of 8 channels is 0",
        changes: &[("out[at] = (int8_t)(", "out[at] = c >= p->channels - p->channels % 8 ? 0 : (int8_t)(")],
        class: "truncated-tail",
        ..POOL
    },
    Bug {
        name: "fused: the border is 0",
        changes: &[(
            BORDER,
            "column >= c->left + c->width) {\n                sum += (uint32_t)((0 - c->input_zero_point) * weights[(i * c->kernel_w + j) * c->out_channels + o]);\n                continue;\n            }",
        )],
        class: "padding",
        ..QCONV2D
    },
    Bug {
        name: "fused: the bias is added to the result",
        changes: &[
            (BIAS, ""),
            (FUSED, "int64_t result = (int32_t)((uint32_t)scaled + (uint32_t)p->bias[o] + (uint32_t)p->zero_point);"),
        ],
        class: "bias",
        ..QCONV2D
    },
    Bug {
        name: "fused: the bias has 16 bits",
        changes: &[(BIAS, "sum += (uint32_t)(int16_t)p->bias[o];")],
        class: "bias",
        ..QCONV2D
    },
    Bug {
        name: "fused: ReLU6 before the zero point",
        changes: &[
            (
                FUSED,
                "int64_t result = (scaled < p->min ? p->min : scaled > p->max ? p->max : scaled) + (int64_t)p->zero_point;",
            ),
            ("if (result < p->min) result = p->min;", "if (result < -128) result = -128;"),
            ("if (result > p->max) result = p->max;", "if (result > 127) result = 127;"),
        ],
        class: "clamp-order",
        ..QCONV2D
    },
    Bug {
        name: "fused: the multiplier of the next channel",
        changes: &[
            ("p->multiplier[o]", "p->multiplier[(o + 1) % c->out_channels]"),
            (
                "p->shift[o] > 0 ? p->shift[o] : 0",
                "p->shift[(o + 1) % c->out_channels] > 0 ? p->shift[(o + 1) % c->out_channels] : 0",
            ),
            (
                "p->shift[o] > 0 ? 0 : -p->shift[o]",
                "p->shift[(o + 1) % c->out_channels] > 0 ? 0 : -p->shift[(o + 1) % c->out_channels]",
            ),
        ],
        class: "channel",
        ..QCONV2D
    },
    Bug {
        name: "fused: the input channel is o % C",
        changes: &[("size_t multiplier = c->out_channels / c->channels;\n", ""), ("o / multiplier", "o % c->channels")],
        class: "layout",
        ..QCONV2D
    },
    Bug {
        name: "finding 25 of LiteRT: the conversion of x86",
        changes: &[(
            ROUNDED,
            "int32_t q = scaled >= -2147483648.0f && scaled < 2147483648.0f ? (int32_t)scaled : INT32_MIN;\n        out[i] = clamped((double)(int32_t)((uint32_t)q + (uint32_t)p->zero_point[channel]), p->min, p->max);",
        )],
        class: "wrap",
        ..QUANTIZE
    },
    Bug {
        name: "finding 28 of LiteRT: terms multiplied apart in whole vectors of 8",
        changes: &[(
            STORED,
            "float scale = (float)p->scale[channel];\n        volatile float term = scale * (float)stored[i], zero = scale * (float)p->zero_point[channel];\n        if (i < p->len - p->len % 8) out[i] = term - zero;\n        else out[i] = (float)((double)scale * (stored[i] - p->zero_point[channel]));",
        )],
        class: "distributed",
        ..DEQUANTIZE
    },
    Bug {
        name: "finding 29 of LiteRT: the sum wraps to int16",
        changes: &[(
            SUM,
            "double v = fmin(fmax((double)nearbyintf(sum * inverse) + p->out.zero_point, INT32_MIN), INT32_MAX);\n        out[i] = clamped((int16_t)(int32_t)v, p->min, p->max);",
        )],
        class: "16-bit-wrap",
        ..ADD
    },
    Bug {
        name: "finding 29 of LiteRT: the zero point is added in int16",
        changes: &[(
            PRODUCT,
            "double v = fmin(fmax((double)nearbyintf(product * multiplier), INT16_MIN), INT16_MAX);\n        out[i] = clamped((int16_t)((int32_t)v + p->out.zero_point), p->min, p->max);",
        )],
        class: "16-bit-wrap",
        ..MUL
    },
    Bug {
        name: "zero point subtracted",
        changes: &[("+ p->zero_point;", "- p->zero_point;")],
        class: "offset-sign",
        ..REQUANTIZE
    },
    // Was `signedness`: a byte without a sign was read with a sign, and the sum did not wrap. The first had no effect on the witness.
    Bug {
        name: "the sum with the zero point has 64 bits, although a sum that wraps is promised",
        promise: ["requantize", "gemmlowp-double:wrap"],
        changes: &[],
        class: "saturation",
        ..REQUANTIZE
    },
    // Was `unexplained`, with a witness of 32 channels.
    Bug {
        name: "ties of the shift go up in whole vectors of 32",
        changes: &[(
            SCALED,
            "(i < p->len - p->len % 32 && right > 0 ? (scaled + (INT64_C(1) << (right - 1))) >> right : (int64_t)divide_by_power_of_two(scaled, right))",
        )],
        class: "position",
        ..REQUANTIZE
    },
    // Was `unexplained`: only `qconv2d` knew the activation's bounds before the zero point.
    Bug {
        name: "ReLU6 before the zero point, and the sum saturates",
        changes: &[
            PLACED_LATER,
            (
                STORE,
                "result += p->zero_point;\n        out[i] = (int8_t)(result < -128 ? -128 : result > 127 ? 127 : result);",
            ),
        ],
        class: "clamp-order",
        ..REQUANTIZE
    },
    Bug {
        name: "ReLU6 before the zero point, and the sum is cast",
        changes: &[PLACED_LATER, (STORE, "out[i] = (int8_t)(result + p->zero_point);")],
        class: "clamp-order",
        ..REQUANTIZE
    },
    Bug {
        name: "channel of the next element",
        changes: &[("i % p->channels", "(i + 1) % p->channels")],
        class: "channel",
        ..REQUANTIZE
    },
    Bug {
        name: "tail of 4 is 0",
        changes: &[(STORE, "out[i] = i < p->len - p->len % 4 ? (int8_t)result : 0;")],
        class: "truncated-tail",
        ..REQUANTIZE
    },
    Bug {
        name: "tail of 8 is 0",
        changes: &[(STORE, "out[i] = i < p->len - p->len % 8 ? (int8_t)result : 0;")],
        class: "truncated-tail",
        ..REQUANTIZE
    },
    Bug {
        name: "tail of 16 is 0",
        changes: &[(STORE, "out[i] = i < p->len - p->len % 16 ? (int8_t)result : 0;")],
        class: "truncated-tail",
        ..REQUANTIZE
    },
    Bug {
        name: "tail of 32 is left",
        changes: &[(STORE, "if (i < p->len - p->len % 32) out[i] = (int8_t)result;")],
        class: "unwritten",
        ..REQUANTIZE
    },
    Bug {
        name: "wraps to int8 before the clamp",
        changes: &[("if (result < p->min)", "result = (int8_t)result;\n        if (result < p->min)")],
        class: "clamp-order",
        ..REQUANTIZE
    },
    Bug {
        name: "wraps to int8 before the zero point",
        changes: &[(SCALED, "(int64_t)(int8_t)divide_by_power_of_two(scaled, right)")],
        class: "clamp-order",
        ..REQUANTIZE
    },
    Bug {
        name: "ties of the shift go up",
        changes: &[("(mask >> 1) + (x < 0)", "(mask >> 1)")],
        class: "tie-direction",
        ..REQUANTIZE
    },
    Bug {
        name: "no saturation",
        changes: &[("return INT32_MAX;", "return INT32_MIN;")],
        class: "missing-saturation",
        ..REQUANTIZE
    },
    Bug {
        name: "f32 scale",
        changes: &[
            ("#include \"tiebreak.h\"", "#include \"tiebreak.h\"\n#include <math.h>"),
            (
                CALL,
                "(void)doubling_high_mul; (void)divide_by_power_of_two;\n        float scale = ldexpf((float)p->multiplier[channel], left - right - 31);\n        double scaled = rintf((float)(int32_t)sum * scale);",
            ),
            (SCALED, "(int64_t)scaled"),
        ],
        class: "f32-step",
        ..REQUANTIZE
    },
    Bug {
        name: "floor(|q| + 0.5f)",
        changes: &[
            ("#include \"tiebreak.h\"", "#include \"tiebreak.h\"\n#include <math.h>"),
            (
                CALL,
                "(void)doubling_high_mul; (void)divide_by_power_of_two;\n        float q = (float)(int32_t)sum * ldexpf((float)p->multiplier[channel], left - right - 31);\n        double scaled = copysignf(floorf(fabsf(q) + 0.5f), q);",
            ),
            (SCALED, "(int64_t)scaled"),
        ],
        class: "f32-step",
        ..REQUANTIZE
    },
    Bug {
        name: "floor(q + 0.5f)",
        changes: &[
            ("#include \"tiebreak.h\"", "#include \"tiebreak.h\"\n#include <math.h>"),
            (
                CALL,
                "(void)doubling_high_mul; (void)divide_by_power_of_two;\n        float q = (float)(int32_t)sum * ldexpf((float)p->multiplier[channel], left - right - 31);\n        double scaled = floorf(q + 0.5f);",
            ),
            (SCALED, "(int64_t)scaled"),
        ],
        class: "f32-step",
        ..REQUANTIZE
    },
    Bug {
        name: "zero point subtracted",
        changes: &[("(double)scaled + p->zero_point", "(double)scaled - p->zero_point")],
        class: "offset-sign",
        ..QUANTIZE
    },
    Bug {
        name: "channel of the next element",
        changes: &[(
            "size_t channel = i / p->inner % p->channels;\n        float scaled",
            "size_t channel = (i / p->inner + 1) % p->channels;\n        float scaled",
        )],
        class: "channel",
        ..QUANTIZE
    },
    Bug {
        name: "tail of 16 is 0",
        changes: &[(
            ROUNDED,
            "out[i] = i < p->len - p->len % 16 ? clamped((double)scaled + p->zero_point[channel], p->min, p->max) : 0;",
        )],
        class: "truncated-tail",
        ..QUANTIZE
    },
    Bug {
        name: "wraps to int8 before the clamp",
        changes: &[(
            ROUNDED,
            "out[i] = clamped((int8_t)((int64_t)fmax(INT32_MIN, fmin(INT32_MAX, (double)scaled)) + p->zero_point[channel]), p->min, p->max);",
        )],
        class: "clamp-order",
        ..QUANTIZE
    },
    Bug {
        name: "floor(|q| + 0.5f)",
        changes: &[(
            DIVISION,
            "real[i] / (float)p->scale[channel];\n        scaled = copysignf(floorf(fabsf(scaled) + 0.5f), scaled)",
        )],
        class: "f32-step",
        ..QUANTIZE
    },
    Bug {
        name: "floor(q + 0.5f)",
        changes: &[(DIVISION, "floorf(real[i] / (float)p->scale[channel] + 0.5f)")],
        class: "f32-step",
        ..QUANTIZE
    },
    Bug {
        name: "ties go to even in whole vectors of 16",
        changes: &[(
            DIVISION,
            "(i < p->len - p->len % 16 ? nearbyintf(real[i] / (float)p->scale[channel]) : roundf(real[i] / (float)p->scale[channel]))",
        )],
        class: "position",
        ..QUANTIZE
    },
    Bug {
        name: "times the reciprocal of the scale",
        changes: &[(DIVISION, "roundf(real[i] * (1.0f / (float)p->scale[channel]))")],
        class: "reciprocal",
        ..QUANTIZE
    },
    Bug {
        name: "tail of 32 is dropped",
        changes: &[(BLOCK, "for (; l + 4 <= p->k - p->k % 32; l += 4)"), (TAIL, "")],
        class: "truncated-tail",
        ..MATMUL
    },
    Bug {
        name: "tail of 64 is dropped",
        changes: &[(BLOCK, "for (; l + 4 <= p->k - p->k % 64; l += 4)"), (TAIL, "")],
        class: "truncated-tail",
        ..MATMUL
    },
    Bug {
        name: "only one vector of 16",
        changes: &[
            (BLOCK, "for (; l + 4 <= p->k && l < 16; l += 4)"),
            (TAIL, "for (; l < p->k && l < 16; l++) sum += product(l);"),
        ],
        class: "truncated-tail",
        ..MATMUL
    },
    Bug {
        name: "depth rounded up to 32",
        changes: &[(
            "out[i * p->n + j] = wrapped(sum);",
            "out[i * p->n + j] = wrapped(sum + int64_t{p->lhs_offset} * p->rhs_offset * static_cast<int64_t>((p->k + 31) / 32 * 32 - p->k));",
        )],
        class: "padded-depth",
        ..MATMUL
    },
    Bug {
        name: "depth rounded up to 64",
        changes: &[(
            "out[i * p->n + j] = wrapped(sum);",
            "out[i * p->n + j] = wrapped(sum + int64_t{p->lhs_offset} * p->rhs_offset * static_cast<int64_t>((p->k + 63) / 64 * 64 - p->k));",
        )],
        class: "padded-depth",
        ..MATMUL
    },
    Bug {
        name: "offset of rhs is missing",
        changes: &[("(rhs[l * p->n + j] + p->rhs_offset)", "rhs[l * p->n + j]")],
        class: "offset-term",
        ..MATMUL
    },
    Bug {
        name: "pairs saturate to 16 bits",
        changes: &[
            (BLOCK, "for (; l + 2 <= p->k; l += 2)"),
            (
                "sum += product(l) + product(l + 1) + product(l + 2) + product(l + 3);",
                "{\n                const auto raw = [&](size_t d) { return lhs[i * p->k + d] * rhs[d * p->n + j]; };\n                const int32_t both = raw(l) + raw(l + 1);\n                sum += product(l) + product(l + 1) + ((both > 32767 ? 32767 : both) - both);\n            }",
            ),
        ],
        class: "16-bit-saturation",
        ..MATMUL
    },
    Bug {
        name: "border of 0",
        changes: &[(
            OUTSIDE,
            "column >= p->left + p->width) {\n                sum += (uint32_t)(-p->input_zero_point * ((int64_t)weights[(i * p->kernel_w + j) * p->channels + c] - p->weight_zero_point));\n                continue;\n            }",
        )],
        class: "padding",
        ..CONV2D
    },
    Bug {
        name: "top and bottom exchanged",
        changes: &[
            ("row < p->top || row >= p->top + p->height", "row < p->bottom || row >= p->bottom + p->height"),
            ("+ row - p->top)", "+ row - p->bottom)"),
        ],
        class: "layout",
        ..CONV2D
    },
    Bug {
        name: "left and right exchanged",
        changes: &[
            ("column < p->left || column >= p->left + p->width", "column < p->right || column >= p->right + p->width"),
            ("+ column - p->left;", "+ column - p->right;"),
        ],
        class: "layout",
        ..CONV2D
    },
    Bug {
        name: "16-bit accumulator",
        changes: &[(
            "sum += (uint32_t)(value * weight);",
            "sum = (uint32_t)(int16_t)(sum + (uint32_t)(value * weight));",
        )],
        class: "16-bit-wrap",
        ..CONV2D
    },
    Bug {
        name: "zero point of the input is missing",
        changes: &[("- p->input_zero_point;", ";")],
        class: "offset-term",
        ..CONV2D
    },
];

#[test]
fn everyday_bugs_have_a_class_and_a_small_witness() {
    let (bin, work) = installed();
    let mut wrong = Vec::new();
    for bug in BUGS {
        let [op, scheme] = bug.promise;
        compiled(bin.path(), work.path(), bug.file, &example(bug.file, bug.changes));
        let (ledger, printed) =
            verified(bin.path(), work.path(), &format!("--op {op} --scheme {scheme} --name my-{op}"), 1);
        let finding = &items(&ledger, "findings")[0];
        let (class, command) = (&finding["class"], finding["witness"]["command"].as_str().unwrap_or_default());
        let case = command.split("--case ").nth(1).unwrap_or_default();
        println!("{op}: {}: {class} {case}", bug.name);
        assert_eq!(finding["kernel"], format!("my-{op}"), "{printed}");
        if *class != bug.class {
            wrong.push(format!(
                "{op}: {}: {class} instead of {}: {case}\n{}",
                bug.name, bug.class, finding["witness"]["because"]
            ));
        }
        let again = shell(bin.path(), work.path(), command);
        assert_eq!(again.status.code(), Some(1), "{command}\n{}", text(&again.stderr));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), BUGS.len(), wrong.join("\n"));
}
