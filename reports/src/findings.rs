//! The order in which findings are shown: what is most likely to be the cause of the others comes first.

use crate::ledger::{Finding, Ledger};
use std::collections::BTreeMap;

/// Kernels that give a wrong result or none, other findings about kernels, lanes, the harness itself. Within these the first finding
/// of each kernel comes before the second of any, so that a short list names many kernels.
pub(crate) fn by_severity(ledger: &Ledger) -> Vec<&Finding> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut keyed = Vec::new();
    for finding in &ledger.findings {
        let nth = seen.entry((&finding.op, &finding.kernel)).or_default();
        keyed.push(((severity(finding), *nth), finding));
        *nth += 1;
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, finding)| finding).collect()
}

fn severity(finding: &Finding) -> u8 {
    match finding {
        Finding { class, .. } if class == "self-check" => 3,
        Finding { kernel, .. } if kernel.is_empty() => 2,
        Finding { witness: None, .. } => 1,
        _ => 0,
    }
}
