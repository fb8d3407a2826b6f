//! Cache of a planned case, for other kernels that run the same case: tensors, and expected results of schemes.

use crate::operation::expected::Expected;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Largest case, and largest list of expected results, in the cache, in elements.
const KEPT: usize = 1 << 15;

/// Cache of a case; empty unless several kernels run the case.
pub struct CaseCache<C>(Option<Arc<Mutex<Known<C>>>>);

struct Known<C> {
    case: Option<Arc<C>>,
    /// Expected results, by contract.
    expected: HashMap<String, Arc<Expected>>,
}

impl<C> CaseCache<C> {
    /// Cache that keeps nothing.
    pub const NOTHING: Self = Self(None);

    /// Creates a cache that keeps tensors and results.
    pub fn kept() -> Self {
        Self(Some(Arc::new(Mutex::new(Known { case: None, expected: HashMap::new() }))))
    }

    fn known(&self) -> Option<MutexGuard<'_, Known<C>>> {
        self.0.as_ref().map(|known| known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the cached case; otherwise `make` returns the case and the number of elements.
    pub fn case(&self, make: impl FnOnce() -> Option<(C, usize)>) -> Option<Arc<C>> {
        if let Some(case) = self.known().and_then(|known| known.case.clone()) {
            return Some(case);
        }
        // Work is done outside the lock: two kernels that need it at the same time both do it, and neither waits.
        let (made, elements) = make()?;
        let made = Arc::new(made);
        if let Some(mut known) = self.known()
            && elements <= KEPT
        {
            known.case = Some(Arc::clone(&made));
        }
        Some(made)
    }

    /// Returns the results that a contract expects, and true if this call computed them.
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

    /// Returns the cache of the steps from a reference to a contract; `sides` names both schemes.
    pub fn steps(&self, sides: &str) -> Steps<C> {
        Steps { cache: self.clone(), sides: sides.into() }
    }

    /// Forgets the tensors and results; they are computed again if needed.
    pub fn forget(&self) {
        if let Some(mut known) = self.known() {
            (known.case, known.expected) = (None, HashMap::new());
        }
    }
}

impl<C> Clone for CaseCache<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Cached results of the steps from a reference to a contract for a case, shared by kernels and lanes.
pub struct Steps<C> {
    cache: CaseCache<C>,
    sides: Arc<str>,
}

impl<C> Steps<C> {
    /// Returns the results of step `at`; `None` if `work_out` returns `None`.
    pub fn expected(&self, at: usize, work_out: impl FnOnce() -> Option<Expected>) -> Option<Arc<Expected>> {
        let step = format!("step {at} of {}", self.sides);
        self.cache.expected(&step, || work_out().ok_or(())).ok().map(|(expected, _)| expected)
    }
}

impl<C> Clone for Steps<C> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), sides: Arc::clone(&self.sides) }
    }
}

impl<C> Debug for CaseCache<C> {
    /// Prints only the name, because two plans are equal regardless of their caches.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CaseCache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_worked_out_once() {
        let cache: CaseCache<&str> = CaseCache::kept();
        let first = cache.case(|| Some(("case", 3))).expect("it is made");
        assert_eq!(cache.case(|| None), Some(first));
        let work_out = |value| move || Ok::<_, ()>(vec![Some(value)]);
        assert_eq!(cache.expected("a", work_out(1)), Ok((vec![Some(1)].into(), true)));
        assert_eq!(cache.expected("a", work_out(2)), Ok((vec![Some(1)].into(), false)));
        assert_eq!(cache.expected("b", work_out(3)), Ok((vec![Some(3)].into(), true)), "another contract");
        cache.forget();
        assert_eq!(cache.expected("a", work_out(4)), Ok((vec![Some(4)].into(), true)));
        assert_eq!(cache.case(|| None), None);
    }

    #[test]
    fn large_cases_and_those_of_one_kernel_are_not_kept() {
        for (cache, len) in [(CaseCache::<&str>::kept(), KEPT + 1), (CaseCache::NOTHING, 1)] {
            assert!(cache.case(|| Some(("case", len))).is_some());
            assert_eq!(cache.case(|| None), None);
            let results = || Ok::<_, ()>(vec![None; len]);
            assert!(cache.expected("a", results).is_ok_and(|(_, new)| new));
            assert!(cache.expected("a", results).is_ok_and(|(_, new)| new));
        }
    }
}
