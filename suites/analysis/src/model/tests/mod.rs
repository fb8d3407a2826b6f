pub(crate) mod build;
pub(crate) mod onnx;
pub(crate) mod samples;

use super::tflite::layers::same;
use super::{Fault, Layer, MAX_LAYERS, Op, parse, read};
use build::{Operator, model};
use proptest::prelude::*;
use samples::{add, conv, depthwise, fully_connected};
use tiebreak_impls::conv2d::Params;
use tiebreak_impls::element::Element;

fn valid() -> Vec<u8> {
    let mut depthwise = depthwise();
    depthwise.tensors[0].loose = true;
    model(&[add(), conv(), depthwise, fully_connected()])
}

/// Issue 30: keyword_spotting_alexa.tflite has int64 at odd multiples of 4, and LiteRT runs it.
#[test]
fn zero_points_at_an_odd_multiple_of_four_are_read() {
    let mut loose = [add(), conv(), depthwise(), fully_connected()];
    loose[1].tensors[..2].iter_mut().for_each(|tensor| tensor.loose = true);
    let bytes = model(&loose);
    let at = bytes.windows(8).position(|window| window == (-128i64).to_le_bytes()).expect("the input's zero point");
    assert_eq!(at % 8, 4);
    assert_eq!(parse(&bytes).expect("a valid model"), parse(&valid()).expect("a valid model"));
}

/// The model is also the seed of fuzzing, which without a seed never got past the first bytes.
#[test]
#[rustfmt::skip]
fn each_kind_of_layer_is_read() {
    let conv = Params {
        batches: 1, height: 8, width: 7, channels: 4, kernel_h: 3, kernel_w: 3, out_channels: 6, groups: 2,
        stride_h: 2, stride_w: 3, dilation_h: 1, dilation_w: 1, top: 0, bottom: 1, left: 1, right: 1,
        input_zero_point: -128, weight_zero_point: 0, ..Params::default()
    };
    let depthwise = Params {
        batches: 2, height: 9, width: 8, channels: 3, kernel_h: 2, kernel_w: 3, out_channels: 6, groups: 3,
        stride_h: 1, stride_w: 1, dilation_h: 3, dilation_w: 2, top: 0, bottom: 0, left: 0, right: 0,
        input_zero_point: 12, weight_zero_point: 131, ..Params::default()
    };
    let dense = Params {
        batches: 1, height: 1, width: 10, channels: 4, kernel_h: 1, kernel_w: 1, out_channels: 7, groups: 1,
        stride_h: 1, stride_w: 1, dilation_h: 1, dilation_w: 1, top: 0, bottom: 0, left: 0, right: 0,
        input_zero_point: -1, weight_zero_point: 0, ..Params::default()
    };
    let (i8, u8) = (Element::I8, Element::U8);
    let want = [
        Layer { name: "model/conv".into(), op: Op::Conv2d, input: i8, weights: i8, params: conv },
        Layer { name: "Model.subgraphs[0].operators[2]".into(), op: Op::DepthwiseConv2d, input: u8, weights: u8, params: depthwise },
        Layer { name: "dense".into(), op: Op::FullyConnected, input: i8, weights: i8, params: dense },
    ];
    assert_eq!(parse(&valid()).expect("a valid model"), want);
}

#[test]
fn files_are_read_and_faults_name_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("m.tflite");
    std::fs::write(&path, valid()).expect("written");
    assert_eq!(read(&path).expect("a valid model").len(), 3);
    std::fs::write(&path, b"not a model").expect("written");
    let described = read(&path).expect_err("no model").to_string();
    assert_eq!(
        described,
        format!("{}: is no TFLite model: bytes 4 to 7 are not `TFL3`; give a .tflite file", path.display())
    );
    let described = read(directory.path()).expect_err("a directory").to_string();
    assert!(described.contains("cannot read"), "{described}");
}

/// Returns the fault of a model of one operator after a change.
fn fault(mut operator: Operator, change: impl FnOnce(&mut Operator)) -> String {
    change(&mut operator);
    parse(&model(&[operator])).expect_err("a fault").to_string()
}

#[test]
fn contradictions_are_faults_that_say_where() {
    let place = "Model.subgraphs[0].";
    let described = |operator, part: &str, change: fn(&mut Operator)| {
        let described = fault(operator, change);
        assert!(described.starts_with(place) && described.contains(part), "`{described}` should say `{part}`");
    };
    described(conv(), "tensors[2], at byte", |o| o.tensors[2].shape[1] = 5);
    described(conv(), "a shape of [1, 5, 3, 6] for a result of [1, 4, 3, 6]", |o| o.tensors[2].shape[1] = 5);
    described(conv(), "a filter of [5, 3, 3, 2] for an input of 4 channels", |o| o.tensors[1].shape[0] = 5);
    described(conv(), "a dimension is -1; convert the model", |o| o.tensors[0].shape[1] = -1);
    described(conv(), "there must be four dimensions", |o| o.tensors[0].shape.truncate(3));
    described(conv(), "at most 8 can be used", |o| o.tensors[0].shape = vec![1; 9]);
    described(conv(), "its type is FLOAT32, not", |o| o.tensors[0].kind = 0);
    described(conv(), "its type is BFLOAT16, not", |o| o.tensors[1].kind = 18);
    described(conv(), "its type is TensorType 100, not", |o| o.tensors[1].kind = 100);
    described(conv(), "no zero point", |o| o.tensors[0].zero_points.clear());
    described(conv(), "quantization.zero_point, at byte", |o| o.tensors[0].zero_points[0] = 128);
    described(conv(), "128 is no i8", |o| o.tensors[0].zero_points[0] = 128);
    described(conv(), "channels of different zero points", |o| o.tensors[1].zero_points[5] = 1);
    described(conv(), "no Conv2DOptions: its options are of type 0, not 1", |o| o.options = None);
    described(conv(), "padding is 2", |o| o.options.as_mut().expect("options").bytes[0].1 = 2);
    described(conv(), "stride_w is 0", |o| o.options.as_mut().expect("options").ints[0].1 = 0);
    described(depthwise(), "a filter of [2, 2, 3, 6]", |o| o.tensors[1].shape[0] = 2);
    described(depthwise(), "dilation_h_factor is -3", |o| o.options.as_mut().expect("options").ints[4].1 = -3);
    described(depthwise(), "dilation_h: 2 filter elements 9 apart", |o| {
        o.options.as_mut().expect("options").ints[4].1 = 9
    });
    described(fully_connected(), "does not fall into rows of 3", |o| o.tensors[1].shape[1] = 3);
    described(fully_connected(), "weights are shuffled", |o| o.options.as_mut().expect("options").bytes.push((1, 1)));
}

