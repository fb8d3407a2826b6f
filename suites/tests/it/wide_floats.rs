//! Casts to and from f64, whose results or inputs have two words. `256 results asked for where the shape gives 512` was once the finding for each
//! type that is dequantized per layer to f64, because a sweep requested as many words as there are stored values.

use crate::common::*;
use serde_json::Value;

const GRANULARITIES: [&str; 3] =
    ["{ty}, 0.3:{z}", "{ty}:1, {0.3:{z}, 1.7e-3}", "{ty}:{0:2, 1:3}, {{0.5, 2.0:{z}}, {0.25, 1.0}}"];

fn types(expressed: &str, storages: &[&str]) -> Vec<String> {
    let of = |storage: &&str| {
        let signed = storage.starts_with('i');
        GRANULARITIES.map(|text| {
            let inside =
                text.replace("{ty}", &format!("{storage}:{expressed}")).replace("{z}", if signed { "-3" } else { "3" });
            format!("!quant.uniform<{inside}>")
        })
    };
    storages.iter().flat_map(of).collect()
}

/// Each storage of at most 16 bits is swept in every run, and each type is sampled, in this process and in a worker.
#[test]
fn every_form_of_a_type_is_cast() {
    for expressed in ["f64", "f32", "f16", "bf16"] {
        for op in ["dequantize", "quantize"] {
            for ty in types(expressed, &["i8", "u8", "i16", "i5", "u32"]) {
                let run = verify(&["--op", op, "--type", &ty, "--lane=host", "--lane=host-worker", "--effort=quick"]);
                assert_eq!(run.code, 0, "{op} {ty}: {}", run.printed());
            }
        }
    }
}

/// A sweep of stored values to f64 is complete, and a wrong second word of one result is detected with its stored value.
#[test]
fn a_sweep_to_f64_covers_and_judges_every_stored_value() {
    let ty = "--type=!quant.uniform<i8:f64, 0.3>";
    let named = ["--op=dequantize", "--kernel=mlir-dcast", ty];
    let swept = |ledger: &Value| -> Vec<u64> {
        let rows = items(ledger, "rows").iter().filter(|row| row["coverage"] == "exhaustive");
        rows.map(|row| row["inputs"].as_u64().expect("a count")).collect()
    };
    let run = verify(&[&named[..], &["--lane=host"]].concat()).exits(0);
    assert!(swept(&run.ledger()).iter().all(|inputs| *inputs == 256), "{}", run.printed());
    assert!(!swept(&run.ledger()).is_empty(), "{}", run.printed());
    let single = verify(&[&named[..], &["--lane=host-worker"]].concat()).exits(0);
    assert_eq!(swept(&single.ledger()), swept(&run.ledger()));
}
