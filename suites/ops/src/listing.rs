//! The lists of `kernels` and `schemes`: every kernel and every scheme, operation by operation. The operations are those of
//! the registry, so that none is left out.

use crate::registry::OPERATIONS;
use serde_json::Value;
use tiebreak_impls::contract::Domain;
use tiebreak_oracle::scheme::Described;

/// Every kernel and mutant with its contract.
pub fn kernels() -> Vec<Value> {
    OPERATIONS.iter().flat_map(|op| op.listed()).collect()
}

/// Every scheme with its operation.
pub fn schemes() -> Vec<(&'static str, Described)> {
    OPERATIONS.iter().flat_map(|op| op.schemes().into_iter().map(move |scheme| (op.op(), scheme))).collect()
}

/// A domain in words, without what is usual.
pub fn domain(domain: &Domain) -> String {
    let mut parts = Vec::new();
    if domain.multipliers != Domain::ALL.multipliers {
        parts.push(format!("m {}..={}", domain.multipliers.start(), domain.multipliers.end()));
    }
    if domain.multiple_of != 1 {
        parts.push(format!("m a multiple of {}", domain.multiple_of));
    }
    if domain.shifts != Domain::ALL.shifts {
        parts.push(format!("s {}..={}", domain.shifts.start(), domain.shifts.end()));
    }
    if domain.q != Domain::ALL.q {
        parts.push(format!("Q {}..={}", domain.q.start(), domain.q.end()));
    }
    if parts.is_empty() { "everything".to_owned() } else { parts.join(", ") }
}

/// The same for a caller who may have asked for another format of the multiplier: with the usual one, too.
pub fn domain_with_format(domain: &Domain) -> String {
    let text = self::domain(domain);
    match domain.q == Domain::ALL.q {
        true if text == "everything" => format!("every m and s, Q {}", domain.q.start()),
        true => format!("{text}, Q {}", domain.q.start()),
        false => text,
    }
}
