//! Tensor kernels broken on purpose in a scratch copy, one step at a time. Each is detected, and named after its change.

use crate::common::*;
use crate::scratch::{Change, broken_worker};

/// Verifies `kernel` of `op` after the change: exit code 1, and every finding of this class, with the cause as text.
#[track_caller]
fn broken(change: &Change, op: &str, kernel: &str, class: &str, because: &str) {
    let worker = broken_worker(change);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "scratch", &[worker.to_string_lossy().into_owned()]);
    let run = verify_in(&file, &["--lane=scratch", "--effort=quick", "--op", op, "--kernel", kernel]).exits(1);
    let ledger = run.ledger();
    let classes = finding_classes(&ledger);
    assert!(!classes.is_empty() && classes.iter().all(|c| *c == class), "{op} {classes:?}\n{}", run.printed());
    let row = items(&ledger, "rows").iter().find(|r| r["against"] == "contract").expect("a row");
    let described = row["witness"]["because"].as_str().expect("text");
    assert!(described.starts_with(because), "{op}: {described}");
    assert!(run.stdout.contains(&format!("{op} {kernel} scratch ")), "{}", run.printed());
}

#[test]
fn conv2d_pads_with_0() {
    let change = Change {
        name: "pads-with-0",
        file: "conv2d/by_matmul.rs",
        from: "padding: |params| params.input_zero_point, product",
        to: "padding: |_| 0, product",
    };
    broken(&change, "conv2d", "arm-uadalp", "padding", "the border is filled with 0 where it must be the zero point");
}

#[test]
fn two_rows_of_a_block_change_places() {
    let change = Change {
        name: "rows-exchanged",
        file: "matmul/blocks.rs",
        from: "places[row * DEPTH] = *element",
        to: "places[[1, 0, 2, 3][row] * DEPTH] = *element",
    };
    broken(&change, "transform", "tvm-block-transpose", "layout", "rows of each block come in the order [1, 0, 2, 3]");
    broken(&change, "matmul", "arm-uadalp", "layout", "");
    broken(&change, "conv2d", "arm-uadalp", "layout", "");
}

#[test]
fn the_tail_of_the_depth_is_dropped() {
    let change = Change {
        name: "depth-tail-dropped",
        file: "matmul/driver.rs",
        from: "let panel = (depth / DEPTH, ",
        to: "let panel = (k / DEPTH, ",
    };
    broken(
        &change,
        "matmul",
        "arm-uadalp",
        "truncated-tail",
        "products after the last whole 16 of the depth are dropped",
    );
    broken(&change, "conv2d", "arm-uadalp", "truncated-tail", "");
}

#[test]
fn the_second_half_is_added_in_16_bits() {
    let change = Change {
        name: "second-half-in-16-bits",
        file: "dot/arm_uadalp.rs",
        from: "acc.uadalp_4s(a.umull(b)).uadalp_4s(a.umull2(b))",
        to: "acc.uadalp_4s(a.umull(b).umlal2_8h(a, b))",
    };
    for op in ["dot", "matmul", "conv2d"] {
        broken(&change, op, "arm-uadalp", "16-bit-wrap", "");
    }
}

#[test]
fn an_offset_term_is_forgotten() {
    let change = Change {
        name: "offset-term-forgotten",
        file: "matmul/driver.rs",
        from: "        .wrapping_add(params.rhs_offset.wrapping_mul(terms.lhs_sum))\n",
        to: "",
    };
    broken(&change, "matmul", "arm-uadalp", "offset-term", "rhs_offset times the sums of lhs rows is missing");
    broken(&change, "conv2d", "arm-uadalp", "offset-term", "");
}

#[test]
fn the_depth_is_that_of_the_padding() {
    let change = Change {
        name: "depth-padded",
        file: "matmul/driver.rs",
        from: ".wrapping_mul(params.rhs_offset).wrapping_mul(params.k as i32);",
        to: ".wrapping_mul(params.rhs_offset).wrapping_mul(padded(params.k, DEPTH) as i32);",
    };
    let because = "lhs_offset * rhs_offset * depth takes the depth rounded up to 16";
    broken(&change, "matmul", "arm-uadalp", "padded-depth", because);
    broken(&change, "conv2d", "arm-uadalp", "padded-depth", "");
}

/// Kernel that writes after its results, writes to an operand, or leaves a result unwritten, each at one length.
#[test]
fn a_kernel_that_writes_where_it_must_not() {
    let change = Change {
        name: "stray-writes",
        file: "elementwise/loops.rs",
        from: "    elements.zip(out).for_each(|((lhs, rhs), out)| *out = f(element.read(lhs), element.read(rhs)));\n",
        to: "    let end = out.as_mut_ptr_range().end;\n    \
             let written = out.len() - usize::from(out.len() == 21);\n    \
             if out.len() == 22 {\n        \
             // SAFETY: none, on purpose.\n        \
             unsafe { *end.wrapping_add(2) = 7 };\n    }\n    \
             if out.len() == 23 {\n        \
             // SAFETY: none, on purpose.\n        \
             unsafe { lhs.as_ptr().cast_mut().write_volatile(9) };\n    }\n    \
             elements.zip(&mut out[..written]).for_each(|((lhs, rhs), out)| *out = f(element.read(lhs), element.read(rhs)));\n",
    };
    let worker = broken_worker(&change);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "scratch", &[worker.to_string_lossy().into_owned()]);
    for (length, class, reason) in [
        (21, "unwritten", "it left result 20 of 21 unwritten"),
        (22, "stray-write", "it wrote outside its results: 1 words after its results"),
        (23, "changed-operand", "it changed its input lhs"),
    ] {
        let case = format!("len={length} lhs_scale=0.5 rhs_scale=0.5 out_scale=1 lhs=3 rhs=-5");
        let run = verify_in(&file, &["--lane=scratch", "--op=add", "--kernel=tflite-add-i8", "--case", &case]).exits(1);
        assert!(run.stdout.contains(reason), "no `{reason}` in\n{}", run.printed());
        assert!(finding_classes(&run.ledger()).contains(&class), "{}", run.printed());
    }
}
