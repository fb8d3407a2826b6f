//! `cargo xtask test`: format, lints and tests, on the host and on aarch64. Every step runs, even if another one fails.

use crate::actions;
use crate::browser;
use crate::cargo;
use crate::elements;
use crate::lanes;
use crate::probe::Probe;
use crate::process;
use crate::say::{note, print};
use crate::setup;
use crate::tools::Tool;
use crate::workspace::{Host, Workspace};
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::process::{Command, ExitCode};
use std::time::{Instant, SystemTime};

/// Arguments of `test`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Steps to run [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Step>,
    /// Draw new cases for the property tests, from a new seed, which is printed. A failing case is kept in a file below a
    /// `proptest-regressions` directory, to be committed with the repair
    #[arg(long)]
    new_seed: bool,
}

/// Step of the checks, in the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// The lanes can be built
    Lanes,
    /// The code is formatted
    Fmt,
    /// Clippy finds nothing, on the host
    Clippy,
    /// Clippy finds nothing in the kernels' code for aarch64
    ClippyAarch64,
    /// Every test passes on the host
    Unit,
    /// The kernels' tests pass on aarch64
    Aarch64,
    /// Workflows and the action are well formed, by actionlint
    Actions,
    /// Reports work in Chromium
    Browser,
}

/// Outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    /// Another step covers this one on this host.
    NotApplicable(String),
}

impl Step {
    /// Returns the name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the tools without which the step cannot run.
    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Fmt => &[],
            Self::Lanes | Self::Clippy | Self::Unit => &Tool::BASE,
            Self::ClippyAarch64 => &[Tool::Aarch64Rust],
            Self::Aarch64 => &Tool::EMULATION_RUN,
            Self::Actions => &Tool::NODE,
            Self::Browser => &Tool::BROWSER,
        }
    }

    /// Returns the reason why the step does not apply to a host.
    fn not_applicable(self, host: Host) -> Option<String> {
        match self {
            Self::ClippyAarch64 | Self::Aarch64 if host.is_aarch64() => {
                Some("the host is aarch64: clippy and unit cover it".to_owned())
            }
            Self::ClippyAarch64 | Self::Aarch64 if !host.emulates_aarch64() => {
                Some(format!("qemu-user runs on Linux; this host is {}", host.os))
            }
            Self::Browser if host.os != "linux" => {
                Some(format!("its tools are installed on Linux; this host is {}", host.os))
            }
            _ => None,
        }
    }
}

/// Runs the steps one after another. The exit code is 1 if a step failed.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let steps: Vec<Step> =
        Step::value_variants().iter().copied().filter(|step| selected(*step, &arguments.only)).collect();
    let mut probe = setup::provision(&workspace, &wanted(&steps));
    if steps.contains(&Step::Browser) && Step::Browser.not_applicable(Host::CURRENT).is_none() {
        // Separate call: if the system lacks these packages, all other tools are still installed.
        probe = setup::provision(&workspace, &Tool::BROWSER);
    }
    let mut lines = Vec::new();
    let mut outcomes = Vec::new();
    for step in steps {
        let start = Instant::now();
        let outcome = run_step(&workspace, &probe, step, arguments);
        lines.push(line(step, &outcome, start.elapsed().as_secs_f64()));
        outcomes.push(outcome);
    }
    lines.iter().for_each(note);
    print(format_args!("{}\n", closing(&outcomes)))?;
    Ok(ExitCode::from(u8::from(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed(_))))))
}

/// True if a step runs. The tests need the lanes.
fn selected(step: Step, only: &[Step]) -> bool {
    only.is_empty() || only.contains(&step) || (step == Step::Lanes && only.contains(&Step::Unit))
}

/// Returns the tools to provision for some steps. Lanes need every tool that this host can use.
fn wanted(steps: &[Step]) -> Vec<Tool> {
    if steps.contains(&Step::Lanes) {
        let mut tools = Tool::needed(Host::CURRENT);
        tools.extend(compiled(Host::CURRENT));
        if steps.contains(&Step::Unit) {
            tools.extend(Tool::TESTS);
        }
        return tools;
    }
    let applicable = steps.iter().filter(|step| step.not_applicable(Host::CURRENT).is_none());
    applicable.flat_map(|step| step.tools()).copied().collect()
}

/// Returns the tools of the lanes of compiled modules, which the tests run on systems that can have them.
fn compiled(host: Host) -> &'static [Tool] {
    if host.os == "linux" { Tool::mlir(host) } else { &[] }
}

/// Runs a step. Without a browser, the reports step is reported as not run; without Node.js, so is the workflow step. Both fail if the caller
/// named them. `.ci/run` installs both tools.
fn run_step(workspace: &Workspace, probe: &Probe, step: Step, arguments: &Arguments) -> Outcome {
    if let Some(reason) = step.not_applicable(probe.host) {
        return Outcome::NotApplicable(reason);
    }
    let missing: Vec<String> = probe.missing(step.tools()).into_iter().map(|tool| probe.complaint(tool)).collect();
    if !missing.is_empty() {
        return without(step, arguments.only.contains(&step), &missing.join("; "));
    }
    let selection = ["--release", "--package", "tiebreak-impls", "--package", cargo::WORKER.0];
    let refused = ["--", "-D", "warnings"];
    let mut command = match step {
        Step::Lanes => return build_lanes(workspace, probe).unwrap_or_else(failed),
        Step::Fmt | Step::Clippy => workspace.cargo(),
        Step::ClippyAarch64 => cargo::aarch64(workspace, probe, "clippy"),
        Step::Unit => match elements(workspace, probe) {
            Ok(()) => unit(workspace, arguments.new_seed.then(fresh_seed)),
            Err(error) => return failed(error),
        },
        Step::Aarch64 => cargo::aarch64(workspace, probe, "test"),
        Step::Actions | Step::Browser => {
            let made = match step {
                Step::Actions => actions::command(workspace, probe),
                _ => browser::command(workspace, probe, &[]),
            };
            match made {
                Ok(command) => command,
                Err(error) => return failed(error),
            }
        }
    };
    match step {
        Step::Fmt => command.args(["fmt", "--all", "--check"]),
        Step::Clippy => command.args(["clippy", "--release", "--workspace", "--all-targets"]).args(refused),
        Step::ClippyAarch64 => command.args(selection).arg("--all-targets").args(refused),
        Step::Aarch64 => command.args(selection),
        Step::Lanes | Step::Unit | Step::Actions | Step::Browser => &mut command,
    };
    check(step, &mut command).unwrap_or_else(failed)
}

