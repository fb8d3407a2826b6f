//! Lists of stages that fit the sums of a product: a layer's, the legacy paradigm's, and every kind of stage in several orders.

use crate::requantize::channels::any;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{below, int32_of_any_size};
use tiebreak_impls::contract::Domain as Multipliers;
use tiebreak_impls::element::Element::{self, I8, I16, U8};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qmatmul::{Along, Domain, Layer, Layer64, Lists, Stage};
use tiebreak_impls::{matmul, requantize};

/// Number of kinds of lists that are tried on a kernel of any list.
pub(super) const KINDS: usize = 9;

/// Domain of the legacy paradigm's integers.
const INTEGERS: requantize::Domain = requantize::Domain {
    output: U8,
    channels: Multipliers { q: 0..=0, shifts: -31..=0, ..Multipliers::ALL },
    bias: true,
    zero_point: false,
    clamp: false,
};

/// Returns a list for a kernel: the layer's list, with 64-bit biases if the kernel has them, or a list of the `kind` made of the layer's
/// parameters. `i` selects types and amplitudes in turn.
pub(super) fn of(
    domain: &Domain,
    shape: &matmul::Params,
    (layer, bias64): (&Layer<'_>, &[i64]),
    [kind, i]: [usize; 2],
    rng: &mut ChaCha8Rng,
) -> Vec<Stage> {
    match domain.lists {
        Lists::Layer => layer.stages(),
        Lists::Layer64 => {
            let Layer { channels, zero_point, min, max, output, .. } = *layer;
            Layer64 { bias: bias64, channels, zero_point, min, max, output }.stages()
        }
        Lists::Legacy => vec![down(layer, i, rng), Stage::Cast { to: U8 }],
        Lists::Any => Parts { shape, layer, i }.list(kind % KINDS, rng),
    }
}

/// Source of the stages' parameters.
struct Parts<'a> {
    shape: &'a matmul::Params,
    layer: &'a Layer<'a>,
    i: usize,
}

impl Parts<'_> {
    fn list(&self, kind: usize, rng: &mut ChaCha8Rng) -> Vec<Stage> {
        let (rows, columns) = (Along::Rows, Along::Columns);
        match kind {
            0 => self.layer.stages(),
            1 => vec![self.bias(rows), self.scale(rows), self.clamp(), self.cast()],
            2 => vec![self.bias(rows), self.bias(columns), self.scale(columns), self.cast()],
            3 => vec![down(self.layer, self.i, rng), self.cast()],
            4 => vec![self.bias(columns), self.scale(rows), self.tanh(), Stage::Cast { to: I16 }],
            5 => vec![self.bias(columns), self.scale(columns), self.small(rows, rng), self.clamp(), self.cast()],
            6 => vec![self.scale(rows), self.bias(columns), self.clamp()],
            7 => Vec::new(),
            _ => self.by_chance(rng),
        }
    }

    /// Draws up to five stages of any kind in any order, with or without a final cast.
    fn by_chance(&self, rng: &mut ChaCha8Rng) -> Vec<Stage> {
        let count = below(rng, 6);
        let mut out: Vec<Stage> = (0..count)
            .map(|_| {
                let along = if below(rng, 2) == 0 { Along::Rows } else { Along::Columns };
                match below(rng, 6) {
                    0 => self.bias(along),
                    1 => self.small(along, rng),
                    2 => self.scale(along),
                    3 => self.clamp(),
                    4 => self.tanh(),
                    _ => down(self.layer, self.i, rng),
                }
            })
            .collect();
        if below(rng, 4) > 0 {
            out.push(self.cast());
        }
        out
    }

    /// Repeats the values of the columns to the size of an axis.
    fn along<T: Copy>(&self, along: Along, values: &[T]) -> Vec<T> {
        let size = if along == Along::Rows { self.shape.m } else { self.shape.n };
        if values.len() == 1 { values.to_vec() } else { values.iter().copied().cycle().take(size).collect() }
    }

    fn bias(&self, along: Along) -> Stage {
        Stage::Bias { along, values: self.along(along, self.layer.bias) }
    }

    /// Draws a bias in the scale of results.
    fn small(&self, along: Along, rng: &mut ChaCha8Rng) -> Stage {
        let size = if along == Along::Rows { self.shape.m } else { self.shape.n };
        Stage::Bias { along, values: (0..size).map(|_| below(rng, 101) as i32 - 50).collect() }
    }

    fn scale(&self, along: Along) -> Stage {
        let channels = self.along(along, self.layer.channels);
        Stage::Scale { along, channels, zero_point: self.layer.zero_point }
    }

    fn clamp(&self) -> Stage {
        let moved = if self.to() == I8 { -128 } else { 0 };
        Stage::Clamp { min: self.layer.min + moved, max: self.layer.max + moved }
    }

    fn tanh(&self) -> Stage {
        let amplitude = [1 << (self.i % 7), 127, 1 << (self.i % 12), 100, 1 << 7, 3][self.i % 6];
        Stage::Tanh { zero_point: self.layer.zero_point - 128, amplitude }
    }

    fn to(&self) -> Element {
        [U8, I16, I8][self.i / 2 % 3]
    }

    fn cast(&self) -> Stage {
        Stage::Cast { to: self.to() }
    }
}

/// Draws an integer fraction near the first scale, with results around the middle of uint8, or any integer fraction.
fn down(layer: &Layer<'_>, i: usize, rng: &mut ChaCha8Rng) -> Stage {
    if below(rng, 10) == 0 {
        let Channel { multiplier, shift } = any(&INTEGERS, rng);
        return Stage::Down { offset: int32_of_any_size(rng), multiplier, shift };
    }
    let Channel { multiplier, shift } = layer.channel(0);
    let scale = f64::from(multiplier).abs() * f64::exp2(f64::from(shift - 31));
    let result_shift = [8, 1, 12, 3, 16, 2][i % 6];
    let multiplier = ((scale * f64::exp2(f64::from(result_shift))) as i32).clamp(1, 1 << 14);
    let middle = (128 << result_shift) / multiplier;
    Stage::Down { offset: layer.bias(0).wrapping_add(middle), multiplier, shift: -result_shift }
}
