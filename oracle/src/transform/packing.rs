//! Packing of few bits into words, and its reverse: bit planes, and two nibbles in a byte. There are two forms: each bit of a result as a digit of a
//! number in base 2 ([`Packing::expected`]), and words by shifts, element by element ([`Packing::placed`]).
//!
//! Source: apache/tvm python/tvm/topi/nn/bitserial_util.py, bitpack; ONNX types INT4 and UINT4 (two in a byte, the first in the low bits);
//! TensorFlow Lite, packing of int4 weights.

use crate::shape::{self, ShapeError, broken};
use rug::Integer;

/// Position of the first element of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum First {
    /// Low bits.
    Low,
    /// High bits.
    High,
}

/// Layout of elements in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `[rows, columns]` as `[rows, bits, columns/word]`: a word has one bit from each of `word` elements.
    Planes {
        /// Bits of an element, 1 to 4.
        bits: usize,
        /// Bits of a word: 8, 16 or 32.
        word: usize,
    },
    /// `[rows, columns]` as `[rows, columns'/2]` bytes of two nibbles; the nibble after an odd last column is 0.
    Nibbles,
}

/// Packing, or the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    /// Layout of elements in words.
    pub form: Form,
    /// Position of the first element of a word.
    pub first: First,
    /// True if words are unpacked into elements; otherwise elements are packed into words.
    pub unpacks: bool,
    /// True if unpacked elements are sign extended; otherwise they are zero extended.
    pub signed: bool,
    /// Number of rows.
    pub rows: usize,
    /// Number of elements in a row.
    pub columns: usize,
}

impl Packing {
    /// Returns the number of bits of an element.
    fn bits(&self) -> usize {
        match self.form {
            Form::Planes { bits, .. } => bits,
            Form::Nibbles => 4,
        }
    }

    /// Returns the number of words of a row.
    fn words(&self) -> usize {
        match self.form {
            Form::Planes { bits, word } => bits * (self.columns / word),
            Form::Nibbles => self.columns.div_ceil(2),
        }
    }

    /// Returns the number of elements of input and output; the error is the invalid argument.
    pub(super) fn check(&self) -> Result<[usize; 2], ShapeError> {
        shape::positive(&[("rows", self.rows), ("columns", self.columns)])?;
        if let Form::Planes { bits, word } = self.form {
            if !(1..=4).contains(&bits) {
                return Err(broken("bits", format!("{bits} bits; it has 1 to 4")));
            }
            if ![8, 16, 32].contains(&word) {
                return Err(broken("word", format!("{word} bits; it has 8, 16 or 32")));
            }
            if !self.columns.is_multiple_of(word) {
                return Err(broken("columns", format!("{} columns are no whole words of {word}", self.columns)));
            }
        }
        let plain = shape::elements("elements", &[self.rows, self.columns])?;
        let packed = shape::elements("words", &[self.rows, self.words()])?;
        Ok(if self.unpacks { [packed, plain] } else { [plain, packed] })
    }

    /// Returns the word, counted from the row's first, and the bit in that word, for bit `bit` of the element at a column.
    fn place(&self, column: usize, bit: usize) -> (usize, usize) {
        match self.form {
            Form::Planes { word, .. } => {
                let within = column % word;
                let at = if self.first == First::Low { within } else { word - 1 - within };
                (bit * (self.columns / word) + column / word, at)
            }
            Form::Nibbles => {
                let high = (column % 2 == 1) == (self.first == First::Low);
                (column / 2, if high { bit + 4 } else { bit })
            }
        }
    }

    /// Computes the output for an input whose numbers are read modulo a power of two.
    pub(super) fn expected(&self, input: &[i32]) -> Vec<i32> {
        let per_row = if self.unpacks { self.words() } else { self.columns };
        let rows = input.chunks(per_row);
        rows.flat_map(|row| if self.unpacks { self.elements(row) } else { self.packed(row) }).collect()
    }

