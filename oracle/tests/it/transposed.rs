//! Transposed convolutions: both forms of the oracle compared with each input element added to its window, with the convolution of an image with
//! zeros between its elements, and with the convolution whose adjoint they are.

use proptest::prelude::*;
use tiebreak_oracle::conv2d::{self, Convolution};
use tiebreak_oracle::matmul::Scheme;
use tiebreak_oracle::shape::ShapeError;

/// One row, one channel.
const ROW: Convolution = Convolution {
    batches: 1,
    height: 1,
    width: 3,
    channels: 1,
    kernel_h: 1,
    kernel_w: 1,
    out_channels: 1,
    groups: 1,
    stride_h: 1,
    stride_w: 1,
    dilation_h: 1,
    dilation_w: 1,
    top: 0,
    bottom: 0,
    left: 0,
    right: 0,
    input_zero_point: 0,
    weight_zero_point: 0,
    transposed: true,
    output_padding_h: 0,
    output_padding_w: 0,
};

fn both(p: &Convolution, input: &[i32], weights: &[i32]) -> [Vec<i32>; 2] {
    let scheme = Scheme::parse("exact:wrap").expect("registered");
    let exact = conv2d::exact(&scheme, p, input, weights).expect("a shape");
    let exact = exact.into_iter().map(|v| v.and_then(|v| v.to_i32()).expect("an int32")).collect();
    let expected = conv2d::expected(&scheme, p, input, weights).expect("a shape");
    [exact, expected.into_iter().map(|v| v.expect("it wraps")).collect()]
}

/// Adds each element of the row to its window.
fn scattered(p: &Convolution, input: &[i32], weights: &[i32]) -> Vec<i32> {
    let covered = (p.width - 1) * p.stride_w + (p.kernel_w - 1) * p.dilation_w + 1;
    let mut whole = vec![0; covered + p.output_padding_w];
    for (at, value) in input.iter().enumerate() {
        for (element, weight) in weights.iter().enumerate() {
            whole[at * p.stride_w + element * p.dilation_w] +=
                (value - p.input_zero_point) * (weight - p.weight_zero_point);
        }
    }
    whole[p.left..whole.len() - p.right].to_vec()
}

/// Every row of up to 4 elements, filter of up to 4, stride, dilation, padding and output padding, in both directions of the image.
#[test]
fn both_forms_add_each_element_to_its_window() {
    let mut shapes = 0;
    for code in 0..4 * 4 * 4 * 2 * 3usize {
        let (width, kernel_w, stride_w) = (1 + code % 4, 1 + code / 4 % 4, 1 + code / 16 % 4);
        let (dilation_w, output_padding_w) = (1 + code / 64 % 2, code / 128);
        let reach = (kernel_w - 1) * dilation_w;
        for (left, right) in (0..=reach).flat_map(|left| (0..=reach).map(move |right| (left, right))) {
            let p = Convolution { width, kernel_w, stride_w, dilation_w, left, right, output_padding_w, ..ROW };
            let p = Convolution { input_zero_point: -3, weight_zero_point: 2, ..p };
            if p.check().is_err() {
                assert!((width - 1) * stride_w + reach + 1 + output_padding_w <= left + right, "{p:?}");
                continue;
            }
            let input: Vec<i32> = (0..width as i32).map(|at| 1 << (4 * at)).collect();
            let weights: Vec<i32> = (0..kernel_w as i32).map(|at| 3 + at * at).collect();
            let expected = scattered(&p, &input, &weights);
            let column = Convolution {
                height: width,
                width: 1,
                kernel_h: kernel_w,
                kernel_w: 1,
                stride_h: stride_w,
                stride_w: 1,
                dilation_h: dilation_w,
                dilation_w: 1,
                top: left,
                bottom: right,
                left: 0,
                right: 0,
                output_padding_h: output_padding_w,
                output_padding_w: 0,
                ..p
            };
            for p in [p, column] {
                for form in both(&p, &input, &weights) {
                    assert_eq!(form, expected, "{p:?}");
                }
            }
            shapes += 1;
        }
    }
    assert_eq!(shapes, SHAPES);
}

/// Number of one-row shapes that have results.
const SHAPES: usize = 5011;

/// Size of the example in PyTorch's documentation: an image of 12 becomes 6 by a stride of 2, and 12 again.
#[test]
fn output_padding_gives_back_the_size_of_a_strided_convolution() {
    let halved = Convolution { height: 6, kernel_h: 3, stride_h: 2, top: 1, bottom: 1, width: 1, ..ROW };
    assert_eq!(halved.output(), Ok((11, 1)));
    assert_eq!(Convolution { output_padding_h: 1, ..halved }.output(), Ok((12, 1)));
}

#[test]
fn transposed_convolutions_that_cannot_be() {
    let most = usize::MAX;
    let argument = |p: Convolution| p.check().err().map(|ShapeError { argument, .. }| argument);
    let wide = Convolution { kernel_w: 3, ..ROW };
    for (p, refused) in [
        (Convolution { left: 2, right: 2, ..wide }, None),
        (Convolution { left: 3, ..wide }, Some("left")),
        (Convolution { right: 3, ..wide }, Some("right")),
        (Convolution { bottom: 1, ..wide }, Some("bottom")),
        (Convolution { width: 1, left: 2, right: 2, ..wide }, Some("left")),
        (Convolution { width: 1, left: 2, right: 2, output_padding_w: 2, ..wide }, None),
        (Convolution { dilation_w: most, ..wide }, Some("kernel_w")),
        (Convolution { stride_w: most, ..wide }, Some("stride_w")),
        (Convolution { output_padding_w: most, ..wide }, Some("output_padding_w")),
        (Convolution { stride_h: 0, ..wide }, Some("stride_h")),
        (Convolution { transposed: false, output_padding_h: 1, ..wide }, Some("output_padding_h")),
        (Convolution { transposed: false, output_padding_w: 1, ..wide }, Some("output_padding_w")),
        (Convolution { transposed: false, ..wide }, None),
    ] {
        assert_eq!(argument(p), refused, "{p:?}");
    }
    let im2col = tiebreak_oracle::transform::Transform::Im2col(wide);
    assert_eq!(im2col.check().err().map(|error| error.argument), Some("transposed"));
}

