//! Lanes file: the lanes, and the command of each lane. Written by `cargo xtask`, or by a user to plug in a worker.

use super::built;
use super::group::is_inside;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use tiebreak_common::called::in_clone;
use tiebreak_mlir::Toolchain;
use tiebreak_reports::drawable::{bounded, is_drawable};
use tiebreak_reports::ledger::Content;
use tiebreak_reports::read;
use tiebreak_worker::protocol::Offer;

/// Name of the lane that needs no file.
pub const HOST: &str = "host";

/// Name of a lane that runs the host's worker as a process, for tests.
const HOST_WORKER: &str = "host-worker";

/// Prefix of the project's lanes of compiled modules.
const COMPILED: &str = "mlir-";
/// Prefix of the project's aarch64 lanes.
const AARCH64: &str = "aarch64-";

/// Reason for which a run without named lanes leaves out a lane.
const NO_COMPILED: &str = "it has the kernels of compiled modules alone, and no operation of this run has any";

/// Longest name of a lane, in characters.
const LONGEST_NAME: usize = 64;

/// Content of a lanes file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lanes {
    /// Entries of the lanes.
    pub lanes: Vec<Entry>,
    /// Directory of hashes of programs and libraries, kept between runs so that unchanged files are not read again; `None`: each run reads all.
    pub hashes: Option<PathBuf>,
    /// Command that runs the kernels of lane `host` as a worker, for calls in a fresh process; `None` if the program has no such command.
    #[serde(skip)]
    pub own_worker: Option<Vec<String>>,
}

/// Entry of one lane.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name on the command line.
    pub name: String,
    /// Program and arguments of the worker.
    pub command: Option<Vec<String>>,
    /// Reason for a missing command.
    pub not_run: Option<String>,
    /// Time limit for a silent worker in seconds, if not the default; large batches get more time, by the rule in `patience.rs`.
    pub patience_seconds: Option<NonZeroU64>,
    /// Kernels of the worker, if the worker does not offer them itself.
    #[serde(default)]
    pub offers: Vec<Offer>,
    /// Disassembler for the worker, for tests of the object code.
    pub objdump: Option<PathBuf>,
    /// Compiler of the lane's modules; each module is added to the command as `--module FILE`.
    pub modules: Option<Toolchain>,
    /// Compiler files from which the lane's modules were made, once the modules are compiled.
    #[serde(skip)]
    pub made_by: Vec<Content>,
    /// Functions of the modules, if the program has compiled them.
    #[serde(skip)]
    pub compiled: Option<BTreeSet<String>>,
}

impl Lanes {
    /// Reads the lanes of a file; without a file only `host`.
    pub fn given(path: Option<&Path>) -> Result<Self> {
        path.map_or_else(|| Ok(Self::default()), Self::read)
    }

    /// Reads `path`. Refused inside a worker, because the lanes would start the worker again, without end.
    pub fn read(path: &Path) -> Result<Self> {
        if is_inside() {
            bail!(
                "the lanes of {} are not run: a lane's worker started this program, and its lanes could \
                 start that worker again, without end; let the worker run kernels itself, or call commands without --lanes",
                path.display()
            );
        }
        let text = read::text(path, read::LANES).with_context(|| {
            format!("cannot read the lanes file; {} writes one, and `--lane host` needs none", in_clone("verify"))
        })?;
        let mut lanes = Self::parse(&text).with_context(|| format!("{} is not a lanes file", path.display()))?;
        let place = std::path::absolute(path).with_context(|| format!("{} has no place", path.display()))?;
        lanes.lanes.iter_mut().filter_map(|entry| entry.command.as_mut()).for_each(|command| placed(command, &place));
        Ok(lanes)
    }

    /// Parses the text of a lanes file.
    pub fn parse(text: &str) -> Result<Self> {
        let lanes: Self = serde_json::from_str(text).context("write {\"lanes\":[{\"name\":..,\"command\":[..]}]}")?;
        lanes.check()?;
        Ok(lanes)
    }

    /// Checks the names: each name means one lane, and no lane is named `host`.
    fn check(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        for Entry { name, command, offers, .. } in &self.lanes {
            if name.trim().is_empty() {
                bail!("a lane has no name");
            }
            if !name.chars().all(is_drawable) || name.chars().count() > LONGEST_NAME {
                bail!(
                    "the lane `{}` has a name that reports cannot print; give it one of at most {LONGEST_NAME} characters on one line, \
                     without control characters",
                    bounded(name, LONGEST_NAME)
                );
            }
            if name == HOST {
                bail!("lane `{HOST}` is this process and needs no entry; give the lane of your own another name");
            }
            if !seen.insert(name) {
                bail!("there are two lanes `{name}`; give each a name of its own");
            }
            if command.as_ref().is_some_and(Vec::is_empty) {
                bail!("the command of lane `{name}` is empty; write the program and its arguments");
            }
            if let Some(offer) = offers.iter().find(|offer| !offer.own.is_given()) {
                let kernel = bounded(&offer.kernel, LONGEST_NAME);
                bail!("lane `{name}` offers `{kernel}` and does not say what it promises; add \"scheme\" or \"like\"");
            }
        }
        Ok(())
    }

