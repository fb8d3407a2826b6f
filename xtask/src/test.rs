//! `cargo xtask test`: format, lints and tests, on the host and on aarch64. Every step runs, even if another one fails.

use crate::browser;
use crate::cargo;
use crate::lanes;
use crate::probe::Probe;
use crate::process;
use crate::rust::Aarch64Rust;
use crate::say::{note, print};
use crate::setup;
use crate::tools::Tool;
use crate::workspace::{Host, Workspace};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Instant, SystemTime};

/// The arguments of `test`.
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

/// One thing that is checked.
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
    /// Reports work in Chromium
    Browser,
}

/// When the output of a step's command is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    AsItComes,
    /// Whole, so that it is not mixed with that of the steps that run meanwhile.
    AtItsEnd,
}

/// When a step runs: those of one turn run one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Beside all others: it builds in a directory of its own, while GMP, on the host, leaves cores idle.
    FromTheBeginning,
    /// Before the tests, which may start a worker.
    First,
    AfterTheLanes,
    /// Once the lanes are built: it waits for pages more than it computes.
    BesideTheTests,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    /// Another step covers it on this host.
    NotApplicable(String),
}

impl Step {
    /// In the order in which they are listed.
    const ALL: [Self; 7] =
        [Self::Lanes, Self::Fmt, Self::Clippy, Self::ClippyAarch64, Self::Unit, Self::Aarch64, Self::Browser];

    fn name(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::ClippyAarch64 => "clippy-aarch64",
            Self::Unit => "unit",
            Self::Aarch64 => "aarch64",
            Self::Browser => "browser",
        }
    }

    /// When the step runs.
    fn turn(self) -> Turn {
        match self {
            Self::ClippyAarch64 | Self::Aarch64 => Turn::FromTheBeginning,
            Self::Browser => Turn::BesideTheTests,
            Self::Lanes => Turn::First,
            Self::Fmt | Self::Clippy | Self::Unit => Turn::AfterTheLanes,
        }
    }

    /// The tools without which the step cannot run.
    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Fmt => &[],
            Self::Lanes | Self::Clippy | Self::Unit => &Tool::BASE,
            Self::ClippyAarch64 => &[Tool::Aarch64Rust],
            Self::Aarch64 => &Tool::EMULATION_RUN,
            Self::Browser => &Tool::BROWSER,
        }
    }

    /// Why the step does not apply to a host.
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

/// Runs the steps. Exit code 1 if one failed.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let steps: Vec<Step> = Step::ALL.into_iter().filter(|step| selected(*step, &arguments.only)).collect();
    let mut probe = setup::provision(&workspace, &wanted(&steps))?;
    if steps.contains(&Step::Browser) && Step::Browser.not_applicable(Host::CURRENT).is_none() {
        // By themselves: where a system has no such package, the others are installed all the same.
        probe = setup::provision(&workspace, &Tool::BROWSER)?;
    }
    let timed = |step: Step, output: Output| {
        let start = Instant::now();
        let outcome = run_step(&workspace, &probe, (step, output), arguments);
        (step, outcome, start.elapsed().as_secs_f64())
    };
    let each = |turn: Turn, output: Output| {
        let of_turn = steps.iter().filter(|step| step.turn() == turn);
        of_turn.map(|step| timed(*step, output)).collect::<Vec<_>>()
    };
    let mut outcomes = thread::scope(|scope| {
        let from_the_beginning = scope.spawn(|| each(Turn::FromTheBeginning, Output::AtItsEnd));
        let mut outcomes = each(Turn::First, Output::AsItComes);
        let beside_the_tests = scope.spawn(|| each(Turn::BesideTheTests, Output::AtItsEnd));
        outcomes.extend(each(Turn::AfterTheLanes, Output::AsItComes));
        for beside in [from_the_beginning, beside_the_tests] {
            outcomes.extend(beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcomes
    });
    outcomes.sort_by_key(|(step, ..)| Step::ALL.iter().position(|known| known == step));
    for (step, outcome, seconds) in &outcomes {
        note(line(*step, outcome, *seconds));
    }
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome, _)| outcome).collect();
    print(format_args!("{}\n", closing(&outcomes)))?;
    Ok(ExitCode::from(u8::from(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed(_))))))
}

/// Whether a step runs. The tests need the lanes.
fn selected(step: Step, only: &[Step]) -> bool {
    only.is_empty() || only.contains(&step) || (step == Step::Lanes && only.contains(&Step::Unit))
}

/// The tools to provision for some steps: lanes want all that this host can use.
fn wanted(steps: &[Step]) -> Vec<Tool> {
    if steps.contains(&Step::Lanes) {
        let mut tools = Tool::needed(Host::CURRENT);
        tools.extend(compiled(Host::CURRENT));
        return tools;
    }
    let applicable = steps.iter().filter(|step| step.not_applicable(Host::CURRENT).is_none());
    applicable.flat_map(|step| step.tools()).copied().collect()
}

