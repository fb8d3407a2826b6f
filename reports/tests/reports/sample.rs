//! Two ledgers as a run writes them: one that holds, exhaustive over one parameter pair, and one that is broken in
//! every way at once.

use std::collections::BTreeMap;
use tiebreak_reports::ledger::*;

const QEMU: &str = "qemu-aarch64 -cpu max tiebreak-worker";
const NEON_RFC: &str = "neon: sqrdmulh, and, sshr, srshl";

fn ran(name: &str, arch: &str, via: &str) -> Lane {
    let status = LaneStatus::Ran { arch: arch.into(), via: via.into() };
    let file =
        |role, name: &str, bytes, sha256: &str| Content { role, name: name.into(), bytes, sha256: sha256.repeat(8) };
    let files = vec![
        file(Role::Worker, "tiebreak-worker", 8_894_800, "9f86d081"),
        file(Role::Library, "libc.so.6", 1_926_232, "884c7d65"),
    ];
    Lane { name: name.into(), status, files }
}

fn not_run(name: &str, reason: &str, allowed: bool) -> Lane {
    let status = LaneStatus::NotRun { reason: reason.into(), allowed };
    Lane { name: name.into(), status, files: Vec::new() }
}

fn counts<const N: usize>(items: [(&str, u64); N]) -> BTreeMap<String, u64> {
    items.into_iter().map(|(name, n)| (name.to_owned(), n)).collect()
}

fn row(kernel: &str, lane: &str, isa_path: &str, against: Against, scheme: &str) -> Row {
    Row {
        op: "fpm".into(),
        kernel: kernel.into(),
        lane: lane.into(),
        isa_path: isa_path.into(),
        against,
        scheme: scheme.into(),
        parameters: 1,
        inputs: 1 << 32,
        calls: if against == Against::Contract { 65_600 } else { 0 },
        coverage: Coverage::Exhaustive,
        out_of_domain: 0,
        kinds: BTreeMap::new(),
        sizes: BTreeMap::new(),
        ranges: BTreeMap::new(),
        differ: 0,
        by_delta: BTreeMap::new(),
        classes: BTreeMap::new(),
        deviations: BTreeMap::new(),
        declared: BTreeMap::new(),
        extents: BTreeMap::new(),
        path: Vec::new(),
        witness: None,
        examples: Vec::new(),
        layers: Vec::new(),
        seconds: if lane == "host" { 3.5 } else { 39.25 },
    }
}

fn contract(kernel: &str, lane: &str, isa_path: &str, scheme: &str) -> Row {
    row(kernel, lane, isa_path, Against::Contract, scheme)
}

fn reference(kernel: &str, lane: &str, isa_path: &str) -> Row {
    row(kernel, lane, isa_path, Against::Reference, "ties-up")
}

fn differing<const D: usize>(row: Row, deltas: [(&str, u64); D], witness: Witness) -> Row {
    let by_delta = counts(deltas);
    let differ = by_delta.values().sum();
    let classes = counts([(&witness.class, differ)]);
    Row { differ, by_delta, classes, witness: Some(witness), ..row }
}

fn command(kernel: &str, case: [i64; 3]) -> String {
    let [_, m, s] = case;
    format!("cargo xtask verify --op fpm --kernel {kernel} --multiplier={m} --shift={s}")
}

fn witness(kernel: &str, case: [i64; 3], got: i64, expected: Option<i64>, class: &str) -> Witness {
    let names = ["x", "m", "s"].map(str::to_owned);
    Witness {
        case: names.into_iter().zip(case.map(Value::from)).collect(),
        got: got.into(),
        expected: expected.map(Value::from),
        scheme: "ties-up".into(),
        class: class.into(),
        because: "a second rounding, of a value that is already rounded, reproduces every output".into(),
        command: command(kernel, case),
    }
}

