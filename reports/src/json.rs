//! `--format json`: the ledger's summary, for programs. It is as stable as the ledger: within one [`crate::ledger::FORMAT`]
//! fields are added, but never renamed or given another meaning.
//!
//! ```json
//! {
//!   "format": 4, "version": "0.1.0", "command": "cargo xtask verify", "seed": 1, "effort": "quick",
//!   "reference": "ties-up",                 // absent where rows have several references, or none
//!   "verdict": "broken",                    // or "holds"; "unfinished" is none: the run goes on, or did not end
//!   "unfinished": "...",                    // why it did not end, with that only; what follows is what it had until then
//!   "seconds": 12.5,                        // wall clock
//!   "environment": {                        // when and where it ran; absent in ledgers of format 3
//!     "date": "2026-11-22T05:40:00Z",       // when it began, UTC
//!     "commit": "53fda1be...",              // of what was built, with "+" and a hash of what was changed since; absent where git does not say
//!     "sources": "1f0e5a7c...",             // a hash of what the program was built from; absent in older ledgers
//!     "cpu": "AMD EPYC", "threads": 2,      // "cpu" is absent where the system does not name it
//!     "system": "linux x86_64"
//!   },
//!   "lanes": [
//!     {"name": "host", "status": "ran", "arch": "x86_64", "via": "in process",
//!      "files": [                           // what the code of the lane comes from, by content; absent where it did not run
//!        {"role": "worker", "name": "tiebreak", "bytes": 62767632, "sha256": "9f86d081..."}  // or "tool", "linked", "library"
//!      ]},
//!     {"name": "aarch64-native", "status": "not-run", "reason": "the host is x86_64", "allowed": true}
//!   ],
//!   "rows": [{
//!     "op": "fpm", "kernel": "tvm-neon-rfc", "lane": "host", "isa_path": "portable",
//!     "against": "reference",               // or "contract"
//!     "scheme": "ties-up",                  // with an overflow policy where it has one: "sqrdmulh-srshl:wrap"
//!     "parameters": 1,                      // pairs of multiplier and shift; 0 where the operation takes none
//!     "inputs": 4294967296,                 // judged; a verdict and every total rest on those of the rows against the contract
//!     "calls": 65600,                       // calls of the kernel whose results were judged or compared
//!     "coverage": "exhaustive",             // or "sampled"
//!     "out_of_domain": 0,                   // inputs to which the scheme gives no int32, in addition to "inputs"
//!     "sizes": {"k": {"least": 1, "greatest": 9001, "remainders": 64}},  // rows against the contract: what the cases spanned, with how
//!                                           // many remainders modulo 64; "results" and "misalign" among them; absent where nothing ran
//!     "ranges": {"lhs_offset": {"least": -128.0, "greatest": 127.0}},  // likewise what is no size: offsets, scales, multipliers
//!     "kinds": {"inside the clamp": 190640}, // likewise inputs by kind, as the operation has kinds
//!     "differ": 8388607,
//!     "by_delta": {"1": 8388607},           // by got - expected; where there are very many, the rest under "other"
//!     "classes": {"double-rounding": 8388607},
//!     "deviations": {},                     // rows against the contract: inputs that deviate as declared, {"position": 159}
//!     "path": [                             // where schemes are compared over all inputs, one change at a time; absent elsewhere
//!       {"class": "directed-rounding", "from": "nearest-even", "to": "toward-zero", "differ": 1071644666,
//!        "rejudged": 32,                  // how many were judged again by big rationals: all if they are few
//!        "witness": "x=...: ..."}
//!     ],
//!     "extents": {"tie-direction": {"most": 2553, "each": false, "because": "..."}},  // how many of them there can be; absent where no closed form is known
//!     "declared": {},                       // likewise: what the contract declares, with reasons, {"position": "..."}
//!     "witness": {                          // the smallest differing input, or null
//!       "case": {"x": -1, "m": 3, "s": -8}, // arguments by name, in the order in which the operation takes them
//!       "got": 0, "expected": -1,           // "expected" is null where there is nothing to compare (a crash)
//!       "scheme": "ties-up", "class": "double-rounding", "because": "...", "command": "..."
//!     },
//!     "examples": [                         // an input of each other class, as far as the run kept one; absent where there is none
//!       {"class": "wrap", "case": "x=1 m=3 s=1", "got": 0, "expected": 1, "command": "..."}
//!     ],
//!     "seconds": 3.5                        // summed over threads
//!   }],
//!   "catalogue": [                          // kept corner cases, by operation and lane
//!     {"op": "fpm", "lane": "host", "cases": 40, "judged": 720, "broken": 0,
//!      "not_taken": 0,                      // cases that no kernel of the run takes in this lane
//!      "unanswered": 3}                     // cases by kernels that gave no answer; absent where there is none
//!   ],
//!   "agreements": [{                        // kernels of one promise, or one in two lanes, compared to the bit
//!     "op": "quantize", "kernel": "mlir-opt-qcast-o0", "lane": "mlir-x86",
//!     "other": "mlir-qcast", "other_lane": "host",    // the same kernel in another lane, or another kernel
//!     "results": 4204203, "open": 1313714,  // compared; of them those to which the contract gives no value (poison)
//!     "not_compared": 0,                    // outside the domain of the other kernel
//!     "differ": 0, "differ_open": 3,        // where it gives one, and where it gives none
//!     "types": {"u32:f32": 3},              // the differing ones by stored and expressed type
//!     "witness": {"case": {"type": "...", "x": "inf"}, "got": 0, "other": -1, "command": "..."}   // or null
//!   }],
//!   "bounds": [{                            // how far a quantity may go, run at the bound and one past it
//!     "op": "matmul", "kernel": "arm-uadalp", "lane": "host", "quantity": "depth K, result as int32",
//!     "bound": 33025,                       // null where every value is safe
//!     "because": "...",
//!     "witness_at_bound": {"case": "m=1 n=1 k=33025 lhs=255 rhs=255", "got": 2147450625, "exact": 2147450625, "command": "..."},
//!     "witness_past_bound": {"case": "...", "got": -2147451646, "exact": 2147515650, "command": "..."},
//!     "shown": true                         // right at the bound and wrong past it
//!   }],
//!   "rewrites": [{                          // rewrites of the quant dialect; absent if the run is narrowed
//!     "rewrite": "qcast(dcast(q)) -> q", "type": "!quant.uniform<i8:f32, 0.3:1>", "verdict": "not the same",
//!     "counted": {"same": 240, "differ": 16, "undefined": 0},    // inputs by the results of both sides
//!     "recorded": {"same": 240, "differ": 16, "undefined": 0},   // a run with other counts is broken
//!     "command": "cargo xtask rewrites --type ..."
//!   }],
//!   "outside_domain": [                     // kernels not run: their domain holds no parameter of the run
//!     {"op": "fpm", "kernel": "xnnpack-rndnu-neon", "domain": "..."}
//!   ],
//!   "left_out": [                           // what the caller gave and no kernel takes; absent where there is nothing
//!     {"item": "layer Model.subgraphs[0].operators[3]", "reason": "..."}
//!   ],
//!   "planned": [{                           // what each kernel was to run in each lane, and what it ran
//!     "op": "fpm", "kernel": "tvm-neon-rfc", "lane": "host",
//!     "unit": "pair",                       // of multiplier and shift; "type", "layer" or "case"
//!     "given": true,                        // by the caller; false where they are of the plan
//!     "planned": 1000, "run": 1,
//!     "dropped": [                          // with "run" they are "planned"; absent where there are none
//!       {"why": "outside-domain",           // "not-offered" by the lane's worker, "no-such-case", "given-up" after failures, "nothing-new" in a further lane
//!        "because": "...", "count": 999, "first": "m=5 s=31"}
//!     ]
//!   }],
//!   "positions": [{                         // the result that "at" of the caller's case names
//!     "op": "matmul", "kernel": "arm-uadalp", "lane": "host", "at": 3, "got": 5,
//!     "expected": {"exact": 5}              // by scheme, that of the contract first; null where it gives no value
//!   }],
//!   "unchecked": [                          // lanes whose worker offers no mutant and no control of an operation
//!     {"op": "fpm", "lane": "mine"}
//!   ],
//!   "self_checks": {
//!     "mutants": {"killed": 13, "total": 14}, "controls": {"equal": 8, "total": 8},
//!     "failed": [{                          // the self checks of the ledger that did not pass
//!       "op": "fpm", "name": "ties-down", "lane": "host", "kind": "mutant",   // or "control"
//!       "passed": false, "expected_class": "tie-direction", "seen": "...", "origin": "owner/repository#1"
//!     }]
//!   },
//!   "findings": [{                          // empty where the verdict is "holds"
//!     "op": "fpm", "kernel": "tvm-neon-rfc", "lane": "host", "class": "crash", "message": "...",
//!     "witness": null                       // as in a row
//!   }],
//!   "meanings": {"double-rounding": "..."}, // what the classes of its differences and findings mean; absent where there are none
//!   "code": {"fpm tvm-relay": "impls/src/fpm/tvm_relay.rs"},   // the file with the code of each kernel that has a finding, as far as it is known
//!   "figures": [{                           // the numbers of the figures of report.html; absent where there are none
//!     "kind": "rate-by-shift",              // "error-around-tie", "staircase", "delta-by-accumulator", "atlas", "corner-cases"
//!     "op": "fpm", "title": "...",
//!     "says": "...",                        // what exactly was counted, and how
//!     "command": "cargo xtask census ... --shift={shift}",   // gives a row again, with its values in place of {column}
//!     "same": {"gemmlowp-double:wrap": ["cmsis-nn-double:wrap"]},   // schemes with the numbers of another; absent where there are none
//!     "columns": [{"name": "scheme", "unit": ""}, {"name": "shift", "unit": "bits, positive = left"}],
//!     "rows": [["gemmlowp-double:wrap", -8]]   // integers, and texts for fractions, floats and names
//!   }]
//! }
//! ```

