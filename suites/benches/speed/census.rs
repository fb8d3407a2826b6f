//! Censuses in closed form over all 2^32 accumulators, beside a sweep of a few of them.

use crate::Measured;
use crate::timing::{by_turns, median};
use comfy_table::{CellAlignment, Table, TableStyle};
use std::hint::black_box;
use tiebreak_oracle::census::{Census, Counter};
use tiebreak_oracle::fpm::{Parameters, Scheme};

const PAIRS: [(&str, &str); 7] = [
    ("ties-up", "sqrdmulh-srshl"),
    ("ties-up", "sqrdmulh-fixup-srshl"),
    ("ties-up", "gemmlowp-double"),
    ("ties-up", "ties-away"),
    ("ties-up", "ties-even"),
    ("ties-up", "tosa-apply-scale-32-double"),
    ("ties-up", "tflite-int16-multiplier"),
];
/// Shifts of the multipliers in turn: those of real models.
const SHIFTS: i32 = 16;
/// Normalised multipliers of one timing.
const CENSUSES: usize = 1 << 12;
/// Accumulators that are swept.
const SWEPT: i64 = 1 << 16;
const ROUNDS: usize = 9;
/// Censuses a second of the first pair.
const WANTED: f64 = 1e6;

pub(crate) fn run() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["left", "right", "ns a census", "censuses/s", "times a sweep"]);
    let all: Vec<Measured> =
        PAIRS.iter().enumerate().map(|(i, (left, right))| measure(left, right, i == 0, &mut table)).collect();
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "\nCensuses of two schemes over all accumulators, one core, normalised multipliers, shifts {}..=0",
        1 - SHIFTS
    );
    println!("{table}");
    all
}

fn measure(left: &str, right: &str, first: bool, table: &mut Table) -> Measured {
    let scheme = |name| Scheme::parse(name).expect("a scheme");
    let census = |i: usize| {
        let m = (1 << 30) | ((i as u32).wrapping_mul(0x9E37_79B1) >> 2) as i32;
        Census::of(scheme(left), scheme(right), Parameters::q31(m, -(i as i32 % SHIFTS)))
    };
    let all: Vec<Census> = (0..CENSUSES).map(census).collect();
    let mut counter = Counter::default();
    let mut closed = || all.iter().for_each(|census| _ = black_box(counter.counts(black_box(census))));
    let mut swept = || _ = black_box(black_box(&all[8]).sweep(0..=SWEPT - 1));
    let rounds = by_turns(ROUNDS, &mut [&mut closed, &mut swept]);
    let seconds = median(rounds.iter().map(|r| r[0])) / CENSUSES as f64;
    let sweep = median(rounds.iter().map(|r| r[1])) * (1u64 << 32) as f64 / SWEPT as f64;
    let (rate, ratio) = (1.0 / seconds, sweep / seconds);
    table.add_row([
        left.to_owned(),
        right.to_owned(),
        format!("{:.0}", seconds * 1e9),
        format!("{rate:.0}"),
        format!("{ratio:.1e}"),
    ]);
    let wanted =
        first.then(|| (format!("{:.2} million censuses a second, at least 1 wanted", rate / 1e6), rate >= WANTED));
    let numbers = vec![("census_ns", seconds * 1e9), ("per_second", rate), ("times_a_sweep", ratio)];
    Measured { section: "census", what: format!("census {left} {right}"), numbers, wanted }
}