fn checks(lanes: &[&str]) -> Vec<SelfCheck> {
    let mutants = [
        ("srdhm-no-saturation", "missing-saturation", "google/gemmlowp#000"),
        ("ties-other-way", "tie-direction", "apache/tvm#000"),
        ("fixup-dropped", "double-rounding", "apache/tvm#000"),
    ];
    let controls = ["ties-up-twice", "models-of-instructions"];
    let check = |name: &str, kind, class: &str, origin: &str, lane: &str| SelfCheck {
        op: "fpm".into(),
        name: name.into(),
        lane: lane.into(),
        kind,
        passed: true,
        expected_class: class.into(),
        seen: if class.is_empty() { "equal".into() } else { format!("class {class}") },
        origin: origin.into(),
    };
    let of_lane = |lane: &&str| {
        let mutants = mutants.map(|(name, class, from)| check(name, CheckKind::Mutant, class, from, lane));
        let controls = controls.map(|name| check(name, CheckKind::Control, "", "", lane));
        mutants.into_iter().chain(controls).collect::<Vec<_>>()
    };
    lanes.iter().flat_map(of_lane).collect()
}

/// Run with two lanes that ran, a third that was allowed not to run, and no broken contract.
pub(crate) fn holding() -> Ledger {
    let rfc = || witness("tvm-neon-rfc", [-197, 1395864371, -8], 0, Some(-1), "double-rounding");
    let gemmlowp = || witness("gemmlowp-neon", [-984, 1395864371, -8], -3, Some(-2), "double-rounding");
    let mut rows = Vec::new();
    for lane in ["host", "aarch64-qemu"] {
        let neon = |path: &'static str| if lane == "host" { "portable" } else { path };
        rows.extend([contract("tvm-relay", lane, "scalar", "ties-up:wrap"), reference("tvm-relay", lane, "scalar")]);
        let path = neon(NEON_RFC);
        rows.extend([
            contract("tvm-neon-rfc", lane, path, "sqrdmulh-srshl:wrap"),
            differing(reference("tvm-neon-rfc", lane, path), [("1", 8_388_607)], rfc()),
        ]);
        let path = neon("neon: sqrdmulh, and, sshr, sqadd, srshl");
        let deltas = [("-1", 4_194_304), ("1", 4_194_304)];
        rows.extend([
            contract("gemmlowp-neon", lane, path, "gemmlowp-double:wrap"),
            differing(reference("gemmlowp-neon", lane, path), deltas, gemmlowp()),
        ]);
    }
    rows.sort_by_key(|row| ["tvm-relay", "tvm-neon-rfc", "gemmlowp-neon"].iter().position(|k| *k == row.kernel));
    Ledger {
        format: FORMAT,
        version: "0.1.0".into(),
        command: "cargo xtask verify --op fpm --multiplier 1395864371 --shift=-8 --effort exhaustive".into(),
        seed: 1,
        effort: "exhaustive".into(),
        verdict: Verdict::Holds,
        unfinished: None,
        seconds: 64.8125,
        environment: Some(Environment {
            date: "2026-11-22T05:40:00Z".into(),
            commit: Some("53fda1be03c7a7c8cb38ee7f90b8e7c919031cdb".into()),
            sources: Some("1f0e5a7c".repeat(8)),
            cpu: Some("AMD EPYC".into()),
            threads: 2,
            system: "linux x86_64".into(),
        }),
        lanes: vec![
            ran("host", "x86_64", "in process"),
            ran("aarch64-qemu", "aarch64", QEMU),
            not_run("aarch64-native", "the host is x86_64", true),
        ],
        rows,
        catalogue: vec![CatalogueRun {
            op: "fpm".into(),
            lane: "host".into(),
            cases: 40,
            not_taken: 0,
            judged: 720,
            broken: 0,
            unanswered: 0,
        }],
        agreements: Vec::new(),
        proofs: Some(proofs()),
        bounds: bounds(),
        rewrites: rewrites(),
        outside_domain: Vec::new(),
        left_out: Vec::new(),
        planned: Vec::new(),
        positions: Vec::new(),
        unchecked: Vec::new(),
        self_checks: checks(&["host", "aarch64-qemu"]),
        meanings: [("double-rounding".to_owned(), "Two roundings where one is promised.".to_owned())].into(),
        findings: Vec::new(),
        code: BTreeMap::new(),
        network: None,
        figures: Vec::new(),
    }
}

fn figure<const C: usize, const R: usize>(kind: FigureKind, columns: [&str; C], rows: [[Value; C]; R]) -> Figure {
    let column =
        |name: &str| Column { name: name.into(), unit: if name == "shift" { "bits".into() } else { "".into() } };
    Figure {
        kind,
        op: "fpm".into(),
        title: format!("Title of {}", kind.name()),
        says: "Counted in closed form.".into(),
        command: "cargo xtask census --right {scheme} --shift={shift}".into(),
        same: BTreeMap::new(),
        columns: columns.map(column).into(),
        rows: rows.map(Vec::from).into(),
    }
}

