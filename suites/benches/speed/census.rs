//! Censuses in closed form over all 2^32 accumulators, for single parameters and for neighbours of a space, compared with a partial sweep.

use crate::Measured;
use crate::timing::{by_turns, median};
use comfy_table::{CellAlignment, Table, TableStyle};
use std::hint::black_box;
use tiebreak_oracle::census::{Census, Counter, Neighbours};
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
/// Shifts of the multipliers in turn, as in real models.
const SHIFTS: i32 = 16;
/// Number of normalised multipliers in a timing.
const CENSUSES: usize = 1 << 12;
/// First of the neighbours.
const FIRST: i32 = 1_395_864_371;
/// Number of accumulators in the sweep.
const SWEPT: i64 = 1 << 16;
const ROUNDS: usize = 9;
/// Required censuses in a second, for the first pair.
const WANTED: f64 = 1e6;

pub(crate) fn run() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["left", "right", "ns a census", "censuses/s", "times a sweep", "neighbours/s", "times alone"]);
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
    let (mut counter, mut neighbours) = (Counter::default(), Neighbours::default());
    let mut closed = || all.iter().for_each(|census| _ = black_box(counter.counts(black_box(census))));
    let mut swept = || _ = black_box(black_box(&all[8]).sweep(0..=SWEPT - 1));
    // Both timings have the same number of pairs and the same shifts; here the multipliers of each shift are consecutive.
    let each = CENSUSES as i64 / i64::from(SHIFTS);
    let mut together = || {
        for shift in 0..SHIFTS {
            let census = Census::of(scheme(left), scheme(right), Parameters::q31(FIRST, -shift));
            let ms = i64::from(FIRST)..=i64::from(FIRST) + each - 1;
            let folded = neighbours.counts(black_box(&census), ms, &mut |_, counts| _ = black_box(counts));
            assert_eq!(folded, Ok(()));
        }
    };
    let rounds = by_turns(ROUNDS, &mut [&mut closed, &mut swept, &mut together]);
    let seconds = median(rounds.iter().map(|r| r[0])) / CENSUSES as f64;
    let sweep = median(rounds.iter().map(|r| r[1])) * (1u64 << 32) as f64 / SWEPT as f64;
    let (rate, ratio) = (1.0 / seconds, sweep / seconds);
    let shared = median(rounds.iter().map(|r| r[2])) / CENSUSES as f64;
    table.add_row([
        left.to_owned(),
        right.to_owned(),
        format!("{:.0}", seconds * 1e9),
        format!("{rate:.0}"),
        format!("{ratio:.1e}"),
        format!("{:.0}", 1.0 / shared),
        format!("{:.1}", seconds / shared),
    ]);
    let words = |rate: f64| format!("{:.2} million censuses a second, at least 1 wanted", rate / 1e6);
    let wanted = first.then(|| (format!("{}; neighbours {:.2}", words(rate), 1e-6 / shared), rate >= WANTED));
    let numbers = vec![
        ("census_ns", seconds * 1e9),
        ("per_second", rate),
        ("times_a_sweep", ratio),
        ("neighbour_ns", shared * 1e9),
        ("neighbour_times_a_sweep", sweep / shared),
    ];
    Measured { section: "census", what: format!("census {left} {right}"), numbers, wanted }
}
