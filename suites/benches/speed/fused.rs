//! Convolutions with their requantization in one kernel, compared with separate kernels: the gain of fusion, and the share of the requantization. The
//! RFC on fixed point multiplication asks for the gain; it reports 3 % for a fused and 1.5 % for an unfused network.

use crate::Measured;
use crate::gemm::right;
use crate::timing::{by_turns, median};
use comfy_table::{Table, TableStyle};
use std::hint::black_box;
use tiebreak_impls::Form;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::{conv2d, qconv2d, requantize};
use tiebreak_suites::stream::{int32, stream};

/// Fused kernel, convolution and requantization of one system, with the same loops and the same multiplication.
const SYSTEMS: [[&str; 3]; 5] = [
    ["tflite-conv-i8", "tflite-reference", "tflite-requantize-i8"],
    ["tflite-conv-single-i8", "tflite-reference", "tflite-requantize-single-i8"],
    ["tflite-conv-u8", "tflite-reference-u8", "tflite-requantize-u8"],
    ["tvm-qnn-conv2d-neon-i8", "arm-smlal-int16", "tvm-requantize-neon-i8"],
    ["tvm-conv2d-gemm-i8", "arm-sadalp", "tvm-requantize-i8"],
];

/// A 3 by 3 layer, a pointwise layer, and a layer of few products for each result: height and width, channels, filter, output channels.
const LAYERS: [[usize; 4]; 3] = [[17, 64, 3, 64], [28, 64, 1, 64], [56, 4, 1, 64]];
const ROUNDS: usize = 5;

pub(crate) fn run() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["fused", "apart", "layer", "M MAC/s fused", "apart/fused", "requantize, share of apart"]);
    let mut all = Vec::new();
    for system in SYSTEMS {
        for layer in LAYERS {
            match measured(system, layer, &mut table) {
                Ok(measured) => all.push(measured),
                Err(missing) => println!("fused: not run: {missing}"),
            }
        }
    }
    right(&mut table, 3);
    println!("\nConvolution with requantization in one kernel, and the same run apart, on the host, one core");
    println!("{table}");
    all
}

fn measured(
    names: [&str; 3],
    [side, channels, filter, outputs]: [usize; 4],
    table: &mut Table,
) -> Result<Measured, String> {
    let [fused, convolution, requantization] = names;
    let missing = |name: &str| format!("there is no kernel {name}");
    let fused = qconv2d::find(fused).ok_or_else(|| missing(fused))?;
    let convolution = conv2d::find(convolution).ok_or_else(|| missing(convolution))?;
    let requantization = requantize::find(requantization).ok_or_else(|| missing(requantization))?;
    let shape = conv2d::Params {
        height: side,
        width: side,
        channels,
        kernel_h: filter,
        kernel_w: filter,
        out_channels: outputs,
        ..conv2d::Params::default()
    };
    let sizes = shape.sizes().map_err(|e| e.to_string())?;
    let mut rng = stream(1, "bench/fused");
    let mut bytes = |len: usize| -> Vec<u8> { (0..len).map(|_| int32(&mut rng) as u8).collect() };
    let (image, weights) = (bytes(sizes.inputs[0]), bytes(sizes.inputs[1]));
    let domain = &fused.contract.domain.requantize;
    let range = domain.output.range();
    let count = if domain.channels.per_channel { outputs } else { 1 };
    let params = qconv2d::Params {
        shape,
        channels: vec![Channel { multiplier: 1_395_864_371, shift: -8 }; count],
        bias: vec![100; outputs],
        bias64: Vec::new(),
        zero_point: (range.start() + range.end()) / 2,
        min: *range.start(),
        max: *range.end(),
    };
    // A kernel of one channel takes one bias, which applies to all outputs here.
    let scaled = match domain.channels.per_channel {
        true => params.requantize(sizes.outputs),
        false => requantize::Params {
            channels: params.channels.clone(),
            bias: vec![100],
            ..params.requantize(sizes.outputs)
        },
    };
    let (mut out, mut sums, mut results) = (vec![0; sizes.outputs], vec![0; sizes.outputs], vec![0; sizes.outputs]);
    let [one, first] = [fused.run(Form::Native), fused.run(Form::Native)];
    let (convolve, requantize) = (convolution.run(Form::Native), requantization.run(Form::Native));
    first(&params, &image, &weights, &mut out);
    convolve(&shape, &image, &weights, &mut sums);
    let accumulators = sums.clone();
    let mut together = || one(&params, black_box(&image), black_box(&weights), black_box(&mut out));
    let mut products = || convolve(&shape, black_box(&image), black_box(&weights), black_box(&mut sums));
    let mut rounding = || requantize(&scaled, black_box(&accumulators), black_box(&mut results));
    let rounds = by_turns(ROUNDS, &mut [&mut together, &mut products, &mut rounding]);
    let seconds = median(rounds.iter().map(|r| r[0]));
    let ratio = median(rounds.iter().map(|r| (r[1] + r[2]) / r[0]));
    let share = median(rounds.iter().map(|r| r[2] / (r[1] + r[2])));
    let rate = (sizes.outputs * filter * filter * channels) as f64 / 1e6 / seconds;
    let layer = format!("{side}x{side}x{channels}, {filter}x{filter}, {outputs}");
    table.add_row([
        fused.name.to_owned(),
        format!("{} + {}", convolution.name, requantization.name),
        layer.clone(),
        format!("{rate:.0}"),
        format!("{ratio:.2}"),
        format!("{:.1} %", 100.0 * share),
    ]);
    Ok(Measured {
        section: "fused",
        what: format!("{} {layer}", fused.name),
        numbers: vec![("mega_macs_per_second", rate), ("apart_by_fused", ratio), ("requantize_share", share)],
        wanted: None,
    })
}
