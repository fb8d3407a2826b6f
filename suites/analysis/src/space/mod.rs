//! Comparison of two schemes over a whole space, in closed form: every multiplier, every shift, every accumulator.
//!
//! The space is cut into chunks of some multipliers at one shift, in the same way on every machine. Each finished chunk is appended to the file of
//! the run. The complete file is one ledger, equal byte by byte for any number of threads, interruptions and shards. Chunks that are read back are
//! [counted again](again).

pub mod again;
mod count;
pub mod merge;
mod run;

use anyhow::{Result, bail};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::space::{NotALedger, Plan, Shard};

pub use again::Again;
pub use count::count;
pub use run::{Finished, Request, run};
pub use tiebreak_reports::space::ACCUMULATORS;

/// Space with Q0.31 multipliers, int32 accumulators, and right shifts or no shift.
pub const Q31: &str = "q31";
/// Multipliers of the space: the normalised ones, which frameworks derive from scales.
pub const MULTIPLIERS: RangeInclusive<i32> = 1 << 30..=i32::MAX;
/// Shifts of the space.
pub const SHIFTS: RangeInclusive<i32> = -31..=0;
/// Usual number of multipliers in a chunk: half a second of work.
pub const CHUNK: u32 = 1 << 20;
/// Upper bound on the chunks of a plan, each of which is a line of the ledger.
const MOST_CHUNKS: u64 = 1 << 20;

/// Part of [`Q31`] to count.
#[derive(Clone, Debug)]
pub struct Part {
    /// Scheme whose results are subtracted.
    pub left: Scheme,
    /// Scheme from whose results the results of `left` are subtracted.
    pub right: Scheme,
    /// First and last shift.
    pub shifts: [i32; 2],
    /// First and last multiplier.
    pub multipliers: [i32; 2],
    /// Number of multipliers in a chunk.
    pub chunk: u32,
    /// Shard to count; all chunks if `None`.
    pub shard: Option<Shard>,
}

impl Part {
    /// Returns the plan, or an error if it exceeds the space.
    pub fn plan(&self, commit: Option<String>) -> Result<Plan> {
        let plan = Plan {
            format: Plan::FORMAT,
            space: Q31.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
            left: self.left.label(),
            right: self.right.label(),
            shifts: self.shifts,
            multipliers: self.multipliers,
            chunk: self.chunk,
            shard: self.shard,
        };
        check(&plan)?;
        Ok(plan)
    }
}

/// Checks that a plan, which may come from a file, is within the space and has chunks.
pub fn check(plan: &Plan) -> Result<()> {
    if plan.format != Plan::FORMAT {
        return Err(NotALedger::Format { found: plan.format }.into());
    }
    if plan.space != Q31 {
        bail!(
            "the space is `{}`, and the one that is counted here is `{Q31}`; use the version of tiebreak that wrote it",
            plan.space
        );
    }
    inside("--shift", plan.shifts, &SHIFTS)?;
    inside("--multipliers", plan.multipliers, &MULTIPLIERS)?;
    if plan.chunk == 0 {
        bail!("--chunk 0 is no chunk");
    }
    let [first, last] = plan.multipliers.map(|m| u64::from(m.unsigned_abs()) / u64::from(plan.chunk));
    let chunks = (last - first + 1) * (u64::from(plan.shifts[1].abs_diff(plan.shifts[0])) + 1);
    if chunks > MOST_CHUNKS {
        bail!("--chunk {} makes {chunks} chunks, and {MOST_CHUNKS} are the most; name a larger one", plan.chunk);
    }
    Ok(())
}

fn inside(option: &str, [first, last]: [i32; 2], all: &RangeInclusive<i32>) -> Result<()> {
    if first > last {
        bail!("{option} {first}..{last}: {first} is above {last}");
    }
    if !all.contains(&first) || !all.contains(&last) {
        bail!("{option} {first}..{last}: the space {Q31} has {}..{}", all.start(), all.end());
    }
    Ok(())
}

/// Returns the default path of the ledger.
pub fn usual_out(shard: Option<Shard>) -> PathBuf {
    let name = shard.map_or("space.jsonl".to_owned(), |s| format!("space-{}-of-{}.jsonl", s.index, s.of));
    Path::new("tiebreak-out").join(name)
}

/// Returns the command for a plan.
pub fn command(plan: &Plan, out: &Path, resume: bool) -> String {
    let ends = |[first, last]: [i32; 2]| format!("{first}..{last}");
    let whole = |all: &RangeInclusive<i32>| [*all.start(), *all.end()];
    let option =
        |name: &str, value: String, usual: bool| if usual { String::new() } else { format!(" --{name}={value}") };
    [
        format!(
            "{} census --space {} --left {} --right {}",
            tiebreak_common::called::program(),
            plan.space,
            plan.left,
            plan.right
        ),
        option("shift", ends(plan.shifts), plan.shifts == whole(&SHIFTS)),
        option("multipliers", ends(plan.multipliers), plan.multipliers == whole(&MULTIPLIERS)),
        option("chunk", plan.chunk.to_string(), plan.chunk == CHUNK),
        plan.shard.map(|shard| format!(" --shard {shard}")).unwrap_or_default(),
        format!(" --out {}", tiebreak_shards::shell::quoted(&out.display().to_string())),
        if resume { " --resume".to_owned() } else { String::new() },
    ]
    .concat()
}
