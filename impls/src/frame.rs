//! Buffers of a call: results begin as a pattern, and the same pattern is on both sides of inputs and results. The frame checks after the call what
//! the kernel left of the pattern, and that the float mode is unchanged.

use crate::float_mode;
use crate::job_error::JobError;
use std::cell::RefCell;
use std::ops::{BitOr, BitXor};

/// Patterns in results and around buffers. If a result still equals the first pattern, the call is repeated over the second.
const PATTERNS: [i32; 2] = [0x5AD5_A3C7, !0x5AD5_A3C7];

/// Byte around operands of 8 or 16 bits. A sum that reads past an operand is wrong, as it would not be over zeros.
pub const BYTE: u8 = 0xA7;

/// Words in 64 bytes, the alignment of buffers before `misalign` is added.
const LINE: usize = 64 / size_of::<i32>();

/// Words in a page.
const PAGE: usize = 4096 / size_of::<i32>();

/// Smallest number of words between buffers: as many as the widest vector body of a kernel reads or writes at once.
const MARGIN: usize = 4 * LINE;

/// Returns the misalignment of the `at`th tensor of a call: for misalignments from 4, the tensors of a call have different alignments, and from 12 only
/// the first tensor is aligned.
pub fn apart(misalign: usize, at: usize) -> usize {
    match misalign {
        12.. => at * (misalign - 11),
        by => by + at * (by / 4),
    }
}

