//! Cases of requantizations: batches of 1 to 70 channels with whole and partial rows, every zero point of a byte, every result with its ties, and
//! corners. The corners of fixed point multiply are in `corners.rs`, and batches of the size of layers in `large.rs`.

use super::channels::{alike, any, corners, of, plain};
use super::corners::of_multiply;
use super::targets::Target;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::{Budget, Effort, below, int32_of_any_size, stream};
use tiebreak_engine::operation::{CaseSelection, Fill, Frames, Spec, by};
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Domain, Params};

/// Channels in a batch of corners, or of the caller's channels.
const TOGETHER: usize = 7;
/// Channels of every other random batch, around the lengths of vectors. The batches between have every number up to [`MOST_CHANNELS`] in turn.
const WIDTHS: [usize; 12] = [9, 16, 17, 31, 33, 64, 65, 70, 1, 2, 15, 70];
const MOST_CHANNELS: usize = 70;
/// Random batches in a short run: one for each zero point of a byte.
const BATCHES: usize = 256;
/// Channels of batches with whole rows only, and their numbers of rows by turns. A kernel of one channel runs the same lengths.
const WHOLE: [usize; 8] = [16, 32, 8, 48, 64, 16, 24, 32];
const WHOLE_ROWS: [usize; 3] = [6, 1, 4];
/// Period of random batches with the channels of the batch before.
const KEPT: usize = 8;
/// Lower bound on accumulators that are drawn for a channel.
const LEAST_ROWS: usize = 3;
/// Approximate number of results in a random batch.
const RESULTS: usize = 160;
/// Number of results in the longest random batch.
const LONGEST: usize = 12_000;
/// Number of accumulators around ties for a caller's channel.
const ASKED: usize = 1024;

/// Number of accumulators around ties for a channel of a layer.
const LAYER_TIES: usize = 256;

/// Returns the cases of a run.
pub(super) fn plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let draft = Draft { domain, seed };
    if !selection.channels.is_empty() {
        let inside: Vec<Channel> = selection.channels.iter().copied().filter(|c| domain.takes(*c)).collect();
        return draft.asked(&inside);
    }
    if !selection.layers.is_empty() {
        let outputs = selection.layers.iter().filter_map(|layer| layer.output.as_ref());
        return outputs.enumerate().flat_map(|(i, output)| draft.layer(output, i)).collect();
    }
    let few = Budget { random_accumulators: 16, near_ties: 8, ..*budget };
    let mut out = Vec::new();
    by("directed", &mut out, |out| out.extend(draft.directed(&corners(domain, budget, seed), &few, 64)));
    by("corners of fixed point multiply", &mut out, |out| out.extend(draft.corners_of_multiply()));
    by("every result", &mut out, |out| out.extend(draft.every_result()));
    // A kernel of one channel runs one scale in each batch, so it gets more, shorter batches.
    let (batches, results) = if domain.channels.per_channel { (BATCHES, RESULTS) } else { (2 * BATCHES, RESULTS / 2) };
    let batches = if budget.every_tail { 4 * batches } else { batches };
    by("random batches", &mut out, |out| {
        out.extend((0..batches).map(|i| draft.random(i, results)));
        out.extend(WHOLE.into_iter().enumerate().map(|(i, width)| draft.whole_rows(i, width)));
    });
    by("every length", &mut out, |out| out.extend(LENGTHS.map(|len| draft.of_length(len))));
    by("a long batch", &mut out, |out| {
        out.push(draft.random(batches, LONGEST));
        out.extend(draft.long_batches(budget));
    });
    by("many channels", &mut out, |out| out.extend(draft.many_channels(budget)));
    out
}

/// Returns the cases for the check of mutants: those that detect every mutant, and every length.
pub(super) fn trial(domain: &Domain, seed: u64) -> Vec<Spec<Params>> {
    let draft = Draft { domain, seed };
    let mut out = draft.corners_of_multiply();
    out.extend(draft.every_result());
    out.extend(LENGTHS.map(|len| draft.of_length(len)));
    let budget = Effort::Quick.budget();
    let few = Budget { random_accumulators: 16, near_ties: 8, ..budget };
    out.extend(draft.directed(&corners(domain, &budget, seed), &few, 64));
    out
}

/// Lengths up to two vectors of any width.
const LENGTHS: std::ops::RangeInclusive<usize> = 1..=80;

/// Plan for a domain under a seed.
pub(super) struct Draft<'a> {
    pub(super) domain: &'a Domain,
    pub(super) seed: u64,
}

