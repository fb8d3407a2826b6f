//! Faults that strike in one place only are convicted by a short run: at a position, in a tail, from some size on, at one size, in one channel
//! or row, at one zero point, in an interval of scales or accumulators, at a boundary of the results. Each kernel of an operation has another.

use crate::common::*;
use serde_json::{Value, json};

/// A quick run of these kernels, each with its fault, in the lane `host-worker`: all are convicted.
#[track_caller]
fn convicted(op: &str, faults: &[(&str, Value)]) {
    convicted_at("quick", op, faults);
}

#[track_caller]
fn convicted_at(effort: &str, op: &str, faults: &[(&str, Value)]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let rows: Vec<Value> = faults
        .iter()
        .map(|(kernel, fault)| {
            let mut row = json!({ "kernel": kernel });
            row.as_object_mut().expect("an object").extend(fault.as_object().expect("an object").clone());
            row
        })
        .collect();
    let command = corruptor(dir.path(), &worker("host-worker"), &json!(rows));
    let file = lanes_with(dir.path(), "host-worker", &command);
    let mut arguments = vec!["--lane=host-worker", "--effort", effort, "--op", op];
    faults.iter().for_each(|(kernel, _)| arguments.extend(["--kernel", *kernel]));
    let run = verify_in(&file, &arguments).exits(1);
    let ledger = run.ledger();
    let found = |kernel: &str| items(&ledger, "findings").iter().any(|finding| finding["kernel"] == kernel);
    let alive: Vec<_> = faults.iter().filter(|(kernel, _)| !found(kernel)).collect();
    assert!(alive.is_empty(), "{op}: not convicted: {alive:#?}");
}

/// Results at a place are one higher.
fn at(place: Value) -> Value {
    json!({"where": {"place": place}})
}

/// Results at a place are those of a place before.
fn stale(moved: usize, place: Value) -> Value {
    json!({"where": {"place": place, "moved": moved}})
}

/// Words of the first operand at a place are read from the place before.
fn misread(place: Value) -> Value {
    json!({"reads": {"place": place, "moved": 1}})
}

#[test]
fn of_additions() {
    convicted(
        "add",
        &[
            ("tflite-add-i8", stale(1, json!({"last_vector": 16, "parameters": {"len": [17, 4000]}}))),
            ("tflite-add-u8", stale(8, json!({"last_vector": 32, "parameters": {"len": [33, 4000]}}))),
            ("tflite-add-single-i8", stale(4, json!({"last_vector": 64, "parameters": {"len": [65, 127]}}))),
            ("tosa-add-double-i8", at(json!({"length_mod": [64, 37]}))),
            ("tosa-add-double-u8", at(json!({"parameters": {"out.zero_point": [171, 171]}}))),
            ("tosa-add-single-i8", at(json!({"parameters": {"lhs.zero_point": [-77, -77]}}))),
            ("arm-elementwise-add-s8", at(json!({"index": [4096, 9999]}))),
            ("xnnpack-qs8-vadd", at(json!({"parameters": {"lhs.scale": [0.0030, 0.0040]}}))),
            ("xnnpack-qu8-vadd", at(json!({"parameters": {"len": [73, 73]}}))),
            ("xnnpack-qs8-vadd-neon", at(json!({"position_mod": [16, 15], "misalign": [7, 7], "index": [16, 9999]}))),
            ("onnx-qlinearadd-i8", misread(json!({"index": [48, 63], "parameters": {"len": [50, 63]}}))),
            ("onnx-qlinearadd-u8", at(json!({"value": [255, 255]}))),
            ("onnx-qlinearadd-fixed-i8", at(json!({"batches": [2, 2]}))),
            ("pytorch-qadd-i8", at(json!({"input": [-128, -128], "value": [-128, -128]}))),
            (
                "arm-elementwise-add-single-s8",
                at(json!({"parameters": {"min": [20, 60], "max": [20, 60], "lhs.zero_point": [-128, 127]}})),
            ),
            (
                "tosa-add-halves-double-i8",
                at(
                    json!({"parameters": {"lhs.zero_point": [-128, -128], "rhs.zero_point": [-128, -128]}, "index": [1, 999]}),
                ),
            ),
        ],
    );
}

