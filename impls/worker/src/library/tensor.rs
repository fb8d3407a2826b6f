//! Call of a function: tensors are converted to elements of C, in memory that shows writes outside the results.

use super::guarded::{Guarded, PATTERNS, Place};
use tiebreak_impls::element::Element;
use tiebreak_impls::job_error::JobError;

/// Element type in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// 4 bits, two elements in a byte, the first in the low half; inputs only.
    I4,
    I8,
    U8,
    I16,
    U16,
    /// int32, or the bits of an f32.
    Word,
    /// Bits of a double, in two words.
    Double,
    /// `size_t`; inputs only.
    Size,
}

impl Type {
    /// Returns the bytes of an element.
    fn bytes(self) -> usize {
        match self {
            Self::I4 | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::Word => 4,
            Self::Double => 8,
            Self::Size => size_of::<usize>(),
        }
    }

    /// Returns the bytes of a tensor with this number of words.
    fn size(self, words: usize) -> usize {
        match self {
            Self::I4 => words.div_ceil(2),
            Self::Double => words * 4,
            _ => words * self.bytes(),
        }
    }

    /// Writes each word as an element. An error is a word outside the type's range.
    fn pack(self, words: &[i32], bytes: &mut [u8]) -> Result<(), i32> {
        let range = match self {
            Self::I4 => -8..=7,
            Self::I8 => -128..=127,
            Self::U8 => 0..=255,
            Self::I16 => -32768..=32767,
            Self::U16 => 0..=65535,
            Self::Word | Self::Double => i32::MIN..=i32::MAX,
            Self::Size => 0..=i32::MAX,
        };
        if let Some(other) = words.iter().find(|word| !range.contains(word)) {
            return Err(*other);
        }
        match self {
            Self::I4 => Element::I4.pack(words, bytes),
            Self::I8 | Self::U8 => words.iter().zip(bytes).for_each(|(word, byte)| *byte = *word as u8),
            Self::I16 | Self::U16 => {
                let elements = bytes.as_chunks_mut::<2>().0;
                words.iter().zip(elements).for_each(|(word, element)| *element = (*word as u16).to_ne_bytes());
            }
            Self::Word | Self::Double => {
                let elements = bytes.as_chunks_mut::<4>().0;
                words.iter().zip(elements).for_each(|(word, element)| *element = word.to_ne_bytes());
            }
            Self::Size => {
                let elements = bytes.chunks_exact_mut(self.bytes());
                words.iter().zip(elements).for_each(|(n, bytes)| bytes.copy_from_slice(&(*n as usize).to_ne_bytes()));
            }
        }
        Ok(())
    }

    /// Reads the words of a tensor.
    fn unpack(self, bytes: &[u8], words: &mut [i32]) {
        let size = self.size(1);
        for (word, element) in words.iter_mut().zip(bytes.chunks_exact(size)) {
            *word = match (self, element) {
                (Self::I8, [a]) => i32::from(*a as i8),
                (Self::U8, [a]) => i32::from(*a),
                (Self::I16, [a, b]) => i32::from(i16::from_ne_bytes([*a, *b])),
                (Self::U16, [a, b]) => i32::from(u16::from_ne_bytes([*a, *b])),
                (_, [a, b, c, d]) => i32::from_ne_bytes([*a, *b, *c, *d]),
                _ => unreachable!("chunks are of the element's size"),
            };
        }
    }
}

/// Input: name in the header, type and values.
pub(super) type Input<'a> = (&'static str, Type, &'a [i32]);

/// Memory of all calls.
#[derive(Default)]
pub(super) struct Memory {
    inputs: Vec<Guarded>,
    /// Copies of the inputs before a call.
    before: Vec<Vec<u8>>,
    output: Guarded,
}

