//! Weights of a channel that are unsafe for fast kernels: pairs of products are added in 16 bits.

use super::report::{PairWitness, Pairs};

/// Kind of lanes that add two neighbouring products in 16 bits.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// Name used everywhere.
    pub name: &'static str,
    /// Behaviour of the lanes, and the systems that have them.
    pub summary: &'static str,
    /// Offsets of an int8 activation and of an int8 weight before the product.
    offsets: (i32, i32),
    /// Range of the sum.
    word: (i32, i32),
}

/// All kinds of lanes.
pub static LANES: &[Lanes] = &[
    Lanes {
        name: "u8s8-saturating",
        summary: "vpmaddubsw of AVX2: bytes without sign by int8 weights, saturating (ONNX Runtime, oneDNN, FBGEMM)",
        offsets: (128, 0),
        word: (-32768, 32767),
    },
    Lanes {
        name: "s8s8",
        summary: "smull and smlal of NEON: int8 by int8, wrapping (gemmlowp, TVM, ruy)",
        offsets: (0, 0),
        word: (-32768, 32767),
    },
    Lanes {
        name: "u8u8",
        summary: "umull and umlal of NEON: bytes without sign by bytes without sign, wrapping (gemmlowp, TVM)",
        offsets: (128, 128),
        word: (0, 65535),
    },
];

/// Examines each kind of lanes with the int8 weights of a channel, in storage order, and any int8 activations.
pub(super) fn pairs(weights: &[i32]) -> Vec<Pairs> {
    if weights.len() < 2 {
        return Vec::new();
    }
    let of = |lanes: &Lanes| {
        let pairs = weights.as_chunks::<2>().0;
        let mut unsafe_pairs = pairs.iter().enumerate().filter_map(|(at, pair)| lanes.leaves(2 * at, *pair)).peekable();
        let witness = unsafe_pairs.peek().copied();
        Pairs { lanes: lanes.name, pairs: pairs.len(), unsafe_pairs: unsafe_pairs.count(), witness }
    };
    LANES.iter().map(of).collect()
}

impl Lanes {
    /// Returns activations for which the sum of both products exceeds the word: ends of the range, each chosen by the sign of the weight.
    fn leaves(&self, k: usize, weights: [i32; 2]) -> Option<PairWitness> {
        let [least, most] = [-128 + self.offsets.0, 127 + self.offsets.0];
        let held = weights.map(|w| w + self.offsets.1);
        let extreme = |upwards: bool| {
            let end = |w: i32| if (w * most > w * least) == upwards { most } else { least };
            let activations = held.map(end);
            let sum = held[0] * activations[0] + held[1] * activations[1];
            PairWitness { k, weights: held.into(), activations: activations.into(), sum }
        };
        [extreme(true), extreme(false)].into_iter().find(|witness| !(self.word.0..=self.word.1).contains(&witness.sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every pair of int8 weights, with every pair of ends, with the known conditions of each kind of lanes.
    #[test]
    fn pairs_that_leave_a_lane_are_those_that_are_known() {
        for (a, b) in (-128..=127).flat_map(|a| (-128..=127).map(move |b| (a, b))) {
            let [u8s8, s8s8, u8u8] = LANES else { panic!("three") };
            let positive = a.max(0) + b.max(0) > 128;
            let negative = a.min(0) + b.min(0) < -128;
            assert_eq!(u8s8.leaves(0, [a, b]).is_some(), positive || negative, "{a} {b}");
            assert_eq!(s8s8.leaves(0, [a, b]).is_some(), (a, b) == (-128, -128), "{a} {b}");
            assert_eq!(u8u8.leaves(0, [a, b]).is_some(), a + b + 256 > 257, "{a} {b}");
        }
    }

    #[test]
    fn the_first_pair_is_the_witness() {
        let described = pairs(&[1, 2, 100, 29, 127, 127, 5]);
        assert_eq!((described[0].pairs, described[0].unsafe_pairs), (3, 2));
        let witness = PairWitness { k: 2, weights: (100, 29), activations: (255, 255), sum: 255 * 129 };
        assert_eq!(described[0].witness, Some(witness));
    }
}
