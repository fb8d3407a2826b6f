//! Safe bounds of kernels: for each, an input at the bound with a correct result, and one past it with a wrong result, in every lane.

use crate::common::*;
use crate::registry;
use expect_test::expect;
use serde_json::Value;
use std::collections::BTreeSet;

/// Runs `tiebreak bounds` with these arguments and the lanes of this machine.
fn described(arguments: &[&str]) -> Run {
    let lanes = lanes_file();
    tiebreak(&[&["bounds", "--lanes", lanes.to_str().expect("UTF-8")][..], arguments].concat())
}

fn bounds(arguments: &[&str]) -> Vec<Value> {
    let run = described(&[arguments, &["--format=json"]].concat()).exits(0);
    let all: Value = serde_json::from_str(&run.stdout).expect("JSON alone");
    all.as_array().expect("a list").clone()
}

/// Returns the bound of this quantity, with the kernel's result past it and the exact result.
#[track_caller]
fn bound(kernel: &str, quantity: &str) -> (i64, i64, i64) {
    let all = bounds(&["--kernel", kernel]);
    let of = |b: &&Value| b["op"] == "matmul" && b["quantity"].as_str().is_some_and(|q| q.starts_with(quantity));
    let found = all.iter().find(of).unwrap_or_else(|| panic!("no `{quantity}` in {all:#?}"));
    let past = &found["witness_past_bound"];
    let number = |v: &Value| v.as_i64().unwrap_or_else(|| panic!("{found:#}"));
    (number(&found["bound"]), number(&past["got"]), number(&past["exact"]))
}

/// Products of 255 * 255 = 65025: 33025 of them stay below 2^31, and 66051 below 2^32.
#[test]
fn depths_of_an_unsigned_kernel() {
    assert_eq!(bound("arm-uadalp", "depth K, result as int32"), (33025, 33026 * 65025 - (1 << 32), 33026 * 65025));
    assert_eq!(bound("arm-uadalp", "depth K, result as uint32"), (66051, 66052 * 65025 - (1 << 32), 66052 * 65025));
}

/// The kernel's results refute the RFC's bound 0..=254.
#[test]
fn the_fast_unsigned_kernel_is_safe_to_128_only() {
    assert_eq!(bound("arm-umlal-fast", "largest rhs value"), (128, 2 * 255 * 129 - 65536, 2 * 255 * 129));
    assert_eq!(bound("arm-umlal-fast", "sum of the two rhs values of a pair"), (257, 255 * 258 - 65536, 255 * 258));
    let refuted = bound("arm-umlal-fast", "rhs values 0..=254, claimed safe");
    assert_eq!(refuted, (128, 129_540 - 65536, 129_540));
    let all = bounds(&["--kernel=arm-umlal-fast"]);
    let claim =
        all.iter().find(|b| b["quantity"].as_str().is_some_and(|q| q.contains("0..=254"))).expect("it was found");
    assert!(claim["because"].as_str().is_some_and(|b| b.starts_with("refuted: ")), "{claim}");
}

#[test]
fn the_fast_signed_kernel_bears_one_extreme_product_a_pair() {
    assert_eq!(bound("arm-smlal-fast", "(-128)*(-128) products in one pair sum"), (1, -32768, 32768));
    assert_eq!(bound("arm-smlal-fast", "smallest rhs value"), (-127, -32768, 32768));
}

/// -64..=64: 2 * 255 * 65 is beyond 32767, 2 * 255 * -65 below -32768, and the pair sum saturates.
#[test]
fn maddubs_is_safe_from_minus_64_to_64() {
    assert_eq!(bound("x86-maddubs", "largest rhs value"), (64, 32767, 2 * 255 * 65));
    assert_eq!(bound("x86-maddubs", "smallest rhs value"), (-64, -32768, -2 * 255 * 65));
}

