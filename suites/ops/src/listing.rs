//! Lists of the commands `kernels` and `schemes`: every kernel and every scheme of each operation in the registry.

use crate::registry::OPERATIONS;
use serde_json::Value;
use tiebreak_impls::contract::Domain;
use tiebreak_oracle::scheme::Described;

/// Returns every kernel and mutant with its contract.
pub fn kernels() -> Vec<Value> {
    OPERATIONS.iter().flat_map(|op| op.listed()).collect()
}

/// Returns every scheme with its operation.
pub fn schemes() -> Vec<(&'static str, Described)> {
    OPERATIONS.iter().flat_map(|op| op.schemes().into_iter().map(move |scheme| (op.op(), scheme))).collect()
}

/// Formats a domain without its default parts.
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

/// Formats a domain with the multiplier's format even if that is the default, for callers who may have requested another format.
pub fn domain_with_format(domain: &Domain) -> String {
    let text = self::domain(domain);
    match domain.q == Domain::ALL.q {
        true if text == "everything" => format!("every m and s, Q {}", domain.q.start()),
        true => format!("{text}, Q {}", domain.q.start()),
        false => text,
    }
}
