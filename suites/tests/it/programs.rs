//! Programs of the caller that read one case from each line and write one result for each: an installed program, and kernels in Python and C.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Instant;
use tempfile::TempDir;
use tiebreak_impls::Form;
use tiebreak_suites::presented::fitting::Fitting;
use tiebreak_suites::presented::{sample, shown};
use tiebreak_suites::program::{OPS, lines};
use tiebreak_worker::execute::execute;

/// Returns a file of `docs/examples`, with changes.
fn example(name: &str, changes: &[(&str, &str)]) -> String {
    crate::libraries::example(name, changes)
}

/// Compiles a C program to `k`.
#[track_caller]
fn compiled(work: &Path, source: &str) {
    fs::write(work.join("k.c"), source).expect("written");
    let line = "gcc -std=c11 -Wall -Wextra -Werror -pedantic -O2 -ffp-contract=off -o k k.c -lm";
    let run = shell(Path::new("/usr/bin"), work, line);
    assert!(run.status.success(), "{}", text(&run.stderr));
}

/// Runs the program, checks the exit code, and returns the ledger and the output.
#[track_caller]
fn verified(bin: &Path, work: &Path, options: &str, code: i32) -> (Value, String) {
    let _ = fs::remove_dir_all(work.join("tiebreak-out"));
    let run = shell(bin, work, &format!("tiebreak verify {options} --effort quick --jobs 2"));
    let printed = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(code), "{options}\n{printed}");
    let ledger =
        fs::read(work.join("tiebreak-out/ledger.json")).map(|bytes| serde_json::from_slice(&bytes).expect("JSON"));
    (ledger.unwrap_or_default(), printed)
}

/// Returns a Python kernel, whose `body` computes `result` from the words of a line in `case`.
fn python(body: &str) -> String {
    format!(
        "import json, struct, sys\n\
         def words(line):\n    return dict(word.split('=', 1) for word in line.split())\n\
         for line in sys.stdin:\n    case = words(line)\n    i = lambda name: json.loads(case[name])\n{}\n    print(result, flush=True)\n",
        body.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
    )
}

/// Matrix product in Python.
const MATMUL: &str = "m, n, k, lhs, rhs = i('m'), i('n'), i('k'), i('lhs'), i('rhs')
a, b = i('lhs_offset'), i('rhs_offset')
out = [sum((lhs[r*k+l] + a) * (rhs[l*n+c] + b) for l in range(k)) for r in range(m) for c in range(n)]
result = ' '.join(str((x + 2**31) % 2**32 - 2**31) for x in out)";

/// Dequantization to f32 in Python: a double, which the run rounds to f32.
const DEQUANTIZE: &str = "scale, = struct.unpack('<f', struct.pack('<f', float(case['scale'])))
result = scale * (i('x') - i('zero_point')) if case['expressed'] == 'f32' else 'outside-domain'";

/// Quantization as in TFLite, in C.
const QUANTIZE: &str = r#"#include <math.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    char line[256], expressed[8], storage[8], real[64];
    double scale;
    int zero_point, min, max;
    setvbuf(stdout, NULL, _IOLBF, 1 << 12);
    while (fgets(line, sizeof line, stdin)) {
        float x;
        if (sscanf(line, "expressed=%7s storage=%7s scale=%lf zero_point=%d min=%d max=%d x=%63s", expressed, storage, &scale, &zero_point, &min, &max,
                   real) != 7 || strcmp(expressed, "f32") != 0 || sscanf(real, "%f", &x) != 1) {
            puts("outside-domain");
            continue;
        }
        double all = round((double)(x / (float)scale)) + zero_point;
        printf("%d\n", (int)(all < min ? min : all > max ? max : all));
    }
    return 0;
}
"#;

