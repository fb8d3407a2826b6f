//! Bugs that show only at a size, a padding, a corner or a set of channels which no plan had: of 219 bugs that somebody planted in libraries without knowing the
//! plans, these passed. A quick run detects each; an index of 16 bits in a long cast is detected at standard effort.

use crate::everyday_bugs::{Bug, MATMUL, POOL, QCONV2D, REQUANTIZE};
use crate::installed_program::{installed, shell, text};
use crate::libraries::{compiled, example, verified};

/// Index of a tap in the image, in the example of a convolution.
const BOUNDS: &str = "column < c->left || column >= c->left + c->width";
const FROM: &str = "+ column - c->left)";
/// Division of an average, and a channel of a cast.
const AVERAGE: &str = "(sum > 0 ? sum + count / 2 : sum - count / 2) / count;";
const CHANNEL: &str = "size_t channel = i / p->inner % p->channels;\n        float";

/// Saturation of the one product that does not fit.
const SATURATION: &str = "if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;";

const QMATMUL: Bug = Bug { file: "fully-connected.c", promise: ["qmatmul", "gemmlowp-double:wrap"], ..REQUANTIZE };
const CONCAT: Bug = Bug { file: "concat.c", promise: ["concat", "tflite"], ..REQUANTIZE };
const ADD: Bug = Bug { file: "casts.c", promise: ["add", "pytorch"], ..REQUANTIZE };
const QUANTIZE: Bug = Bug { file: "casts.c", promise: ["quantize", "tflite"], ..REQUANTIZE };

const BUGS: &[Bug] = &[
    Bug {
        name: "the border at the top for that at the left, at stride 2 under filters of 3 by 3",
        changes: &[
            (
                BOUNDS,
                "column < (c->stride_h == 2 && c->stride_w == 2 && c->kernel_h == 3 && c->kernel_w == 3 ? c->top : c->left) \
                 || column >= (c->stride_h == 2 && c->stride_w == 2 && c->kernel_h == 3 && c->kernel_w == 3 ? c->top : c->left) + c->width",
            ),
            (
                FROM,
                "+ column - (c->stride_h == 2 && c->stride_w == 2 && c->kernel_h == 3 && c->kernel_w == 3 ? c->top : c->left))",
            ),
        ],
        ..QCONV2D
    },
    Bug {
        name: "one multiplier for all channels if the first two are equal",
        changes: &[(
            "p->multiplier[o])",
            "p->multiplier[c->out_channels > 2 && p->multiplier[0] == p->multiplier[1] && p->shift[0] == p->shift[1] ? 0 : o])",
        )],
        ..QCONV2D
    },
    Bug {
        name: "the bias is added for each block of 1,024 products",
        changes: &[(
            "sum += (uint32_t)value",
            "sum += (l && l % 1024 == 0 ? (uint32_t)p->bias[j] : 0) + (uint32_t)value",
        )],
        ..QMATMUL
    },
    Bug {
        name: "the sum is a float in a path without offsets",
        changes: &[
            (
                "int64_t sum = 0;",
                "int64_t sum = 0; float single = 0; for (size_t at = 0; at < p->k; at++) single += float(product(at));",
            ),
            ("wrapped(sum)", "wrapped(p->lhs_offset || p->rhs_offset ? sum : int64_t(single))"),
        ],
        ..MATMUL
    },
    Bug { name: "an index of 16 bits in an input", changes: &[("inputs[i] *", "inputs[(uint16_t)i] *")], ..CONCAT },
    Bug {
        name: "the average by a reciprocal in float",
        changes: &[
            ("#include \"tiebreak.h\"\n", "#include \"tiebreak.h\"\n#include <math.h>\n"),
            (AVERAGE, "(int32_t)roundf((float)sum * (1.0f / (float)count));"),
        ],
        ..POOL
    },
    Bug {
        name: "a load of the right operand that is aligned as the left one",
        changes: &[("(rhs[i] -", "(rhs[i > 32 && ((size_t)lhs & 15) != ((size_t)rhs & 15) ? i - 1 : i] -")],
        ..ADD
    },
    Bug {
        name: "a product of two smallest integers that wraps, in a fully connected layer",
        changes: &[(SATURATION, "")],
        ..QMATMUL
    },
    Bug {
        name: "a product of two smallest integers that wraps, in a convolution",
        changes: &[(SATURATION, "")],
        ..QCONV2D
    },
    Bug {
        name: "a clamp to the type and not to the narrow range",
        changes: &[("p->zero_point[channel], p->min, p->max)", "p->zero_point[channel], -128, 127)")],
        ..QUANTIZE
    },
];

#[test]
fn bugs_that_show_at_a_size_are_found() {
    let (bin, work) = installed();
    for Bug { name, file, promise: [op, scheme], changes, .. } in BUGS {
        println!("{name}");
        compiled(bin.path(), work.path(), file, &example(file, changes));
        verified(bin.path(), work.path(), &format!("--op {op} --scheme {scheme}"), 1);
    }
}

/// A long cast has several channels.
#[test]
fn an_index_of_16_bits_of_the_channel_is_found() {
    let (bin, work) = installed();
    let Bug { file, promise: [op, scheme], .. } = QUANTIZE;
    let changed = example(file, &[(CHANNEL, &CHANNEL.replace("= i /", "= (uint16_t)i /"))]);
    for (source, code) in [(example(file, &[]), 0), (changed, 1)] {
        compiled(bin.path(), work.path(), file, &source);
        let line = format!("tiebreak verify --library ./libmine.so --op {op} --scheme {scheme}");
        let run = shell(bin.path(), work.path(), &line);
        assert_eq!(run.status.code(), Some(code), "{}", text(&run.stdout));
    }
}
