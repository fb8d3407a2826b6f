//! Body and tail of a kernel: the scheme of whole vectors, and the scheme of the following elements.

use super::{AT_ONCE, Probe, predictions, schemes};
use crate::erased::{Params, Scheme};
use crate::operation::case::Spec;
use crate::operation::expected::Expected;
use serde::Serialize;

/// Vector sizes, in elements; a kernel may follow another scheme after the last whole vector.
const VECTORS: [usize; 5] = [4, 8, 16, 32, 64];

/// Body and tail: the scheme of whole vectors, and the scheme of the following elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Apart {
    /// Number of elements of a vector.
    pub vector: usize,
    /// Scheme of whole vectors.
    pub body: String,
    /// Scheme of the following elements.
    pub tail: String,
}

/// Candidate scheme for a part.
struct Candidate {
    label: String,
    /// Number of results with a value, until both parts of each size are excluded.
    judged: u64,
    /// For each vector size: true if the scheme differs in whole vectors, and in the following elements.
    out: [[bool; 2]; VECTORS.len()],
}

impl Candidate {
    fn is_out(&self) -> bool {
        self.out.iter().flatten().all(|out| *out)
    }

    fn compare(&mut self, predicted: &Expected, given: &[i32]) {
        for (at, (right, got)) in predicted.iter().zip(given).enumerate() {
            let Some(right) = right else { continue };
            self.judged += 1;
            if *right != *got {
                for (vector, out) in VECTORS.into_iter().zip(&mut self.out) {
                    out[usize::from(at >= given.len() - given.len() % vector)] = true;
                }
            }
        }
    }
}

/// Returns the schemes of both parts over the whole plan, for the largest vector size with schemes for both.
pub(super) fn found(asked: &Probe<'_>, specs: &[Spec<Params>], seed: u64) -> Option<Apart> {
    let (schemes, labels): (Vec<Scheme>, Vec<String>) = schemes(asked.domain.op()).into_iter().unzip();
    let mut candidates = candidates(labels);
    for chunk in specs.chunks(AT_ONCE) {
        let (cases, answered) = asked.answers(chunk, seed);
        let wanted: Vec<bool> = candidates.iter().map(|candidate| !candidate.is_out()).collect();
        compare(&mut candidates, &predictions(&schemes, &wanted, &cases), &answered);
    }
    concluded(&candidates)
}

fn candidates(labels: Vec<String>) -> Vec<Candidate> {
    let candidate = |label| Candidate { label, judged: 0, out: Default::default() };
    labels.into_iter().map(candidate).collect()
}

/// Compares the results of each case with the prediction of each candidate.
fn compare(candidates: &mut [Candidate], predicted: &[Vec<Option<Expected>>], answered: &[Result<Vec<i32>, String>]) {
    for (candidate, predicted) in candidates.iter_mut().zip(predicted) {
        for (predicted, given) in predicted.iter().zip(answered) {
            let (Some(predicted), Ok(given)) = (predicted, given) else { continue };
            candidate.compare(predicted, given);
        }
    }
}

fn concluded(candidates: &[Candidate]) -> Option<Apart> {
    (0..VECTORS.len()).rev().find_map(|size| {
        let left = |part: usize| {
            // Tie break: the first scheme of those with the most values.
            let left = candidates.iter().rev().filter(|one| !one.out[size][part] && one.judged > 0);
            left.max_by_key(|one| one.judged).map(|one| one.label.clone())
        };
        Some(Apart { vector: VECTORS[size], body: left(0)?, tail: left(1)? })
    })
}
