//! Matrix products: the cost of judging compared with a naive triple loop over the same shape, and MAC/s of every kernel on the host.

use crate::Measured;
use crate::timing::{by_turns, median};
use comfy_table::{CellAlignment, Table, TableStyle};
use std::hint::black_box;
use tiebreak_impls::Form;
use tiebreak_impls::element::Element;
use tiebreak_impls::matmul::{Kernel, Params, kernels};
use tiebreak_oracle::matmul::{Product, Scheme};
use tiebreak_suites::stream::{int32, stream};

/// Shapes: square, a network layer after im2col, a row, odd in every dimension.
const SHAPES: [[usize; 3]; 4] = [[128, 128, 128], [289, 192, 432], [1, 512, 512], [37, 53, 301]];
/// Shape whose MAC/s are reported.
const LAYER: [usize; 3] = SHAPES[1];
const ROUNDS: usize = 7;
/// Upper bound on the ratio of judging to the naive loop.
const MOST: f64 = 1.5;

/// Operands of a product, in int32 and as the kernel reads them.
struct Operands {
    params: Params,
    lhs: Vec<i32>,
    rhs: Vec<i32>,
}

impl Operands {
    fn new([m, n, k]: [usize; 3], lhs: Element, rhs: Element) -> Self {
        let mut rng = stream(1, "bench/gemm");
        let mut values = |len: usize, element: Element| -> Vec<i32> {
            let lowest = *element.range().start();
            (0..len).map(|_| lowest + (int32(&mut rng) & 0xFF)).collect()
        };
        let (lhs, rhs) = (values(m * k, lhs), values(k * n, rhs));
        Self { params: Params { m, n, k, lhs_offset: -3, rhs_offset: 5 }, lhs, rhs }
    }

    fn packed(values: &[i32], element: Element) -> Vec<u8> {
        let mut out = vec![0; values.len() * element.bytes()];
        element.pack(values, &mut out);
        out
    }

    fn naive(&self, out: &mut [i32]) {
        let Params { m, n, k, lhs_offset, rhs_offset } = self.params;
        for i in 0..m {
            for j in 0..n {
                let mut sum = 0i32;
                for d in 0..k {
                    let (l, r) = (self.lhs[i * k + d] + lhs_offset, self.rhs[d * n + j] + rhs_offset);
                    sum = sum.wrapping_add(l.wrapping_mul(r));
                }
                out[i * n + j] = sum;
            }
        }
    }

    /// Naive product with a loop order that compilers optimise well: the inner loop goes along rows of rhs.
    fn by_rows(&self, out: &mut [i32]) {
        let Params { n, k, lhs_offset, rhs_offset, .. } = self.params;
        out.fill(0);
        for (row, out) in self.lhs.chunks(k).zip(out.chunks_mut(n)) {
            for (l, rhs) in row.iter().zip(self.rhs.chunks(n)) {
                let l = l + lhs_offset;
                out.iter_mut().zip(rhs).for_each(|(sum, r)| *sum = sum.wrapping_add(l.wrapping_mul(r + rhs_offset)));
            }
        }
    }

    /// Computes the scheme's results and counts the differences, as a judge does.
    fn judged(&self, scheme: &Scheme, outs: &[i32]) -> usize {
        let Params { m, n, k, lhs_offset, rhs_offset } = self.params;
        let product = Product { m, n, k, lhs_offset, rhs_offset };
        let expected = scheme.expected(&product, &self.lhs, &self.rhs).expect("a shape that can be");
        expected.iter().zip(outs).filter(|(e, out)| e.is_some_and(|e| e != **out)).count()
    }

    fn macs(&self) -> f64 {
        (self.params.m * self.params.n * self.params.k) as f64
    }
}

pub(crate) fn run() -> Vec<Measured> {
    let mut all = judging();
    all.extend(rates());
    all
}

