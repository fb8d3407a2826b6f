//! Check of the quant dialect's rewrites in a run.

use crate::class::Class;
use crate::rewrites::recorded;
use anyhow::Result;
use tiebreak_reports::ledger::{Finding, Ledger, Rewrite, Verdict};

/// Operations whose steps occur in the rewrites.
const CASTS: [&str; 2] = ["quantize", "dequantize"];

/// Measures the rewrites if the run judged both casts. A rewrite that differs from the record is a finding. An unfinished run stays unchanged.
pub fn judge(ledger: &mut Ledger) -> Result<()> {
    let judged = |op: &&str| ledger.rows.iter().any(|row| row.op == **op);
    if ledger.verdict == Verdict::Unfinished || !CASTS.iter().all(judged) {
        return Ok(());
    }
    ledger.rewrites = recorded::measured()?;
    let broken: Vec<Finding> = ledger.rewrites.iter().filter(|rewrite| !rewrite.held()).map(finding).collect();
    if let Some(first) = broken.first() {
        ledger.meanings.insert(first.class.clone(), Class::SelfCheck.meaning().to_owned());
        ledger.findings.extend(broken);
        ledger.verdict = Verdict::Broken;
    }
    Ok(())
}

fn finding(rewrite: &Rewrite) -> Finding {
    let Rewrite { rewrite: name, ty, counted, recorded, command, .. } = rewrite;
    let [got, wanted] =
        [counted, recorded].map(|c| format!("{} same, {} differ, {} poison", c.same, c.differ, c.undefined));
    Finding {
        op: CASTS[0].to_owned(),
        kernel: String::new(),
        lane: String::new(),
        class: Class::SelfCheck.name().to_owned(),
        message: format!(
            "the rewrite `{name}` of {ty} is not as recorded: {got}, where {wanted} are recorded; `{command}` prints it"
        ),
        witness: None,
    }
}