    /// True if the project sets up the lane, which must therefore offer every kernel. Any other lane is the caller's, and runs the offered kernels.
    pub fn is_ours(name: &str) -> bool {
        [HOST, HOST_WORKER].contains(&name) || Self::KNOWN.contains(&name)
    }

    /// Returns the architecture that the name of a project lane promises.
    pub fn promised_arch(name: &str) -> Option<&'static str> {
        let of_modules = name.strip_prefix(COMPILED).unwrap_or(name);
        match name {
            _ if !Self::is_ours(name) => None,
            HOST | HOST_WORKER => Some(std::env::consts::ARCH),
            _ if of_modules.starts_with("aarch64") => Some("aarch64"),
            _ => Some("x86_64"),
        }
    }

    /// Returns the lanes of a run without named lanes: the host, each installed aarch64 lane, and every lane of the caller. A file without aarch64
    /// lanes requests none.
    pub fn default_names(&self) -> Vec<String> {
        let of_aarch64 = |l: &&Entry| l.name.starts_with(AARCH64) && Self::is_ours(&l.name);
        let mut names = vec![HOST.to_owned()];
        names.extend(self.lanes.iter().filter(of_aarch64).filter(|l| l.command.is_some()).map(|l| l.name.clone()));
        let listed = self.lanes.iter().any(|l| of_aarch64(&l));
        // A missing aarch64 lane is listed, so that the run reports it.
        names.extend((names.len() == 1 && (listed || self.lanes.is_empty())).then(|| "aarch64-qemu".to_owned()));
        names.extend(self.of_the_caller(|entry| entry.modules.is_none()));
        names.extend(self.host_worker(names.len() == 1));
        names
    }

    /// Returns the lanes of the caller.
    fn of_the_caller(&self, wanted: impl Fn(&Entry) -> bool) -> impl Iterator<Item = String> {
        self.lanes.iter().filter(move |l| !Self::is_ours(&l.name) && wanted(l)).map(|l| l.name.clone())
    }

    /// Returns lane `host-worker` if the run has no lane except `host`, or if its program is not the project's, whose kernels already run in lane
    /// `host`.
    fn host_worker(&self, alone: bool) -> Option<String> {
        let runs = |command: &Vec<String>| alone || !built::starts_built(command);
        let found = self.lanes.iter().find(|l| l.name == HOST_WORKER && l.command.as_ref().is_some_and(runs));
        found.map(|l| l.name.clone())
    }

    /// Returns the lanes with a program of the caller that a run leaves out, each with the reason.
    pub fn left_out(&self, names: &[String]) -> impl Iterator<Item = (&str, &'static str)> {
        let others = self.lanes.iter().filter(|l| !names.contains(&l.name));
        let of_the_caller = others.filter(|l| l.command.as_ref().is_some_and(|command| !built::starts_built(command)));
        of_the_caller.map(|l| (l.name.as_str(), NO_COMPILED))
    }

    /// Returns the lanes of compiled modules, installed or not.
    pub fn compiled_names(&self) -> impl Iterator<Item = String> {
        let known = |name: &str| name.starts_with(COMPILED) && Self::is_ours(name);
        let compiled = move |l: &&Entry| known(&l.name) || l.modules.is_some() && !Self::is_ours(&l.name);
        self.lanes.iter().filter(compiled).map(|l| l.name.clone())
    }

    /// Returns every name that a request can use.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(HOST).chain(self.lanes.iter().map(|l| l.name.as_str()))
    }
}