#[test]
fn right_kernels_hold_and_wrong_ones_are_named() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    // fpm, in C.
    let fpm = "--program ./k --op fpm --scheme ties-up:wrap --like tvm-relay";
    for (change, code, said) in [
        (None, 0, "holds: every contract held"),
        (Some(("+ half)", "+ half - (half && (int64_t)x * m < 0))")), 1, "class tie-direction"),
    ] {
        compiled(work, &example("fpm-lines.c", change.as_slice()));
        let (ledger, printed) = verified(bin, work, fpm, code);
        let row = &items(&ledger, "rows")[0];
        assert!(row["kernel"] == "k-fpm" && row["lane"] == "program", "{row}");
        assert!(row["inputs"].as_u64() > Some(100_000) && printed.contains(said), "{row}\n{printed}");
    }
    // requantize, in Python.
    let requantize = "--program 'python3 k.py' --op requantize --scheme gemmlowp-double";
    for (change, code, said) in [
        (None, 0, "holds: every contract held"),
        (Some((" + (x < 0))", ")")), 1, "class tie-direction"),
        (Some(("+ case[\"zero_point\"]", "- case[\"zero_point\"]")), 1, "class offset-sign"),
    ] {
        fs::write(work.join("k.py"), example("requantize-lines.py", change.as_slice())).expect("written");
        let (_, printed) = verified(bin, work, requantize, code);
        assert!(printed.contains(said) && printed.contains("k-requantize"), "{change:?}\n{printed}");
    }
    // matmul, in Python.
    let matmul = "--program 'python3 k.py' --op matmul --scheme exact:wrap --name mine --domain lhs=i8 --domain rhs=i8 --domain 'depth=[1,64]'";
    for (body, code, said) in [
        (MATMUL.to_owned(), 0, "holds: every contract held"),
        (MATMUL.replace("for l in range(k)", "for l in range(k // 4 * 4)"), 1, "class "),
        (MATMUL.replace("lhs[r*k+l] + a", "lhs[r*k+l] - a"), 1, "class "),
    ] {
        fs::write(work.join("k.py"), python(&body)).expect("written");
        let (ledger, printed) = verified(bin, work, matmul, code);
        assert!(printed.contains(said) && !finding_classes(&ledger).contains(&"unexplained"), "{body}\n{printed}");
    }
    // dequantize, in Python.
    let dequantize = "--program 'python3 k.py' --op dequantize --scheme ideal --domain expressed=f32";
    for (body, code, said) in [
        (DEQUANTIZE.to_owned(), 0, "holds: every contract held"),
        (DEQUANTIZE.replace(" - i('zero_point')", " + i('zero_point')"), 1, "class "),
    ] {
        fs::write(work.join("k.py"), python(&body)).expect("written");
        let (_, printed) = verified(bin, work, dequantize, code);
        assert!(printed.contains(said), "{body}\n{printed}");
    }
    // quantize, in C.
    let quantize = "--program ./k --op quantize --scheme tflite";
    for (source, code, said) in [
        (QUANTIZE.to_owned(), 0, "holds: every contract held"),
        (QUANTIZE.replace("round((", "rint(("), 1, "class tie-direction"),
    ] {
        compiled(work, &source);
        let (_, printed) = verified(bin, work, quantize, code);
        assert!(printed.contains(said), "{printed}");
    }
}

/// The command of a finding runs the case again in the same program.
#[test]
fn a_printed_command_runs_the_program_again() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    let wrong = example("requantize-lines.py", &[(" + (x < 0))", ")")]);
    fs::write(work.join("k.py"), wrong).expect("written");
    let (ledger, printed) =
        verified(bin, work, "--program 'python3 k.py' --op requantize --scheme gemmlowp-double --name mine", 1);
    let command = items(&ledger, "findings")[0]["witness"]["command"].as_str().expect("a command").to_owned();
    assert!(command.contains("--program 'python3 k.py'") && command.contains("--name mine"), "{printed}");
    let again = shell(bin, work, &command);
    assert_eq!(again.status.code(), Some(1), "{command}\n{}", text(&again.stderr));
    // The script is identified by content.
    assert!(ledger.to_string().contains("\"k.py\""), "{ledger}");
}

