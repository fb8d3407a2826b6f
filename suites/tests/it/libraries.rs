//! Shared libraries of the caller, with tiebreak.h: an installed program, a C file and a compiler, without this repository.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Examples of the book: file, operation and scheme.
const EXAMPLES: [(&str, &str, &str); 16] = [
    ("requantize.c", "requantize", "gemmlowp-double"),
    ("matmul.cpp", "matmul", "exact:wrap"),
    ("depthwise.c", "conv2d", "exact:wrap"),
    ("depthwise-relu6.c", "qconv2d", "gemmlowp-double"),
    ("casts.c", "quantize", "tflite"),
    ("casts.c", "dequantize", "ideal"),
    ("casts.c", "add", "pytorch"),
    ("pool.c", "pool", "tflite"),
    ("casts.c", "sub", "onnx"),
    ("fully-connected.c", "qmatmul", "gemmlowp-double:wrap"),
    ("fully-connected-i4.c", "qmatmul", "gemmlowp-double:wrap"),
    ("transposed.c", "conv2d", "exact:wrap"),
    ("transposed.c", "qconv2d", "ties-up:wrap"),
    ("concat.c", "concat", "tflite"),
    ("softmax.c", "softmax", "tflite"),
    ("casts.c", "mul", "pytorch"),
];

/// Returns an example of the book, with changes.
pub(crate) fn example(name: &str, changes: &[(&str, &str)]) -> String {
    let mut source = fs::read_to_string(workspace().join("docs/examples").join(name)).expect("an example");
    for (old, new) in changes {
        assert!(source.contains(old), "{name}: {old}");
        source = source.replace(old, new);
    }
    source
}

/// Compiles `source` to `libmine.so`, with the header that the program prints.
pub(crate) fn compiled(bin: &Path, work: &Path, name: &str, source: &str) {
    compiled_by("", bin, work, name, source);
}

/// Compiles `source` with the compiler for another machine.
fn compiled_by(prefix: &str, bin: &Path, work: &Path, name: &str, source: &str) {
    fs::write(work.join(name), source).expect("written");
    let compiler = if name.ends_with("cpp") { "g++ -std=c++11" } else { "gcc -std=c11" };
    let warnings = "-Wall -Wextra -Werror -pedantic -Wno-misleading-indentation";
    let line = format!(
        "tiebreak header > tiebreak.h && {prefix}{compiler} {warnings} -ffp-contract=off -O2 -shared -fPIC -o libmine.so {name} -lm"
    );
    let run = shell(bin, work, &line);
    assert!(run.status.success(), "{}", text(&run.stderr));
}

/// Runs the library, checks the exit code, and returns the ledger and the output.
#[track_caller]
pub(crate) fn verified(bin: &Path, work: &Path, options: &str, code: i32) -> (Value, String) {
    let run = shell(bin, work, &format!("tiebreak verify --library ./libmine.so {options} --effort quick"));
    let printed = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(code), "{options}\n{printed}");
    let ledger =
        fs::read(work.join("tiebreak-out/ledger.json")).map(|bytes| serde_json::from_slice(&bytes).expect("JSON"));
    (ledger.unwrap_or_default(), printed)
}

#[test]
fn the_examples_of_the_book_hold() {
    let (bin, work) = installed();
    for (file, op, scheme) in EXAMPLES {
        compiled(bin.path(), work.path(), file, &example(file, &[]));
        let (ledger, printed) = verified(bin.path(), work.path(), &format!("--op {op} --scheme {scheme}"), 0);
        let row = &items(&ledger, "rows")[0];
        let kernel = row["kernel"].as_str().expect("a kernel");
        assert!(kernel.starts_with(&format!("mine-{op}")) && row["lane"] == "library", "{row}");
        assert!(row["inputs"].as_u64() > Some(40_000), "{row}");
        assert!(printed.contains(kernel) && printed.contains("holds"), "{printed}");
    }
    let junit = fs::read_to_string(work.path().join("tiebreak-out/junit.xml")).expect("a file");
    assert!(junit.contains("mine-mul-i8"), "{junit}");
}