/// Figures of each kind, with few rows.
pub(crate) fn figures() -> Vec<Figure> {
    let n = |n: i64| Value::from(n);
    let t = |text: &str| Value::Text(text.to_owned());
    let all = 1i64 << 32;
    let twice = || t("gemmlowp-double:wrap");
    let mut rate = figure(
        FigureKind::RateByShift,
        ["scheme", "shift", "inputs", "differ", "one_up", "one_down"],
        [
            [twice(), n(-9), n(all), n(4_194_304), n(2_097_152), n(2_097_152)],
            [twice(), n(-8), n(all), n(8_388_607), n(4_194_304), n(4_194_303)],
            [t("ties-away:wrap"), n(-1), n(all), n(1), n(0), n(1)],
        ],
    );
    rate.same.insert("gemmlowp-double:wrap".into(), vec!["cmsis-nn-double:wrap".into()]);
    let tie = [[n(1), t("1/4"), n(0), n(1)], [n(2), t("1/2"), n(1), n(1)], [n(3), t("3/4"), n(1), n(1)]];
    let stairs = [[t("onnx"), t("-0.30000001"), t("-0.3"), n(-1), n(0)], [t("onnx"), t("0.1"), t("0.2"), n(0), n(1)]];
    let line = [
        [twice(), n(-67_108_864), n(-1), n(0), n(131_072), n(0)],
        [twice(), n(0), n(67_108_863), n(131_071), n(0), n(3)],
    ];
    let atlas = [[t("ties-up"), twice(), n(all), n(90_112), n(90_000), n(1 << 30), n(-1)]];
    let corner = [[twice(), n(-8), n(1), n(-197), n(1_395_864_371), t("-1/2"), n(-1), n(0)]];
    vec![
        rate,
        figure(FigureKind::ErrorAroundTie, ["x", "exact", "ties-up", "gemmlowp-double"], tie),
        figure(FigureKind::Staircase, ["scheme", "last", "first", "below", "above"], stairs),
        figure(FigureKind::DeltaByAccumulator, ["scheme", "first", "last", "one_up", "one_down", "further"], line),
        figure(FigureKind::Atlas, ["left", "right", "inputs", "differ", "most", "m", "shift"], atlas),
        figure(FigureKind::CornerCases, ["scheme", "shift", "delta", "x", "m", "exact", "reference", "result"], corner),
    ]
}

fn declared() -> BTreeMap<String, String> {
    let reasons = [
        ("fallback", "sqrdmulh multiplies Q0.31 numbers; for any other Q the rule returns the default lowering"),
        ("position", "the rule holds for int32x4 only; elements after the last whole vector take the default lowering"),
    ];
    reasons.map(|(class, reason)| (class.to_owned(), reason.to_owned())).into()
}

fn finding(kernel: &str, lane: &str, class: &str, message: &str, witness: Option<Witness>) -> Finding {
    Finding {
        op: if kernel.is_empty() { String::new() } else { "fpm".into() },
        kernel: kernel.into(),
        lane: lane.into(),
        class: class.into(),
        message: message.into(),
        witness,
    }
}

fn wrong_tie() -> Witness {
    Witness {
        scheme: "gemmlowp-double:wrap".into(),
        because: "ties-up in the last rounding reproduces every output".into(),
        ..witness("gemmlowp-neon", [-1, 1073741825, -1], 0, Some(-1), "tie-direction")
    }
}

fn crash() -> Witness {
    Witness { scheme: String::new(), because: String::new(), ..witness("tvm-neon-rfc", [7, 5, 31], 0, None, "crash") }
}

