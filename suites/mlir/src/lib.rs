//! The quant dialect's casts as the shipped compiler makes them: modules written as text, lowered by `mlir-opt`, compiled by LLVM
//! at each level, and loaded by the worker of an `mlir-*` lane.
//!
//! Lanes of compiled modules run if their tools are installed. Otherwise they are listed as `not run`, with the command
//! that installs the tools, and fail a run only if `--lane` names them: half a gigabyte of compiler is no condition for
//! everything else. `.ci/run` installs the tools, and the tests of these lanes fail without them.

#![forbid(unsafe_code)]

mod compile;
pub mod conversion;
pub mod faults;
mod lowered;
pub mod quant_type;
mod text;
mod toolchain;
mod tools;
pub mod types;

pub use text::Function;
pub use toolchain::Toolchain;

use anyhow::{Context, Result, anyhow, bail};
use compile::{Object, Unit};
use lowered::Lowered;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use tiebreak_impls::quantized::{Cast, Container, Expressed};
use tiebreak_reports::ledger::Content;
use toolchain::LEVELS;
use tools::Identity;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

/// Names an object to the worker of a lane of compiled modules.
pub const MODULE: &str = "--module";

/// Functions of one module at most: the tools take a time that grows faster than the text.
const HELD: usize = 48;

/// The functions of some lanes, grouped into modules.
#[derive(Debug)]
pub struct Plan {
    /// The text of each module with its cast.
    modules: Vec<(Cast, String)>,
    /// The names of the functions.
    symbols: BTreeSet<String>,
    lowered: Lowered,
}

impl Plan {
    /// Modules of these functions, each function once.
    ///
    /// Each module holds similar functions, so that a run with partly other types shares most objects with this one.
    pub fn new(functions: impl IntoIterator<Item = Function>) -> Self {
        let mut groups: BTreeMap<(Cast, Expressed, Container), BTreeMap<String, Function>> = BTreeMap::new();
        for function in functions {
            let params = &function.params;
            let group = groups.entry((function.cast, params.quantized.expressed, params.container)).or_default();
            group.insert(function.symbol(), function);
        }
        let (mut modules, mut symbols) = (Vec::new(), BTreeSet::new());
        for ((cast, ..), functions) in groups {
            symbols.extend(functions.keys().cloned());
            let texts: Vec<String> = functions.values().map(Function::text).collect();
            modules.extend(texts.chunks(HELD).map(|texts| (cast, texts.concat())));
        }
        Self { modules, symbols, lowered: Lowered::default() }
    }

    /// The names of its functions, as [`Function::symbol`] gives them.
    pub fn symbols(&self) -> &BTreeSet<String> {
        &self.symbols
    }

    /// Number of objects for a lane.
    pub fn objects(&self) -> usize {
        self.modules.len() * LEVELS.len()
    }

    /// Compiles for one lane, several objects at a time; `done` is called after each. The objects, and the files that made them.
    /// Errors are those of the tools, in their words.
    pub fn compile(&self, toolchain: &Toolchain, done: impl Fn() + Sync) -> Result<(Vec<PathBuf>, Vec<Content>)> {
        let identity = &toolchain.identity()?;
        let of = |(cast, text): &(Cast, String)| self.of_module(toolchain, identity, (*cast, text), &done);
        let objects: Vec<Vec<Object>> = self.modules.par_iter().map(of).collect::<Result<_>>()?;
        let objects: Vec<Object> = objects.into_iter().flatten().collect();
        let made_now = || objects.iter().filter(|object| object.made_now);
        if made_now().next().is_some() && toolchain.identity()?.files != identity.files {
            // Nobody knows which of them the new tools made.
            made_now().try_for_each(|object| fs::remove_file(&object.file)).context("removing objects")?;
            bail!("the tools were replaced while they compiled: run it again");
        }
        Ok((objects.into_iter().map(|object| object.file).collect(), identity.files.clone()))
    }

    /// The objects of one module, at each level.
    fn of_module(
        &self,
        toolchain: &Toolchain,
        identity: &Identity,
        (cast, text): (Cast, &str),
        done: impl Fn() + Sync,
    ) -> Result<Vec<Object>> {
        let lowered = OnceLock::new();
        let object = |level: &u32| {
            let isa = toolchain.isa_path(cast == Cast::Quantize, *level);
            let kernels = [(format!("mlir-opt-{}-o{level}", cast.name()), isa)];
            let unit = Unit { toolchain, identity, level: *level, text, kernels: &kernels };
            let object = unit.kept().map_or_else(
                || {
                    let lowered = lowered.get_or_init(|| self.lowered.of(toolchain, identity, text));
                    unit.make(lowered.as_ref().map_err(|error| anyhow!("{error:#}"))?)
                },
                Ok,
            );
            done();
            object
        };
        LEVELS.par_iter().map(object).collect()
    }
}
