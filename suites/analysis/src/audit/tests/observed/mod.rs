//! Results of the published packages (`observed/README.md`), compared exactly with the entries of the runtimes.

use super::*;
use crate::model::operators::Elementwise;

/// Columns of the files, with the names of the runtimes.
const RUNTIMES_OBSERVED: [(&str, &str); 5] = [
    ("reference", "tflite-reference"),
    ("optimized", "tflite-optimized"),
    ("xnnpack", "xnnpack"),
    ("micro", "tflite-micro"),
    ("aarch64", "tflite-optimized-aarch64"),
];

/// Parses the lines of a file into cells by column name.
fn lines(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let cells = |line: csv::StringRecord| header.iter().cloned().zip(line.iter().map(str::to_owned)).collect();
    reader.records().map(|line| cells(line.expect("a line"))).collect()
}

fn number<T: std::str::FromStr>(line: &BTreeMap<String, String>, name: &str) -> T {
    line[name].parse().unwrap_or_else(|_| panic!("{name} of {line:?}"))
}

fn element(line: &BTreeMap<String, String>, name: &str) -> Element {
    if line[name] == "i8" { Element::I8 } else { Element::U8 }
}

fn tensor(line: &BTreeMap<String, String>, of: &str, element: Element) -> Quantized {
    let name = |part: &str| format!("{of}_{part}");
    Quantized { element, scale: number(line, &name("scale")), zero_point: number(line, &name("zero_point")) }
}

/// Accumulator that a kernel was given, and its result.
struct Sum {
    scales: Scales,
    output: Output,
    x: i64,
    observed: i64,
}

impl Sum {
    /// True if a derivation and a scheme give the observed result.
    fn is_of(&self, way: &Way) -> bool {
        let (scheme, _) = way.of(&self.scales).expect("a multiplier");
        scheme.exact(Some(&self.output), self.x) == Some(self.observed)
    }
}

fn whole(tensor: Quantized) -> Output {
    let range = tensor.element.range();
    Output { zero_point: tensor.zero_point, min: *range.start(), max: *range.end() }
}

/// Returns the observations of products, by the properties that select a kernel and by column.
fn products() -> Vec<(Sums, &'static str, Vec<Sum>)> {
    let lines = lines(include_str!("products.csv"));
    let kinds =
        [("CONV_2D", Kind::Convolution), ("DEPTHWISE_CONV_2D", Kind::Depthwise), ("FULLY_CONNECTED", Kind::Dense)];
    let mut all = Vec::new();
    for ((op, kind), (column, _)) in kinds.iter().flat_map(|k| RUNTIMES_OBSERVED.iter().map(move |r| (*k, *r))) {
        for (scales, bytes) in [("tensor", false), ("channel", false), ("tensor", true)] {
            let name = format!("{op}/{scales}/{column}");
            let of = |line: &BTreeMap<String, String>| {
                let output = Quantized {
                    element: element(line, "element"),
                    scale: number(line, "output_scale"),
                    zero_point: number(line, "zero_point"),
                };
                let [input, weight] = ["input_scale", "weight_scale"].map(|n| exact(number(line, n)));
                let scales = Scales { input, weight, output: exact(output.scale) };
                Sum { scales, output: whole(output), x: number(line, "x"), observed: number(line, &name) }
            };
            let mine = |line: &&BTreeMap<String, String>| {
                (element(line, "element") == Element::U8) == bytes && !line[&name].is_empty()
            };
            let sums: Vec<Sum> = lines.iter().filter(mine).map(of).collect();
            all.push((Sums { kind, per_channel: scales == "channel", bytes, is_behind: false }, column, sums));
        }
    }
    all
}

/// Each observation equals the result of the runtime's entry, on rationals, and no different entry of a measured runtime gives all observations.
/// Regression test: the entry of the reference FULLY_CONNECTED, which rounds once, in double, was `gemmlowp-double`.
#[test]
fn products_are_what_the_packages_compute() {
    let mut ways: Vec<Way> = Vec::new();
    for (sums, column, observed) in products() {
        let name = RUNTIMES_OBSERVED.iter().find(|(c, _)| *c == column).expect("a runtime").1;
        let Some(way) = runtime(name).products(sums) else {
            assert!(observed.is_empty(), "{name} {sums:?} is observed and not defined");
            continue;
        };
        assert!(observed.len() > 100, "{name} {sums:?}: {}", observed.len());
        for sum in &observed {
            assert!(sum.is_of(&way), "{name} {sums:?} x={} {:?}: {}", sum.x, sum.scales, sum.observed);
        }
        ways.push(way);
    }
    let key = |way: &Way| (way.derivation.name, way.rescaling.label());
    ways.sort_by_key(key);
    ways.dedup_by_key(|way| key(way));
    assert_eq!(ways.len(), 8, "{ways:?}");
    for (sums, column, observed) in products() {
        let all: Vec<_> = ways.iter().filter(|way| observed.iter().all(|sum| sum.is_of(way))).map(key).collect();
        assert!(observed.is_empty() || all.len() == 1, "{column} {sums:?}: {all:?}");
    }
}

