//! One sum of products in three C sources, compiled by clang and by gcc. Every library must give the same results, whatever instructions the compiler
//! selects. Origin: TVM discussion, INT8 Quantization - Code generation for backends: the IR of clang and that of TVM are "semantically same", and
//! LLVM matches the pattern of `vpmaddwd` in one of them only.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use crate::libraries::verified;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Forms of the source: the loop, elements loaded one by one into vectors, whole vectors and shuffles.
const FORMS: [(u8, &str); 3] = [(1, "the loop"), (2, "elements one by one"), (3, "shuffles")];
/// Version of clang with known instructions.
const KNOWN: &str = "clang-22";
const OPTIONS: [&str; 4] = ["--scheme=exact:wrap", "--domain=lhs_offsets=0", "--domain=rhs_offsets=0", "--op=matmul"];

/// Compiles the source to an object with `compiler`, and links `libmine.so` with `linker`.
#[track_caller]
fn compiled(bin: &Path, work: &Path, compiler: &str, linker: &str, form: u8, level: &str) {
    fs::copy(workspace().join("suites/tests/data/pair-products.c"), work.join("products.c")).expect("copied");
    let flags = format!("-std=gnu11 -Wall -Wextra -Werror -DFORM={form} {level} -fPIC");
    let line = format!(
        "tiebreak header > tiebreak.h && {compiler} {flags} -c -o products.o products.c && {linker} -shared -o libmine.so products.o"
    );
    let run = shell(bin, work, &line);
    assert!(run.status.success(), "{line}: {}", text(&run.stderr));
}

/// Counts an instruction in the function of the object.
fn instructions(objdump: &str, work: &Path, mnemonic: &str) -> usize {
    let output = Command::new(objdump).args(["-d", "--no-show-raw-insn", "products.o"]).current_dir(work).output();
    let listing = String::from_utf8(output.expect("binutils").stdout).expect("text");
    let body = listing.lines().skip_while(|line| !line.ends_with("<products>:")).skip(1);
    let body: Vec<&str> = body.take_while(|line| !line.trim().is_empty()).collect();
    assert!(!body.is_empty(), "{listing}");
    body.iter().filter(|line| line.split_whitespace().any(|word| word == mnemonic)).count()
}

/// On x86-64, the loop and the shuffles become `vpmaddwd`, but elements loaded one by one do not. The results are equal.
#[test]
#[cfg(target_arch = "x86_64")]
fn sources_of_one_sum_mean_the_same() {
    let (bin, work) = installed();
    let (bin, work) = (bin.path(), work.path());
    let mut seen = Vec::new();
    for compiler in [KNOWN, "gcc"].into_iter().filter(|compiler| starts(compiler)) {
        for (form, name) in FORMS {
            for level in ["-O0", "-O2", "-O3"] {
                compiled(bin, work, &format!("{compiler} -mavx2"), "gcc", form, level);
                let (ledger, printed) = verified(bin, work, &OPTIONS.join(" "), 0);
                let row = &items(&ledger, "rows")[0];
                assert!(row["inputs"].as_u64() > Some(10_000) && row["differ"] == 0, "{row}\n{printed}");
                let count = instructions("objdump", work, "vpmaddwd");
                if compiler == KNOWN {
                    assert_eq!(count, usize::from(level != "-O0" && form != 2), "{compiler} {level} {name}");
                }
                seen.push(format!("{compiler} {level} {name}: {count} vpmaddwd"));
            }
        }
    }
    assert!(!seen.is_empty(), "no compiler was there");
    if !starts(KNOWN) {
        not_run("clang-22 is not there: its instructions are not looked at");
    }
    println!("{}", seen.join("\n"));
}

/// The same sources for aarch64, where `smlal` adds the products.
#[test]
fn sources_of_one_sum_mean_the_same_on_aarch64() {
    if aarch64() != "aarch64-qemu" {
        return not_run("the host is aarch64");
    }
    let (bin, work) = installed();
    let linker = "aarch64-linux-gnu-gcc";
    let clang = format!("{KNOWN} --target=aarch64-linux-gnu -I/usr/aarch64-linux-gnu/include");
    for (compiler, known) in [(clang.as_str(), true), (linker, false)] {
        if known && !starts(KNOWN) {
            not_run("clang-22 is not there");
            continue;
        }
        for (form, name) in FORMS {
            compiled(bin.path(), work.path(), compiler, linker, form, "-O2");
            let library = work.path().join("libmine.so");
            let library = library.to_str().expect("UTF-8");
            let run = verify(&[&OPTIONS[..], &["--library", library, "--effort=quick"]].concat()).exits(0);
            let ledger = run.ledger();
            assert_eq!(items(&ledger, "lanes")[0]["arch"], "aarch64", "{}", run.printed());
            let count = instructions("aarch64-linux-gnu-objdump", work.path(), "smlal");
            if known {
                assert_eq!(count, usize::from(form != 2), "{name}");
            }
            println!("{compiler} {name}: {count} smlal");
        }
    }
}
