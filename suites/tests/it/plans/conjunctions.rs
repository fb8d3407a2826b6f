//! Convolutions: combined conditions in a plan, and layers of networks.

use tiebreak_impls::conv2d::Params;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::conv2d::Conv2d;
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::operation::CaseSelection;

/// Kernel that accepts groups and both zero points.
const KERNEL: &str = "tflite-reference-u8";

/// Returns the parameters of the part of a plan that `generator` names.
fn planned(generator: &str, effort: Effort) -> Vec<Params> {
    let kernel = op::<Conv2d>().find(KERNEL).expect("the kernel");
    let specs = plans::whole(&kernel.contract.domain, &CaseSelection::default(), &effort.budget(), 1);
    specs.iter().filter(|spec| spec.generator == generator).map(|spec| *spec.params.typed::<Conv2d>()).collect()
}

#[test]
fn every_three_conditions_are_in_a_case() {
    let conditions: [fn(&Params) -> bool; 9] = [
        |p| p.groups == p.channels && p.groups > 1,
        |p| p.stride_h > 1 || p.stride_w > 1,
        |p| p.dilation_h > 1 || p.dilation_w > 1,
        |p| p.top > 0,
        |p| p.right == 0,
        |p| p.input_zero_point != 0,
        |p| p.batches > 1,
        |p| p.output().is_ok_and(|(rows, _)| rows == 1),
        |p| p.weight_zero_point == 0,
    ];
    for effort in [Effort::Quick, Effort::Standard] {
        let all = planned("conjunctions", effort);
        println!("{effort:?}: {} cases", all.len());
        assert!(all.iter().all(|params| params.sizes().is_ok()), "{effort:?}");
        for (i, a) in conditions.iter().enumerate() {
            for (j, b) in conditions[..i].iter().enumerate() {
                for (k, c) in conditions[..j].iter().enumerate() {
                    let met = all.iter().any(|params| [a, b, c].iter().all(|is| is(params)));
                    assert!(met, "{effort:?}: {i}, {j}, {k}");
                }
            }
        }
    }
}

/// Every layer has results. Some paddings keep the size of the image, and some halve it.
#[test]
fn padding_of_layers_keeps_sizes_or_halves_them() {
    let layers = planned("networks", Effort::Standard);
    assert!(layers.iter().all(|layer| layer.sizes().is_ok()));
    let count = |stride: usize| {
        let padded = layers.iter().filter(|p| p.kernel_h > 1 && [p.stride_h, p.stride_w] == [stride, stride]);
        let sizes =
            padded.filter_map(|p| Some((p.output().ok()?, [p.height, p.width].map(|size| size.div_ceil(stride)))));
        sizes.filter(|((rows, columns), sizes)| [*rows, *columns] == *sizes).count()
    };
    let [kept, halved] = [1, 2].map(count);
    println!("{kept} of {} layers keep the size of the image, and {halved} halve it", layers.len());
    assert!(kept > 5 && halved > 2, "{kept}, {halved}");
}
