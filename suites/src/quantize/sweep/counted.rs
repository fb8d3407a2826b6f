//! What differs in a sweep, counted: a constant run at a time, or one by one.

use crate::class::Class;
use crate::fpm::tally::FAR;
use std::collections::BTreeMap;
use tiebreak_oracle::quantize::Quantization;

/// What differs on one side.
#[derive(Clone, Default)]
pub(super) struct Counted {
    pub(super) inputs: u64,
    pub(super) out_of_domain: u64,
    pub(super) differ: u64,
    pub(super) by_delta: BTreeMap<i64, u64>,
    pub(super) classes: BTreeMap<Class, u64>,
    /// The smallest pattern, what was given, and what is expected.
    pub(super) smallest: Option<(u64, i32, i64)>,
}

/// What a difference is due to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A known fault, which is no difference on this side.
    Excused,
    /// This class, where it is known.
    To(Option<Class>),
}

impl Counted {
    fn offer(&mut self, seen: (u64, i32, i64), q: Quantization) {
        let rank = |bits: u64| (bits & (q.format.sign() - 1), bits & q.format.sign());
        if self.smallest.is_none_or(|known| rank(seen.0) < rank(known.0)) {
            self.smallest = Some(seen);
        }
    }

    fn due(&mut self, class: Option<Class>, n: u64) {
        self.differ += n;
        if let Some(class) = class {
            *self.classes.entry(class).or_default() += n;
        }
    }

    /// A run of results that are all `got`.
    pub(super) fn whole(
        &mut self,
        (from, len): (u64, u64),
        got: i64,
        expected: i64,
        class: Option<Class>,
        q: Quantization,
    ) {
        self.due(class, len);
        *self.by_delta.entry(got - expected).or_default() += len;
        self.offer((from, got as i32, expected), q);
    }

    /// Results one by one, each with what a difference is due to by its index.
    #[cold]
    pub(super) fn count(
        &mut self,
        from: u64,
        outs: &[i32],
        expected: i64,
        due: impl Fn(usize) -> Due,
        q: Quantization,
    ) {
        for (i, out) in outs.iter().enumerate().filter(|(_, out)| **out != expected as i32) {
            let Due::To(class) = due(i) else { continue };
            self.due(class, 1);
            *self.by_delta.entry(i64::from(*out) - i64::from(expected as i32)).or_default() += 1;
            self.offer((from + i as u64, *out, expected), q);
        }
    }

    /// Results of a conversion that is undefined: how far they are off says nothing.
    pub(super) fn poison(&mut self, from: u64, outs: &[i32], expected: i64, q: Quantization) {
        let differ = outs.iter().map(|out| u64::from(*out != expected as i32)).sum();
        if differ == 0 {
            return;
        }
        self.due(Some(Class::Poison), differ);
        *self.by_delta.entry(FAR).or_default() += differ;
        if self.smallest.is_none()
            && let Some(i) = outs.iter().position(|out| *out != expected as i32)
        {
            self.offer((from + i as u64, outs[i], expected), q);
        }
    }

    pub(super) fn merge(&mut self, other: Self, q: Quantization) {
        self.inputs += other.inputs;
        self.out_of_domain += other.out_of_domain;
        self.differ += other.differ;
        for (delta, n) in other.by_delta {
            *self.by_delta.entry(delta).or_default() += n;
        }
        for (class, n) in other.classes {
            *self.classes.entry(class).or_default() += n;
        }
        if let Some(seen) = other.smallest {
            self.offer(seen, q);
        }
    }
}