#[test]
fn of_multiplications() {
    convicted(
        "mul",
        &[
            ("tflite-mul-i8", stale(1, json!({"last_vector": 16, "parameters": {"len": [17, 4000]}}))),
            ("tflite-mul-u8", stale(8, json!({"last_vector": 32, "parameters": {"len": [33, 4000]}}))),
            ("tflite-mul-i16", at(json!({"length_mod": [32, 21]}))),
            ("tflite-mul-single-i8", at(json!({"parameters": {"rhs.zero_point": [90, 90]}}))),
            ("xnnpack-qs8-vmul", at(json!({"parameters": {"rhs.scale": [0.001, 0.002]}}))),
            ("xnnpack-qu8-vmul", at(json!({"index": [2048, 9999]}))),
            ("onnx-qlinearmul-i8", misread(json!({"index": [48, 63], "parameters": {"len": [50, 63]}}))),
            ("onnx-qlinearmul-u8", at(json!({"length_mod": [64, 63]}))),
            (
                "tosa-mul-double-i8",
                at(
                    json!({"parameters": {"lhs.zero_point": [-128, -128], "rhs.zero_point": [-128, -128]}, "value": [1, 100], "index": [1, 999]}),
                ),
            ),
        ],
    );
}

#[test]
fn of_dot_products() {
    convicted(
        "dot",
        &[
            ("arm-uadalp", stale(4, json!({"parameters": {"len": [260, 316]}, "index": [256, 400]}))),
            ("arm-udot", at(json!({"input": [70_000, 71_000]}))),
            ("arm-sdot", at(json!({"length_mod": [64, 44]}))),
            ("arm-ummla", at(json!({"index": [8192, 99_999]}))),
            ("x86-maddubs", at(json!({"input": [-3, -3]}))),
            ("nvidia-dp4a-s8", at(json!({"parameters": {"len": [513, 513]}}))),
            ("arm-smlal-int16", at(json!({"position_mod": [8, 7], "misalign": [3, 3]}))),
        ],
    );
}

#[test]
fn of_matrix_products() {
    let from = |name: &str, first: u32| json!({"parameters": {name: [first, 1 << 24]}});
    convicted(
        "matmul",
        &[
            ("arm-uadalp", misread(json!({"parameters": {"k": [257, 257]}, "column": [256, 256]}))),
            ("arm-sadalp", misread(json!({"parameters": {"k": [513, 9999]}, "column": [512, 600]}))),
            ("arm-udot", misread(json!({"column": [1024, 1024], "parameters": {"k": [1025, 5000]}}))),
            ("arm-sdot", misread(json!({"column": [4096, 4098]}))),
            ("arm-ummla", stale(1, json!({"column": [64, 64]}))),
            ("arm-umlal-fast", stale(65, json!({"row": [64, 64], "parameters": {"m": [65, 65]}}))),
            ("arm-smlal-fast", stale(1, json!({"column": [129, 129]}))),
            ("arm-smlal-int16", at(json!({"parameters": {"k": [71, 71]}}))),
            ("x86-maddubs", at(json!({"parameters": {"n": [59, 59]}}))),
            ("x86-vnni", at(json!({"parameters": {"m": [47, 47]}}))),
            ("nvidia-dp4a-s8", at(from("m", 128))),
            ("nvidia-dp4a-u8", at(json!({"parameters": {"n": [41, 41], "k": [65, 9999]}, "column": [40, 40]}))),
            ("nvidia-dp4a-mixed", at(json!({"parameters": {"m": [25, 25], "k": [65, 9999]}}))),
            ("x86-vnni-saturating", at(json!({"parameters": {"m": [16, 999], "k": [512, 512]}}))),
            ("gemmlowp-reference", at(json!({"parameters": {"k": [32768, 33000], "rhs_offset": [-255, -1]}}))),
            ("arm-bitserial", at(json!({"length_mod": [64, 61]}))),
        ],
    );
}

