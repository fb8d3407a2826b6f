//! Truncated and damaged models: the result is a fault or an audit, never a panic.

use super::*;
use proptest::prelude::*;

fn models() -> [Vec<u8>; 2] {
    [crate::model::tests::samples::every(), onnx::every().model()]
}

/// Audits bytes as the fuzz target does.
fn holds(bytes: &[u8]) -> Result<Audit, Fault> {
    examine(bytes, runtime("tflite-reference"), &[runtime("xnnpack")])
}

#[test]
fn what_is_no_model_says_so() {
    for bytes in [&b""[..], b"\x7fELF....", b"model,scale\n", &[0; 64]] {
        let described = holds(bytes).expect_err("no model").to_string();
        assert!(described.contains("ModelProto") || described.contains("is no model"), "{described}");
    }
    let described = holds(b"\x08\x09\x3a\x05\x0a\x03abc").expect_err("a broken node").to_string();
    assert!(described.starts_with("ModelProto.graph.node[0], at byte 6: "), "{described}");
}

/// A contradiction in the file is a fault that names the tensor.
#[test]
fn contradictions_are_faults_that_say_where() {
    let mut b = onnx::every();
    b.int8("w", &[2, 1, 1, 2], &[1, 2, 3]);
    let described = holds(&b.model()).expect_err("too few weights").to_string();
    assert!(described.contains("tensor w, at byte 0: 3 values for dimensions of [2, 1, 1, 2]"), "{described}");
    let mut b = onnx::Builder::default();
    b.node("QLinearConv", &["x"], "y", &[]);
    let described = holds(&b.model()).expect_err("too few inputs").to_string();
    assert!(described.contains("QLinearConv node of y") && described.contains("there is no input 1"), "{described}");
}

/// Operators that cannot be audited are listed with the reason, and the others are audited.
#[test]
fn what_cannot_be_audited_is_listed() {
    let mut b = onnx::every();
    b.node("Conv", &["x", "w"], "float", &[]).node(
        "QLinearConv",
        &["x", "xs", "xz", "x", "ws", "wz", "ys", "yz"],
        "k",
        &[],
    );
    let audit = holds(&b.model()).expect("a model");
    let described: Vec<_> = audit.not_audited.iter().map(|n| (n.op.as_str(), n.reason.as_str())).collect();
    assert!(described.contains(&("QLinearConv", "the tensor of weights is computed, not constant")), "{described:?}");
    assert!(
        described.iter().any(|(op, reason)| *op == "Conv" && reason.contains("computes in float")),
        "{described:?}"
    );
}

/// Issue 30: a float layer, or a layer whose shape is a placeholder until the model runs, made the whole file count as damaged.
#[test]
fn layers_without_a_shape_are_left_out_with_the_reason() {
    use crate::model::tests::{build, samples};
    let mut operators = samples::each();
    let audited = holds(&build::model(&operators)).expect("a model").layers.len();
    let (mut dynamic, mut float) = (operators[0].clone(), operators[2].clone());
    dynamic.tensors[0].signature = vec![-1, 2, 2, 2];
    dynamic.tensors[2].shape = vec![1, 1, 1, 2];
    float.tensors.iter_mut().for_each(|tensor| tensor.kind = 0);
    float.tensors[2].shape = vec![1, 1, 1];
    operators.extend([dynamic.clone(), float]);
    let audit = holds(&build::model(&operators)).expect("a model");
    assert_eq!(audit.layers.len(), audited);
    let reasons: Vec<_> = audit.not_audited.iter().map(|n| (n.index, n.reason.as_str())).collect();
    assert!(reasons.iter().any(|(at, r)| *at == 7 && r.contains("shape_signature is -1")), "{reasons:?}");
    assert!(reasons.iter().any(|(at, r)| *at == 8 && r.contains("its type is FLOAT32")), "{reasons:?}");
    // The same shape without the signature is a contradiction.
    dynamic.tensors[0].signature.clear();
    let described = holds(&build::model(&[dynamic])).expect_err("a contradiction").to_string();
    assert!(described.contains("for a result of"), "{described}");
}

/// The reason names an unsupported type as the format does.
#[test]
fn types_have_names() {
    let mut b = onnx::every();
    b.int32("b32", &[1, 2]);
    b.node("QLinearConv", &["x", "b32", "xz", "w", "ws", "wz", "ys", "yz"], "k", &[]);
    let audit = holds(&b.model()).expect("a model");
    let reasons: Vec<_> = audit.not_audited.iter().map(|n| n.reason.as_str()).collect();
    assert!(reasons.contains(&"a scale of INT32; one of FLOAT can be audited"), "{reasons:?}");
}

/// Truncates the files at every length, which is feasible because they are small.
#[test]
fn no_shortened_file_makes_a_panic() {
    for model in models() {
        for length in 0..model.len() {
            let _ = holds(&model[..length]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_bytes_changed_make_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), onnx in any::<bool>(),
    ) {
        let mut bytes = models()[usize::from(onnx)].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = holds(&bytes);
    }
}
