//! Acceptance of issue 34: a program, a C file, the header and a compiler in an empty directory, without a repository. The test checks verdicts, exit
//! codes, the files of a run, and every command that is printed anywhere.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use crate::libraries::example;
use clap::CommandFactory;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tiebreak_suites::cli::Cli;

/// Compiles a library as a kernel engineer does: the program, an empty directory with `kernel.c` and the header, and a compiler.
fn compiled(bin: &Path, work: &Path, changes: &[(&str, &str)]) {
    fs::write(work.join("kernel.c"), example("requantize.c", changes)).expect("written");
    let line = "tiebreak header > tiebreak.h && cc -std=c11 -O2 -shared -fPIC -o libmine.so kernel.c";
    let run = shell(bin, work, line);
    assert!(run.status.success(), "{}", text(&run.stderr));
}

/// Command line of the run.
const VERIFY: &str = "tiebreak verify --library ./libmine.so --op requantize --scheme gemmlowp-double --effort quick";

/// Change that rounds ties of the shift up.
const WRONG: (&str, &str) = ("(mask >> 1) + (x < 0)", "(mask >> 1)");

/// Replaces entities of XML and HTML by their characters.
fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#34;", "\""),
        ("&#38;", "&"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&amp;", "&"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

/// Collects every string of a document.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| strings(one, out)),
        Value::Object(all) => all.values().for_each(|one| strings(one, out)),
        _ => {}
    }
}

/// Returns the lines of a text that may contain a command, without markup.
fn lines(name: &str, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    match name.rsplit('.').next() {
        Some("json" | "sarif") => strings(&serde_json::from_str(text).expect("JSON"), &mut out),
        Some("xml" | "html") => out.extend(text.split(['<', '>', '\n']).map(unescaped)),
        Some("csv") => {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
            out.extend(
                reader.records().flat_map(|record| record.expect("CSV").iter().map(str::to_owned).collect::<Vec<_>>()),
            );
        }
        _ => out.push(text.to_owned()),
    }
    out.iter().flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Returns the commands of a line: up to the closing backtick, if any, otherwise to the end. `worker` is excluded: a run starts it, and it describes
/// a lane.
fn commands(line: &str, known: &[String]) -> Vec<String> {
    let called = "tiebreak ";
    let mut out = Vec::new();
    for (at, _) in line.match_indices(called) {
        let (before, after) = (&line[..at], &line[at..]);
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || "-_/.".contains(c));
        let name = after[called.len()..].split_whitespace().next().unwrap_or_default();
        if is_word && known.iter().any(|one| one == name) {
            let end = if before.ends_with('`') { after.find('`').unwrap_or(after.len()) } else { after.len() };
            out.push(after[..end].trim().to_owned());
        }
    }
    out
}

/// Returns the texts of a run: the output, and every file.
fn texts(work: &Path, printed: &str) -> Vec<(String, String)> {
    let mut out = vec![("printed".to_owned(), printed.to_owned())];
    for entry in fs::read_dir(work.join("tiebreak-out")).expect("files of the run") {
        let path = entry.expect("an entry").path();
        if let Ok(text) = fs::read_to_string(&path) {
            out.push((path.file_name().expect("a name").to_string_lossy().into_owned(), text));
        }
    }
    out
}

/// Checks that texts do not name `cargo xtask` or a path of the repository, which an installed program lacks.
fn names_nothing_absent(all: &[(String, String)]) {
    let root = workspace().display().to_string();
    for (name, text) in all {
        for absent in [root.as_str(), "cargo xtask", "target/release", "target/tiebreak"] {
            let line = text.lines().find(|line| line.contains(absent));
            assert!(line.is_none(), "{name} has `{absent}`: {line:?}");
        }
    }
}

