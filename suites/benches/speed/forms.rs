//! Time of the oracle's forms, in ns per case: big rationals, the step list in machine integers, the fast form, the stepper.

use crate::Measured;
use crate::timing::{by_turns, median};
use comfy_table::{CellAlignment, Table, TableStyle};
use std::hint::black_box;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::sweep::{Expected, Sweep};
use tiebreak_oracle::fpm::{Parameters, Scheme, integer};

const SCHEMES: [&str; 7] = [
    "ties-up:wrap",
    "ties-away:wrap",
    "ties-even:wrap",
    "gemmlowp-double:wrap",
    "sqrdmulh-srshl:wrap",
    "xnnpack-rndnu:wrap",
    "tosa-apply-scale-32-single",
];
/// Number of cases in a timing.
const CASES: usize = 1 << 14;
/// Factor by which big rationals get fewer cases.
const FEWER: usize = 64;
const ROUNDS: usize = 9;

pub(crate) fn run() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["scheme", "rational", "steps, i128", "fast", "stepped and compared"]);
    let p = Parameters::q31(1_395_864_371, -8);
    let all: Vec<Measured> = SCHEMES.iter().map(|name| measure(name, &p, &mut table)).collect();
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("\nForms of the oracle, ns per case on one core, m={} s={}", p.m, p.s);
    println!("{table}");
    all
}

fn measure(name: &str, p: &Parameters, table: &mut Table) -> Measured {
    let scheme = Scheme::parse(name).expect("a scheme");
    let steps: Vec<Step> = scheme.definition.steps.iter().map(|(_, step)| *step).collect();
    let xs: Vec<i64> = (0..CASES as i64).map(|i| i64::from((i as i32).wrapping_mul(0x9E37_79B1u32 as i32))).collect();
    let sweep = Sweep::new(scheme, *p);
    let stepper = match sweep.runs(1, CASES).next() {
        Some((_, _, Expected::Stepped(stepper))) => Some(stepper),
        _ => None,
    };
    let mut rational = || xs[..CASES / FEWER].iter().for_each(|x| _ = black_box(scheme.exact(*x, black_box(p))));
    let mut interpreted = || xs.iter().for_each(|x| _ = black_box(integer::run(&steps, *x, black_box(p))));
    let mut fast = || xs.iter().for_each(|x| _ = black_box(scheme.fast(*x, black_box(p))));
    let outs: Vec<i32> = stepper.iter().flat_map(|stepper| (0..CASES).map(|i| stepper.ahead(i))).collect();
    // The stepper uses the vectors of the baseline; a sweep uses the widest available ones.
    let mut stepped = || _ = stepper.map(|stepper| black_box(black_box(stepper).equals(black_box(&outs))));
    let rounds = by_turns(ROUNDS, &mut [&mut rational, &mut interpreted, &mut fast, &mut stepped]);
    let ns = |run: usize, cases: usize| median(rounds.iter().map(|r| r[run])) * 1e9 / cases as f64;
    let mut numbers =
        vec![("rational_ns", ns(0, CASES / FEWER)), ("steps_ns", ns(1, CASES)), ("fast_ns", ns(2, CASES))];
    if stepper.is_some() {
        numbers.push(("stepped_ns", ns(3, CASES)));
    }
    let mut row = vec![name.to_owned()];
    row.extend(numbers.iter().map(|(_, n)| format!("{n:.2}")));
    row.resize(5, "not stepped".to_owned());
    table.add_row(row);
    Measured { section: "forms", what: name.to_owned(), numbers, wanted: None }
}
