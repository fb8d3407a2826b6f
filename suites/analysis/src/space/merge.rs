//! Merge of the files of shards to one ledger.

use super::{check, command};
use anyhow::{Context, Result, anyhow, bail};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use tiebreak_reports::read;
use tiebreak_reports::space::{Chunk, Ledger, Line, Place, Plan, Shard};
use tiebreak_shards::journal::whole_lines;

/// File of a run, complete or not.
#[derive(Clone, Debug)]
pub struct Part {
    /// Path of the file.
    pub path: PathBuf,
    /// Plan of the run.
    pub plan: Plan,
    /// Counted chunks.
    pub chunks: Vec<Chunk>,
}

/// Result of a merge.
#[derive(Clone, Debug)]
pub enum Merged {
    /// Ledger with all chunks.
    Whole(Ledger),
    /// Some chunks have not been counted.
    Missing {
        /// Number of missing chunks.
        chunks: usize,
        /// Number of all chunks.
        of: usize,
        /// Commands that count the missing chunks.
        commands: Vec<String>,
    },
}

/// Content of the file of a run.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Plan with the chunks to count.
    pub plan: Plan,
    /// Counted chunks.
    pub chunks: Vec<Chunk>,
    /// True if the file is a ledger with all sums.
    pub whole: bool,
    /// Length of the whole lines, in bytes; a torn line may follow.
    pub length: usize,
}

/// Parses the file of a run, complete or not; `None` if even the first line is torn.
pub fn contents(bytes: &[u8]) -> Result<Option<Contents>> {
    let length = whole_lines(bytes);
    let text = std::str::from_utf8(&bytes[..length]).context("it is not UTF-8")?;
    let mut contents: Option<Contents> = None;
    let mut places = HashSet::new();
    for (i, line) in text.lines().enumerate() {
        let at = i + 1;
        let line = serde_json::from_str(line).with_context(|| format!("line {at} is damaged"))?;
        match (line, &mut contents) {
            (Line::Plan(plan), None) => {
                check(&plan)?;
                places.extend(plan.places());
                contents = Some(Contents { plan, chunks: Vec::new(), whole: false, length });
            }
            (Line::Chunk(chunk), Some(contents)) => {
                if !places.remove(&chunk.place) {
                    bail!("line {at} counts {:?}, which is not of its plan or counted twice", chunk.place);
                }
                chunk.possible().with_context(|| format!("line {at}"))?;
                let (sums, differs) = (&chunk.sums, chunk.sums.differ.0 > 0);
                if sums.most.is_some() != differs || sums.first.is_some() != differs {
                    bail!(
                        "line {at} counts differences and names no pair with them, or the reverse: it is damaged or edited"
                    );
                }
                contents.chunks.push(chunk);
            }
            (Line::Shift(_) | Line::Total(_), Some(contents)) => {
                Ledger::parse(text)?;
                contents.whole = true;
                break;
            }
            _ => bail!("line {at} is not where it belongs"),
        }
    }
    Ok(contents)
}

/// Reads the file of a run.
pub fn read(path: &Path) -> Result<Part> {
    let bytes = read::bytes(path, read::LEDGER)?;
    let named = || format!("{} is not the file of a census of a space", path.display());
    let Contents { plan, chunks, .. } = contents(&bytes).with_context(named)?.with_context(named)?;
    Ok(Part { path: path.to_owned(), plan, chunks })
}

/// Merges the parts of one space. Parts of different runs, or a chunk in two parts, are an error.
pub fn merge(parts: &[Part]) -> Result<Merged> {
    let first = parts.first().ok_or(anyhow!("nothing to merge"))?;
    let mut counted: HashMap<Place, &Part> = HashMap::new();
    for part in parts {
        let unlike = part.plan.unlike(&first.plan);
        if !unlike.is_empty() {
            let (here, there) = (part.path.display(), first.path.display());
            bail!("{here} and {there} are not of one run: in {here} {}", unlike.join(", "));
        }
        for chunk in &part.chunks {
            if let Some(other) = counted.insert(chunk.place, part) {
                let (here, there) = (part.path.display(), other.path.display());
                let Place { shift, from, to } = chunk.place;
                bail!("{here} and {there} overlap: both have shift {shift}, multipliers {from}..{to}; leave one out");
            }
        }
    }
    let plan = first.plan.whole();
    let missing: Vec<(u64, Place)> = plan.all_places().filter(|(_, place)| !counted.contains_key(place)).collect();
    if missing.is_empty() {
        let chunks = parts.iter().flat_map(|part| part.chunks.clone()).collect();
        return Ok(Merged::Whole(Ledger::new(plan, chunks)));
    }
    let commands = commands(parts, &plan, &missing);
    Ok(Merged::Missing { chunks: missing.len(), of: missing.len() + counted.len(), commands })
}

/// Returns the commands that count the missing chunks: an unfinished part is resumed, and absent shards are run, with the largest number of shards in
/// the files.
fn commands(parts: &[Part], plan: &Plan, missing: &[(u64, Place)]) -> Vec<String> {
    let in_shard = |shard: Option<Shard>, i: u64| shard.is_none_or(|shard| shard.has(i));
    let most = parts.iter().filter_map(|part| part.plan.shard).map(|shard| shard.of).max();
    let mut resumed = BTreeSet::new();
    let mut shards = BTreeSet::new();
    for (i, _) in missing {
        match parts.iter().position(|part| in_shard(part.plan.shard, *i)) {
            Some(part) => _ = resumed.insert(part),
            None => shards.extend(most.map(|of| Shard::with(*i, of).index)),
        }
    }
    let resumed = resumed.into_iter().map(|i| {
        let Part { path, plan, .. } = &parts[i];
        command(plan, path, true)
    });
    let shards = shards.into_iter().zip(most.into_iter().cycle()).map(|(index, of)| {
        let shard = Shard { index, of };
        command(&Plan { shard: Some(shard), ..plan.clone() }, &super::usual_out(Some(shard)), false)
    });
    resumed.chain(shards).collect()
}
