//! Matrix products and requantizations of shipped libraries, alone and with every result judged. `cargo xtask setup --with shipped` installs
//! the libraries.
//!
//! "Alone" sends jobs to a worker and reads the results. "Judged" also computes the contract's results and compares, while the worker runs the
//! next batch. Both include the costs of the protocol.

use crate::Measured;
use crate::gemm::right;
use crate::timing::{by_turns, median};
use comfy_table::{Table, TableStyle};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use tiebreak_impls::fpm::{Batch, Channel, Params as Channels};
use tiebreak_impls::matmul::Params as Product;
use tiebreak_impls::requantize::Params as Requantized;
use tiebreak_suites::engine::operation::{self, Kernel, Operation, contract, job, products};
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::lane::config::Lanes;
use tiebreak_suites::lane::runner::InFlight;
use tiebreak_suites::lane::{Input, Lane, Order};
use tiebreak_suites::matmul::Matmul;
use tiebreak_suites::operation::case::Case;
use tiebreak_suites::requantize::Requantize;
use tiebreak_suites::stream::{below, stream};
use tiebreak_suites::verify::OPERATIONS;
use tiebreak_worker::protocol::Offer;

const ROUNDS: usize = 3;
/// Number of batches in a measurement.
const BATCHES: usize = 6;
/// Upper bound on the ratio of judged to alone.
const MOST: f64 = 1.3;
/// Number of accumulators in a batch.
const LEN: usize = 1 << 15;
/// Accumulators that give every int8 value by [`CHANNEL`].
const ACCUMULATORS: RangeInclusive<i32> = -(1 << 17)..=1 << 17;
const CHANNEL: Channel = Channel { multiplier: 1_395_864_371, shift: -9 };
/// Network layer after im2col.
const LAYER: Product = Product { m: 289, n: 192, k: 432, lhs_offset: 0, rhs_offset: 0 };

pub(crate) fn run(file: &Path) -> Vec<Measured> {
    let lanes = match Lanes::read(file) {
        Ok(lanes) => lanes,
        Err(reason) => {
            println!("\nshipped libraries: not run: {reason:#}");
            return Vec::new();
        }
    };
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["lane", "kernel", "batch", "M/s alone", "M/s judged", "judged/alone"]);
    let mut all = Vec::new();
    for name in lanes.names() {
        match Lane::open(name, &lanes) {
            // Times under an emulator do not describe a processor.
            Ok(Ok(lane)) if lane.via().contains("qemu-") => {}
            Ok(Ok(lane)) => of_lane(&lane, &mut all, &mut table),
            Ok(Err(reason)) => println!("\n{name}: not run: {reason}"),
            Err(reason) => println!("\n{name}: not run: {reason}"),
        }
    }
    right(&mut table, 3);
    println!(
        "\nShipped libraries alone, and with every result judged: millions of results a second, of products for matmul"
    );
    println!("{table}");
    all
}

/// Measures the kernels of a lane that take the batch of their operation.
fn of_lane(lane: &Lane, all: &mut Vec<Measured>, table: &mut Table) {
    for offer in &lane.hello.kernels {
        // Another lane may have offered the same name.
        let adopted = OPERATIONS.iter().find(|op| op.op() == offer.op).map(|op| op.adopt(offer));
        if let Some(Err(reason)) = adopted {
            println!("\n{} {}: not run: {reason:#}", lane.name, offer.kernel);
            continue;
        }
        let measured = match offer.op.as_str() {
            "matmul" => measured::<Matmul>(lane, offer, |_| LAYER, Matmul::range),
            "requantize" => measured::<Requantize>(lane, offer, requantized, |_, _| ACCUMULATORS),
            "fpm" => measured::<FixedPointMultiply>(lane, offer, |_| batch(), |_, _| ACCUMULATORS),
            _ => continue,
        };
        match measured {
            Ok((measured, row)) => {
                table.add_row(row);
                all.push(measured);
            }
            Err(reason) => println!("\n{} {}: not run: {reason}", lane.name, offer.kernel),
        }
    }
}

fn batch() -> Batch {
    Batch { params: Channels { q: 31, channels: vec![CHANNEL] }, len: LEN }
}

fn requantized(domain: &tiebreak_impls::requantize::Domain) -> Requantized {
    let range = domain.output.range();
    let (min, max) = (*range.start(), *range.end());
    Requantized { len: LEN, channels: vec![CHANNEL], bias: vec![0], zero_point: 0, min, max }
}

