//! Tests of concatenations against exact values in doubles, at known values, and at every position.

use super::*;
use crate::Form;
use crate::operation::Operation;
use crate::quantized::Scale;

fn operand(scale: f32, zero_point: i32) -> Operand {
    Operand { scale: Scale(scale.into()), zero_point }
}

/// Builds parameters for inputs with the given sizes along an axis.
fn along(element: Element, shape: &[usize], axis: usize, inputs: &[(usize, Operand)], out: Operand) -> Params {
    let inputs: Vec<Input> = inputs.iter().map(|(size, operand)| Input { size: *size, operand: *operand }).collect();
    let mut shape = shape.to_vec();
    shape[axis] = inputs.iter().map(|input| input.size).sum();
    Params { element, shape, axis, inputs, out }
}

fn run(kernel: &'static Kernel, params: &Params, values: &[i32]) -> Vec<i32> {
    let mut out = vec![i32::MIN; values.len()];
    <Concat as Operation>::execute(kernel, params, Form::Native, values, &mut out, 3).expect(kernel.name);
    out
}

/// Gives all tensors the output's scale and zero point if the kernel requires equal ones.
fn fitting(kernel: &Kernel, params: Params) -> Params {
    match kernel.contract.domain.scales {
        Scales::Equal => {
            let inputs = params.inputs.iter().map(|input| Input { operand: params.out, ..*input }).collect();
            Params { inputs, ..params }
        }
        _ => params,
    }
}

/// Each result is within 0.5 of the exact value, plus the error of a multiplier of few bits. The inputs have all values of the type.
#[test]
fn every_kernel_rescales() {
    for kernel in kernels() {
        let element = kernel.contract.domain.element;
        let (lo, hi) = element.range().into_inner();
        let inputs = [(256, operand(0.1, lo + 3)), (256, operand(0.05, lo + 100)), (256, operand(0.31, hi))];
        let params = fitting(kernel, along(element, &[0], 0, &inputs, operand(0.2, lo + 120)));
        let values: Vec<i32> = (lo..=hi).chain(lo..=hi).chain(lo..=hi).collect();
        let lost = if kernel.name.starts_with("xnnpack") { 0.6 } else { 1e-4 };
        for (at, (value, result)) in values.iter().zip(run(kernel, &params, &values)).enumerate() {
            let Operand { scale, zero_point } = params.inputs[at / 256].operand;
            let exact = f64::from(value - zero_point) * scale.0 / params.out.scale.0 + f64::from(params.out.zero_point);
            let bounded = exact.clamp(lo.into(), hi.into());
            assert!(
                (f64::from(result) - bounded).abs() <= 0.5 + lost,
                "{} {at} {value}: {result} {exact}",
                kernel.name
            );
        }
    }
}

/// Checks the rounding of 1.5 and -1.5.
#[test]
fn ties_go_where_each_kernel_takes_them() {
    for (name, expected) in [
        ("tvm-qnn-concatenate-i8", [2, -1]),
        ("tvm-qnn-concatenate-tonearest-i8", [2, -2]),
        ("onnx-qlinearconcat-i8", [2, -2]),
        ("xnnpack-qs8-vcvt-concat", [2, -1]),
        ("tosa-concat-i8", [2, -1]),
    ] {
        let params = along(Element::I8, &[0], 0, &[(1, operand(0.5, 0)), (1, operand(0.5, 0))], operand(1.0, 0));
        assert_eq!(run(find(name).expect(name), &params, &[3, -3]), expected, "{name}");
    }
    let params = along(Element::U8, &[0], 0, &[(1, operand(0.5, 10)), (1, operand(0.5, 10))], operand(1.0, 5));
    for (name, expected) in [("tflite-concat-u8", [7, 3]), ("tvm-qnn-concatenate-u8", [7, 4])] {
        assert_eq!(run(find(name).expect(name), &params, &[13, 7]), expected, "{name}");
    }
}

/// Every axis of tensors of 1 to 4 axes: each element is at the position that its coordinates give.
#[test]
fn elements_go_along_each_axis() {
    let shapes: [&[usize]; 6] = [&[7], &[2, 9], &[3, 1, 4], &[2, 3, 5], &[2, 3, 2, 5], &[1, 4, 3, 2]];
    for kernel in kernels() {
        for (shape, axis) in shapes.into_iter().flat_map(|shape| (0..shape.len()).map(move |axis| (shape, axis))) {
            let element = kernel.contract.domain.element;
            let plain = operand(0.5, 7);
            let params = along(element, shape, axis, &[(2, plain), (1, plain), (3, plain)], plain);
            let total = params.elements().expect("a shape");
            let values: Vec<i32> = (0..total as i32).map(|v| v % 128).collect();
            let mut expected = vec![0; total];
            let (mut next, mut before) = (values.iter(), 0);
            for input in &params.inputs {
                let mut sizes = params.shape.clone();
                sizes[axis] = input.size;
                for at in 0..sizes.iter().product() {
                    let mut rest: usize = at;
                    let mut place = vec![0; sizes.len()];
                    for k in (0..sizes.len()).rev() {
                        (place[k], rest) = (rest % sizes[k], rest / sizes[k]);
                    }
                    place[axis] += before;
                    let to = place.iter().zip(&params.shape).fold(0, |to, (at, size)| to * size + at);
                    expected[to] = *next.next().expect("a value");
                }
                before += input.size;
            }
            assert_eq!(run(kernel, &params, &values), expected, "{} {shape:?} {axis}", kernel.name);
        }
    }
}