/// The tools of the lanes of compiled modules, which the tests run on systems that can have them.
fn compiled(host: Host) -> &'static [Tool] {
    if host.os == "linux" { Tool::mlir(host) } else { &[] }
}

/// Without a browser, reports are not opened, which is said, and fails only where the step is `named`. `.ci/run` installs one.
fn run_step(workspace: &Workspace, probe: &Probe, (step, output): (Step, Output), arguments: &Arguments) -> Outcome {
    let named = arguments.only.contains(&step);
    if let Some(reason) = step.not_applicable(probe.host) {
        return Outcome::NotApplicable(reason);
    }
    let missing: Vec<String> = probe.missing(step.tools()).into_iter().map(|tool| probe.complaint(tool)).collect();
    if !missing.is_empty() {
        return without(step, named, &missing.join("; "));
    }
    let check = |command: &mut Command| check((step, output), command);
    let result = match step {
        Step::Lanes => build_lanes(workspace, probe),
        Step::Fmt => check(workspace.cargo().args(["fmt", "--all", "--check"])),
        Step::Clippy => check(workspace.cargo().args([
            "clippy",
            "--release",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])),
        Step::ClippyAarch64 => check(&mut clippy_aarch64(workspace, probe)),
        Step::Unit => check(&mut unit(workspace, arguments.new_seed.then(fresh_seed))),
        Step::Aarch64 => {
            check(cargo::aarch64(workspace, probe, "test").args(["--release", "--package", cargo::WORKER.0]))
        }
        Step::Browser => browser::command(workspace, probe, &[]).and_then(|mut command| check(&mut command)),
    };
    result.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
}

/// How a step ends whose tools are missing.
fn without(step: Step, named: bool, missing: &str) -> Outcome {
    match step {
        Step::Browser if !named => Outcome::NotApplicable(missing.to_owned()),
        _ => Outcome::Failed(format!("not run: {missing}")),
    }
}

/// Builds the lanes. A missing lane that this host should have is a failure.
fn build_lanes(workspace: &Workspace, probe: &Probe) -> Result<Outcome> {
    note("==> lanes");
    lanes::build(workspace, probe)?;
    setup::require(probe, &Tool::needed(probe.host))?;
    setup::require(probe, compiled(probe.host))?;
    Ok(Outcome::Passed)
}

/// Runs a step's command and shows its output.
fn check((step, output): (Step, Output), command: &mut Command) -> Result<Outcome> {
    let line = process::line(command);
    let announce = || note(format_args!("==> {}: {line}", step.name()));
    let status = match output {
        Output::AsItComes => {
            announce();
            process::status(command)?
        }
        Output::AtItsEnd => {
            let ended = command.stdin(Stdio::null()).output();
            let ended = ended.with_context(|| format!("`{line}` could not be started"))?;
            announce();
            print(String::from_utf8_lossy(&ended.stdout))?;
            // A standard error that cannot be written is ignored.
            let _ = std::io::stderr().write_all(&ended.stderr);
            ended.status
        }
    };
    Ok(if status.success() { Outcome::Passed } else { Outcome::Failed(format!("`{line}` failed ({status})")) })
}

/// All tests of the host, even after one fails. Many of them wait for other processes, so more run at a time than there are cores, where
/// the caller's environment says nothing else. Property tests draw the cases of `.cargo/config.toml`, or those of a new seed.
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

/// A seed that no run before had.
fn fresh_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as u64
}

/// Clippy for aarch64 (in the release profile like everything here, so that dependencies are built once). Debian's driver is called as cargo's own clippy calls its driver.
fn clippy_aarch64(workspace: &Workspace, probe: &Probe) -> Command {
    let selection = ["--release", "--package", cargo::WORKER.0, "--all-targets"];
    if let Some(Aarch64Rust::Private(private)) = &probe.rust {
        let mut command = cargo::aarch64(workspace, probe, "check");
        command.args(selection).env("RUSTC_WORKSPACE_WRAPPER", private.clippy_driver());
        command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
        return command;
    }
    let mut command = cargo::aarch64(workspace, probe, "clippy");
    command.args(selection).args(["--", "-D", "warnings"]);
    command
}

fn line(step: Step, outcome: &Outcome, seconds: f64) -> String {
    let name = step.name();
    match outcome {
        Outcome::Passed => format!("{name}: passed ({seconds:.1} s)"),
        Outcome::Failed(reason) => format!("{name}: FAILED ({seconds:.1} s): {reason}"),
        Outcome::NotApplicable(reason) => format!("{name}: not run: {reason}"),
    }
}

/// The closing line: `N passed, N failed`. A step that could not run has failed.
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
        assert!(Step::ALL.into_iter().all(|step| selected(step, &[])));
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
