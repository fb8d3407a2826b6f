//! Values of LLVM IR in execution with terms: lanes with their poison, or addresses; and memory.

use super::term::{Node, Op, Term, Terms};
use anyhow::{Result, bail};
use std::collections::HashMap;

/// Integer, and the truth value of being poison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) term: Term,
    pub(crate) poison: Term,
}

/// Address: an object of memory, and a constant offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(crate) object: usize,
    pub(crate) offset: i64,
}

/// Value of a name.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// One lane for an integer, several for a vector.
    Lanes(Vec<Lane>),
    /// Address in memory.
    Pointer(Pointer),
    /// Unreadable value: the result of a landing pad.
    Nothing,
}

/// Byte of memory: part of a stored value, least significant first.
#[derive(Clone, Copy, Debug)]
enum Byte {
    Integer(Lane, u32),
    Pointer(Pointer, u32),
}

/// Bytes by object and offset. An unwritten byte has no entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    bytes: HashMap<(usize, i64), Byte>,
}

/// Size of an address in bytes.
pub(crate) const POINTER_BYTES: u32 = 8;

impl Memory {
    /// Stores integers whose width is a multiple of 8, or an address.
    pub(crate) fn store(&mut self, terms: &Terms, at: Pointer, value: &Value) -> Result<()> {
        let mut offset = at.offset;
        let mut put = |byte| {
            self.bytes.insert((at.object, offset), byte);
            offset += 1;
        };
        match value {
            Value::Lanes(lanes) => {
                for lane in lanes {
                    let width = terms.width(lane.term);
                    if !width.is_multiple_of(8) {
                        bail!("a store of i{width} is not known");
                    }
                    (0..width / 8).for_each(|part| put(Byte::Integer(*lane, part)));
                }
            }
            Value::Pointer(pointer) => (0..POINTER_BYTES).for_each(|part| put(Byte::Pointer(*pointer, part))),
            Value::Nothing => bail!("a store of a landing pad is not known"),
        }
        Ok(())
    }

    /// Loads the address stored at `at`.
    pub(crate) fn pointer(&self, at: Pointer) -> Result<Pointer> {
        match self.bytes.get(&(at.object, at.offset)) {
            Some(Byte::Pointer(pointer, 0)) => Ok(*pointer),
            _ => bail!("a load of an address from bytes that are none is not known"),
        }
    }

    /// Loads an integer of `width` bits stored at `at`.
    pub(crate) fn load(&self, terms: &mut Terms, at: Pointer, width: u32) -> Result<Lane> {
        if !width.is_multiple_of(8) {
            bail!("a load of i{width} is not known");
        }
        let mut parts = Vec::new();
        for part in 0..i64::from(width / 8) {
            match self.bytes.get(&(at.object, at.offset + part)) {
                Some(Byte::Integer(lane, byte)) => parts.push((*lane, *byte)),
                Some(Byte::Pointer(..)) => bail!("a load of an integer from an address is not known"),
                None => bail!("a load from bytes that nothing wrote is not known"),
            }
        }
        let (first, from) = parts[0];
        let whole = parts.iter().enumerate().all(|(n, (lane, byte))| *lane == first && *byte == from + n as u32);
        if whole {
            return Ok(Lane { term: terms.extract(first.term, from * 8, width), poison: first.poison });
        }
        let mut sum = Lane { term: terms.constant(0, width), poison: terms.truth(false) };
        for (n, (lane, byte)) in parts.iter().enumerate() {
            let eight = terms.extract(lane.term, byte * 8, 8);
            let wide = terms.extend(eight, width, false);
            let by = terms.constant(n as i128 * 8, width);
            let placed = terms.binary(Op::Shl, wide, by);
            sum.term = terms.binary(Op::Or, sum.term, placed);
            sum.poison = terms.binary(Op::Or, sum.poison, lane.poison);
        }
        Ok(sum)
    }

    /// Copies bytes like `memcpy`.
    pub(crate) fn copy(&mut self, to: Pointer, from: Pointer, bytes: i64) {
        let copied: Vec<Option<Byte>> =
            (0..bytes).map(|n| self.bytes.get(&(from.object, from.offset + n)).copied()).collect();
        for (n, byte) in (0..).zip(copied) {
            match byte {
                Some(byte) => self.bytes.insert((to.object, to.offset + n), byte),
                None => self.bytes.remove(&(to.object, to.offset + n)),
            };
        }
    }
}

impl Value {
    /// Returns the lanes of an integer or a vector.
    pub(crate) fn lanes(&self) -> Result<&[Lane]> {
        match self {
            Self::Lanes(lanes) => Ok(lanes),
            _ => bail!("an address stands for an integer"),
        }
    }

    /// Returns the single lane of an integer.
    pub(crate) fn scalar(&self) -> Result<Lane> {
        match self.lanes()? {
            [lane] => Ok(*lane),
            lanes => bail!("{} lanes stand for an integer", lanes.len()),
        }
    }

    /// Returns the address, or an error for an integer.
    pub(crate) fn pointer(&self) -> Result<Pointer> {
        match self {
            Self::Pointer(pointer) => Ok(*pointer),
            _ => bail!("an integer stands for an address"),
        }
    }

    /// Returns the number of a constant integer.
    pub(crate) fn constant(&self, terms: &Terms) -> Result<i64> {
        let lane = self.scalar()?;
        match terms.node(lane.term) {
            Node::Constant(bits) => Ok(super::term::signed(*bits, terms.width(lane.term)) as i64),
            _ => bail!("a number that depends on the input stands where a constant is needed"),
        }
    }
}