fn failed(error: anyhow::Error) -> Outcome {
    Outcome::Failed(format!("{error:#}"))
}

/// Returns the outcome of a step with missing tools.
fn without(step: Step, named: bool, missing: &str) -> Outcome {
    match step {
        Step::Actions | Step::Browser if !named => Outcome::NotApplicable(missing.to_owned()),
        _ => Outcome::Failed(format!("not run: {missing}")),
    }
}

/// Builds the lanes. A missing lane that this host should have is a failure.
fn build_lanes(workspace: &Workspace, probe: &Probe) -> Result<Outcome> {
    note("==> lanes");
    lanes::build(workspace)?;
    setup::require(probe, &Tool::needed(probe.host))?;
    setup::require(probe, compiled(probe.host))?;
    Ok(Outcome::Passed)
}

/// Runs the command of a step.
fn check(step: Step, command: &mut Command) -> Result<Outcome> {
    let line = process::line(command);
    note(format_args!("==> {}: {line}", step.name()));
    let status = process::status(command)?;
    Ok(if status.success() { Outcome::Passed } else { Outcome::Failed(format!("`{line}` failed ({status})")) })
}

/// Writes the LLVM IR that tests prove, if the solvers are installed: `kernels_are_proved_and_mutants_refuted` fails without it.
fn elements(workspace: &Workspace, probe: &Probe) -> Result<()> {
    match probe.missing(&Tool::SOLVERS).is_empty() {
        true => elements::options(workspace).map(drop),
        false => Ok(()),
    }
}

/// Returns the command for all tests of the host, even after one fails. By default, more tests run at a time than there are cores, because many wait
/// for other processes. Property tests draw the cases of `.cargo/config.toml`, or those of a new seed.
fn unit(workspace: &Workspace, new_seed: Option<u64>) -> Command {
    let mut command = workspace.cargo();
    command.args(["test", "--release", "--workspace", "--no-fail-fast"]);
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.env("RUST_TEST_THREADS", (2 * cores).to_string());
    }
    if let Some(seed) = new_seed {
        command.env("PROPTEST_RNG_SEED", seed.to_string());
        note(format_args!("property tests draw from `PROPTEST_RNG_SEED={seed}`, which repeats them"));
    }
    command
}

/// Returns a seed that no earlier run had.
fn fresh_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as u64
}

fn line(step: Step, outcome: &Outcome, seconds: f64) -> String {
    let name = step.name();
    match outcome {
        Outcome::Passed => format!("{name}: passed ({seconds:.1} s)"),
        Outcome::Failed(reason) => format!("{name}: FAILED ({seconds:.1} s): {reason}"),
        Outcome::NotApplicable(reason) => format!("{name}: not run: {reason}"),
    }
}

/// Returns the closing line: `N passed, N failed`. A step that could not run has failed.
fn closing(outcomes: &[Outcome]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let passed = count(|outcome| *outcome == Outcome::Passed);
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    format!("{passed} passed, {failed} failed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::{aarch64, complete};

    #[test]
    fn the_closing_line_counts_what_ran() {
        let outcomes =
            [Outcome::Passed, Outcome::Failed("x".into()), Outcome::NotApplicable("y".into()), Outcome::Passed];
        assert_eq!(closing(&outcomes), "2 passed, 1 failed");
    }

    #[test]
    fn the_emulated_steps_are_not_for_an_aarch64_host() {
        for step in [Step::ClippyAarch64, Step::Aarch64] {
            assert!(step.not_applicable(aarch64().host).is_some());
            assert!(step.not_applicable(complete().host).is_none());
        }
        assert!(Step::Unit.not_applicable(aarch64().host).is_none());
    }

    #[test]
    fn tests_come_with_lanes() {
        assert!(selected(Step::Lanes, &[Step::Unit]) && !selected(Step::Lanes, &[Step::Fmt]));
        assert!(Step::value_variants().iter().all(|step| selected(*step, &[])));
    }

    #[test]
    fn a_missing_browser_is_said_and_fails_where_it_is_named() {
        let outcome = without(Step::Browser, false, "Chromium is missing");
        assert_eq!(line(Step::Browser, &outcome, 0.0), "browser: not run: Chromium is missing");
        assert_eq!(without(Step::Browser, true, "x"), Outcome::Failed("not run: x".into()));
        assert_eq!(without(Step::Unit, false, "x"), Outcome::Failed("not run: x".into()));
    }

    #[test]
    fn a_step_says_how_it_ended() {
        assert_eq!(line(Step::Fmt, &Outcome::Passed, 0.26), "fmt: passed (0.3 s)");
        assert_eq!(line(Step::Aarch64, &Outcome::NotApplicable("no".into()), 0.0), "aarch64: not run: no");
    }
}
