//! `rewrites`: counts from the oracle's steps, compared with the machine's own floats.

use crate::common::tiebreak;
use serde_json::Value;

fn claims(ty: &str) -> Vec<Value> {
    let run = tiebreak(&["rewrites", "--type", ty, "--format", "json"]).exits(0);
    serde_json::from_str::<Value>(&run.stdout).expect("JSON").as_array().expect("claims").clone()
}

fn counts(claims: &[Value], rewrite: &str) -> [u64; 4] {
    let claim = claims.iter().find(|c| c["rewrite"] == rewrite).unwrap_or_else(|| panic!("no {rewrite}"));
    ["inputs", "same", "differ", "undefined"].map(|name| claim[name].as_u64().expect("a count"))
}

/// Casts of i8 with bounds, in f32, computed by the machine.
struct Machine {
    scale: f32,
    zero_point: f32,
    bounds: (i32, i32),
}

impl Machine {
    fn dcast(&self, q: i32) -> f32 {
        (q as f32 - self.zero_point) * self.scale
    }

    /// Returns `None` if the value is not an i8.
    fn qcast(&self, x: f32) -> Option<i32> {
        let sum = (x / self.scale + self.zero_point).trunc();
        (-128.0..=127.0).contains(&sum).then(|| (sum as i32).clamp(self.bounds.0, self.bounds.1))
    }
}

fn tally(pairs: impl Iterator<Item = (Option<i32>, Option<i32>)>) -> [u64; 4] {
    pairs.fold([0; 4], |mut counts, (before, after)| {
        counts[0] += 1;
        counts[match (before, after) {
            (Some(before), Some(after)) if before == after => 1,
            (Some(_), Some(_)) => 2,
            _ => 3,
        }] += 1;
        counts
    })
}

/// Truncation makes the rounding of the product visible: 16 of 256 stored values do not return, without any bound.
#[test]
fn there_and_back_is_not_always_where_one_was() {
    let machine = Machine { scale: 0.3, zero_point: 0.0, bounds: (-128, 127) };
    let expected = tally((-128..128).map(|q| (Some(q), machine.qcast(machine.dcast(q)))));
    let claims = claims("!quant.uniform<i8:f32, 0.3>");
    assert_eq!(counts(&claims, "qcast(dcast(q)) -> q"), expected);
    assert_eq!(expected, [256, 240, 16, 0]);
    assert_eq!(counts(&claims, "scast(scast(q)) -> q"), [256, 256, 0, 0]);
}

#[test]
fn every_input_of_the_examples_is_counted() {
    let machine = Machine { scale: 0.3, zero_point: 1.0, bounds: (-8, 7) };
    let claims = claims("!quant.uniform<i8<-8:7>:f32, 0.3:1>");
    let values = -8..8;
    let triples = values.clone().flat_map(|a| values.clone().flat_map(move |b| (-8..8).map(move |c| (a, b, c))));
    let expected = tally(triples.map(|(a, b, c)| {
        let product = machine.dcast(a) * machine.dcast(b);
        let sum = |product: f32| machine.qcast(product + machine.dcast(c));
        (machine.qcast(product).and_then(|q| sum(machine.dcast(q))), sum(product))
    }));
    assert_eq!(counts(&claims, "multiply_add without the cast pair"), expected);
    let pairs = || values.clone().flat_map(|a| (-8..8).map(move |b| (a, b)));
    for (rewrite, op) in [
        ("division, quotient, after CSE", (|a: f32, b: f32| a / b) as fn(f32, f32) -> f32),
        ("division, remainder, after CSE", |a, b| a % b),
    ] {
        let result = |(a, b)| machine.qcast(op(machine.dcast(a), machine.dcast(b)));
        let expected = tally(pairs().map(|pair| (result(pair), result(pair))));
        assert_eq!(counts(&claims, rewrite), expected, "{rewrite}");
    }
    let beyond =
        tally((-128..128).filter(|q| !(-8..8).contains(q)).map(|q| (Some(q), machine.qcast(machine.dcast(q)))));
    assert_eq!(counts(&claims, "qcast(dcast(q)) -> q, q beyond the bounds"), beyond);
    assert_eq!(beyond, [240, 0, 240, 0]);
    // Every float but NaN; 17 of them are dequantized values: 16, and a second zero.
    let lossy = counts(&claims, "dcast(qcast(x)) -> x");
    assert_eq!((lossy[0], lossy[1]), (4_278_190_082, 17));
    // Floats that only the clamp keeps within the bounds, by bisection on the machine's division. Each of them changes.
    let stored = |bits: u32| (f32::from_bits(bits) / 0.3 + 1.0).trunc();
    let first = |sign: u32, reaches: &dyn Fn(f32) -> bool| {
        let (mut low, mut high) = (0, f32::INFINITY.to_bits());
        while low < high {
            let middle = (low + high) / 2;
            if reaches(stored(sign | middle)) { high = middle } else { low = middle + 1 }
        }
        u64::from(low)
    };
    let above = first(0, &|q| q >= 128.0) - first(0, &|q| q >= 8.0);
    let below = first(1 << 31, &|q| q <= -129.0) - first(1 << 31, &|q| q <= -9.0);
    let clamped = counts(&claims, "dcast(qcast(x)) -> x, x beyond the bounds");
    assert_eq!(clamped, [above + below, 0, above + below, 0]);
}

