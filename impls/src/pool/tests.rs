//! Every pooling against the average in doubles, or the maximum, over signed coordinates; at known values; and in both forms.

use super::*;
use crate::Form;
use crate::quantized::Scale;
use crate::random::Random;

/// Returns the elements of every window, found by signed coordinates.
fn windows(p: &Params, input: &[i32]) -> Vec<Vec<i32>> {
    let (rows, columns) = p.output().expect("a shape");
    let window = |index: usize| {
        let (rest, c) = (index / p.channels, index % p.channels);
        let (rest, x) = (rest / columns, (rest % columns) as i64);
        let (b, y) = (rest / rows, (rest % rows) as i64);
        let element = |k: usize| {
            let row = y * p.stride_h as i64 + (k / p.kernel_w) as i64 - p.top as i64;
            let column = x * p.stride_w as i64 + (k % p.kernel_w) as i64 - p.left as i64;
            let inside = (0..p.height as i64).contains(&row) && (0..p.width as i64).contains(&column);
            inside.then(|| input[((b * p.height + row as usize) * p.width + column as usize) * p.channels + c])
        };
        (0..p.area()).filter_map(element).collect()
    };
    (0..p.batches * rows * columns * p.channels).map(window).collect()
}

fn run(kernel: &Kernel, form: Form, p: &Params, input: &[i32]) -> Vec<i32> {
    let sizes = kernel.contract.domain.sizes(p).expect("in the domain");
    let mut bytes = vec![0; input.len() * p.element.bytes()];
    p.element.pack(input, &mut bytes);
    let mut out = vec![i32::MIN; sizes.outputs];
    kernel.run(form)(p, &bytes, &mut out);
    out
}

/// Returns shapes with every border, unequal strides and windows, batches, and tails of every vector.
fn shapes(domain: &Domain) -> Vec<Params> {
    let plain = Params { height: 5, width: 6, kernel_h: 3, kernel_w: 2, channels: 3, ..Params::of(domain.element) };
    let shapes = vec![
        Params::of(domain.element),
        Params { batches: 2, stride_h: 2, ..plain },
        Params { top: 2, left: 1, stride_w: 3, channels: 17, ..plain },
        Params { bottom: 1, right: 1, channels: 300, ..plain },
        Params { top: 1, bottom: 2, left: 1, right: 1, channels: 33, ..plain },
        Params { height: 20, width: 21, kernel_h: 17, kernel_w: 18, channels: 5, ..plain },
    ];
    let fitted = |p: Params| match domain.global {
        true => Params { kernel_h: p.height, kernel_w: p.width, top: 0, bottom: 0, left: 0, right: 0, ..p },
        false => p,
    };
    shapes.into_iter().map(|p| Params { count_padding: domain.counted == Counted::Always, ..fitted(p) }).collect()
}

fn quantized(domain: &Domain, p: Params) -> Params {
    let middle = if domain.element == Element::U8 { 128 } else { 0 };
    let input = Operand { scale: Scale(f64::from(0.1f32)), zero_point: middle - 7 };
    let out = Operand { scale: Scale(f64::from(0.07f32)), zero_point: middle + 3 };
    Params { input, out: if domain.scales == Scales::Equal { input } else { out }, ..p }
}

#[test]
fn every_kernel_is_near_the_average_or_is_the_maximum() {
    let mut random = Random::new(7);
    for kernel in kernels() {
        let domain = &kernel.contract.domain;
        for p in shapes(domain).into_iter().map(|p| quantized(domain, p)) {
            let range = p.element.range();
            let count = p.batches * p.height * p.width * p.channels;
            let input: Vec<i32> = (0..count)
                .map(|_| *range.start() + (random.word() % (range.end().abs_diff(*range.start()) + 1)) as i32)
                .collect();
            let got = run(kernel, Form::Native, &p, &input);
            assert_eq!(got, run(kernel, Form::Portable, &p, &input), "{}", kernel.name);
            for (window, got) in windows(&p, &input).into_iter().zip(got) {
                if kernel.contract.promise.scheme == "max" {
                    assert_eq!(Some(got), window.iter().copied().max(), "{}", kernel.name);
                    continue;
                }
                let sum: f64 = window.iter().map(|v| f64::from(v - p.input.zero_point)).sum();
                let divisor = if p.count_padding { p.area() } else { window.len() };
                let average = sum / divisor as f64 * p.input.scale.0 / p.out.scale.0 + f64::from(p.out.zero_point);
                let average = average.clamp(p.min.into(), p.max.into());
                let most = if kernel.contract.promise.scheme == "tvm" { 1.0 } else { 0.5 + 1e-3 };
                assert!((f64::from(got) - average).abs() <= most, "{} {p:?}: {got}, not {average}", kernel.name);
            }
        }
    }
}

