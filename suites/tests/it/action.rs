//! `action.yml`, and the workflow of the project. Both have the form that GitHub documents, and the shell parts of the action run unchanged.

use crate::common::workspace;
use crate::installed_program::{installed, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

fn yaml(path: &str) -> (String, Value) {
    let text = std::fs::read_to_string(workspace().join(path)).expect("it is there");
    let value = serde_saphyr::from_str(&text).expect("YAML");
    (text, value)
}

fn action() -> Value {
    yaml("action.yml").1
}

fn steps(action: &Value) -> &[Value] {
    action["runs"]["steps"].as_array().expect("steps")
}

fn mapping(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().expect("a mapping").iter()
}

/// Returns the text of a `run` step, and its variables with inputs and outputs in place of expressions.
fn shell_part(action: &Value, name: &str, values: &BTreeMap<String, String>) -> (String, Vec<(String, String)>) {
    let step = steps(action).iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("no step {name}"));
    let run = step["run"].as_str().unwrap_or_else(|| panic!("{name} runs no shell"));
    assert!(!run.contains("${{"), "{name}: an expression in a script is run as code: {run}");
    let filled = |(key, value): (&String, &Value)| {
        let value = value.as_str().expect("a text");
        let inside = value.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
        let value = inside.map_or(value, |name| values.get(name).unwrap_or_else(|| panic!("{name}")));
        (key.clone(), value.to_owned())
    };
    (run.to_owned(), mapping(&step["env"]).map(filled).collect())
}

/// Runs a step as the runner does, in the directory of the caller's repository.
fn run(work: &Path, temp: &Path, (script, variables): (String, Vec<(String, String)>)) -> Output {
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &script]).current_dir(work);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", work).env("RUNNER_TEMP", temp).envs(variables);
    command.env("GITHUB_OUTPUT", work.join("output")).env("GITHUB_STEP_SUMMARY", work.join("step.md"));
    command.output().expect("bash starts")
}

/// The action in an empty directory: exit code, output, step summary and annotations for a correct kernel, a wrong kernel, and a wrong argument.
#[test]
fn the_action_runs_and_reports() {
    let action = action();
    let (bin, _work) = installed();
    let temp = tempfile::tempdir().expect("a temporary directory");
    std::fs::create_dir_all(temp.path().join("tiebreak")).expect("it can be made");
    std::os::unix::fs::symlink(bin.path(), temp.path().join("tiebreak/bin")).expect("it can be made");
    let quick = "--op=fpm\n--lane=host\n--effort=quick\n\n--multiplier=1395864371\n--shift=-8";
    for (kernel, code, word) in
        [("tvm-relay", 0, "holds"), ("mutant-double-rounding", 1, "broken"), ("nobody", 2, "unfinished")]
    {
        let work = tempfile::tempdir().expect("a temporary directory");
        let default = |input: &Value| input["default"].as_str().expect("each input has a default").to_owned();
        let inputs = mapping(&action["inputs"]).map(|(name, input)| (format!("inputs.{name}"), default(input)));
        let mut values: BTreeMap<String, String> = inputs.collect();
        values.insert("inputs.arguments".to_owned(), format!("{quick}\n--kernel={kernel}\n"));
        let ran = run(work.path(), temp.path(), shell_part(&action, "Run", &values));
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        let read = |name: &str| std::fs::read_to_string(work.path().join(name)).unwrap_or_default();
        assert_eq!(read("output"), format!("code={code}\n"), "{}", text(&ran.stderr));
        values.insert("steps.run.outputs.code".to_owned(), code.to_string());
        assert!(run(work.path(), temp.path(), shell_part(&action, "Summary", &values)).status.success());
        assert!(read("step.md").starts_with(&format!("# Tiebreak: {word}\n")), "{}", read("step.md"));
        let annotations = run(work.path(), temp.path(), shell_part(&action, "Annotations", &values));
        let lines = text(&annotations.stdout);
        let level = if code == 0 { "::notice title=" } else { "::error " };
        assert!(annotations.status.success() && lines.starts_with(level), "{lines}");
        if code == 1 {
            let file = "::error file=impls/src/mutants/";
            assert!(
                lines.starts_with(file) && lines.contains("title=fpm mutant-double-rounding double-rounding::"),
                "{lines}"
            );
            assert!(read("tiebreak-out/findings.sarif").contains("\"uri\": \"impls/src/mutants/"));
        }
        let verdict = run(work.path(), temp.path(), shell_part(&action, "Verdict", &values));
        assert_eq!(verdict.status.code(), Some(code));
    }
}

/// Keys that GitHub reads; GitHub silently ignores unknown keys.
#[test]
fn the_action_has_no_key_that_nobody_reads() {
    let known = [
        ("", "name description author branding inputs outputs runs"),
        ("runs", "using steps"),
        ("inputs", "description required default deprecationMessage"),
        ("outputs", "description value"),
        ("steps", "id name if run shell env uses with continue-on-error working-directory"),
    ];
    let (source, all) = yaml("action.yml");
    for (place, known) in known {
        let values: Vec<&Value> = match place {
            "" => vec![&all],
            "runs" => vec![&all["runs"]],
            "steps" => steps(&all).iter().collect(),
            place => mapping(&all[place]).map(|(_, value)| value).collect(),
        };
        for (key, _) in values.into_iter().flat_map(mapping) {
            assert!(known.split(' ').any(|one| one == key), "{place}: {key}");
        }
    }
    assert_eq!(all["runs"]["using"], "composite");
    // Each step uses an action with a version, or runs a script in a named shell.
    for step in steps(&all) {
        let uses = step["uses"].as_str().is_some_and(|uses| uses.contains("@v"));
        assert!(uses != (step["run"].is_string() && step["shell"] == "bash"), "{step}");
    }
    // Every input is used, and every used input is declared.
    let used = source.split("inputs.").skip(1).filter_map(|rest| rest.split([' ', '}', '/']).next());
    let inputs: BTreeSet<&str> = mapping(&all["inputs"]).map(|(name, _)| name.as_str()).collect();
    assert_eq!(used.collect::<BTreeSet<_>>(), inputs);
}

/// Workflows use actions with a version, and every job has steps and a time limit.
#[test]
fn the_workflow_of_the_project_is_well_formed() {
    let (_, workflow) = yaml(".github/workflows/ci.yml");
    for (name, job) in mapping(&workflow["jobs"]) {
        assert!(job["runs-on"].is_string() && job["timeout-minutes"].is_number(), "{name}");
        for step in job["steps"].as_array().expect("steps") {
            let uses = step["uses"].as_str().is_some_and(|uses| uses.contains("@v"));
            assert!(uses != step["run"].is_string(), "{name}: {step}");
        }
    }
}
