//! What was worked out of a case of a plan, kept for the other kernels that run it: its tensors, and what schemes expect.

use crate::operation::case::Case;
use crate::operation::expected::Expected;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Elements of tensors up to which a case is kept, and results up to which they are.
const KEPT: usize = 1 << 15;

/// What is known of a case; nothing is kept unless several kernels run it.
pub struct Worked<P>(Option<Arc<Mutex<Known<P>>>>);

struct Known<P> {
    case: Option<Arc<Case<P>>>,
    /// By the contract that expects them.
    expected: HashMap<String, Arc<Expected>>,
}

impl<P> Worked<P> {
    /// Keeps nothing.
    pub const NOTHING: Self = Self(None);

    /// Keeps what is worked out from now on.
    pub fn kept() -> Self {
        Self(Some(Arc::new(Mutex::new(Known { case: None, expected: HashMap::new() }))))
    }

    fn known(&self) -> Option<MutexGuard<'_, Known<P>>> {
        self.0.as_ref().map(|known| known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The case, made if nobody has made it.
    pub fn case(&self, make: impl FnOnce() -> Option<Case<P>>) -> Option<Arc<Case<P>>> {
        if let Some(case) = self.known().and_then(|known| known.case.clone()) {
            return Some(case);
        }
        // Made outside the lock: who asks at the same time makes it too, and nobody waits.
        let made = Arc::new(make()?);
        if let Some(mut known) = self.known()
            && made.tensors.iter().map(Vec::len).sum::<usize>() <= KEPT
        {
            known.case = Some(Arc::clone(&made));
        }
        Some(made)
    }

    /// What a contract expects, worked out if nobody has; and whether it was worked out now.
    pub fn expected<E>(
        &self,
        contract: &str,
        work_out: impl FnOnce() -> Result<Expected, E>,
    ) -> Result<(Arc<Expected>, bool), E> {
        if let Some(expected) = self.known().and_then(|known| known.expected.get(contract).cloned()) {
            return Ok((expected, false));
        }
        let expected = Arc::new(work_out()?);
        if let Some(mut known) = self.known()
            && expected.len() <= KEPT
        {
            known.expected.insert(contract.to_owned(), Arc::clone(&expected));
        }
        Ok((expected, true))
    }

    /// Forgets everything: whoever asks again works it out again.
    pub fn forget(&self) {
        if let Some(mut known) = self.known() {
            (known.case, known.expected) = (None, HashMap::new());
        }
    }
}

impl<P> Clone for Worked<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<P> Debug for Worked<P> {
    /// Two plans are the same whatever is known of their cases.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Worked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(len: usize) -> Case<()> {
        Case { params: (), tensors: [vec![1; len], Vec::new(), Vec::new()], misalign: 0 }
    }

    #[test]
    fn what_is_kept_is_worked_out_once() {
        let worked = Worked::kept();
        let first = worked.case(|| Some(case(3))).expect("it is made");
        assert_eq!(worked.case(|| None), Some(first));
        let work_out = |value| move || Ok::<_, ()>(vec![Some(value)]);
        assert_eq!(worked.expected("a", work_out(1)), Ok((vec![Some(1)].into(), true)));
        assert_eq!(worked.expected("a", work_out(2)), Ok((vec![Some(1)].into(), false)));
        assert_eq!(worked.expected("b", work_out(3)), Ok((vec![Some(3)].into(), true)), "another contract");
        worked.forget();
        assert_eq!(worked.expected("a", work_out(4)), Ok((vec![Some(4)].into(), true)));
        assert_eq!(worked.case(|| None), None);
    }

    #[test]
    fn large_cases_and_those_of_one_kernel_are_not_kept() {
        for (worked, len) in [(Worked::kept(), KEPT + 1), (Worked::NOTHING, 1)] {
            assert!(worked.case(|| Some(case(len))).is_some());
            assert_eq!(worked.case(|| None), None);
            let results = || Ok::<_, ()>(vec![None; len]);
            assert!(worked.expected("a", results).is_ok_and(|(_, new)| new));
            assert!(worked.expected("a", results).is_ok_and(|(_, new)| new));
        }
    }
}
