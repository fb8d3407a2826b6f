//! `--format json`: the summary of a ledger, for programs. The form is as stable as the ledger: within one [`crate::ledger::FORMAT`],
//! fields are added, but never renamed or given another meaning.
//!
//! ```json
//! {
//!   "format": 4, "version": "0.1.0", "command": "cargo xtask verify", "seed": 1, "effort": "quick",
//!   "reference": "ties-up",                 // absent if rows have several references, or none
//!   "verdict": "broken",                    // or "holds"; "unfinished" while the run goes on, or if it did not end
//!   "unfinished": "...",                    // reason why the run did not end; the other fields then cover the run up to that point
//!   "seconds": 12.5,                        // wall clock
//!   "environment": {                        // date and machine; absent in ledgers of format 3
//!     "date": "2026-11-22T05:40:00Z",       // begin of the run, UTC
//!     "commit": "53fda1be...",              // of the built sources, with "+" and a hash of changes since; absent if git gives none
//!     "sources": "1f0e5a7c...",             // hash of the sources that the program was built from; absent in older ledgers
//!     "cpu": "AMD EPYC", "threads": 2,      // "cpu" is absent if the system does not name the processor
//!     "system": "linux x86_64"
//!   },
//!   "lanes": [
//!     {"name": "host", "status": "ran", "arch": "x86_64", "via": "in process",
//!      "files": [                           // files that the lane's code comes from, by content; absent if the lane did not run
//!        {"role": "worker", "name": "tiebreak", "bytes": 62767632, "sha256": "9f86d081..."}  // or "tool", "linked", "library"
//!      ]},
//!     {"name": "aarch64-native", "status": "not-run", "reason": "the host is x86_64", "allowed": true}
//!   ],
//!   "rows": [{
//!     "op": "fpm", "kernel": "tvm-neon-rfc", "lane": "host", "isa_path": "portable",
//!     "against": "reference",               // or "contract"
//!     "scheme": "ties-up",                  // with an overflow policy if the scheme has one: "sqrdmulh-srshl:wrap"
//!     "parameters": 1,                      // pairs of multiplier and shift; 0 if the operation takes none
//!     "inputs": 4294967296,                 // judged inputs; the verdict and all totals count only rows against the contract
//!     "calls": 65600,                       // calls of the kernel whose results were judged or compared
//!     "coverage": "exhaustive",             // or "sampled"
//!     "out_of_domain": 0,                   // inputs without an int32 value of the scheme; not part of "inputs"
//!     "sizes": {"k": {"least": 1, "greatest": 9001, "remainders": 64}},  // contract rows: sizes of the cases, with the number of
//!                                           // remainders modulo 64; includes "results" and "misalign"; absent if nothing ran
//!     "ranges": {"lhs_offset": {"least": -128.0, "greatest": 127.0}},  // contract rows: offsets, scales, multipliers
//!     "kinds": {"inside the clamp": 190640}, // contract rows: inputs by kind, if the operation has kinds
//!     "differ": 8388607,
//!     "by_delta": {"1": 8388607},           // by got - expected; very many deltas are cut, the rest under "other"
//!     "classes": {"double-rounding": 8388607},
//!     "deviations": {},                     // contract rows: inputs that deviate as declared, {"position": 159}
//!     "path": [                             // steps between schemes compared over all inputs, one change each; absent otherwise
//!       {"class": "directed-rounding", "from": "nearest-even", "to": "toward-zero", "differ": 1071644666,
//!        "rejudged": 32,                  // cases judged again with big rationals: all of them if there are few
//!        "witness": "x=...: ..."}
//!     ],
//!     "extents": {"tie-direction": {"most": 2553, "each": false, "because": "..."}},  // largest possible numbers; absent without a closed form
//!     "declared": {},                       // deviations that the contract declares, with reasons, {"position": "..."}
//!     "witness": {                          // the smallest differing input, or null
//!       "case": {"x": -1, "m": 3, "s": -8}, // arguments by name, in the operation's order
//!       "got": 0, "expected": -1,           // "expected" is null without a result to compare (a crash)
//!       "scheme": "ties-up", "class": "double-rounding", "because": "...", "command": "..."
//!     },
//!     "examples": [                         // an input for each other class, if the run kept one; absent if there is none
//!       {"class": "wrap", "case": "x=1 m=3 s=1", "got": 0, "expected": 1, "command": "..."}
//!     ],
//!     "seconds": 3.5                        // summed over threads
//!   }],
//!   "catalogue": [                          // kept corner cases, by operation and lane
//!     {"op": "fpm", "lane": "host", "cases": 40, "judged": 720, "broken": 0,
//!      "not_taken": 0,                      // cases that no kernel of the run accepts in this lane
//!      "unanswered": 3}                     // cases without an answer, counted for each kernel; absent if there are none
//!   ],
//!   "agreements": [{                        // bit-for-bit comparisons: kernels of one scheme, or one kernel in two lanes
//!     "op": "quantize", "kernel": "mlir-opt-qcast-o0", "lane": "mlir-x86",
//!     "other": "mlir-qcast", "other_lane": "host",    // the same kernel in another lane, or another kernel
//!     "results": 4204203, "open": 1313714,  // results compared, and results without a contract value (poison) among them
//!     "not_compared": 0,                    // outside the domain of the other kernel
//!     "differ": 0, "differ_open": 3,        // results that differ with a contract value, and without one
//!     "types": {"u32:f32": 3},              // results that differ, by stored and expressed type
//!     "witness": {"case": {"type": "...", "x": "inf"}, "got": 0, "other": -1, "command": "..."}   // or null
//!   }],
//!   "bounds": [{                            // largest safe value of a quantity, run at the bound and one past it
//!     "op": "matmul", "kernel": "arm-uadalp", "lane": "host", "quantity": "depth K, result as int32",
//!     "bound": 33025,                       // null if every value is safe
//!     "because": "...",
//!     "witness_at_bound": {"case": "m=1 n=1 k=33025 lhs=255 rhs=255", "got": 2147450625, "exact": 2147450625, "command": "..."},
//!     "witness_past_bound": {"case": "...", "got": -2147451646, "exact": 2147515650, "command": "..."},
//!     "shown": true                         // true if the kernel is right at the bound and wrong past it
//!   }],
//!   "rewrites": [{                          // rewrites of the quant dialect; absent if the run is narrowed
//!     "rewrite": "qcast(dcast(q)) -> q", "type": "!quant.uniform<i8:f32, 0.3:1>", "verdict": "not the same",
//!     "counted": {"same": 240, "differ": 16, "undefined": 0},    // inputs by the results of both sides
//!     "recorded": {"same": 240, "differ": 16, "undefined": 0},   // the run is broken if the counts differ
//!     "command": "cargo xtask rewrites --type ..."
//!   }],
//!   "outside_domain": [                     // kernels not run, because their domain has no parameter of the run
//!     {"op": "fpm", "kernel": "xnnpack-rndnu-neon", "domain": "..."}
//!   ],
//!   "left_out": [                           // inputs of the caller that no kernel takes; absent if there are none
//!     {"item": "layer Model.subgraphs[0].operators[3]", "reason": "..."}
//!   ],
//!   "planned": [{                           // planned and run inputs of each kernel in each lane
//!     "op": "fpm", "kernel": "tvm-neon-rfc", "lane": "host",
//!     "unit": "pair",                       // pair of multiplier and shift; or "type", "layer", "case"
//!     "given": true,                        // true if the caller gave the inputs; false if they come from the plan
//!     "planned": 1000, "run": 1,
//!     "dropped": [                          // adds up to "planned" with "run"; absent if there are none
//!       {"why": "outside-domain",           // or "not-offered" by the lane's worker, "no-such-case", "given-up" after failures, "nothing-new"
//!        "because": "...", "count": 999, "first": "m=5 s=31"}
//!     ]
//!   }],
//!   "positions": [{                         // result that "at" of the caller's case selects
//!     "op": "matmul", "kernel": "arm-uadalp", "lane": "host", "at": 3, "got": 5,
//!     "expected": {"exact": 5}              // by scheme, the contract's first; null if the scheme gives no value
//!   }],
//!   "unchecked": [                          // lanes whose worker offers no mutant and no control of an operation
//!     {"op": "fpm", "lane": "mine"}
//!   ],
//!   "self_checks": {
//!     "mutants": {"killed": 13, "total": 14}, "controls": {"equal": 8, "total": 8},
//!     "failed": [{                          // self-checks that did not pass
//!       "op": "fpm", "name": "ties-down", "lane": "host", "kind": "mutant",   // or "control"
//!       "passed": false, "expected_class": "tie-direction", "seen": "...", "origin": "owner/repository#1"
//!     }]
//!   },
//!   "findings": [{                          // empty if the verdict is "holds"
//!     "op": "fpm", "kernel": "tvm-neon-rfc", "lane": "host", "class": "crash", "message": "...",
//!     "witness": null                       // as in a row
//!   }],
//!   "meanings": {"double-rounding": "..."}, // meanings of the classes in differences and findings; absent if there are none
//!   "code": {"fpm tvm-relay": "impls/src/fpm/tvm_relay.rs"},   // known files with the code of kernels that have a finding
//!   "figures": [{                           // numbers of the figures of report.html; absent if there are none
//!     "kind": "rate-by-shift",              // "error-around-tie", "staircase", "delta-by-accumulator", "atlas", "corner-cases"
//!     "op": "fpm", "title": "...",
//!     "says": "...",                        // counted quantity, and the method
//!     "command": "cargo xtask census ... --shift={shift}",   // command that reproduces a row, with its values in place of {column}
//!     "same": {"gemmlowp-double:wrap": ["cmsis-nn-double:wrap"]},   // schemes with the numbers of another scheme; absent if there are none
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

