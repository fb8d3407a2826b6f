//! Tests of every convolution against the definition of its promise, a loop in unbounded integers.

use super::transposed::{Dilation, Outputs, Transposed, takes};
use super::{Conv2d, Domain, Kernel, Params, kernels};
use crate::Form;
use crate::element::Element;
use crate::matmul;
use crate::matmul::tests::raw;
use crate::operation::{Call, TensorOperation};
use crate::random::Random;

/// Definition of one result: its raw products in the order of im2col, with the zero point as input outside the image, and the exact sum of products
/// less zero points, with 0 outside the image.
pub(crate) struct Defined {
    products: Vec<i64>,
    sum: i128,
}

impl Defined {
    /// Returns the exact sum.
    pub(crate) fn exact(&self) -> i128 {
        self.sum
    }

    /// Returns the result by a scheme, modulo 2^32: the scheme's sum of the raw products, and the exact terms of the zero points.
    pub(crate) fn by(&self, scheme: &str) -> i32 {
        let exact: i64 = self.products.iter().sum();
        (self.sum + i128::from(raw(scheme, &self.products) - exact)) as i32
    }
}

/// Computes every `out[b,y,x,o]`, in signed coordinates.
pub(crate) fn definition(p: &Params, input: &[i32], weights: &[i32]) -> Vec<Defined> {
    let (rows, columns) = p.output().expect("a shape");
    let (depth, share) = (p.channels / p.groups, p.out_channels / p.groups);
    let result = |index: usize| {
        let (rest, o) = (index / p.out_channels, index % p.out_channels);
        let (rest, x) = (rest / columns, (rest % columns) as i64);
        let (b, y) = (rest / rows, (rest % rows) as i64);
        let mut defined = Defined { products: Vec::new(), sum: 0 };
        for k in 0..p.kernel_h * p.kernel_w * depth {
            let (i, j, c) = (k / depth / p.kernel_w, k / depth % p.kernel_w, k % depth);
            let side = |at: i64, element: usize, [stride, dilation, before]: [usize; 3]| {
                let (apart, before) = ((element * dilation) as i64, before as i64);
                if !p.transposed {
                    return at * stride as i64 + apart - before;
                }
                // There is no element between two input elements.
                let place = at + before - apart;
                if place % stride as i64 == 0 { place / stride as i64 } else { -1 }
            };
            let row = side(y, i, [p.stride_h, p.dilation_h, p.top]);
            let column = side(x, j, [p.stride_w, p.dilation_w, p.left]);
            let weight = i64::from(weights[k * p.out_channels + o]);
            if row < 0 || column < 0 || row >= p.height as i64 || column >= p.width as i64 {
                defined.products.push(i64::from(p.input_zero_point) * weight);
                continue;
            }
            let pixel = (b * p.height + row as usize) * p.width + column as usize;
            let value = input[pixel * p.channels + o / share * depth + c];
            defined.products.push(i64::from(value) * weight);
            let weight = i128::from(weight) - i128::from(p.weight_zero_point);
            defined.sum += i128::from(value - p.input_zero_point) * weight;
        }
        defined
    };
    (0..p.batches * rows * columns * p.out_channels).map(result).collect()
}

/// Returns shapes: strides, dilation, padding of four widths, batches, groups, depthwise with a multiplier, tails of every block.
pub(crate) fn shapes() -> Vec<Params> {
    let plain =
        Params { height: 5, width: 6, channels: 3, kernel_h: 3, kernel_w: 2, out_channels: 5, ..Params::default() };
    vec![
        Params::default(),
        Params { width: 1, channels: 17, out_channels: 4, ..Params::default() },
        plain,
        Params { stride_h: 2, stride_w: 3, ..plain },
        Params { dilation_h: 2, dilation_w: 4, ..plain },
        Params { top: 1, bottom: 2, left: 3, right: 0, ..plain },
        Params { top: 7, bottom: 0, left: 0, right: 9, stride_h: 3, dilation_w: 2, ..plain },
        Params { batches: 3, top: 1, ..plain },
        Params { channels: 6, out_channels: 4, groups: 2, left: 1, right: 1, ..plain },
        Params { channels: 4, out_channels: 4, groups: 4, top: 1, bottom: 1, ..plain },
        Params { channels: 3, out_channels: 9, groups: 3, stride_w: 2, right: 2, ..plain },
        Params { batches: 2, channels: 16, out_channels: 8, kernel_h: 2, dilation_h: 3, bottom: 1, ..plain },
        Params { channels: 33, kernel_w: 1, kernel_h: 1, out_channels: 13, ..plain },
    ]
}