prop_compose! {
    fn shape()(
        [batches, height, width, stride_h, stride_w] in prop::array::uniform5(1usize..=3),
        [groups, channels, out_channels] in prop::array::uniform3(1usize..=2),
        [kernel_h, kernel_w, dilation_h, dilation_w] in prop::array::uniform4(1usize..=3),
        padding in prop::array::uniform4(0usize..=6),
        [output_padding_h, output_padding_w] in prop::array::uniform2(0usize..=2),
        (input_zero_point, weight_zero_point) in (-128..=127i32, -128..=127i32),
    ) -> Convolution {
        let (high, wide) = ((kernel_h - 1) * dilation_h, (kernel_w - 1) * dilation_w);
        let [top, bottom, left, right] = padding;
        Convolution {
            batches, height, width, channels: channels * groups, kernel_h, kernel_w, out_channels: out_channels * groups, groups, stride_h,
            stride_w, dilation_h, dilation_w, top: top.min(high), bottom: bottom.min(high), left: left.min(wide), right: right.min(wide),
            input_zero_point, weight_zero_point, transposed: true, output_padding_h, output_padding_w,
        }
    }
}

fn posed() -> impl Strategy<Value = (Convolution, Vec<i32>, Vec<i32>)> {
    let elements = |len| prop::collection::vec(-128..=127i32, len);
    shape()
        .prop_filter_map("no such shape", |p| Some((p, p.check().ok()?)))
        .prop_flat_map(move |(p, [input, weights, _])| (Just(p), elements(input), elements(weights)))
}

/// Returns the image with `stride - 1` zero points between its elements, surrounded by the reach of the filter minus the padding.
fn inserted(p: &Convolution, input: &[i32]) -> (Convolution, Vec<i32>) {
    let (high, wide) = ((p.kernel_h - 1) * p.dilation_h, (p.kernel_w - 1) * p.dilation_w);
    let height = (p.height - 1) * p.stride_h + 1 + p.output_padding_h;
    let width = (p.width - 1) * p.stride_w + 1 + p.output_padding_w;
    let mut image = vec![p.input_zero_point; p.batches * height * width * p.channels];
    for (at, pixel) in input.chunks_exact(p.channels).enumerate() {
        let (b, y, x) = (at / (p.width * p.height), at / p.width % p.height, at % p.width);
        let to = ((b * height + y * p.stride_h) * width + x * p.stride_w) * p.channels;
        image[to..to + p.channels].copy_from_slice(pixel);
    }
    let around = Convolution { top: high - p.top, bottom: high - p.bottom, left: wide - p.left, ..*p };
    let plain = Convolution { height, width, right: wide - p.right, stride_h: 1, stride_w: 1, ..around };
    (Convolution { transposed: false, output_padding_h: 0, output_padding_w: 0, ..plain }, image)
}

/// Returns the taps in the opposite order.
fn rotated(p: &Convolution, weights: &[i32]) -> Vec<i32> {
    weights.chunks_exact(p.channels / p.groups * p.out_channels).rev().flatten().copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn zeros_between_elements_and_a_rotated_filter_make_a_convolution_of_it((p, input, weights) in posed()) {
        let (plain, image) = inserted(&p, &input);
        prop_assert_eq!(plain.output(), p.output());
        let [exact, expected] = both(&p, &input, &weights);
        let [other, _] = both(&plain, &image, &rotated(&p, &weights));
        prop_assert_eq!(&exact, &other);
        prop_assert_eq!(exact, expected);
    }

    /// For one group: the dot product of the results with any tensor equals the dot product of the input with the tensor's convolution.
    #[test]
    fn it_is_the_adjoint_of_a_convolution((p, input, weights) in posed(), any in prop::collection::vec(-9..=9i32, 4096)) {
        let p = Convolution { groups: 1, input_zero_point: 0, weight_zero_point: 0, output_padding_h: 0, output_padding_w: 0, ..p };
        let Ok([_, of_weights, outputs]) = p.check() else { return Ok(()) };
        let weights: Vec<i32> = weights.iter().copied().cycle().take(of_weights).collect();
        let (rows, columns) = p.output().expect("checked");
        let tensor: Vec<i32> = any.iter().copied().cycle().take(outputs).collect();
        let forward = Convolution {
            height: rows, width: columns, channels: p.out_channels, out_channels: p.channels, transposed: false, ..p
        };
        // Filters have their channels exchanged.
        let mut exchanged = vec![0; weights.len()];
        for (at, weight) in weights.iter().enumerate() {
            let (tap, c, o) = (at / (p.channels * p.out_channels), at / p.out_channels % p.channels, at % p.out_channels);
            exchanged[(tap * p.out_channels + o) * p.channels + c] = *weight;
        }
        let dot = |a: &[i32], b: &[i32]| a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum::<i64>();
        let [transposed, _] = both(&p, &input, &weights);
        let [seen, _] = both(&forward, &tensor, &exchanged);
        prop_assert_eq!(seen.len(), input.len());
        prop_assert_eq!(dot(&transposed, &tensor), dot(&input, &seen));
    }
}