/// Summary of a ledger, printed by `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary<'a> {
    /// Version of this form, equal to that of the ledger.
    pub format: u32,
    /// Version of the program.
    pub version: &'a str,
    /// Command that reproduces the run.
    pub command: &'a str,
    /// Seed of every sampled stream.
    pub seed: u64,
    /// `quick`, `standard` or `exhaustive`.
    pub effort: &'a str,
    /// Scheme of the reference rows, if they share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<&'a str>,
    /// `holds` or `broken`; `unfinished` if the run did not end.
    pub verdict: Verdict,
    /// Reason why the run did not end; `None` if the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<&'a str>,
    /// Wall-clock seconds of the whole run.
    pub seconds: f64,
    /// Date, sources and machine of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<&'a Environment>,
    /// Requested lanes, in order.
    pub lanes: &'a [Lane],
    /// Rows, one for each kernel, lane and scheme of comparison.
    pub rows: &'a [Row],
    /// Runs of the corner catalogue, by operation and lane.
    pub catalogue: &'a [CatalogueRun],
    /// Bit-for-bit comparisons of kernels, also without a contract value.
    pub agreements: &'a [Agreement],
    /// Safe bounds of each kernel.
    pub bounds: &'a [Bound],
    /// Rewrites of the quant dialect, with the counts that the project records.
    #[serde(skip_serializing_if = "<[Rewrite]>::is_empty")]
    pub rewrites: &'a [Rewrite],
    /// Kernels whose domain has no parameter of the run.
    pub outside_domain: &'a [OutsideDomain],
    /// Inputs of the caller that no kernel takes.
    #[serde(skip_serializing_if = "<[LeftOut]>::is_empty")]
    pub left_out: &'a [LeftOut],
    /// Planned and run inputs of each kernel in each lane.
    pub planned: &'a [Planned],
    /// Results that the caller's case selects by `at`.
    pub positions: &'a [Position],
    /// Lanes without self-checks of an operation.
    pub unchecked: &'a [Unchecked],
    /// Counts of self-checks, and the failed self-checks.
    pub self_checks: SelfChecks<'a>,
    /// Findings: everything that breaks a contract.
    pub findings: &'a [Finding],
    /// Meanings of classes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub meanings: &'a BTreeMap<String, String>,
    /// Files with the code of kernels that have a finding.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub code: &'a BTreeMap<String, String>,
    /// Numbers of the figures of a report.
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

/// Returns the summary as indented text with a newline at the end, keys in the documented order.
pub fn render(ledger: &Ledger) -> String {
    pretty(&summary(ledger))
}

/// Returns indented JSON of a form of this crate. All its keys are strings, so the conversion cannot fail.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("string keys only");
    text.push('\n');
    text
}