/// Averages of one half and one and a half, with either sign.
#[test]
fn ties_go_where_each_kernel_takes_them() {
    let table = [
        ("tflite-average-pool-i8", [1, -1, 2, -2]),
        ("tflite-average-pool-optimized-i8", [1, -1, 2, -2]),
        ("tflite-average-pool-neon-i8", [1, -1, 2, -2]),
        ("arm-avgpool-s8", [1, -1, 2, -2]),
        ("arm-avgpool-s8-mve", [1, -1, 2, -2]),
        ("tvm-avg-pool2d-i8", [0, 0, 1, -1]),
        ("tosa-avg-pool2d-i8", [1, -1, 2, -2]),
        ("onnx-qlinearaveragepool-i8", [0, 0, 2, -2]),
        ("onnx-qlinearglobalaveragepool-sse2-i8", [0, 0, 2, -2]),
        ("pytorch-qavg-pool2d-i8", [0, 0, 2, -2]),
        ("xnnpack-qs8-gavgpool", [0, 0, 2, -2]),
        ("xnnpack-qs8-gavgpool-neon", [1, 0, 2, -1]),
        ("tflite-max-pool-i8", [1, 0, 2, -1]),
    ];
    let p = Params { height: 2, kernel_h: 2, channels: 4, ..Params::of(Element::I8) };
    for (name, results) in table {
        let kernel = find(name).expect(name);
        assert_eq!(run(kernel, Form::Portable, &p, &[1, 0, 2, -1, 0, -1, 1, -2]), results, "{name}");
    }
}

#[test]
fn padding_is_counted_where_it_is_asked_for() {
    let (kernel, tvm) =
        (find("pytorch-qavg-pool2d-i8").expect("a kernel"), find("tvm-avg-pool2d-i8").expect("a kernel"));
    let operand = Operand { scale: Scale(0.5), zero_point: 10 };
    let p = Params { kernel_h: 3, top: 1, bottom: 1, input: operand, out: operand, ..Params::of(Element::I8) };
    let counted = Params { count_padding: true, ..p };
    let results = |kernel: &Kernel| [&p, &counted].map(|p| run(kernel, Form::Portable, p, &[100])[0]);
    assert_eq!((results(kernel), results(tvm)), ([100, 40], [100, 33]));
}

#[test]
fn what_cannot_be_is_named() {
    let argument =
        |name: &str, p: Params| find(name).expect(name).contract.domain.sizes(&p).expect_err("refused").argument;
    let sound = Params { height: 3, width: 4, kernel_h: 2, kernel_w: 2, ..Params::of(Element::I8) };
    let [tflite, onnx, global] = ["tflite-average-pool-i8", "onnx-qlinearaveragepool-i8", "xnnpack-qs8-gavgpool"];
    assert_eq!(argument("tflite-average-pool-u8", sound), "element");
    for (wrong, name) in [
        (Params { batches: 0, ..sound }, "batches"),
        (Params { height: 0, ..sound }, "height"),
        (Params { channels: 0, ..sound }, "channels"),
        (Params { kernel_w: 0, ..sound }, "kernel_w"),
        (Params { kernel_w: 5, ..sound }, "kernel_w"),
        (Params { stride_h: 0, ..sound }, "stride_h"),
        (Params { top: 2, ..sound }, "top"),
        (Params { right: 2, ..sound }, "right"),
        (Params { count_padding: true, ..sound }, "count_padding"),
        (Params { out: Operand { scale: Scale(2.0), zero_point: 0 }, ..sound }, "out_scale"),
        (Params { input: Operand { scale: Scale(0.1), zero_point: 0 }, ..sound }, "input_scale"),
        (Params { out: Operand { scale: Scale(1.0), zero_point: 128 }, ..sound }, "out_zero_point"),
        (Params { min: 3, max: 2, ..sound }, "min"),
        (Params { max: 128, ..sound }, "max"),
    ] {
        assert_eq!(argument(tflite, wrong), name, "{wrong:?}");
    }
    assert_eq!(argument(onnx, Params { max: 3, ..sound }), "min");
    let steep = |scale: f64| Params { input: Operand { scale: Scale(scale), zero_point: 0 }, ..sound };
    assert_eq!(argument(onnx, steep(256.0)), "out_scale");
    assert_eq!(argument(onnx, steep(2f64.powi(-17))), "out_scale");
    assert!(find(onnx).expect("a kernel").contract.domain.sizes(&steep(2f64.powi(-16))).is_ok());
    assert_eq!(argument(global, sound), "kernel_h");
    assert!(
        find(global).expect("a kernel").contract.domain.sizes(&Params { kernel_h: 3, kernel_w: 4, ..sound }).is_ok()
    );
}