#[test]
fn of_convolutions() {
    let from = |name: &str, first: u32| at(json!({"parameters": {name: [first, 1 << 24]}}));
    convicted(
        "conv2d",
        &[
            ("arm-uadalp", stale(1, json!({"column": [64, 64]}))),
            ("arm-sadalp", from("kernel_h", 6)),
            ("arm-udot", from("stride_w", 4)),
            ("arm-sdot", from("dilation_h", 4)),
            ("arm-ummla", from("batches", 4)),
            ("arm-umlal-fast", misread(json!({"column": [64, 99]}))),
            ("arm-smlal-fast", at(json!({"parameters": {"bottom": [5, 5], "top": [0, 3]}}))),
            ("arm-smlal-int16", at(json!({"parameters": {"out_channels": [53, 53]}}))),
            ("x86-maddubs", at(json!({"parameters": {"channels": [61, 61]}}))),
            ("x86-vnni", at(json!({"parameters": {"kernel_w": [7, 7], "kernel_h": [1, 6]}}))),
            ("nvidia-dp4a-s8", at(json!({"parameters": {"input_zero_point": [-101, -101]}}))),
            ("arm-bitserial", at(json!({"parameters": {"weight_zero_point": [200, 200]}}))),
            (
                "tflite-reference",
                at(json!({"parameters": {"dilation_h": [2, 2], "top": [2, 2], "height": [4, 99]}, "row": [4, 99]})),
            ),
            ("onednn-s8s8-shift", at(json!({"value": [20_000_000, 99_999_999]}))),
        ],
    );
}

#[test]
fn of_fixed_point_multiplies() {
    convicted(
        "fpm",
        &[
            ("tvm-qmuls", at(json!({"parameters": {"q": [7, 7]}}))),
            ("tvm-neon-rfc", at(json!({"parameters": {"q": [29, 29]}}))),
            ("tvm-relay-per-channel", stale(1, json!({"parameters": {"channels.len": [7, 7]}}))),
        ],
    );
}

/// The channels of images lie along the second of four dimensions.
#[test]
fn of_casts_in_four_dimensions() {
    let second =
        |last: u32| json!({"parameters": {"shape.len": [4, 4], "quantized.granularity.channel.axis": [1, last]}});
    convicted("quantize", &[("onnx-quantizelinear", at(second(1))), ("tflite-quantize", at(second(1)))]);
    convicted("dequantize", &[("onnx-dequantizelinear", at(second(1))), ("pytorch-dequantize", at(second(3)))]);
}

#[test]
fn of_requantizations() {
    let minimum = |shift: i32| json!({"parameters": {"channels.0.multiplier": [i32::MIN, i32::MIN], "channels.0.shift": [shift, 0]}, "input": [i32::MIN, i32::MIN]});
    convicted("requantize", &[("gemmlowp-quantize-down-fixedpoint", at(minimum(-31)))]);
}

#[test]
fn of_transforms() {
    convicted(
        "transform",
        &[
            ("tvm-interleave", misread(json!({"index": [4096, 99_999]}))),
            ("tvm-block-transpose", stale(1, json!({"parameters": {"matrix.columns": [70, 129]}}))),
            ("tvm-unpack", stale(1, json!({"parameters": {"matrix.rows": [80, 80]}, "index": [79, 99]}))),
            ("tvm-im2col", at(json!({"parameters": {"conv2d.kernel_w": [7, 7]}}))),
            ("tvm-unflatten", at(json!({"parameters": {"conv2d.batches": [17, 17]}}))),
        ],
    );
}

