//! Layers of a model as matrix products: the patches of the input are the rows of lhs, and the filters are the columns of rhs. Layers with several
//! groups are several products; only the convolutions run them.

use super::Matmul;
use tiebreak_engine::operation::parameter_coverage::distinct;
use tiebreak_engine::operation::{Fill, Layer, Operation, ParameterCoverage, Spec};
use tiebreak_impls::element::Element;
use tiebreak_impls::matmul::{Domain, Params};
use tiebreak_reports::ledger::Unit;
use tiebreak_reports::text;

/// Upper bound on patches of a layer that are run. Every patch meets the same weights.
const ROWS: usize = 17;

/// True if a layer is a single product.
pub(super) fn is_product(layer: &Layer) -> bool {
    layer.shape.groups == 1 && layer.shape.output().is_ok()
}

/// Converts an int8 layer to the kernel's operand types. For an unsigned operand, data and zero point move by 128, which changes no product.
fn product(domain: &Domain, layer: &Layer) -> Params {
    let shape = &layer.shape;
    let (rows, columns) = shape.output().unwrap_or((1, 1));
    let offset = |zero_point: i32, element: Element| -(zero_point + if element == Element::U8 { 128 } else { 0 });
    Params {
        m: shape.batches.saturating_mul(rows).saturating_mul(columns).min(ROWS),
        n: shape.out_channels,
        k: shape.kernel_h * shape.kernel_w * shape.channels,
        lhs_offset: offset(shape.input_zero_point, domain.lhs),
        rhs_offset: offset(shape.weight_zero_point, domain.rhs),
    }
}

/// Returns each layer with random and extreme data, with random weights and with its own weights.
pub(super) fn specs(domain: &Domain, layers: &[Layer]) -> Vec<Spec<Params>> {
    let of = |layer: &Layer| {
        let params = product(domain, layer);
        fills(domain, layer).into_iter().map(move |[lhs, rhs]| Spec::new(params, [lhs, rhs, Fill::None], 0))
    };
    layers.iter().filter(|layer| is_product(layer)).flat_map(of).collect()
}

/// Returns random and extreme data, each with random weights and, if the kernel accepts them, with the layer's own weights.
pub(crate) fn fills(domain: &Domain, layer: &Layer) -> Vec<[Fill; 2]> {
    let more = if domain.rhs == Element::U8 { 128 } else { 0 };
    let own = layer.weights.iter().map(|all| all.iter().map(|w| w + more).collect::<Vec<i32>>());
    let own = own.filter(|all| all.iter().all(|w| domain.rhs_values.contains(w))).map(Fill::Given);
    let weights: Vec<Fill> = Fill::RANDOM.into_iter().chain(own).collect();
    let data = [Fill::Uniform, Fill::Extremes, Fill::Smallest, Fill::Largest];
    data.iter().flat_map(|data| weights.iter().map(|weights| [data.clone(), weights.clone()])).collect()
}

/// Counts the layers that are products, and lists products without a case.
pub(super) fn caller_coverage(domain: &Domain, layers: &[Layer], run: &[&Params]) -> ParameterCoverage {
    let run = distinct(run);
    let products: Vec<(usize, Params)> = layers
        .iter()
        .enumerate()
        .filter(|(_, layer)| is_product(layer))
        .map(|(at, layer)| (at, product(domain, layer)))
        .collect();
    let described = |_, (at, params): &(usize, Params)| {
        let arguments = Matmul::arguments(params).into_iter().collect();
        (format!("layer {}, {}", at + 1, text::case(&arguments)), Matmul::domain_text(domain))
    };
    ParameterCoverage::of(Unit::Layer, &products, |(_, params)| run.contains(&params), described)
}
