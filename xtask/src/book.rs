//! `cargo xtask book`: builds the book in `docs/` with mdBook, which is installed below the target directory if absent.

use crate::process;
use crate::say::{note, print};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Release of mdBook for the book.
const VERSION: &str = "0.5.4";

/// Arguments of `book`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Directory for the HTML pages [default: target/book]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Builds the book and prints the path of its first page.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let out = match &arguments.out {
        Some(out) => std::path::absolute(out).with_context(|| format!("{} is no path", out.display()))?,
        None => workspace.target.join("book"),
    };
    let program = provision(&workspace)?;
    process::output(&mut build(&program, &workspace.root.join("docs"), &out))?;
    print(format_args!("{}\n", out.join("index.html").display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the path of mdBook of [`VERSION`], and installs it if absent.
fn provision(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.target.join(format!("mdbook-{VERSION}"));
    let program = directory.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        note(format_args!("installing mdBook {VERSION} into {}: it builds the book", directory.display()));
        process::output(&mut install(workspace, &directory))?;
    }
    let text = process::output(Command::new(&program).arg("--version"))?;
    if !text.trim().ends_with(VERSION) {
        bail!("{} is {}, not {VERSION}: remove {}", program.display(), text.trim(), directory.display());
    }
    Ok(program)
}

/// Installs only the builder, without its server, watcher and search index, and not optimised. This takes half the time, and the book is small.
fn install(workspace: &Workspace, directory: &Path) -> Command {
    let mut command = workspace.cargo();
    // mdBook shares no build product with the workspace, so it is built in a temporary directory of cargo.
    command.env_remove("CARGO_TARGET_DIR");
    command.args(["install", "mdbook", "--version", VERSION, "--locked", "--no-default-features", "--debug", "--root"]);
    command.arg(directory);
    command
}

fn build(program: &Path, source: &Path, out: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("build").arg(source).arg("--dest-dir").arg(out);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mdbook_is_pinned_and_installed_below_the_target_directory() {
        let workspace = Workspace { root: "/w".into(), target: "/w/target".into() };
        let line = process::line(&install(&workspace, Path::new("/w/target/mdbook")));
        let expected = format!(
            "install mdbook --version {VERSION} --locked --no-default-features --debug --root /w/target/mdbook"
        );
        assert!(line.ends_with(&expected), "{line}");
    }

    #[test]
    fn the_book_is_built_from_its_source_into_the_given_directory() {
        let line = process::line(&build(Path::new("/m/mdbook"), Path::new("/w/docs"), Path::new("/w/target/book")));
        assert_eq!(line, "mdbook build /w/docs --dest-dir /w/target/book");
    }

    #[test]
    fn the_book_has_a_configuration_and_a_summary() {
        let docs = Workspace::locate().expect("the workspace").root.join("docs");
        assert!(docs.join("book.toml").is_file() && docs.join("src/SUMMARY.md").is_file());
    }
}