/// `identify` works for a program as for a library.
#[test]
fn the_scheme_of_a_program_is_identified() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    fs::write(work.join("k.py"), example("requantize-lines.py", &[])).expect("written");
    let run = shell(bin, work, "tiebreak identify --program 'python3 k.py' --op requantize");
    let printed = text(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{printed}{}", text(&run.stderr));
    assert!(printed.contains("k-requantize in lane program") && printed.contains("gemmlowp-double"), "{printed}");
    let command = printed.lines().find_map(|line| line.trim().strip_prefix("verify ")).expect("a command").trim();
    assert!(command.starts_with("tiebreak verify --program 'python3 k.py'"), "{command}");
    assert_eq!(shell(bin, work, &format!("{command} --effort quick")).status.code(), Some(0), "{command}");
}

/// Misbehaviour of a program apart from its arithmetic is a finding, or an error that quotes the line.
#[test]
fn a_program_that_misbehaves_is_a_finding_or_an_error() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    let fpm = "x, m, s = i('x'), i('m'), i('s')\nresult = (x * m + (1 << (30 - s))) >> (31 - s)\n";
    let right = fpm.to_owned() + "result = (result + 2**31) % 2**32 - 2**31";
    let options = "--program 'python3 k.py' --op fpm --like tvm-relay --domain 'shifts=[-4,0]' --domain q=31";
    for (name, script, said) in [
        ("right", python(&right), &["holds: every contract held"][..]),
        (
            "crash",
            python(&format!("{right}\nif x == -7: sys.exit('no sevens')")),
            &["class crash", "no sevens", "x=-7"],
        ),
        ("hang", python(&format!("{right}\nimport time\nwhile x == -7: time.sleep(60)")), &["class hang", "x=-7"]),
        (
            "two results",
            python(&format!("{right}\nif x == -7: result = '1 2'")),
            &["`1 2`", "2 results where the case has 1", "x=-7"],
        ),
        (
            "no result",
            python(&format!("{right}\nif x == -7: result = ''")),
            &["0 results where the case has 1", "x=-7"],
        ),
        ("no number", python(&format!("{right}\nif x == -7: result = '-1.0'")), &["`-1.0` is no int32", "x=-7"]),
        ("debug", python(&format!("{right}\nif x == -7: print('debug: 7')")), &["`debug: 7`"]),
        (
            "debug first",
            python(&right).replace("for line", "print('ready', flush=True)\nfor line"),
            &["`ready`", "standard error"],
        ),
        (
            "two lines",
            python(&right).replace("print(result", "print(result); print(result"),
            &["write one line for each line"],
        ),
        (
            "no flush",
            python(&right).replace(", flush=True", ""),
            &["did not answer its first line", "flush standard output"],
        ),
        ("ends at once", "import sys\nsys.exit('no licence')\n".to_owned(), &["no licence"]),
    ] {
        fs::write(work.join("k.py"), script).expect("written");
        let begun = Instant::now();
        let (_, printed) = verified(bin, work, options, i32::from(name != "right"));
        println!("{name}: {:?}\n{printed}", begun.elapsed());
        for words in said {
            assert!(printed.contains(words), "{name}: no `{words}` in\n{printed}");
        }
    }
}

/// Cases outside a program's domain are counted, and neither fail nor pass.
#[test]
fn a_case_outside_the_domain_is_left_out() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    fs::write(
        work.join("k.py"),
        example("requantize-lines.py", &[("    left, right", "    if case[\"s\"] > 0:\n        print(\"outside-domain\", flush=True)\n        continue\n    left, right")]),
    )
    .expect("written");
    let (ledger, _) = verified(bin, work, "--program 'python3 k.py' --op requantize --scheme gemmlowp-double", 0);
    let planned = items(&ledger, "planned").iter().find(|one| one["kernel"] == "k-requantize").expect("a plan");
    let says = planned.to_string();
    assert!(
        says.contains("the worker says: ") && says.contains("lines of a batch are outside its domain, such as `m="),
        "{says}"
    );
    assert!(planned["run"].as_u64() > Some(100), "{says}");
}

