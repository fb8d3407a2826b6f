//! Names of the functions in compiled modules, shared by the code that compiles a module and the code that calls it.

use super::{Container, Granularity, Params};

/// Cast of the quant dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cast {
    /// `quant.qcast`: expressed to quantized.
    Quantize,
    /// `quant.dcast`: quantized to expressed.
    Dequantize,
}

impl Cast {
    /// Returns the name, `qcast` or `dcast`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quantize => "qcast",
            Self::Dequantize => "dcast",
        }
    }
}

/// Returns the name of the function for a cast, a type and a container: a readable part, then 64 bits of FNV-1a over all of the type. All sizes are
/// dynamic unless the type fixes them, so parameters that differ only in dynamic sizes share a function.
pub fn symbol(cast: Cast, params: &Params) -> String {
    let quantized = &params.quantized;
    let container = match (params.container, &quantized.granularity) {
        (Container::Scalar, _) => "scalar".to_owned(),
        (Container::Ranked, Granularity::Layer) => format!("rank{}", params.shape.len()),
        (Container::Ranked, Granularity::Channel { axis }) => format!("rank{}_axis{axis}", params.shape.len()),
        (Container::Unranked, Granularity::Layer) => "unranked".to_owned(),
        (Container::Unranked, Granularity::Channel { axis }) => format!("unranked_axis{axis}"),
        (_, Granularity::Blocks { sizes, .. }) => format!("rank{}_blocks{}", params.shape.len(), sizes.len()),
    };
    let (storage, expressed) = (quantized.storage.name(), quantized.expressed.name());
    let described = format!("{}_{storage}_{expressed}_{container}", cast.name());
    let mut hash = fnv(0xcbf2_9ce4_8422_2325, described.as_bytes());
    for bound in [quantized.min, quantized.max].iter().chain(&quantized.zero_points) {
        hash = fnv(hash, &bound.to_le_bytes());
    }
    if let Granularity::Blocks { sizes, counts } = &quantized.granularity {
        hash = fnv(hash, format!("{sizes:?}{counts:?}").as_bytes());
    }
    hash = quantized.scales.iter().fold(hash, |hash, scale| fnv(hash, &scale.0.to_bits().to_le_bytes()));
    format!("{described}_{hash:016x}")
}

/// Continues an FNV-1a hash.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::super::{Expressed, Quantized, Scale, Storage};
    use super::*;

    fn params(container: Container, shape: &[usize]) -> Params {
        let quantized = Quantized {
            storage: Storage { bits: 8, signed: true },
            min: -128,
            max: 127,
            expressed: Expressed::F32,
            granularity: Granularity::Layer,
            scales: vec![Scale(0.3)],
            zero_points: vec![1],
        };
        Params { quantized, container, shape: shape.to_vec() }
    }

    #[test]
    fn sizes_share_a_function_and_ranks_do_not() {
        let of = |container, shape: &[usize]| symbol(Cast::Quantize, &params(container, shape));
        assert_eq!(of(Container::Ranked, &[2, 3]), of(Container::Ranked, &[5, 7]));
        assert_ne!(of(Container::Ranked, &[6]), of(Container::Ranked, &[2, 3]));
        assert_eq!(of(Container::Unranked, &[6]), of(Container::Unranked, &[2, 3]));
        assert!(of(Container::Scalar, &[6]).starts_with("qcast_i8_f32_scalar_"));
    }

    #[test]
    fn every_number_of_a_type_tells() {
        let sound = params(Container::Ranked, &[2]);
        let with = |change: fn(&mut Quantized)| {
            let mut changed = sound.clone();
            change(&mut changed.quantized);
            symbol(Cast::Dequantize, &changed)
        };
        let mut all = vec![
            with(|_| {}),
            with(|q| q.min = -127),
            with(|q| q.max = 126),
            with(|q| q.scales[0] = Scale(0.30000000000000004)),
            with(|q| q.zero_points[0] = 0),
            with(|q| q.expressed = Expressed::F16),
            with(|q| q.storage.signed = false),
            with(|q| q.granularity = Granularity::Channel { axis: 0 }),
            with(|q| q.granularity = Granularity::Blocks { sizes: vec![(0, 2)], counts: vec![1] }),
            with(|q| q.granularity = Granularity::Blocks { sizes: vec![(0, 1)], counts: vec![1] }),
            with(|q| q.granularity = Granularity::Blocks { sizes: vec![(0, 1)], counts: vec![2] }),
            symbol(Cast::Quantize, &sound),
        ];
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
