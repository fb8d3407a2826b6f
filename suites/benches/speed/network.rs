//! Convolutions of inception_v3 on the host, and the share of their requantization: the performance sections of the two RFCs of these
//! kernels. Also the elements per second of every form of fixed point multiply.

use crate::Measured;
use crate::gemm::right;
use crate::timing::{by_turns, median};
use comfy_table::{Table, TableStyle};
use std::hint::black_box;
use std::time::Instant;
use tiebreak_impls::Form;
use tiebreak_impls::conv2d::{self, Params};
use tiebreak_impls::fpm;
use tiebreak_impls::requantize;
use tiebreak_suites::stream::{int32, stream};

const TEXT: &str = include_str!("inception_v3.csv");

/// Seconds after which a kernel runs no more shapes.
const PATIENCE: f64 = 5.0;

/// Line of the table.
#[derive(serde::Deserialize)]
struct Row {
    height: usize,
    width: usize,
    channels: usize,
    kernel_h: usize,
    kernel_w: usize,
    out_channels: usize,
    stride: usize,
    padding: String,
    count: usize,
}

impl Row {
    /// SAME in this network always has a stride of 1: half the filter on each side, with the odd element after.
    fn params(&self) -> Params {
        let same = |kernel: usize| if self.padding == "SAME" { ((kernel - 1) / 2, kernel / 2) } else { (0, 0) };
        let ((top, bottom), (left, right)) = (same(self.kernel_h), same(self.kernel_w));
        Params {
            height: self.height,
            width: self.width,
            channels: self.channels,
            kernel_h: self.kernel_h,
            kernel_w: self.kernel_w,
            out_channels: self.out_channels,
            stride_h: self.stride,
            stride_w: self.stride,
            top,
            bottom,
            left,
            right,
            ..Params::default()
        }
    }
}

fn layers() -> Vec<(Params, usize)> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(TEXT.as_bytes());
    reader
        .deserialize()
        .map(|row: Result<Row, _>| row.expect("a line of the table"))
        .map(|r| (r.params(), r.count))
        .collect()
}

fn macs(p: &Params) -> f64 {
    let (rows, columns) = p.output().expect("a layer");
    (p.batches * rows * columns * p.out_channels * p.kernel_h * p.kernel_w * p.channels) as f64
}

pub(crate) fn run() -> Vec<Measured> {
    let mut all = elements();
    all.extend(network());
    all
}

fn elements() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["kernel", "ISA path", "M elements/s"]);
    let mut rng = stream(1, "bench/elements");
    let x: Vec<i32> = (0..1 << 14).map(|_| int32(&mut rng)).collect();
    let mut out = vec![0; x.len()];
    let mut all = Vec::new();
    for kernel in fpm::kernels() {
        let (m, s) = (1_395_864_384, -8);
        if !kernel.contract.domain.contains(m, s, 31) {
            continue;
        }
        let params = fpm::Params::single(m, s);
        let run = kernel.run(Form::Native);
        let mut once = || (0..16).for_each(|_| run(&params, black_box(&x), black_box(&mut out)));
        let rounds = by_turns(7, &mut [&mut once]);
        let rate = 16.0 * x.len() as f64 / 1e6 / median(rounds.iter().map(|r| r[0]));
        let path = kernel.isa_path(Form::Native);
        table.add_row([kernel.name.to_owned(), path.clone(), format!("{rate:.0}")]);
        let what = format!("{} {path}", kernel.name);
        all.push(Measured {
            section: "network",
            what,
            numbers: vec![("mega_elements_per_second", rate)],
            wanted: None,
        });
    }
    right(&mut table, 2);
    println!("\nFixed point multiply on the host, one core, m=1395864384 s=-8");
    println!("{table}");
    all
}

fn network() -> Vec<Measured> {
    let layers = layers();
    let whole: f64 = layers.iter().map(|(p, count)| macs(p) * *count as f64).sum();
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["convolution", "ISA path", "seconds", "M MAC/s", "requantize", "share of both"]);
    let mut all = Vec::new();
    for kernel in conv2d::kernels() {
        let (seconds, outputs) = time(kernel, &layers);
        let name = "tvm-requantize-i8";
        let Some(requantize) = requantize::find(name) else { continue };
        let scaled = requantized(requantize, outputs);
        let share = scaled / (seconds + scaled);
        let path = kernel.isa_path(Form::Native);
        table.add_row([
            kernel.name.to_owned(),
            path.clone(),
            format!("{seconds:.2}"),
            format!("{:.0}", whole / 1e6 / seconds),
            format!("{name} {scaled:.3} s"),
            format!("{:.1} %", share * 100.0),
        ]);
        let numbers = vec![("seconds", seconds), ("requantize_seconds", scaled), ("requantize_share", share)];
        all.push(Measured { section: "network", what: format!("{} {path}", kernel.name), numbers, wanted: None });
    }
    right(&mut table, 2);
    println!(
        "\nThe 94 convolutions of inception_v3 ({whole:.0} multiply-accumulates) on the host, one core, and their requantization"
    );
    println!(
        "Each shape runs once and counts as often as the network has it; after {PATIENCE} s the shapes done stand for the rest."
    );
    println!("{table}");
    all
}

/// Measures the seconds of the whole network, and counts its results. A slow kernel is stopped, and its time is extrapolated.
fn time(kernel: &conv2d::Kernel, layers: &[(Params, usize)]) -> (f64, usize) {
    let domain = &kernel.contract.domain.operands;
    let run = kernel.run(Form::Native);
    let (mut spent, mut seconds, mut done, mut all, mut outputs) = (0.0, 0.0, 0.0, 0.0, 0);
    for (params, count) in layers {
        let sizes = params.sizes().expect("a layer");
        outputs += sizes.outputs * count;
        let products = macs(params) * *count as f64;
        all += products;
        if spent > PATIENCE {
            continue;
        }
        let input = vec![1u8; sizes.inputs[0] * domain.lhs.bytes()];
        let weights = vec![1u8; sizes.inputs[1] * domain.rhs.bytes()];
        let mut out = vec![0; sizes.outputs];
        let params = Params { input_zero_point: (*domain.lhs_values.start()).max(0), ..*params };
        let begun = Instant::now();
        run(&params, black_box(&input), black_box(&weights), black_box(&mut out));
        let took = begun.elapsed().as_secs_f64();
        spent += took;
        seconds += took * *count as f64;
        done += products;
    }
    (seconds * all / done, outputs)
}

/// Measures the seconds to requantize a number of accumulators.
fn requantized(kernel: &requantize::Kernel, outputs: usize) -> f64 {
    let len = 1 << 18;
    let params = requantize::Params {
        len,
        channels: vec![fpm::Channel { multiplier: 1_395_864_371, shift: -8 }],
        bias: vec![0],
        zero_point: -3,
        min: -128,
        max: 127,
    };
    let mut rng = stream(1, "bench/requantize");
    let acc: Vec<i32> = (0..len).map(|_| int32(&mut rng) >> 12).collect();
    let mut out = vec![0; len];
    let run = kernel.run(Form::Native);
    let mut once = || run(&params, black_box(&acc), black_box(&mut out));
    let rounds = by_turns(5, &mut [&mut once]);
    median(rounds.iter().map(|r| r[0])) * outputs as f64 / len as f64
}
