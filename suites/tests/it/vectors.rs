//! `vectors`: few cases that detect every known bug of a scheme, in formats for other test suites.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use crate::libraries::example;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

fn vectors(arguments: &[&str]) -> Value {
    let run = tiebreak(&[&["vectors", "--format=json"], arguments].concat()).exits(0);
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// Known bugs with wrong results are detected, with at most 100 vectors and 6.25 KiB (12 for four operations) in an operation. Process bugs remain.
#[test]
fn few_vectors_detect_every_known_bug() {
    let listed: Vec<Value> = serde_json::from_str(&tiebreak(&["kernels", "--format", "json"]).stdout).expect("JSON");
    let mutants = listed.iter().filter(|kernel| kernel["kind"] == "mutant");
    let mut of_schemes: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for mutant in mutants {
        let named = |key: &str| mutant[key].as_str().expect("a name");
        let scheme = format!("{}:{}", named("scheme"), named("overflow"));
        *of_schemes.entry((named("op"), scheme)).or_default() += 1;
    }
    // Without a policy, a scheme has the known bugs of all policies.
    let of_every_policy = |op: &str, scheme: &str| -> Option<usize> {
        let name = scheme.strip_suffix(":out-of-domain")?;
        let is_of = |known: &(&str, String)| known.0 == op && known.1.split(':').next() == Some(name);
        Some(of_schemes.iter().filter(|(known, _)| is_of(known)).map(|(_, mutants)| mutants).sum())
    };
    let of_schemes: BTreeMap<_, _> = of_schemes
        .iter()
        .map(|((op, scheme), mutants)| ((*op, scheme), of_every_policy(op, scheme).unwrap_or(*mutants)))
        .collect();
    let mut of_ops: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for ((op, scheme), mutants) in of_schemes {
        // A sum of 512 products, which a known bug of `qmatmul` needs, has 1,536 bytes. A transposed convolution beyond int32 has 1,580. A sum of int8
        // beyond 2^24, which a known bug of `conv2d` needs, has 1,058.
        let is_long = scheme.starts_with("cmsis-nn-int16") || matches!(op, "conv2d" | "qconv2d");
        let bytes = if is_long { "--bytes=2200" } else { "--bytes=1100" };
        let found = vectors(&["--op", op, "--scheme", scheme, "--count=25", bytes]);
        assert_eq!(found["mutants"]["of"], mutants, "{op} {scheme}");
        for left in found["not_detected"].as_array().expect("a list") {
            let why = left["why"].as_str().expect("a reason");
            // Vectors belong to a scheme, which has no deviation, but this bug occurs only in a declared deviation.
            let of_deviation = ["mutant-requantize-tail-by-rule", "mutant-tflite-neon-padded"]
                .iter()
                .any(|mutant| left["mutant"] == *mutant);
            let no_case = of_deviation && why == "no small case of the short plan shows it";
            let of_overflow = scheme.ends_with(":out-of-domain") && why.ends_with("also has results that do not fit");
            assert!(no_case || of_overflow || why.starts_with("it is right on a case alone"), "{op} {left}");
        }
        let (count, bytes) = of_ops.entry(op).or_default();
        *count += found["vectors"].as_array().map_or(0, Vec::len) as u64;
        *bytes += found["bytes"].as_u64().expect("a count");
    }
    // A tile of the spatial pack has 16 elements of each of two sizes, transform has twenty-one kinds, and bugs of quantize follow eight schemes.
    let most = |op: &str| if matches!(op, "transform" | "qmatmul" | "qconv2d" | "quantize") { 12_288 } else { 6_400 };
    println!("{of_ops:?}");
    assert!(
        of_ops.len() == 18 && of_ops.iter().all(|(op, (count, bytes))| *count <= 100 && *bytes <= most(op)),
        "{of_ops:?}"
    );
}

/// `judge` reads the JSON and CSV output, and the results are the oracle's.
#[test]
fn vectors_are_lines_that_judge_finds_equal() {
    let dir = tempfile::tempdir().expect("a directory");
    for (op, scheme) in
        [("matmul", "exact"), ("conv2d", "exact"), ("quantize", "onnx"), ("add", "tflite"), ("requantize", "ties-up")]
    {
        let found = vectors(&["--op", op, "--scheme", scheme]);
        let mut lines: Vec<Value> = found["vectors"].as_array().expect("a list").clone();
        for line in &mut lines {
            line["id"] = line["detects"].clone();
            let line = line.as_object_mut().expect("an object");
            for key in ["detects", "excludes", "causes", "bytes"] {
                line.remove(key).expect("a key");
            }
        }
        let written = |name: &str, text: String| {
            let path = dir.path().join(name);
            fs::write(&path, text).expect("it can be written");
            path.to_str().expect("UTF-8").to_owned()
        };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let run = tiebreak(&["judge", "--cases", &written("v.jsonl", text)]).exits(0);
        assert!(run.stdout.contains(&format!("{} lines equal, 0 differ", lines.len())), "{}", run.printed());
        let csv = tiebreak(&["vectors", "--op", op, "--scheme", scheme, "--format=csv"]).exits(0);
        assert!(csv.stderr.contains("they detect"), "{}", csv.printed());
        let run = tiebreak(&["judge", "--cases", &written("v.csv", csv.stdout)]).exits(0);
        assert!(run.stdout.contains(&format!("{} lines equal, 0 differ", lines.len())), "{}", run.printed());
    }
}

/// Arrays of numpy and node tests of ONNX have the same content: `judge` reads them, finds them equal, and finds a changed result.
#[test]
fn vectors_in_files_are_read_again() {
    let dir = tempfile::tempdir().expect("a directory");
    for (op, scheme, form) in [
        ("requantize", "gemmlowp-double", "npy"),
        ("conv2d", "exact", "npy"),
        ("dequantize", "ideal", "npy"),
        ("quantize", "onnx", "npy"),
        ("qmatmul", "gemmlowp-double", "npy"),
        ("qconv2d", "gemmlowp-double", "npy"),
        ("concat", "onnx", "npy"),
        ("softmax", "tflite", "npy"),
        ("matmul", "exact", "onnx"),
        ("conv2d", "exact", "onnx"),
        ("quantize", "onnx", "onnx"),
        ("dequantize", "integer-difference", "onnx"),
    ] {
        let out = dir.path().join(format!("{op}-{form}")).display().to_string();
        let run = tiebreak(&["vectors", "--op", op, "--scheme", scheme, "--format", form, "--out", &out]).exits(0);
        let command = run.stdout.split_once("read by: ").expect("a command").1.trim();
        let cases = command.split_once("--cases ").expect("a file").1;
        let judged = tiebreak(&["judge", "--cases", cases]).exits(0);
        assert!(judged.stdout.contains(" lines equal, 0 differ, 0 without"), "{op} {form}: {}", judged.printed());
        let vectors: usize =
            run.stdout.split_once(": ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()).expect("a count");
        assert!(vectors > 3 && judged.stdout.starts_with(&format!("{vectors} lines, ")), "{}", run.printed());
        // The last byte of these results belongs to the last result.
        let mut results: Vec<_> = files(Path::new(&out))
            .into_iter()
            .filter(|path| path.ends_with("output_0.pb") || path.to_string_lossy().ends_with("-out.npy"))
            .collect();
        results.sort();
        let mut bytes = fs::read(&results[0]).expect("results");
        *bytes.last_mut().expect("a byte") ^= 1;
        fs::write(&results[0], bytes).expect("written");
        let judged = tiebreak(&["judge", "--cases", cases]).exits(1);
        assert!(
            judged.stdout.contains(&format!("{} lines equal, 1 differ", vectors - 1)),
            "{op} {form}: {}",
            judged.printed()
        );
        let again = tiebreak(&["vectors", "--op", op, "--scheme", scheme, "--format", form, "--out", &out]).exits(2);
        assert!(again.stderr.contains("not empty"), "{}", again.printed());
    }
}

/// Returns every file below a directory.
fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A vector detects the bugs that it names: on this vector, each bug has another result.
#[test]
fn a_vector_shows_the_bugs_that_it_names() {
    let found = vectors(&["--op=fpm", "--scheme=gemmlowp-double"]);
    let first = &found["vectors"][0];
    let (case, bug) = (first["case"].as_str().expect("a case"), first["detects"][0].as_str().expect("a name"));
    let run = verify(&["--op=fpm", "--lane=host", "--kernel", bug, "--case", case]).exits(1);
    assert!(run.stdout.contains(bug), "{}", run.printed());
}

/// Compiles a program that tests the kernel of `source` with the vectors of a header, and runs it. Returns its exit code and its output.
fn driven(bin: &Path, work: &Path, source: (&str, String), of: &str, calls: &[(&str, &str)]) -> (Option<i32>, String) {
    let (name, source) = source;
    fs::write(work.join(name), source).expect("written");
    let tests: String =
        calls.iter().map(|(test, kernel)| format!("    wrong += {test}({kernel}, stdout);\n")).collect();
    let main = format!(
        "#include \"vectors.h\"\n\nint main(void)\n{{\n    size_t wrong = 0;\n{tests}    return wrong != 0;\n}}\n"
    );
    let (compiler, file) =
        if name.ends_with("cpp") { ("g++ -std=c++11", "main.cpp") } else { ("cc -std=c11", "main.c") };
    fs::write(work.join(file), main).expect("written");
    let line = format!(
        "tiebreak header > tiebreak.h && tiebreak vectors {of} --format c-header > vectors.h && \
         {compiler} -Wall -Wextra -Werror -ffp-contract=off -O1 -o driven {file} {name} -lm"
    );
    let run = shell(bin, work, &line);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let run = shell(bin, work, "./driven");
    (run.status.code(), text(&run.stdout))
}

/// The examples of the book are right. With one change each is wrong, and the header names the vector.
#[test]
fn a_header_tests_a_kernel_in_c() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)], (&'static str, &'static str));
    let rows: [Row; 11] = [
        (
            "--op requantize --scheme gemmlowp-double --like tflite-requantize-i8",
            "requantize.c",
            &[("tiebreak_vectors_gemmlowp_double_requantize_i8", "tiebreak_requantize_i8")],
            ("+ p->zero_point", "- p->zero_point"),
        ),
        (
            "--op conv2d --scheme exact --like tflite-reference",
            "depthwise.c",
            &[("tiebreak_vectors_exact_conv2d_i8_i8", "tiebreak_conv2d_i8_i8")],
            ("- p->input_zero_point", "+ p->input_zero_point"),
        ),
        (
            "--op quantize --scheme tflite --like tflite-quantize",
            "casts.c",
            &[("tiebreak_vectors_tflite_quantize_f32_i8", "tiebreak_quantize_f32_i8")],
            ("roundf(", "floorf(0.5f + "),
        ),
        (
            "--op mul --scheme pytorch --like pytorch-qmul-i8",
            "casts.c",
            &[("tiebreak_vectors_pytorch_mul_i8", "tiebreak_mul_i8")],
            ("nearbyintf(product * multiplier)", "roundf(product * multiplier)"),
        ),
        (
            "--op matmul --scheme exact --like arm-sadalp",
            "matmul.cpp",
            &[("tiebreak_vectors_exact_matmul_i8_i8", "tiebreak_matmul_i8_i8")],
            ("for (; l < p->k; l++)", "for (; l + 1 < p->k; l++)"),
        ),
        (
            "--op sub --scheme onnx --like onnx-dequantize-sub-i8",
            "casts.c",
            &[("tiebreak_vectors_onnx_sub_i8", "tiebreak_sub_i8")],
            ("left - right", "right - left"),
        ),
        (
            "--op qmatmul --scheme gemmlowp-double --like tflite-fully-connected-i8",
            "fully-connected.c",
            &[("tiebreak_vectors_gemmlowp_double_qmatmul_i8_i8_i8", "tiebreak_qmatmul_i8_i8_i8")],
            ("(uint32_t)p->bias[j]", "(uint32_t)(int16_t)p->bias[j]"),
        ),
        (
            "--op qmatmul --scheme gemmlowp-double --like tflite-fully-connected-i4",
            "fully-connected-i4.c",
            &[("tiebreak_vectors_gemmlowp_double_qmatmul_i8_i4_i8", "tiebreak_qmatmul_i8_i4_i8")],
            ("at % 2 ?", "at % 2 == 0 ?"),
        ),
        (
            "--op conv2d --scheme exact --like tflite-transpose-conv",
            "transposed.c",
            &[("tiebreak_vectors_exact_conv2d_transposed_i8_i8", "tiebreak_conv2d_transposed_i8_i8")],
            ("size_t row = y + p->top", "size_t row = y + p->bottom"),
        ),
        (
            "--op concat --scheme tflite --like tflite-concat-u8",
            "concat.c",
            &[("tiebreak_vectors_tflite_concat_u8", "tiebreak_concat_u8")],
            ("p->scale[t]", "p->scale[0]"),
        ),
        (
            "--op softmax --scheme tflite --like tflite-softmax-i8",
            "softmax.c",
            &[("tiebreak_vectors_tflite_softmax_i8_i8", "tiebreak_softmax_i8_i8")],
            ("largest = -128, sum", "largest = 0, sum"),
        ),
    ];
    // Vectors of a scheme without a policy have no sums beyond int32, which the examples leave undefined.
    for (of, file, calls, change) in rows {
        let (code, printed) = driven(bin, work, (file, example(file, &[])), of, calls);
        assert_eq!(code, Some(0), "{of}\n{printed}");
        assert!(printed.is_empty() || printed.starts_with("outside the kernel's domain: "), "{of}\n{printed}");
        let (code, printed) = driven(bin, work, (file, example(file, &[change])), of, calls);
        assert_eq!(code, Some(1), "{of}\n{printed}");
        assert!(printed.contains("vector ") && printed.contains(": detects "), "{printed}");
        assert!(printed.contains(": got ") && printed.contains(", expected "), "{printed}");
    }
    // A kernel that accepts none of the vectors has not passed.
    let refuses = "#include \"tiebreak.h\"\nint tiebreak_fpm(const tiebreak_fpm_params *p, const int32_t *x, int32_t *out)\n{\n    \
                   (void)p, (void)x, (void)out;\n    return TIEBREAK_OUTSIDE_DOMAIN;\n}\n";
    let calls = [("tiebreak_vectors_ties_up_fpm", "tiebreak_fpm")];
    let (code, printed) = driven(bin, work, ("fpm.c", refuses.to_owned()), "--op fpm --scheme ties-up", &calls);
    assert!(code == Some(1) && printed.contains("outside the kernel's domain: "), "{printed}");
}

