//! Costs of the harness, each measured together with its baseline: `cargo bench -p tiebreak`.
//!
//! Arguments after `--`: `sweep`, `forms`, `lane`, `gemm`, `network`, `counts`, `fused`, `census`, `floats`, `libraries` (all if none is named),
//! `tables` (measurements of the sources: `fused`, `counts`, and the rates of `gemm`), `--lanes FILE`, `--libraries FILE`, `--json FILE`.

mod census;
mod counts;
mod floats;
mod forms;
mod fused;
mod gemm;
mod instructions;
mod lane;
mod libraries;
mod network;
mod sweep;
mod timing;

use std::path::PathBuf;

const SECTIONS: [&str; 11] =
    ["sweep", "forms", "lane", "gemm", "network", "counts", "fused", "census", "floats", "libraries", "tables"];

/// Line of the result.
#[derive(serde::Serialize)]
struct Measured {
    /// Section.
    section: &'static str,
    /// Description of the measurement.
    what: String,
    /// Measured numbers.
    numbers: Vec<(&'static str, f64)>,
    /// Requirement of the project, and true if it holds.
    wanted: Option<(String, bool)>,
}

struct Arguments {
    sections: Vec<String>,
    lanes: PathBuf,
    /// Lanes of shipped libraries.
    libraries: PathBuf,
    json: PathBuf,
}

fn arguments() -> Result<Option<Arguments>, String> {
    // cargo starts a benchmark in its package's directory; file names are relative to the workspace.
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let tmp = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let target = tmp.parent().unwrap_or(&tmp).join("tiebreak");
    let mut out = Arguments {
        sections: Vec::new(),
        lanes: target.join("lanes.json"),
        libraries: target.join("shipped/tiebreak/lanes.json"),
        json: target.join("bench.json"),
    };
    let mut benches = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut path = || arguments.next().map(|path| root.join(path)).ok_or(format!("{argument} wants a file"));
        match argument.as_str() {
            "--bench" => benches = true,
            "--lanes" => out.lanes = path()?,
            "--libraries" => out.libraries = path()?,
            "--json" => out.json = path()?,
            name if SECTIONS.contains(&name) => out.sections.push(argument),
            other => {
                return Err(format!(
                    "`{other}`: name sections of {}; or --lanes FILE, --libraries FILE, --json FILE",
                    SECTIONS.join(", ")
                ));
            }
        }
    }
    // `cargo test --benches` starts this program without `--bench`: there is nothing to test.
    Ok(benches.then_some(out))
}

fn main() -> Result<(), String> {
    let Some(arguments) = arguments()? else { return Ok(()) };
    let wanted = |name: &str| arguments.sections.is_empty() || arguments.sections.iter().any(|s| s == name);
    let mut all = Vec::new();
    if wanted("sweep") {
        all.extend(sweep::run());
    }
    if wanted("forms") {
        all.extend(forms::run());
    }
    if wanted("lane") {
        all.extend(lane::run(&arguments.lanes));
    }
    if wanted("gemm") {
        all.extend(gemm::run());
    }
    if wanted("network") {
        all.extend(network::run());
    }
    let tables = arguments.sections.iter().any(|s| s == "tables");
    if tables || wanted("fused") {
        all.extend(fused::run());
    }
    if tables || wanted("counts") {
        all.extend(counts::run(&arguments.lanes));
    }
    if tables && !wanted("gemm") {
        all.extend(gemm::rates());
    }
    if wanted("census") {
        all.extend(census::run());
    }
    if wanted("floats") {
        all.extend(floats::run());
    }
    if wanted("libraries") {
        all.extend(libraries::run(&arguments.libraries));
    }
    println!("\nWhat the project asks for");
    for m in &all {
        if let Some((words, holds)) = &m.wanted {
            println!("  {} {}: {words}", if *holds { "holds " } else { "BROKEN" }, m.what);
        }
    }
    let text = serde_json::to_string_pretty(&all).map_err(|e| e.to_string())?;
    let written = std::fs::create_dir_all(arguments.json.parent().unwrap_or(&arguments.json))
        .and_then(|()| std::fs::write(&arguments.json, text));
    written.map_err(|e| format!("{}: {e}", arguments.json.display()))
}
