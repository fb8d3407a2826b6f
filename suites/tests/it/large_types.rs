//! Types with many scales, far axes or large blocks: either time and memory grow with the text, or the type is rejected at once with its limit. 1,024
//! scales once took over a minute, an axis of 2147483647 took 9.5 GB, `rewrites` 15 seconds for each scale.

use crate::bad_input::refused;
use crate::common::{GUARD, tiebreak, verify};
use std::time::Instant;

/// Returns a type with this number of channels along an axis.
fn channels(scales: usize, axis: u32) -> String {
    let scales: Vec<String> = (0..scales).map(|i| format!("{}.0", 1 + i % 997)).collect();
    format!("!quant.uniform<i8:f32:{axis},{{{}}}>", scales.join(","))
}

const FAR: &str = "!quant.uniform<i8:f32:2147483647, {1.0}>";
const LONG: &str = "!quant.uniform<i8:f32:{0:9223372036854775807}, {1.0, 2.0}>";

#[test]
fn what_is_too_large_to_run_is_refused_at_once_with_the_limit() {
    let begun = Instant::now();
    let many = channels(4097, 0);
    for (ty, words) in [
        (many.as_str(), "4097 scales are more than the 4096"),
        (FAR, "axis 2147483647 is beyond the 64 dimensions"),
        (LONG, "18446744073709551614 elements, which a tensor of it has at least, are more than 16777216"),
    ] {
        refused(&verify(&["--lane=host", "--type", ty]), &["--type", words]);
        let case = format!("type={ty} x=1.0");
        refused(&verify(&["--lane=host", "--op=quantize", "--case", &case]), &["type:", words]);
        // MLIR accepts the type nevertheless.
        tiebreak(&["check-type", ty]).exits(0);
    }
    let far = ["explain", "quantize", "--type", FAR, "--channel=0", "--scheme=mlir-qcast", "--x=3.7"];
    tiebreak(&far).exits(0);
    refused(&tiebreak(&["rewrites", "--type", &channels(257, 0)]), &["257 scales are more than the 256"]);
    assert!(begun.elapsed() < GUARD, "{:?}", begun.elapsed());
}

/// Largest number of scales, and farthest axis. The time limit is far above the present time, and far below the earlier time.
#[test]
fn many_scales_take_as_long_as_they_are_many() {
    for (op, ty) in [("quantize", channels(2048, 0)), ("dequantize", channels(1024, 63))] {
        let begun = Instant::now();
        let kernel = if op == "quantize" { "--kernel=mlir-qcast" } else { "--kernel=mlir-dcast" };
        let run = verify(&["--lane=host", "--effort=quick", "--op", op, kernel, "--type", &ty]).exits(0);
        assert!(run.stdout.contains("holds"), "{}", run.printed());
        assert!(begun.elapsed() < GUARD, "{op}: {:?}", begun.elapsed());
    }
}

/// All inputs of three arguments, as runs of one result.
#[test]
fn rewrites_of_several_scales_end() {
    let begun = Instant::now();
    let run = tiebreak(&["rewrites", "--type", &channels(16, 0), "--format=json"]).exits(0);
    assert!(run.stdout.contains("multiply_add") && run.stderr.is_empty(), "{}", run.printed());
    assert!(begun.elapsed() < GUARD, "{:?}", begun.elapsed());
}
