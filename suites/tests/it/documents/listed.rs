//! Printed commands that tests do not run as printed, each with the reason. The tests fail for an entry that no document prints.

/// Replacement for running a command.
pub(super) enum Instead {
    /// The command belongs to `cargo xtask` itself, and does not run.
    Xtask,
    /// The command is only parsed.
    Parsed,
    /// The command runs with these additional arguments.
    With(&'static str),
    /// Another command runs.
    As(&'static str),
}

use Instead::{As, Parsed, With, Xtask};

/// Reason why a document's audit of a real model does not run.
const FETCHED: &str = "needs fetched models; `the_published_audit_is_what_the_program_prints` runs it where they are";

/// Reason why a document's identification of a library's lane does not run.
const IDENTIFIED: &str =
    "needs installed libraries; `the_claims_of_adapters_are_what_identify_finds` runs it where they are";

/// Command, replacement, and reason.
pub(super) const LISTED: &[(&str, Instead, &str)] = &[
    ("cargo xtask test", Xtask, "runs these tests"),
    ("cargo xtask test --only unit --new-seed", Xtask, "runs these tests"),
    ("cargo xtask test --only lanes", Xtask, "a step of the command that runs these tests"),
    (
        "cargo xtask prove --c docs/examples/prove.c --function once --contract ties-up:wrap --shift=-31..0",
        Parsed,
        "needs clang and two solvers; `a_right_function_is_proved` runs it where they are",
    ),
    (
        "cargo xtask prove --c docs/examples/prove.c --function wrong_once --contract ties-up:wrap --shift=-8..-8",
        Parsed,
        "needs clang and two solvers; `one_wrong_input_is_refuted` runs it where they are",
    ),
    (
        "cargo xtask prove --c docs/examples/prove.c --function requantize --contract gemmlowp-double:wrap --zero-point=-3 --clamp=-128..127 --shift=-8..-8",
        Parsed,
        "needs clang and two solvers; `rare_mistakes_of_requantization_are_refuted` runs it where they are",
    ),
    (
        "cargo xtask prove --c docs/examples/prove.c --function twice --contract tosa-apply-scale-32-double --multipliers 0..2147483647 --shift=-31..0",
        Parsed,
        "needs clang and two solvers; `a_right_function_is_proved` runs it where they are",
    ),
    (
        "cargo xtask prove --kernels",
        Parsed,
        "compiles `impls` twice and takes minutes; `kernels_are_proved_and_mutants_refuted` proves some kernels",
    ),
    (
        "cargo xtask prove --kernels --record suites/analysis/src/proofs/recorded.json",
        Parsed,
        "writes a file of the project; `every_kernel_is_a_theorem_and_every_mutant_is_refuted` holds what it has",
    ),
    ("cargo xtask doctor", Xtask, "looks for tools and runs nothing else"),
    ("cargo xtask setup --with mlir", Xtask, "installs packages"),
    ("cargo xtask setup --with shipped", Xtask, "installs packages"),
    ("cargo xtask setup --with shipped-aarch64", Xtask, "installs packages"),
    (
        "cargo xtask verify --lane gemmlowp-aarch64 --lane xnnpack-aarch64 --lane onnxruntime-aarch64 --lane onnxruntime-cortex-a72 --lane litert-aarch64 --lane tract-aarch64 --lane rten-aarch64 --effort quick",
        Parsed,
        "needs installed libraries; the tests of `shipped` run it where they are",
    ),
    ("cargo xtask setup --with hhb-tvm", Xtask, "installs packages"),
    ("cargo xtask setup --with tvm --with hhb-tvm", Xtask, "installs packages"),
    ("cargo xtask verify --lane tvm --effort quick", Parsed, "needs TVM; `findings` runs an input of it"),
    ("cargo xtask setup --with pytorch", Xtask, "installs packages"),
    (
        "cargo xtask verify --lane pytorch --effort quick",
        Parsed,
        "needs PyTorch; `pytorch_gives_what_the_findings_say` runs it if PyTorch is there",
    ),
    (
        "cargo xtask verify --lane hhb-tvm --effort quick",
        Parsed,
        "needs TVM; `tvm_gives_what_the_findings_say` runs it if TVM is there",
    ),
    (
        "cargo xtask identify --lane hhb-tvm",
        Parsed,
        "needs TVM; the tests of `shipped` judge the same claims if TVM is there",
    ),
    ("cargo xtask setup --with litert", Xtask, "installs packages"),
    ("cargo xtask setup --with litert --with models", Xtask, "installs packages"),
    ("cargo xtask trace", Xtask, "needs LiteRT and a model"),
    ("cargo xtask lanes", Xtask, "lists what is installed, and runs nothing else"),
    (
        "cargo xtask trace target/tiebreak/models/hey_jarvis.tflite --samples 300",
        Xtask,
        "needs LiteRT and a model; `differences_of_a_real_model_are_those_that_the_audit_predicts` runs the same script",
    ),
    (
        "cargo xtask verify --mlir-opt build/bin/mlir-opt",
        Parsed,
        "needs a compiler of the reader's; `a_compiler_of_the_command_line_is_called_with_a_warm_cache` runs one",
    ),
    (
        "tiebreak verify --mlir-opt build/bin/mlir-opt",
        Parsed,
        "needs a compiler of the reader's; `an_installed_program_judges_a_compiler_of_the_command_line` runs one",
    ),
    ("cargo xtask findings", Xtask, "needs installed libraries; each case is a run that the tests of `shipped` have"),
    (
        "cargo xtask verify --lane gemmlowp --lane gemmlowp-scalar --lane xnnpack --lane onednn --lane onednn-avx2 --lane onnxruntime --lane onnxruntime-avx2 --lane litert --lane tflite-micro --lane tosa-reference --lane tract --lane rten --lane rten-avx2 --effort quick",
        Parsed,
        "needs installed libraries; the tests of `shipped` run it where they are",
    ),
    ("cargo xtask setup --with tosa-mlir", Xtask, "installs packages"),
    (
        "cargo xtask verify --lane tosa-mlir --lane tosa-mlir-o0 --lane tosa-mlir-aarch64 --lane tosa-mlir-aarch64-o0 --effort quick",
        Parsed,
        "needs the compiler, which compiles for minutes; tests named `compiled_tosa` run parts of it where it is",
    ),
    (
        "cargo xtask verify --lane tosa-mlir --op requantize --kernel shipped-tosa-rescale-double-u8 --case 'm=1 s=0 zero_point=170 min=0 max=255 x=0'",
        Parsed,
        "needs the compiler; `cargo xtask findings` runs it where it is",
    ),
    ("tiebreak header > tiebreak.h", As("tiebreak header"), "writes a file"),
    ("cargo xtask identify --lane gemmlowp", Parsed, IDENTIFIED),
    ("cargo xtask identify --lane xnnpack", Parsed, IDENTIFIED),
    ("cargo xtask identify --lane onnxruntime", Parsed, IDENTIFIED),
    (
        "cargo xtask identify --lane litert-aarch64 --op requantize",
        Parsed,
        "needs an installed library; `libraries_for_aarch64_give_what_the_findings_say` judges its results where it is",
    ),
    ("cargo xtask setup --with models", Xtask, "fetches files from PyPI"),
    ("cargo xtask audit target/tiebreak/models/alexa.tflite", Parsed, FETCHED),
    ("cargo xtask audit target/tiebreak/models/alexa.tflite --format html", Parsed, FETCHED),
    ("cargo xtask audit target/tiebreak/models/alexa.tflite --format csv", Parsed, FETCHED),
    ("cargo xtask audit target/tiebreak/models/hey_jarvis.tflite", Parsed, FETCHED),
    ("cargo xtask audit target/tiebreak/models/hey_jarvis.tflite --format html", Parsed, FETCHED),
    ("cargo xtask audit target/tiebreak/models/hey_jarvis.tflite --format csv", Parsed, FETCHED),
    (
        "cargo xtask audit target/tiebreak/models/alexa.tflite target/tiebreak/models/hey_jarvis.tflite --from real --to tflite-reference,tflite-optimized,tflite-optimized-aarch64,tflite-micro,xnnpack,onnxruntime,cmsis-nn,cmsis-nn-single,tflite-single-rounding,tvm,tvm-arm --format csv",
        Parsed,
        FETCHED,
    ),
    ("cargo xtask setup --with browser", Xtask, "installs packages"),
    ("cargo xtask setup --with slurm", Xtask, "installs packages"),
    (
        "cargo xtask merge --out merged shards/verify-1-of-4.jsonl shards/verify-2-of-4.jsonl shards/verify-3-of-4.jsonl shards/verify-4-of-4.jsonl",
        Parsed,
        "needs four shards; those of `shards` are merged",
    ),
    ("cargo xtask setup --with solvers", Xtask, "installs packages"),
    ("cargo xtask browser", Xtask, "opens a browser; `cargo xtask test` runs it beside these tests"),
    ("cargo xtask bench", Xtask, "measures for minutes"),
    ("cargo xtask bench tables", Xtask, "measures for minutes"),
    ("cargo xtask bench libraries", Xtask, "measures for minutes, and needs installed libraries"),
    (
        "cargo xtask book",
        Xtask,
        "compiles mdBook for minutes; the tests of `links` check the pages and their links without it",
    ),
    ("cargo xtask show tiebreak-out", Parsed, "needs a run; those of `ledgers` are printed again"),
    (
        "cargo xtask verify --op fpm --base before/ledger.json",
        Parsed,
        "needs two runs; `a_run_states_what_changed_since_its_base` compares them",
    ),
    ("cargo xtask report tiebreak-out", Parsed, "needs a run; those of `pages` are drawn"),
    (
        "cargo xtask diff before/ledger.json after/ledger.json --format markdown",
        Parsed,
        "needs two runs; those of `ledgers` are compared",
    ),
    (
        "cargo xtask mutants",
        As("cargo xtask mutants --op add"),
        "takes five seconds; the tests of `bite` run it as JSON",
    ),
    ("cargo xtask mutants --format csv", As("cargo xtask mutants --op add --format csv"), "the same, in five seconds"),
    (
        "cargo xtask corrupt",
        As("cargo xtask corrupt --op add"),
        "takes ten seconds; the tests of `bite` run it as JSON",
    ),
    ("cargo xtask corrupt --format csv", Parsed, "takes ten seconds; the tests of `bite` run it as JSON"),
    ("cargo xtask corrupt --effort standard --format csv", Parsed, "takes a quarter of a minute"),
    (
        "cargo xtask corrupt --op requantize --effort standard --verbose",
        As("cargo xtask corrupt --op requantize"),
        "takes longer than the quick plan",
    ),
    ("cargo xtask bite", Xtask, "compiles cargo-mutants, and a worker for each change"),
    ("cargo xtask bite --shard 1/16 --out shards", Xtask, "compiles cargo-mutants, and a worker for each change"),
    ("cargo xtask bite --oracle", Xtask, "compiles cargo-mutants, and the oracle for each change"),
    ("cargo xtask bite --oracle --sample 300", Xtask, "compiles cargo-mutants, and the oracle for each change"),
    (
        "cargo xtask bite --oracle --sample 300 --seed 1",
        Xtask,
        "compiles cargo-mutants, and the oracle for each change",
    ),
    ("cargo xtask bite --format csv", Xtask, "compiles cargo-mutants, and a worker for each change"),
    (
        "cargo xtask bite --oracle --sample 300 --seed 1 --format csv",
        Xtask,
        "compiles cargo-mutants, and the oracle for each change",
    ),
    ("cargo xtask bite --op add --sample 5", Xtask, "compiles cargo-mutants, and a worker for each change"),
    ("cargo xtask fuzz fpm", Xtask, "builds with another compiler's flags, and runs for half a minute"),
    ("cargo xtask fuzz fpm --seconds 60", Xtask, "builds with another compiler's flags, and runs for a minute"),
    (
        "cargo xtask fuzz fpm --kernel mutant-double-rounding",
        Xtask,
        "builds with another compiler's flags; `a_multiplication_is_reported_with_its_own_command` holds what it prints",
    ),
    (
        "cargo xtask fuzz fpm --runs 1000000 --seeds 1000 --shard 1/20 --out shards",
        Xtask,
        "builds with another compiler's flags, and runs for minutes; `.ci/run` runs and merges shards of another target",
    ),
    (
        "cargo xtask plan --for parallel --shards 4 fuzz fpm --seconds 60 --seeds 8",
        Parsed,
        "asks `cargo xtask fuzz` for its units, which there is in a clone alone",
    ),
    ("cargo xtask fuzz TARGET --input FILE", Xtask, "judges a file that a find leaves"),
    ("cargo xtask fuzz --runs 2000 --planted", Xtask, "builds with another compiler's flags; `.ci/run` runs it"),
    (
        "cargo xtask help explain fpm",
        As("cargo xtask explain fpm --help"),
        "is a command of xtask itself; `the_help_that_needs_no_build_is_that_of_the_program` holds its text",
    ),
    ("cargo xtask verify", Parsed, "takes minutes; it is run beside the tests"),
    (
        "cargo xtask verify --op fpm --kernel tvm-neon-rfc --multiplier 1395864371 --shift=-8 --effort exhaustive",
        Parsed,
        "takes a minute; `a_worker_killed_during_a_sweep_costs_no_coverage` runs a lane of it",
    ),
    (
        "cargo xtask verify --op fpm --multiplier 1395864371 --shift=-8 --effort exhaustive",
        Parsed,
        "takes half a minute for each kernel and lane",
    ),
    (
        "cargo xtask verify --op requantize --kernel tflite-requantize-i8 --multiplier 1395864371 --shift=-8 --effort exhaustive",
        Parsed,
        "2^32 accumulators in each lane",
    ),
    ("cargo xtask verify --op exp --kernel gemmlowp-exp --lane host --effort exhaustive", Parsed, "2^31 inputs"),
    ("cargo xtask verify --op dot --effort exhaustive", Parsed, "2^32 quadruples for each kernel and lane"),
    (
        "cargo xtask verify --op matmul",
        With("--kernel arm-uadalp --lane host --effort quick"),
        "takes a minute for all kernels",
    ),
    ("cargo xtask verify --model model.tflite", With("--lane host --effort quick"), "qemu is slow on convolutions"),
    (
        "cargo xtask verify --op fpm --reference gemmlowp-double",
        With("--kernel tvm-relay --lane host --effort quick"),
        "takes a minute for all kernels",
    ),
    (
        "cargo xtask verify --op quantize --type '!quant.uniform<i8<-8:7>:f32, 0.3:1>'",
        With("--lane host"),
        "compiles modules in the other lanes",
    ),
    (
        "cargo xtask verify --op quantize --type '!quant.uniform<i8:f32:{0:2, 1:3}, {{0.5, 2.0:1}, {0.25, 1.0}}>'",
        With("--lane host"),
        "compiles modules in the other lanes",
    ),
    (
        "cargo xtask verify --op quantize --op dequantize --lane mlir-x86 --lane mlir-aarch64 --lane mlir-aarch64-bf16",
        Parsed,
        "takes minutes; the tests of `mlir` run parts of it",
    ),
    (
        "cargo xtask verify --op quantize --kernel mlir-opt-qcast-o2 --lane mlir-aarch64 --type '!quant.uniform<i16:bf16, 0.3:1>' --effort exhaustive",
        Parsed,
        "compiles modules; the tests of `mlir_faults` count its extent",
    ),
    (
        "cargo xtask verify --op quantize --kernel mlir-opt-qcast-o0 --lane mlir-x86 --case 'type=!quant.uniform<i8:f32,0.3> x=-4.5'",
        Parsed,
        "compiles the modules of a short plan, by which the difference is explained",
    ),
    (
        "cargo xtask verify --op quantize --kernel mlir-opt-qcast-o0 --lane mlir-x86 --case 'type=!quant.uniform<i4<-8:2>:f32,0.3:1> container=scalar x=-3'",
        Parsed,
        "compiles the modules of a short plan, by which a difference would be explained",
    ),
    (
        "cargo xtask rewrites --type '!quant.uniform<i8:f32, 0.3>'",
        Parsed,
        "takes a quarter of a minute; the tests of `rewrites` run it on smaller types",
    ),
    ("cargo xtask census --space q31 --left ties-up --right sqrdmulh-srshl", Parsed, "takes days: 2^67 cases"),
    (
        "cargo xtask census --space q31 --left ties-up --right sqrdmulh-srshl --shift=-8 --out ties-up-sqrdmulh-srshl-shift-8.jsonl",
        Parsed,
        "takes hours; the command after it, which counts one chunk, is run",
    ),
    (
        "cargo xtask merge --verify-all --out again.jsonl shift-9.jsonl",
        Parsed,
        "takes minutes; the tests of `spaces_closed` count a chunk of each ledger again",
    ),
    (
        "cargo xtask census --space q31 --left ties-up --right sqrdmulh-srshl --shift=-12 --out shift-12.jsonl",
        Parsed,
        "takes minutes; the command with one chunk is run",
    ),
    (
        "cargo xtask merge",
        As("cargo xtask merge reports/published/2026-11-21-space-q31/ties-up-sqrdmulh-srshl-shift-8.jsonl"),
        "is named without its files",
    ),
    (
        "cargo xtask report --index reports/published",
        Parsed,
        "writes into the repository; `what_is_published_is_drawn_from_its_ledgers` draws them elsewhere",
    ),
    (
        "cargo xtask verify --op fpm --kernel mylib-requantize --lane host --effort quick",
        As("cargo xtask verify --op fpm --kernel tvm-relay --lane host --effort quick"),
        "the kernel of the guide is the reader's",
    ),
    ("cargo xtask bounds --kernel NAME", As("cargo xtask bounds --kernel arm-umlal-fast"), "NAME is the reader's"),
    (
        "cargo xtask case --x X --multiplier M --shift S",
        As("cargo xtask case --x 1 --multiplier 1073741824 --shift -1"),
        "the numbers are the reader's",
    ),
    (
        "cargo xtask explain fpm",
        As(
            "cargo xtask explain fpm --scheme ties-up --scheme gemmlowp-double --x 1 --multiplier 1073741824 --shift=-1",
        ),
        "is named without its input",
    ),
];

/// Commands that end with another code than 0, because they show a failure.
pub(super) const EXIT: &[(&str, i32)] = &[
    ("tiebreak verify --library ./libwrong.so --op requantize --scheme gemmlowp-double --effort quick", 1),
    (
        "tiebreak verify --library ./libwrong.so --scheme gemmlowp-double --op requantize --kernel wrong-requantize-i8 --lane library --case 'm=2069440233 s=-8 zero_point=10 min=-128 max=127 x=-35730'",
        1,
    ),
    ("cargo xtask audit model.tflite --to xnnpack --fail-if-changed", 1),
    ("cargo xtask verify --op fpm --kernel mutant-dead-fixup --lane host --effort quick", 1),
    ("cargo xtask verify --op quantize --kernel mutant-reciprocal --lane host --effort quick", 1),
    ("cargo xtask verify --op quantize --kernel mutant-convert-before-clamp --lane host --effort quick", 1),
    ("cargo xtask verify --op matmul --kernel mutant-core-as-printed --lane host --effort quick", 1),
    ("cargo xtask verify --op qconv2d --kernel mutant-qconv-odd-pixel-in-32-bits --lane host --effort quick", 1),
    ("cargo xtask verify --op qmatmul --kernel mutant-qmatmul-512-products --lane host --effort quick", 1),
    ("cargo xtask verify --op matmul --kernel mutant-no-rhs-sums --lane host --effort quick", 1),
    ("cargo xtask verify --op matmul --kernel mutant-no-lhs-sums --lane host --effort quick", 1),
    ("cargo xtask verify --op matmul --kernel mutant-no-depth-term --lane host --effort quick", 1),
    ("cargo xtask verify --op dot --kernel x86-vnni --lane host --case 'len=8 a[0]=-1 b[0]=1'", 2),
    ("cargo xtask check-type '%r = quant.qcast %i : f32 to !quant.uniform<i8:f32:0, {1.0, 2.0}>'", 2),
    ("cargo xtask check-type 'tensor<1x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>'", 2),
    ("cargo xtask check-type 'tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0, 4.0}>>'", 2),
    ("cargo xtask check-type 'quant.dcast %input : !quant.uniform<i8:f32, 2.0> to f16'", 2),
    ("cargo xtask check-type 'quant.scast %input : !quant.uniform<i8:f32, 2.0> to i16'", 2),
    ("cargo xtask verify --op fpm --kernel mutant-stale-shift --lane host --effort quick", 1),
    (
        "cargo xtask verify --op fpm --kernel mutant-stale-shift --lane host --case 'm=1395864371 s=-8 x=1000' --case 'm=1395864371 s=-3 x=1000'",
        1,
    ),
    ("cargo xtask verify --op fpm --kernel mutant-dead-fixup --lane host --multiplier=1073741825 --shift=-1 --x=-1", 1),
];
