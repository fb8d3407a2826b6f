//! Presentation of the casts.

use super::with_one_scale;
use crate::dequantize::Dequantize;
use crate::presented::{Drawn, Fitting, Presented};
use crate::quantize::Quantize;
use tiebreak_impls::quantized::{Container, Expressed, Params, Scale};

impl Presented for Quantize {
    const ABOUT: &'static str = "Quantization: a float to the stored value of a type of MLIR's quant dialect";
    const SHOWN: &'static str = "tflite-quantize";

    fn sample(fitting: Fitting) -> Drawn<Params> {
        let reals = [-1.0, -0.25, 0.0, 0.5, 1.75];
        let input = reals.iter().flat_map(|real| words(fitting.expressed, *real)).collect();
        Drawn { params: cast(fitting, reals.len()), len: reals.len(), input }
    }
}

impl Presented for Dequantize {
    const ABOUT: &'static str = "Dequantization: a stored value of a type of MLIR's quant dialect to a float";
    const SHOWN: &'static str = "tflite-dequantize";

    fn sample(fitting: Fitting) -> Drawn<Params> {
        let stored = [0, 1, 2, 3, 7];
        let len = stored.len() * fitting.expressed.words();
        Drawn { params: cast(fitting, stored.len()), len, input: stored.to_vec() }
    }
}

fn cast(fitting: Fitting, len: usize) -> Params {
    let Fitting { storage, expressed, .. } = fitting;
    let bounds = storage.range().into_inner();
    let quantized = with_one_scale(storage, bounds, expressed, Scale(0.25), fitting.offset(1).into());
    Params { quantized, container: Container::Ranked, shape: vec![len] }
}

/// Returns the payload words of a real with few binary digits.
fn words(expressed: Expressed, real: f64) -> Vec<i32> {
    match expressed {
        Expressed::F16 => vec![half::f16::from_f64(real).to_bits().into()],
        Expressed::Bf16 => vec![half::bf16::from_f64(real).to_bits().into()],
        Expressed::F32 => vec![(real as f32).to_bits() as i32],
        Expressed::F64 => {
            let bits = real.to_bits();
            vec![bits as i32, (bits >> 32) as i32]
        }
    }
}