    /// Unpacks the elements of a row of words.
    fn elements(&self, words: &[i32]) -> Vec<i32> {
        let bit = |column: usize, bit: usize| {
            let (word, at) = self.place(column, bit);
            digit(words[word], at)
        };
        let element = |column: usize| number((0..self.bits()).map(|i| bit(column, i)), self.bits(), self.signed);
        (0..self.columns).map(element).collect()
    }

    /// Packs a row of elements into words.
    fn packed(&self, elements: &[i32]) -> Vec<i32> {
        let width = if let Form::Planes { word, .. } = self.form { word } else { 8 };
        let mut set = vec![vec![false; width]; self.words()];
        for (column, element) in elements.iter().enumerate() {
            for bit in 0..self.bits() {
                let (word, at) = self.place(column, bit);
                set[word][at] = digit(*element, bit);
            }
        }
        // Bits of a 32-bit word are read as an int32.
        set.into_iter().map(|bits| number(bits.into_iter(), width, width == 32)).collect()
    }

    /// Computes the output for an input by shifts, independently of the digits of [`Packing::expected`].
    pub(super) fn placed(&self, input: &[i32]) -> Vec<i32> {
        let rows = input.chunks(if self.unpacks { self.words() } else { self.columns });
        rows.flat_map(|row| self.shifted(row)).collect()
    }

    /// Transforms a row by shifts.
    fn shifted(&self, row: &[i32]) -> Vec<i32> {
        match (self.form, self.unpacks) {
            (Form::Nibbles, false) => row.chunks(2).map(|pair| self.byte(pair)).collect(),
            (Form::Nibbles, true) => row.iter().flat_map(|byte| self.nibbles(*byte)).take(self.columns).collect(),
            (Form::Planes { bits, word }, false) => {
                let plane = |bit| row.chunks(word).map(move |run| self.plane(bit, run));
                (0..bits).flat_map(plane).collect()
            }
            (Form::Planes { word, .. }, true) => {
                let planes: Vec<&[i32]> = row.chunks(self.columns / word).collect();
                (0..self.columns).map(|column| self.gathered(&planes, column, word)).collect()
            }
        }
    }

    fn byte(&self, pair: &[i32]) -> i32 {
        let [a, b] = [pair[0], pair.get(1).copied().unwrap_or(0)].map(|nibble| nibble & 15);
        if self.first == First::Low { b << 4 | a } else { a << 4 | b }
    }

    fn nibbles(&self, byte: i32) -> [i32; 2] {
        let of = |nibble: i32| if self.signed { nibble << 28 >> 28 } else { nibble & 15 };
        let both = [of(byte), of(byte >> 4)];
        if self.first == First::Low { both } else { [both[1], both[0]] }
    }

    fn plane(&self, bit: usize, run: &[i32]) -> i32 {
        let mut word = 0u32;
        for (i, element) in run.iter().enumerate() {
            let one = (*element as u32 >> bit) & 1;
            word = if self.first == First::Low { word | one << i } else { word << 1 | one };
        }
        word as i32
    }

    fn gathered(&self, planes: &[&[i32]], column: usize, word: usize) -> i32 {
        let shift = if self.first == First::Low { column % word } else { word - 1 - column % word };
        // The last plane is the highest bit. As a sign bit it has a negative weight.
        planes.iter().rev().enumerate().fold(0, |value, (i, plane)| {
            let bit = ((plane[column / word] as u32 >> shift) & 1) as i32;
            2 * value + if i == 0 && self.signed { -bit } else { bit }
        })
    }
}

/// Returns a binary digit of a number; a negative number has infinitely many leading ones.
fn digit(number: i32, bit: usize) -> bool {
    Integer::from(number).get_bit(bit as u32)
}

/// Returns the number of `width` bits, lowest first; the last bit of a signed number has a negative weight.
fn number(bits: impl Iterator<Item = bool>, width: usize, signed: bool) -> i32 {
    let mut sum = Integer::new();
    for (i, _) in bits.enumerate().filter(|(_, bit)| *bit) {
        let weight = Integer::from(1) << i as u32;
        if signed && i + 1 == width { sum -= weight } else { sum += weight }
    }
    sum.to_i32_wrapping()
}