/// `judge` reads the types of a vector, including weights of 4 bits.
#[test]
fn a_vector_of_int4_has_its_types() {
    let found = vectors(&["--op=qmatmul", "--scheme=gemmlowp-double", "--like=tflite-fully-connected-i4"]);
    let all = found["vectors"].as_array().expect("a list");
    assert!(!all.is_empty() && all.iter().all(|one| one["type"] == "i8,i4,i8"), "{found}");
}

/// Rust constants compile, and have the same results.
#[test]
fn constants_of_rust_compile() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = tiebreak(&["vectors", "--op=dequantize", "--scheme=ideal", "--format=rust"]).exits(0).stdout;
    let body = "\nfn main() {\n    for vector in VECTORS {\n        assert!(!vector.expected.is_empty() && !vector.operands.is_empty());\n        \
                println!(\"{} {} {} {:?} {:?}\", vector.case, vector.types, vector.parameters.len(), vector.operands, vector.detects);\n    }\n}\n";
    fs::write(dir.path().join("main.rs"), source + body).expect("written");
    let mut rustc = Command::new("rustc");
    let made = rustc.args(["-D", "warnings", "-o", "main", "main.rs"]).current_dir(dir.path()).output().expect("rustc");
    assert!(made.status.success(), "{}", text(&made.stderr));
    let run = Command::new(dir.path().join("main")).output().expect("it starts");
    assert!(run.status.success() && text(&run.stdout).contains("mutant-"), "{}", text(&run.stdout));
}