#[test]
fn a_type_that_is_none_is_pointed_at() {
    let run = tiebreak(&["rewrites", "--type", "!quant.uniform<i8:f32, 0.0>"]).exits(2);
    assert!(run.stderr.contains("scale"), "{}", run.stderr);
    let run = tiebreak(&["rewrites", "--type", "f32"]).exits(2);
    assert!(run.stderr.contains("not a quantized type"), "{}", run.stderr);
}

/// If the conversion truncates, the machine's floats count the changes of the fallback through f32. If it rounds, powers of two change nothing.
#[test]
fn a_fallback_is_held_to_the_exact_result() {
    let run = tiebreak(&["rewrites", "--fallback", "add", "--format", "json"]).exits(0);
    let claims = serde_json::from_str::<Value>(&run.stdout).expect("JSON").as_array().expect("claims").clone();
    let of = |ty: &str, way: &str| -> Vec<Value> {
        let is = |c: &&Value| c["type"].as_str().is_some_and(|t| t.starts_with(ty)) && c["rewrite"] == way;
        claims.iter().filter(is).cloned().collect()
    };
    let machine = |q: i32, z: i32, scale: f32| (q - z) as f32 * scale;
    let (mut differ, mut inputs) = (0, 0);
    for (a, b) in (-128..128i32).flat_map(|a| (-128..128i32).map(move |b| (a, b))) {
        // (a - 3) * 0.1 + (b - 3) * 0.1 in steps of 0.2, minus 5.
        let exact = (a + b - 6 + 1).div_euclid(2) - 5;
        let sum = ((machine(a, 3, 0.1) + machine(b, 3, 0.1)) / 0.2f32 + -5.0f32).trunc() as i32;
        if (-128..128).contains(&sum) {
            inputs += 1;
            differ += u64::from(sum != exact.clamp(-128, 127));
        }
    }
    let truncated = of("i8, 0.1:3", "add: exact -> dcast, f32, qcast");
    assert_eq!(truncated.len(), 1);
    assert_eq!(truncated[0]["differ"], differ);
    assert_eq!(
        truncated[0]["inputs"].as_u64().zip(truncated[0]["undefined"].as_u64()),
        Some((1 << 16, (1 << 16) - inputs))
    );
    assert!(differ > 10_000 && truncated[0]["nearer"] == "before", "{differ}");
    assert_eq!(of("i8, 0.5:0", "add: exact -> dcast, f32, qcast to nearest even")[0]["differ"], 0);
    let refused = tiebreak(&["rewrites", "--fallback", "sub"]).exits(2);
    assert!(refused.stderr.contains("add, mul"), "{}", refused.printed());
}