/// Returns transposed convolutions: even and odd filters; strides below, at and above the filter's size; padding of four widths that is not a
/// multiple of the stride; output padding; dilation; batches; groups; and the sizes of TFLite's SAME and VALID.
pub(crate) fn transposed() -> Vec<Params> {
    let plain = Params {
        height: 3,
        width: 4,
        channels: 3,
        kernel_h: 4,
        kernel_w: 3,
        out_channels: 5,
        transposed: true,
        ..Params::default()
    };
    let halves = Params { stride_h: 2, stride_w: 2, ..plain };
    vec![
        Params { transposed: true, ..Params::default() },
        plain,
        halves,
        Params { kernel_h: 2, kernel_w: 2, ..halves },
        Params { top: 1, bottom: 1, right: 1, ..halves },
        Params { top: 1, bottom: 1, left: 1, right: 1, output_padding_w: 1, batches: 2, ..halves },
        Params { top: 3, bottom: 2, left: 2, right: 1, stride_h: 3, stride_w: 1, ..plain },
        Params {
            kernel_h: 1,
            kernel_w: 2,
            stride_h: 3,
            stride_w: 4,
            output_padding_h: 2,
            output_padding_w: 2,
            ..plain
        },
        Params {
            kernel_h: 1,
            kernel_w: 1,
            stride_h: 2,
            stride_w: 2,
            output_padding_h: 1,
            output_padding_w: 1,
            ..plain
        },
        Params { dilation_h: 2, dilation_w: 3, top: 2, left: 5, output_padding_h: 1, ..halves },
        Params { channels: 6, out_channels: 4, groups: 2, left: 1, ..halves },
        Params { channels: 4, out_channels: 4, groups: 4, top: 2, bottom: 1, ..halves },
        Params { channels: 33, out_channels: 18, batches: 2, top: 1, ..halves },
        Params { height: 1, width: 1, kernel_h: 5, kernel_w: 6, top: 1, left: 1, right: 1, bottom: 1, ..halves },
    ]
}

/// Returns pseudorandom elements, with many values at both ends of the range.
pub(crate) fn elements(element: Element, len: usize, seed: u64) -> Vec<i32> {
    let (lo, hi) = (*element.range().start(), *element.range().end());
    let mut random = Random::new(seed);
    let mut next = || (random.word() >> 1) as i32;
    (0..len)
        .map(|_| match next() % 8 {
            0 => lo,
            1 | 2 => hi,
            _ => lo + next() % (hi - lo + 1),
        })
        .collect()
}

/// Returns the results of `kernel`.
pub(crate) fn convolve(kernel: &Kernel, form: Form, params: &Params, input: &[i32], weights: &[i32]) -> Vec<i32> {
    let operands = &kernel.contract.domain.operands;
    let pack = |element: Element, values: &[i32]| {
        let mut bytes = vec![0; values.len() * element.bytes()];
        element.pack(values, &mut bytes);
        bytes
    };
    let mut out = vec![0; params.sizes().expect("a shape").outputs];
    kernel.run(form)(params, &pack(operands.lhs, input), &pack(operands.rhs, weights), &mut out);
    out
}

/// Returns all shapes with zero points at both ends of the range of `element` and odd zero points between.
pub(crate) fn cases(element: Element) -> Vec<Params> {
    let (lo, hi) = (*element.range().start(), *element.range().end());
    let zero_points = [(0, 0), (lo, hi), (hi, lo), (5, -3), (-7 & hi, 77), (hi, i32::MIN)];
    let with = |params: Params| {
        zero_points.map(|(input_zero_point, weight_zero_point)| Params {
            input_zero_point,
            weight_zero_point,
            ..params
        })
    };
    shapes().into_iter().chain(transposed()).flat_map(with).collect()
}

#[test]
fn every_kernel_keeps_its_promise() {
    for kernel in kernels() {
        let operands = &kernel.contract.domain.operands;
        let domain = &kernel.contract.domain;
        let taken = |p: &Params| {
            operands.rhs_offsets.contains(&p.weight_zero_point.wrapping_neg())
                && (domain.grouped || p.groups == 1)
                && takes(domain.transposed, p).is_ok()
        };
        for (seed, params) in cases(operands.lhs).iter().enumerate().filter(|(_, params)| taken(params)) {
            let sizes = params.sizes().expect("a shape");
            let input = elements(operands.lhs, sizes.inputs[0], seed as u64);
            let (lo, hi) = (*operands.rhs_values.start(), *operands.rhs_values.end());
            let weights: Vec<i32> = elements(operands.rhs, sizes.inputs[1], !seed as u64);
            let weights: Vec<i32> = weights.into_iter().map(|weight| weight.clamp(lo, hi)).collect();
            let defined = definition(params, &input, &weights);
            let scheme = kernel.contract.promise.scheme;
            let expected: Vec<i32> = defined.iter().map(|result| result.by(scheme)).collect();
            for form in [Form::Portable, Form::Native] {
                let got = convolve(kernel, form, params, &input, &weights);
                assert_eq!(got, expected, "{} {form:?} {params:?}", kernel.name);
            }
        }
    }
}

#[test]
fn every_matrix_kernel_has_its_convolution() {
    // The border of a convolution has the zero point, and TVM's int16 product accepts none.
    let takes_offsets = |kernel: &&matmul::Kernel| kernel.contract.domain.lhs_offsets != (0..=0);
    for product in matmul::kernels().iter().filter(takes_offsets) {
        let kernel = super::find(product.name).expect(product.name);
        assert_eq!(kernel.contract.promise, product.contract.promise);
        let runs = [kernel.native.map(|form| form.run.is_some()), product.native.map(|form| form.run.is_some())];
        assert_eq!(runs[0], runs[1], "{}", kernel.name);
    }
}