/// Kernel with the batch that it runs.
struct Subject<'a, O: Operation> {
    lane: &'a Lane,
    kernel: &'static Kernel<O>,
    scheme: O::Scheme,
    case: Case<O::Params>,
    payload: Arc<Vec<i32>>,
    results: usize,
}

/// Measures the seconds of a kernel alone and judged; an error if the kernel does not take the batch.
fn measured<O: Operation>(
    lane: &Lane,
    offer: &Offer,
    params: impl Fn(&O::Domain) -> O::Params,
    values: impl Fn(&O::Domain, usize) -> RangeInclusive<i32>,
) -> Result<(Measured, [String; 6]), String> {
    let kernel = operation::find::<O>(&offer.kernel).ok_or("no such kernel")?;
    let domain = &kernel.contract.domain;
    let params = params(domain);
    let sizes = operation::sizes::<O>(domain, &params).map_err(|error| error.to_string())?;
    if !O::covers(domain, &params) {
        return Err("its domain is without the parameters of this measurement".to_owned());
    }
    let mut rng = stream(1, "bench/libraries");
    let tensors: [Vec<i32>; 3] = std::array::from_fn(|t| {
        let range = values(domain, t);
        let count = (range.end() - range.start() + 1) as u32;
        (0..sizes.inputs[t]).map(|_| range.start() + below(&mut rng, count) as i32).collect()
    });
    let case = Case { params, tensors: tensors.into(), misalign: 0 };
    let scheme = contract::<O>(kernel).map_err(|error| error.to_string())?;
    let (payload, results) = (Arc::new(case.payload()), sizes.outputs);
    let subject: Subject<'_, O> = Subject { lane, kernel, scheme, case, payload, results };
    // A failure is an error here; in a round it would be a panic.
    let wrong = subject.ask(true)?;
    let mut alone = || _ = subject.ask(false);
    let mut judged = || _ = subject.ask(true);
    let rounds = by_turns(ROUNDS, &mut [&mut alone, &mut judged]);
    let counted = products::<O>(&subject.case.params).max(results as u64) as f64 * BATCHES as f64 / 1e6;
    let rate = |run: usize| counted / median(rounds.iter().map(|round| round[run]));
    let ratio = median(rounds.iter().map(|round| round[1] / round[0]));
    let shape = match subject.case.tensors[1].len() {
        0 => format!("{results} accumulators"),
        _ => format!("{}x{}x{}", LAYER.m, LAYER.n, LAYER.k),
    };
    let row = [
        lane.name.clone(),
        offer.kernel.clone(),
        shape,
        format!("{:.0}", rate(0)),
        format!("{:.0}", rate(1)),
        format!("{ratio:.2}"),
    ];
    let measured = Measured {
        section: "libraries",
        what: format!("{} {}", lane.name, offer.kernel),
        numbers: vec![
            ("mega_alone_per_second", rate(0)),
            ("mega_judged_per_second", rate(1)),
            ("ratio", ratio),
            ("wrong_results", wrong as f64),
        ],
        wanted: Some((format!("judged/alone {ratio:.2}, at most {MOST}"), ratio <= MOST)),
    };
    Ok((measured, row))
}

impl<O: Operation> Subject<'_, O> {
    /// Runs every batch, two in flight. Returns the number of wrong results, if judged.
    fn ask(&self, judged: bool) -> Result<usize, String> {
        let job = job::<O>(self.kernel.name, &self.case.params);
        let input = Input::Values { len: self.results, values: &self.payload };
        let order = Order { job: &job, input, misalign: 0, products: products::<O>(&self.case.params) };
        let (mut ahead, mut left) = (InFlight::new(self.lane.lease(), 2), BATCHES);
        let (mut outs, mut wrong) = (Vec::new(), 0);
        while let Some(((), answered)) = ahead.next(
            |lease| {
                left = left.checked_sub(1)?;
                Some(((), lease.submit(&order)))
            },
            &mut outs,
        ) {
            answered.map_err(|failure| failure.to_string())?;
            if judged {
                let expected = O::expected(&self.scheme, &self.case).map_err(|error| error.to_string())?;
                wrong += expected.iter().zip(&outs).filter(|(e, out)| e.is_some_and(|e| e != **out)).count();
            }
        }
        Ok(wrong)
    }
}
