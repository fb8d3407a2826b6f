//! Bounds-checked reading of flatbuffers: every distance is checked before it is followed, and nothing is copied.
//!
//! The layout (google/flatbuffers `docs/source/internals.md`): numbers are little-endian. A table begins with the int32
//! distance back to its vtable. A vtable is uint16s: its own bytes, the table's bytes, then where each field stands after the
//! table's first byte, 0 for a field that is absent. Tables, vectors and strings are referred to by the uint32 distance
//! forward from where that distance stands. A vector is a uint32 count, then its elements.

use super::Fault;

/// Number and name of a field of a table.
pub(super) type Field = (usize, &'static str);

/// A table of the file.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    file: &'a [u8],
    at: usize,
    /// Of the vtable: where each field stands.
    fields: &'a [[u8; 2]],
    /// How errors call it: `Model.subgraphs[0].operators[3]`.
    pub(super) place: String,
}

/// Elements of `N` bytes.
#[derive(Clone, Debug)]
pub(super) struct Vector<'a, const N: usize> {
    file: &'a [u8],
    at: usize,
    pub(super) elements: &'a [[u8; N]],
    pub(super) place: String,
}

/// Bytes `at..at + N`.
fn bytes<const N: usize>(file: &[u8], at: usize) -> Option<[u8; N]> {
    file.get(at..)?.first_chunk().copied()
}

/// What the distance at `at` leads to.
fn follow(file: &[u8], at: usize, place: &str) -> Result<usize, Fault> {
    let distance = bytes(file, at).map(u32::from_le_bytes);
    let target = distance.and_then(|d| at.checked_add(usize::try_from(d).ok()?)).filter(|target| *target < file.len());
    target.ok_or_else(|| {
        let problem = match distance {
            Some(distance) => format!("leads {distance} bytes on, beyond the end at byte {}", file.len()),
            None => ends(file),
        };
        Fault::malformed(place, at, problem)
    })
}

fn ends(file: &[u8]) -> String {
    format!("the file ends at byte {}", file.len())
}

impl<'a> Table<'a> {
    /// The root table of a file.
    pub(super) fn root(file: &'a [u8], place: &str) -> Result<Self, Fault> {
        Self::open(file, follow(file, 0, place)?, place.to_owned())
    }

    fn open(file: &'a [u8], at: usize, place: String) -> Result<Self, Fault> {
        let fields = || {
            let back = bytes(file, at).map(i32::from_le_bytes)?;
            let vtable = at.checked_add_signed(isize::try_from(back).ok()?.checked_neg()?)?;
            let length = usize::from(bytes(file, vtable).map(u16::from_le_bytes)?);
            Some(file.get(vtable.checked_add(4)?..vtable.checked_add(length)?)?.as_chunks().0)
        };
        match fields() {
            Some(fields) => Ok(Self { file, at, fields, place }),
            None => Err(Fault::malformed(&place, at, "no table is here: its vtable does not lie within the file")),
        }
    }

    /// What is wrong with this table.
    pub(super) fn malformed(&self, problem: impl Into<String>) -> Fault {
        Fault::malformed(&self.place, self.at, problem)
    }

    /// Why this table cannot be used, and what to do.
    pub(super) fn unsupported(&self, problem: impl Into<String>) -> Fault {
        Fault::Unsupported { place: self.place.clone(), problem: problem.into() }
    }

    /// Where a field stands, if the table has it.
    fn position(&self, (number, _): Field) -> Option<usize> {
        let distance = u16::from_le_bytes(*self.fields.get(number)?);
        // What overflows is beyond the end as well.
        (distance != 0).then(|| self.at.saturating_add(distance.into()))
    }

    fn name(&self, (_, name): Field) -> String {
        format!("{}.{name}", self.place)
    }

    /// A number; where the field is absent, its default.
    pub(super) fn number<T, const N: usize>(
        &self,
        field: Field,
        decode: fn([u8; N]) -> T,
        default: T,
    ) -> Result<T, Fault> {
        let Some(at) = self.position(field) else { return Ok(default) };
        bytes(self.file, at).map(decode).ok_or_else(|| Fault::malformed(&self.name(field), at, ends(self.file)))
    }

    /// A table, if the field is present.
    pub(super) fn table(&self, field: Field) -> Result<Option<Self>, Fault> {
        let Some(at) = self.position(field) else { return Ok(None) };
        let place = self.name(field);
        Self::open(self.file, follow(self.file, at, &place)?, place).map(Some)
    }

    /// A vector, or a string's bytes; empty where the field is absent.
    pub(super) fn vector<const N: usize>(&self, field: Field) -> Result<Vector<'a, N>, Fault> {
        let place = self.name(field);
        let Some(position) = self.position(field) else {
            return Ok(Vector { file: self.file, at: self.at, elements: &[], place });
        };
        let start = follow(self.file, position, &place)?;
        let count = bytes(self.file, start).map(u32::from_le_bytes);
        let elements = count.and_then(|count| {
            let from = start.checked_add(4)?;
            let to = usize::try_from(count).ok()?.checked_mul(N)?.checked_add(from)?;
            Some(self.file.get(from..to)?.as_chunks().0)
        });
        match elements {
            Some(elements) => Ok(Vector { file: self.file, at: start + 4, elements, place }),
            None => {
                let count = count.map_or("no count".to_owned(), |n| format!("{n} elements of {N} bytes"));
                Err(Fault::malformed(&place, start, format!("{count}, but {}", ends(self.file))))
            }
        }
    }
}

impl<'a> Vector<'a, 4> {
    /// Element `index`, a table.
    pub(super) fn table(&self, index: usize) -> Result<Table<'a>, Fault> {
        let place = format!("{}[{index}]", self.place);
        if index >= self.elements.len() {
            let problem = format!("there is none: {} are counted from 0", self.elements.len());
            return Err(Fault::malformed(&place, self.at, problem));
        }
        Table::open(self.file, follow(self.file, self.at + 4 * index, &place)?, place)
    }
}

impl<const N: usize> Vector<'_, N> {
    /// What is wrong with this vector.
    pub(super) fn malformed(&self, problem: impl Into<String>) -> Fault {
        Fault::malformed(&self.place, self.at, problem)
    }
}
