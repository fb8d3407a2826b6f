//! Shard of a command's units: every `of`th unit, starting with the `index`th.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Every `of`th unit, starting with the `index`th, counted from 1. If `of` exceeds the number of units, some shards are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard {
    /// Number of the shard, in 1..=of.
    pub index: u32,
    /// Number of shards.
    pub of: u32,
}

impl Shard {
    /// True if the shard has the unit of this number, counted from 0.
    pub fn has(self, unit: u64) -> bool {
        Self::with(unit, self.of) == self
    }

    /// Returns the shard, one of `of`, that has the unit.
    pub fn with(unit: u64, of: u32) -> Self {
        Self { index: (unit % u64::from(of) + 1) as u32, of }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            Some((index, of)) => Err(format!("there is no shard {index} of {of}: I/N goes from 1/N to N/N")),
            None => Err("two numbers are wanted, I/N, such as 2/3".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Serialize for Shard {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_of_one_shard() {
        for of in 1..9 {
            for unit in 0..20 {
                let owners = (1..=of).filter(|index| Shard { index: *index, of }.has(unit)).count();
                assert_eq!(owners, 1, "unit {unit} of {of}");
            }
        }
        assert!((0..3).all(|unit| !Shard { index: 4, of: 4 }.has(unit)), "more shards than units");
    }

    #[test]
    fn a_shard_is_one_of_its_number() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, of: 4 }));
        for wrong in ["0/4", "5/4", "4", "a/b", "1/0", "-1/2", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
