//! Faults that occur only at sizes of real layers: an index that wraps at 16 or 18 bits, or parameters of the wrong channel. `add` once reached only
//! 16,411 elements, the casts 65,536, and no requantization more than 70 channels.

use tiebreak_impls::quantized::{Granularity, Params as Cast};
use tiebreak_suites::budget::Effort;
use tiebreak_suites::dequantize::Dequantize;
use tiebreak_suites::dot::Dot;
use tiebreak_suites::elementwise::{Add, Mul, Sub};
use tiebreak_suites::engine::erased::{AnyCase, Kernel, op};
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::operation::{Case, CaseSelection, Operation, kernels};
use tiebreak_suites::quantize::Quantize;
use tiebreak_suites::requantize::Requantize;

/// Returns the kernels for which no selected case detects a fault, which changes the case that is read. Kernels of one domain share a plan, and
/// kernels of one contract share a result.
fn blind<O: Operation>(
    effort: Effort,
    wanted: impl Fn(&O::Domain, &O::Params) -> bool,
    fault: impl Fn(&Case<O::Params>) -> Option<Case<O::Params>>,
) -> Vec<&'static str> {
    let sees = |kernel: &&Kernel| {
        let (domain, scheme) = (&kernel.contract.domain, kernel.promise().expect("a scheme"));
        let specs = plans::plan(domain, &CaseSelection::default(), &effort.budget(), 1);
        let mut cases = specs.iter().filter(|spec| wanted(domain.typed::<O>(), spec.params.typed::<O>()));
        cases.any(|spec| {
            let case = spec.case(domain, 1).expect("a case");
            let given = |case: &AnyCase| scheme.expected(case).expect("in the domain");
            let wrong = fault(&case.typed::<O>()).map(|case| given(&AnyCase::of::<O>(case)));
            wrong.is_some_and(|wrong| {
                given(&case).iter().zip(&wrong).any(|(right, wrong)| right.is_some() && right != wrong)
            })
        })
    };
    let kernels = op::<O>().kernels().iter().filter(|kernel| !kernel.contract.domain.is_compiled());
    let blind = kernels.filter(|kernel| !sees(kernel));
    blind.map(|kernel| kernel.name).collect()
}

/// Returns the case with each element from `words` on replaced by the element `words` places before.
fn wrapped<P: Clone>(case: &Case<P>, words: usize) -> Option<Case<P>> {
    let tensors = case.tensors.each_ref().map(|tensor| (0..tensor.len()).map(|at| tensor[at % words]).collect());
    Some(Case { tensors: tensors.into(), ..case.clone() })
}

/// Checks an index of a number of bits, in runs of some efforts.
fn indices<O: Operation>(efforts: &[(Effort, u32)], count: impl Fn(&O::Domain, &O::Params) -> usize) {
    for (effort, bits) in efforts {
        let wanted = |domain: &O::Domain, params: &O::Params| count(domain, params) > 1 << bits;
        let blind = blind::<O>(*effort, wanted, |case| wrapped(case, 1 << bits));
        assert!(blind.is_empty(), "{} {}: an index of {bits} bits: {blind:?}", O::OP, effort.name());
    }
}

#[test]
fn an_index_that_wraps() {
    let both = [(Effort::Quick, 16), (Effort::Standard, 18)];
    indices::<Add>(&both, |_, p| p.len);
    indices::<Sub>(&both, |_, p| p.len);
    indices::<Mul>(&both, |_, p| p.len);
    indices::<FixedPointMultiply>(&both, |_, p| p.len);
    indices::<Requantize>(&both, |_, p| p.len);
    // A result of a cast costs more, and a step of a dot product has several elements.
    let standard = [(Effort::Standard, 16)];
    indices::<Quantize>(&standard, |_, p| p.shape.iter().product());
    indices::<Dequantize>(&standard, |_, p| p.shape.iter().product());
    indices::<Dot>(&standard, |domain, p| p.len / domain.results * domain.elements);
}

/// Checks each power of two as a period: the parameters of each channel from there on are those of an earlier channel.
fn each_power<O: Operation>(
    several: impl Fn(&O::Domain) -> bool,
    count: impl Fn(&O::Params) -> usize,
    wrap: impl Fn(&mut O::Params, usize),
) {
    for bits in 7..=11 {
        let wanted = |_: &O::Domain, params: &O::Params| count(params) > 1 << bits;
        let blind = blind::<O>(Effort::Quick, wanted, |case| {
            let mut case = case.clone();
            wrap(&mut case.params, 1 << bits);
            Some(case)
        });
        let one = |name: &&str| kernels::<O>().iter().any(|k| k.name == *name && several(&k.contract.domain));
        let blind: Vec<_> = blind.into_iter().filter(|name| one(name)).collect();
        assert!(blind.is_empty(), "{}: channels from {} on: {blind:?}", O::OP, 1 << bits);
    }
}

/// Replaces every item from `period` on by the item `period` places before.
fn wrap<T: Copy>(list: &mut [T], period: usize) {
    for at in period..list.len() {
        list[at] = list[at % period];
    }
}

#[test]
fn parameters_of_another_channel() {
    each_power::<FixedPointMultiply>(
        |domain| domain.per_channel,
        |p| p.params.channels.len(),
        |p, period| {
            wrap(&mut p.params.channels, period);
        },
    );
    let several = |domain: &tiebreak_impls::requantize::Domain| domain.channels.per_channel;
    each_power::<Requantize>(several, |p| p.channels.len(), |p, period| wrap(&mut p.channels, period));
    each_power::<Requantize>(
        |domain| domain.channels.per_channel && domain.bias,
        |p| p.channels.len(),
        |p, period| wrap(&mut p.bias, period),
    );
    let count = |p: &Cast| match p.quantized.granularity {
        Granularity::Channel { .. } => p.quantized.scales.len(),
        // Elements after the axis of the blocks.
        Granularity::Blocks { ref counts, .. } if counts[..] == [1, p.shape[p.shape.len() - 1]] => counts[1],
        _ => 0,
    };
    let several = |domain: &tiebreak_impls::quantize::Domain| domain.finest != tiebreak_impls::quantized::Finest::Layer;
    each_power::<Quantize>(several, count, |p, period| wrap(&mut p.quantized.scales, period));
    each_power::<Quantize>(several, count, |p, period| wrap(&mut p.quantized.zero_points, period));
    each_power::<Dequantize>(several, count, |p, period| wrap(&mut p.quantized.scales, period));
    each_power::<Dequantize>(several, count, |p, period| wrap(&mut p.quantized.zero_points, period));
}
