//! Round trips of casts.

use super::{Claim, Coverage, RfcStatement, Tally, scale_of, schemes};
use anyhow::Result;
use indicatif::ProgressBar;
use rand_chacha::rand_core::Rng;
use tiebreak_common::fraction;
use tiebreak_common::stream::stream;
use tiebreak_oracle::float::Float;
use tiebreak_oracle::quantize::{Quantization, Runs, Stored};
use tiebreak_oracle::{Rational, dequantize, quantize};

/// Random stored values of a wide type, in addition to the corners.
const RANDOM: usize = 1 << 12;
/// Neighbours of a corner that are tried on each side.
const AROUND: i64 = 40;

/// Measures `qcast(dcast(q))`, and the round trip of `scast`, on the stored values of one type.
pub(super) fn claims(name: &str, channels: &[Quantization], seed: u64, bar: &ProgressBar) -> Result<Vec<Claim>> {
    bar.inc_length(2 * channels.len() as u64);
    let (qcast, dcast) = schemes()?;
    let (mut casts, mut beyond, mut bits) = (Tally::default(), Tally::default(), Tally::default());
    let mut coverage = Coverage::Exhaustive;
    for channel in channels {
        let (values, covers) = stored(channel, seed, name);
        coverage = if covers == Coverage::Sampled { covers } else { coverage };
        for q in values {
            let at = (q.unsigned_abs(), q, 0, 0);
            let expressed = dcast.expected(channel, q);
            let casts = if (channel.min..=channel.max).contains(&q) { &mut casts } else { &mut beyond };
            match qcast.expected(channel, expressed) {
                Stored::Value(back) => {
                    let x = tiebreak_common::floats::shortest(channel.format, expressed);
                    casts.stored(1, q, back, at, || format!("{}: q={q}: dcast {x}, qcast {back}", scale_of(channel)));
                }
                Stored::Poison | Stored::Unspecified => casts.undefined(1),
            }
            let back = channel.storage.wrap(signless(channel, q));
            bits.stored(1, q, back, at, || format!("q={q}: {back}"));
        }
        bar.inc(1);
    }
    let claim = |rewrite, mut tally: Tally| {
        let witness = tally.nearest.take();
        Claim::new(rewrite, name, RfcStatement::Same, coverage, &tally, witness)
    };
    // The real value is `q` or `x` itself.
    let mut claims = vec![claim("qcast(dcast(q)) -> q", casts).nearer("after"), claim("scast(scast(q)) -> q", bits)];
    if channels.iter().any(is_bounded) {
        claims.push(claim("qcast(dcast(q)) -> q, q beyond the bounds", beyond).nearer("after"));
    }
    claims.extend(lossy(name, channels, bar)?);
    Ok(claims)
}

/// Measures `dcast(qcast(x))` on every float but NaN: the number of equal results, and the largest exact error without a clamp. For a type with
/// bounds, also counts the clamped floats, which `x` in place of `dcast(qcast(x))` does not clamp. Empty for more than 16 bits of results.
fn lossy(name: &str, channels: &[Quantization], bar: &ProgressBar) -> Result<Vec<Claim>> {
    let (qcast, dcast) = schemes()?;
    let (mut all, mut clamped) = (Lossy::default(), Lossy::default());
    for channel in channels {
        let Ok(runs) = Runs::new(&qcast, channel) else { return Ok(Vec::new()) };
        runs.iter().for_each(|(keys, stored)| all.run(channel, &dcast, *keys.start(), *keys.end(), stored));
        if is_bounded(channel) {
            clamped.beyond_the_bounds(channel, (&qcast, &dcast))?;
        }
        bar.inc(1);
    }
    let mut claims = vec![all.claim("dcast(qcast(x)) -> x", name, RfcStatement::Slight).nearer("after")];
    if channels.iter().any(is_bounded) {
        claims.push(
            clamped.claim("dcast(qcast(x)) -> x, x beyond the bounds", name, RfcStatement::Nothing).nearer("after"),
        );
    }
    Ok(claims)
}

/// True if a type allows fewer values than its storage.
fn is_bounded(channel: &Quantization) -> bool {
    (channel.min, channel.max) != (channel.storage.min(), channel.storage.max())
}

/// Counts of floats after the round trip.
#[derive(Default)]
struct Lossy {
    same: u128,
    differ: u128,
    undefined: u128,
    worst: Option<Worst>,
}

/// Largest error so far.
struct Worst {
    error: Rational,
    described: String,
}

