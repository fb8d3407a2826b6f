//! Interval of accumulators on which a scheme is the floor of an affine function.

/// Piece of a scheme: on `lo..=hi` the value is `floor((m*x + c) / 2^k)`, minus one at those exact multiples of `2^k` that `ties` selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// First accumulator.
    pub lo: i64,
    /// Last accumulator.
    pub hi: i64,
    /// Slope numerator; 0 for a constant.
    pub m: i128,
    /// Offset numerator.
    pub c: i128,
    /// Denominator exponent.
    pub k: u32,
    /// Rule at exact multiples.
    pub ties: Ties,
}

/// Rule at multiples of `2^k`. Ties to even equals ties up, minus one if ties up gives an odd
/// number; these accumulators are an arithmetic progression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ties {
    /// No correction.
    Floored,
    /// An odd quotient is reduced by one.
    OddDown,
    /// An even quotient is reduced by one: ties to even plus an odd number.
    EvenDown,
}

impl Ties {
    /// Returns the parity of the exact quotients that are reduced by one.
    pub(crate) fn parity(self) -> Option<i128> {
        match self {
            Self::Floored => None,
            Self::OddDown => Some(1),
            Self::EvenDown => Some(0),
        }
    }
}

impl Piece {
    /// Computes the value at `x`, which must be in the piece.
    pub fn at(&self, x: i64) -> i128 {
        let numerator = self.numerator(x);
        let floor = numerator >> self.k;
        match self.ties.parity() {
            Some(parity) if floor << self.k == numerator && floor & 1 == parity => floor - 1,
            _ => floor,
        }
    }

    /// Returns the same function over the smallest denominator: `floor((2a*x + b) / 2^(k+1)) = floor((a*x + floor(b/2)) / 2^k)`.
    pub fn reduced(&self) -> Self {
        let mut piece = *self;
        while piece.ties == Ties::Floored && piece.k > 0 && piece.m & 1 == 0 {
            (piece.m, piece.c, piece.k) = (piece.m >> 1, piece.c >> 1, piece.k - 1);
        }
        piece
    }

    /// Returns the last accumulator of the piece up to which the value equals the value at `x`, which must be in the piece.
    pub fn last_alike(&self, x: i64) -> i64 {
        let (value, rest) = (self.at(x), Self { lo: x, ..*self });
        let alike = if self.m > 0 { rest.split(value + 1).0 } else { rest.split(value).1 };
        alike.map_or(x, |piece| piece.hi)
    }

    /// Computes `m*x + c`.
    pub(crate) fn numerator(&self, x: i64) -> i128 {
        self.m * i128::from(x) + self.c
    }

    /// Returns the part from `lo` to `hi`; `None` if it is empty.
    pub(crate) fn slice(self, lo: i64, hi: i64) -> Option<Self> {
        (lo <= hi).then_some(Self { lo, hi, ..self })
    }

    /// Adds `by` to every value.
    pub(crate) fn raised(mut self, by: i128) -> Self {
        self.c += by << self.k;
        self.ties = match self.ties {
            Ties::OddDown if by & 1 == 1 => Ties::EvenDown,
            Ties::EvenDown if by & 1 == 1 => Ties::OddDown,
            same => same,
        };
        self
    }

    /// Returns a constant piece on the same interval.
    pub(crate) fn constant(self, value: i128) -> Self {
        Self { m: 0, c: value, k: 0, ties: Ties::Floored, ..self }
    }

    /// Splits into the part with values below `t` and the part with values of at least `t`. Values are monotone in x, ties included.
    pub(crate) fn split(self, t: i128) -> (Option<Self>, Option<Self>) {
        let ends = (self.at(self.lo), self.at(self.hi));
        if ends.0.min(ends.1) >= t {
            return (None, Some(self));
        }
        if ends.0.max(ends.1) < t {
            return (Some(self), None);
        }
        // value >= t  <=>  m*x >= t*2^k - c, or m*x > t*2^k - c if the exact multiple t is reduced by one.
        let need = (t << self.k) - self.c + i128::from(self.ties.parity() == Some(t & 1));
        if self.m > 0 {
            let first = -div_floor(-need, self.m) as i64;
            (self.slice(self.lo, first - 1), self.slice(first, self.hi))
        } else {
            let last = div_floor(-need, -self.m) as i64;
            (self.slice(last + 1, self.hi), self.slice(self.lo, last))
        }
    }

    /// Cuts at word boundaries, so that each part wraps by one multiple of the word. `None` if more than `most` boundaries are crossed.
    pub(crate) fn wrapped(self, bits: u32, most: usize, out: &mut Vec<Self>) -> Option<()> {
        let turn = |v: i128| (v + (1 << (bits - 1))) >> bits;
        let (a, b) = (turn(self.at(self.lo)), turn(self.at(self.hi)));
        if (b - a).unsigned_abs() as usize > most {
            return None;
        }
        let mut rest = Some(self);
        while let Some(piece) = rest {
            // A steep slope skips most turns between consecutive accumulators.
            let j = turn(piece.at(piece.lo).min(piece.at(piece.hi)));
            let (here, above) = piece.split((1i128 << (bits - 1)) + (j << bits));
            out.extend(here.map(|p| p.raised(-(j << bits))));
            rest = above;
        }
        Some(())
    }

    /// Cuts where the value leaves `lo..=hi`, and replaces outside values by the nearer end.
    pub(crate) fn clamped(self, lo: i128, hi: i128, out: &mut Vec<Self>) {
        let (below, rest) = self.split(lo);
        out.extend(below.map(|p| p.constant(lo)));
        let (middle, above) = rest.map_or((None, None), |r| r.split(hi + 1));
        out.extend(middle);
        out.extend(above.map(|p| p.constant(hi)));
    }

    /// Returns the part whose value is in `lo..=hi`.
    pub(crate) fn within(self, lo: i128, hi: i128) -> Option<Self> {
        self.split(lo).1.and_then(|p| p.split(hi + 1).0)
    }
}

/// Computes `floor(a / positive)`. Most numerators fit in 64 bits, where division is several times faster.
pub(crate) fn div_floor(a: i128, positive: i128) -> i128 {
    match (i64::try_from(a), i64::try_from(positive)) {
        (Ok(a), Ok(positive)) => a.div_euclid(positive).into(),
        _ => a.div_euclid(positive),
    }
}
