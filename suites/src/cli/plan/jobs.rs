//! Jobs for existing engines. A job runs the shards, retries killed shards, and merges all shards at the end.

use anyhow::{Result, bail};
use std::path::Path;
use tiebreak_common::called::program;
use tiebreak_reports::text;
use tiebreak_shards::shell::quoted;
use tiebreak_shards::with_options;

/// What runs the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Engine {
    /// Slurm: an array, and a merge that depends on it
    Slurm,
    /// GNU parallel
    Parallel,
    /// GitHub Actions: a workflow with a matrix
    Github,
}

/// Command to run in shards.
pub(super) struct Job<'a> {
    /// Command with its arguments.
    pub(super) words: &'a [String],
    pub(super) command: &'static str,
    pub(super) shards: u32,
    pub(super) out: &'a Path,
    pub(super) units: usize,
    /// Seconds of the longest shard.
    pub(super) longest: Option<f64>,
}

/// Maximum number of jobs in a GitHub matrix.
const MATRIX: u32 = 256;

/// Number of restarts of a killed shard under Slurm, and of a failing shard under GNU parallel.
const AGAIN: u32 = 3;

impl Job<'_> {
    pub(super) fn text(&self, engine: Engine) -> Result<String> {
        if engine == Engine::Github && self.shards > MATRIX {
            bail!("GitHub accepts {MATRIX} jobs of a matrix at most, not {}: give --shards {MATRIX}", self.shards);
        }
        Ok(match engine {
            Engine::Slurm => self.slurm(),
            Engine::Parallel => self.parallel(),
            Engine::Github => self.github(),
        })
    }

    /// Returns the command of a shard. The engine inserts the number.
    fn shard(&self, index: &str) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        let options = format!("--shard {index}/{} --out {} --resume", self.shards, self.place(index));
        format!("{} {}", program(), with_options(&words, vec![options]).join(" "))
    }

    /// Returns the output of a shard: a directory, or a file for a census.
    fn place(&self, index: &str) -> String {
        match self.command {
            "census" => format!("{}/space-{index}-of-{}.jsonl", self.directory(), self.shards),
            _ => self.directory(),
        }
    }

    fn directory(&self) -> String {
        quoted(&self.out.display().to_string())
    }

    /// Returns the files of all shards.
    fn files(&self) -> String {
        let name = if self.command == "census" { "space" } else { self.command };
        let files = (1..=self.shards).map(|i| format!("{}/{name}-{i}-of-{}.jsonl", self.directory(), self.shards));
        files.collect::<Vec<_>>().join(" ")
    }

    fn merge(&self) -> String {
        let out = match self.command {
            "census" => format!(" --out {}/space.jsonl", self.directory()),
            "verify" => format!(" --out {}/merged", self.directory()),
            _ => String::new(),
        };
        format!("{} merge{out} {}", program(), self.files())
    }

    /// Describes the job in a line.
    fn about(&self) -> String {
        let time = self
            .longest
            .map_or(String::new(), |longest| format!(", about {} s for the longest", text::seconds(longest)));
        let (shards, units) = (self.shards as usize, text::plural(self.units, "unit"));
        format!("{} of {} in {units}{time}; then their merge", text::plural(shards, "shard"), self.command)
    }

    fn slurm(&self) -> String {
        let (about, directory, of, merge) = (self.about(), self.directory(), self.shards, self.merge());
        let element = self.shard("\"$SLURM_ARRAY_TASK_ID\"");
        format!(
            r#"#!/bin/bash
# {about}. Start it with bash where the program is to run; it prints the numbers of the array and of the merge.
set -eu
mkdir -p {directory}
array=$(sbatch --parsable --job-name=tiebreak --array=1-{of} --requeue --open-mode=append --output={directory}/slurm-%a.log <<'ELEMENT'
#!/bin/bash
code=0
{element} || code=$?
# A shard that was killed goes on where it was; a call that is wrong stays wrong.
if [ "$code" -ge 128 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {AGAIN} ]; then
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
  sleep 60
fi
exit "$code"
ELEMENT
)
merge=$(sbatch --parsable --job-name=tiebreak-merge --dependency=afterok:"$array" --output={directory}/merge.log <<'MERGE'
#!/bin/bash
exec {merge}
MERGE
)
echo "$array $merge"
"#
        )
    }

    fn parallel(&self) -> String {
        let (about, directory, of, merge) = (self.about(), self.directory(), self.shards, self.merge());
        let (element, attempts) = (quoted(&self.shard("{}")), AGAIN + 1);
        format!(
            r#"#!/bin/bash
# {about}. JOBS shards run at a time, each on all cores; --sshlogin of GNU parallel takes other machines.
set -eu
mkdir -p {directory}
seq {of} | parallel --jobs "${{JOBS:-1}}" --joblog {directory}/joblog --retries {attempts} {element}
exec {merge}
"#
        )
    }

    fn github(&self) -> String {
        let (about, directory, merge) = (self.about(), self.directory(), self.merge());
        let shards = (1..=self.shards).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
        let element = self.shard("${{ matrix.shard }}");
        let file = self.files().split(' ').next().unwrap_or_default().replacen("-1-of-", "-${{ matrix.shard }}-of-", 1);
        let out = match self.command {
            "verify" => format!("{directory}/merged"),
            "census" => format!("{directory}/space.jsonl"),
            _ => format!("{directory}/merged.txt"),
        };
        let merge = if matches!(self.command, "corrupt" | "audit" | "bite" | "fuzz") {
            format!("{merge} | tee {out}")
        } else {
            merge
        };
        format!(
            r#"# {about}.
name: shards
on: workflow_dispatch
permissions:
  contents: read
jobs:
  shard:
    runs-on: ubuntu-24.04
    strategy:
      fail-fast: false
      matrix:
        shard: [{shards}]
    steps:
      - uses: actions/checkout@v4
      - run: |
          {element}
      - uses: actions/upload-artifact@v4
        with:
          name: shard-${{{{ matrix.shard }}}}
          path: {file}
          if-no-files-found: error
  merge:
    needs: shard
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v4
      - uses: actions/download-artifact@v4
        with:
          pattern: shard-*
          path: {directory}
          merge-multiple: true
      - run: |
          {merge}
      - uses: actions/upload-artifact@v4
        if: ${{{{ !cancelled() }}}}
        with:
          name: merged
          path: {out}
"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(command: &'static str, shards: u32, engine: Engine) -> Result<String> {
        let words = [command, "--op", "a b"].map(str::to_owned);
        Job { words: &words, command, shards, out: Path::new("out"), units: 5, longest: Some(12.0) }.text(engine)
    }

    #[test]
    fn each_engine_runs_every_shard_and_then_the_merge() {
        let slurm = job("verify", 2, Engine::Slurm).expect("a job");
        assert!(
            slurm.contains("--array=1-2 --requeue") && slurm.contains("--dependency=afterok:\"$array\""),
            "{slurm}"
        );
        assert!(slurm.contains(" verify --op 'a b' --shard \"$SLURM_ARRAY_TASK_ID\"/2 --out out --resume"), "{slurm}");
        assert!(slurm.contains(" merge --out out/merged out/verify-1-of-2.jsonl out/verify-2-of-2.jsonl"), "{slurm}");
        let parallel = job("census", 3, Engine::Parallel).expect("a job");
        assert!(parallel.contains("--joblog out/joblog --retries 4"), "{parallel}");
        assert!(parallel.contains("--shard {}/3 --out out/space-{}-of-3.jsonl --resume"), "{parallel}");
        let github = job("corrupt", 3, Engine::Github).expect("a workflow");
        assert!(github.contains("shard: [1, 2, 3]") && github.contains("needs: shard"), "{github}");
        assert!(github.contains("path: out/corrupt-${{ matrix.shard }}-of-3.jsonl"), "{github}");
        let error = job("verify", 257, Engine::Github).unwrap_err().to_string();
        assert!(error.contains("256") && error.contains("257"), "{error}");
    }
}