/// Run with a broken contract, a crashed worker, a lane that did not run, an undetected mutant, and an unseen deviation.
pub(crate) fn broken() -> Ledger {
    let sampled =
        |row: Row| Row { parameters: 994, inputs: 4_194_304, coverage: Coverage::Sampled, seconds: 0.5, ..row };
    let mut rows: Vec<_> = holding().rows.into_iter().map(sampled).collect();
    rows.retain(|row| (row.kernel.as_str(), row.lane.as_str()) != ("tvm-neon-rfc", "aarch64-qemu"));
    for row in &mut rows {
        if row.kernel == "gemmlowp-neon" && row.against == Against::Reference {
            (row.differ, row.by_delta) = (4_101, counts([("-1", 2_049), ("1", 2_052)]));
            row.classes = counts([("double-rounding", 4_101)]);
        }
        if row.kernel == "gemmlowp-neon" && row.lane == "aarch64-qemu" && row.against == Against::Contract {
            *row = differing(row.clone(), [("1", 1_024)], wrong_tie());
        }
        if row.kernel == "tvm-neon-rfc" && row.against == Against::Contract {
            row.deviations = counts([("position", 12_288)]);
            row.declared = declared();
        }
        if row.kernel == "tvm-neon-rfc" && row.against == Against::Reference {
            (row.differ, row.by_delta) =
                (1_219, counts([("1", 1_203), ("-1", 9), ("2147483647", 3), ("-2", 3), ("3", 1)]));
            (row.classes, row.out_of_domain) = (counts([("double-rounding", 1_206), ("wrap", 13)]), 51_200);
        }
    }
    let mut self_checks = checks(&["host", "aarch64-qemu"]);
    self_checks[1].passed = false;
    self_checks[1].seen = "equal on 4,194,304 inputs".into();
    let findings = vec![
        finding(
            "gemmlowp-neon",
            "aarch64-qemu",
            "tie-direction",
            "differs from its contract on 1,024 of 4,194,304 inputs",
            Some(wrong_tie()),
        ),
        finding("tvm-neon-rfc", "aarch64-qemu", "crash", "the worker ended with signal 4 (SIGILL)", Some(crash())),
        finding(
            "tvm-relay",
            "host",
            "stale-deviation",
            "the declared deviation fallback was covered and never seen",
            None,
        ),
        finding("ties-other-way", "host", "self-check", "the mutant was not caught: equal on 4,194,304 inputs", None),
        finding("", "aarch64-native", "not-run", "no worker answers at ssh://builder", None),
    ];
    let mut ledger = Ledger {
        command: "cargo xtask verify --op fpm --params scales.csv".into(),
        effort: "standard".into(),
        verdict: Verdict::Broken,
        seconds: 9.5,
        rows,
        self_checks,
        findings,
        ..holding()
    };
    ledger.lanes[2] = not_run("aarch64-native", "no worker answers at ssh://builder", false);
    ledger
}

/// Mismatches as the judge keeps them: kernels unsorted, the cases of each sorted, and one with every character that CSV must quote.
pub(crate) fn mismatches() -> Vec<Mismatch> {
    let mismatch = |kernel: &str, case: &str, class: &str| Mismatch {
        op: "fpm".into(),
        kernel: kernel.into(),
        lane: "host".into(),
        against: Against::Reference,
        scheme: "ties-up:wrap".into(),
        case: case.into(),
        got: 0.into(),
        expected: (-1).into(),
        class: class.into(),
        command: format!("cargo xtask verify --op fpm --lane host # {case}"),
    };
    vec![
        mismatch("tvm-neon-rfc", "x=-3 m=1395864371 s=-8", "double-rounding"),
        mismatch("tvm-neon-rfc", "x=-20 m=1395864371 s=-8", "double-rounding"),
        mismatch("tvm-neon-rfc", "x=46 m=1395864371 s=-8", "wrap"),
        Mismatch {
            against: Against::Contract,
            got: i64::MIN.into(),
            expected: i64::MAX.into(),
            ..mismatch("odd, \"quoted\"\nname", "x=1 m=2 s=3", "wrap")
        },
        mismatch("gemmlowp-neon", "x=-1 m=1073741825 s=-1", "tie-direction"),
    ]
}

fn rewrites() -> Vec<Rewrite> {
    let counts = Counts { same: 240, differ: 16, undefined: 0 };
    vec![Rewrite {
        rewrite: "qcast(dcast(q)) -> q".into(),
        ty: "!quant.uniform<i8:f32, 0.3>".into(),
        verdict: "not the same".into(),
        counted: counts,
        recorded: counts,
        command: "cargo xtask rewrites --type '!quant.uniform<i8:f32, 0.3>'".into(),
    }]
}

