//! `suites/src/code.txt`: file with the code of each kernel, found by its name in the sources.

use crate::common::workspace;
use expect_test::expect_file;
use std::path::{Path, PathBuf};
use tiebreak_suites::code::TABLE;
use tiebreak_suites::listing;

/// Collects every source file below a directory, without tests.
fn sources(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("it is there") {
        let path = entry.expect("listed").path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some(name) if name == "bin" || name.trim_end_matches(".rs").ends_with("tests") => {}
            _ if path.is_dir() => sources(&path, out),
            Some(name) if name.ends_with(".rs") => out.push(path),
            _ => {}
        }
    }
}

/// Returns the file that contains the name as a text. It is in the folder of the operation, of its arithmetic or of the matrix product inside; for a
/// mutant, in the folder of mutants. Of several files, it is the one that gives the name to a kernel, belongs to the operation, or has the shortest
/// path.
fn file(all: &[(String, String)], [op, name, kind]: [&str; 3]) -> Option<String> {
    let folders = match kind {
        "mutant" => vec!["mutants".to_owned()],
        _ => vec![op.to_owned(), format!("elementwise/{op}"), "elementwise".to_owned(), "matmul".to_owned()],
    };
    let within = |folder: &String| -> Vec<&(String, String)> {
        let folder = format!("impls/src/{folder}/");
        let has = |(path, text): &&(String, String)| path.starts_with(&folder) && text.contains(&format!("\"{name}\""));
        all.iter().filter(has).collect()
    };
    let mut found = folders.iter().map(within).find(|found| !found.is_empty())?;
    let names = |(_, text): &(String, String)| text.contains(&format!("name: \"{name}\""));
    let is_of_op = |(path, _): &(String, String)| path.rsplit('/').next().is_some_and(|file| file.starts_with(op));
    for preferred in [&names as &dyn Fn(&(String, String)) -> bool, &is_of_op] {
        if found.iter().any(|file| preferred(file)) {
            found.retain(|file| preferred(file));
        }
    }
    found.into_iter().map(|(path, _)| path).min_by_key(|path| (path.len(), path.as_str())).cloned()
}

#[test]
fn every_kernel_has_the_file_with_its_name() {
    let mut paths = Vec::new();
    sources(&workspace().join("impls/src"), &mut paths);
    let relative = |path: &PathBuf| path.strip_prefix(workspace()).expect("below it").display().to_string();
    let text = |path: &PathBuf| (relative(path), std::fs::read_to_string(path).expect("it is read"));
    let all: Vec<(String, String)> = paths.iter().map(text).collect();
    let mut lines = Vec::new();
    for kernel in listing::kernels() {
        let [op, name, kind] = ["op", "kernel", "kind"].map(|key| kernel[key].as_str().expect("a text"));
        let file = file(&all, [op, name, kind]).unwrap_or_else(|| panic!("no source has the name of {op} {name}"));
        lines.push(format!("{op} {name} {file}\n"));
    }
    lines.sort_unstable();
    expect_file!["../../src/code.txt"].assert_eq(&lines.concat());
    assert!(TABLE.lines().all(|line| workspace().join(line.rsplit(' ').next().expect("a path")).is_file()));
}