/// Fast paths are chosen by parameters that coincide. A red team planted faults of this kind, and more than half of them passed a run of standard effort.
#[test]
fn of_parameters_that_coincide() {
    let alike = |names: &[&str]| at(json!({"equal": names}));
    let within = |parameters: Value| at(json!({"parameters": parameters}));
    convicted(
        "add",
        &[
            ("tflite-add-i8", alike(&["lhs.scale", "rhs.scale", "out.scale"])),
            (
                "xnnpack-qs8-vadd",
                at(json!({"equal": ["lhs.zero_point", "rhs.zero_point", "out.zero_point"], "index": [1, 80]})),
            ),
            (
                "onnx-qlinearadd-u8",
                within(json!({"lhs.zero_point": [0, 0], "rhs.zero_point": [0, 0], "out.zero_point": [1, 255]})),
            ),
            ("pytorch-qadd-i8", within(json!({"lhs.scale": [0, 1e-20]}))),
        ],
    );
    convicted(
        "mul",
        &[
            (
                "tflite-mul-i8",
                at(json!({"equal": ["lhs.scale", "out.scale"], "parameters": {"lhs.zero_point": [0, 0]}})),
            ),
            ("tflite-mul-i16", alike(&["rhs.scale", "out.scale"])),
            ("onnx-qlinearmul-u8", within(json!({"lhs.zero_point": [0, 0], "rhs.zero_point": [255, 255]}))),
        ],
    );
    convicted(
        "matmul",
        &[
            ("arm-udot", within(json!({"m": [64, 64], "n": [64, 64], "k": [64, 64]}))),
            ("arm-sadalp", within(json!({"m": [65, 999], "n": [65, 999], "k": [65, 999]}))),
            ("arm-smlal-int16", within(json!({"rhs_offset": [0, 0], "lhs_offset": [1, 999], "k": [257, 999]}))),
            ("x86-maddubs", at(json!({"equal": ["m", "n", "k"], "parameters": {"k": [17, 17]}}))),
            (
                "gemmlowp-reference",
                at(
                    json!({"equal": ["lhs_offset", "rhs_offset"], "parameters": {"lhs_offset": [-255, -1], "k": [65, 999]}}),
                ),
            ),
        ],
    );
    let pointwise = json!({"kernel_h": [1, 1], "kernel_w": [1, 1], "batches": [2, 9], "channels": [17, 999]});
    let halved = json!({"stride_h": [2, 2], "stride_w": [2, 2], "top": [0, 0], "bottom": [1, 1], "kernel_h": [3, 3]});
    convicted(
        "conv2d",
        &[
            ("arm-udot", within(pointwise)),
            ("tflite-reference", within(halved)),
            (
                "arm-ummla",
                at(json!({"equal": ["groups", "channels", "out_channels"], "parameters": {"groups": [16, 99]}})),
            ),
            (
                "arm-uadalp",
                at(
                    json!({"equal": ["height", "kernel_h"], "parameters": {"height": [3, 9], "weight_zero_point": [0, 0]}}),
                ),
            ),
        ],
    );
    convicted(
        "requantize",
        &[
            ("tosa-rescale-i8", within(json!({"zero_point": [0, 0], "bias.0": [0, 0], "len": [16, 999]}))),
            ("tflite-requantize-i8", at(json!({"equal": ["channels.len", "len"], "parameters": {"len": [16, 64]}}))),
        ],
    );
    convicted("transform", &[("tvm-interleave", within(json!({"matrix.rows": [1, 1], "matrix.columns": [65, 999]})))]);
}

/// Code has paths of its own for filters that were pruned, channels that are padding and rows that are repeated. A red team planted faults of this kind,
/// and a quick run convicted 31 of 183.
#[test]
fn of_operands_whose_slices_are_alike() {
    let along = |operand: usize, axis: usize, are: &str| {
        at(json!({"slices": {"operand": operand, "along": {"axis": axis}, "are": are}}))
    };
    let blocks = |operand: usize, words: usize, are: &str| {
        at(json!({"slices": {"operand": operand, "along": {"blocks": words}, "are": are}}))
    };
    convicted(
        "matmul",
        &[
            ("arm-udot", along(1, 1, "one_constant")),
            ("arm-sadalp", along(0, 0, "two_alike")),
            ("gemmlowp-reference", along(1, 0, "all_alike")),
            ("x86-vnni", along(0, 1, "one_varied")),
        ],
    );
    convicted(
        "conv2d",
        &[
            ("tflite-reference", along(1, 3, "one_constant")),
            ("arm-uadalp", along(0, 3, "one_constant")),
            ("arm-ummla", along(1, 2, "two_alike")),
            ("onednn-s8s8-shift", along(0, 1, "all_alike")),
        ],
    );
    convicted(
        "add",
        &[("xnnpack-qs8-vadd", blocks(0, 16, "one_constant")), ("tflite-add-i8", blocks(1, 8, "all_alike"))],
    );
    convicted("mul", &[("xnnpack-qu8-vmul", blocks(1, 32, "two_alike"))]);
    convicted("dot", &[("arm-sdot", blocks(0, 32, "one_varied"))]);
    convicted("requantize", &[("tflite-requantize-i8", blocks(0, 16, "two_alike"))]);
}