/// Resolves relative paths of a worker's command against the directory of the lanes file `place`, which is absolute: a program with a directory in
/// its name, and arguments that begin with `./` or `../`. A bare name is looked up in `PATH`; other arguments stay unchanged.
fn placed(command: &mut [String], place: &Path) {
    let beside =
        |word: &str| place.with_file_name("").join(word.trim_start_matches("./")).to_string_lossy().into_owned();
    for (at, word) in command.iter_mut().enumerate() {
        let is_program = at == 0 && word.contains('/') && !word.starts_with('/');
        if is_program || word.starts_with("./") || word.starts_with("../") {
            *word = beside(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_of_a_worker_are_beside_the_lanes_file() {
        let place = Path::new("/a/lanes.json");
        let placed = |words: &[&str]| {
            let mut command: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            super::placed(&mut command, place);
            command
        };
        assert_eq!(placed(&["./w", "./k.py", "x/y", "-v"]), ["/a/w", "/a/k.py", "x/y", "-v"]);
        assert_eq!(placed(&["bin/w", "../k.py"]), ["/a/bin/w", "/a/../k.py"]);
        assert_eq!(placed(&["python3", "k.py"]), ["python3", "k.py"]);
        assert_eq!(placed(&["/b/w"]), ["/b/w"]);
    }

    fn lanes(names: &[&str]) -> Lanes {
        let lane = |name: &&str| serde_json::json!({"name": name, "command": ["worker"]});
        let lanes: Vec<_> = names.iter().map(lane).collect();
        serde_json::from_value(serde_json::json!({ "lanes": lanes })).expect("lanes")
    }

    /// Regression: the file was read, but its lane never started, because a run without named lanes took only lanes of the project.
    #[test]
    fn a_lane_of_the_callers_own_is_a_lane_of_the_run() {
        assert_eq!(lanes(&["mine"]).default_names(), ["host", "mine"]);
        assert_eq!(lanes(&["aarch64-qemu", "mine", "mlir-x86"]).default_names(), ["host", "aarch64-qemu", "mine"]);
        assert_eq!(lanes(&["aarch64-native"]).default_names(), ["host", "aarch64-native"]);
        assert_eq!(lanes(&["host-worker"]).default_names(), ["host", "host-worker"]);
        assert_eq!(lanes(&[]).default_names(), ["host", "aarch64-qemu"]);
    }

    /// Issue 31, item 4: these lanes were dropped silently.
    #[test]
    fn no_lane_of_the_callers_is_dropped() {
        assert_eq!(lanes(&["aarch64-qemu", "host-worker"]).default_names(), ["host", "aarch64-qemu", "host-worker"]);
        assert_eq!(lanes(&["mine", "host-worker"]).default_names(), ["host", "mine", "host-worker"]);
        let both = ["aarch64-native", "aarch64-qemu"];
        assert_eq!(lanes(&both).default_names(), ["host", "aarch64-native", "aarch64-qemu"]);
        assert_eq!(lanes(&["mlir-mine"]).default_names(), ["host", "mlir-mine"]);
        let x86 = lanes(&["mlir-x86"]);
        assert_eq!((x86.default_names(), x86.compiled_names().count()), (vec!["host".to_owned()], 1));
        let said: Vec<&str> = x86.left_out(&x86.default_names()).map(|(name, _)| name).collect();
        assert_eq!(said, ["mlir-x86"]);
    }

    /// Issue 31, item 5.
    #[test]
    fn the_name_of_a_lane_of_the_project_promises_an_architecture() {
        let promised = Lanes::KNOWN.map(|name| Lanes::promised_arch(name).expect("it is ours"));
        assert_eq!(promised, ["aarch64", "aarch64", "x86_64", "aarch64", "aarch64"]);
        assert_eq!(["host", "host-worker"].map(Lanes::promised_arch), [Some(std::env::consts::ARCH); 2]);
        assert_eq!(["mine", "aarch64-mine", "mlir-mine"].map(Lanes::promised_arch), [None; 3]);
    }

    /// Issue 31, item 10: such a name put a heading into the summary of a broken run.
    #[test]
    fn a_name_that_cannot_be_printed_is_refused() {
        let refused = |name: &str| lanes(&[name]).check().expect_err("refused").to_string();
        for name in ["x\n# Tiebreak: holds", "\u{1b}[2J", "a\u{202e}b", "\u{9b}", &"x".repeat(65)] {
            let message = refused(name);
            assert!(message.contains("a name that reports cannot print"), "{message}");
            assert!(message.chars().all(is_drawable), "{message:?}");
        }
        assert!(lanes(&["übung 1 (x86|v3)", &"x".repeat(64)]).check().is_ok());
    }

    #[test]
    fn a_name_means_one_lane() {
        let refused = |names: &[&str]| lanes(names).check().expect_err("refused").to_string();
        assert!(refused(&["host"]).contains("lane `host` is this process"));
        assert!(refused(&["mine", "yours", "mine"]).contains("two lanes `mine`"));
        assert!(refused(&[" "]).contains("a lane has no name"));
        assert!(lanes(&["mine", "yours", "aarch64-qemu"]).check().is_ok());
    }
}
