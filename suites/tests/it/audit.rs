//! `audit`: small models, two real models if downloaded, and files that are no models.

#[path = "../../analysis/src/model/tests/onnx.rs"]
pub(crate) mod onnx;

use crate::bad_input::refused;
use crate::common::{Run, not_run, program, target, tiebreak};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_suites::audit::RUNTIMES;
use tiebreak_suites::identity;

/// Real models, as pinned in `xtask/src/models.rs`, with their hashes.
const REAL: [(&str, &str); 2] = [
    ("alexa.tflite", "9011a8155b04de858c48038529235cbc0e42e9fca05a55bf588cb80a653a723b"),
    ("hey_jarvis.tflite", "21a7976add39ee24ec96c63d96b7aaa18e24d1d9824b963e451da8feb4b78b77"),
];

/// Returns the real models, or prints the reason and returns `None`.
fn real() -> Option<Vec<PathBuf>> {
    let paths: Vec<PathBuf> = REAL.iter().map(|(name, _)| target().join("tiebreak/models").join(name)).collect();
    if let Some(missing) = paths.iter().find(|path| !path.is_file()) {
        not_run(&format!("{} is not there; `cargo xtask setup --with models` fetches it", missing.display()));
        return None;
    }
    for (path, (_, sha256)) in paths.iter().zip(REAL) {
        assert_eq!(identity::hash(path).expect("it can be read"), sha256, "{}", path.display());
    }
    Some(paths)
}

pub(crate) fn audit(model: &Path, more: &[&str]) -> Run {
    tiebreak(&[&["audit", model.to_str().expect("UTF-8")], more].concat())
}

pub(crate) fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("JSON")
}

pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

/// Returns the commands of a table; a shell would join their lines.
fn commands(table: &str) -> Vec<String> {
    let joined = table.replace(" \\\n     ", "");
    joined.lines().filter_map(|line| line.strip_prefix("  cargo")).map(|rest| format!("cargo{rest}")).collect()
}

/// Runs a command that the table prints.
fn again(command: &str) -> Run {
    let words: Vec<&str> = command.split_whitespace().skip(2).collect();
    tiebreak(&words)
}

/// Writes a model to a directory that exists as long as the test.
pub(crate) fn file(dir: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).expect("the temporary directory can be written");
    path
}

/// Multipliers and shifts of the models equal the published list, all 994, in a few seconds.
#[test]
fn the_multipliers_of_real_models_are_those_of_the_published_list() {
    let Some(models) = real() else { return };
    let list = crate::common::workspace().join("reports/published/micro-wake-word/params.csv");
    let mut wanted = BTreeMap::new();
    for row in csv::Reader::from_path(list).expect("the list").records() {
        let row = row.expect("a line");
        wanted
            .insert((row[0].to_owned(), row[1].to_owned(), row[2].to_owned()), (row[3].to_owned(), row[4].to_owned()));
    }
    let mut found = BTreeMap::new();
    for (path, (name, _)) in models.iter().zip(REAL) {
        let run = audit(path, &["--left=tflite-single", "--right=gemmlowp-double", "--format=json"]).exits(0);
        let audit = json(&run);
        for layer in items(&audit["comparisons"][0]["layers"]) {
            let op = layer["op"].as_str().expect("a name");
            if op == "QUANTIZE" {
                continue;
            }
            for channel in items(&layer["channels"]) {
                assert_eq!(channel["left"], channel["right"]);
                let key = (name.to_owned(), format!("{op}_{}", layer["index"]), channel["channel"].to_string());
                let multiplier = &channel["left"];
                found.insert(key, (multiplier["multiplier"].to_string(), multiplier["shift"].to_string()));
            }
        }
    }
    assert_eq!((found.len(), found == wanted), (994, true));
}