fn bounds() -> Vec<Bound> {
    let witness = |k: i64, got: i64| BoundWitness {
        case: format!("m=1 n=1 k={k} lhs=255 rhs=255"),
        got,
        exact: 65025 * k,
        command: format!(
            "cargo xtask verify --op matmul --kernel arm-uadalp --lane host --case 'm=1 n=1 k={k} lhs=255 rhs=255'"
        ),
    };
    vec![Bound {
        op: "matmul".into(),
        kernel: "arm-uadalp".into(),
        lane: "host".into(),
        quantity: "depth K, result as int32".into(),
        bound: Some(33025),
        because: "33025 * 255 * 255 = 2147450625 is below 2^31".into(),
        witness_at_bound: Some(witness(33025, 2_147_450_625)),
        witness_past_bound: Some(witness(33026, -2_147_451_646)),
        shown: true,
    }]
}

/// Comparison of two kernels.
pub(crate) fn agreement(
    kernel: &str,
    lane: &str,
    [other, other_lane]: [&str; 2],
    differ: [u64; 2],
    types: &[(&str, u64)],
) -> Agreement {
    let witness = AgreementWitness {
        case: [("type".to_owned(), "!quant.uniform<u8:f32,0.1>"), ("x".to_owned(), "-0.1")]
            .map(|(name, text)| (name, Value::Text(text.to_owned())))
            .into(),
        got: 255.into(),
        other: 0.into(),
        command: format!("cargo xtask verify --op quantize --kernel {kernel} --lane {lane} --case '...'"),
    };
    Agreement {
        op: "quantize".into(),
        kernel: kernel.into(),
        lane: lane.into(),
        other: other.into(),
        other_lane: other_lane.into(),
        results: 4_204_203,
        not_compared: 0,
        open: 1_313_714,
        differ: differ[0],
        differ_open: differ[1],
        types: types.iter().map(|(name, n)| (name.to_string(), *n)).collect(),
        witness: (differ != [0, 0]).then_some(witness),
    }
}

/// Size from 1 to 4,099 with a name, and its number of remainders modulo 64.
pub(crate) fn size((name, remainders): (&str, u32)) -> (String, Size) {
    (name.to_owned(), Size { least: 1, greatest: 4_099, remainders })
}

/// Pairs that the caller gave, of which a kernel did not run all.
pub(crate) fn planned(kernel: &str, lane: &str, pairs: u64, dropped: &[(DropReason, u64)]) -> Planned {
    let left_out: u64 = dropped.iter().map(|(_, count)| count).sum();
    let one = |(why, count): &(DropReason, u64)| Dropped {
        why: *why,
        because: "shifts -31..=0".into(),
        count: *count,
        first: "m=5 s=31".into(),
    };
    Planned {
        op: "fpm".into(),
        kernel: kernel.into(),
        lane: lane.into(),
        unit: Unit::Pair,
        given: true,
        planned: pairs,
        run: pairs - left_out,
        dropped: dropped.iter().map(one).collect(),
    }
}

/// Result without a value of the reference.
pub(crate) fn position() -> Position {
    let expected = [("exact:wrap".to_owned(), Some(5.into())), ("exact".to_owned(), None)];
    Position {
        op: "matmul".into(),
        kernel: "arm-uadalp".into(),
        lane: "host".into(),
        at: 3,
        got: 5.into(),
        expected: expected.into_iter().collect(),
    }
}

/// Recorded proofs of a kernel and of a known bug.
fn proofs() -> Proofs {
    let kernel = Theorem {
        op: "fpm".into(),
        kernel: "tvm-relay".into(),
        form: "portable".into(),
        positions: vec![0, 1, 2, 3, 4],
        contract: "ties-up:wrap".into(),
        proved: true,
        verdict: vec!["proved at s = -31..31".into()],
        terms: "2a38".into(),
        seconds: 0.8,
        ..Theorem::default()
    };
    let refuted = vec!["refuted at s = -31..0".into(), "x=1 m=1073741824 s=0: the code returns 0, not 1".into()];
    let name = "mutant-no-rounding".into();
    let mutant =
        Theorem { kernel: name, mutant: true, proved: false, refuted: true, verdict: refuted, ..kernel.clone() };
    Proofs { sources: "4b89".into(), stale: false, solvers: vec!["cvc5 1.0.3".into()], theorems: vec![kernel, mutant] }
}
