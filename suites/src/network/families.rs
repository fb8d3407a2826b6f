//! Runs of one system's kernels through all layers of a network, to count differences at the outputs.

use super::call::Call;
use super::{Compute, Ended, Inputs, Results, Run};
use crate::model::network::Stored;
use std::cell::RefCell;
use std::collections::BTreeSet;
use tiebreak_reports::ledger::Family;

/// Kernels of each system. The first kernel that takes a layer computes the layer.
const FAMILIES: [(&str, &[&str]); 8] = [
    (
        "tflite",
        &[
            "tflite-depthwise-i8",
            "tflite-conv-i8",
            "tflite-transpose-conv-i8",
            "tflite-add-i8",
            "tflite-mul-i8",
            "tflite-average-pool-i8",
            "tflite-max-pool-i8",
            "tflite-requantize-i8",
            "tflite-requantize-u8",
            "tflite-quantize",
            "tflite-dequantize",
        ],
    ),
    (
        "tflite-single",
        &["tflite-conv-single-i8", "tflite-add-single-i8", "tflite-mul-single-i8", "tflite-requantize-single-i8"],
    ),
    ("ruy", &["ruy-conv-i8", "tflite-average-pool-optimized-i8"]),
    (
        "cmsis-nn",
        &[
            "cmsis-nn-depthwise-i8",
            "cmsis-nn-convolve-i8",
            "cmsis-nn-transpose-conv-i8",
            "arm-elementwise-add-s8",
            "arm-elementwise-mul-s8",
            "arm-avgpool-s8",
            "arm-max-pool-s8",
            "cmsis-nn-requantize-i8",
        ],
    ),
    (
        "cmsis-nn-single",
        &[
            "cmsis-nn-convolve-single-i8",
            "arm-elementwise-add-single-s8",
            "arm-elementwise-mul-single-s8",
            "arm-avgpool-s8",
            "cmsis-nn-requantize-single-i8",
        ],
    ),
    ("tvm", &["tvm-qnn-conv2d-i8", "tvm-avg-pool2d-i8", "tvm-requantize-i8"]),
    ("tvm-tonearest", &["tvm-qnn-conv2d-tonearest-i8", "tvm-avg-pool2d-i8", "tvm-requantize-tonearest-i8"]),
    ("tvm-neon", &["tvm-qnn-conv2d-neon-i8", "tvm-avg-pool2d-i8"]),
];

/// Runs each family, or the kernels that the caller names as a family. Families without a kernel for any layer are left out.
pub(super) fn run(run: &Run<'_, '_>, inputs: &Inputs, exact: (&[usize], &Results), named: &[String]) -> Vec<Family> {
    let names: Vec<&str> = named.iter().map(String::as_str).collect();
    let families: Vec<(String, &[&str])> = match &names[..] {
        [] => FAMILIES.iter().map(|(name, kernels)| ((*name).to_owned(), *kernels)).collect(),
        names => vec![(names.join(", "), names)],
    };
    let one = |(name, kernels): (String, &[&str])| through(run, inputs, exact, name, kernels);
    families.into_iter().map(one).filter(|family| family.layers > 0).collect()
}

fn through(
    run: &Run<'_, '_>,
    inputs: &Inputs,
    (ends, exact_results): (&[usize], &Results),
    name: String,
    kernels: &[&str],
) -> Family {
    let used: RefCell<BTreeSet<&'static str>> = RefCell::default();
    // True if a kernel of the family computed a part of the current layer.
    let own = RefCell::new(false);
    let compute: Compute<'_> = &|call: &dyn Call, kernel| match call.run(kernels) {
        Ok(Some((name, out))) => {
            used.borrow_mut().insert(name);
            *own.borrow_mut() = true;
            Ok(out)
        }
        Ok(None) => call.exact(kernel),
        Err(error) => Err(error.to_string()),
    };
    let (mut layers, mut others, mut first) = (BTreeSet::new(), BTreeSet::new(), None::<usize>);
    let mut outputs: Results = Results::new();
    run.all(inputs, compute, |at, input, ended, results| {
        if ends.contains(&at) {
            outputs.insert((at, input), results.to_vec());
        }
        if matches!(ended, Ended::Computed(_)) {
            if own.replace(false) {
                layers.insert(at)
            } else {
                others.insert(at)
            };
            let same = exact_results.get(&(at, input)).is_some_and(|exact| exact == results);
            first = first.into_iter().chain((!same).then_some(at)).min();
        }
    });
    let mut family =
        Family { name, kernels: used.into_inner().into_iter().map(str::to_owned).collect(), ..Family::default() };
    (family.layers, family.exact_layers) = (layers.len(), others.len());
    family.first_layer = first.map(|at| run.layers[at].node.index);
    for input in 0..inputs.len() {
        let (mut differs, mut moved) = (false, false);
        for end in ends {
            let (ours, exact) = (outputs.remove(&(*end, input)).unwrap_or_default(), &exact_results[&(*end, input)]);
            let is_float =
                run.layers[*end].node.outputs.first().is_some_and(|at| run.net.tensors[*at].stored == Stored::Float);
            let place = |v: i32| if is_float && v < 0 { -i64::from(v & i32::MAX) } else { i64::from(v) };
            let greatest = |values: &[i32]| {
                let places = values.iter().enumerate().map(|(at, v)| (place(*v), std::cmp::Reverse(at)));
                places.max().map(|(_, at)| at.0)
            };
            family.outputs += exact.len() as u64;
            for (a, b) in ours.iter().zip(exact).filter(|(a, b)| a != b) {
                family.differ += 1;
                family.largest = family.largest.max(place(*a).abs_diff(place(*b)));
                differs = true;
            }
            moved |= greatest(&ours) != greatest(exact);
        }
        family.inputs_that_differ += usize::from(differs);
        family.argmax_changes += usize::from(moved);
    }
    family
}