/// What is kept between calls under too narrow a key shows where little changes from one to the next. A quick run convicted 55 of the 190 faults of this kind
/// that a red team planted.
#[test]
fn of_calls_that_differ_little() {
    let changed = |name: &str| at(json!({"since": {"changed": name}}));
    let exchanged = |one: &str, other: &str| at(json!({"since": {"exchanged": [one, other]}}));
    let back = || at(json!({"since": "back"}));
    convicted(
        "fpm",
        &[("tflite-single", changed("channels.0.shift")), ("tvm-relay-per-channel", changed("channels.len"))],
    );
    convicted("dot", &[("arm-sdot", changed("len")), ("arm-udot", back())]);
    convicted("matmul", &[("arm-udot", changed("k")), ("arm-sdot", exchanged("m", "n")), ("arm-uadalp", back())]);
    convicted(
        "conv2d",
        &[
            ("tflite-reference", changed("dilation_w")),
            ("arm-udot", exchanged("input_zero_point", "weight_zero_point")),
            ("onednn-s8s8-shift", back()),
        ],
    );
    convicted("requantize", &[("tflite-requantize-i8", changed("channels.0.multiplier")), ("tosa-rescale-i8", back())]);
    convicted("quantize", &[("tflite-quantize", changed("quantized.zero_points.0"))]);
    convicted("dequantize", &[("tflite-dequantize", changed("quantized.scales.0"))]);
    convicted(
        "add",
        &[("tflite-add-i8", changed("rhs.zero_point")), ("pytorch-qadd-i8", exchanged("lhs.scale", "out.scale"))],
    );
    convicted("mul", &[("tflite-mul-i8", changed("lhs.scale"))]);
    convicted("transform", &[("tvm-interleave", changed("matrix.columns"))]);
}

/// A last vector that repeats what lies before it shows among other accumulators only. What is printed beside it runs it among them.
#[test]
fn what_shows_among_others_only_is_shown_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let kernel = "xnnpack-rndnu-neon";
    let rows = json!([{"kernel": kernel, "where": {"place": {"last_vector": 16, "index": [16, 99_999]}, "moved": 1}}]);
    let command = corruptor(dir.path(), &worker("host-worker"), &rows);
    let file = lanes_with(dir.path(), "host-worker", &command);
    let run = verify_in(&file, &["--lane=host-worker", "--effort=quick", "--op", "fpm", "--kernel", kernel])
        .exits(1)
        .ledger();
    let witness = &items(&run, "findings")[0]["witness"];
    let [index, len] = ["index", "len"].map(|name| witness["case"][name].as_u64().expect("a place"));
    assert!(16 <= index && index < len, "{witness}");
    let printed = witness["command"].as_str().expect("a command").strip_prefix("cargo xtask verify ");
    let again: Vec<&str> = printed.expect("a run").split(' ').chain(["--effort=quick"]).collect();
    let again = verify_in(&file, &again).exits(1).ledger();
    assert!(items(&again, "findings").iter().any(|finding| finding["kernel"] == kernel), "{witness}");
}

/// What a kernel's domain has and the kernel refuses is a finding, and no smaller plan.
#[test]
fn of_a_kernel_that_refuses_what_it_promises() {
    convicted("add", &[("xnnpack-qs8-vadd", json!({"refuses": {"parameters": {"lhs.scale": [1.0, 4.0]}}}))]);
    convicted("mul", &[("xnnpack-qs8-vmul", json!({"refuses": {"parameters": {"len": [80, 80]}}}))]);
}

/// 149 faults of families that no document named were planted, and these were among the mechanisms that passed: sizes of real layers, which are long along
/// several axes at once, whole numbers of blocks, or one more.
#[test]
fn of_layers_of_real_networks() {
    let from = |sizes: &[(&str, u32)]| {
        let each: serde_json::Map<String, Value> =
            sizes.iter().map(|(name, first)| ((*name).to_owned(), json!([first, 1 << 24]))).collect();
        json!({ "parameters": each })
    };
    let whole = |by: u32, mut place: Value, names: &[&str]| {
        let each: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!([by, 0]))).collect();
        place["parameters_mod"] = json!(each);
        at(place)
    };
    convicted(
        "matmul",
        &[
            ("arm-udot", whole(64, from(&[("k", 200), ("n", 200)]), &["k", "n"])),
            ("arm-sdot", at(from(&[("n", 300), ("k", 300)]))),
            ("arm-ummla", whole(32, from(&[("m", 60), ("n", 60), ("k", 60)]), &["m", "n", "k"])),
            ("x86-vnni", at(from(&[("m", 100), ("n", 24), ("k", 64)]))),
            ("gemmlowp-reference", stale(1, json!({"parameters": {"k": [257, 999], "n": [400, 2000]}}))),
        ],
    );
    let filter = json!([3, 3]);
    let square = |more: Value| {
        let mut place = json!({"parameters": {"kernel_h": filter, "kernel_w": filter, "groups": [1, 1]}});
        place["parameters"].as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        at(place)
    };
    convicted(
        "conv2d",
        &[
            (
                "arm-sdot",
                square(json!({"channels": [16, 999], "out_channels": [16, 999], "height": [7, 99], "width": [7, 99]})),
            ),
            (
                "arm-udot",
                at(json!({"equal": ["groups", "channels", "out_channels"], "parameters": {"channels": [128, 9999]}})),
            ),
            (
                "tflite-reference",
                at(
                    json!({"equal": ["stride_h", "kernel_h"], "parameters": {"stride_h": [4, 99], "out_channels": [33, 999]}}),
                ),
            ),
        ],
    );
}

