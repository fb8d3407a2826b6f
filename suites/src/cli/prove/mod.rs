//! `prove`: comparison of two schemes over all accumulators and all multipliers of each shift.

mod answer;
mod bounds;
mod code;
mod kernels;

use super::{Format, scheme, shifts, table};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use tiebreak_analysis::proofs::ir::Prover;
use tiebreak_analysis::proofs::{
    Confirmation, Outcome, Proofs, SOLVERS, Solver, Statement, confirm, examine, interval, statements,
};
use tiebreak_common::called::in_clone;
use tiebreak_common::parameters::SHIFTS;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Definition, Scheme};
use tiebreak_oracle::proof::{Verdict, Witness};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// Arguments of `prove`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Left scheme, NAME or NAME:POLICY
    #[arg(long, value_name = "NAME", requires = "right", value_parser = scheme::<&'static Definition>)]
    left: Option<Scheme>,
    /// Right scheme; deltas are right - left
    #[arg(long, value_name = "NAME", requires = "left", value_parser = scheme::<&'static Definition>)]
    right: Option<Scheme>,
    /// Schemes to compare pairwise, NAME or NAME:POLICY [default: all schemes]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["left", "right"], value_parser = scheme::<&'static Definition>)]
    scheme: Vec<Scheme>,
    /// Shifts, first to last [default: -31..31]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = shifts)]
    shift: Option<RangeInclusive<i32>>,
    /// Also confirm each statement with the SMT solvers z3 and cvc5; `cargo xtask setup --with solvers` installs them
    #[arg(long)]
    confirm: bool,
    /// Longest time for one query of a proof of code
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86400))]
    query_limit: u32,
    /// Longest time for all shifts of a function or of a kernel's position; what is open then has no verdict
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=86400))]
    limit: u32,
    /// Prove the bounds of narrow lanes, the largest difference of two casts, and the axioms of products
    #[arg(long, conflicts_with_all = ["left", "scheme", "c", "ir", "kernels", "confirm"])]
    bounds: bool,
    #[command(flatten)]
    code: code::CodeArgs,
    #[command(flatten)]
    kernels: kernels::KernelsArgs,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Prints the verdict of each pair at each shift. Returns false if a verdict is unknown, or if a confirming solver disagrees.
pub(super) fn run(args: &Args) -> Result<bool> {
    if args.bounds {
        return bounds::run(args);
    }
    if args.kernels.kernels {
        return kernels::run(args);
    }
    if args.code.c.is_some() || args.code.ir.is_some() {
        return code::run(args);
    }
    let all = || DEFINITIONS.iter().map(|definition| Scheme { definition, overflow: Overflow::OutOfDomain }).collect();
    let schemes: Vec<Scheme> = match (args.left, args.right) {
        (Some(left), Some(right)) => vec![left, right],
        _ if args.scheme.is_empty() => all(),
        _ => args.scheme.clone(),
    };
    if schemes.len() < 2 {
        bail!("--scheme needs at least two schemes, or none for all schemes");
    }
    let shifts = args.shift.clone().unwrap_or(SHIFTS);
    let proofs = examine(&schemes, &shifts);
    let confirmed = if args.confirm { confirmed(&proofs)? } else { vec![Vec::new(); proofs.len()] };
    let all: Vec<(Proofs, Vec<Confirmation>)> = proofs.into_iter().zip(confirmed).collect();
    args.format.print(|| as_table(&all), || as_json(&all))?;
    Ok(all.iter().all(|(proofs, confirmed)| proofs.decided() && confirmed.iter().all(Confirmation::agrees)))
}

impl Args {
    /// Returns the prover of code with the given limits.
    fn prover<'a>(&self, solvers: &'a [Solver]) -> Prover<'a> {
        Prover { solvers, query: self.query_limit, proof: self.limit }
    }
}

/// Returns the installed solvers with their versions. A proof of code needs at least two.
fn solvers() -> Result<Vec<(Solver, String)>> {
    let here: Vec<(Solver, String)> = SOLVERS.iter().filter_map(|solver| Some((*solver, solver.version()?))).collect();
    if here.len() < 2 {
        bail!(
            "a proof of code needs two SMT solvers, z3 and cvc5: `apt-get install z3 cvc5`, or {}",
            in_clone("setup --with solvers")
        );
    }
    Ok(here)
}

/// Asks every installed solver to confirm each pair.
fn confirmed(proofs: &[Proofs]) -> Result<Vec<Vec<Confirmation>>> {
    let here: Vec<(Solver, String)> = SOLVERS.iter().filter_map(|solver| Some((*solver, solver.version()?))).collect();
    if here.is_empty() {
        bail!("--confirm needs an SMT solver, z3 or cvc5: {} installs both", in_clone("setup --with solvers"));
    }
    let of = |proofs| here.iter().map(|(solver, version)| confirm(proofs, *solver, version)).collect();
    proofs.iter().map(of).collect()
}