/// Returns the accumulators that these weights can reach: a set of flags from the smallest sum, one product after another.
fn reachable(bias: i64, weights: &[i64], activations: std::ops::RangeInclusive<i64>) -> BTreeSet<i64> {
    let mut sums = BTreeSet::from([bias]);
    for w in weights {
        let (lo, hi) = (
            sums.first().expect("one") + (w * activations.start()).min(w * activations.end()),
            sums.last().expect("one"),
        );
        let hi = hi + (w * activations.start()).max(w * activations.end());
        let mut flags = vec![false; (hi - lo + 1) as usize];
        for sum in &sums {
            activations.clone().for_each(|x| flags[(sum + w * x - lo) as usize] = true);
        }
        sums = flags.iter().enumerate().filter(|(_, flag)| **flag).map(|(at, _)| lo + at as i64).collect();
    }
    sums
}

/// Three channels of a real depthwise layer: weights from the file, every accumulator, both schemes in rationals.
#[test]
fn channels_of_a_real_model_by_brute_force() {
    let Some(models) = real() else { return };
    // Layer 21 is a depthwise convolution of 5 rows over 30 channels, [1, 5, 1, 30].
    let bytes = std::fs::read(&models[1]).expect("it can be read");
    let mut weights = Vec::new();
    tiebreak_suites::model::operators(&bytes, &mut |operator| {
        use tiebreak_suites::model::operators::Arithmetic::Products;
        if let (21, Ok(Products(products))) = (operator.index, &operator.arithmetic) {
            weights = (0..30).map(|c| products.weights.centred(c).map(i64::from).collect::<Vec<_>>()).collect();
        }
        Ok(())
    })
    .expect("a model");
    let audit =
        json(&audit(&models[1], &["--left=tflite-single", "--right=gemmlowp-double", "--format=json"]).exits(0));
    let at = |layers: &Value| items(layers).iter().find(|l| l["index"] == 21).expect("layer 21").clone();
    let (facts, counts) = (at(&audit["layers"]), at(&audit["comparisons"][0]["layers"]));
    let number = |v: &Value| v.as_i64().expect("a number");
    let output = Output {
        zero_point: number(&facts["output"]["zero_point"]) as i32,
        min: number(&facts["clamp"][0]) as i32,
        max: number(&facts["clamp"][1]) as i32,
    };
    let zero_point = number(&facts["inputs"][0]["zero_point"]);
    for channel in [1, 14, 28] {
        let (facts, counts) = (&facts["channels"][channel], &counts["channels"][channel]);
        let multiplier = |key| number(&counts["left"][key]) as i32;
        let parameters = Parameters::q31(multiplier("multiplier"), multiplier("shift"));
        let all = reachable(number(&facts["bias"]), &weights[channel], -128 - zero_point..=127 - zero_point);
        assert_eq!(facts["accumulators"]["count"], all.len(), "{facts}");
        let [left, right] = ["tflite-single", "gemmlowp-double"].map(|name| Scheme::parse(name).expect("a scheme"));
        let value = |scheme: &Scheme, x: i64| {
            let scaled = scheme.exact(x, &parameters).expect("a value");
            (scaled + i64::from(output.zero_point)).clamp(output.min.into(), output.max.into())
        };
        let differ = all.iter().filter(|x| value(&left, **x) != value(&right, **x)).count();
        assert_eq!(
            (counts["inputs"].as_u64(), counts["differ"].as_u64()),
            (Some(all.len() as u64), Some(differ as u64))
        );
        assert!(differ > 0, "channel {channel}");
    }
}

