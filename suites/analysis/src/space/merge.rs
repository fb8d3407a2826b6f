//! The files of shards as one ledger.

use super::{check, command};
use anyhow::{Context, Result, anyhow, bail};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use tiebreak_reports::read;
use tiebreak_reports::space::{Chunk, Ledger, Line, Place, Plan, Shard};
use tiebreak_shards::journal::whole_lines;

/// The file of a run, complete or not.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// What was to be counted.
    pub plan: Plan,
    /// What was.
    pub chunks: Vec<Chunk>,
}

/// What parts make.
#[derive(Clone, Debug)]
pub enum Merged {
    /// Everything.
    Whole(Ledger),
    /// Not everything.
    Missing {
        /// Chunks that nobody has counted.
        chunks: usize,
        /// Of so many.
        of: usize,
        /// What counts them.
        commands: Vec<String>,
    },
}

/// What the file of a run holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The chunks to count.
    pub plan: Plan,
    /// Those that are counted.
    pub chunks: Vec<Chunk>,
    /// Whether the file is a ledger, with all sums.
    pub whole: bool,
    /// Length of its whole lines, in bytes; a torn line may follow.
    pub length: usize,
}

/// Reads the file of a run, complete or not; `None` if not even its first line is whole.
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

/// Puts parts of one space together; an error where they are not, or where two have counted the same.
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

/// What counts the missing chunks: a part that has not ended is resumed, and the other shards are run, of as many as the part
/// with the most says.
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