/// A parameter outside a kernel's domain is refused, and the error names the argument.
#[test]
fn other_parameters_are_refused() {
    let plain = operand(1.0, 0);
    let good = along(Element::I8, &[2, 0], 1, &[(1, plain), (2, plain)], plain);
    let refused = |name: &str, p: Params, argument: &str| {
        let domain = &find(name).expect(name).contract.domain;
        assert_eq!(domain.sizes(&p).map_err(|error| error.argument), Err(argument), "{name} {p:?}");
    };
    let with = |inputs: [Operand; 2]| Params {
        inputs: inputs.map(|operand| Input { size: 1, operand }).to_vec(),
        shape: vec![2, 2],
        ..good.clone()
    };
    for kernel in kernels().iter().filter(|kernel| kernel.contract.domain.element == Element::I8) {
        assert!(kernel.contract.domain.sizes(&good).is_ok(), "{}", kernel.name);
        refused(kernel.name, Params { element: Element::U8, ..good.clone() }, "element");
        refused(kernel.name, Params { axis: 2, ..good.clone() }, "axis");
        refused(kernel.name, Params { shape: vec![2, 4], ..good.clone() }, "shape");
        refused(kernel.name, Params { shape: vec![0, 3], ..good.clone() }, "shape");
        refused(kernel.name, Params { shape: vec![1; 5], ..good.clone() }, "shape");
        refused(kernel.name, Params { inputs: good.inputs[..1].to_vec(), ..good.clone() }, "inputs");
        refused(kernel.name, with([operand(1.0, 200), plain]), "zero_points");
        refused(kernel.name, with([Operand { scale: Scale(0.1), zero_point: 0 }, plain]), "scales");
        refused(kernel.name, with([plain, operand(70_000.0, 0)]), "scales");
    }
    refused("tflite-concat-i8", with([plain, operand(1.0, 1)]), "scales");
    refused("arm-concat-s8", with([plain, operand(0.5, 0)]), "scales");
    refused("tosa-concat-i8", with([plain, operand(1.0, 1)]), "zero_points");
    refused("xnnpack-qs8-vcvt-concat", with([plain, operand(129.0, 0)]), "scales");
    refused("xnnpack-qs8-vcvt-concat", with([plain, operand(1.0 / 257.0, 0)]), "scales");
    assert!(find("tosa-concat-i8").expect("a kernel").contract.domain.sizes(&with([plain, operand(0.5, 1)])).is_ok());
    let long = Params { shape: vec![65_536, 2], ..with([plain, plain]) };
    refused("arm-concat-s8", long.clone(), "shape");
    assert!(find("tflite-concat-i8").expect("a kernel").contract.domain.sizes(&long).is_ok());
}

/// Each mutant differs from the kernel of the scheme that it claims, on two rows of all values.
#[test]
fn every_mutant_differs() {
    for mutant in crate::mutants::concat::MUTANTS {
        let (domain, scheme) = (&mutant.kernel.contract.domain, mutant.kernel.contract.promise.scheme);
        let claimed = kernels().iter().find(|kernel| {
            kernel.contract.promise.scheme == scheme && kernel.contract.domain.element == domain.element
        });
        let claimed = claimed.expect("a kernel of the scheme");
        let (lo, hi) = domain.element.range().into_inner();
        let inputs = [(128, operand(0.5, lo + 90)), (127, operand(0.2, lo + 37)), (1, operand(0.25, lo + 120))];
        let params = fitting(&mutant.kernel, along(domain.element, &[2, 0], 1, &inputs, operand(0.2, lo + 81)));
        let values: Vec<i32> = (lo..=hi).chain((lo..=hi).rev()).collect();
        let (got, right) = (run(&mutant.kernel, &params, &values), run(claimed, &params, &values));
        assert!(got.iter().all(|v| (lo..=hi).contains(v)), "{}", mutant.kernel.name);
        assert_ne!(got, right, "{}", mutant.kernel.name);
    }
}
