//! The arrows of the house: who may depend on whom, and who must stay free of GMP.

mod sources;

use serde_json::Value;
use sources::{root, sources};
use std::collections::BTreeSet;
use std::path::PathBuf;
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
    assert_eq!(ours.len(), 11, "{ours:?}");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let inside: BTreeSet<&str> =
            dependencies.iter().filter_map(|d| d["name"].as_str()).filter(|d| ours.contains(d)).collect();
        let allowed: &[&str] = match name {
            "tiebreak-common" | "tiebreak-memory" => &[],
            "tiebreak-mlir" => &["common"],
            "tiebreak-engine" => &["common", "mlir"],
            "tiebreak-ops" => &["common", "mlir", "engine"],
            "tiebreak-analysis" => &["common", "mlir"],
            "tiebreak-suites" => &["common", "memory", "mlir", "engine", "ops", "analysis"],
            outside => {
                assert!(inside.is_empty(), "{outside} depends on {inside:?}, and may on none");
                continue;
            }
        };
        let may = |d: &&str| {
            let room = d.trim_start_matches("tiebreak-");
            ["impls", "oracle", "reports"].contains(&room) || allowed.contains(&room)
        };
        assert!(inside.iter().all(may), "{name} depends on {inside:?}, and may on {allowed:?} beside the three");
    }
}

/// The engine once asked `if O::OP == "quantize"`.
#[test]
fn the_engine_names_no_operation() {
    let root = root();
    let registry = std::fs::read_to_string(root.join("impls/src/lib.rs")).expect("the list of operations");
    let list =
        registry.split("macro_rules! operations {").nth(1).expect("the list").split("\n}").next().expect("its end");
    let lines = list.lines().filter_map(|line| line.trim().split_once("(crate::"));
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

/// A folder's own file is its `mod.rs`, everywhere.
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
    for package in ["xtask", "tiebreak-impls", "tiebreak-reports"] {
        let tree = cargo(&["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--package", package]);
        let gmp: Vec<&str> = tree.lines().filter(|l| l.starts_with("rug ") || l.starts_with("gmp-mpfr-sys ")).collect();
        assert!(gmp.is_empty(), "{package} needs {gmp:?}");
        assert!(tree.lines().count() > 1, "{package}: {tree}");
    }
}

/// Each package with its features, as cargo builds it for the selection.
fn features(selection: &[&str]) -> BTreeSet<String> {
    let format = ["tree", "--offline", "--prefix", "none", "--format", "{p} [{f}]"];
    let tree = cargo(&[&format[..], selection].concat());
    tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

/// Once a package of the tests asked for another feature of `num-traits`, and everything from there to `tiebreak` was built twice.
#[test]
fn tests_and_programs_share_one_build() {
    let programs =
        features(&["--edges", "normal,build", "--package", "tiebreak-suites", "--package", "tiebreak-impls"]);
    let all = features(&["--edges", "normal,build,dev", "--workspace"]);
    let alone: Vec<&String> = programs.difference(&all).collect();
    assert!(programs.len() > 50 && alone.is_empty(), "built for the programs with other features: {alone:?}");
}