/// The published audit equals the output of the commands in it.
#[test]
fn the_published_audit_is_what_the_program_prints() {
    if real().is_none() {
        return;
    }
    let published = crate::common::workspace().join("reports/published/2026-11-22-micro-wake-word-audit");
    // Pages and CSV files that are not kept are compared by their hashes.
    let mut hashes = String::new();
    for (name, format, ending) in [
        ("alexa", "table", "txt"),
        ("hey_jarvis", "table", "txt"),
        ("alexa", "csv", "csv"),
        ("alexa", "html", "html"),
        ("hey_jarvis", "csv", "csv"),
        ("hey_jarvis", "html", "html"),
    ] {
        let model = format!("target/tiebreak/models/{name}.tflite");
        let mut command = program();
        command.args(["audit", &model, "--format", format]).current_dir(crate::common::workspace());
        let printed = command.output().expect("tiebreak starts").stdout;
        let file = published.join(format!("{name}.{ending}"));
        if ending != "txt" {
            writeln!(hashes, "{}  {name}.{ending}", identity::hash_bytes(&printed)).expect("a string");
        }
        if ending == "txt" || file.exists() {
            expect_test::expect_file![file].assert_eq(&String::from_utf8(printed).expect("UTF-8"));
        }
    }
    expect_test::expect_file![published.join("sha256.txt")].assert_eq(&hashes);
}

/// Counts for a library's operator on all channels of some models.
#[derive(Default)]
struct Line {
    channels: u64,
    inputs: u64,
    differ: u64,
    largest: u64,
    /// Largest share of differing accumulators, with an example.
    worst: Option<(f64, String)>,
}

impl Line {
    fn add(&mut self, row: &BTreeMap<String, String>) {
        let number = |key: &str| row[key].parse::<u64>().expect("a count");
        self.channels += 1;
        self.inputs += number("inputs");
        self.differ += number("differ");
        let deltas = row["by_delta"].split_whitespace().map(|part| part.split(':').next().expect("a difference"));
        let largest = deltas.map(|delta| delta.parse::<i64>().expect("a number").unsigned_abs()).max();
        self.largest = self.largest.max(largest.unwrap_or(0));
        let rate: f64 = row["rate"].parse().expect("a rate");
        if rate > self.worst.as_ref().map_or(0.0, |(worst, _)| *worst) {
            let model = row["model"].rsplit('/').next().expect("a name");
            let (layer, channel, x) = (&row["index"], &row["channel"], &row["witness"]);
            let values = format!("{}, {}", row["left_value"], row["right_value"]);
            self.worst = Some((rate, format!("{model} layer {layer} channel {channel}, x={x}: {values}")));
        }
    }
}

/// Counts of libraries against real numbers equal those of the printed command.
#[test]
fn the_published_libraries_are_what_the_program_counts() {
    if real().is_none() {
        return;
    }
    let path = crate::common::workspace().join("reports/published/2026-11-26-libraries/README.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let command = page.lines().find_map(|line| line.strip_prefix("cargo xtask ")).expect("its command");
    let run = program().args(command.split(' ')).current_dir(crate::common::workspace()).output().expect("it starts");
    let mut lines: Vec<([String; 2], Line)> = Vec::new();
    for row in csv::Reader::from_reader(&run.stdout[..]).into_deserialize() {
        let row: BTreeMap<String, String> = row.expect("a row");
        let key = [row["right"].clone(), row["op"].clone()];
        let at = lines.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            lines.push((key, Line::default()));
            lines.len() - 1
        });
        lines[at].1.add(&row);
    }
    assert_eq!(lines.len(), 44, "four operators in eleven runtimes");
    let mut table =
        "| Library | Version | Operator | Channels | Accumulators | Wrong | Largest error | Worst channel |\n"
            .to_owned();
    table += "| --- | --- | --- | --: | --: | --: | --: | --- |\n";
    for ([library, op], line) in &lines {
        let version = RUNTIMES.iter().find(|runtime| runtime.name == library).expect("a runtime").version;
        let Line { channels, inputs, differ, largest, worst } = line;
        let worst = worst.as_ref().map_or("-", |(_, worst)| worst);
        let [inputs, differ] = [*inputs, *differ].map(tiebreak_reports::text::count);
        writeln!(
            table,
            "| `{library}` | {version} | `{op}` | {channels} | {inputs} | {differ} | {largest} | {worst} |"
        )
        .expect("a string");
    }
    let (before, rest) = page.split_once("<!-- table -->\n").expect("its beginning");
    let (_, after) = rest.split_once("<!-- end of table -->").expect("its end");
    let expected = format!("{before}<!-- table -->\n{table}<!-- end of table -->{after}");
    expect_test::expect_file![path].assert_eq(&expected);
}