/// uxlfoundation/oneDNN issue 5080: padded elements are a shifted 0, that is 128.
#[test]
fn padding_at_the_borders_of_s8s8() {
    let kernel = super::find("onednn-s8s8-shift").expect("registered");
    let params = Params { kernel_w: 3, left: 1, right: 1, ..Params::default() };
    assert_eq!(convolve(kernel, Form::Native, &params, &[5], &[3, -2, 7]), [-10]);
}

/// A domain without groups refuses them. All kernels here have groups, so the domain is changed.
#[test]
fn groups_are_for_the_kernels_that_have_them() {
    let kernel = &kernels()[0];
    let operands = kernel.contract.domain.operands.clone();
    for (grouped, groups) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
        let domain = Domain { operands: operands.clone(), grouped, transposed: None };
        let params = Params { channels: 2, out_channels: 2, groups, ..Params::default() };
        let [image, weights] = [vec![1; 2], vec![1; 4 / groups]];
        let (mut output, code) = ([0; 2], kernel.portable);
        let tensors = [&image[..], &weights, &[]];
        let call = Call {
            name: kernel.name,
            code,
            domain: &domain,
            params: &params,
            tensors,
            output: &mut output,
            misalign: 0,
        };
        assert_eq!(Conv2d::call(call).is_ok(), grouped || groups == 1, "{grouped} {groups}");
    }
}

/// A kernel accepts only convolutions of its own direction, and only transposed convolutions in its domain.
#[test]
fn transposed_convolutions_are_for_their_kernels() {
    let one = Params { kernel_h: 3, kernel_w: 3, stride_h: 2, stride_w: 2, transposed: true, ..Params::default() };
    let argument = |domain, p: &Params| takes(domain, p).err().map(|error| error.argument);
    let of = |dilation, outputs| Some(Transposed { dilation, outputs });
    let (plain, dilated) = (Params { transposed: false, ..Params::default() }, Params { dilation_w: 2, ..one });
    let padded = Params { output_padding_h: 2, ..one };
    for (domain, p, refused) in [
        (None, &plain, None),
        (None, &one, Some("transposed")),
        (of(Dilation::Any, Outputs::Any), &plain, Some("transposed")),
        (of(Dilation::Any, Outputs::Any), &padded, None),
        (of(Dilation::Any, Outputs::Any), &dilated, None),
        (of(Dilation::One, Outputs::Any), &dilated, Some("dilation_w")),
        (of(Dilation::Any, Outputs::BelowStride), &one, None),
        (of(Dilation::Any, Outputs::BelowStride), &padded, Some("output_padding_h")),
        (of(Dilation::Any, Outputs::WholeSteps), &one, None),
        (of(Dilation::Any, Outputs::WholeSteps), &Params { top: 1, ..one }, None),
        (of(Dilation::Any, Outputs::WholeSteps), &Params { bottom: 1, ..one }, None),
        (of(Dilation::Any, Outputs::WholeSteps), &Params { bottom: 2, ..one }, Some("output_padding_h")),
        (of(Dilation::Any, Outputs::WholeSteps), &Params { output_padding_w: 1, ..one }, Some("output_padding_w")),
        (of(Dilation::Any, Outputs::WholeSteps), &Params { kernel_h: 5, top: 3, ..one }, Some("top")),
    ] {
        assert_eq!(argument(domain, p), refused, "{domain:?} {p:?}");
    }
    let refused = |p: Params| p.sizes().err().map(|error| error.argument);
    assert_eq!(refused(Params { left: 3, ..one }), Some("left"));
    assert_eq!(refused(Params { output_padding_w: 1, transposed: false, ..one }), Some("output_padding_w"));
    assert_eq!(refused(Params { top: 2, bottom: 2, ..one }), Some("top"));
    assert_eq!(refused(Params { stride_w: usize::MAX, width: 3, ..one }), Some("stride_w"));
}

/// A filter may cover the whole padded image, and not one row more. The error names the filter, or the dilation if it is above 1.
#[test]
fn a_filter_beyond_the_padded_image_is_refused() {
    let small = Params { height: 4, width: 9, kernel_w: 1, top: 1, bottom: 1, ..Params::default() };
    let argument = |params: Params| params.output().map_err(|error| error.argument);
    for (kernel_h, dilation_h, given) in [
        (6, 1, Ok((1, 9))),
        (7, 1, Err("kernel_h")),
        (2, 5, Ok((1, 9))),
        (2, 6, Err("dilation_h")),
        (3, 3, Err("dilation_h")),
        (usize::MAX, 2, Err("dilation_h")),
    ] {
        assert_eq!(argument(Params { kernel_h, dilation_h, ..small }), given, "{kernel_h} {dilation_h}");
    }
}
