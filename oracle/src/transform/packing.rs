//! Packing of few bits into words, and its reverse: bit planes, and two nibbles in a byte. Twice: each bit of a result as a digit of a number in base 2
//! ([`Packing::expected`]), and words by shifts, element by element ([`Packing::placed`]).
//!
//! Source: apache/tvm python/tvm/topi/nn/bitserial_util.py, bitpack; ONNX types INT4 and UINT4 (two in a byte, the first one in the low bits);
//! TensorFlow Lite, packing of int4 weights.

use crate::shape::{self, ShapeError, broken};
use rug::Integer;

/// Where the first element of a word lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum First {
    /// In the low bits.
    Low,
    /// In the high bits.
    High,
}

/// How elements lie in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `[rows, columns]` as `[rows, bits, columns/word]`: a word has one bit of as many elements as it has bits.
    Planes {
        /// Bits of an element, 1 to 4.
        bits: usize,
        /// Bits of a word: 8, 16 or 32.
        word: usize,
    },
    /// `[rows, columns]` as `[rows, columns'/2]` bytes of two nibbles; what is beyond the last column of an odd number is 0.
    Nibbles,
}

/// A packing, or the reverse of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    /// How elements lie in words.
    pub form: Form,
    /// Where the first element of a word lies.
    pub first: First,
    /// Whether words are unpacked into elements; otherwise elements are packed into words.
    pub unpacks: bool,
    /// Whether unpacked elements are sign extended; otherwise they are zero extended.
    pub signed: bool,
    /// Rows.
    pub rows: usize,
    /// Elements of a row.
    pub columns: usize,
}

impl Packing {
    /// Bits of an element.
    fn bits(&self) -> usize {
        match self.form {
            Form::Planes { bits, .. } => bits,
            Form::Nibbles => 4,
        }
    }

    /// Words of a row.
    fn words(&self) -> usize {
        match self.form {
            Form::Planes { bits, word } => bits * (self.columns / word),
            Form::Nibbles => self.columns.div_ceil(2),
        }
    }

    /// Elements of the input and of the output, or the invalid argument.
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

    /// The word, counted from the row's first, and the bit of it that hold bit `bit` of the element at a column.
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

    /// The output for an input, whose numbers are read modulo a power of two.
    pub(super) fn expected(&self, input: &[i32]) -> Vec<i32> {
        let per_row = if self.unpacks { self.words() } else { self.columns };
        let rows = input.chunks(per_row);
        rows.flat_map(|row| if self.unpacks { self.elements(row) } else { self.packed(row) }).collect()
    }

    /// The elements of a row of words.
    fn elements(&self, words: &[i32]) -> Vec<i32> {
        let bit = |column: usize, bit: usize| {
            let (word, at) = self.place(column, bit);
            digit(words[word], at)
        };
        let element = |column: usize| number((0..self.bits()).map(|i| bit(column, i)), self.bits(), self.signed);
        (0..self.columns).map(element).collect()
    }

    /// The words of a row of elements.
    fn packed(&self, elements: &[i32]) -> Vec<i32> {
        let width = if let Form::Planes { word, .. } = self.form { word } else { 8 };
        let mut set = vec![vec![false; width]; self.words()];
        for (column, element) in elements.iter().enumerate() {
            for bit in 0..self.bits() {
                let (word, at) = self.place(column, bit);
                set[word][at] = digit(*element, bit);
            }
        }
        // A word of 32 bits is the int32 of its bits.
        set.into_iter().map(|bits| number(bits.into_iter(), width, width == 32)).collect()
    }

    /// The output for an input by shifts, which no digit of [`Packing::expected`] is part of.
    pub(super) fn placed(&self, input: &[i32]) -> Vec<i32> {
        let rows = input.chunks(if self.unpacks { self.words() } else { self.columns });
        rows.flat_map(|row| self.shifted(row)).collect()
    }

    /// A row by shifts.
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
        // The last plane is the highest bit, whose weight is negative if it is the sign.
        planes.iter().rev().enumerate().fold(0, |value, (i, plane)| {
            let bit = ((plane[column / word] as u32 >> shift) & 1) as i32;
            2 * value + if i == 0 && self.signed { -bit } else { bit }
        })
    }
}

/// A digit of a number in base 2, of a negative number as if its digits had no end.
fn digit(number: i32, bit: usize) -> bool {
    Integer::from(number).get_bit(bit as u32)
}

/// The number of so many bits, lowest first; the last one has a negative weight if the number is signed.
fn number(bits: impl Iterator<Item = bool>, width: usize, signed: bool) -> i32 {
    let mut sum = Integer::new();
    for (i, _) in bits.enumerate().filter(|(_, bit)| *bit) {
        let weight = Integer::from(1) << i as u32;
        if signed && i + 1 == width { sum -= weight } else { sum += weight }
    }
    sum.to_i32_wrapping()
}
