//! Memory of a call's tensors. Each tensor has its own pages, between two pages without access, so that a read or a write beyond them ends the
//! process. The bytes between a tensor and these pages have a pattern, which is checked after the call.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use tiebreak_impls::frame::{BYTE, apart};
use tiebreak_impls::job_error::JobError;

/// Bytes of a page, or of several smaller pages.
const PAGE: usize = 1 << 16;

/// Alignment of a tensor in bytes, before it is misaligned.
const LINE: usize = 64;

/// Number of pattern bytes checked before a tensor; after it, all bytes are checked.
const MARGIN: usize = 4 * LINE;

/// Memory of one tensor, reused by every call.
pub(super) struct Guarded {
    base: *mut u8,
    /// Number of accessible bytes, between two pages without access.
    len: usize,
    /// Position of the latest tensor in the accessible bytes.
    place: Range<usize>,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Guarded {}

impl Default for Guarded {
    fn default() -> Self {
        Self { base: ptr::null_mut(), len: 0, place: 0..0 }
    }
}

/// Position of a tensor.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Last byte directly before a page without access.
    AtTheEnd,
    /// First byte directly after a page without access.
    AtTheBeginning,
    /// Start at this number of bytes past a boundary of 64.
    Past(usize),
}

impl Guarded {
    /// Makes room for a tensor of `bytes`, fills the tensor and the checked bytes around it with `pattern`, and returns the tensor.
    pub(super) fn room(&mut self, bytes: usize, place: Place, pattern: u8) -> Result<&mut [u8], JobError> {
        let needed = (bytes + MARGIN + 2 * LINE).next_multiple_of(PAGE);
        if self.len < needed {
            self.map(needed)?;
        }
        let start = match place {
            Place::AtTheEnd => self.len - bytes,
            Place::AtTheBeginning => 0,
            Place::Past(by) => (self.len - bytes - by) / LINE * LINE + by,
        };
        self.place = start..start + bytes;
        let around = self.around();
        let all = self.all();
        all[around.start..around.end].fill(pattern);
        Ok(&mut self.all()[start..start + bytes])
    }

    /// Returns the tensor.
    pub(super) fn tensor(&mut self) -> &mut [u8] {
        let place = self.place.clone();
        &mut self.all()[place]
    }

    /// Returns the tensor's address.
    pub(super) fn pointer(&self) -> *mut u8 {
        // SAFETY: the place is within the mapping.
        unsafe { self.base.add(self.place.start) }
    }

    /// Counts the bytes around the tensor that no longer have the pattern.
    pub(super) fn strays(&mut self, pattern: u8) -> usize {
        let (around, place) = (self.around(), self.place.clone());
        let all = self.all();
        let changed = |range: Range<usize>| all[range].iter().filter(|byte| **byte != pattern).count();
        changed(around.start..place.start) + changed(place.end..around.end)
    }

    /// Returns the range of the tensor with its checked bytes.
    fn around(&self) -> Range<usize> {
        let behind = if self.place.start == 0 { (self.place.end + MARGIN).min(self.len) } else { self.len };
        self.place.start.saturating_sub(MARGIN)..behind
    }

    fn all(&mut self) -> &mut [u8] {
        if self.base.is_null() {
            return &mut [];
        }
        // SAFETY: `map` made this number of bytes, zeroed, and no other reference to them exists.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len) }
    }

    fn map(&mut self, len: usize) -> Result<(), JobError> {
        self.unmap();
        let failed =
            |error: rustix::io::Errno| JobError::Module(format!("no memory for a tensor of {len} bytes: {error}"));
        // SAFETY: a new mapping, which nothing refers to.
        let whole = unsafe { mmap_anonymous(ptr::null_mut(), len + 2 * PAGE, ProtFlags::empty(), MapFlags::PRIVATE) };
        let base = whole.map_err(failed)?.cast::<u8>().wrapping_add(PAGE);
        // SAFETY: these pages are in the middle of the mapping.
        unsafe { mprotect(base.cast::<c_void>(), len, MprotectFlags::READ | MprotectFlags::WRITE) }.map_err(failed)?;
        (self.base, self.len) = (base, len);
        Ok(())
    }

    fn unmap(&mut self) {
        if !self.base.is_null() {
            // SAFETY: `map` made this mapping, and no reference to it is left. `munmap` would fail only without a mapping.
            let _ = unsafe { munmap(self.base.wrapping_sub(PAGE).cast::<c_void>(), self.len + 2 * PAGE) };
            (self.base, self.len) = (ptr::null_mut(), 0);
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.unmap();
    }
}

impl Place {
    /// Returns the position of the `at`th tensor for a misalignment, so that the same call has the same position again.
    pub(super) fn of(misalign: usize, at: usize, element: usize) -> Self {
        match misalign {
            0 => Self::AtTheEnd,
            8 => Self::AtTheBeginning,
            by => Self::Past(apart(by, at) * element % LINE),
        }
    }
}

/// Patterns of a call and of its repetition.
pub(super) const PATTERNS: [u8; 2] = [BYTE, !BYTE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_lies_where_it_is_asked_for() {
        let mut memory = Guarded::default();
        for bytes in [0, 1, 63, 64, 65_535, 65_536, 200_001] {
            memory.room(bytes, Place::AtTheEnd, 1).expect("room");
            assert_eq!((memory.pointer() as usize + bytes) % PAGE, memory.base as usize % PAGE, "{bytes}");
            memory.room(bytes, Place::AtTheBeginning, 1).expect("room");
            assert_eq!(memory.pointer(), memory.base);
            for by in [2, 60] {
                memory.room(bytes, Place::Past(by), 1).expect("room");
                assert_eq!(memory.pointer() as usize % LINE, by);
            }
        }
    }

    #[test]
    fn a_write_beside_a_tensor_is_counted() {
        let mut memory = Guarded::default();
        for place in [Place::AtTheEnd, Place::AtTheBeginning, Place::Past(12)] {
            memory.room(100, place, 7).expect("room").fill(1);
            assert_eq!(memory.strays(7), 0);
            if !matches!(place, Place::AtTheEnd) {
                // SAFETY: the bytes after the tensor are in the same mapping.
                unsafe { memory.pointer().add(100).write(1) };
                assert_eq!(memory.strays(7), 1);
            }
            if !matches!(place, Place::AtTheBeginning) {
                // SAFETY: as above, before the tensor.
                unsafe { memory.pointer().sub(3).write(1) };
                assert!(memory.strays(7) > 0);
            }
        }
    }
}