/// The same origin: conditions that have to come together, of which each alone was in many cases. A run of standard effort has every three of them.
#[test]
fn of_conditions_that_come_together() {
    let whole = |parameters: Value, by: Value| at(json!({"parameters": parameters, "parameters_mod": by}));
    convicted_at(
        "standard",
        "matmul",
        &[
            ("arm-udot", whole(json!({"m": [1, 1], "rhs_offset": [-999, -1]}), json!({"n": [16, 0], "k": [32, 0]}))),
            (
                "arm-sadalp",
                whole(json!({"n": [1, 1], "lhs_offset": [0, 0], "m": [9, 99]}), json!({"m": [16, 0], "k": [64, 0]})),
            ),
        ],
    );
    let above = json!([2, 99]);
    let alike = |parameters: Value, equal: &[&str]| at(json!({"parameters": parameters, "equal": equal}));
    convicted_at(
        "standard",
        "conv2d",
        &[
            (
                "arm-udot",
                alike(
                    json!({"channels": [8, 99], "stride_h": above, "dilation_h": above}),
                    &["groups", "channels", "out_channels"],
                ),
            ),
            (
                "arm-sdot",
                alike(json!({"batches": above, "dilation_w": above, "channels": [8, 99]}), &["groups", "channels"]),
            ),
        ],
    );
}

/// The same origin: a clamp that is wrong at one width, sign and kind of bounds. Four bits had no case of a narrow range at all.
#[test]
fn of_results_at_the_bounds_of_every_stored_type() {
    let at_bound = |bits: u32, min: i64, bound: &str| {
        at(json!({"parameters": {"quantized.storage.bits": [bits, bits], "quantized.min": [min, min]}, "bound": bound}))
    };
    convicted(
        "quantize",
        &[
            ("mlir-qcast", at_bound(4, -7, "quantized.min")),
            ("mlir-qcast-vector", at_bound(8, -127, "quantized.max")),
            ("xnnpack-quantize", at_bound(8, 1, "quantized.min")),
            ("mlir-qcast-arm", at_bound(4, 1, "quantized.max")),
        ],
    );
    convicted(
        "dequantize",
        &[("mlir-dcast", at(json!({"parameters": {"quantized.storage.bits": [4, 4], "quantized.min": [-7, -7]}})))],
    );
}

/// The same origin: blocks and channels of tensors of every number of axes. ONNX's kernels had no blocks in three.
#[test]
fn of_blocks_in_every_number_of_axes() {
    let blocks = |rank: u32| at(json!({"parameters": {"quantized.granularity.blocks.counts.len": [rank, rank]}}));
    let channels = |rank: u32, axis: u32| {
        at(json!({"parameters": {"shape.len": [rank, rank], "quantized.granularity.channel.axis": [axis, axis]}}))
    };
    convicted(
        "quantize",
        &[
            ("onnx-quantizelinear", blocks(3)),
            ("mlir-qcast", blocks(5)),
            ("tflite-quantize", channels(5, 3)),
            ("pytorch-quantize", channels(4, 2)),
        ],
    );
    convicted(
        "dequantize",
        &[("onnx-dequantizelinear", blocks(3)), ("pytorch-dequantize", channels(5, 4)), ("mlir-dcast", blocks(5))],
    );
}

/// The same origin: results that are the largest number of a float type, or infinite, by half a unit.
#[test]
fn of_results_where_a_float_becomes_infinite() {
    let word = |word: u32| at(json!({"value": [word, word]}));
    let dequantized = |faults: &[(&str, Value)]| convicted_at("standard", "dequantize", faults);
    dequantized(&[("mlir-dcast", word(0x7bff)), ("tflite-dequantize", word(0x7f7f_ffff))]);
    dequantized(&[("mlir-dcast", word(0x7f7f)), ("onnx-dequantizelinear", word(0x7f7f_ffff))]);
}