/// Issue 30: in layer 2, channel 126 of a model for anomaly detection, accumulator 367692 is exactly 88.4995. LiteRT 2.3.0 gives 88 with the
/// reference kernels and 89 with the optimized kernels, but the audit reported no change.
#[test]
fn a_matrix_product_rounds_once_in_the_reference_and_twice_in_the_optimized_kernels() {
    use crate::model::tests::{build, samples};
    let scaled = |tensor: build::Tensor, scale: f32, point: i64| build::Tensor {
        scales: vec![scale],
        zero_points: vec![point],
        ..tensor
    };
    let mut dense = samples::each()[2].clone();
    let [x, w, y] = dense.tensors;
    dense.tensors = [scaled(x, 0.929_411_77, -128), scaled(w, 3.555_873_6e-5, 0), scaled(y, 0.056_128_275, -128)];
    let bias = 367_692 - 9 * 255;
    dense.bias =
        Some(build::Tensor { shape: vec![1], kind: 2, data: i32::to_le_bytes(bias).into(), ..Default::default() });
    let bytes = build::model(&[dense]);
    let [reference, optimized] = [runtime("tflite-reference"), runtime("tflite-optimized")];
    let sums = Sums { kind: Kind::Dense, per_channel: false, bytes: false, is_behind: false };
    let [input, weight, output] = [0.929_411_77, 3.555_873_6e-5, 0.056_128_275].map(exact);
    let scales = Scales { input, weight, output };
    let output = Output { zero_point: -128, min: -128, max: 127 };
    let result = |side: Side| {
        let (scheme, _) = side.products(sums).expect("a scheme").of(&scales).expect("a multiplier");
        scheme.exact(Some(&output), 367_692)
    };
    assert_eq!((result(reference), result(optimized)), (Some(88), Some(89)));
    // In both directions, the audit counts this accumulator as a difference.
    let counts = |left, right| audited(&bytes, left, right).comparisons[0].layers[0].channels[0].clone();
    let (there, back) = (counts(reference, optimized), counts(optimized, reference));
    assert!(there.differ > 0 && (there.inputs, there.differ) == (back.inputs, back.differ), "{there:?} {back:?}");
    let stated = Stated {
        scales: [0.929_411_77, 3.555_873_6e-5, 0.056_128_275],
        bias,
        weights: &[9, -4],
        activations: 0..=255,
        output,
    };
    assert!(stated.accumulators().contains(&367_692));
    let ways = |left: Side, right: Side| [left, right].map(|side| side.products(sums).expect("a scheme"));
    stated.check(ways(reference, optimized), &there);
    stated.check(ways(optimized, reference), &back);
}

/// Finding 24: for nine channels of a depthwise convolution with accumulator -2 and scale 1/4, the optimized kernels of LiteRT 2.3.0 give 0 eight
/// times, then -1.
#[test]
fn depthwise_channels_behind_whole_vectors_round_as_the_reference() {
    let [input, weight, output] = [1.0, 0.25, 1.0].map(exact);
    let scales = Scales { input, weight, output };
    let output = Output { zero_point: 0, min: -128, max: 127 };
    let result = |is_behind: bool| {
        let sums = Sums { kind: Kind::Depthwise, per_channel: true, bytes: false, is_behind };
        let (scheme, _) = runtime("tflite-optimized").products(sums)?.of(&scales).ok()?;
        scheme.exact(Some(&output), -2)
    };
    assert_eq!([false, true].map(result), [Some(0), Some(-1)]);
}