use crate::ledger::{
    Agreement, Bound, CatalogueRun, Environment, Figure, Finding, Lane, Ledger, LeftOut, OutsideDomain, Planned,
    Position,
};
use crate::ledger::{Rewrite, Row, Unchecked, Verdict};
use crate::self_checks::SelfChecks;
use crate::view;
use serde::Serialize;
use std::collections::BTreeMap;

/// Output of `--format json`, drawn from a ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary<'a> {
    /// Version of this form: that of the ledger.
    pub format: u32,
    /// Version of the program.
    pub version: &'a str,
    /// The command that runs it again.
    pub command: &'a str,
    /// Seed of every sampled stream.
    pub seed: u64,
    /// `quick`, `standard` or `exhaustive`.
    pub effort: &'a str,
    /// The scheme of the reference rows, where they share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'a str>,
    /// `holds` or `broken`; `unfinished` of a run that has none.
    pub verdict: Verdict,
    /// Why the run did not end, where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<&'a str>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// When and where it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<&'a Environment>,
    /// Lanes asked for, in order.
    pub lanes: &'a [Lane],
    /// One row for each kernel, lane and scheme it was judged against.
    pub rows: &'a [Row],
    /// The corner catalogue, by operation and lane.
    pub catalogue: &'a [CatalogueRun],
    /// Kernels compared to the bit, also where their contract gives no value.
    pub agreements: &'a [Agreement],
    /// Safe bounds of each kernel.
    pub bounds: &'a [Bound],
    /// Rewrites of the quant dialect, against what the project records of each.
    #[serde(skip_serializing_if = "<[Rewrite]>::is_empty")]
    pub rewrites: &'a [Rewrite],
    /// Kernels whose domain holds none of the run's parameters.
    pub outside_domain: &'a [OutsideDomain],
    /// What the caller gave and no kernel takes.
    #[serde(skip_serializing_if = "<[LeftOut]>::is_empty")]
    pub left_out: &'a [LeftOut],
    /// Planned and run inputs of each kernel in each lane.
    pub planned: &'a [Planned],
    /// The results that the caller's case names by `at`.
    pub positions: &'a [Position],
    /// Lanes without self-checks of an operation.
    pub unchecked: &'a [Unchecked],
    /// Self checks, counted, and those that failed.
    pub self_checks: SelfChecks<'a>,
    /// Everything that breaks a contract.
    pub findings: &'a [Finding],
    /// Meanings of classes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: &'a BTreeMap<String, String>,
    /// The file with the code of each kernel that has a finding.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub code: &'a BTreeMap<String, String>,
    /// The numbers of the figures of a report.
    #[serde(skip_serializing_if = "<[Figure]>::is_empty")]
    pub figures: &'a [Figure],
}

