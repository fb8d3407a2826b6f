//! Tensors in MLIR's C interface: descriptors of words (MLIR documentation, "LLVM IR Target", "C-compatible wrapper emission" and "Unranked MemRef
//! types").

use std::ffi::c_void;
use tiebreak_impls::frame::BYTE;
use tiebreak_impls::job_error::JobError;

/// Memory layout of an element: a whole number of bytes, a power of two, with the value in the low bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bits of a value.
    pub(crate) bits: u32,
    /// True if the highest bit of a value is its sign.
    pub(crate) signed: bool,
}

impl Layout {
    /// Returns the bytes from one element to the next.
    pub(crate) fn bytes(self) -> usize {
        (self.bits.div_ceil(8) as usize).next_power_of_two()
    }

    /// Returns the words of int32 that a value takes in a payload.
    pub(crate) fn words(self) -> usize {
        self.bits.div_ceil(32) as usize
    }

    /// Returns the value of the payload's words, zero-extended.
    pub(crate) fn value(self, words: &[i32]) -> u64 {
        let high = words.get(1).map_or(0, |word| u64::from(*word as u32) << 32);
        (u64::from(words[0] as u32) | high) & self.mask()
    }

    /// Writes the low bits of `value` as the payload's words, sign-extended if the type is signed.
    pub(crate) fn spread(self, value: u64, words: &mut [i32]) {
        let value = value & self.mask();
        let negative = self.signed && value >> (self.bits - 1) & 1 == 1;
        let value = if negative { value | !self.mask() } else { value };
        for (i, word) in words.iter_mut().enumerate() {
            *word = (value >> (32 * i)) as i32;
        }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Lays out values, `misalign` elements past a 64-byte boundary.
    pub(crate) fn pack(self, words: &[i32], misalign: usize) -> Packed {
        let (size, count) = (self.bytes(), words.len() / self.words());
        // A pattern surrounds the elements, so that code that reads too far does not find zeros.
        let mut storage = vec![BYTE; count * size + 128 + 16 * size];
        let start = storage.as_ptr().align_offset(64).min(64) + misalign * size;
        for (word, element) in words.chunks(self.words()).zip(storage[start..].chunks_mut(size)) {
            element.copy_from_slice(&self.value(word).to_le_bytes()[..size]);
        }
        Packed { storage, start }
    }

    /// Reads elements into the payload's words; the inverse of `pack`.
    fn unpack(self, bytes: &[u8], words: &mut [i32]) {
        for (element, words) in bytes.chunks(self.bytes()).zip(words.chunks_mut(self.words())) {
            let mut value = [0; 8];
            value[..element.len()].copy_from_slice(element);
            self.spread(u64::from_le_bytes(value), words);
        }
    }
}

/// Elements laid out in memory.
pub(crate) struct Packed {
    storage: Vec<u8>,
    start: usize,
}

impl Packed {
    fn pointer(&mut self) -> *mut u8 {
        self.storage[self.start..].as_mut_ptr()
    }
}

/// Type of the wrapper `_mlir_ciface_NAME(result, argument)`.
pub(crate) type Function = unsafe extern "C" fn(*mut usize, *mut usize);

unsafe extern "C" {
    fn free(pointer: *mut c_void);
}

/// Returns the descriptor of a row-major tensor: base, aligned base, offset, sizes, strides.
fn descriptor(pointer: *mut u8, shape: &[usize]) -> Vec<usize> {
    let mut words = vec![pointer as usize, pointer as usize, 0];
    words.extend(shape);
    words.extend((0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<usize>()));
    words
}

/// Calls `function` on a tensor of `shape`, and copies the result into `output`. Error if the result has another shape or shares the argument's
/// memory.
///
/// # Safety
/// `function` is a wrapper of MLIR's C interface with one tensor argument of `input`'s element type that it does not write, and
/// one tensor result of `element`'s type in fresh memory, both of this rank or both unranked.
pub(crate) unsafe fn call(
    function: Function,
    ranked: bool,
    shape: &[usize],
    mut input: Packed,
    element: Layout,
    output: &mut [i32],
) -> Result<(), JobError> {
    let mut argument = descriptor(input.pointer(), shape);
    let mut result = vec![0; argument.len()];
    if ranked {
        // SAFETY: both descriptors have this rank's words, and the argument's elements live as long as `input`.
        unsafe { function(result.as_mut_ptr(), argument.as_mut_ptr()) };
    } else {
        let mut unranked = [shape.len(), argument.as_mut_ptr() as usize];
        let mut returned = [0; 2];
        // SAFETY: as above; an unranked descriptor consists of a rank and a pointer to a ranked descriptor.
        unsafe { function(returned.as_mut_ptr(), unranked.as_mut_ptr()) };
        let [rank, pointer] = returned;
        if rank != shape.len() || pointer == 0 {
            let reason = format!("the result has {rank} dimensions, not {}", shape.len());
            return Err(JobError::Module(reason));
        }
        // SAFETY: a returned unranked descriptor points to a ranked descriptor of this rank on the heap, which the caller frees.
        unsafe {
            let words = std::slice::from_raw_parts(pointer as *const usize, argument.len());
            result.copy_from_slice(words);
            free(pointer as *mut c_void);
        }
    }
    // SAFETY: the words are a descriptor that the function has written, and the caller owns its result.
    unsafe { take(&result, &argument, element, output) }
}

/// Copies a result out and frees it.
///
/// # Safety
/// `result` is a descriptor that a function returned and that is not freed yet.
unsafe fn take(result: &[usize], argument: &[usize], element: Layout, output: &mut [i32]) -> Result<(), JobError> {
    let [base, aligned, offset] = [result[0], result[1], result[2]];
    if base == argument[0] {
        return Err(JobError::Module("the result lies where the argument lies".to_owned()));
    }
    let copied = if result[3..] == argument[3..] {
        let bytes = output.len() / element.words() * element.bytes();
        // SAFETY: sizes and strides are those of a row-major tensor with as many elements as `output`.
        let elements =
            unsafe { std::slice::from_raw_parts((aligned as *const u8).add(offset * element.bytes()), bytes) };
        element.unpack(elements, output);
        Ok(())
    } else {
        let (got, expected) = (&result[3..], &argument[3..]);
        Err(JobError::Module(format!("the result has sizes and strides {got:?}, not {expected:?}")))
    };
    // SAFETY: the function allocated the base, and this frees it once.
    unsafe { free(base as *mut c_void) };
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_bits() {
        for (bits, signed, word, bytes) in [(4, true, -8, 1), (4, false, 15, 1), (16, true, -2, 2), (32, false, -1, 4)]
        {
            let layout = Layout { bits, signed };
            assert_eq!(layout.bytes(), bytes);
            let mut packed = layout.pack(&[word, word], 3);
            assert_eq!(packed.pointer() as usize % 64, 3 * bytes);
            let mut words = [0; 2];
            layout.unpack(&packed.storage[packed.start..packed.start + 2 * bytes], &mut words);
            assert_eq!(words, [word, word], "{layout:?}");
        }
        let double = Layout { bits: 64, signed: false };
        let mut words = [0; 2];
        double.spread(double.value(&[1, -2]), &mut words);
        assert_eq!(words, [1, -2]);
    }

    #[test]
    fn above_the_bits_of_a_value_anything_may_lie() {
        let mut word = [0];
        Layout { bits: 4, signed: true }.spread(0xfffa, &mut word);
        assert_eq!(word, [-6]);
    }

    #[test]
    fn a_descriptor_is_row_major() {
        assert_eq!(descriptor(std::ptr::null_mut(), &[2, 3, 4]), [0, 0, 0, 2, 3, 4, 12, 4, 1]);
    }
}
