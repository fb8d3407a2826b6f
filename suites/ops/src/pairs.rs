//! Text form of the channels' multipliers and shifts in a case: `m` and `s`, separated by commas.

use tiebreak_engine::operation::{Arguments, CaseError, arguments};
use tiebreak_impls::fpm::Channel;
use tiebreak_reports::ledger::Value;

/// Lists of multipliers and of shifts, each with a value for each channel or one for all.
pub(crate) struct Lists {
    multipliers: Vec<i32>,
    shifts: Vec<i32>,
}

impl Lists {
    /// Takes the lists out of the arguments.
    pub(crate) fn take(left: &mut Arguments) -> Result<Self, CaseError> {
        let multipliers = arguments::take_list(left, "m", 1 << 30, i32::MIN..=i32::MAX)?;
        let shifts = arguments::take_list(left, "s", 0, -31..=31)?;
        Ok(Self { multipliers, shifts })
    }

    /// Returns the number of channels: the length of the longer list.
    pub(crate) fn channels(&self) -> usize {
        self.multipliers.len().max(self.shifts.len())
    }

    /// Returns the pair of each channel.
    pub(crate) fn pairs(self, channels: usize) -> Result<Vec<Channel>, CaseError> {
        let shifts = arguments::repeated("s", self.shifts, channels)?;
        let multipliers = arguments::repeated("m", self.multipliers, channels)?;
        let pairs = multipliers.into_iter().zip(shifts);
        Ok(pairs.map(|(multiplier, shift)| Channel { multiplier, shift }).collect())
    }
}

/// Formats both lists with their names.
pub(crate) fn written(channels: &[Channel]) -> [(&'static str, Value); 2] {
    let multipliers: Vec<i32> = channels.iter().map(|c| c.multiplier).collect();
    let shifts: Vec<i32> = channels.iter().map(|c| c.shift).collect();
    [("m", arguments::list_value(&multipliers)), ("s", arguments::list_value(&shifts))]
}
