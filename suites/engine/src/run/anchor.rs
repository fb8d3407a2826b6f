//! Cross-check of the schemes' fast forms against big integers during a run.

use crate::run::subject::{ExpectedCase, Subject, mask_undefined};
use anyhow::{Result, bail};
use tiebreak_common::budget::Effort;
use tiebreak_common::stream::{below, stream};

/// Largest work (results times elements of the largest input) of a random cross-checked case.
fn of_random(effort: Effort) -> usize {
    if effort == Effort::Quick { 1 << 18 } else { 1 << 21 }
}

/// Largest work of the smallest case of a chunk, if all its cases have more work than a random case may have.
const OF_SMALLEST: usize = 1 << 26;

/// Cross-checks the fast forms of contract and reference against big integers on one case of each chunk. The case is one that this kernel computed: a
/// random case up to the first limit, otherwise the smallest up to the second.
pub(crate) fn anchor(
    subject: &Subject,
    cases: &[ExpectedCase],
    (effort, seed): (Effort, u64),
    chunk: usize,
) -> Result<()> {
    let work = |expected_case: &ExpectedCase| {
        let largest = expected_case.case.tensors.iter().map(Vec::len).max().unwrap_or(0);
        expected_case.contract.len().saturating_mul(largest)
    };
    // Cases that an earlier kernel computed were candidates when that kernel ran.
    let some: Vec<_> =
        cases.iter().filter(|expected_case| expected_case.is_new && !expected_case.contract.is_empty()).collect();
    let few: Vec<_> = some.iter().filter(|expected_case| work(expected_case) <= of_random(effort)).collect();
    let mut rng = stream(seed, &format!("{}/{}/anchor {chunk}", subject.kernel.op().name(), subject.kernel.name));
    let chosen = match few.len() {
        0 => some
            .iter()
            .min_by_key(|expected_case| work(expected_case))
            .filter(|expected_case| work(expected_case) <= OF_SMALLEST),
        n => Some(few[below(&mut rng, n as u32) as usize]),
    };
    let Some(chosen) = chosen else { return Ok(()) };
    let reference = subject.reference.as_ref().zip(chosen.reference.as_ref());
    for (scheme, fast) in [(&subject.contract, &chosen.contract)].into_iter().chain(reference) {
        let exact = scheme.exact(&chosen.case)?;
        if mask_undefined(subject.kernel.op(), &chosen.contract, exact) != **fast {
            let (op, scheme) = (subject.kernel.op().name(), scheme.label());
            bail!("the oracle disagrees with itself on {op} by {scheme}, {:?}: please report this", chosen.case);
        }
    }
    Ok(())
}
