//! Reads the documents: commands in fences and in prose, and the outputs below them.

use crate::common::workspace;
use std::path::Path;

/// Text of this repository.
pub(super) struct Document {
    /// Path in the repository.
    pub(super) path: String,
    text: String,
}

/// Command as a document prints it.
pub(super) struct Printed {
    /// Path of the document.
    pub(super) document: String,
    /// Text from the program's name on, without a comment after it.
    pub(super) command: String,
    /// Lines below the command, if it follows a `$`.
    pub(super) output: Vec<String>,
}

/// Returns the files below a directory with one of these name endings, without built and hidden files.
pub(super) fn paths(directory: &str, wanted: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    let entries = std::fs::read_dir(workspace().join(directory)).unwrap_or_else(|e| panic!("{directory}: {e}"));
    for entry in entries {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
        if entry.path().is_dir() {
            if !name.starts_with('.') && !["target", "corpus", "artifacts", "tiebreak-out"].contains(&name.as_str()) {
                out.extend(paths(&path, wanted));
            }
        } else if wanted.iter().any(|end| path.ends_with(end)) {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Returns every document, and the examples that print their own command.
pub(super) fn documents() -> Vec<Document> {
    let mut all: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SOUNDNESS.md"].map(str::to_owned).to_vec();
    all.extend(paths("docs", &[".md", ".py"]));
    all.extend(paths("reports/published", &[".md"]));
    let read = |path: String| {
        let text = std::fs::read_to_string(workspace().join(&path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        Document { path, text }
    };
    all.into_iter().map(read).collect()
}

/// Returns every Markdown file of the repository.
pub(super) fn markdown() -> Vec<String> {
    paths("", &[".md"])
}

/// Returns the files that commands of the documents name.
pub(super) fn example_files() -> Vec<(String, Vec<u8>)> {
    let named = [
        paths("docs", &[".py", ".json", ".jsonl", ".csv", ".mlir"]),
        paths("reports/published", &[".csv", ".json", ".jsonl"]),
    ]
    .concat();
    named
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(workspace().join(Path::new(&path))).expect("it is there")))
        .collect()
}

/// Beginnings of a command: in a clone, and of an installed program.
pub(super) const CALLS: [&str; 2] = ["cargo xtask ", "tiebreak "];

fn is_command(text: &str) -> bool {
    CALLS.into_iter().any(|call| text.starts_with(call))
}

/// Returns every command of a document.
pub(super) fn commands(document: &Document) -> Vec<Printed> {
    let mut out: Vec<Printed> = Vec::new();
    let mut fenced = document.path.ends_with(".py");
    // True if lines are the output of the command before them.
    let mut below = false;
    for line in document.text.lines() {
        let text = line.trim();
        let printed = |command: &str| Printed {
            document: document.path.clone(),
            command: command.to_owned(),
            output: Vec::new(),
        };
        if text.starts_with("```") {
            (fenced, below) = (!fenced, false);
        } else if !fenced {
            out.extend(commands_in_prose(line).iter().map(|command| printed(command)));
        } else if let Some(command) = text.strip_prefix("$ ") {
            below = is_command(command);
            out.extend(below.then(|| printed(without_comment(command))));
        } else if below {
            // Commands in an output run, too.
            if is_command(text) {
                let last = out.len() - 1;
                out.insert(last, printed(without_comment(text)));
            }
            out.last_mut().expect("a command").output.push(line.to_owned());
        } else if is_command(text) {
            out.push(printed(without_comment(text)));
        }
    }
    out
}

/// Returns commands between backticks.
pub(super) fn commands_in_prose(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter(|span| is_command(span)).map(str::to_owned).collect()
}

fn without_comment(command: &str) -> &str {
    command.split(" #").next().unwrap_or(command).trim()
}

/// Splits a command into words as a shell does.
pub(super) fn words(command: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, piece) in command.split('\'').enumerate() {
        match at % 2 {
            1 => out.push(piece.to_owned()),
            _ => out.extend(piece.split_whitespace().map(str::to_owned)),
        }
    }
    out
}

/// Returns the file that a document shows with `cat`.
pub(super) fn shown_file(document: &str, name: &str) -> String {
    let text = std::fs::read_to_string(workspace().join(document)).expect("a document");
    let (_, after) =
        text.split_once(&format!("$ cat {name}\n")).unwrap_or_else(|| panic!("{document} shows no {name}"));
    let lines: Vec<&str> =
        after.lines().take_while(|line| !line.starts_with("$ ") && !line.starts_with("```")).collect();
    lines.join("\n") + "\n"
}

/// Returns the fenced block that begins with this text.
pub(super) fn block_with(document: &str, beginning: &str) -> String {
    let blocks = document.split("```\n");
    blocks
        .into_iter()
        .find(|block| block.starts_with(beginning))
        .unwrap_or_else(|| panic!("no block {beginning}"))
        .to_owned()
}