/// Compares operations on two tensors and rescalings through the audit; the witness of constant operands is the observation.
#[test]
fn additions_and_multiplications_are_what_the_packages_compute() {
    let mut seen = BTreeMap::<(String, &str), usize>::new();
    for line in lines(include_str!("pairs.csv")) {
        let element = element(&line, "element");
        let tensors = ["lhs", "rhs", "output"].map(|of| tensor(&line, of, element));
        let constants = ["lhs", "rhs"].map(|of| Some([number::<i32>(&line, of)].into()));
        let range = element.range();
        let layer = Elementwise {
            operands: [tensors[0], tensors[1]],
            constants,
            output: tensors[2],
            clamp: (*range.start(), *range.end()),
        };
        for (column, name) in RUNTIMES_OBSERVED {
            let side = runtime(name);
            let add = line["op"] == "ADD";
            let scheme = if add { side.add(element) } else { side.mul(element) };
            let Some(scheme) = scheme.filter(|_| !line[column].is_empty()) else { continue };
            let which = if add { Binary::Add } else { Binary::Mul };
            let result = compare::result(which, scheme, &layer).expect("a result");
            assert_eq!(result, Some(number(&line, column)), "{name}, {scheme}: {line:?}");
            *seen.entry((format!("{} {}", line["op"], element.name()), name)).or_default() += 1;
        }
    }
    // Reference and XNNPACK: both operations and types. Both optimized sets: one fewer. Micro: int8 only.
    assert_eq!(seen.len(), 4 + 4 + 2 * 3 + 2, "{seen:?}");
    assert!(seen.values().all(|n| *n > 50), "{seen:?}");
}

#[test]
fn rescalings_are_what_the_packages_compute() {
    let mut seen = BTreeMap::<(String, &str), usize>::new();
    for line in lines(include_str!("rescale.csv")) {
        let (from, to) = (element(&line, "input"), element(&line, "output"));
        let (input, output) = (tensor(&line, "input", from), tensor(&line, "output", to));
        let scales = rescale_scales(&Rescale { input, output });
        let x = number::<i64>(&line, "stored") - i64::from(input.zero_point);
        for (column, name) in RUNTIMES_OBSERVED {
            let Some(way) = runtime(name).rescale(from, to).filter(|_| !line[column].is_empty()) else { continue };
            let sum = Sum { scales: scales.clone(), output: whole(output), x, observed: number(&line, column) };
            assert!(sum.is_of(&way), "{name}: {line:?}");
            *seen.entry((format!("{} {}", from.name(), to.name()), name)).or_default() += 1;
        }
    }
    // Three kernel sets: all four pairs of types. Micro: three. XNNPACK: the two pairs of different types.
    assert_eq!(seen.len(), 3 * 4 + 3 + 2, "{seen:?}");
    assert!(seen.values().all(|n| *n > 40), "{seen:?}");
}

#[test]
fn onnx_operators_are_what_the_package_computes() {
    let side = runtime("onnxruntime");
    let mut seen = BTreeMap::<(String, String, String), usize>::new();
    for line in lines(include_str!("onnx.csv")) {
        let element = element(&line, "element");
        let [lhs, rhs, output] = ["lhs", "rhs", "output"].map(|of| tensor(&line, of, element));
        *seen.entry((line["op"].clone(), line["element"].clone(), line["scales"].clone())).or_default() += 1;
        let which = match line["op"].as_str() {
            "QLinearAdd" => Binary::Add,
            "QLinearMul" => Binary::Mul,
            op => {
                let kind = if op == "QGemm" { Kind::Dense } else { Kind::Convolution };
                let sums = Sums { kind, per_channel: line["scales"] == "channel", bytes: false, is_behind: false };
                let way = side.products(sums).expect("a scheme");
                let [input, weight] = [lhs, rhs].map(|tensor| exact(tensor.scale));
                let scales = Scales { input, weight, output: exact(output.scale) };
                let (x, observed) = (number(&line, "lhs"), number(&line, "observed"));
                assert!(Sum { scales, output: whole(output), x, observed }.is_of(&way), "{line:?}");
                continue;
            }
        };
        let scheme = if which == Binary::Add { side.add(element) } else { side.mul(element) };
        let constants = ["lhs", "rhs"].map(|of| Some([number::<i32>(&line, of)].into()));
        let range = element.range();
        let clamp = (*range.start(), *range.end());
        let layer = Elementwise { operands: [lhs, rhs], constants, output, clamp };
        let result = compare::result(which, scheme.expect("a scheme"), &layer).expect("a result");
        assert_eq!(result, Some(number(&line, "observed")), "{line:?}");
    }
    // Five operators and layouts of scales, with both types.
    assert_eq!(seen.len(), 10, "{seen:?}");
    assert!(seen.values().all(|n| *n > 30), "{seen:?}");
}
