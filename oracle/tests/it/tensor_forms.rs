//! Invariant 2 for the tensor operations: big integers straight from the definition, and machine integers derived independently, give the
//! same results. Exhaustive at tiny widths, directed and random at full width.

use proptest::prelude::*;
use rug::Integer;
use tiebreak_oracle::conv2d::{self, Convolution};
use tiebreak_oracle::dot;
use tiebreak_oracle::matmul::{self, Product};
use tiebreak_oracle::requantize;
use tiebreak_oracle::scheme::Registered;
use tiebreak_oracle::shape::ShapeError;
use tiebreak_oracle::transform::Transform;

/// Checks that both forms are equal.
fn agree(label: &str, exact: Result<Vec<Option<Integer>>, ShapeError>, fast: Result<Vec<Option<i32>>, ShapeError>) {
    let small = |v: Integer| v.to_i32().expect("a fitted result is an int32");
    let exact = exact.map(|values| values.into_iter().map(|v| v.map(small)).collect());
    assert_eq!(fast, exact, "{label}");
}

/// Returns every choice of `n` values from `from`.
fn tuples(from: std::ops::RangeInclusive<i32>, n: usize) -> Vec<Vec<i32>> {
    (0..n).fold(vec![Vec::new()], |shorter, _| {
        shorter.iter().flat_map(|t| from.clone().map(move |v| [t.as_slice(), &[v]].concat())).collect()
    })
}

/// Generates values of one kind for each tensor: bytes, small, extreme, or any values.
fn values(n: usize) -> impl Strategy<Value = Vec<i32>> {
    let ends = prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(-1), Just(0), Just(1), any::<i32>()];
    let bytes = prop_oneof![Just(0), Just(255), Just(128), Just(127), 0..=255i32];
    let signed = prop_oneof![Just(-128), Just(127), Just(0), -128..=127i32];
    let vec = |s: BoxedStrategy<i32>| prop::collection::vec(s, n);
    prop_oneof![
        3 => vec(bytes.boxed()),
        3 => vec(signed.boxed()),
        1 => vec((-3..=3i32).boxed()),
        1 => vec((-40_000..=40_000i32).boxed()),
        2 => vec(ends.boxed()),
    ]
}

fn offset() -> impl Strategy<Value = i32> {
    prop_oneof![3 => -255..=255i32, 1 => Just(i32::MIN), 1 => Just(i32::MAX), 1 => any::<i32>()]
}

fn product() -> impl Strategy<Value = (Product, Vec<i32>, Vec<i32>)> {
    (1usize..=20, 1usize..=20, 1usize..=20, offset(), offset()).prop_flat_map(|(m, n, k, lhs_offset, rhs_offset)| {
        (Just(Product { m, n, k, lhs_offset, rhs_offset }), values(m * k), values(k * n))
    })
}

prop_compose! {
    fn convolution()(
        batches in 1usize..=2,
        (height, width) in (1usize..=6, 1usize..=6),
        (groups, channels, out_channels) in (1usize..=3, 1usize..=3, 1usize..=3),
        (kernel_h, kernel_w) in (1usize..=4, 1usize..=4),
        (stride_h, stride_w) in (1usize..=3, 1usize..=3),
        (dilation_h, dilation_w) in (1usize..=2, 1usize..=2),
        [top, bottom, left, right] in prop::array::uniform4(0usize..=4),
        (input_zero_point, weight_zero_point) in (offset(), offset()),
        (transposed, output_padding_h, output_padding_w) in (any::<bool>(), 0usize..=2, 0usize..=2),
    ) -> Convolution {
        // Padding of a transposed convolution is at most the reach of the filter.
        let within = |padding: usize, kernel: usize, dilation: usize| {
            if transposed { padding.min((kernel - 1) * dilation) } else { padding }
        };
        let [top, bottom] = [top, bottom].map(|n| within(n, kernel_h, dilation_h));
        let [left, right] = [left, right].map(|n| within(n, kernel_w, dilation_w));
        let more = |n: usize| if transposed { n } else { 0 };
        let (output_padding_h, output_padding_w) = (more(output_padding_h), more(output_padding_w));
        Convolution {
            batches, height, width, channels: channels * groups, kernel_h, kernel_w, out_channels: out_channels * groups, groups,
            stride_h, stride_w, dilation_h, dilation_w, top, bottom, left, right, input_zero_point, weight_zero_point,
            transposed, output_padding_h, output_padding_w,
        }
    }
}

fn convolved() -> impl Strategy<Value = (Convolution, Vec<i32>, Vec<i32>)> {
    convolution()
        .prop_filter_map("no such shape", |p| Some((p, p.check().ok()?)))
        .prop_flat_map(|(p, [input, weights, _])| (Just(p), values(input), values(weights)))
}

