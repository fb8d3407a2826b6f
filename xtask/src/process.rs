//! Starts other programs.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// Runs a command silently and returns its standard output. An error names the command and ends with the last lines of its standard
/// error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({}): {}", output.status, tail(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command in the foreground.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("`{}` could not be started", line(command)))
}

/// Replaces this program by the command if the system allows it, so that exit code and signals are those of the command.
pub(crate) fn become_program(command: &mut Command) -> Result<ExitCode> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let error = command.exec();
        Err(error).with_context(|| format!("`{}` could not be started", line(command)))
    }
    #[cfg(not(unix))]
    {
        let code = status(command)?.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(2)))
    }
}

/// Returns the first of `names` that is an executable file on the search path.
pub(crate) fn which(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    names.iter().find_map(|name| {
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| is_executable(file))
    })
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Returns the command as typed by a user, without the directory of its program.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Returns the errors of a program on one line: the first error (otherwise the last lines) and the last line.
fn tail(text: &str) -> String {
    let text = text.split("\nStack backtrace:").next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.iter().position(|line| line.starts_with("error") || line.starts_with("E:"));
    let lines = &lines[first.unwrap_or(lines.len().saturating_sub(3))..];
    match lines {
        [first, _, .., last] => format!("{first}; {last}"),
        _ => lines.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_command_and_reason() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo first >&2; echo; echo because >&2; exit 3"]);
        let error = output(&mut command).unwrap_err().to_string();
        assert!(
            error.contains("sh -c") && error.contains("exit status: 3") && error.ends_with("first; because"),
            "{error}"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = output(&mut Command::new("no-such-program-here")).unwrap_err().to_string();
        assert_eq!(error, "`no-such-program-here` could not be started");
    }

    #[test]
    fn a_long_complaint_is_cut_to_its_ends() {
        let text = "info: trying\nerror: no file\nCaused by:\n  a\n  refused\n";
        assert_eq!(tail(text), "error: no file; refused");
        assert_eq!(tail(""), "");
    }

    #[test]
    fn a_backtrace_is_no_part_of_a_reason() {
        assert_eq!(tail("error: no\n\nStack backtrace:\n 0: main"), "error: no");
    }
}