/// A limited number of vectors detects as much as possible, and the remaining bugs are reported.
#[test]
fn what_does_not_fit_is_said() {
    let found = vectors(&["--op=matmul", "--scheme=exact:wrap", "--count=1"]);
    assert_eq!(found["vectors"].as_array().map(Vec::len), Some(1));
    let left = found["not_detected"].as_array().expect("a list");
    assert!(!left.is_empty() && left.iter().all(|one| one["why"].as_str().is_some_and(|why| why.contains("1 vector"))));
    let reached = &found["mutants"];
    assert_eq!(reached["reached"].as_u64().map(|n| n + left.len() as u64), reached["of"].as_u64());
    let table = tiebreak(&["vectors", "--op=matmul", "--scheme=exact", "--bytes=1"]).exits(0).stdout;
    assert!(table.contains("0 vectors") && table.contains("not detected: mutant-"), "{table}");
}

#[test]
fn what_cannot_be_given_is_an_error_with_a_remedy() {
    let says = |arguments: &[&str], words: &[&str]| {
        let run = tiebreak(&[&["vectors"], arguments].concat()).exits(2);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{}", run.printed());
    };
    says(&["--op=fpmm", "--scheme=ties-up"], &["`fpmm`", "`fpm`"]);
    says(&["--op=fpm", "--scheme=tie-up"], &["`tie-up`", "`ties-up`"]);
    says(&["--op=fpm", "--scheme=ties-up", "--like=tvm-rely"], &["`tvm-rely`", "`tvm-relay`"]);
    says(&["--op=fpm", "--scheme=ties-down"], &["no kernel and no known bug", "--like"]);
    says(&["--op=dot", "--scheme=products-4", "--format=c-header"], &["no function of dot", "--format json"]);
    says(&["--op=fpm", "--scheme=ties-up", "--format=npy"], &["--out"]);
    says(&["--op=fpm", "--scheme=ties-up", "--out=somewhere"], &["--format npy and onnx"]);
    says(
        &["--op=fpm", "--scheme=ties-up", "--format=onnx", "--out=somewhere"],
        &["no operator of ONNX is fpm ties-up", "QuantizeLinear"],
    );
    // In the domain of a named kernel, such a scheme has vectors, too.
    let found = vectors(&["--op=fpm", "--scheme=ties-down", "--like=tvm-relay"]);
    assert_eq!(found["mutants"], json!({"reached": 0, "of": 0}));
    assert_eq!(found["schemes"]["reached"], found["schemes"]["of"]);
}
