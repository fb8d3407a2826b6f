//! Invalid arguments are rejected by name, before any allocation; unknown names, with a suggestion of the nearest name.

use tiebreak_oracle::conv2d::{self, Convolution};
use tiebreak_oracle::matmul::{self, Product};
use tiebreak_oracle::requantize::{self, Parameters};
use tiebreak_oracle::shape::ShapeError;
use tiebreak_oracle::transform::Transform;
use tiebreak_oracle::{dot, fpm};

fn argument<T: std::fmt::Debug>(result: Result<T, ShapeError>) -> &'static str {
    result.expect_err("this cannot be").argument
}

const PRODUCT: Product = Product { m: 2, n: 3, k: 4, lhs_offset: 0, rhs_offset: 0 };

const CONVOLUTION: Convolution = Convolution {
    batches: 1,
    height: 5,
    width: 6,
    channels: 4,
    kernel_h: 3,
    kernel_w: 3,
    out_channels: 2,
    groups: 2,
    stride_h: 1,
    stride_w: 1,
    dilation_h: 1,
    dilation_w: 1,
    top: 1,
    bottom: 1,
    left: 0,
    right: 0,
    input_zero_point: 0,
    weight_zero_point: 0,
    transposed: false,
    output_padding_h: 0,
    output_padding_w: 0,
};

#[test]
fn products_that_cannot_be() {
    let most = usize::MAX;
    for (p, name) in [
        (Product { m: 0, ..PRODUCT }, "m"),
        (Product { n: 0, ..PRODUCT }, "n"),
        (Product { k: 0, ..PRODUCT }, "k"),
        (Product { m: most, k: most, ..PRODUCT }, "lhs"),
        (Product { m: 1, n: most, k: 2, ..PRODUCT }, "rhs"),
        (Product { m: 1 << 15, n: 1 << 14, k: 1, ..PRODUCT }, "out"),
    ] {
        assert_eq!(argument(p.check()), name, "{p:?}");
    }
    assert_eq!(Product { m: 1 << 14, n: 1 << 14, k: 1, ..PRODUCT }.check(), Ok([1 << 14, 1 << 14, 1 << 28]));
    for scheme in matmul::Scheme::every() {
        assert_eq!(argument(scheme.expected(&PRODUCT, &[0; 7], &[0; 12])), "lhs");
        assert_eq!(argument(scheme.expected(&PRODUCT, &[0; 8], &[0; 13])), "rhs");
        assert_eq!(argument(scheme.exact(&PRODUCT, &[0; 8], &[])), "rhs");
    }
}

#[test]
fn convolutions_that_cannot_be() {
    let most = usize::MAX;
    for (p, name) in [
        (Convolution { batches: 0, ..CONVOLUTION }, "batches"),
        (Convolution { height: 0, ..CONVOLUTION }, "height"),
        (Convolution { width: 0, ..CONVOLUTION }, "width"),
        (Convolution { channels: 0, ..CONVOLUTION }, "channels"),
        (Convolution { kernel_h: 0, ..CONVOLUTION }, "kernel_h"),
        (Convolution { kernel_w: 0, ..CONVOLUTION }, "kernel_w"),
        (Convolution { out_channels: 0, ..CONVOLUTION }, "out_channels"),
        (Convolution { groups: 0, ..CONVOLUTION }, "groups"),
        (Convolution { stride_h: 0, ..CONVOLUTION }, "stride_h"),
        (Convolution { stride_w: 0, ..CONVOLUTION }, "stride_w"),
        (Convolution { dilation_h: 0, ..CONVOLUTION }, "dilation_h"),
        (Convolution { dilation_w: 0, ..CONVOLUTION }, "dilation_w"),
        (Convolution { channels: 5, ..CONVOLUTION }, "channels"),
        (Convolution { out_channels: 3, ..CONVOLUTION }, "out_channels"),
        (Convolution { dilation_h: 4, ..CONVOLUTION }, "dilation_h"),
        (Convolution { dilation_w: most, ..CONVOLUTION }, "dilation_w"),
        (Convolution { kernel_h: 8, ..CONVOLUTION }, "kernel_h"),
        (Convolution { top: most, ..CONVOLUTION }, "height"),
        (Convolution { right: most - 6, ..CONVOLUTION }, "width"),
        (Convolution { batches: most, ..CONVOLUTION }, "input"),
        (Convolution { out_channels: most - 1, ..CONVOLUTION }, "weights"),
        (Convolution { top: 1 << 27, right: 1 << 27, ..CONVOLUTION }, "out"),
    ] {
        assert_eq!(argument(p.check()), name, "{p:?}");
        assert_eq!(argument(Transform::Im2col(p).sources()), name, "{p:?}");
    }
    assert_eq!(Convolution { dilation_h: 3, ..CONVOLUTION }.output(), Ok((1, 4)));
    for scheme in matmul::Scheme::every() {
        assert_eq!(argument(conv2d::expected(&scheme, &CONVOLUTION, &[0; 119], &[0; 36])), "input");
        assert_eq!(argument(conv2d::expected(&scheme, &CONVOLUTION, &[0; 120], &[0; 37])), "weights");
        assert_eq!(argument(conv2d::exact(&scheme, &CONVOLUTION, &[0; 120], &[])), "weights");
    }
}