/// Operations whose lowering is rejected: the machine's integers and floats count the changes of a split, and an index is lost only by overflow.
#[test]
fn a_fallback_without_a_lowering_is_held_to_the_exact_result() {
    let claims = |operation: &str| -> Vec<Value> {
        let run = tiebreak(&["rewrites", "--fallback", operation, "--format", "json"]).exits(0);
        serde_json::from_str::<Value>(&run.stdout).expect("JSON").as_array().expect("claims").clone()
    };
    let machine = Machine { scale: 0.3, zero_point: 0.0, bounds: (-128, 127) };
    let changed = (-128..128).filter(|q| machine.qcast(machine.dcast(*q)) != Some(*q)).count() as u64;
    let [split, index] = ["split", "arg_min"].map(claims);
    let at = |all: &[Value], ty: &str, way: &str| -> [u64; 3] {
        let claim = all.iter().find(|c| c["type"] == ty && c["rewrite"] == way);
        let claim = claim.unwrap_or_else(|| panic!("no {way} of {ty}: {all:?}"));
        ["same", "differ", "undefined"].map(|name| claim[name].as_u64().expect("a count"))
    };
    let truncated = at(&split, "i8, 0.3:0 to 0.3:0", "split: exact -> dcast, f32, qcast");
    assert_eq!((truncated, changed), ([(256 - changed) * 256, changed * 256, 0], 16));
    let rounded = at(&split, "i8, 0.3:0 to 0.3:0", "split: exact -> dcast, f32, qcast to nearest even");
    assert_eq!(rounded, [1 << 16, 0, 0]);
    let pairs = || (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b)));
    for (ty, scale) in [("i8, 0.5:0", 0.5f32), ("i8, 0.3:0", 0.3), ("i8, 1.7014118e38:0", 1.7014118e38)] {
        let lost = pairs().filter(|(a, b)| (b < a) != (*b as f32 * scale < *a as f32 * scale)).count() as u64;
        assert_eq!(at(&index, ty, "arg_min: exact -> dcast, f32"), [(1 << 16) - lost, lost, 0], "{ty}");
        assert_eq!(lost > 0, scale > 1.0, "{ty}: {lost}");
    }
    for operation in ["log_softmax", "l2_normalization"] {
        let all = claims(operation);
        assert_eq!(all.len(), 6, "{all:?}");
        let differ = |way: &str| -> u64 {
            let of = all.iter().filter(|c| c["rewrite"].as_str().is_some_and(|rewrite| rewrite.ends_with(way)));
            of.map(|c| c["differ"].as_u64().expect("a count")).sum()
        };
        assert!(differ("f32, qcast") > 10 * differ("to nearest even"), "{all:?}");
    }
    let refused = tiebreak(&["rewrites", "--fallback", "sub"]).exits(2);
    assert!(refused.stderr.contains("log_softmax, l2_normalization, split, arg_min"), "{}", refused.printed());
    let table = tiebreak(&["rewrites", "--fallback", "split"]).exits(0);
    assert!(table.stdout.contains("it is moved, and no arithmetic is needed"), "{}", table.stdout);
}

/// A run of both casts counts the rewrites of two types and of TensorFlow Lite's lowerings, each as recorded. The command of a row prints it.
#[test]
fn a_run_of_both_casts_has_the_rewrites() {
    let run =
        tiebreak(&["verify", "--op=quantize", "--op=dequantize", "--lane=host", "--effort=quick", "--format=json"]);
    let ledger = serde_json::from_str::<Value>(&run.exits(0).stdout).expect("JSON");
    let rewrites = ledger["rewrites"].as_array().expect("rewrites");
    assert_eq!(rewrites.len(), 6 + 8 + 9);
    for rewrite in rewrites {
        assert_eq!(rewrite["counted"], rewrite["recorded"], "{rewrite}");
    }
    let bounded = rewrites.iter().filter(|r| r["type"] == "!quant.uniform<i8<-8:7>:f32, 0.3:1>");
    let claims = claims("!quant.uniform<i8<-8:7>:f32, 0.3:1>");
    for rewrite in bounded {
        let counted = ["same", "differ", "undefined"].map(|name| rewrite["counted"][name].as_u64().expect("a count"));
        assert_eq!(counts(&claims, rewrite["rewrite"].as_str().expect("a name"))[1..], counted, "{rewrite}");
    }
    let narrowed = tiebreak(&["verify", "--op=quantize", "--lane=host", "--effort=quick", "--format=json"]).exits(0);
    assert!(serde_json::from_str::<Value>(&narrowed.stdout).expect("JSON")["rewrites"].is_null());
}
