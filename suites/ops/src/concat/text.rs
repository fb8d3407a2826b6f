//! Text form of a concatenation's parameters: `type=u8 shape=2,7 axis=1 sizes=3,4 scales=0.1,0.2 zero_points=0,5 out_scale=0.1 out_zero_point=3`.
//!
//! A single scale or zero point applies to all inputs. Defaults are two inputs of one element each, and no other axis.

use crate::elementwise::operand;
use crate::types;
use tiebreak_engine::operation::{Arguments, CaseError, arguments};
use tiebreak_impls::concat::{Input, Operand, Params};
use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::Scale;
use tiebreak_impls::shape::MAX_ELEMENTS;
use tiebreak_reports::ledger::Value;

const KNOWN: [&str; 9] =
    ["type", "shape", "axis", "sizes", "scales", "zero_points", "out_scale", "out_zero_point", "inputs"];

/// Formats the parameters as arguments of a case.
pub(super) fn arguments(p: &Params) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    let mut push = |name: &str, value: Value| out.push((name.to_owned(), value));
    if p.element != Element::I8 {
        push("type", Value::Text(p.element.name().to_owned()));
    }
    let sizes: Vec<usize> = p.inputs.iter().map(|input| input.size).collect();
    if p.shape.len() > 1 {
        push("shape", sized(&p.shape));
        push("axis", (p.axis as i64).into());
    }
    push("sizes", sized(&sizes));
    let scales: Vec<String> = p.inputs.iter().map(|input| operand::digits(input.operand.scale)).collect();
    let scales =
        alike(&scales).map_or_else(|| Value::Text(scales.join(",")), |_| operand::spelled(p.inputs[0].operand.scale));
    push("scales", scales);
    let zero_points: Vec<i32> = p.inputs.iter().map(|input| input.operand.zero_point).collect();
    if zero_points.iter().any(|zero_point| *zero_point != 0) {
        push(
            "zero_points",
            alike(&zero_points).map_or_else(|| arguments::list_value(&zero_points), |one| (*one).into()),
        );
    }
    push("out_scale", operand::spelled(p.out.scale));
    if p.out.zero_point != 0 {
        push("out_zero_point", p.out.zero_point.into());
    }
    out
}

/// Returns the common value of the list; `None` if the values differ.
fn alike<T: PartialEq>(values: &[T]) -> Option<&T> {
    values.first().filter(|first| values.iter().all(|value| value == *first))
}

fn sized(sizes: &[usize]) -> Value {
    let sizes: Vec<i32> = sizes.iter().map(|size| *size as i32).collect();
    arguments::list_value(&sizes)
}

/// Parses the parameters from the arguments of a case.
pub(super) fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
    let mut left = arguments.clone();
    let element = types::element(arguments::take_text(&mut left, "type").as_deref())?;
    let scales = scales(&mut left)?;
    let zero_points = arguments::take_list(&mut left, "zero_points", 0, i32::MIN..=i32::MAX)?;
    let named = left.contains_key("sizes");
    let sizes = arguments::take_list(&mut left, "sizes", 1, 0..=MAX_ELEMENTS as i32)?;
    let count = if named { sizes.len() } else { scales.len().max(zero_points.len()).max(2) };
    let repeated = |name: &str, values: Vec<i32>| {
        let several = format!("{} values for {count} inputs", values.len());
        match values[..] {
            [one] => Ok(vec![one; count]),
            _ if values.len() == count => Ok(values),
            _ => Err(CaseError::from(several).of(name)),
        }
    };
    let sizes = repeated("sizes", sizes)?;
    let zero_points = repeated("zero_points", zero_points)?;
    let scales = match scales[..] {
        [one] => vec![one; count],
        _ if scales.len() == count => scales,
        _ => return Err(CaseError::from(format!("{} values for {count} inputs", scales.len())).of("scales")),
    };
    let total: i64 = sizes.iter().map(|size| i64::from(*size)).sum();
    let total =
        i32::try_from(total).map_err(|_| CaseError::from(format!("{total} elements along the axis")).of("sizes"))?;
    let shape = arguments::take_list(&mut left, "shape", total, 0..=i32::MAX)?;
    let axis = arguments::take_size(&mut left, "axis", 0)?;
    let text = arguments::take_text(&mut left, "out_scale").unwrap_or_else(|| "1".to_owned());
    let zero_point = arguments::take_int32(&mut left, "out_zero_point", 0)?;
    let out = Operand { scale: operand::scale("out_scale", &text)?, zero_point };
    arguments::nothing_left(&left, &KNOWN)?;
    let inputs = sizes.iter().zip(scales).zip(zero_points);
    let inputs = inputs
        .map(|((size, scale), zero_point)| Input { size: *size as usize, operand: Operand { scale, zero_point } })
        .collect();
    Ok(Params { element, shape: shape.into_iter().map(|size| size as usize).collect(), axis, inputs, out })
}

fn scales(left: &mut Arguments) -> Result<Vec<Scale>, CaseError> {
    let text = arguments::take_text(left, "scales").unwrap_or_else(|| "1".to_owned());
    text.split(',').map(|text| operand::scale("scales", text)).collect()
}
