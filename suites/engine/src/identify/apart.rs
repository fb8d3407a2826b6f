//! Body and tail of a kernel: the scheme of its whole vectors, and the scheme of the elements after them.

use super::{AT_ONCE, Put, predictions, schemes};
use crate::operation::Operation;
use crate::operation::case::Spec;
use crate::operation::expected::Expected;
use serde::Serialize;

/// Elements of a vector, after the last whole one of which a kernel may follow another scheme.
const VECTORS: [usize; 5] = [4, 8, 16, 32, 64];

/// Body and tail: the scheme of whole vectors, and the scheme of the elements after them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Apart {
    /// Elements of a vector.
    pub vector: usize,
    /// The scheme of whole vectors.
    pub body: String,
    /// The scheme of the rest.
    pub tail: String,
}

/// A scheme that may be that of a part.
struct Candidate<O: Operation> {
    scheme: O::Scheme,
    label: String,
    /// Results to which it gives a value, until both parts of each size are excluded.
    judged: u64,
    /// For each vector size, whether the scheme differs in whole vectors and in the elements after them.
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

/// The schemes of both parts, for the largest vector for which there are some, over the whole plan.
pub(super) fn found<O: Operation>(asked: &Put<'_, O>, specs: &[Spec<O::Params>], seed: u64) -> Option<Apart> {
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
            // The first of those that give a value to as many.
            let left = candidates.iter().rev().filter(|one| !one.out[size][part] && one.judged > 0);
            left.max_by_key(|one| one.judged).map(|one| one.label.clone())
        };
        Some(Apart { vector: VECTORS[size], body: left(0)?, tail: left(1)? })
    })
}