impl Memory {
    /// Calls `function` with pointers to the inputs, in their order, and to the results. Returns the function's return code.
    pub(super) fn call(
        &mut self,
        inputs: &[Input<'_>],
        result: Type,
        output: &mut [i32],
        misalign: usize,
        function: &dyn Fn(&[*const u8], *mut u8) -> i32,
    ) -> Result<i32, JobError> {
        let [first, second] = PATTERNS;
        let code = self.once(inputs, result, output.len(), misalign, first, function)?;
        if code != 0 {
            return Ok(code);
        }
        let size = result.size(1);
        let left = |bytes: &[u8], pattern: u8| -> Vec<usize> {
            let elements = bytes.chunks_exact(size).enumerate();
            elements.filter(|(_, element)| element.iter().all(|byte| *byte == pattern)).map(|(at, _)| at).collect()
        };
        let results = self.output.tensor();
        result.unpack(results, output);
        let suspects = left(results, first);
        if suspects.is_empty() {
            return Ok(0);
        }
        // A written result may equal the pattern, so the call is repeated with another pattern.
        if self.once(inputs, result, output.len(), misalign, second, function)? == 0 {
            let again = left(self.output.tensor(), second);
            if let Some(at) = suspects.into_iter().find(|at| again.contains(at)) {
                return Err(JobError::Unwritten { at, len: output.len() });
            }
        }
        Ok(0)
    }

    fn once(
        &mut self,
        inputs: &[Input<'_>],
        result: Type,
        results: usize,
        misalign: usize,
        pattern: u8,
        function: &dyn Fn(&[*const u8], *mut u8) -> i32,
    ) -> Result<i32, JobError> {
        self.inputs.resize_with(self.inputs.len().max(inputs.len()), Guarded::default);
        self.before.resize(self.inputs.len(), Vec::new());
        let tensors = inputs.iter().zip(&mut self.inputs).zip(&mut self.before);
        for (at, (((name, element, words), memory), before)) in tensors.enumerate() {
            let room = memory.room(element.size(words.len()), Place::of(misalign, at, element.bytes()), pattern)?;
            element.pack(words, room).map_err(|value| JobError::Element {
                operand: (*name).to_owned(),
                value,
                element: "value of its type",
            })?;
            before.clear();
            before.extend_from_slice(room);
        }
        self.output.room(result.size(results), Place::of(misalign, inputs.len(), result.bytes()), pattern)?;
        let pointers: Vec<*const u8> = self.inputs.iter().map(|memory| memory.pointer().cast_const()).collect();
        let code = function(&pointers[..inputs.len()], self.output.pointer());
        for (((name, ..), memory), before) in inputs.iter().zip(&mut self.inputs).zip(&self.before) {
            if std::hint::black_box(memory.tensor()) != before.as_slice() {
                return Err(JobError::ChangedOperand { operand: (*name).to_owned() });
            }
            stray(memory.strays(pattern), format!("around its input {name}"))?;
        }
        stray(self.output.strays(pattern), "around its results".to_owned())?;
        Ok(code)
    }
}

fn stray(changed: usize, place: String) -> Result<(), JobError> {
    if changed == 0 { Ok(()) } else { Err(JobError::StrayWrite { changed, unit: "bytes", place }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function that copies its input to its results, one byte each, and then applies `change`.
    fn call(change: impl Fn(*const u8, *mut u8), input: &[i32], misalign: usize) -> Result<Vec<i32>, JobError> {
        let mut output = vec![0; input.len()];
        let function = |inputs: &[*const u8], out: *mut u8| {
            // SAFETY: both are of the input's length.
            unsafe { std::ptr::copy_nonoverlapping(inputs[0], out, input.len()) };
            change(inputs[0], out);
            0
        };
        Memory::default().call(&[("acc", Type::I8, input)], Type::I8, &mut output, misalign, &function)?;
        Ok(output)
    }

    #[test]
    fn results_are_those_of_the_function() {
        let input = [1, -128, 127, i32::from(PATTERNS[0] as i8), i32::from(PATTERNS[1] as i8)];
        for misalign in 0..16 {
            assert_eq!(call(|_, _| {}, &input, misalign), Ok(input.to_vec()));
        }
    }

    #[test]
    fn what_a_function_does_beside_its_results_is_named() {
        // SAFETY: each writes within the memory of a call that is not at the end of its pages.
        unsafe {
            let said =
                |change: &dyn Fn(*const u8, *mut u8)| call(change, &[1, 2, 3], 3).expect_err("an error").to_string();
            assert_eq!(said(&|_, out| out.add(3).write(0)), "it wrote outside its results: 1 bytes around its results");
            assert_eq!(
                said(&|input, _| input.cast_mut().sub(1).write(0)),
                "it wrote outside its results: 1 bytes around its input acc"
            );
            assert_eq!(said(&|input, _| input.cast_mut().write(0)), "it changed its input acc");
        }
        let nothing = |_: &[*const u8], _: *mut u8| 0;
        let left = Memory::default().call(&[], Type::I16, &mut [0; 4], 0, &nothing);
        assert_eq!(left, Err(JobError::Unwritten { at: 0, len: 4 }));
    }

    #[test]
    fn words_keep_their_bits() {
        for (element, words) in [
            (Type::U16, vec![0, 65_535, 1]),
            (Type::I16, vec![-32_768, 32_767]),
            (Type::Word, vec![i32::MIN, 5]),
            (Type::Double, vec![7, i32::MIN, -1, 3]),
        ] {
            let mut bytes = vec![0; element.size(words.len())];
            element.pack(&words, &mut bytes).expect("values of the type");
            let mut back = vec![0; words.len()];
            element.unpack(&bytes, &mut back);
            assert_eq!(back, words, "{element:?}");
        }
        assert_eq!(Type::U8.pack(&[256], &mut [0]), Err(256));
        let mut halves = [0xFF; 2];
        assert_eq!((Type::I4.size(3), Type::I4.pack(&[-8, 7, -1], &mut halves), halves), (2, Ok(()), [0x78, 0x0F]));
        assert_eq!(Type::I4.pack(&[8], &mut [0]), Err(8));
        let mut sizes = [0; 2 * size_of::<usize>()];
        assert_eq!((Type::Size.size(2), Type::Size.pack(&[3, 70_000], &mut sizes)), (sizes.len(), Ok(())));
        let read =
            sizes.chunks_exact(size_of::<usize>()).map(|n| usize::from_ne_bytes(n.try_into().expect("its bytes")));
        assert_eq!(read.collect::<Vec<_>>(), [3, 70_000]);
    }
}
