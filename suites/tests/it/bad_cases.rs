//! Impossible cases of tensor operations are rejected with the argument and the broken rule, never with a panic.

use crate::bad_input::refused;
use crate::common::verify;

/// Checks impossible cases of a tensor operation: each error has the kernel, the argument and the broken rule.
#[track_caller]
fn bad_case(op: &str, kernel: &str, cases: &[(&str, &str)]) {
    for (case, described) in cases {
        let run = verify(&["--op", op, "--kernel", kernel, "--lane=host", "--case", case]);
        refused(&run, &[&format!("{kernel} does not take this: "), described]);
    }
}

#[test]
fn cases_that_no_product_has() {
    bad_case(
        "matmul",
        "arm-uadalp",
        &[
            ("m=1 n=1 k=0", "k: must be at least 1, not 0"),
            ("m=4294967295 n=4294967295 k=1", "lhs: 4294967295*1 elements are more than 16777216"),
            ("n=4294967295", "rhs: 1*4294967295 elements are more than"),
            ("m=4096 n=4097", "out: 4096*4097 elements are more than"),
            ("m=4294967296", "m: 4294967296 is not in 0..=4294967295"),
            ("n=-1", "n: -1 is not in 0..=4294967295"),
            ("lhs_offset=2147483648", "lhs_offset: 2147483648 is not in -2147483648..=2147483647"),
            ("rhs_offset=-2147483649", "rhs_offset: -2147483649 is not in -2147483648..=2147483647"),
            ("lhs[0,0]=256", "lhs[0,0]: must be in 0..=255"),
            ("rhs=-1", "rhs: must be in 0..=255"),
            ("lhs[0,1]=1", "lhs[0,1]: not an index into lhs of shape [1, 1]"),
            ("lhs[1,0]=1", "lhs[1,0]: not an index into lhs of shape [1, 1]"),
            ("lhs[0]=1", "lhs[0]: not an index into lhs of shape [1, 1]"),
            ("lhs[-1,0]=1", "lhs[-1,0]: not an index into lhs of shape [1, 1]"),
            ("lhs[0,0=1", "lhs[0,0: not an index into lhs of shape [1, 1]"),
            ("lhs[0,0]]=1", "lhs[0,0]]: not an index into lhs of shape [1, 1]"),
            ("lhs[]=1", "lhs[]: not an index into lhs of shape [1, 1]"),
            ("misalign=16", "misalign: 16 is not in 0..=15"),
            ("m=2 m=3", "m: given twice"),
            ("mm=2", "unknown argument `mm`; did you mean `m`?"),
            ("lhz[0,0]=1", "unknown argument `lhz`; did you mean `lhs`?"),
            ("lhs_ofset=1", "unknown argument `lhs_ofset`; did you mean `lhs_offset`?"),
            ("out=3", "unknown argument `out`"),
        ],
    );
    bad_case("matmul", "arm-sadalp", &[("lhs=128", "lhs: must be in -128..=127")]);
    bad_case("matmul", "x86-madd", &[("rhs=32768", "rhs: must be in -32768..=32767")]);
}

#[test]
fn cases_that_are_not_written_as_cases() {
    for word in ["m", "=3", "m:4", "[0]"] {
        bad_case("matmul", "arm-uadalp", &[(word, &format!("`{word}` is not NAME=VALUE, such as m=4"))]);
    }
    for value in ["", "x", "1.5", "0x10", "99999999999999999999", "1=2"] {
        bad_case("matmul", "arm-uadalp", &[(&format!("m={value}"), &format!("m: `{value}` is not an integer"))]);
    }
}

