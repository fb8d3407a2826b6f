//! Arrows of the house: the allowed dependencies between rooms, and the rooms that must build without GMP.

mod sources;

use serde_json::Value;
use sources::{root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn cargo(arguments: &[&str]) -> String {
    let root = root();
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output().expect("cargo runs");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn rooms_depend_only_on_the_rooms_they_may() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"])).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(ours.len(), 14, "{ours:?}");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let inside: BTreeSet<&str> =
            dependencies.iter().filter_map(|d| d["name"].as_str()).filter(|d| ours.contains(d)).collect();
        // Build scripts link `sources`, and every room may be cut into `shards`.
        let inside: BTreeSet<&str> =
            inside.into_iter().filter(|d| *d != "tiebreak-sources" && *d != "tiebreak-shards").collect();
        let allowed: &[&str] = match name {
            "tiebreak-common" | "tiebreak-memory" => &[],
            "tiebreak-mlir" => &["common"],
            "tiebreak-engine" => &["common", "mlir"],
            "tiebreak-ops" => &["common", "mlir", "engine"],
            "tiebreak-analysis" => &["common", "mlir"],
            "tiebreak" => &["common", "memory", "mlir", "engine", "ops", "analysis"],
            "tiebreak-worker" => {
                assert!(
                    inside.iter().eq(["tiebreak-impls"].iter()),
                    "the worker depends on {inside:?}, and not on the kernels alone"
                );
                continue;
            }
            outside => {
                assert!(inside.is_empty(), "{outside} depends on {inside:?}, and may on none");
                continue;
            }
        };
        let may = |d: &&str| {
            let room = d.trim_start_matches("tiebreak-");
            ["impls", "worker", "oracle", "reports"].contains(&room) || allowed.contains(&room)
        };
        assert!(inside.iter().all(may), "{name} depends on {inside:?}, and may on {allowed:?} beside the other rooms");
    }
}

/// The engine once contained `if O::OP == "quantize"`.
#[test]
fn the_engine_names_no_operation() {
    let root = root();
    let registry = std::fs::read_to_string(root.join("impls/src/lib.rs")).expect("the list of operations");
    let list =
        registry.split("macro_rules! operations {").nth(1).expect("the list").split("\n}").next().expect("its end");
    let lines = list.lines().filter_map(|line| line.trim().split_once("($crate::"));
    let operations: Vec<String> = lines.map(|(operation, _)| operation.to_lowercase()).collect();
    assert!(operations.len() >= 10 && operations.contains(&"fpm".to_owned()), "{operations:?}");
    let mut files = Vec::new();
    sources(&root.join("suites/engine/src"), &mut files);
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let code = text.split("#[cfg(test)]").next().expect("what comes before the tests");
        let named: Vec<&String> = operations.iter().filter(|op| code.contains(&format!("\"{op}\""))).collect();
        assert!(named.is_empty(), "{} names {named:?}", file.display());
    }
}

/// Modules of the engine, each of which may use those before it.
const STAGES: [&str; 25] = [
    "count",
    "activity",
    "progress",
    "lane",
    "operation",
    "erased",
    "offered",
    "case",
    "plan",
    "run",
    "judge",
    "explain",
    "identify",
    "offline",
    "ledger",
    "units",
    "self_check",
    "vectors",
    "pipeline",
    "registry",
    "adopted",
    "selected",
    "opened",
    "verification",
    "sharded",
];

/// Returns the files of a crate by module path, each with the modules that its code names with `crate::` or `super::`.
fn modules(source: &Path) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut files = Vec::new();
    sources(source, &mut files);
    let module = |file: &PathBuf| {
        let path = file.strip_prefix(source).expect("inside").with_extension("");
        let mut names: Vec<String> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        names.pop_if(|last| *last == "mod" || *last == "lib");
        names
    };
    let all: BTreeSet<Vec<String>> = files.iter().map(module).collect();
    let named = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).expect("it can be read");
        let code = text.split("#[cfg(test)]").next().expect("what comes before the tests");
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let own = module(file);
        let mut out = BTreeSet::new();
        for path in paths(&lines.collect::<Vec<_>>().join(" ")) {
            let supers = path.iter().take_while(|name| *name == "super").count();
            let from = if supers > 0 { own[..own.len().saturating_sub(supers)].to_vec() } else { Vec::new() };
            let whole: Vec<String> = from.into_iter().chain(path.into_iter().skip(supers.max(1))).collect();
            // The longest prefix that is a module; the rest is an item of the module.
            let target = (0..=whole.len()).rev().map(|len| whole[..len].to_vec()).find(|start| all.contains(start));
            out.extend(target.filter(|target| *target != own && !target.is_empty()));
        }
        (own, out)
    };
    files.iter().map(named).collect()
}

