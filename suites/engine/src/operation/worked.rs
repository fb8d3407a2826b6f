//! What was worked out of a case of a plan, kept for the other kernels that run it: its tensors, and what schemes expect.

use crate::operation::expected::Expected;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Elements of tensors up to which a case is kept, and results up to which they are.
const KEPT: usize = 1 << 15;

/// What is known of a case; nothing is kept unless several kernels run it.
pub struct Worked<C>(Option<Arc<Mutex<Known<C>>>>);

struct Known<C> {
    case: Option<Arc<C>>,
    /// By the contract that expects them.
    expected: HashMap<String, Arc<Expected>>,
}

impl<C> Worked<C> {
    /// Keeps nothing.
    pub const NOTHING: Self = Self(None);

    /// Keeps what is worked out from now on.
    pub fn kept() -> Self {
        Self(Some(Arc::new(Mutex::new(Known { case: None, expected: HashMap::new() }))))
    }

    fn known(&self) -> Option<MutexGuard<'_, Known<C>>> {
        self.0.as_ref().map(|known| known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The kept case; otherwise `make` gives the case and the number of its elements.
    pub fn case(&self, make: impl FnOnce() -> Option<(C, usize)>) -> Option<Arc<C>> {
        if let Some(case) = self.known().and_then(|known| known.case.clone()) {
            return Some(case);
        }
        // Work is done outside the lock: two kernels that ask at the same time both do it, and neither waits.
        let (made, elements) = make()?;
        let made = Arc::new(made);
        if let Some(mut known) = self.known()
            && elements <= KEPT
        {
            known.case = Some(Arc::clone(&made));
        }
        Some(made)
    }

    /// Results that a contract expects, and whether this call worked them out.
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

    /// What is kept of the steps from a reference to a contract, in a text that names both.
    pub fn steps(&self, sides: &str) -> Steps<C> {
        Steps { worked: self.clone(), sides: sides.into() }
    }

    /// Forgets everything: whoever asks again works it out again.
    pub fn forget(&self) {
        if let Some(mut known) = self.known() {
            (known.case, known.expected) = (None, HashMap::new());
        }
    }
}

impl<C> Clone for Worked<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// What the steps from a reference to a contract give for a case, kept for the other kernels and lanes that ask for it.
pub struct Steps<C> {
    worked: Worked<C>,
    sides: Arc<str>,
}

impl<C> Steps<C> {
    /// What a step gives; nothing if `work_out` gives nothing.
    pub fn expected(&self, at: usize, work_out: impl FnOnce() -> Option<Expected>) -> Option<Arc<Expected>> {
        let step = format!("step {at} of {}", self.sides);
        self.worked.expected(&step, || work_out().ok_or(())).ok().map(|(expected, _)| expected)
    }
}

impl<C> Clone for Steps<C> {
    fn clone(&self) -> Self {
        Self { worked: self.worked.clone(), sides: Arc::clone(&self.sides) }
    }
}

impl<C> Debug for Worked<C> {
    /// Two plans are the same whatever is known of their cases.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Worked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_worked_out_once() {
        let worked: Worked<&str> = Worked::kept();
        let first = worked.case(|| Some(("case", 3))).expect("it is made");
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
        for (worked, len) in [(Worked::<&str>::kept(), KEPT + 1), (Worked::NOTHING, 1)] {
            assert!(worked.case(|| Some(("case", len))).is_some());
            assert_eq!(worked.case(|| None), None);
            let results = || Ok::<_, ()>(vec![None; len]);
            assert!(worked.expected("a", results).is_ok_and(|(_, new)| new));
            assert!(worked.expected("a", results).is_ok_and(|(_, new)| new));
        }
    }
}
