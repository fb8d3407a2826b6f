//! Fuzz targets: their seeds, the lines in which campaigns keep inputs, known bugs that they must find, and the files of OSS-Fuzz.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tiebreak_suites::engine::case::catalogue;
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::fuzzing::tensor::{Fuzzed, one, run_among};
use tiebreak_suites::fuzzing::{Target, bytes, dictionary, find, line, targets};
use tiebreak_suites::stream::{int32, stream};
use tiebreak_suites::{fpm::FixedPointMultiply, matmul::Matmul, quantize::Quantize};

fn fuzz(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(path)
}

#[test]
fn every_target_of_the_registry_is_built() {
    let manifest = fs::read_to_string(fuzz("Cargo.toml")).expect("the manifest of the targets");
    let bins = manifest.split("[[bin]]").skip(1);
    let built: BTreeSet<&str> =
        bins.filter_map(|bin| Some(bin.split_once("name = \"")?.1.split_once('"')?.0)).collect();
    let all = targets();
    let known: BTreeSet<&str> = all.iter().map(|target| target.name).collect();
    assert_eq!(built, known);
    assert!(find("requantise").is_err_and(|error| error.to_string().contains("requantize")));
}

/// A kept line is parsed as the same input.
#[test]
fn seeds_are_right_and_stay_what_they_are_as_lines() {
    for target in targets() {
        let seeds: Vec<Vec<u8>> = (target.seeds)().into_iter().map(String::into_bytes).collect();
        for seed in &seeds {
            assert_eq!((target.judge)(seed), Ok(()), "{}: {}", target.name, seed.escape_ascii());
            let kept = line(seed, (target.text)(seed));
            assert!(!kept.contains('\n'), "{kept}");
            let again = bytes(&kept).expect("a line that was written");
            assert_eq!((target.text)(&again), (target.text)(seed), "{}: {kept}", target.name);
            assert_eq!(line(&again, (target.text)(&again)), kept);
        }
        let words = dictionary(&seeds);
        assert!(seeds.is_empty() || words.lines().count() >= 3, "{}: {words}", target.name);
    }
}

/// Inputs of numbers become texts, which are parsed as the same cases.
#[test]
fn made_up_inputs_become_texts() {
    for target in targets().into_iter().filter(|target| target.kernel.is_some() || target.name == "census") {
        let texts: Vec<String> = (0..60).filter_map(|i| (target.text)(&made_up(target.name, i))).collect();
        assert!(texts.len() >= 10, "{}: {} texts", target.name, texts.len());
        for text in texts {
            assert_eq!((target.text)(text.as_bytes()).as_ref(), Some(&text), "{}", target.name);
        }
    }
}

#[test]
fn any_bytes_have_a_line() {
    for input in [&b""[..], b"\n", b"\xff\x00\"", b"\"a\"", b"b\"a\"", b"# x", "\u{e9}\u{0}".as_bytes(), b"   "] {
        let kept = line(input, None);
        assert!(!kept.contains('\n') && !kept.trim().is_empty() && !kept.starts_with('#'), "{kept}");
        assert_eq!(bytes(&kept).as_deref(), Ok(input), "{kept}");
    }
    assert!(bytes("\"a").is_err() && bytes("b\"\u{100}\"").is_err());
}

/// Returns bytes as from a fuzzer.
fn made_up(purpose: &str, i: usize) -> Vec<u8> {
    let mut rng = stream(i as u64, purpose);
    (0..1 + i % 50).flat_map(|_| int32(&mut rng).to_le_bytes()).collect()
}

/// Runs a target on made-up inputs with a known bug in place of its kernels, until there is a find.
fn found<O: Fuzzed>(bug: &str) -> String {
    let bug = one::<O>(bug).expect("a known bug");
    let report = (0..4000).find_map(|i| run_among::<O>(&[bug], &made_up("planted", i)).err());
    let report = report.unwrap_or_else(|| panic!("{} is not found", bug.name));
    let kept = report.lines().find_map(|line| line.strip_prefix("catalogue: ")).unwrap_or_else(|| panic!("{report}"));
    assert_eq!(catalogue::read(op::<O>(), kept).expect("a line of the catalogue").len(), 1, "{kept}");
    report
}

