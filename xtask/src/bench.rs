//! `cargo xtask bench`: installs the tools for the build, then runs `cargo bench --workspace --bench '*'`.

use crate::lanes;
use crate::process;
use crate::setup;
use crate::shipped;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::Result;
use clap::Args;
use std::ffi::OsString;
use std::process::ExitCode;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Passed to `cargo bench --workspace --bench '*'`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the benchmarks; the exit code is cargo's.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    setup::provide(&workspace, &Tool::BASE)?;
    lanes::with(&workspace, None, &shipped::every(&workspace))?;
    let mut command = workspace.cargo();
    process::become_program(command.args(["bench", "--workspace", "--bench", "*"]).args(&arguments.arguments))
}