fn as_table(all: &[(Proofs, Vec<Confirmation>)]) -> String {
    let out = match all {
        [(one, confirmed)] => {
            let lines: String = confirmed.iter().map(|c| format!("\n{}: {}\n", c.version, counts(c))).collect();
            of_one(one) + &lines
        }
        all => of_many(all),
    };
    let inputs = text::count(1 << 32);
    format!(
        "{out}\nEvery int32 accumulator x and multiplier m, {inputs} times {inputs} inputs a shift, to which both schemes give a value. Proved, not sampled; unknown is no pass.\n"
    )
}

/// Formats each statement with a witness.
fn of_one(proofs: &Proofs) -> String {
    let shifts = |s: &Statement| interval(&s.shifts);
    let rows = statements(&proofs.verdicts).into_iter().map(|s| {
        let witness = s.witness.map_or_else(|| "-".to_owned(), |w| at(&w, *s.shifts.start()));
        vec![shifts(&s), s.verdict.to_owned(), s.lines.join("\n"), witness]
    });
    let title = format!("{} minus {}, by the product p = x*m\n\n", proofs.right.label(), proofs.left.label());
    title + &table(&["s", "verdict", "where", "witness: left, right"], rows.collect())
}

/// Formats the outcomes of a solver that occurred, with the number of shifts of each outcome.
fn counts(confirmation: &Confirmation) -> String {
    let named = [
        (Outcome::Confirmed, "confirmed"),
        (Outcome::Contradicted, "CONTRADICTED"),
        (Outcome::Vacuous, "vacuous"),
        (Outcome::Unanswered, "unanswered"),
        (Outcome::NotPosed, "not posed"),
    ];
    let counted = named.map(|(outcome, name)| (confirmation.count(outcome), name));
    let parts: Vec<String> = counted.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    format!("{} of {} shifts", parts.join(", "), confirmation.outcomes.len())
}

/// Formats one row for each pair: the shifts of each verdict, and the solvers' answers if any.
fn of_many(all: &[(Proofs, Vec<Confirmation>)]) -> String {
    let intervals = |proofs: &Proofs, is: fn(&Verdict) -> bool| {
        let all: Vec<String> = proofs.shifts(is).iter().map(interval).collect();
        if all.is_empty() { "-".to_owned() } else { all.join(" ") }
    };
    let with_solvers = all.iter().any(|(_, confirmed)| !confirmed.is_empty());
    let row = |(proofs, confirmed): &(Proofs, Vec<Confirmation>)| {
        let answers = confirmed.iter().map(|c| format!("{}: {}", c.solver.name, counts(c))).collect::<Vec<_>>();
        let columns = [
            proofs.left.label(),
            proofs.right.label(),
            intervals(proofs, |v| matches!(v, Verdict::Identical { .. })),
            intervals(proofs, |v| matches!(v, Verdict::Differ { .. })),
            intervals(proofs, |v| matches!(v, Verdict::Unknown { .. })),
        ];
        columns.into_iter().chain(with_solvers.then(|| answers.join("\n"))).collect()
    };
    let header = ["left", "right", "identical at s", "differ at s", "unknown at s", "solvers"];
    let shown = if with_solvers { &header[..] } else { &header[..5] };
    table(shown, all.iter().map(row).collect())
}

fn at(witness: &Witness, s: i32) -> String {
    let Witness { x, m, left, right } = witness;
    format!("x={x} m={m} s={s}: {left}, {right}")
}

fn as_json(all: &[(Proofs, Vec<Confirmation>)]) -> Value {
    let verdict = |(s, verdict): &(i32, Verdict)| match verdict {
        Verdict::Identical { same_domain } => json!({"shift": s, "verdict": "identical", "same_domain": same_domain}),
        Verdict::Unknown { reason } => json!({"shift": s, "verdict": "unknown", "reason": reason}),
        Verdict::Differ { differences, products, left, extent, witness } => json!({
            "shift": s, "verdict": "differ", "products": [products.0, products.1], "left_shift": left,
            "differences": differences, "extent": extent, "witness": witness,
        }),
    };
    let statement = |s: Statement| json!({"shifts": [s.shifts.start(), s.shifts.end()], "verdict": s.verdict, "where": s.lines, "witness": s.witness});
    let confirmation = |c: &Confirmation| {
        let count = |outcome| c.count(outcome);
        json!({
            "solver": c.solver.name, "version": c.version, "confirmed": count(Outcome::Confirmed),
            "contradicted": count(Outcome::Contradicted), "vacuous": count(Outcome::Vacuous),
            "unanswered": count(Outcome::Unanswered), "not_posed": count(Outcome::NotPosed),
        })
    };
    let pair = |(proofs, confirmed): &(Proofs, Vec<Confirmation>)| {
        json!({
            "left": proofs.left.label(), "right": proofs.right.label(), "decided": proofs.decided(),
            "statements": statements(&proofs.verdicts).into_iter().map(statement).collect::<Vec<_>>(),
            "shifts": proofs.verdicts.iter().map(verdict).collect::<Vec<_>>(),
            "solvers": confirmed.iter().map(confirmation).collect::<Vec<_>>(),
        })
    };
    json!({"inputs_per_shift": "18446744073709551616", "pairs": all.iter().map(pair).collect::<Vec<_>>()})
}
