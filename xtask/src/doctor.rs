//! `cargo xtask doctor`: lists found and missing tools, with the command that installs each.

use crate::probe::Probe;
use crate::say::print;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Output format.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Lines of text
    Table,
    /// One JSON object
    Json,
}

/// Output of `doctor`.
#[derive(Debug, Serialize)]
struct Findings {
    /// True if every needed tool was found.
    complete: bool,
    tools: Vec<Finding>,
}

/// Entry for a tool.
#[derive(Debug, Serialize)]
struct Finding {
    name: &'static str,
    purpose: &'static str,
    /// True if Tiebreak is incomplete without the tool.
    needed: bool,
    /// Path and version, if found.
    found: Option<String>,
    /// Command that installs the tool.
    install: String,
}

/// Prints the list. The exit code is 1 if a needed tool is missing.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let findings = findings(&Probe::look(&Workspace::locate()?));
    match arguments.format {
        Format::Table => print(table(&findings))?,
        Format::Json => print(serde_json::to_string_pretty(&findings)? + "\n")?,
    }
    Ok(ExitCode::from(u8::from(!findings.complete)))
}

fn findings(probe: &Probe) -> Findings {
    let needed = Tool::needed(probe.host);
    let finding = |tool: Tool, needed| Finding {
        name: tool.name(probe.host),
        purpose: tool.purpose(),
        needed,
        found: probe.described(tool),
        install: tool.install(probe.manager, probe.host),
    };
    let mut tools: Vec<Finding> = needed.iter().map(|tool| finding(*tool, true)).collect();
    let optional = std::iter::once(&Tool::Cxx).chain(Tool::mlir(probe.host)).chain(&Tool::BROWSER);
    tools.extend(optional.map(|tool| finding(*tool, false)));
    Findings { complete: probe.missing(&needed).is_empty(), tools }
}

fn table(findings: &Findings) -> String {
    let width =
        |text: fn(&Finding) -> &str| findings.tools.iter().map(|finding| text(finding).len()).max().unwrap_or(0);
    let (names, purposes) = (width(|finding| finding.name), width(|finding| finding.purpose));
    let mut text = String::new();
    for finding in &findings.tools {
        let Finding { name, purpose, install, .. } = finding;
        let state = match (&finding.found, finding.needed) {
            (Some(found), _) => found.clone(),
            (None, true) => format!("MISSING: {install}"),
            (None, false) => format!("missing, optional: {install}"),
        };
        writeln!(text, "{name:names$}  {purpose:purposes$}  {state}").expect("a string takes all text");
    }
    let missing = findings.tools.iter().filter(|finding| finding.needed && finding.found.is_none()).count();
    match missing {
        0 => text.push_str("everything that is needed is there\n"),
        _ => writeln!(text, "{missing} missing: `cargo xtask setup` installs what it can")
            .expect("a string takes all text"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::{aarch64, complete};

    #[test]
    fn a_complete_machine_is_complete() {
        let findings = findings(&complete());
        assert!(findings.complete);
        let text = table(&findings);
        assert!(text.contains("/t/cross/qemu/qemu-aarch64 (10.0.2)"), "{text}");
        assert!(text.ends_with("everything that is needed is there\n"), "{text}");
    }

    #[test]
    fn what_is_missing_comes_with_its_command() {
        let probe = complete().without(&[Tool::M4, Tool::Aarch64Cc]);
        let text = table(&findings(&probe));
        let m4 = text.lines().find(|line| line.starts_with("m4")).expect("a line for m4");
        assert!(m4.ends_with("MISSING: sudo apt-get install --no-install-recommends m4"), "{m4}");
        assert!(text.ends_with("2 missing: `cargo xtask setup` installs what it can\n"), "{text}");
    }

    #[test]
    fn the_columns_line_up() {
        let text = table(&findings(&complete()));
        let at = |line: &str, what: &str| line.find(what).expect(what);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(at(lines[1], "/usr/bin/make"), at(lines[2], "/usr/bin/m4"));
    }

    #[test]
    fn an_aarch64_host_is_not_asked_for_an_emulator() {
        let findings = findings(&aarch64());
        assert!(findings.complete);
        assert!(findings.tools.iter().all(|finding| finding.name != "qemu-aarch64"));
    }

    #[test]
    fn json_says_the_same() {
        let json = serde_json::to_value(findings(&complete().without(&[Tool::Make]))).expect("it is JSON");
        assert_eq!(json["complete"], false);
        assert_eq!(json["tools"][1]["name"], "make");
        assert_eq!(json["tools"][1]["found"], serde_json::Value::Null);
    }
}
