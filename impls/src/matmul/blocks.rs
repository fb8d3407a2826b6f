//! Packing into blocks of 4 by 16, and unpacking. The elements that the micro-kernel reads are contiguous, and every block is whole. `transform` has
//! each function as a kernel.
//!
//! Source: RFC on int8 convolution for Arm, sections Interleaving, Interleaving and block-transposing, Unpacking; apache/tvm
//! python/tvm/topi/arm_cpu/conv2d_gemm.py and conv2d_alter_op.py.

/// Rows of a block.
pub(crate) const ROWS: usize = 4;
/// Depth of a block.
pub(crate) const DEPTH: usize = 16;
/// Elements of one block.
const BLOCK: usize = ROWS * DEPTH;

/// Packs `[M,K]` to `[M'/4, K'/16, 4, 16]`: a row is cut into runs of 16, which are one block apart. Padding is `T::default()`.
pub(crate) fn interleave<T: Copy + Default>(rows: usize, columns: usize, input: &[T], out: &mut [T]) {
    interleave_padded(rows, columns, T::default(), input, out);
}

/// Packs with a padding given by the caller.
pub(super) fn interleave_padded<T: Copy>(rows: usize, columns: usize, pad: T, input: &[T], out: &mut [T]) {
    debug_assert_eq!(input.len(), rows * columns);
    let panel = columns.div_ceil(DEPTH) * BLOCK;
    out.fill(pad);
    for (i, row) in input.chunks_exact(columns).enumerate() {
        let panel = &mut out[i / ROWS * panel..][..panel];
        for (run, block) in row.chunks(DEPTH).zip(panel.chunks_exact_mut(BLOCK)) {
            block[i % ROWS * DEPTH..][..run.len()].copy_from_slice(run);
        }
    }
}

/// Packs `[K,N]` to `[N'/4, K'/16, 4, 16]`: a row is cut into runs of 4, one run for each panel, and a run is scattered over the 4 rows of a block.
/// Padding is `T::default()`.
pub(crate) fn block_transpose<T: Copy + Default>(rows: usize, columns: usize, input: &[T], out: &mut [T]) {
    block_transpose_padded(rows, columns, T::default(), input, out);
}

/// Packs with a padding given by the caller.
pub(super) fn block_transpose_padded<T: Copy>(rows: usize, columns: usize, pad: T, input: &[T], out: &mut [T]) {
    debug_assert_eq!(input.len(), rows * columns);
    let panel = rows.div_ceil(DEPTH) * BLOCK;
    out.fill(pad);
    for (k, row) in input.chunks_exact(columns).enumerate() {
        let at = k / DEPTH * BLOCK + k % DEPTH;
        let (runs, rest) = row.as_chunks::<ROWS>();
        let mut panels = out.chunks_exact_mut(panel).map(|panel| &mut panel[at..]);
        // `runs` is the first operand: as the second one, it would lose the panel of the rest.
        runs.iter().zip(panels.by_ref()).for_each(|(run, panel)| scatter(run, panel));
        panels.take(1).for_each(|panel| scatter(rest, panel));
    }
}

/// Writes a run to the rows of a block. The loop over a whole run is unrolled: under an emulator, packing takes four sevenths of the time.
#[inline(always)]
fn scatter<T: Copy>(run: &[T], block: &mut [T]) {
    let places = &mut block[..=(ROWS - 1) * DEPTH];
    run.iter().enumerate().for_each(|(row, element)| places[row * DEPTH] = *element);
}

/// Unpacks `[M'/4, N'/4, 4, 4]` to `[M,N]`, without the padding.
pub(crate) fn unpack<T: Copy>(rows: usize, columns: usize, input: &[T], out: &mut [T]) {
    debug_assert_eq!(out.len(), rows * columns);
    let panel = columns.div_ceil(ROWS) * ROWS * ROWS;
    for (i, row) in out.chunks_exact_mut(columns).enumerate() {
        let panel = &input[i / ROWS * panel..][..panel];
        for (run, block) in row.chunks_mut(ROWS).zip(panel.chunks_exact(ROWS * ROWS)) {
            run.copy_from_slice(&block[i % ROWS * ROWS..][..run.len()]);
        }
    }
}

/// Rounds `n` up to whole blocks.
pub(crate) fn padded(n: usize, block: usize) -> usize {
    n.div_ceil(block) * block
}