/// A sweep of stored values that LiteRT's adapter rejects was once a finding `outside-domain`. The sweep is now counted as omitted, like its cases.
#[test]
fn a_sweep_outside_the_domain_is_left_out() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    let bytes = DEQUANTIZE.replace("case['expressed'] == 'f32'", "case['storage'] != 'i16'");
    fs::write(work.join("k.py"), python(&bytes)).expect("written");
    let (ledger, _) = verified(bin, work, "--program 'python3 k.py' --op dequantize --like tflite-dequantize", 0);
    let planned =
        items(&ledger, "planned").iter().find(|one| one["unit"] == "input").expect("a sweep that is left out");
    assert_eq!((&planned["planned"], &planned["run"]), (&Value::from(1 << 16), &Value::from(0)), "{planned}");
    assert!(planned.to_string().contains("the worker says: "), "{planned}");
}

/// An impossible lane is an error with advice.
#[test]
fn a_program_that_cannot_run_is_refused() {
    let (bin, work): (TempDir, TempDir) = installed();
    fs::write(work.path().join("k.py"), example("requantize-lines.py", &[])).expect("written");
    for (options, said) in [
        ("--program 'python3 k.py' --op fpm", "which scheme does it promise?"),
        (
            "--program 'python3 k.py' --scheme ties-up",
            "which operation does it have? Name one by --op, of fpm, requantize",
        ),
        ("--program 'python3 k.py' --op fpm --op add --scheme ties-up", "Name one by --op"),
        ("--program 'python3 k.py' --op dot --scheme exact", "a program has no lines for dot"),
        ("--program ./none --op fpm --scheme ties-up", "there is no program `./none`"),
        ("--program '\"' --op fpm --scheme ties-up", "as a shell takes them"),
        ("--program '' --op fpm --scheme ties-up", "as a shell takes them"),
        ("--program a --library b --op fpm --scheme ties-up", "cannot be used with"),
        (
            "--program 'python3 k.py' --op requantize --scheme gemmlowp-double --domain shift=0",
            "did you mean `shifts`?",
        ),
    ] {
        let run = shell(bin.path(), work.path(), &format!("tiebreak verify {options} --effort quick"));
        let printed = format!("{}{}", text(&run.stdout), text(&run.stderr));
        assert!(matches!(run.status.code(), Some(1 | 2)) && printed.contains(said), "{options}: {printed}");
    }
}

/// The lines in the book for each operation are those that a program reads, and the answers are those of a kernel of the operation.
#[test]
fn the_lines_of_the_book_are_those_of_a_program() {
    let page = fs::read_to_string(workspace().join("docs/src/lanes.md")).expect("a page");
    for op in OPS {
        let kernel = shown(op).expect("a kernel");
        let sample = sample(op, kernel, Fitting::SHOWN).expect("a sample");
        let mut text = Vec::new();
        let form = lines(&sample.job, &sample.input, &mut text).expect("lines");
        let text = String::from_utf8(text).expect("text");
        let line = text.lines().next_back().expect("a line");
        let mut results = vec![0; sample.len];
        execute(&sample.job, Form::Portable, &sample.input, &mut results, 0).expect("results");
        let last = results[results.len() - form.results..].iter();
        let answer: Vec<String> = match form.real {
            Some(_) => last.map(|word| f32::from_bits(word.cast_unsigned()).to_string()).collect(),
            None => last.map(i32::to_string).collect(),
        };
        let shown = format!("\n> {line}\n< {}\n", answer.join(" "));
        assert!(page.contains(&shown), "docs/src/lanes.md does not show{shown}");
    }
}