/// Runs every command of the texts in its directory. Returns their number.
fn all_run(bin: &Path, work: &Path, all: &[(String, String)]) -> usize {
    let root = Cli::command();
    let known = root.get_subcommands().map(|c| c.get_name().to_owned()).filter(|name| name != "worker");
    let known: Vec<String> = known.collect();
    let mut found: BTreeSet<String> = BTreeSet::new();
    for (name, text) in all {
        let before = found.len();
        found.extend(lines(name, text).iter().flat_map(|line| commands(line, &known)));
        println!("{name}: {} commands that stand in none before it", found.len() - before);
    }
    let mut wrong = Vec::new();
    for command in &found {
        let run = shell(bin, work, command);
        if !matches!(run.status.code(), Some(0 | 1)) {
            wrong.push(format!("{command}\n  {:?} {}", run.status.code(), text(&run.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} commands:\n{}", wrong.len(), found.len(), wrong.join("\n"));
    found.len()
}

/// Runs a line; returns its exit code and its output.
fn ran(bin: &Path, work: &Path, line: &str) -> (Option<i32>, String) {
    let run = shell(bin, work, line);
    (run.status.code(), format!("{}{}", text(&run.stdout), text(&run.stderr)))
}

#[test]
fn a_kernel_is_judged_from_an_empty_directory() {
    let (bin, work) = installed();
    let [bin, work] = [bin.path(), work.path()];
    compiled(bin, work, &[]);
    let (code, printed) = ran(bin, work, VERIFY);
    assert_eq!(code, Some(0), "{printed}");
    let file = |name: &str| fs::read_to_string(work.join("tiebreak-out").join(name)).expect("a file of the run");
    let sarif = || serde_json::from_str::<Value>(&file("findings.sarif")).expect("JSON");
    let results = |sarif: &Value| sarif["runs"][0]["results"].as_array().expect("results").len();
    assert!(printed.contains("holds: every contract held") && file("summary.md").starts_with("# Tiebreak: holds\n"));
    assert!(file("junit.xml").contains("failures=\"0\"") && results(&sarif()) == 0);
    let all = texts(work, &printed);
    names_nothing_absent(&all);
    println!("{} commands of a kernel that is right", all_run(bin, work, &all));

    compiled(bin, work, &[WRONG]);
    let (code, printed) = ran(bin, work, VERIFY);
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("class tie-direction") && file("summary.md").starts_with("# Tiebreak: broken\n"),
        "{printed}"
    );
    assert!(file("junit.xml").contains("tie-direction") && results(&sarif()) > 0, "{}", file("junit.xml"));
    let mut all = texts(work, &printed);
    // The run can be printed again, in every form.
    for again in [
        "show tiebreak-out",
        "show tiebreak-out --verbose",
        "show tiebreak-out --format github",
        "show tiebreak-out --format sarif",
        "diff tiebreak-out tiebreak-out",
        "report tiebreak-out",
    ] {
        let (code, printed) = ran(bin, work, &format!("tiebreak {again}"));
        assert!(matches!(code, Some(0 | 1)), "{again}: {printed}");
        let form = if again.ends_with("sarif") { ".sarif" } else { "" };
        all.push((format!("{again}{form}"), printed));
    }
    names_nothing_absent(&all);
    println!("{} commands of a kernel that is wrong", all_run(bin, work, &all));

    // A clone of the project can build a lane that is missing here.
    let (code, printed) = ran(bin, work, "tiebreak verify --op dot --lane aarch64-qemu --effort quick");
    assert!(
        code == Some(1) && printed.contains("in a clone of the project, `cargo xtask verify` builds one"),
        "{printed}"
    );

    for (line, said) in [
        (VERIFY.replace("gemmlowp-double", "gemmlowp-doubel"), "did you mean `gemmlowp-double`?"),
        (VERIFY.replace("libmine", "libyours"), "libyours.so"),
        ("tiebreak verify --op requantise".to_owned(), "did you mean `requantize`?"),
    ] {
        let (code, printed) = ran(bin, work, &line);
        assert!(code == Some(2) && printed.contains(said), "{line}: {code:?} {printed}");
        names_nothing_absent(&[(line, printed)]);
    }
}

/// The same checks with a program that reads and writes lines.
#[test]
fn a_program_of_lines_is_judged_from_an_empty_directory() {
    let (bin, work) = installed();
    let [bin, work] = [bin.path(), work.path()];
    fs::write(work.join("k.c"), example("fpm-lines.c", &[])).expect("written");
    assert!(shell(bin, work, "cc -std=c11 -O2 -o k k.c").status.success());
    let (code, printed) = ran(bin, work, "tiebreak verify --program ./k --op fpm --scheme ties-up --effort quick");
    assert_eq!(code, Some(0), "{printed}");
    let all = texts(work, &printed);
    names_nothing_absent(&all);
    println!("{} commands", all_run(bin, work, &all));
}
