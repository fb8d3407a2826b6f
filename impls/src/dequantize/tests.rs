//! Dequantizations at the values of the sources, and at every place.

use super::*;
use crate::Form;
use crate::expressed::{Real, with_real};
use crate::quantize::tests::{layer, storages};
use crate::quantized::{Container, Expressed, Granularity, Scale, Storage};

/// What a kernel makes of these stored values, as doubles.
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

const I32: Storage = Storage { bits: 32, signed: true };

#[test]
fn kernels_have_names_of_their_own() {
    for (i, kernel) in kernels().iter().enumerate() {
        assert!(kernels()[..i].iter().all(|other| other.name != kernel.name), "{}", kernel.name);
        assert!(!kernel.name.starts_with("mutant-") && kernel.summary.len() < 120, "{}", kernel.name);
    }
}

/// The same value at every index: what every kernel makes of it depends on neither index nor length.
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
        (Expressed::F16, Storage { bits: 16, signed: true }, 1.0, 3000, 2999, 0.0),
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

/// Every case of container and granularity gives element by element what scalars give.
#[test]
fn dcast_of_tensors_is_that_of_their_elements() {
    let stored: Vec<i32> = (0..24).map(|i| i * 10 - 120).collect();
    for (axis, channels) in [(0, 2), (1, 3), (2, 4)] {
        for container in [Container::Ranked, Container::Unranked] {
            let mut params = layer(Expressed::F64, Storage { bits: 8, signed: true }, 1.0, 0, 1);
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
