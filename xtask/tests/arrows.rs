//! The arrows of the house: who may depend on whom, and who must stay free of GMP.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
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
    assert_eq!(ours.len(), 5, "{ours:?}");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let inside: BTreeSet<&str> =
            dependencies.iter().filter_map(|d| d["name"].as_str()).filter(|d| ours.contains(d)).collect();
        let allowed: &[&str] = match name {
            "tiebreak-suites" => &["tiebreak-impls", "tiebreak-oracle", "tiebreak-reports"],
            _ => &[],
        };
        assert!(inside.iter().all(|d| allowed.contains(d)), "{name} depends on {inside:?}, may on {allowed:?}");
    }
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