impl Draft<'_> {
    /// Returns the corners of fixed point multiply.
    fn corners_of_multiply(&self) -> Vec<Spec<Params>> {
        let all = of_multiply(self.domain).into_iter().enumerate();
        all.map(|(i, (params, accumulators))| given(params, accumulators, i)).collect()
    }

    /// Returns every accumulator of interest of each channel, in that channel's place. Channels share batches if the kernel permits.
    fn directed(&self, channels: &[Channel], budget: &Budget, ties: usize) -> Vec<Spec<Params>> {
        let frames = channels.chunks(self.together()).enumerate();
        frames.map(|(i, channels)| self.directed_at(self.frame(channels, i), i, budget, ties)).collect()
    }

    /// Returns the same for the caller's channels. Their accumulators are made when they run, because there may be millions.
    fn asked(&self, channels: &[Channel]) -> Vec<Spec<Params>> {
        let made: Arc<dyn Frames<Params>> = Arc::new(Given { domain: self.domain.clone(), seed: self.seed });
        let frames = channels.chunks(self.together()).enumerate();
        frames.map(|(i, channels)| Spec::later(self.frame(channels, i), &made, i)).collect()
    }

    /// Returns the number of directed channels that share a batch.
    fn together(&self) -> usize {
        if self.domain.channels.per_channel { TOGETHER } else { 1 }
    }

    /// Returns the parameters of directed channels without accumulators; `len` is one row.
    fn frame(&self, channels: &[Channel], i: usize) -> Params {
        Params {
            len: channels.len(),
            channels: channels.to_vec(),
            bias: (0..channels.len()).map(|c| self.usual_bias(i + c)).collect(),
            ..self.usual_output(i)
        }
    }

    fn directed_at(&self, frame: Params, i: usize, budget: &Budget, ties: usize) -> Spec<Params> {
        let mut rng = stream(self.seed, &format!("requantize/directed/{i}"));
        self.batch(frame, i, budget, ties, &mut rng)
    }

    /// Returns the channels of a layer with their biases, zero point and clamp, as far as the kernel accepts them; in one batch, or one by one.
    fn layer(&self, output: &Params, i: usize) -> Vec<Spec<Params>> {
        let Domain { output: element, bias, zero_point, clamp, .. } = *self.domain;
        // Models have no layers for the legacy pipeline of integer multipliers.
        if self.domain.fraction() == 0 {
            return Vec::new();
        }
        let range = element.range();
        let more = if element == Element::U8 { 128 } else { 0 };
        let (min, max) = if clamp { (output.min + more, output.max + more) } else { (*range.start(), *range.end()) };
        let frame = |of: &[usize]| Params {
            len: 0,
            channels: of.iter().map(|at| output.channels[*at]).collect(),
            bias: of.iter().map(|at| if bias { output.bias[*at] } else { 0 }).collect(),
            zero_point: if zero_point { output.zero_point + more } else { 0 },
            min,
            max,
        };
        let taken: Vec<usize> =
            (0..output.channels.len()).filter(|at| self.domain.takes(output.channels[*at])).collect();
        let together = if self.domain.channels.per_channel { taken.len().max(1) } else { 1 };
        let batch = |of: &[usize]| {
            let mut rng = stream(self.seed, &format!("requantize/layer/{i}/{of:?}"));
            self.batch(frame(of), i, &Effort::Quick.budget(), LAYER_TIES, &mut rng)
        };
        taken.chunks(together).map(batch).collect()
    }

    /// Builds a batch of every accumulator of interest of each channel, in that channel's place.
    fn batch(&self, frame: Params, i: usize, budget: &Budget, ties: usize, rng: &mut ChaCha8Rng) -> Spec<Params> {
        let own = |at: usize| {
            let mut all = accumulators(frame.channels[at], self.domain.fraction(), budget, self.seed);
            all.extend(self.target(&frame, at).some(ties, rng));
            all
        };
        let own: Vec<Vec<i32>> = (0..frame.channels.len()).map(own).collect();
        let rows = own.iter().map(Vec::len).max().unwrap_or(0);
        let values = (0..rows).flat_map(|row| own.iter().map(move |xs| xs[row % xs.len()])).collect();
        given(frame, values, i)
    }

    /// Returns every result of the output type, with the ties on both sides and their neighbours: with a scale for which all ties are exact and, if
    /// channels may share a batch, in each of an odd number of channels.
    fn every_result(&self) -> Vec<Spec<Params>> {
        let plain = plain(self.domain, 4);
        let mut rng = stream(self.seed, "requantize/every");
        let mut batch = |channels: Vec<Channel>, i: usize| {
            let range = self.domain.output.range();
            let bias = channels.iter().map(|_| self.any_bias(&mut rng)).collect();
            let zero_point = self.zero_point(i);
            let p = Params { len: 0, channels, bias, zero_point, min: *range.start(), max: *range.end() };
            let own: Vec<Vec<i32>> = (0..p.channels.len()).map(|at| self.target(&p, at).every_tie()).collect();
            let rows = own.iter().map(Vec::len).max().unwrap_or(0);
            // Channels whose accumulators do not reach every result have fewer values, which are repeated.
            let some = own.iter().map(|xs| if xs.is_empty() { &[0][..] } else { xs });
            let some: Vec<&[i32]> = some.collect();
            let values = (0..rows).flat_map(|row| some.iter().map(move |xs| xs[row % xs.len()])).collect();
            given(p, values, i)
        };
        let mut out = Vec::new();
        if self.domain.takes(plain) {
            out.push(batch(vec![plain], 1));
        }
        if self.domain.channels.per_channel && self.values() <= 1 << 8 {
            let mut rng = stream(self.seed, "requantize/every/channels");
            out.push(batch((0..33).map(|_| any(self.domain, &mut rng)).collect(), 2));
        }
        out
    }

    /// Builds a batch of random channels with random biases, clamp and accumulators; the zero points are used in turn.
    fn random(&self, i: usize, results: usize) -> Spec<Params> {
        let mut rng = stream(self.seed, &format!("requantize/random/{i}"));
        let mut p = self.any_params(i, self.width(i), &mut rng);
        // A result that a kernel caches between calls must depend on more than the channels.
        if i % KEPT == KEPT - 2 {
            let mut rng = stream(self.seed, &format!("requantize/random/{}", i - 1));
            p.channels = self.any_params(i - 1, self.width(i - 1), &mut rng).channels;
            // It must depend on more than the number of channels and the first channel, too.
            if i / KEPT % 2 == 1 {
                p.channels[1..].fill_with(|| any(self.domain, &mut rng));
            }
            p.bias = self.any_biases(p.channels.len(), &mut rng);
        }
        let width = p.channels.len();
        // Every length modulo 64 occurs, and every number of channels with a partial last row.
        let rows = (results / width).max(LEAST_ROWS);
        let most = rows * width;
        let len = if i.is_multiple_of(2) {
            // The wrapped difference has the same remainder modulo a power of two.
            most.saturating_sub(most.wrapping_sub(i / 2) % 64).max(1)
        } else {
            most - 1 - below(&mut rng, width.max(2) as u32 - 1) as usize
        };
        self.filled(p, len, rows, rng)
    }

    /// Returns the number of channels of a random batch.
    fn width(&self, i: usize) -> usize {
        match (self.domain.channels.per_channel, i % 2) {
            (false, _) => 1,
            (true, 0) => WIDTHS[i / 2 % WIDTHS.len()],
            // 27 is coprime to 70.
            (true, _) => 1 + i / 2 * 27 % MOST_CHANNELS,
        }
    }

    /// Builds a batch of `width` channels with whole rows only; by turns with a zero point of 0, without biases, or both, as in symmetric layers.
    fn whole_rows(&self, i: usize, width: usize) -> Spec<Params> {
        let mut rng = stream(self.seed, &format!("requantize/whole/{i}"));
        let mut p = self.any_params(i, if self.domain.channels.per_channel { width } else { 1 }, &mut rng);
        if i % 4 < 2 {
            p.bias.fill(0);
        }
        let zero = Params { zero_point: 0, ..p.clone() };
        if i.is_multiple_of(2) && self.domain.output.range().contains(&0) {
            p = zero;
        }
        let len = width * WHOLE_ROWS[i % WHOLE_ROWS.len()];
        let rows = (len / p.channels.len()).max(LEAST_ROWS);
        self.filled(p, len, rows, rng)
    }

    /// Builds a batch of `len` accumulators with random channels.
    fn of_length(&self, len: usize) -> Spec<Params> {
        let mut rng = stream(self.seed, &format!("requantize/length/{len}"));
        let width = if self.domain.channels.per_channel { 1 + len % 7 } else { 1 };
        let p = self.any_params(len, width, &mut rng);
        self.filled(p, len, len.div_ceil(width).max(3), rng)
    }

    /// Draws parameters of `width` channels.
    fn any_params(&self, i: usize, width: usize, rng: &mut ChaCha8Rng) -> Params {
        let mut channels: Vec<Channel> = (0..width).map(|_| any(self.domain, rng)).collect();
        alike(self.domain, &mut channels, rng);
        let bias = self.any_biases(width, rng);
        Params { channels, bias, ..self.any_output(i, rng) }
    }

    /// Draws biases that are independent, equal, or 0.
    fn any_biases(&self, width: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
        match below(rng, 6) {
            0 => vec![0; width],
            1 => vec![self.any_bias(rng); width],
            _ => (0..width).map(|_| self.any_bias(rng)).collect(),
        }
    }

    /// Draws accumulators of interest for each channel in `rows` rows, and builds a batch of the first `len`.
    pub(super) fn filled(&self, p: Params, len: usize, rows: usize, mut rng: ChaCha8Rng) -> Spec<Params> {
        let width = p.channels.len();
        let own: Vec<Vec<i32>> = (0..width).map(|at| self.target(&p, at).some(rows, &mut rng)).collect();
        let values = (0..len).map(|at| own[at % width][at / width]).collect();
        given(p, values, below(&mut rng, 16) as usize)
    }

    /// Returns the number of values of the output type.
    pub(super) fn values(&self) -> usize {
        let range = self.domain.output.range();
        (range.end() - range.start()) as usize + 1
    }

    fn target(&self, p: &Params, at: usize) -> Target {
        Target::new(p.channels[at], p.bias[at], self.domain.fraction(), p)
    }

    fn usual_bias(&self, i: usize) -> i32 {
        if self.domain.bias { [0, 1, -1, 12345, -99_999, i32::MAX, i32::MIN][i % 7] } else { 0 }
    }

    pub(super) fn any_bias(&self, rng: &mut ChaCha8Rng) -> i32 {
        match below(rng, 16) {
            _ if !self.domain.bias => 0,
            0..4 => 0,
            4..10 => of(rng, -100_000, 100_000),
            10 => [i32::MAX, i32::MIN][below(rng, 2) as usize],
            _ => int32_of_any_size(rng),
        }
    }

    /// Returns a zero point: every zero point of a byte in turn; for a wider type, the ends and a part of the others.
    pub(super) fn zero_point(&self, i: usize) -> i32 {
        let range = self.domain.output.range();
        let (lo, width) = (*range.start(), self.values());
        match i % 8 {
            _ if !self.domain.zero_point => 0,
            0 if width > 1 << 8 => lo,
            1 if width > 1 << 8 => *range.end(),
            2 if width > 1 << 8 => 0,
            // An odd stride, which reaches all values of a power of two.
            _ => lo + ((i * ((width / 3) | 1) + self.seed as usize % width) % width) as i32,
        }
    }

    /// Returns zero point and clamp: both ends, the middle, and odd values; a clamp only if the kernel accepts one.
    fn usual_output(&self, i: usize) -> Params {
        let range = self.domain.output.range();
        let (lo, hi) = (*range.start(), *range.end());
        let zero_points = [lo.midpoint(hi) + 1, lo, hi, lo + 1, hi - 1, lo.midpoint(hi) - 3];
        let zero_point = if self.domain.zero_point { zero_points[i % 6] } else { 0 };
        let clamps = [(lo, hi), (lo + 1, hi), (zero_point, hi), (lo, zero_point), (lo + 7, hi - 9)];
        let (min, max) = if self.domain.clamp { clamps[i % clamps.len()] } else { (lo, hi) };
        Params { len: 0, channels: Vec::new(), bias: Vec::new(), zero_point, min, max }
    }

    /// Draws the bounds: mostly the whole type; otherwise from or to the zero point, or any two bounds.
    fn any_output(&self, i: usize, rng: &mut ChaCha8Rng) -> Params {
        let range = self.domain.output.range();
        let (lo, hi) = (*range.start(), *range.end());
        let zero_point = self.zero_point(i);
        let (a, b) = match below(rng, 8) {
            _ if !self.domain.clamp => (lo, hi),
            0 => (zero_point, hi),
            1 => (lo, zero_point),
            // An activation with an upper bound inside the type.
            2 => (zero_point, of(rng, zero_point, hi)),
            3 => (of(rng, lo, hi), of(rng, lo, hi)),
            _ => (lo, hi),
        };
        Params { len: 0, channels: Vec::new(), bias: Vec::new(), zero_point, min: a.min(b), max: a.max(b) }
    }
}

/// Generator of the accumulators of the caller's channels.
struct Given {
    domain: Domain,
    seed: u64,
}

impl Frames<Params> for Given {
    fn spec(&self, frame: &Params, at: usize) -> Spec<Params> {
        let draft = Draft { domain: &self.domain, seed: self.seed };
        draft.directed_at(frame.clone(), at, &Effort::Quick.budget(), ASKED)
    }
}

/// Builds a batch of the given accumulators.
pub(super) fn given(params: Params, values: Vec<i32>, i: usize) -> Spec<Params> {
    let params = Params { len: values.len(), ..params };
    Spec::new(params, [Fill::Given(values), Fill::None, Fill::None], i % 16)
}
