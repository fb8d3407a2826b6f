//! Casts of the quant dialect as the shipped compiler makes them: modules written as text, lowered by `mlir-opt`, compiled by LLVM at each level, and
//! loaded by the worker of an `mlir-*` lane.
//!
//! Lanes of compiled modules run if their tools are installed. Otherwise they are listed as `not run`, with the command that installs the tools, and
//! fail a run only if `--lane` names them, because other work must not depend on half a gigabyte of compiler. `.ci/run` installs the tools, and the
//! tests of these lanes fail without them.

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

/// SHA-256 of the sources of this crate, set by its build script; `None` outside a workspace of the project.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

/// Option that names an object to the worker of a lane of compiled modules.
pub const MODULE: &str = "--module";

/// Upper bound on the functions of one module: the time of the tools grows faster than the text.
const HELD: usize = 48;

/// Functions of some lanes, grouped into modules.
#[derive(Debug)]
pub struct Plan {
    /// Cast and text of each module.
    modules: Vec<(Cast, String)>,
    /// Names of the functions.
    symbols: BTreeSet<String>,
    lowered: Lowered,
}

impl Plan {
    /// Groups functions into modules, each function once.
    ///
    /// Each module has similar functions, so that runs with partly different types share most objects.
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

    /// Returns the names of the functions, as by [`Function::symbol`].
    pub fn symbols(&self) -> &BTreeSet<String> {
        &self.symbols
    }

    /// Returns the number of objects for a lane.
    pub fn objects(&self) -> usize {
        self.modules.len() * LEVELS.len()
    }

    /// Compiles several objects of one lane at a time, and calls `done` after each. Returns the objects, and the files that made them. Errors are
    /// messages of the tools.
    pub fn compile(&self, toolchain: &Toolchain, done: impl Fn() + Sync) -> Result<(Vec<PathBuf>, Vec<Content>)> {
        let identity = &toolchain.identity()?;
        let of = |(cast, text): &(Cast, String)| self.of_module(toolchain, identity, (*cast, text), &done);
        let objects: Vec<Vec<Object>> = self.modules.par_iter().map(of).collect::<Result<_>>()?;
        let objects: Vec<Object> = objects.into_iter().flatten().collect();
        let made_now = || objects.iter().filter(|object| object.made_now);
        if made_now().next().is_some() && toolchain.identity()?.files != identity.files {
            // It is not known which objects the new tools made.
            made_now().try_for_each(|object| fs::remove_file(&object.file)).context("removing objects")?;
            bail!("the tools were replaced while they compiled: run it again");
        }
        Ok((objects.into_iter().map(|object| object.file).collect(), identity.files.clone()))
    }

    /// Returns the objects of one module, one for each level.
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