/// Returns the paths that begin with `crate` or `super`; a group gives several paths.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let inside = code[..at].ends_with("::") || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !inside {
                leaves(&code[at..], &[], &mut out);
            }
        }
    }
    out
}

/// Collects the paths at the beginning of a text, and returns the rest of the text.
fn leaves<'a>(text: &'a str, before: &[String], out: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = text;
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            while !group.starts_with('}') {
                group = leaves(group.trim_start(), &path, out).trim_start_matches([',', ' ']);
            }
            return &group[1..];
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(more) if more.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '{') => rest = more,
            _ => break,
        }
    }
    out.push(path);
    // An alias does not belong to the path.
    let alias = rest.trim_start().strip_prefix("as ").filter(|_| !before.is_empty());
    alias.map_or(rest, |alias| alias.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn stages_of_the_engine_use_those_before_them_alone() {
    let modules = modules(&root().join("suites/engine/src"));
    let rank = |module: &[String]| {
        let at = STAGES.iter().position(|stage| module.first().is_some_and(|first| first == stage));
        at.unwrap_or_else(|| panic!("{module:?} is no stage"))
    };
    let mut uses = 0;
    for (module, used) in modules.iter().filter(|(module, _)| !module.is_empty()) {
        uses += used.len();
        let later: Vec<_> = used.iter().filter(|used| rank(used) > rank(module)).collect();
        assert!(later.is_empty(), "{} uses {later:?}, which come after it", module.join("::"));
    }
    assert!(modules.len() > 70 && uses > 300, "{} modules, {uses} uses", modules.len());
}

/// The engine once had a cycle of seventeen files, so that no file could be read on its own.
#[test]
fn no_circle_of_the_engine_has_more_than_two_files() {
    let modules = modules(&root().join("suites/engine/src"));
    let reached = |from: &Vec<String>| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(modules[module].iter().filter(|used| seen.insert((*used).clone())));
        }
        seen
    };
    let reach: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = modules.keys().map(|m| (m, reached(m))).collect();
    for module in modules.keys() {
        let circle: Vec<String> =
            reach[module].iter().filter(|other| reach[*other].contains(module)).map(|m| m.join("::")).collect();
        assert!(circle.len() <= 2, "a circle: {circle:?}");
    }
}

/// The engine once matched `Job::Matmul` to set the time limit of a worker.
#[test]
fn the_engine_looks_into_no_job() {
    let mut files = Vec::new();
    sources(&root().join("suites/engine/src"), &mut files);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let code = text.split("#[cfg(test)]").next().expect("what comes before the tests");
        assert!(!code.contains("Job::"), "{} names a job by its operation", file.display());
        assert!(!code.contains("oracle::fpm"), "{} names a scheme of fpm", file.display());
    }
}

/// The file of a folder is always its `mod.rs`.
#[test]
fn no_file_stands_beside_the_folder_of_its_name() {
    let root = root();
    let mut files = Vec::new();
    for room in ["oracle", "impls", "reports", "suites", "xtask"] {
        sources(&root.join(room), &mut files);
    }
    let beside: Vec<&PathBuf> = files.iter().filter(|file| file.with_extension("").is_dir()).collect();
    assert!(files.len() > 300 && beside.is_empty(), "{beside:?}");
}

#[test]
fn the_rooms_that_build_everywhere_do_without_gmp() {
    for package in ["xtask", "tiebreak-impls", "tiebreak-worker", "tiebreak-reports"] {
        let tree = cargo(&["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--package", package]);
        let gmp: Vec<&str> = tree.lines().filter(|l| l.starts_with("rug ") || l.starts_with("gmp-mpfr-sys ")).collect();
        assert!(gmp.is_empty(), "{package} needs {gmp:?}");
        assert!(tree.lines().count() > 1, "{package}: {tree}");
    }
}

/// Returns each package with its features, as cargo builds it for the selection.
fn features(selection: &[&str]) -> BTreeSet<String> {
    let format = ["tree", "--offline", "--prefix", "none", "--format", "{p} [{f}]"];
    let tree = cargo(&[&format[..], selection].concat());
    tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

/// A package of the tests once required another feature of `num-traits`, so `tiebreak` and its dependencies were built twice.
#[test]
fn tests_and_programs_share_one_build() {
    let programs = features(&["--edges", "normal,build", "--package", "tiebreak", "--package", "tiebreak-worker"]);
    let all = features(&["--edges", "normal,build,dev", "--workspace"]);
    let alone: Vec<&String> = programs.difference(&all).collect();
    assert!(programs.len() > 50 && alone.is_empty(), "built for the programs with other features: {alone:?}");
}