#[test]
fn sizes_of_all_int32_do_not_overflow() {
    let described = fault(conv(), |o| {
        o.tensors.iter_mut().for_each(|t| t.shape = vec![i32::MAX; 4]);
        o.options.as_mut().expect("options").ints = vec![(1, i32::MAX), (2, 1), (4, i32::MAX), (5, i32::MAX)];
    });
    assert!(described.contains("for a result of"), "{described}");
    let described = fault(fully_connected(), |o| o.tensors[0].shape = vec![i32::MAX; 8]);
    assert!(described.contains("does not fall into rows"), "{described}");
}

#[test]
fn names_are_cut_and_printable() {
    let mut operator = conv();
    operator.tensors[2].name = Box::leak(format!("\u{1b}[2J{}", "ä".repeat(999)).into_boxed_str());
    let name = &parse(&model(&[operator])).expect("a valid model")[0].name;
    assert!(name.starts_with("?[2Jä") && name.chars().count() < 256, "{name}");
}

#[test]
fn layers_are_bounded() {
    let most = model(&vec![fully_connected(); MAX_LAYERS]);
    assert_eq!(parse(&most).expect("as many as there may be").len(), MAX_LAYERS);
    let described = parse(&model(&vec![fully_connected(); MAX_LAYERS + 1])).expect_err("one too many").to_string();
    assert!(described.contains("more than 4096 layers"), "{described}");
}

/// Parses bytes, and checks that the layers are usable.
fn holds(bytes: &[u8]) -> Result<(), Fault> {
    for layer in parse(bytes)? {
        layer.params.output().expect("a layer has an output");
        assert!(layer.input.range().contains(&layer.params.input_zero_point));
    }
    Ok(())
}

#[test]
fn every_shortened_file_is_a_fault() {
    // The builder writes back to front, so the file ends with the first object built: a shape that the reader uses.
    let valid = model(&[conv(), depthwise(), fully_connected()]);
    for length in 0..valid.len() {
        holds(&valid[..length]).expect_err("a part of the model");
    }
}

#[test]
fn no_byte_changed_anywhere_makes_a_panic() {
    let mut bytes = valid();
    for at in 0..bytes.len() {
        let byte = bytes[at];
        for value in [0, 1, 2, 3, 4, 8, 0x7F, 0x80, 0xF0, 0xFF, byte ^ 1, byte ^ 0x10, byte.wrapping_add(4)] {
            bytes[at] = value;
            // Either result is correct; only a panic is an error.
            let _ = holds(&bytes);
        }
        bytes[at] = byte;
    }
}

proptest! {
    #[test]
    fn no_bytes_changed_together_make_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), 1usize..=4), 1..12),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut bytes = valid();
        for (at, value, width) in changes {
            let at = at.index(bytes.len() - width);
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        let length = if cuts { cut.index(bytes.len()) } else { bytes.len() };
        let _ = holds(&bytes[..length]);
    }

    #[test]
    fn no_random_bytes_make_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), small in any::<bool>()) {
        if small {
            // Offsets that stay within the file.
            bytes.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0);
        }
        if let Some(head) = bytes.get_mut(..8) {
            head[1..4].fill(0);
            head[4..].copy_from_slice(b"TFL3");
        }
        let _ = holds(&bytes);
    }

    #[test]
    fn same_padding_is_the_least_that_gives_every_stride_an_output(
        size in 1usize..40, kernel in 1usize..9, stride in 1usize..6, dilation in 1usize..5,
    ) {
        let [before, after] = same(size, kernel, stride, dilation);
        let outputs = |padded: usize| padded.checked_sub((kernel - 1) * dilation + 1).map_or(0, |room| room / stride + 1);
        let wanted = (0..size).step_by(stride).count();
        let padded = size + before + after;
        // A filter shorter than its stride can leave elements unread, and the number of outputs is never higher than requested.
        prop_assert!(outputs(padded) == wanted, "{} outputs, not {}", outputs(padded), wanted);
        prop_assert!(padded == size || outputs(padded - 1) < wanted, "one less would do");
        prop_assert!(after == before || after == before + 1);
    }
}