fn judging() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["scheme", "M N K", "naive ns/MAC", "by rows", "judged ns/MAC", "judged/naive", "judged/by rows"]);
    let mut all = Vec::new();
    let schemes = ["exact:wrap", "exact", "pairs-u16-wrap:wrap", "pairs-s16-saturate:wrap", "quads-32-saturate:wrap"];
    for name in schemes {
        let scheme = Scheme::parse(name).expect("a scheme");
        for shape in SHAPES {
            let operands =
                Operands::new(shape, Element::U8, if name.contains("u16") { Element::U8 } else { Element::I8 });
            let mut outs = vec![0; shape[0] * shape[1]];
            operands.naive(&mut outs);
            let mut scratch = outs.clone();
            let mut naive = || operands.naive(black_box(&mut scratch));
            let mut other = outs.clone();
            let mut by_rows = || operands.by_rows(black_box(&mut other));
            let mut judged = || _ = black_box(operands.judged(&scheme, black_box(&outs)));
            let rounds = by_turns(ROUNDS, &mut [&mut naive, &mut judged, &mut by_rows]);
            let ns = |run: usize| median(rounds.iter().map(|r| r[run])) * 1e9 / operands.macs();
            let ratio = median(rounds.iter().map(|r| r[1] / r[0]));
            let ratio_by_rows = median(rounds.iter().map(|r| r[1] / r[2]));
            let [m, n, k] = shape;
            let (naive, judged, by_rows) = (ns(0), ns(1), ns(2));
            table.add_row([
                name.to_owned(),
                format!("{m} {n} {k}"),
                format!("{naive:.3}"),
                format!("{by_rows:.3}"),
                format!("{judged:.3}"),
                format!("{ratio:.2}"),
                format!("{ratio_by_rows:.2}"),
            ]);
            // Other schemes model the narrow lanes of their kernels, which the naive loop does not.
            let wanted =
                name.starts_with("exact").then(|| (format!("judged/naive {ratio:.2}, at most {MOST}"), ratio <= MOST));
            all.push(Measured {
                section: "gemm",
                what: format!("judge {name} {m}x{n}x{k}"),
                numbers: vec![
                    ("naive_ns_per_mac", naive),
                    ("by_rows_ns_per_mac", by_rows),
                    ("judged_ns_per_mac", judged),
                    ("ratio", ratio),
                    ("ratio_by_rows", ratio_by_rows),
                ],
                wanted,
            });
        }
    }
    right(&mut table, 2);
    println!(
        "\nJudging a matrix product beside a naive i32 triple loop over the same shape, and one that walks rhs by rows"
    );
    println!("{table}");
    all
}

/// Measures every kernel by turns with the naive loop on its operands.
pub(crate) fn rates() -> Vec<Measured> {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["kernel", "ISA path", "M MAC/s", "times the naive loop"]);
    let all = kernels().iter().map(|kernel| rate(kernel, &mut table)).collect();
    right(&mut table, 2);
    let [m, n, k] = LAYER;
    println!("\nMatrix products on the host, M={m} N={n} K={k}, one core, packing included");
    println!("{table}");
    all
}

fn rate(kernel: &Kernel, table: &mut Table) -> Measured {
    let domain = &kernel.contract.domain;
    let operands = Operands::new(LAYER, domain.lhs, domain.rhs);
    let (lhs, rhs) = (Operands::packed(&operands.lhs, domain.lhs), Operands::packed(&operands.rhs, domain.rhs));
    let mut out = vec![0; LAYER[0] * LAYER[1]];
    let mut other = out.clone();
    let run = kernel.run(Form::Native);
    let mut once = || run(&operands.params, black_box(&lhs), black_box(&rhs), black_box(&mut out));
    let mut naive = || operands.naive(black_box(&mut other));
    let rounds = by_turns(3, &mut [&mut once, &mut naive]);
    let rate = operands.macs() / 1e6 / median(rounds.iter().map(|r| r[0]));
    let ratio = median(rounds.iter().map(|r| r[1] / r[0]));
    let path = kernel.isa_path(Form::Native);
    table.add_row([kernel.name.to_owned(), path, format!("{rate:.0}"), format!("{ratio:.2}")]);
    Measured {
        section: "gemm",
        what: format!("{} {}", kernel.name, kernel.isa_path(Form::Native)),
        numbers: vec![("mega_macs_per_second", rate), ("times_naive", ratio)],
        wanted: None,
    }
}

/// Aligns columns of numbers to the right.
pub(crate) fn right(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