/// Every kernel that multiplies has bounds. In each lane, the kernel is correct at the bound and wrong past it.
#[test]
fn every_bound_is_shown_in_every_lane() {
    let names: BTreeSet<&str> =
        registry::kernels().iter().filter(|k| ["dot", "matmul"].contains(&k.op)).map(|k| k.name).collect();
    let mut tables = Vec::new();
    for lane in all_lanes() {
        let all = bounds(&["--lane", lane]);
        for b in &all {
            assert_eq!((&b["shown"], b["lane"].as_str()), (&true.into(), Some(lane)), "{b:#}");
            let [at, past] = ["witness_at_bound", "witness_past_bound"].map(|key| &b[key]);
            assert!(at["got"].is_i64() && at["got"] == at["exact"], "{b:#}");
            assert!(b["kernel"].is_string() && b["quantity"].is_string(), "{b:#}");
            assert_eq!(past.is_object(), b["bound"].is_i64(), "nothing lies past no bound: {b:#}");
            assert!(past.is_null() || past["got"] != past["exact"], "{b:#}");
        }
        let with: BTreeSet<&str> = all.iter().map(|b| b["kernel"].as_str().expect("text")).collect();
        assert!(names.is_subset(&with), "{:?} have none", names.difference(&with));
        let line =
            |b: &Value| format!("{} {} {}: {}\n", text(&b["op"]), text(&b["kernel"]), text(&b["quantity"]), b["bound"]);
        tables.push(all.iter().map(line).collect::<String>());
    }
    assert!(tables.iter().all(|table| *table == tables[0]), "the same in every lane");
    expect![[r#"
        matmul arm-uadalp depth K, result as int32: 33025
        matmul arm-uadalp depth K, result as uint32: 66051
        matmul arm-sadalp depth K, result as int32: 131071
        matmul arm-uadalp-8x4 depth K, result as int32: 33025
        matmul arm-uadalp-8x4 depth K, result as uint32: 66051
        matmul arm-umlal-fast depth K, result as int32, rhs in 0..=128: 65793
        matmul arm-umlal-fast depth K, result as uint32, rhs in 0..=128: 131586
        matmul arm-umlal-fast largest rhs value: 128
        matmul arm-umlal-fast smallest rhs value: null
        matmul arm-umlal-fast sum of the two rhs values of a pair: 257
        matmul arm-umlal-fast rhs values 0..=254, claimed safe by the Arm GEMM RFC: 128
        matmul arm-smlal-fast depth K, result as int32, rhs in -127..=127: 132104
        matmul arm-smlal-fast largest rhs value: null
        matmul arm-smlal-fast smallest rhs value: -127
        matmul arm-smlal-fast (-128)*(-128) products in one pair sum: 1
        matmul arm-smlal-int16 depth K, result as int32: 131071
        matmul arm-umlal-int16 depth K, result as int32: 33025
        matmul arm-umlal-int16 depth K, result as uint32: 66051
        matmul arm-smlal-offsets depth K, result as int32: 33025
        matmul arm-smlal-offsets depth K, result as uint32: 66051
        matmul arm-smlal-blocks-int16 depth K, result as int32: 33025
        matmul arm-smlal-blocks-int16 depth K, result as uint32: 66051
        matmul arm-udot depth K, result as int32: 33025
        matmul arm-udot depth K, result as uint32: 66051
        matmul arm-sdot depth K, result as int32: 131071
        matmul arm-udot-12x4 depth K, result as int32: 33025
        matmul arm-udot-12x4 depth K, result as uint32: 66051
        matmul arm-ummla depth K, result as int32: 33025
        matmul arm-ummla depth K, result as uint32: 66051
        matmul arm-smmla depth K, result as int32: 131071
        matmul arm-bitserial depth K, result as int32: 33025
        matmul arm-bitserial depth K, result as uint32: 66051
        matmul arm-bitserial depth K, 16-bit lane of counts: 524175
        matmul x86-maddubs depth K, result as int32, rhs in -64..=64: 131586
        matmul x86-maddubs largest rhs value: 64
        matmul x86-maddubs smallest rhs value: -64
        matmul x86-madd depth K, result as int32: 1
        matmul x86-vnni depth K, result as int32: 65793
        matmul x86-vnni-saturating depth K, result as int32: 65793
        matmul nvidia-dp4a-s8 depth K, result as int32: 131071
        matmul nvidia-dp4a-u8 depth K, result as int32: 33025
        matmul nvidia-dp4a-u8 depth K, result as uint32: 66051
        matmul nvidia-dp4a-mixed depth K, result as int32: 65793
        matmul tvm-dense-int16-i8 depth K, result as int16: 1
        matmul gemmlowp-reference depth K, result as int32: 33025
        matmul gemmlowp-reference depth K, result as uint32: 66051
        dot arm-uadalp one product in its 16-bit lane, uint16: null
        dot arm-uadalp steps of 4 products into one 32-bit lane, read as int32: 8256
        dot arm-uadalp steps of 4 products into one 32-bit lane, read as uint32: 16512
        dot arm-sadalp one product in its 16-bit lane, int16: null
        dot arm-sadalp steps of 4 products into one 32-bit lane, read as int32: 32767
        dot arm-smlal-int16 steps of 1 products into one 32-bit lane, read as int32: 131071
        dot arm-umlal-int16 steps of 1 products into one 32-bit lane, read as int32: 33025
        dot arm-umlal-int16 steps of 1 products into one 32-bit lane, read as uint32: 66051
        dot arm-udot steps of 4 products into one 32-bit lane, read as int32: 8256
        dot arm-udot steps of 4 products into one 32-bit lane, read as uint32: 16512
        dot arm-sdot steps of 4 products into one 32-bit lane, read as int32: 32767
        dot arm-ummla steps of 8 products into one 32-bit lane, read as int32: 4128
        dot arm-ummla steps of 8 products into one 32-bit lane, read as uint32: 8256
        dot arm-smmla steps of 8 products into one 32-bit lane, read as int32: 16383
        dot arm-bitserial steps of 16 set bits into one 16-bit lane: 4095
        dot arm-bitserial-signed steps of 16 set bits into one 16-bit lane: 2047
        dot arm-bitserial-a1w1 steps of 32 products into one 32-bit lane, read as int32: 67108863
        dot arm-bitserial-a1w2 steps of 32 products into one 32-bit lane, read as int32: 22369621
        dot arm-bitserial-a1w3 steps of 32 products into one 32-bit lane, read as int32: 9586980
        dot arm-bitserial-a1w4 steps of 32 products into one 32-bit lane, read as int32: 4473924
        dot arm-bitserial-a2w1 steps of 32 products into one 32-bit lane, read as int32: 22369621
        dot arm-bitserial-a2w2 steps of 32 products into one 32-bit lane, read as int32: 7456540
        dot arm-bitserial-a2w3 steps of 32 products into one 32-bit lane, read as int32: 3195660
        dot arm-bitserial-a2w4 steps of 32 products into one 32-bit lane, read as int32: 1491308
        dot arm-bitserial-a3w1 steps of 32 products into one 32-bit lane, read as int32: 9586980
        dot arm-bitserial-a3w2 steps of 32 products into one 32-bit lane, read as int32: 3195660
        dot arm-bitserial-a3w3 steps of 32 products into one 32-bit lane, read as int32: 1369568
        dot arm-bitserial-a3w4 steps of 32 products into one 32-bit lane, read as int32: 639132
        dot arm-bitserial-a4w1 steps of 32 products into one 32-bit lane, read as int32: 4473924
        dot arm-bitserial-a4w2 steps of 32 products into one 32-bit lane, read as int32: 1491308
        dot arm-bitserial-a4w3 steps of 32 products into one 32-bit lane, read as int32: 639132
        dot arm-bitserial-a4w4 steps of 32 products into one 32-bit lane, read as int32: 298261
        dot arm-bitserial-a1w1-bipolar steps of 32 products into one 32-bit lane, read as int32: 67108863
        dot arm-bitserial-a1w2-bipolar steps of 32 products into one 32-bit lane, read as int32: 22369621
        dot arm-bitserial-a1w3-bipolar steps of 32 products into one 32-bit lane, read as int32: 9586980
        dot arm-bitserial-a1w4-bipolar steps of 32 products into one 32-bit lane, read as int32: 4473924
        dot arm-bitserial-a2w1-bipolar steps of 32 products into one 32-bit lane, read as int32: 22369621
        dot arm-bitserial-a2w2-bipolar steps of 32 products into one 32-bit lane, read as int32: 7456540
        dot arm-bitserial-a2w3-bipolar steps of 32 products into one 32-bit lane, read as int32: 3195660
        dot arm-bitserial-a2w4-bipolar steps of 32 products into one 32-bit lane, read as int32: 1491308
        dot arm-bitserial-a3w1-bipolar steps of 32 products into one 32-bit lane, read as int32: 9586980
        dot arm-bitserial-a3w2-bipolar steps of 32 products into one 32-bit lane, read as int32: 3195660
        dot arm-bitserial-a3w3-bipolar steps of 32 products into one 32-bit lane, read as int32: 1369568
        dot arm-bitserial-a3w4-bipolar steps of 32 products into one 32-bit lane, read as int32: 639132
        dot arm-bitserial-a4w1-bipolar steps of 32 products into one 32-bit lane, read as int32: 4473924
        dot arm-bitserial-a4w2-bipolar steps of 32 products into one 32-bit lane, read as int32: 1491308
        dot arm-bitserial-a4w3-bipolar steps of 32 products into one 32-bit lane, read as int32: 639132
        dot arm-bitserial-a4w4-bipolar steps of 32 products into one 32-bit lane, read as int32: 298261
        dot arm-bitserial-counts-u8 places by which a count of 8 bits is shifted in an 8-bit lane: 4
        dot x86-maddubs largest rhs value of both products of a pair: 64
        dot x86-madd steps of 2 products into one 32-bit lane, read as int32: 0
        dot x86-vnni steps of 4 products into one 32-bit lane, read as int32: 16448
        dot x86-vnni-saturating steps of 4 products into one 32-bit lane, read as int32: 16448
        dot x86-maddubs-512 largest rhs value of both products of a pair: 64
        dot x86-vnni-512 steps of 4 products into one 32-bit lane, read as int32: 16448
        dot nvidia-dp4a-s8 steps of 4 products into one 32-bit lane, read as int32: 32767
        dot nvidia-dp4a-u8 steps of 4 products into one 32-bit lane, read as int32: 8256
        dot nvidia-dp4a-u8 steps of 4 products into one 32-bit lane, read as uint32: 16512
        dot nvidia-dp4a-mixed steps of 4 products into one 32-bit lane, read as int32: 16448
        requantize gemmlowp-quantize-down acc + result_offset, result_mult_int=1000 result_shift=10: 2147483
        requantize gemmlowp-eight-bit-int acc + result_offset, result_mult_int=1000 result_shift=10: 2147483
    "#]]
    .assert_eq(&tables[0]);
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// Invariant 8: the command next to a witness runs its case, for which the contract, with its rule for overflow, holds. If the exact result
/// has 32 bits, the row against the reference shows both numbers.
#[test]
fn commands_beside_bounds_show_them_again() {
    let (mut cases, mut whole) = (0, 0);
    for kernel in ["arm-umlal-fast", "arm-smlal-fast", "x86-maddubs", "arm-bitserial"] {
        for past in bounds(&["--kernel", kernel]).iter().map(|b| &b["witness_past_bound"]).filter(|w| w.is_object()) {
            let command = text(&past["command"]);
            if let Some(arguments) = command.strip_prefix("cargo xtask bounds ") {
                let described =
                    tiebreak(&[&["bounds"], &arguments.split(' ').collect::<Vec<_>>()[..]].concat()).exits(0).stdout;
                let line = format!("past it: {}: got {}, exact {}", text(&past["case"]), past["got"], past["exact"]);
                assert!(described.contains(&line), "{line}\n{described}");
                whole += 1;
                continue;
            }
            let ledger = again(command).exits(0).ledger();
            let of = |against: &str| items(&ledger, "rows").iter().find(|r| r["against"] == against).cloned();
            assert!(of("contract").expect("a row")["inputs"].as_u64() > Some(0), "{past:#}");
            let witness = &of("reference").expect("a row")["witness"];
            assert_eq!((&witness["got"], &witness["expected"]), (&past["got"], &past["exact"]), "{past:#}");
            cases += 1;
        }
    }
    assert!(cases >= 5 && whole >= 3, "{cases} cases and {whole} bounds were shown again");
}

#[test]
fn an_unknown_kernel_is_told_with_the_nearest() {
    let run = described(&["--kernel", "arm-uadal"]).exits(2);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.contains("unknown kernel `arm-uadal`") && run.stderr.contains("`arm-uadalp`"),
        "{}",
        run.printed()
    );
    let run = described(&["--lane", "hots"]).exits(2);
    assert!(run.stderr.contains("unknown lane") && run.stderr.contains("`host`"), "{}", run.printed());
}
