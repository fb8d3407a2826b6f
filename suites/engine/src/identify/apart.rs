//! Body and tail of a kernel: the scheme of whole vectors, and the scheme of the following elements.

use super::{AT_ONCE, Probe, predictions, schemes};
use crate::operation::Operation;
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
struct Candidate<O: Operation> {
    scheme: O::Scheme,
    label: String,
    /// Number of results with a value, until both parts of each size are excluded.
    judged: u64,
    /// For each vector size: true if the scheme differs in whole vectors, and in the following elements.
    out: [[bool; 2]; VECTORS.len()],
}

impl<O: Operation> Candidate<O> {
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
pub(super) fn found<O: Operation>(asked: &Probe<'_, O>, specs: &[Spec<O::Params>], seed: u64) -> Option<Apart> {
    let candidate = |(scheme, label)| Candidate { scheme, label, judged: 0, out: Default::default() };
    let mut candidates: Vec<Candidate<O>> = schemes::<O>().into_iter().map(candidate).collect();
    for chunk in specs.chunks(AT_ONCE) {
        candidates.retain(|candidate| !candidate.is_out());
        let (cases, answered) = asked.answers(chunk, seed);
        let predicted = predictions::<_, O>(&candidates, &cases, |one| Some(&one.scheme));
        for (candidate, predicted) in candidates.iter_mut().zip(predicted) {
            for (predicted, given) in predicted.iter().zip(&answered) {
                let (Some(predicted), Ok(given)) = (predicted, given) else { continue };
                candidate.compare(predicted, given);
            }
        }
    }
    (0..VECTORS.len()).rev().find_map(|size| {
        let left = |part: usize| {
            // Tie break: the first scheme of those with the most values.
            let left = candidates.iter().rev().filter(|one| !one.out[size][part] && one.judged > 0);
            left.max_by_key(|one| one.judged).map(|one| one.label.clone())
        };
        Some(Apart { vector: VECTORS[size], body: left(0)?, tail: left(1)? })
    })
}