/// The table has all facts for a reader, in 100 columns, with the answer first.
#[test]
fn the_table_answers_first_and_fits() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, bytes) in [("small.tflite", crate::models::small()), ("every.onnx", onnx::every().model())] {
        let run = audit(&file(&dir, name, &bytes), &[]).exits(0);
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert!(lines[0].contains(name) && lines[0].contains("audited"), "{}", run.stdout);
        let every: Vec<&str> = RUNTIMES.iter().map(|runtime| runtime.name).collect();
        let wide = audit(&file(&dir, name, &bytes), &[&format!("--to={}", every.join(","))]).exits(0);
        for line in lines.iter().copied().chain(wide.stdout.lines()).filter(|line| !line.contains(name)) {
            assert!(line.chars().count() <= 100, "{line}");
        }
        for part in ["results change", "Totals", "The worst channels", "Layers", "int32:", "Two products in 16 bits"] {
            assert!(run.stdout.contains(part), "no {part} in\n{}", run.stdout);
        }
    }
    let described = audit(&file(&dir, "e.onnx", &onnx::every().model()), &[]).exits(0).stdout;
    assert!(described.contains("Not audited") && described.contains("Softmax"), "{described}");
}

/// The commands under the table run, and give the counts of the table.
#[test]
fn the_commands_that_look_closer_say_the_same() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let small = file(&dir, "small.tflite", &crate::models::small());
    // The channels of this layer have two schemes; a command named both.
    let nine = file(&dir, "nine.tflite", &crate::models::build::model(&[crate::models::nine_channels()]));
    for (path, sides, count) in [
        (&small, ["--left=ties-up", "--right=gemmlowp-double"], 2),
        (&small, ["--from=tflite-reference", "--to=xnnpack"], 1),
        (&nine, ["--from=tflite-reference", "--to=tflite-optimized"], 2),
    ] {
        let run = audit(path, &sides).exits(0);
        let worst = json(&audit(path, &[&sides[..], &["--format=json"]].concat()).exits(0));
        let worst = &worst["comparisons"][0]["worst"][0];
        let commands = commands(&run.stdout);
        assert!(commands[0].starts_with("cargo xtask census "), "{}", run.stdout);
        let census = json(&again(&format!("{} --format=json", commands[0])).exits(0));
        assert_eq!(census["differ"], worst["differ"], "{}", commands[0]);
        // A census takes every integer between both ends. Near the ends, some integers are not sums of these weights.
        assert!(census["inputs"].as_u64() >= worst["inputs"].as_u64(), "{census}");
        assert_eq!(census["nearest_zero"]["x"], worst["witness"]["x"]);
        assert_eq!(commands.len(), count);
        commands.iter().for_each(|command| {
            again(command).exits(0);
        });
    }
}

#[test]
fn csv_and_html_hold_every_channel() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = file(&dir, "<every>.onnx", &onnx::every().model());
    let all = json(&audit(&path, &["--format=json"]).exits(0));
    let layers: Vec<&Value> = items(&all["comparisons"]).iter().flat_map(|c| items(&c["layers"])).collect();
    let channels: usize = layers.iter().map(|layer| items(&layer["channels"]).len()).sum();
    let csv = audit(&path, &["--format=csv"]).exits(0).stdout;
    let lines: Vec<_> = csv::Reader::from_reader(csv.as_bytes()).records().map(|line| line.expect("a line")).collect();
    assert_eq!(lines.len(), channels);
    let html = audit(&path, &["--format=html"]).exits(0).stdout;
    // A name is text, whatever it contains, and no file comes from elsewhere.
    assert!(html.contains("every") && !html.contains("<every>") && !html.contains("http"), "{html}");
    assert_eq!(html.matches("<tr>").count() - html.matches("<thead>").count() - channels, {
        let worst = items(&all["comparisons"]).iter().flat_map(|c| items(&c["worst"]));
        let worst: BTreeSet<_> = worst.map(|w| (w["index"].to_string(), w["channel"].to_string())).collect();
        let lists = [items(&all["not_audited"]).len() + not_compared(&all), layers.len(), 3, worst.len().min(10)];
        lists.iter().sum::<usize>()
    });
}