/// Summarises a ledger.
pub fn summary(ledger: &Ledger) -> Summary<'_> {
    Summary {
        format: ledger.format,
        version: &ledger.version,
        command: &ledger.command,
        seed: ledger.seed,
        effort: &ledger.effort,
        reference: view::reference(ledger),
        verdict: ledger.verdict,
        unfinished: ledger.unfinished.as_deref(),
        seconds: ledger.seconds,
        environment: ledger.environment.as_ref(),
        lanes: &ledger.lanes,
        rows: &ledger.rows,
        catalogue: &ledger.catalogue,
        agreements: &ledger.agreements,
        bounds: &ledger.bounds,
        rewrites: &ledger.rewrites,
        outside_domain: &ledger.outside_domain,
        left_out: &ledger.left_out,
        planned: &ledger.planned,
        positions: &ledger.positions,
        unchecked: &ledger.unchecked,
        self_checks: SelfChecks::of(ledger),
        findings: &ledger.findings,
        meanings: &ledger.meanings,
        code: &ledger.code,
        figures: &ledger.figures,
    }
}

/// The summary as indented text with a newline at the end, keys in the documented order.
pub fn render(ledger: &Ledger) -> String {
    pretty(&summary(ledger))
}

/// Indented JSON of one of this crate's own forms, which have string keys only and so cannot fail.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("string keys only");
    text.push('\n');
    text
}
