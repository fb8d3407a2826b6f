//! Products of unsigned bytes in blocks of other sizes than the 4 by 4 of [`super::driver`]: both operands are packed into panels, a micro-kernel
//! computes each block, and the four-term expansion adds the offsets.

use super::Params;
use super::driver::{Terms, expand};

/// `micro(a, b, c)`: `c[COLUMNS*i + j]` is the product of row i of `a` `[steps, ROWS, DEPTH]` and column j of `b` `[steps, COLUMNS, DEPTH]`.
pub(super) type Micro<const BLOCK: usize> = fn(&[u8], &[u8], &mut [i32; BLOCK]);

/// Packs both operands, runs each block, and adds the offsets by the four-term expansion. `BLOCK` is `ROWS * COLUMNS`.
pub(super) fn product<const ROWS: usize, const COLUMNS: usize, const DEPTH: usize, const BLOCK: usize>(
    micro: Micro<BLOCK>,
    params: &Params,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
) {
    let Params { m, n, k, .. } = *params;
    let a = panels::<ROWS, DEPTH>(m, k, |row, depth| lhs[row * k + depth]);
    let b = panels::<COLUMNS, DEPTH>(n, k, |column, depth| rhs[depth * n + column]);
    let total = |values: &mut dyn Iterator<Item = u8>| values.fold(0i32, |sum, v| sum.wrapping_add(v.into()));
    let lhs_sums: Vec<i32> = lhs.chunks_exact(k).map(|row| total(&mut row.iter().copied())).collect();
    let rhs_sums: Vec<i32> = (0..n).map(|j| total(&mut rhs.iter().skip(j).step_by(n).copied())).collect();
    let mut c = [0; BLOCK];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            micro(a, b, &mut c);
            for (row, c) in c.as_chunks::<COLUMNS>().0.iter().enumerate().take(m - i * ROWS) {
                for (column, product) in c.iter().enumerate().take(n - j * COLUMNS) {
                    let (row, column) = (i * ROWS + row, j * COLUMNS + column);
                    let terms = Terms { product: *product, lhs_sum: lhs_sums[row], rhs_sum: rhs_sums[column] };
                    out[row * n + column] = expand(params, terms);
                }
            }
        }
    }
}

/// Packs panels of `SIDE` rows or columns, `[depth/DEPTH, SIDE, DEPTH]` each, padded with 0.
fn panels<const SIDE: usize, const DEPTH: usize>(
    count: usize,
    depth: usize,
    element: impl Fn(usize, usize) -> u8,
) -> Vec<Vec<u8>> {
    let panel = |first: usize| {
        let mut out = vec![0; depth.next_multiple_of(DEPTH) * SIDE];
        for line in first..count.min(first + SIDE) {
            for at in 0..depth {
                out[at / DEPTH * (SIDE * DEPTH) + (line - first) * DEPTH + at % DEPTH] = element(line, at);
            }
        }
        out
    };
    (0..count).step_by(SIDE).map(panel).collect()
}