/// The book's path from an empty directory to a verdict needs a C file of at most forty lines.
#[test]
fn an_example_is_short() {
    let lines = example("requantize.c", &[]).lines().count();
    println!("requantize.c has {lines} lines");
    assert!(lines <= 40, "{lines} lines");
}

/// A library promised `gemmlowp-double` was judged with one channel only, because no kernel of the project promises this scheme per channel. Six of six
/// wrong indices of channels passed.
#[test]
fn a_library_is_judged_in_every_channel() {
    let (bin, work) = installed();
    let body = r#"#include "tiebreak.h"
TIEBREAK_LIBRARY
int tiebreak_fpm(const tiebreak_fpm_params *p, const int32_t *x, int32_t *out) {
    for (size_t i = 0; i < p->len; i++) {
        size_t c = CHANNEL;
        int32_t m = p->multiplier[c], right = -p->shift[c];
        int64_t product = (int64_t)x[i] * m, nudge = product < 0 ? 1 - (1 << 30) : 1 << 30;
        int32_t high = x[i] == INT32_MIN && m == INT32_MIN ? INT32_MAX : (int32_t)((product + nudge) / ((int64_t)1 << 31));
        int32_t mask = (int32_t)(((int64_t)1 << right) - 1);
        out[i] = (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
    }
    return TIEBREAK_OK;
}
"#;
    for (channel, code) in [
        ("i % p->channels", 0),
        ("p->channels > 256 ? i % p->channels & 255 : i % p->channels", 1),
        ("(uint16_t)i % p->channels", 1),
        ("(i & ~(size_t)3) % p->channels", 1),
    ] {
        compiled(bin.path(), work.path(), "channels.c", &body.replace("CHANNEL", channel));
        let options = "--op fpm --scheme gemmlowp-double --domain shifts=[-31,0]";
        verified(bin.path(), work.path(), options, code);
        verified(bin.path(), work.path(), &format!("{options} --domain per_channel=false"), 0);
    }
}

/// A library that harms its process, or writes outside its results, is a finding, and the run still ends.
#[test]
fn hostile_libraries_are_findings() {
    let (bin, work) = installed();
    let body = |statements: &str| {
        format!(
            "#include \"tiebreak.h\"\n#include <stdlib.h>\nTIEBREAK_LIBRARY\n\
             int tiebreak_fpm(const tiebreak_fpm_params *p, const int32_t *x, int32_t *out) {{\n\
             for (size_t i = 0; i < p->len; i++) out[i] = x[i];\n{statements}\nreturn TIEBREAK_OK; }}\n"
        )
    };
    for (statements, classes) in [
        ("volatile size_t at = 8; *(volatile int *)at = 1;", &["crash"][..]),
        ("abort();", &["crash"]),
        ("for (volatile int on = 1; on;) {}", &["hang"]),
        ("((volatile int32_t *)out)[p->len] = 1;", &["crash", "stray-write"]),
        ("((volatile int32_t *)out)[-1] = 1;", &["crash", "stray-write"]),
        ("if (p->len) out[0] = ((const volatile int32_t *)x)[p->len + 16000];", &["crash"]),
        ("((int32_t *)x)[0] = 7;", &["changed-operand"]),
        (
            "static int32_t calls; if (p->len) out[0] += calls++;",
            &["depends-on-history", "nondeterministic", "unexplained"],
        ),
        ("return 77;", &["refused"]),
    ] {
        compiled(bin.path(), work.path(), "hostile.c", &body(statements));
        let only = "--op fpm --like tvm-relay --domain shifts=0 --jobs 1";
        let (ledger, printed) = verified(bin.path(), work.path(), only, 1);
        let found = finding_classes(&ledger);
        println!("{statements} {found:?}");
        assert!(found.iter().any(|class| classes.contains(class)), "{statements} {found:?}\n{printed}");
    }
}

/// An impossible lane is an error with advice.
#[test]
fn a_library_that_cannot_run_is_refused() {
    let (bin, work) = installed();
    let refused = |options: &str, said: &str| {
        let run = shell(bin.path(), work.path(), &format!("tiebreak verify {options} --effort quick"));
        let printed = format!("{}{}", text(&run.stdout), text(&run.stderr));
        // A different header version is a finding; all other errors are mistakes of the call.
        let code = if said.contains("version 99") { 1 } else { 2 };
        assert!(run.status.code() == Some(code) && printed.contains(said), "{options}: {printed}");
    };
    compiled(bin.path(), work.path(), "requantize.c", &example("requantize.c", &[]));
    refused("--library ./libmine.so --op requantize", "which scheme do its functions promise?");
    refused("--library ./libmine.so --op requantize --scheme gemmlowp-doubel", "did you mean `gemmlowp-double`?");
    refused(
        "--library ./libmine.so --op requantize --scheme gemmlowp-double --domain shift=0",
        "did you mean `shifts`?",
    );
    refused("--library ./libmine.so --op matmul --scheme exact", "it exports no function of tiebreak.h for matmul");
    refused("--library ./libyours.so --op matmul --scheme exact", "./libyours.so: No such file");
    refused("--scheme exact", "--library <FILE>");
    fs::write(work.path().join("text.so"), "no library").expect("written");
    refused("--library ./text.so --op fpm --scheme ties-up", "text.so: it is no shared library");
    let casts = example("casts.c", &[]);
    compiled(
        bin.path(),
        work.path(),
        "casts.c",
        &casts.replace("TIEBREAK_LIBRARY\n", "int32_t tiebreak_abi(void) { return 99; }\n"),
    );
    refused("--library ./libmine.so --op quantize --scheme tflite", "compiled with version 99 of tiebreak.h");
    compiled(bin.path(), work.path(), "casts.c", &casts.replace("TIEBREAK_LIBRARY\n", ""));
    refused("--library ./libmine.so --op quantize --scheme tflite", "it does not export tiebreak_abi");
    compiled(bin.path(), work.path(), "casts.c", &casts);
    refused("--library ./libmine.so --scheme pytorch --name mine", "say which operation is meant");
}

/// A library for aarch64 runs in the emulator of the lane aarch64-qemu.
#[test]
fn a_library_for_aarch64_runs_in_the_emulator() {
    if aarch64() != "aarch64-qemu" {
        return not_run("the host is aarch64");
    }
    let (bin, work) = installed();
    for (change, code) in [(None, 0), (Some(("(mask >> 1) + (x < 0)", "mask >> 1")), 1)] {
        let source = example("requantize.c", change.as_slice());
        compiled_by("aarch64-linux-gnu-", bin.path(), work.path(), "requantize.c", &source);
        let library = work.path().join("libmine.so");
        let library = library.to_str().expect("UTF-8");
        let run = verify(&["--op=requantize", "--library", library, "--scheme=gemmlowp-double", "--effort=quick"])
            .exits(code);
        let ledger = run.ledger();
        assert_eq!(items(&ledger, "lanes")[0]["arch"], "aarch64", "{}", run.printed());
    }
    // Without the lanes of the project there is no emulator, as the error states.
    let run = shell(
        bin.path(),
        work.path(),
        "tiebreak verify --library ./libmine.so --op requantize --scheme gemmlowp-double",
    );
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("is for aarch64, and this machine is"), "{}", text(&run.stderr));
}

/// The header compiles on its own, as C and as C++.
#[test]
fn the_header_is_c_and_cpp() {
    let (bin, work): (TempDir, TempDir) = installed();
    let line = "tiebreak header > tiebreak.h && echo '#include \"tiebreak.h\"' > a.c && cp a.c a.cpp";
    assert!(shell(bin.path(), work.path(), line).status.success());
    for compiler in ["gcc -std=c11 -x c", "g++ -std=c++11 -x c++", "g++ -std=c++20 -x c++"] {
        let words = format!("{compiler} -Wall -Wextra -Werror -pedantic -c -o a.o a.c");
        let run = Command::new("sh").args(["-c", &words]).current_dir(work.path()).output().expect("sh starts");
        assert!(run.status.success(), "{compiler}: {}", text(&run.stderr));
    }
}
