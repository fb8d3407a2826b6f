//! Poolings with the sizes of layers of real networks. Slow layers are shared among the kernels: the larger a layer, the fewer kernels run it.

use super::Pool;
use super::plan::{posed, spec};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{Fill, Spec, Turn, kernels};
use tiebreak_impls::element::Element;
use tiebreak_impls::pool::{Domain, Params};

/// Builds an unpadded layer from image, window and stride.
fn layer([height, width, channels]: [usize; 3], [kernel_h, kernel_w]: [usize; 2], stride: usize) -> Params {
    let (stride_h, stride_w) = (stride, stride);
    Params { height, width, channels, kernel_h, kernel_w, stride_h, stride_w, ..Params::of(Element::I8) }
}

/// Adds padding that keeps the image's size, or divides it by the stride.
fn same(p: Params) -> Params {
    let sides = |size: usize, kernel: usize, stride: usize| {
        let padding = ((size.div_ceil(stride) - 1) * stride + kernel).saturating_sub(size);
        (padding / 2, padding - padding / 2)
    };
    let (top, bottom) = sides(p.height, p.kernel_h, p.stride_h);
    let (left, right) = sides(p.width, p.kernel_w, p.stride_w);
    Params { top, bottom, left, right, ..p }
}

fn layers() -> Vec<Params> {
    let global = |height: usize, width: usize, channels: usize| layer([height, width, channels], [height, width], 1);
    vec![
        // Heads: MobileNet, ResNet-50, Inception v3, EfficientNet, SqueezeNet, keyword spotting.
        global(7, 7, 1024),
        global(7, 7, 2048),
        global(7, 7, 1280),
        global(8, 8, 2048),
        global(13, 13, 1000),
        global(25, 5, 64),
        global(1, 49, 64),
        global(14, 14, 72),
        // Stems and stages.
        Params { top: 1, left: 1, bottom: 0, right: 0, ..layer([112, 112, 64], [3, 3], 2) },
        layer([35, 35, 64], [3, 3], 2),
        same(layer([35, 35, 192], [3, 3], 1)),
        same(layer([17, 17, 768], [3, 3], 1)),
        same(layer([8, 8, 1280], [3, 3], 1)),
        layer([32, 32, 64], [2, 2], 2),
        layer([28, 28, 6], [2, 2], 2),
        layer([55, 55, 96], [3, 3], 2),
        layer([56, 56, 128], [2, 2], 2),
        // Pyramid pooling: four and nine windows of an image.
        layer([20, 20, 128], [10, 10], 10),
        layer([24, 24, 64], [8, 8], 8),
    ]
}

/// Upper bound on additions in a layer, for each effort.
const MOST: [usize; 2] = [120_000, 4_000_000];
/// Upper bound on the average cost of a layer for each kernel, in additions, for each effort. Each result also costs [`RESULT`].
const EACH: [usize; 2] = [2_000, 20_000];
const RESULT: usize = 12;

/// Adds every layer with its own sizes; in a long run also with one channel more.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let (long, kernels) = (usize::from(budget.every_tail), kernels::<Pool>().len());
    for (at, layer) in layers().into_iter().enumerate() {
        let variants = [layer, Params { channels: layer.channels + 1, batches: 2, ..layer }];
        for (variant, params) in variants.into_iter().enumerate().take(1 + long) {
            let params = posed(domain, 2 * at + variant, params, rng);
            let additions = Pool::additions(&params) as usize;
            if additions > MOST[long] {
                continue;
            }
            let results = params.sizes().map_or(0, |sizes| sizes.outputs + sizes.inputs[0]);
            let of = (additions + RESULT * results).div_ceil(EACH[long]).min(kernels);
            let turn = Turn::one_in(of, 2 * at + variant + (seed % 1024) as usize);
            out.push(Spec { turn, ..spec(params, Fill::Varied, at) });
        }
    }
}