thread_local! {
    /// Words of the last call on this thread, reused.
    static WORDS: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

/// Positions of a call's buffers in its words.
struct Places {
    begin: usize,
    input: usize,
    output: usize,
    end: usize,
}

impl Places {
    /// Places both buffers `misalign` words past a 64-byte boundary. The page begins at word `first`. The input is near the start of the page for an
    /// even misalignment, and in its last 64 bytes for an odd one, so that the input crosses into the next page. The place in the page depends only
    /// on the call, so the same call shows an address-dependent fault again.
    fn new(first: usize, misalign: usize, input: usize, output: usize) -> Self {
        let line = if misalign.is_multiple_of(2) { MARGIN } else { PAGE - LINE };
        let at = first + line + misalign % LINE;
        let output_at = at + (input + MARGIN).next_multiple_of(LINE);
        Self { begin: at - MARGIN, input: at, output: output_at, end: output_at + output + MARGIN }
    }

    /// Checks that a call changed only its results.
    fn check(&self, words: &[i32], pattern: i32, input: &[i32], results: usize) -> Result<(), JobError> {
        let kept = &words[self.input..][..input.len()];
        if !are_equal(kept, input)
            && let Some(at) = kept.iter().zip(input).position(|(kept, input)| kept != input)
        {
            return Err(JobError::ChangedInput { at, len: input.len() });
        }
        let margins = [
            ("before its input", self.begin..self.input),
            ("between its input and its results", self.input + input.len()..self.output),
            ("after its results", self.output + results..self.end),
        ];
        for (place, margin) in margins {
            let margin = &words[margin];
            if is_all(margin, pattern) {
                continue;
            }
            let changed = margin.iter().filter(|word| **word != pattern).count();
            return Err(JobError::StrayWrite { changed, unit: "words", place: place.to_owned() });
        }
        Ok(())
    }
}

/// Runs `call` on copies of `input` and of `output` that begin `misalign` words past a 64-byte boundary, with a pattern around both.
///
/// Errors: the error of the call, or that the kernel wrote outside its buffers, changed its input, left a result unwritten, or changed the float
/// mode.
pub fn run(
    input: &[i32],
    output: &mut [i32],
    misalign: usize,
    mut call: impl FnMut(&[i32], &mut [i32]) -> Result<(), JobError>,
) -> Result<(), JobError> {
    // Taken, not borrowed: after a panic in the call nothing stays locked.
    let mut words = WORDS.take();
    let [first, second] = PATTERNS;
    framed(&mut words, first, input, output, misalign, &mut call)?;
    // No early exit, as in the comparisons below.
    if output.iter().fold(false, |seen, word| seen | (*word == first)) {
        let suspects: Vec<usize> = (0..output.len()).filter(|i| output[*i] == first).collect();
        let mut again = vec![0; output.len()];
        framed(&mut words, second, input, &mut again, misalign, &mut call)?;
        if let Some(i) = suspects.into_iter().find(|i| again[*i] == second) {
            return Err(JobError::Unwritten { at: i, len: output.len() });
        }
    }
    WORDS.set(words);
    Ok(())
}

/// Runs a call on plain buffers, as a sweep does, and checks only the float mode.
pub fn plain(call: impl FnOnce() -> Result<(), JobError>) -> Result<(), JobError> {
    float_mode::kept(call)
}

/// True if two buffers of one length are equal. Compares all elements with plain vector instructions: the C library's comparison uses other
/// instructions, on which an emulator spent more time than on most kernels.
pub(crate) fn are_equal<T: Copy + BitXor<Output = T> + BitOr<Output = T> + Default + PartialEq>(
    a: &[T],
    b: &[T],
) -> bool {
    assert_eq!(a.len(), b.len(), "of one length");
    a.iter().zip(b).fold(T::default(), |differences, (a, b)| differences | (*a ^ *b)) == T::default()
}

/// True if every word equals `word`; no early exit, for the same reason.
fn is_all(words: &[i32], word: i32) -> bool {
    words.iter().fold(0, |differences, other| differences | (other ^ word)) == 0
}

/// Makes one call over one pattern.
fn framed(
    words: &mut Vec<i32>,
    pattern: i32,
    input: &[i32],
    output: &mut [i32],
    misalign: usize,
    call: &mut impl FnMut(&[i32], &mut [i32]) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let needed = input.len() + output.len() + 3 * MARGIN + 4 * LINE + 2 * PAGE;
    if words.len() < needed {
        words.resize(needed, pattern);
    }
    // If an allocator cannot tell a boundary, the buffers stay at their place: alignment changes coverage, not results.
    let boundary = words.as_ptr().align_offset(4096);
    let places = Places::new(if boundary < PAGE { boundary } else { 0 }, misalign, input.len(), output.len());
    words[places.begin..places.input].fill(pattern);
    words[places.input..][..input.len()].copy_from_slice(input);
    words[places.input + input.len()..places.end].fill(pattern);
    let (before, after) = words.split_at_mut(places.output);
    float_mode::kept(|| call(&before[places.input..][..input.len()], &mut after[..output.len()]))?;
    // Without `black_box` the compiler may assume that a shared input is unchanged, and remove the check.
    places.check(std::hint::black_box(words), pattern, input, output.len())?;
    output.copy_from_slice(&words[places.output..][..output.len()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: [i32; 5] = [1, 2, 3, 4, 5];

    fn copied(misalign: usize) -> [i32; 5] {
        let mut output = [0; 5];
        let copy = |input: &[i32], output: &mut [i32]| {
            assert_eq!(input.as_ptr().addr() % 64, misalign % LINE * 4);
            assert_eq!(output.as_ptr().addr() % 64, misalign % LINE * 4);
            output.copy_from_slice(input);
            Ok(())
        };
        run(&INPUT, &mut output, misalign, copy).expect("it wrote all of its results and nothing else");
        output
    }

    #[test]
    fn results_are_given_at_every_alignment() {
        for misalign in 0..=LINE {
            assert_eq!(copied(misalign), INPUT);
        }
    }

    /// Origin: issue 30, item 16. A fault at the end of a page came and went with earlier allocations.
    #[test]
    fn places_in_a_page_depend_on_the_call_alone() {
        let place = |misalign: usize, len: usize| {
            let mut at = [0; 2];
            let input = vec![1; len];
            let copy = |input: &[i32], output: &mut [i32]| {
                at = [input.as_ptr().addr() % 4096, output.as_ptr().addr() % 4096];
                output.copy_from_slice(input);
                Ok(())
            };
            run(&input, &mut vec![0; len], misalign, copy).expect("it wrote all of its results");
            at
        };
        let first: Vec<_> = (0..LINE).map(|misalign| place(misalign, 40)).collect();
        place(3, 100_000);
        assert_eq!((0..LINE).map(|misalign| place(misalign, 40)).collect::<Vec<_>>(), first);
        assert!(first[1][0] + 40 * 4 > 4096 && first[2][0] + 40 * 4 <= 4096, "of two, one lies in two pages");
    }

    #[test]
    fn a_result_may_be_the_pattern() {
        let mut output = [0; 2];
        run(&[], &mut output, 0, |_, output| {
            output.copy_from_slice(&PATTERNS);
            Ok(())
        })
        .expect("both were written");
        assert_eq!(output, PATTERNS);
    }

    #[test]
    fn a_result_that_is_not_written_is_named() {
        let mut output = [0; 5];
        let left = run(&INPUT, &mut output, 3, |input, output| {
            output[..4].copy_from_slice(&input[..4]);
            Ok(())
        });
        assert_eq!(left, Err(JobError::Unwritten { at: 4, len: 5 }));
    }

    #[test]
    fn writes_elsewhere_are_named_with_their_place() {
        let places = Places::new(2, 3, INPUT.len(), 4);
        let mut words = vec![PATTERNS[0]; places.end];
        words[places.input..][..INPUT.len()].copy_from_slice(&INPUT);
        words[places.output..][..4].copy_from_slice(&[1, 2, 3, 4]);
        let mut check = |place: usize| {
            let word = std::mem::replace(&mut words[place], 77);
            let said = places.check(&words, PATTERNS[0], &INPUT, 4);
            words[place] = word;
            said.err().map(|error| error.to_string())
        };
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(check(places.output + 3), None);
        assert_eq!(check(places.output + 4), said("it wrote outside its results: 1 words after its results"));
        assert_eq!(check(places.end - 1), said("it wrote outside its results: 1 words after its results"));
        assert_eq!(
            check(places.output - 1),
            said("it wrote outside its results: 1 words between its input and its results")
        );
        assert_eq!(
            check(places.input + 5),
            said("it wrote outside its results: 1 words between its input and its results")
        );
        assert_eq!(check(places.input - 1), said("it wrote outside its results: 1 words before its input"));
        assert_eq!(check(places.input + 2), said("it changed its input: element 2 of 5"));
    }

    #[test]
    fn the_next_call_begins_anew() {
        assert!(run(&INPUT, &mut [0; 5], 0, |_, _| Err(JobError::NoRanges)).is_err());
        assert_eq!(copied(0), INPUT);
    }
}
