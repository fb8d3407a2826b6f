//! Operands with constant or equal slices along an axis. Code has special paths for them: a pruned filter, a padded channel, a repeated row.

use serde::{Deserialize, Serialize};

/// Least number of words of a slice; shorter slices are equal by chance.
const LEAST: usize = 4;

/// Condition on the slices of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slices {
    /// Number of the operand, from 0.
    pub operand: usize,
    /// Cut of the operand into slices.
    pub along: Along,
    /// Property of the slices, at least two.
    pub are: Likeness,
}

/// Cut of an operand into slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// A slice for each index of an axis.
    Axis(usize),
    /// Blocks with a number of words; a rest is ignored.
    Blocks(usize),
}

/// Property of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// Some slices are constant, and some are not.
    OneConstant,
    /// All slices except a single slice are constant.
    OneVaried,
    /// Some slice equals the previous slice and is not constant, and not all slices are equal.
    TwoAlike,
    /// All slices equal the first, which is not constant.
    AllAlike,
}

impl Likeness {
    /// Properties with the names of their faults.
    pub const ALL: [(&str, Self); 4] = [
        ("a slice of one value", Self::OneConstant),
        ("all slices but one of one value", Self::OneVaried),
        ("two slices alike", Self::TwoAlike),
        ("all slices alike", Self::AllAlike),
    ];
}

/// Words of an operand, with dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Words of the operand, row-major.
    pub words: &'a [i32],
    /// Sizes of the axes; an operand with several words for an element has no axes of words.
    pub dimensions: &'a [usize],
}

/// Operand cut into slices: blocks of `size` slices with `stride` words each.
struct Cut<'a> {
    words: &'a [i32],
    stride: usize,
    size: usize,
}

impl Slices {
    /// True if the operand of a batch has the property.
    pub fn hold(&self, operands: &[Operand<'_>]) -> bool {
        let Some(cut) = operands.get(self.operand).and_then(|operand| Cut::of(operand, self.along)) else {
            return false;
        };
        let constant = || (0..cut.size).filter(|at| cut.is_constant(*at)).count();
        let pairs = || (1..cut.size).filter(|at| cut.is_as_before(*at)).collect::<Vec<_>>();
        match self.are {
            Likeness::OneConstant => (1..cut.size).contains(&constant()),
            Likeness::OneVaried => constant() == cut.size - 1,
            Likeness::TwoAlike => {
                let pairs = pairs();
                pairs.len() < cut.size - 1 && pairs.iter().any(|at| !cut.is_constant(*at))
            }
            Likeness::AllAlike => pairs().len() == cut.size - 1 && !cut.is_constant(0),
        }
    }
}

impl<'a> Cut<'a> {
    fn of(operand: &Operand<'a>, along: Along) -> Option<Self> {
        let Operand { words, dimensions } = *operand;
        let cut = match along {
            Along::Axis(axis) => {
                let size = *dimensions.get(axis)?;
                let stride = dimensions[axis + 1..].iter().product();
                (dimensions.iter().product::<usize>() == words.len()).then_some(Self { words, stride, size })?
            }
            Along::Blocks(stride) => {
                let size = words.len().checked_div(stride)?;
                Self { words: &words[..size * stride], stride, size }
            }
        };
        (cut.size > 1 && cut.words.len() / cut.size >= LEAST).then_some(cut)
    }

    /// Returns the contiguous parts of a slice.
    fn parts(&self, at: usize) -> impl Iterator<Item = &'a [i32]> {
        let (from, until) = (at * self.stride, (at + 1) * self.stride);
        self.words.chunks(self.size * self.stride).map(move |block| &block[from..until])
    }

    fn is_constant(&self, at: usize) -> bool {
        let first = self.words[at * self.stride];
        self.parts(at).all(|part| part.iter().all(|word| *word == first))
    }

    fn is_as_before(&self, at: usize) -> bool {
        self.parts(at).eq(self.parts(at - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(words: &[i32], dimensions: &[usize], along: Along) -> Vec<Likeness> {
        let holds = |are: &Likeness| Slices { operand: 0, along, are: *are }.hold(&[Operand { words, dimensions }]);
        Likeness::ALL.into_iter().map(|(_, are)| are).filter(holds).collect()
    }

    #[test]
    fn slices_along_each_axis_are_held_against_each_other() {
        let (rows, columns) = (Along::Axis(0), Along::Axis(1));
        let varied = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(all(&varied, &[4, 4], rows), []);
        assert_eq!(all(&varied, &[4, 4], columns), []);
        let pruned = [1, 2, 3, 4, 0, 0, 0, 0, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(all(&pruned, &[4, 4], rows), [Likeness::OneConstant]);
        assert_eq!(all(&pruned, &[4, 4], columns), []);
        assert_eq!(all(&pruned, &[16], Along::Blocks(4)), [Likeness::OneConstant]);
        let one = [1, 2, 3, 4, 0, 0, 0, 0, 7, 7, 7, 7];
        assert_eq!(all(&one, &[3, 4], rows), [Likeness::OneConstant, Likeness::OneVaried]);
        let twice = [1, 5, 5, 2, 6, 6, 3, 7, 7, 4, 8, 8];
        assert_eq!(all(&twice, &[4, 3], columns), [Likeness::TwoAlike]);
        let repeated = [1, 2, 3, 4, 1, 2, 3, 4, 9];
        assert_eq!(all(&repeated[..8], &[2, 4], rows), [Likeness::AllAlike]);
        assert_eq!(all(&repeated, &[9], Along::Blocks(4)), [Likeness::AllAlike]);
        assert_eq!(all(&[7; 16], &[4, 4], rows), [], "one value alone is another place");
        assert_eq!(all(&[1, 2, 1, 2], &[2, 2], rows), [], "two words are alike by chance");
        assert_eq!(all(&repeated, &[2, 4], rows), [], "elements of more than a word have no axes of words");
    }
}