#[test]
fn matmul_forms_agree_on_every_two_bit_operand() {
    let mut products = 0;
    for k in 1..=3 {
        for operands in [-2..=1, 0..=3] {
            for lhs in tuples(operands.clone(), k) {
                for rhs in tuples(operands.clone(), k) {
                    for (lhs_offset, rhs_offset) in [(0, 0), (-3, 2), (i32::MIN, i32::MAX), (i32::MIN, i32::MIN)] {
                        let p = Product { m: 1, n: 1, k, lhs_offset, rhs_offset };
                        for scheme in matmul::Scheme::every() {
                            agree(&scheme.label(), scheme.exact(&p, &lhs, &rhs), scheme.expected(&p, &lhs, &rhs));
                            products += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(products, 2 * (16 + 256 + 4096) * 4 * 18);
}

#[test]
fn requantize_has_every_scheme_of_fpm_those_of_sums_and_the_legacy_ones() {
    let names: Vec<&str> = requantize::Definition::all().map(Registered::name).collect();
    assert!(names.contains(&"legacy") && names.contains(&"legacy-ties-away") && names.contains(&"gemmlowp-double"));
    assert!(names.contains(&"cmsis-nn-int16-multiplier") && names.contains(&"xnnpack-fp32"));
    assert_eq!(names.len(), tiebreak_oracle::fpm::scheme::DEFINITIONS.len() + 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Unlimited sums equal the exact scheme if it has a value, and always the words of the wrapping scheme.
    #[test]
    fn sums_are_those_of_the_exact_scheme((p, lhs, rhs) in product(), (c, image, filter) in convolved()) {
        let schemes = ["exact", "exact:wrap"].map(|name| matmul::Scheme::parse(name).expect("registered"));
        for (sums, results) in [
            (p.sums(&lhs, &rhs), schemes.map(|scheme| scheme.exact(&p, &lhs, &rhs))),
            (c.sums(&image, &filter), schemes.map(|scheme| conv2d::exact(&scheme, &c, &image, &filter))),
        ] {
            let [fitting, wrapped] = results.map(|all| all.expect("a shape"));
            for ((sum, fitting), wrapped) in sums.expect("a shape").into_iter().zip(fitting).zip(wrapped) {
                prop_assert_eq!(fitting, sum.to_i32().map(Integer::from));
                prop_assert_eq!(wrapped, Some(Integer::from(sum.to_i32_wrapping())));
            }
        }
    }

    #[test]
    fn matmul_forms_agree((p, lhs, rhs) in product()) {
        for scheme in matmul::Scheme::every() {
            agree(&scheme.label(), scheme.exact(&p, &lhs, &rhs), scheme.expected(&p, &lhs, &rhs));
        }
    }

    #[test]
    fn conv2d_forms_agree((p, input, weights) in convolved()) {
        for scheme in matmul::Scheme::every() {
            let exact = conv2d::exact(&scheme, &p, &input, &weights);
            agree(&scheme.label(), exact, conv2d::expected(&scheme, &p, &input, &weights));
        }
    }

    #[test]
    fn conv2d_is_the_product_of_im2col((p, input, weights) in convolved()) {
        // No transform has the patches of a transposed convolution.
        let p = Convolution { transposed: false, output_padding_h: 0, output_padding_w: 0, ..p };
        let Ok((rows, columns)) = p.output() else { return Ok(()) };
        let one = Convolution { groups: 1, ..p };
        let matrix = Transform::Im2col(one).expected(&input).unwrap();
        let (channels, group) = (p.channels / p.groups, p.out_channels / p.groups);
        for scheme in matmul::Scheme::every() {
            let mut out = vec![None; p.batches * rows * columns * p.out_channels];
            let lhs_offset = p.input_zero_point.checked_neg();
            let (Some(lhs_offset), Some(rhs_offset)) = (lhs_offset, p.weight_zero_point.checked_neg()) else {
                return Ok(());
            };
            for g in 0..p.groups {
                // Channels of one group, for each tap, and its output channels.
                let lhs: Vec<i32> =
                    matrix.chunks(p.channels).flat_map(|c| c[g * channels..][..channels].to_vec()).collect();
                let rhs: Vec<i32> =
                    weights.chunks(p.out_channels).flat_map(|o| o[g * group..][..group].to_vec()).collect();
                let k = p.kernel_h * p.kernel_w * channels;
                let product = Product { m: p.batches * rows * columns, n: group, k, lhs_offset, rhs_offset };
                for (i, v) in scheme.expected(&product, &lhs, &rhs).unwrap().into_iter().enumerate() {
                    out[i / group * p.out_channels + g * group + i % group] = v;
                }
            }
            prop_assert_eq!(conv2d::expected(&scheme, &p, &input, &weights).unwrap(), out, "{}", scheme.label());
        }
    }

    #[test]
    fn dot_forms_agree(steps in 1usize..=5, seed in values(1000), acc in values(40), bytes in prop::collection::vec(0..=255i32, 1000)) {
        for scheme in dot::Scheme::every() {
            let results = steps * scheme.definition.results;
            let elements = scheme.definition.check(results).unwrap();
            for a in [&seed[..elements], &bytes[..elements]] {
                for b in [&seed[200..][..elements], &bytes[80..][..elements]] {
                    agree(&scheme.label(), scheme.exact(&acc[..results], a, b), scheme.expected(&acc[..results], a, b));
                }
            }
        }
    }

    #[test]
    fn requantize_forms_agree(
        acc in values(12),
        channels in prop::collection::vec((offset(), -31..=31i32, offset()), 1..=3),
        zero_point in offset(),
        (a, b) in prop_oneof![Just((-128, 127)), Just((0, 255)), Just((i32::MIN, i32::MAX)), (offset(), offset())],
    ) {
        for scheme in requantize::Scheme::every() {
            let shift = |s: i32| if scheme.definition.shifts().contains(&s) { s } else { -s };
            let p = requantize::Parameters {
                channels: channels.iter().map(|(m, s, _)| (*m, shift(*s))).collect(),
                bias: channels.iter().map(|(.., bias)| *bias).collect(),
                zero_point,
                min: a.min(b),
                max: a.max(b),
            };
            agree(&scheme.label(), scheme.exact(&p, &acc), scheme.expected(&p, &acc));
            let channels = (0..channels.len()).cycle();
            let traced = acc.iter().zip(channels).map(|(x, channel)| scheme.trace(&p, channel, *x).result);
            agree(&scheme.label(), Ok(traced.collect()), scheme.expected(&p, &acc));
        }
    }
}
