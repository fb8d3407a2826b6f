//! `kernels` and `schemes`.

use super::{Format, print, table};
use crate::tensor::Operation;
use crate::{add::Add, conv2d::Conv2d, dot::Dot, matmul::Matmul, requantize::Requantize, transform::Transform};
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_impls::Form;
use tiebreak_impls::contract::{Domain, Overflow};
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::{fpm, instruction, mutants};
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::{add, dot, matmul};

/// Arguments of both.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

fn overflow(policy: Overflow) -> &'static str {
    match policy {
        Overflow::Wrap => "wrap",
        Overflow::Saturate => "saturate",
        Overflow::OutOfDomain => "out-of-domain",
    }
}

/// A domain in words, without what is usual.
pub(crate) fn domain(domain: &Domain) -> String {
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

fn describe(kernel: &fpm::Kernel, kind: &str) -> Value {
    let c = &kernel.contract;
    json!({
        "op": "fpm", "kernel": kernel.name, "kind": kind, "summary": kernel.summary,
        "scheme": c.promise.scheme, "overflow": overflow(c.promise.overflow), "domain": domain(&c.domain),
        "deviations": c.deviations.iter().map(|d| json!({"class": d.class, "instead": d.instead.scheme, "reason": d.reason})).collect::<Vec<_>>(),
        "vector_instructions": kernel.neon.map(|n| n.instructions), "source": c.source,
    })
}

/// Kernels and mutants of a tensor operation.
fn tensors<O: Operation>() -> Vec<Value> {
    let describe = |k: &Kernel<O::Run, O::Domain>, kind: &str| {
        let promise = k.contract.promise;
        json!({
            "op": O::OP, "kernel": k.name, "kind": kind, "summary": k.summary,
            "scheme": promise.scheme, "overflow": overflow(promise.overflow), "domain": O::domain_text(&k.contract.domain),
            "deviations": [], "vector_instructions": k.native.as_ref().map(|n| n.instructions), "source": k.contract.source,
            "host": k.isa_path(Form::Native),
        })
    };
    let kernels = O::kernels().iter().map(|k| describe(k, "kernel"));
    kernels.chain(O::mutants().iter().map(|m| describe(&m.kernel, "mutant"))).collect()
}

/// Every kernel with its contract.
pub(super) fn kernels(args: &Args) -> Result<()> {
    let mut all: Vec<Value> = fpm::kernels().iter().map(|k| describe(k, "kernel")).collect();
    all.extend(mutants::fpm::mutants().iter().map(|m| describe(&m.kernel, "mutant")));
    all.extend(instruction::kernels().iter().map(|k| {
        json!({"op": "instruction", "kernel": k.name, "kind": "kernel", "bits": k.bits, "host": k.isa_path(Form::Portable)})
    }));
    all.extend([tensors::<Dot>(), tensors::<Matmul>(), tensors::<Conv2d>()].concat());
    all.extend([tensors::<Requantize>(), tensors::<Add>(), tensors::<Transform>()].concat());
    if args.format == Format::Json {
        return print(&(serde_json::to_string_pretty(&all)? + "\n"));
    }
    let row = |k: &Value| -> Vec<String> {
        let text = |key: &str| k[key].as_str().unwrap_or("").to_owned();
        let promise = match k["overflow"].as_str() {
            Some("out-of-domain") | None => text("scheme"),
            Some(policy) => format!("{}:{policy}", text("scheme")),
        };
        vec![text("op"), text("kernel"), text("kind"), promise, text("domain"), text("source")]
    };
    print(&table(&["op", "kernel", "kind", "promises", "domain", "source"], all.iter().map(row).collect()))
}

/// Every scheme with its steps.
pub(super) fn schemes(args: &Args) -> Result<()> {
    let fpm = DEFINITIONS.iter().map(|d| {
        let steps: Vec<&str> = d.steps.iter().map(|(name, _)| *name).collect();
        json!({"op": "fpm", "scheme": d.name, "summary": d.summary, "source": d.source, "steps": steps})
    });
    let other = |op: &str, name: &str, summary: &str, source: &str| json!({"op": op, "scheme": name, "summary": summary, "source": source});
    let products = matmul::DEFINITIONS.iter().map(|d| other("matmul, conv2d", d.name, d.summary, d.source));
    let steps = dot::DEFINITIONS.iter().map(|d| other("dot", d.name, d.summary, d.source));
    let legacy = "round((acc + result_offset) * result_mult_int / 2^result_shift), ties up";
    let legacy =
        other("requantize", "legacy", legacy, "gemmlowp doc/low-precision.md, the legacy low-precision paradigm");
    let shipped = "the same, ties away from zero";
    let shipped = other("requantize", "legacy-ties-away", shipped, "gemmlowp internal/output.h, RoundingDivideByPOT");
    let additions = add::DEFINITIONS.iter().map(|d| {
        let steps: Vec<&str> = d.term.iter().chain(d.sum).map(|(name, _)| *name).collect();
        json!({"op": "add", "scheme": d.name, "summary": d.summary, "source": d.source, "steps": steps})
    });
    let all: Vec<Value> = fpm.chain(products).chain(steps).chain([legacy, shipped]).chain(additions).collect();
    if args.format == Format::Json {
        return print(&(serde_json::to_string_pretty(&all)? + "\n"));
    }
    let text = |s: &Value, key: &str| s[key].as_str().unwrap_or("").to_owned();
    let rows = all.iter().map(|s| ["op", "scheme", "summary", "source"].map(|key| text(s, key)).to_vec());
    print(&table(&["op", "scheme", "what it is", "source"], rows.collect()))
}
