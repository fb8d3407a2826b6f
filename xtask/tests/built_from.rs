//! Every program has the hash of its sources: each package has a build script that computes it from all files that the compiler reads.

mod sources;

use serde_json::Value;
use sources::{root, sources};
use std::path::PathBuf;
use std::process::Command;

use tiebreak_sources::{PACKAGES, Package, XTASK};

fn text(path: PathBuf) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_package_has_its_build_script() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let manifests = metadata["packages"].as_array().expect("packages").iter();
    let directory = |package: &Value| {
        let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
        let directory = manifest.parent().and_then(|d| d.strip_prefix(root()).ok()).expect("in the workspace");
        directory.to_string_lossy().into_owned()
    };
    let mut members: Vec<String> = manifests.map(directory).collect();
    let mut known: Vec<String> = PACKAGES.iter().chain([&XTASK]).map(|package| package.directory.to_owned()).collect();
    // `sources` has the build scripts, and belongs to the files of `suites/common`.
    members.retain(|member| member != "sources");
    members.sort();
    known.sort();
    assert_eq!(members, known);
    for package in known {
        let script = text(root().join(&package).join("build.rs"));
        assert!(script.contains(&format!("bake(\"{package}\")")), "{package}: {script}");
    }
}

/// Files that a package includes from elsewhere are part of its hash.
#[test]
fn what_is_included_is_known() {
    for package in PACKAGES.into_iter().chain([XTASK]) {
        let mut files = Vec::new();
        sources(&root().join(package.directory).join("src"), &mut files);
        let known = package.files(root()).expect("they can be read");
        let compiled = files.iter().filter(|file| known.contains(&file.strip_prefix(root()).expect("inside").into()));
        let mut seen = 0;
        for file in compiled {
            seen += 1;
            let code = text(file.clone());
            let code = code.split("#[cfg(test)]").next().expect("what comes before the tests");
            for included in included(code) {
                let path = file.parent().expect("a directory").join(&included).canonicalize().expect("it is there");
                let path = path.strip_prefix(root().canonicalize().expect("it is there")).expect("in the workspace");
                assert!(
                    is_known(&known, path),
                    "{} includes {included}, which {} is not known by",
                    file.display(),
                    package.directory
                );
            }
        }
        assert!(seen > 0, "{}", package.directory);
    }
}

fn is_known(known: &[PathBuf], path: &std::path::Path) -> bool {
    known.iter().any(|file| file == path)
}

/// Returns the paths in `include_str!`, `include_bytes!` and `#[path]`.
fn included(code: &str) -> Vec<String> {
    let after = |mark: &str| -> Vec<String> {
        let found = code.split(mark).skip(1).filter_map(|rest| rest.split_once('"'));
        found.map(|(path, _)| path.to_owned()).collect()
    };
    ["include_str!(\"", "include_bytes!(\"", "#[path = \""].iter().flat_map(|mark| after(mark)).collect()
}

/// Files that are excluded by name are compiled only into tests.
#[test]
fn files_left_out_are_tests() {
    let mut modules = 0;
    for package in PACKAGES.into_iter().chain([XTASK]) {
        let known: Vec<PathBuf> = package.files(root()).expect("they can be read");
        for file in known.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
            let code = text(root().join(file));
            let lines: Vec<&str> = code.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let name = line
                    .trim()
                    .trim_start_matches("pub(crate) ")
                    .strip_prefix("mod ")
                    .and_then(|l| l.strip_suffix(';'));
                let Some(name) = name.filter(|name| *name == "tests" || name.ends_with("_tests")) else { continue };
                modules += 1;
                let before = at.checked_sub(1).map_or("", |at| lines[at].trim());
                assert!(
                    before.starts_with("#[cfg(") && before.contains("test"),
                    "{}: mod {name} is no test",
                    file.display()
                );
            }
        }
    }
    assert!(modules > 10, "{modules} modules");
}

#[test]
fn another_byte_or_another_name_is_another_hash() {
    let scratch = std::env::temp_dir().join(format!("tiebreak-sources-{}", std::process::id()));
    let put = |name: &str, contents: &str| {
        let path = scratch.join("impls/src").join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
        std::fs::write(path, contents).expect("it can be written");
    };
    let hash = |package: Package| package.hash(&scratch).expect("they can be read");
    put("lib.rs", "mod a;");
    put("a.rs", "x");
    let first = hash(tiebreak_sources::IMPLS);
    for (name, contents) in [("a.rs", "y"), ("a.rs", ""), ("b.rs", ""), ("c/d.rs", "")] {
        put(name, contents);
        assert_ne!(hash(tiebreak_sources::IMPLS), first, "{name}");
        put("a.rs", "x");
    }
    std::fs::remove_file(scratch.join("impls/src/b.rs")).expect("it can be removed");
    std::fs::remove_dir_all(scratch.join("impls/src/c")).expect("it can be removed");
    // None of these files is compiled into a program.
    ["tests.rs", ".a.rs.swp", "a.rs~", "x/tests/t.rs"].into_iter().for_each(|name| put(name, "anything"));
    assert_eq!(hash(tiebreak_sources::IMPLS), first);
    std::fs::remove_dir_all(scratch).expect("it can be removed");
}
