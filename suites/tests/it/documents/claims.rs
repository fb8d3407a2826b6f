//! Page of claims: each claim of the five sources has a verdict, and a command whose output has the text of its row.

use super::{collapsed, runnable, xtask};
use crate::common::workspace;
use rayon::prelude::*;
use std::collections::BTreeSet;

const VERDICTS: [&str; 4] = ["holds", "in part", "refuted", "not judged"];

/// Row of a table of claims.
struct Row {
    section: String,
    claim: String,
    verdict: String,
    command: String,
    output: String,
}

fn unquoted(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}

/// Returns the rows of all tables with verdicts in the second column.
fn rows(page: &str) -> Vec<Row> {
    let (mut section, mut in_claims, mut out) = (String::new(), false, Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.to_owned();
        }
        let Some(cells) = line.strip_prefix("| ").and_then(|rest| rest.strip_suffix(" |")) else {
            in_claims = false;
            continue;
        };
        let cells: Vec<&str> = cells.split(" | ").collect();
        if cells[0] == "Claim" {
            in_claims = true;
        } else if in_claims && !cells[0].starts_with("---") {
            let [claim, verdict, command, output] = cells[..] else { panic!("not four cells: {line}") };
            out.push(Row {
                section: section.clone(),
                claim: claim.to_owned(),
                verdict: verdict.to_owned(),
                command: unquoted(command),
                output: unquoted(output),
            });
        }
    }
    out
}

fn page() -> Vec<Row> {
    rows(&std::fs::read_to_string(workspace().join("docs/src/claims.md")).expect("the page of claims"))
}

#[test]
fn every_claim_has_a_verdict_and_a_command_or_a_reason() {
    let rows = page();
    assert!(rows.len() >= 70, "only {} claims", rows.len());
    let mut sections: Vec<&str> = rows.iter().map(|row| row.section.as_str()).collect();
    sections.dedup();
    assert_eq!(sections.len(), 5, "{sections:?}");
    for Row { claim, verdict, command, output, .. } in &rows {
        assert!(VERDICTS.iter().any(|word| verdict.starts_with(word)), "{claim}: `{verdict}` is no verdict");
        assert!(output.len() >= 8, "{claim}: `{output}` says too little");
        // Tests with an installed compiler replace a command; `links` checks that they exist.
        let is_tested = || {
            ["mlir_folds", "mlir_workflow", "mlir_shapes", "pair_products"]
                .iter()
                .any(|file| output.contains(&format!("the test `{file}::")))
        };
        let is_judged = command != "-" || is_tested();
        assert_eq!(verdict != "not judged", is_judged, "{claim}: a command, or a reason why there is none");
        let reasoned = verdict.len() > VERDICTS[1].len() + 10;
        assert!(reasoned || verdict == "holds" || verdict == "not judged", "{claim}: no reason for `{verdict}`");
    }
}

#[test]
fn the_output_of_each_command_has_the_words_of_its_row() {
    let judged: Vec<Row> = page().into_iter().filter(|row| row.command != "-").collect();
    let run: Vec<(&Row, Option<Vec<String>>)> = judged.iter().map(|row| (row, runnable(&row.command))).collect();
    let skipped: BTreeSet<&str> =
        run.iter().filter(|(_, arguments)| arguments.is_none()).map(|(row, _)| row.command.as_str()).collect();
    assert!(skipped.len() <= 1, "not run: {skipped:?}");
    let failed: Vec<String> = run
        .par_iter()
        .filter_map(|(row, arguments)| {
            let run = xtask(&row.command, arguments.as_ref()?);
            let found = collapsed(&run.printed()).contains(&collapsed(&row.output));
            (!found).then(|| {
                format!("{}: `{}` is not in the output of {}\n{}", row.claim, row.output, row.command, run.printed())
            })
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