/// Counts pairs of operator and reason without a defined comparison.
fn not_compared(audit: &Value) -> usize {
    let all = items(&audit["comparisons"]).iter().flat_map(|c| {
        items(&c["not_compared"]).iter().map(|n| (c["right"].to_string(), n["op"].to_string(), n["reason"].to_string()))
    });
    all.collect::<BTreeSet<_>>().len()
}

/// Scales are float32 numbers, written exactly.
#[test]
fn scales_are_exact() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let audit = json(&audit(&file(&dir, "m.onnx", &onnx::every().model()), &["--format=json"]).exits(0));
    let scale = audit["layers"][0]["inputs"][0]["scale"].as_f64().expect("a number");
    assert_eq!(Rational::from_f64(scale), Rational::from_f32(0.1019));
}

#[test]
fn what_is_wrong_is_refused_with_what_and_where() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let small = crate::models::small();
    refused(&tiebreak(&["audit", "/nowhere/a.tflite"]), &["/nowhere/a.tflite", "cannot read"]);
    refused(&audit(&file(&dir, "a.tflite", b"no model at all"), &[]), &["a.tflite", "ModelProto", "at byte"]);
    refused(&audit(&file(&dir, "e.onnx", b""), &[]), &["e.onnx", "is no model", "TFL3", "ONNX"]);
    refused(
        &audit(&file(&dir, "b.tflite", &small[..small.len() - 40]), &[]),
        &["b.tflite", "Model.", "at byte", "damaged or cut off"],
    );
    let onnx = onnx::every().model();
    refused(
        &audit(&file(&dir, "c.onnx", &onnx[..onnx.len() - 3]), &[]),
        &["c.onnx", "ModelProto", "damaged or cut off"],
    );
    let path = file(&dir, "small.tflite", &small);
    refused(&audit(&path, &["--left=ties-up"]), &["--right"]);
    refused(&audit(&path, &["--left=ties-up", "--right=ties-awya"]), &["`ties-away`"]);
    refused(&audit(&path, &["--to=xnpack"]), &["unknown runtime `xnpack`", "`xnnpack`"]);
    refused(&audit(&path, &["--from=tvm", "--left=ties-up", "--right=ties-up"]), &["cannot be used with"]);
    refused(&audit(&path, &["--derivation=f64"]), &["--left"]);
}

/// Readers can choose only a runtime that is in the table of the book.
#[test]
fn every_runtime_is_in_the_book() {
    let page = std::fs::read_to_string(crate::common::workspace().join("docs/src/audit.md")).expect("the page");
    for runtime in RUNTIMES {
        let row = format!("\n| `{}` | {} |", runtime.name, runtime.version);
        assert!(page.contains(&row), "no {row}");
    }
}

/// A multiplier of 2^29: the left shift wraps every few accumulators, and so many wraps cannot be visited.
#[test]
fn a_layer_that_cannot_be_counted_says_so() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut b = onnx::Builder::default();
    b.floats("s", &[], &[16384.0]).floats("ys", &[], &[0.5]).int8("z", &[], &[0]).int8("w", &[1, 90, 1, 1], &[127; 90]);
    b.node("QLinearConv", &["x", "s", "z", "w", "s", "z", "ys", "z"], "y", &[]);
    let path = file(&dir, "steep.onnx", &b.model());
    refused(
        &audit(&path, &["--left=gemmlowp-double:wrap", "--right=cmsis-nn-double:wrap"]),
        &[
            "steep.onnx: gemmlowp-double:wrap to cmsis-nn-double:wrap: no layer",
            "QLinearConv: channel 0",
            "wraps so often",
        ],
    );
}
