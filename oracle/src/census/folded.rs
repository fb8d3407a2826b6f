//! Pieces of many schemes at the same parameters, each folded once, and the counts for two lists of pieces.

use super::Counts;
use crate::fpm::Parameters;
use crate::fpm::pieces::{Folder, Output, Piece};
use crate::fpm::steps::Step;
use crate::word::Overflow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

/// Upper bounds on subjects kept, and on the pieces of all lists together.
const KEPT: usize = 512;
const KEPT_PIECES: usize = 1 << 15;

/// Pieces of one scheme with its subject, and kept pieces of other schemes at the same parameters.
#[derive(Clone, Debug)]
pub(super) struct PieceCache {
    folder: Folder,
    of: Option<Subject>,
    /// Parameters and output of all kept subjects.
    kept_at: Option<(Parameters, Option<Output>)>,
    /// Index of each subject's list. Subjects with the same pieces share a list.
    kept: HashMap<Subject, usize>,
    lists: Vec<Vec<Piece>>,
    /// Number of times that all lists were dropped.
    dropped: u64,
    /// List of the subject; `None` if the pieces are in `folder`.
    at: Option<usize>,
}

/// Scheme to fold, with its parameters, output steps and range.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) steps: &'static [(&'static str, Step)],
    pub(super) overflow: Overflow,
    pub(super) parameters: Parameters,
    pub(super) output: Option<Output>,
    pub(super) xs: RangeInclusive<i64>,
}

impl PartialEq for Subject {
    /// Compares lists of steps by address; an equal list at another address is folded anew.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.steps, other.steps)
            && self.overflow == other.overflow
            && self.parameters == other.parameters
            && self.output == other.output
            && self.xs == other.xs
    }
}

impl Eq for Subject {}

impl Hash for Subject {
    /// Omits parameters and output, which are the same in all subjects kept at a time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.steps.as_ptr().hash(state);
        self.overflow.hash(state);
        self.xs.hash(state);
    }
}

/// Reference to a kept list, valid until the number of drops changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    dropped: u64,
    at: usize,
}

impl PieceCache {
    /// Creates a store that folds into at most `most` pieces.
    pub(super) fn new(most: usize) -> Self {
        let (kept, lists) = (HashMap::new(), Vec::new());
        Self { folder: Folder::new(most), of: None, kept_at: None, kept, lists, dropped: 0, at: None }
    }

    /// Folds the subject, unless the pieces are kept. Returns `None` for too many pieces.
    pub(super) fn fold(&mut self, subject: Subject) -> Option<&[Piece]> {
        if self.of.as_ref() == Some(&subject) {
            return Some(self.pieces());
        }
        self.of = None;
        let place = Some((subject.parameters, subject.output));
        if self.kept_at != place {
            self.kept_at = place;
            self.kept.clear();
            self.lists.clear();
            self.dropped += 1;
        }
        self.at = self.kept.get(&subject).copied();
        if self.at.is_none() {
            let Subject { steps, overflow, parameters: p, output, xs } = &subject;
            self.folder.fold(steps.iter().map(|(_, step)| *step), *overflow, p, xs.clone())?;
            if let Some(output) = output {
                self.folder.put(output, *overflow, p)?;
            }
            self.keep(&subject);
        }
        self.of = Some(subject);
        Some(self.pieces())
    }

    /// Keeps the folded pieces if there is room.
    fn keep(&mut self, subject: &Subject) {
        let pieces = self.folder.pieces();
        if self.kept.len() == KEPT {
            return;
        }
        let known = self.lists.iter().position(|list| list == pieces);
        if known.is_none() {
            let held: usize = self.lists.iter().map(Vec::len).sum();
            if held + pieces.len() > KEPT_PIECES {
                return;
            }
            self.lists.push(pieces.to_vec());
        }
        let at = known.unwrap_or(self.lists.len() - 1);
        self.kept.insert(subject.clone(), at);
        self.at = Some(at);
    }

    /// Returns the pieces of the subject.
    pub(super) fn pieces(&self) -> &[Piece] {
        self.at.map_or_else(|| self.folder.pieces(), |at| &self.lists[at])
    }

    /// Returns the list of the subject, if it is kept.
    pub(super) fn list(&self) -> Option<List> {
        self.at.map(|at| List { dropped: self.dropped, at })
    }
}

/// Counts for pairs of lists.
#[derive(Clone, Debug, Default)]
pub(super) struct CountCache {
    dropped: [u64; 2],
    counts: HashMap<[usize; 2], Counts>,
}

impl CountCache {
    /// Returns the counts for two lists, computed only once if both lists are kept.
    pub(super) fn once(&mut self, left: Option<List>, right: Option<List>, count: impl FnOnce() -> Counts) -> Counts {
        let (Some(left), Some(right)) = (left, right) else { return count() };
        let dropped = [left.dropped, right.dropped];
        if self.dropped != dropped {
            self.dropped = dropped;
            self.counts.clear();
        }
        *self.counts.entry([left.at, right.at]).or_insert_with(count)
    }
}