impl Lossy {
    fn claim(self, rewrite: &str, name: &str, said: RfcStatement) -> Claim {
        let Self { same, differ, undefined, worst } = self;
        let counts = Tally { same, differ, undefined, ..Tally::default() };
        let mut claim = Claim::new(rewrite, name, said, Coverage::Exhaustive, &counts, None);
        claim.largest = worst.as_ref().map(|worst| fraction::both(&worst.error));
        claim.witness = worst.map(|worst| worst.described);
        claim
    }

    /// Counts the floats between two keys, which have one stored value. Their largest error is at an end. Floats at a bound are only counted, because
    /// their error has no useful maximum.
    fn run(&mut self, channel: &Quantization, dcast: &dequantize::Scheme, first: i64, last: i64, stored: Stored) {
        let Stored::Value(q) = stored else {
            self.undefined += last.abs_diff(first) as u128 + 1;
            return;
        };
        self.back(channel, dcast, (first, last), q);
        if channel.min < q && q < channel.max {
            self.errors(channel, dcast, (first, last), q);
        }
    }

    /// Counts the floats whose stored value would be beyond the bounds without the clamp.
    fn beyond_the_bounds(
        &mut self,
        channel: &Quantization,
        (qcast, dcast): (&quantize::Scheme, &dequantize::Scheme),
    ) -> Result<()> {
        let open = Quantization { min: channel.storage.min(), max: channel.storage.max(), ..*channel };
        for (keys, stored) in Runs::new(qcast, &open)?.iter() {
            let Stored::Value(unclamped) = stored else { continue };
            let q = unclamped.clamp(channel.min, channel.max);
            if q != unclamped {
                let keys = (*keys.start(), *keys.end());
                self.back(channel, dcast, keys, q);
                self.errors(channel, dcast, keys, q);
            }
        }
        Ok(())
    }

    /// Counts the floats between two keys by whether they return to the same number.
    fn back(&mut self, channel: &Quantization, dcast: &dequantize::Scheme, (first, last): (i64, i64), q: i64) {
        let keys = channel
            .format
            .key(dcast.expected(channel, q))
            .into_iter()
            .flat_map(|key| if key == 0 { vec![-1, 0] } else { vec![key] });
        // Both zeros are the same number. Any other number has one pattern.
        let same = keys.filter(|key| (first..=last).contains(key)).count() as u128;
        self.same += same;
        self.differ += last.abs_diff(first) as u128 + 1 - same;
    }

    /// Updates the largest error by the errors at both ends.
    fn errors(&mut self, channel: &Quantization, dcast: &dequantize::Scheme, (first, last): (i64, i64), q: i64) {
        let Float::Finite { value: back, .. } = channel.format.decode(dcast.expected(channel, q)) else { return };
        for end in [first, last].map(|key| channel.format.from_key(key)) {
            let Float::Finite { value, .. } = channel.format.decode(end) else { continue };
            let error = Rational::from(&value - &back).abs();
            if self.worst.as_ref().is_none_or(|worst| worst.error < error) {
                let [x, back] = [end, channel.format.nearest(&back)]
                    .map(|bits| tiebreak_common::floats::shortest(channel.format, bits));
                let described = format!("{}: x={x}: qcast {q}, dcast {back}", scale_of(channel));
                self.worst = Some(Worst { error, described });
            }
        }
    }
}

/// Returns the bits of a stored value as the signless integer of `scast`, read as signed.
fn signless(channel: &Quantization, q: i64) -> i64 {
    let bits = channel.storage.bits;
    let unsigned = q.rem_euclid(1 << bits);
    if unsigned >> (bits - 1) == 1 { unsigned - (1 << bits) } else { unsigned }
}

/// Returns all values of the storage type up to 16 bits, within the bounds and beyond (`dcast` never clamps). For a wider type, returns random values
/// and the neighbours of its ends, of 0, of the zero point, and of powers of two around both.
fn stored(channel: &Quantization, seed: u64, name: &str) -> (Vec<i64>, Coverage) {
    let (lowest, highest) = (channel.storage.min(), channel.storage.max());
    if channel.storage.bits <= 16 {
        return ((lowest..=highest).collect(), Coverage::Exhaustive);
    }
    let powers = (4..=32).flat_map(|bit| [1i64 << bit, -(1i64 << bit)]).chain([0]);
    let centres = powers.flat_map(|p| [p, p + channel.zero_point]).chain([lowest, highest]);
    let mut values: Vec<i64> = centres.flat_map(|c| c - AROUND..=c + AROUND).collect();
    let mut rng = stream(seed, &format!("rewrites/{name}"));
    values.extend((0..RANDOM).map(|_| lowest + i64::from(rng.next_u32())));
    values.retain(|v| (lowest..=highest).contains(v));
    values.sort_unstable();
    values.dedup();
    (values, Coverage::Sampled)
}