#[test]
fn cases_that_no_convolution_has() {
    bad_case(
        "conv2d",
        "arm-uadalp",
        &[
            ("stride_h=0", "stride_h: must be at least 1, not 0"),
            ("stride_w=0", "stride_w: must be at least 1, not 0"),
            ("dilation_w=0", "dilation_w: must be at least 1, not 0"),
            (
                "height=4 kernel_h=2 dilation_h=4",
                "dilation_h: 2 filter elements 4 apart reach beyond the padded input of 4",
            ),
            ("kernel_w=2", "kernel_w: 2 filter elements 1 apart reach beyond the padded input of 1"),
            ("kernel_h=4294967295 dilation_h=4294967295", "dilation_h: "),
            ("height=0", "height: must be at least 1, not 0"),
            ("batches=0", "batches: must be at least 1, not 0"),
            ("groups=0", "groups: must be at least 1, not 0"),
            ("groups=2", "channels: 1 do not fall into 2 groups"),
            ("groups=2 channels=2", "out_channels: 1 do not fall into 2 groups"),
            ("input_zero_point=256", "input_zero_point: 256 is no u8"),
            ("input_zero_point=-1", "input_zero_point: -1 is no u8"),
            ("weight_zero_point=2147483648", "weight_zero_point: 2147483648 is not in "),
            (
                "height=4294967295 width=4294967295 channels=4294967295",
                "input: 1*4294967295*4294967295*4294967295 elements",
            ),
            ("top=4294967295 bottom=4294967295 kernel_h=3", "im2col: 1*8589934589*1*3 elements are more than"),
            ("left=-1", "left: -1 is not in 0..=4294967295"),
            ("transposed=2", "transposed: 2 is not in 0..=1"),
            ("output_padding_h=1", "output_padding_h: a convolution that is not transposed has none"),
            ("strid_h=2", "unknown argument `strid_h`; did you mean `stride_h`?"),
            ("input[0,0,0]=1", "input[0,0,0]: not an index into input of shape [1, 1, 1, 1]"),
            ("weights[0,0,0,1]=1", "weights[0,0,0,1]: not an index into weights of shape [1, 1, 1, 1]"),
        ],
    );
    bad_case("conv2d", "tflite-reference", &[("input_zero_point=128", "input_zero_point: 128 is no i8")]);
}

#[test]
fn cases_that_other_operations_have_not() {
    bad_case(
        "dot",
        "arm-uadalp",
        &[
            ("len=0", "len: must be at least 1, not 0"),
            ("len=3", "len: must be a multiple of 4, the results of one step"),
            ("len=4294967292", "len: 4294967292 elements are more than 16777216"),
            ("len=4 a[16]=1", "a[16]: not an index into a of shape [16]"),
            ("len=4 b=256", "b: must be in 0..=255"),
            ("len=4 acc[0]=2147483648", "acc[0]: must be in -2147483648..=2147483647"),
            ("lenn=4", "unknown argument `lenn`; did you mean `len`?"),
        ],
    );
    bad_case(
        "requantize",
        "tflite-requantize-i8",
        &[
            ("len=0", "len: must be at least 1, not 0"),
            ("s=32", "s: 32 is not in -31..=31"),
            ("m=2147483648", "m: 2147483648 is not in "),
            ("zero_point=128", "zero_point: 128 is no i8"),
            ("min=-129", "min: -129 is no i8"),
            ("min=5 max=4", "min: 5 is above max, 4"),
            ("x=2147483648", "x: must be in -2147483648..=2147483647"),
            ("x[1]=3", "x[1]: not an index into x of shape [1]"),
        ],
    );
    bad_case(
        "transform",
        "tvm-interleave",
        &[
            ("rows=0 columns=3", "rows: must be at least 1, not 0"),
            ("rows=4294967295 columns=4294967295", "matrix: 4294967295*4294967295 elements are more than"),
            ("rows=2 columns=2 input[4]=1", "input[4]: not an index into input of shape [4]"),
            ("height=3", "params: this transform takes rows and columns"),
        ],
    );
    bad_case("transform", "tvm-im2col", &[("rows=3", "params: this transform takes the shape of a convolution")]);
}

#[test]
fn cases_without_their_operation() {
    refused(&verify(&["--case=m=1"]), &["--op"]);
    refused(&verify(&["--case=m=1", "--op=matmul", "--op=dot"]), &["--case belongs to one operation", "--op"]);
    refused(&verify(&["--case=m=1", "--op=matmul", "--multiplier=1", "--shift=0"]), &["--case", "cannot be used with"]);
    refused(&verify(&["--op=matmul", "--case=k=0"]), &["no matmul kernel takes this", "k: must be at least 1, not 0"]);
    refused(&verify(&["--op=matmul", "--multiplier=1", "--shift=0"]), &["apply only to --op fpm or requantize"]);
    refused(&verify(&["--op=matmul", "--kernel=arm-uadal"]), &["unknown kernel `arm-uadal`", "`arm-uadalp`"]);
    refused(&verify(&["--op=matmull"]), &["unknown operation `matmull`", "`matmul`"]);
    // A requantization is not a kernel of matrix products.
    refused(
        &verify(&["--op=matmul", "--kernel=xnnpack-rndnu-i8"]),
        &["xnnpack-rndnu-i8 is a kernel of requantize", "--op requantize"],
    );
}
