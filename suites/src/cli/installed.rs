//! Version, shell completions and manual pages of an installed program.

use super::{Cli, built, print};
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// Number of printed digits of a hash.
const DIGITS: usize = 12;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Directory for the pages, which is made if it is absent
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Returns the version, the start of the hash of the sources, and the commit if the program is in the workspace that it was built from.
pub(super) fn version() -> String {
    let short = |hash: String| hash.chars().take(DIGITS).collect::<String>();
    let commit = built::check().ok().and_then(|()| built::commit()).map(|commit| format!("commit {commit}"));
    let sources = built::sources().map(|hash| format!("sources {}", short(hash)));
    let known: Vec<String> = commit.into_iter().chain(sources).collect();
    let version = env!("CARGO_PKG_VERSION");
    if known.is_empty() { version.to_owned() } else { format!("{version} ({})", known.join(", ")) }
}

/// Returns the command with the name of the installed program.
fn command() -> clap::Command {
    Cli::command().bin_name("tiebreak")
}

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "tiebreak", &mut text);
    print(&String::from_utf8(text)?)
}

/// Writes manual pages for the program and for each command.
pub(super) fn man(args: &ManArgs) -> Result<()> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mut whole = command();
    whole.build();
    page(directory, "tiebreak", whole.clone())?;
    for sub in whole.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        page(directory, &format!("tiebreak-{}", sub.get_name()), sub.clone())?;
    }
    Ok(())
}

fn page(directory: &Path, name: &str, command: clap::Command) -> Result<()> {
    let path = directory.join(format!("{name}.1"));
    let mut text = Vec::new();
    // clap needs names that live for the whole run. Each page is written once.
    let name: &'static str = name.to_owned().leak();
    clap_mangen::Man::new(command.name(name).disable_help_flag(true)).render(&mut text)?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