#[test]
fn dot_steps_that_cannot_be() {
    for scheme in dot::Scheme::every() {
        let results = scheme.definition.results;
        let operand = vec![0; scheme.definition.elements];
        let acc = vec![0; results];
        assert_eq!(argument(scheme.expected(&[], &[], &[])), "acc");
        assert_eq!(argument(scheme.expected(&acc, &operand[1..], &operand)), "a");
        assert_eq!(argument(scheme.expected(&acc, &operand, &operand[1..])), "b");
        if results > 1 {
            assert_eq!(argument(scheme.definition.check(results + 1)), "acc");
        }
    }
    let popcount = dot::Scheme::parse("popcount-2").unwrap();
    let bytes = [0; 16];
    assert_eq!(argument(popcount.expected(&[0; 8], &[-1; 16], &bytes)), "a");
    assert_eq!(argument(popcount.exact(&[0; 8], &bytes, &[256; 16])), "b");
}

#[test]
fn requantizations_that_cannot_be() {
    let one = |m, s| Parameters { channels: vec![(m, s)], bias: vec![0], zero_point: 0, min: -128, max: 127 };
    for scheme in requantize::Scheme::every() {
        let refused = |p: &Parameters| argument(scheme.expected(p, &[1, 2]));
        assert_eq!(refused(&Parameters { channels: vec![], bias: vec![], ..one(1, 0) }), "channels");
        assert_eq!(refused(&Parameters { bias: vec![0, 0], ..one(1, 0) }), "bias");
        assert_eq!(refused(&Parameters { min: 128, ..one(1, 0) }), "min");
        for shift in [-32, 32, i32::MIN, i32::MAX] {
            assert_eq!(refused(&one(1, shift)), "shift");
            assert_eq!(argument(scheme.exact(&one(1, shift), &[1])), "shift");
        }
    }
    assert_eq!(argument(requantize::Scheme::parse("legacy").unwrap().expected(&one(1, 1), &[1])), "shift");
}

#[test]
fn transforms_that_cannot_be() {
    for (rows, columns, name) in [(0, 1, "rows"), (1, 0, "columns"), (usize::MAX, 2, "matrix"), (1 << 28, 1, "blocks")]
    {
        for transform in [
            Transform::Interleave { batches: 1, rows, columns },
            Transform::BlockTranspose { rows, columns },
            Transform::Unpack { batches: 1, rows, columns },
        ] {
            assert_eq!(argument(transform.check()), name, "{transform:?}");
        }
    }
    assert_eq!(argument(Transform::Unpack { batches: 1, rows: 4, columns: 5 }.expected(&[0; 20])), "input");
    let refused = Transform::Interleave { batches: 1, rows: 0, columns: 5 }.check().unwrap_err();
    assert_eq!(refused.to_string(), "rows: must be at least 1, not 0");
}

#[test]
fn schemes_are_found_by_name_and_policy_and_labelled_alike() {
    for (label, name) in [("exact", "exact"), ("exact:wrap", "exact:wrap"), ("exact:out-of-domain", "exact")] {
        assert_eq!(matmul::Scheme::parse(label).unwrap().label(), name);
    }
    for scheme in matmul::Scheme::every() {
        assert_eq!(matmul::Scheme::parse(&scheme.label()).unwrap().label(), scheme.label());
    }
    for scheme in dot::Scheme::every() {
        assert_eq!(dot::Scheme::parse(&scheme.label()).unwrap().label(), scheme.label());
    }
    for scheme in requantize::Scheme::every() {
        assert_eq!(requantize::Scheme::parse(&scheme.label()).unwrap().label(), scheme.label());
    }
    let nearest = |text| matmul::Scheme::parse(text).unwrap_err().nearest;
    assert_eq!(nearest("exakt").as_deref(), Some("exact"));
    assert_eq!(nearest("exact:warp").as_deref(), Some("wrap"));
    assert_eq!(dot::Scheme::parse("product-4").unwrap_err().nearest.as_deref(), Some("products-4"));
    assert_eq!(requantize::Scheme::parse("legcy").unwrap_err().nearest.as_deref(), Some("legacy"));
    assert_eq!(fpm::Scheme::parse("ties-upp").unwrap_err().nearest.as_deref(), Some("ties-up"));
}
