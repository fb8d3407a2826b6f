//! `prove --bounds`: bounds of narrow lanes, differences of casts, and axioms of products, each proved by every installed solver.

use super::super::table;
use super::{Args, solvers};
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_analysis::proofs::bounds::{Answered, Bound, bounds};
use tiebreak_analysis::proofs::ir::{Axiom, axioms};
use tiebreak_analysis::proofs::{Answer, Solver};
use tiebreak_reports::text;

/// Results of all proofs.
struct Found {
    bounds: Vec<Bound>,
    axioms: Vec<Axiom>,
    solvers: Vec<(Solver, String)>,
}

/// Proves all statements and prints the table. Returns false if a statement is not proved, or if a false axiom is accepted.
pub(super) fn run(args: &Args) -> Result<bool> {
    let solvers = solvers()?;
    let names: Vec<Solver> = solvers.iter().map(|(solver, _)| *solver).collect();
    let found = Found { bounds: bounds(&names, args.query_limit)?, axioms: axioms(&names)?, solvers };
    args.format.print(|| found.as_table(), || found.as_json())?;
    Ok(found.holds())
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Satisfiable => "yes",
        Answer::Unsatisfiable => "no",
        Answer::Unknown => "no answer",
    }
}

impl Found {
    fn holds(&self) -> bool {
        self.bounds.iter().all(Bound::proved) && self.axioms.iter().all(Axiom::held)
    }

    /// Formats a question with the answers of the solvers.
    fn asked(&self, answered: &Answered) -> String {
        let said = self.solvers.iter().zip(&answered.answers);
        let said: Vec<String> =
            said.map(|((solver, _), answer)| format!("{} {}", solver.name, word(*answer))).collect();
        let witness = answered.witness.as_ref().map_or(String::new(), |witness| format!(": {witness}"));
        let held = if answered.confirmed { "" } else { " (not as needed)" };
        format!("{}? {}{held}{witness}", answered.what, said.join(", "))
    }

    fn as_table(&self) -> String {
        let verdict = |proved| if proved { "proved" } else { "unknown" }.to_owned();
        let line = |bound: &Bound| {
            let asked: Vec<String> = bound.answered.iter().map(|answered| self.asked(answered)).collect();
            let claim = format!("{}\n  {}", bound.claim, asked.join("\n  "));
            vec![bound.name.to_owned(), claim, verdict(bound.proved()), format!("{:.1}", bound.seconds)]
        };
        let axiom = |axiom: &Axiom| {
            let verdict = match (axiom.is_true, axiom.answer) {
                (_, Answer::Unsatisfiable) => "proved",
                (_, Answer::Satisfiable) => "refused",
                (_, Answer::Unknown) => "unknown",
            };
            vec![axiom.name.to_owned(), verdict.to_owned()]
        };
        let versions: Vec<&str> = self.solvers.iter().map(|(_, version)| version.as_str()).collect();
        let proved = self.bounds.iter().filter(|bound| bound.proved()).count();
        format!(
            "{}\n{}\n{proved} of {} statements are theorems. Two false axioms must be refused. Solvers: {}. Unknown is no pass.\n",
            table(&["instruction or cast", "statement", "verdict", "seconds"], self.bounds.iter().map(line).collect()),
            table(&["axiom of a product of two int32", "verdict"], self.axioms.iter().map(axiom).collect()),
            text::count(self.bounds.len() as u64),
            versions.join("; "),
        )
    }

    fn as_json(&self) -> Value {
        let answered = |answered: &Answered| {
            let answers: Vec<&str> = answered.answers.iter().map(|answer| word(*answer)).collect();
            json!({"question": answered.what, "answers": answers, "held": answered.confirmed, "witness": answered.witness})
        };
        let bound = |bound: &Bound| {
            json!({
                "name": bound.name, "claim": bound.claim, "proved": bound.proved(), "seconds": bound.seconds,
                "questions": bound.answered.iter().map(answered).collect::<Vec<_>>(),
            })
        };
        let axiom = |axiom: &Axiom| json!({"name": axiom.name, "true": axiom.is_true, "denial": word(axiom.answer), "held": axiom.held()});
        json!({
            "solvers": self.solvers.iter().map(|(_, version)| version).collect::<Vec<_>>(), "holds": self.holds(),
            "bounds": self.bounds.iter().map(bound).collect::<Vec<_>>(),
            "axioms": self.axioms.iter().map(axiom).collect::<Vec<_>>(),
        })
    }
}
