//! The order in which findings are shown: what is most likely to be the cause of the others comes first.

use crate::ledger::{Finding, Ledger};
use crate::text;
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

/// Kernels from which on the same fault is taken for one of what they share.
const SIBLINGS: usize = 4;

/// The class of results that depend on the calls before: how many it takes differs from kernel to kernel.
const HISTORY: &str = "depends-on-history";

/// A finding, with those of other kernels and lanes that have the same class for the same reason.
pub(crate) struct Alike<'a> {
    /// The first of them.
    pub(crate) finding: &'a Finding,
    /// Number of findings.
    pub(crate) count: usize,
    /// Sentence on the kernels that share the finding; `None` for a single finding.
    pub(crate) others: Option<String>,
}

/// The findings by severity; those of at least four kernels that are of one class for one reason as one.
pub(crate) fn alike(ledger: &Ledger) -> Vec<Alike<'_>> {
    let mut groups: BTreeMap<(&str, String), Vec<&Finding>> = BTreeMap::new();
    for finding in &ledger.findings {
        if let Some(reason) = reason(finding) {
            groups.entry((&finding.class, reason)).or_default().push(finding);
        }
    }
    groups.retain(|_, all| distinct(all, |finding| &finding.kernel).len() >= SIBLINGS);
    let mut out = Vec::new();
    let mut shown = Vec::new();
    for finding in by_severity(ledger) {
        let key = reason(finding).map(|reason| (finding.class.as_str(), reason));
        let Some((key, all)) = key.and_then(|key| groups.get(&key).map(|all| (key, all))) else {
            out.push(Alike { finding, count: 1, others: None });
            continue;
        };
        if !shown.contains(&key) {
            out.push(Alike { finding, count: all.len(), others: Some(shared(all)) });
            shown.push(key);
        }
    }
    out
}

/// `the same in 13 kernels of conv2d and matmul (host, aarch64-qemu): examine the shared code first; a, b, c and 10 more`.
fn shared(all: &[&Finding]) -> String {
    let ops = distinct(all, |finding| &finding.op).join(" and ");
    let lanes = distinct(all, |finding| &finding.lane).join(", ");
    let kernels = distinct(all, |finding| &finding.kernel);
    let named = text::some(&kernels, 3);
    format!("the same in {} kernels of {ops} ({lanes}): examine the shared code first; {named}", kernels.len())
}

fn distinct<'a>(all: &[&'a Finding], of: impl Fn(&'a Finding) -> &'a String) -> Vec<&'a str> {
    let mut out: Vec<&str> = Vec::new();
    for finding in all {
        let name = of(finding).as_str();
        if !name.is_empty() && !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Why a result differs, without how often it was seen: what reproduces it, or where it lies.
fn reason(finding: &Finding) -> Option<String> {
    let because = &finding.witness.as_ref()?.because;
    let reason = match because.split_once(" (reproduces ") {
        Some((reason, _)) => reason,
        None if finding.class == HISTORY => HISTORY,
        None => &because[because.find("; only ")?..],
    };
    (!finding.kernel.is_empty() && finding.class != "self-check").then(|| reason.to_owned())
}
