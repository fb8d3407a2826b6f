//! Dequantizations at values from the sources, and at every position.

use super::*;
use crate::Form;
use crate::expressed::{Real, with_real};
use crate::quantize::tests::{layer, storages};
use crate::quantized::{Container, Expressed, Granularity, I8, I16, I32, Scale, Storage, U8};

/// Returns the results of a kernel for these stored values, as doubles.
pub(crate) fn dequantize(kernel: &Kernel, form: Form, params: &Params, stored: &[i32]) -> Vec<f64> {
    fn of<T: Real>(words: &[i32]) -> Vec<f64> {
        words.chunks_exact(T::WORDS).map(|words| T::load(words).double()).collect()
    }
    let mut out = vec![i32::MIN; stored.len() * params.quantized.expressed.words()];
    kernel.run(form)(params, stored, &mut out);
    with_real!(params.quantized.expressed, of::<_>(&out))
}

fn named(name: &str) -> &'static Kernel {
    find(name).expect(name)
}

#[test]
fn kernels_have_names_of_their_own() {
    for (i, kernel) in kernels().iter().enumerate() {
        assert!(kernels()[..i].iter().all(|other| other.name != kernel.name), "{}", kernel.name);
        assert!(!kernel.name.starts_with("mutant-") && kernel.summary.len() < 120, "{}", kernel.name);
    }
}

/// Uses the same value at every index: no kernel's result depends on index or length.
#[test]
fn every_place_and_length_gives_the_same() {
    for kernel in kernels().iter().filter(|kernel| !kernel.contract.domain.compiled) {
        let domain = &kernel.contract.domain;
        for (expressed, storage) in
            domain.expressed.iter().flat_map(|e| storages(domain).into_iter().map(move |s| (*e, s)))
        {
            for value in [*storage.range().start(), *storage.range().end()] {
                let run = |len| {
                    let params = layer(expressed, storage, 0.3, 100.min(storage.range().end() / 2), len);
                    assert!(domain.contains(&params), "{}", kernel.name);
                    dequantize(kernel, Form::Native, &params, &vec![value as i32; len])
                };
                let one = run(1)[0];
                (2..=70).for_each(|len| assert_eq!(run(len), vec![one; len], "{} {value} {len}", kernel.name));
            }
        }
    }
}

#[test]
fn dcast_rounds_every_step() {
    let table = [
        (Expressed::F32, I32, 0.001, 16_777_217, 16_777_216, 0.0),
        (Expressed::F16, I16, 1.0, 3000, 2999, 0.0),
        (Expressed::F64, I32, 1.0, 16_777_217, 16_777_216, -1.0),
        (Expressed::Bf16, I32, 1.0, 0, 16_842_753, 16_908_288.0),
        (Expressed::F32, Storage { bits: 32, signed: false }, 1.0, 0, -1, 4_294_967_296.0),
        (Expressed::F32, Storage { bits: 4, signed: true }, 2.0, -8, 7, 30.0),
    ];
    for (expressed, storage, scale, zero_point, stored, value) in table {
        let params = layer(expressed, storage, scale, zero_point, 1);
        let got = dequantize(named("mlir-dcast"), Form::Portable, &params, &[stored]);
        assert_eq!(got, [value], "{expressed:?} {storage:?}");
    }
}

/// For every container and granularity, the results of a tensor are the results of its elements as scalars.
#[test]
fn dcast_of_tensors_is_that_of_their_elements() {
    let stored: Vec<i32> = (0..24).map(|i| i * 10 - 120).collect();
    for (axis, channels) in [(0, 2), (1, 3), (2, 4)] {
        for container in [Container::Ranked, Container::Unranked] {
            let mut params = layer(Expressed::F64, I8, 1.0, 0, 1);
            params.shape = vec![2, 3, 4];
            params.container = container;
            params.quantized.granularity = Granularity::Channel { axis };
            params.quantized.scales = [1.5, 0.7, 0.4, 2.0][..channels].iter().map(|s| Scale(*s)).collect();
            params.quantized.zero_points = [10, 0, -3, 7][..channels].to_vec();
            let stride: usize = params.shape[axis + 1..].iter().product();
            let got = dequantize(named("mlir-dcast"), Form::Portable, &params, &stored);
            for (i, got) in got.into_iter().enumerate() {
                let channel = i / stride % channels;
                let zero_point = params.quantized.zero_points[channel] as i32;
                assert_eq!(got, f64::from(stored[i] - zero_point) * params.quantized.scales[channel].0, "{i}");
            }
        }
    }
}

/// All stored values and zero points of 8 bits: a kernel that subtracts in integers rounds once, and agrees with `quant.dcast`.
#[test]
fn integer_differences_are_rounded_once() {
    for (storage, scale) in [(I8, 0.1), (U8, 1.0 / 255.0), (U8, 1e30)] {
        let stored: Vec<i32> = storage.range().map(|q| q as i32).collect();
        for zero_point in storage.range() {
            let params = layer(Expressed::F32, storage, scale, zero_point, stored.len());
            let exact = |q: &i32| (f64::from(*q) - zero_point as f64) * f64::from(scale as f32);
            let promised: Vec<f64> = stored.iter().map(|q| f64::from(exact(q) as f32)).collect();
            let here = kernels().iter().filter(|kernel| !kernel.contract.domain.compiled);
            for kernel in here.filter(|kernel| kernel.name != "distributed") {
                assert_eq!(dequantize(kernel, Form::Portable, &params, &stored), promised, "{}", kernel.name);
            }
        }
    }
}

/// Distributed products: the witness of the report. Negative control: no difference if the scale is a power of two.
#[test]
fn distributed_products_differ_but_for_powers_of_two() {
    let at = |scale, zero_point, stored: &[i32]| {
        let params = layer(Expressed::F32, U8, scale, zero_point, stored.len());
        ["distributed", "pytorch-dequantize"].map(|name| dequantize(named(name), Form::Portable, &params, stored))
    };
    let [got, promised] = at(1028.02, 255, &[254]);
    assert_eq!((got[0], promised[0]), (-1028.015625, f64::from(-1028.02_f32)));
    let all: Vec<i32> = (0..256).collect();
    for scale in [0.0625, 1.0, 1024.0] {
        for zero_point in 0..256 {
            let [got, promised] = at(scale, zero_point, &all);
            assert_eq!(got, promised);
        }
    }
}
