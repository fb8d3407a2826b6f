//! `cargo xtask`: provisions tools, builds lanes and forwards to the `tiebreak` program.
//!
//! Each command has a file. Messages go to standard error, so that the standard output of `cargo xtask verify --format json` is only
//! that of `tiebreak`. Exit codes: 0 success, 1 a check failed, 2 bad usage, or a needed tool or build failed.

mod actions;
mod bench;
mod bite;
mod book;
mod browser;
mod built_from;
mod cargo;
mod doctor;
mod elements;
mod findings;
mod forward;
mod fuzz;
mod gmp;
mod help;
mod lanes;
mod mlir;
mod models;
mod npm;
mod probe;
mod process;
mod say;
mod setup;
mod shards;
mod shipped;
mod test;
mod tools;
mod tosa;
mod trace;
mod workspace;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;
use workspace::Workspace;

/// Provisions tools, builds lanes and runs Tiebreak.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Commands of xtask itself; those of `tiebreak` are in [`forward::FORWARDED`].
#[derive(Debug, Subcommand)]
enum Command {
    /// List each tool: its use, its version, and the command that installs it
    Doctor(doctor::Arguments),
    /// Install missing tools
    Setup(setup::Arguments),
    /// List every lane: installed or not, its version, and the command that installs it
    Lanes(shipped::Arguments),
    /// Run a model in two sets of LiteRT's kernels, and say in which layer they part and whether the audit predicts it
    Trace(trace::Arguments),
    /// Run the findings of shipped libraries again, each by its smallest input
    Findings(findings::Arguments),
    /// Check format, lints and tests, on the host and on aarch64
    Test(test::Arguments),
    /// Run `cargo bench --workspace` with the arguments that follow
    #[command(disable_help_flag = true)]
    Bench(bench::Arguments),
    /// Run fuzz targets with cargo-fuzz, which is installed if absent
    Fuzz(fuzz::Arguments),
    /// Count small changes of the kernels' code that a quick verification detects, or of the oracle's code that its tests detect; cargo-mutants makes the changes, and is installed if absent
    Bite(bite::Arguments),
    /// Test reports in Chromium: sorting, filtering, a phone's width, contrast and accessibility, in light and dark
    Browser(browser::Arguments),
    /// Build the book in docs/ with mdBook, which is installed if absent
    Book(book::Arguments),
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    run(&arguments).unwrap_or_else(|error| {
        say::note(format_args!("error: {error:#}"));
        ExitCode::from(2)
    })
}

fn run(arguments: &[OsString]) -> Result<ExitCode> {
    if let Some(code) = built_from::renewed(&workspace::own_root(), arguments)? {
        return Ok(code);
    }
    if let Some(words) = help::asked(arguments)
        && let Some(text) = help::text(&Workspace::locate()?.root, &words)
    {
        return say::print(text).map(|()| ExitCode::SUCCESS);
    }
    if let Some(code) = shards::merge(arguments)? {
        return Ok(code);
    }
    if let Some((command, rest)) = forward::select(arguments) {
        return forward::run(command, rest);
    }
    let matches = command_line().try_get_matches_from(arguments).unwrap_or_else(|error| error.exit());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match cli.command {
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Lanes(arguments) => shipped::list(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Findings(arguments) => findings::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Bite(arguments) => bite::run(&arguments),
        Command::Book(arguments) => book::run(&arguments),
        Command::Browser(arguments) => browser::run(&arguments),
    }
}

/// Returns the commands of xtask and, for help and suggestions, the forwarded ones, each with the first line of its help.
fn command_line() -> clap::Command {
    let root = workspace::own_root();
    forward::FORWARDED.iter().fold(Cli::command(), |cli, forwarded| {
        let help = help::text(&root, &[forwarded.name.to_owned()]).unwrap_or_default();
        let line = help.lines().next().unwrap_or_default();
        // A dot inside a name, such as `tiebreak.h`, ends no sentence.
        let about = line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.').to_owned();
        cli.subcommand(clap::Command::new(forwarded.name).about(about))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command_line().debug_assert();
    }

    #[test]
    fn a_line_of_help_ends_with_its_sentence() {
        let line = command_line();
        let about =
            |name: &str| line.find_subcommand(name).and_then(|command| command.get_about()).map(|a| a.to_string());
        assert_eq!(about("header").as_deref(), Some("Print tiebreak.h, the interface of `verify --library`"));
        assert_eq!(about("kernels").as_deref(), Some("List kernels with their contracts"));
    }

    #[test]
    fn an_unknown_command_gets_a_suggestion_and_code_2() {
        let error = command_line().try_get_matches_from(["cargo xtask", "verfy"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("'verify'"), "{error}");
    }
}