/// As `cargo xtask fuzz --planted`, but without a fuzzer: the targets decode inputs and judge as under libFuzzer.
#[test]
fn a_planted_bug_is_found_by_the_targets_of_fpm_matmul_and_quantize() {
    let fpm = found::<FixedPointMultiply>("mutant-double-rounding");
    let matmul = found::<Matmul>("mutant-u8-pair-wrap");
    let quantize = found::<Quantize>("mutant-quantize-ties-away");
    for (report, class) in [(&fpm, "double-rounding"), (&matmul, "16-bit-wrap"), (&quantize, "tie-direction")] {
        assert!(report.contains(&format!("class {class}")), "{report}");
        assert!(report.contains("\nagain: cargo xtask verify --op "), "{report}");
    }
    for (report, op, result) in [(fpm, "fpm", "mutant-double-rounding"), (quantize, "quantize", "onnx")] {
        let arguments = report.lines().find_map(|line| line.strip_prefix("explain: cargo xtask explain "));
        let arguments = arguments.unwrap_or_else(|| panic!("{op}: {report}"));
        let explained = sh(&format!("'{}' explain {arguments}", env!("CARGO_BIN_EXE_tiebreak")));
        assert!(explained.contains(result), "{arguments}: {explained}");
    }
}

/// Runs a command line, and returns its output.
fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().expect("a shell");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Replacement of cargo that lists the targets of the manifest, and creates an empty file for each build product.
const CARGO: &str = r#"#!/bin/sh
names() { sed -n 's/^name = "\([a-z0-9_]*\)"$/\1/p' fuzz/Cargo.toml; }
case "$1 $2" in
"fuzz list") names ;;
"fuzz build") mkdir -p fuzz/target/x86_64-unknown-linux-gnu/release
    for name in $(names); do : > fuzz/target/x86_64-unknown-linux-gnu/release/$name; done ;;
run*) while [ "$1" != seeds ]; do shift; done
    mkdir -p "$3/seeds"; : > "$3/seeds/0"; : > "$3/words.dict" ;;
*) exit 3 ;;
esac
"#;

/// Script that writes to its last argument but one, as `zip --options FILE.zip DIRECTORY` does.
const ZIP: &str = "#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\nls \"$2\" > \"$1\"\n";

/// The test builds no image of OSS-Fuzz: the script runs with a cargo that only creates files.
#[test]
fn the_script_of_oss_fuzz_gives_each_target_seeds_and_words() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [bin, src, out, work] = ["bin", "src/tiebreak/fuzz", "out", "work"].map(|name| directory.path().join(name));
    for path in [&bin, &src, &out, &work] {
        fs::create_dir_all(path).expect("the temporary directory can be written");
    }
    // The name of the package is not a target.
    let manifest = fs::read_to_string(fuzz("Cargo.toml")).expect("a manifest").replace("name = \"tiebreak-fuzz\"", "");
    fs::write(src.join("Cargo.toml"), manifest).expect("written");
    for (name, text) in [("cargo", CARGO), ("zip", ZIP)] {
        fs::write(bin.join(name), text).expect("written");
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("executable");
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a search path"));
    let mut command = Command::new("bash");
    command.arg(fuzz("oss-fuzz/build.sh")).env("PATH", path).env("SRC", directory.path().join("src"));
    let output = command.env("OUT", &out).env("WORK", &work).output().expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: BTreeSet<String> = fs::read_dir(&out)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let wanted = targets()
        .into_iter()
        .flat_map(|Target { name, .. }| [name.to_owned(), format!("{name}_seed_corpus.zip"), format!("{name}.dict")]);
    assert_eq!(made, wanted.collect());
}

#[test]
fn the_files_of_oss_fuzz_agree() {
    let [project, image] =
        ["project.yaml", "Dockerfile"].map(|name| fs::read_to_string(fuzz("oss-fuzz").join(name)).expect(name));
    let repository = project.lines().find_map(|line| line.strip_prefix("main_repo: ")).expect("a repository");
    assert!(image.contains(&format!("ARG REPOSITORY={}", repository.trim_matches('"'))), "{image}");
    assert!(image.contains("COPY build.sh $SRC/") && project.contains("language: rust"), "{project}{image}");
}
