//! Matrix products with the sizes of layers of real networks: large along several axes, and whole numbers of blocks. Each has its own sizes, one
//! more along every axis, and one less. Code selects its loops by several sizes together, so a single long size does not run them.
//!
//! Slow products are shared among the kernels: the larger a product, the fewer kernels run it.

use super::offsets::{KINDS, offsets};
use super::plan::spec;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{Fill, Spec, Turn};
use tiebreak_impls::matmul::{Domain, Params};

/// M (results of one channel of a convolution), N and K (filter size). If M is smaller than in the network, N and K are the network's.
const LAYERS: [[usize; 3]; 49] = [
    // Convolutional: first layers of 7 by 7 or 11 by 11, filters of 3 by 3 and 1 by 1, bottlenecks.
    [196, 64, 147],
    [100, 96, 363],
    [64, 32, 27],
    [49, 64, 576],
    [25, 128, 1152],
    [9, 256, 2304],
    [4, 512, 4608],
    [49, 256, 64],
    [49, 64, 256],
    [16, 512, 1024],
    [196, 32, 192],
    // Mobile: pointwise layers that widen or narrow, and squeezed channels.
    [196, 96, 16],
    [196, 24, 96],
    [49, 576, 96],
    [49, 160, 576],
    [9, 320, 960],
    [7, 1280, 320],
    [144, 144, 24],
    [81, 40, 240],
    [1, 8, 32],
    [1, 240, 64],
    [1, 1001, 1024],
    [1, 1000, 1280],
    // Recurrent: all gates of a step together, for one or a few sequences.
    [1, 512, 128],
    [1, 1200, 300],
    [1, 2048, 512],
    [2, 768, 256],
    [4, 640, 320],
    [8, 1024, 256],
    // Transformer: both products of an attention head, projections, the two layers of the feed-forward part, the vocabulary.
    [64, 64, 64],
    [128, 128, 64],
    [128, 64, 128],
    [77, 77, 64],
    [197, 197, 64],
    [197, 64, 197],
    [16, 256, 256],
    [12, 768, 768],
    [3, 3072, 768],
    [3, 768, 3072],
    [128, 128, 512],
    [1, 16_384, 128],
    // More than 256 along every axis, and more than 2^24 products.
    [259, 261, 263],
    // Keyword spotting and anomaly detection.
    [125, 64, 40],
    [125, 64, 64],
    [98, 16, 120],
    [1, 144, 1960],
    [1, 4, 4000],
    [1, 128, 640],
    [8, 640, 128],
];

/// Upper bound on products of two elements in a layer, for each effort.
const MOST: [usize; 2] = [600_000, 20_000_000];
/// Number of variants of each layer (own sizes, one more, one less), for each effort.
const VARIANTS: [usize; 2] = [1, 3];
/// Upper bound on the average cost of a layer for each kernel, in products, for each effort. A result costs [`RESULT`] more.
const EACH: [usize; 2] = [8_000, 30_000];
const RESULT: usize = 30;

/// Returns every layer with its own sizes; in a long run also with one more along every axis, and one less.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64, kernels: usize) -> Vec<Spec<Params>> {
    let long = usize::from(budget.every_tail);
    let mut out = Vec::new();
    for (layer, sizes) in LAYERS.into_iter().enumerate() {
        for (variant, [m, n, k]) in variants(sizes).into_iter().enumerate().take(VARIANTS[long]) {
            let products = m * n * k;
            if products > MOST[long] {
                continue;
            }
            let i = 3 * layer + variant;
            let kind = KINDS[(i + layer) % KINDS.len()];
            let mut one = spec(m, n, k, offsets(domain, kind, i), Fill::Varied, Fill::Varied);
            one.misalign = i % 16;
            // At least one kernel runs the case; the seed selects which.
            let of = (products + RESULT * m * n).div_ceil(EACH[long]).min(kernels);
            one.turn = Turn::one_in(of, i + (seed % 1024) as usize);
            out.push(one);
        }
    }
    out
}

/// Returns the sizes, all sizes one larger, and all sizes one smaller.
fn variants(sizes: [usize; 3]) -> [[usize; 3]; 3] {
    [sizes, sizes.map(|size| size + 1), sizes.map(|size| size.saturating_sub(1).max(1))]
}
