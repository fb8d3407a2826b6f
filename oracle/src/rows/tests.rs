use super::*;
use Operation::{L2Normalization, LogSoftmax};
use proptest::prelude::*;

fn of(scale: f32, zero_point: i32) -> Operand {
    Operand { scale: scale.to_bits(), zero_point }
}

fn both(p: &Row, operation: Operation, row: &[i32]) -> Option<Vec<i32>> {
    let exact = p.exact(operation, row).expect("a row");
    let exact = exact.map(|results| results.into_iter().map(|v| v.to_i32().expect("small")).collect::<Vec<_>>());
    assert_eq!(p.expected(operation, row), Ok(exact.clone()), "{operation:?} {p:?} {row:?}");
    exact
}

/// Both forms agree on every row of up to three 3-bit elements, at scales that saturate, that round all values to zero, and that make ties.
#[test]
fn both_forms_agree_on_every_small_row() {
    let mut kinds = [0; 3];
    for signed in [true, false] {
        let storage = Storage { bits: 3, signed };
        let (least, most) = (storage.min() as i32, storage.max() as i32);
        let outs = [of(0.5, least), of(0.25, most), of(0.1, least + 3), of(4.0, most)];
        for (input, out) in [of(0.3, least), of(1.0, most), of(60.0, 1)].into_iter().flat_map(|i| outs.map(|o| (i, o)))
        {
            let p = Row { input, out, storage };
            for (length, at) in (1..=3u32).flat_map(|length| (0..8i32.pow(length)).map(move |at| (length, at))) {
                let row: Vec<i32> = (0..length).map(|digit| (at >> (3 * digit)) % 8 + least).collect();
                for operation in [LogSoftmax, L2Normalization] {
                    match both(&p, operation, &row) {
                        None => kinds[0] += 1,
                        Some(results) => kinds[1 + usize::from(results.iter().any(|v| *v == least || *v == most))] += 1,
                    }
                }
            }
        }
    }
    assert!(kinds.iter().all(|n| *n > 20), "{kinds:?}");
}

/// A quarter is a tie in steps of a half and rounds up, from below to zero. A single element has the logarithm 0, and a norm equal to its magnitude.
#[test]
fn ties_go_upward() {
    let p = Row { input: of(0.1, 0), out: of(0.5, 3), storage: Storage { bits: 8, signed: true } };
    let row = [[5; 15].as_slice(), &[-5]].concat();
    assert_eq!(both(&p, L2Normalization, &row), Some([[4; 15].as_slice(), &[3]].concat()));
    assert_eq!(both(&p, L2Normalization, &[0, 0]), None);
    assert_eq!([-7, 9].map(|v| both(&p, L2Normalization, &[v])), [Some(vec![1]), Some(vec![5])]);
    assert_eq!([-7, 9].map(|v| both(&p, LogSoftmax, &[v])), [Some(vec![3]), Some(vec![3])]);
    // 2.5 steps minus the logarithm of 1 + e^-25 is below a tie; minus the logarithm of 1 it is a tie.
    let far = Row { input: of(25.0, 0), out: of(10.0, 3), ..p };
    assert_eq!(both(&far, LogSoftmax, &[0, 1]), Some(vec![0, 3]));
    let farther = Row { input: of(250.0, 0), out: of(100.0, 3), ..p };
    assert_eq!(both(&farther, LogSoftmax, &[0, 1]), Some(vec![0, 3]));
    // ln 2 is 1.39 halves.
    assert_eq!(both(&p, LogSoftmax, &[8, 8]), Some(vec![2, 2]));
}

#[test]
fn what_is_not_defined_is_refused() {
    let p = Row { input: of(0.1, 0), out: of(0.5, 3), storage: Storage { bits: 8, signed: true } };
    let refused = |p: Row, row: &[i32]| p.expected(LogSoftmax, row).expect_err("no row").to_string();
    assert_eq!(refused(p, &[]), "a row has 1 to 1024 elements, not 0");
    assert_eq!(refused(p, &[128]), "128 is no value of the type");
    assert_eq!(refused(Row { out: of(0.5, 200), ..p }, &[0]), "200 is no value of the type");
    assert_eq!(
        refused(Row { storage: Storage { bits: 16, signed: true }, ..p }, &[0]),
        "rows have at most 8 bits, not 16"
    );
    for scale in [0.0, -1.0, 512.0, f32::NAN, f32::INFINITY, 1e-10] {
        assert!(refused(Row { input: of(scale, 0), ..p }, &[0]).starts_with("scales are from"), "{scale}");
    }
}

/// Computes the results by the machine's doubles; `None` if a boundary is within their error.
fn by_doubles(p: &Row, operation: Operation, row: &[i32]) -> Vec<Option<i32>> {
    let scale = |operand: Operand| f64::from(f32::from_bits(operand.scale));
    let real: Vec<f64> = row.iter().map(|x| f64::from(x - p.input.zero_point) * scale(p.input)).collect();
    let largest = real.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log = real.iter().map(|x| (x - largest).exp()).sum::<f64>().ln();
    let norm = real.iter().map(|x| x * x).sum::<f64>().sqrt();
    let one = |x: &f64| {
        let value = if operation == LogSoftmax { x - largest - log } else { x / norm };
        let steps = value / scale(p.out);
        let far = (steps - steps.floor() - 0.5).abs() > 1e-6;
        let placed = (steps + 0.5).floor() + f64::from(p.out.zero_point);
        far.then_some(placed.clamp(p.storage.min() as f64, p.storage.max() as f64) as i32)
    };
    real.iter().map(one).collect()
}

proptest! {
    #[test]
    fn both_forms_agree_with_each_other_and_with_doubles(
        row in proptest::collection::vec(-128..128, 1..20),
        (scale, out_scale) in (0.001f32..2.0, 0.001f32..1.0),
        (zero_point, out_zero_point) in (-128..128, -128..128),
    ) {
        let storage = Storage { bits: 8, signed: true };
        let p = Row { input: of(scale, zero_point), out: of(out_scale, out_zero_point), storage };
        for operation in [LogSoftmax, L2Normalization] {
            let Some(results) = both(&p, operation, &row) else { continue };
            for (result, double) in results.iter().zip(by_doubles(&p, operation, &row)) {
                prop_assert!(double.is_none_or(|double| double == *result), "{operation:?} {p:?} {row:?}: {results:?}");
            }
        }
    }

}

proptest! {
    // The series of far exponents are long.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn far_scales_and_longer_rows_are_decided(
        row in proptest::collection::vec(0..256, 20..60),
        (exponent, out_exponent) in (-24..9i32, -24..9i32),
        mantissas: (u32, u32),
    ) {
        let storage = Storage { bits: 8, signed: false };
        let scale = |exponent: i32, mantissa: u32| f32::from_bits(((exponent + 127) as u32) << 23 | mantissa >> 9);
        let p = Row { input: of(scale(exponent, mantissas.0), 128), out: of(scale(out_exponent, mantissas.1), 255), storage };
        for operation in [LogSoftmax, L2Normalization] {
            both(&p, operation, &row);
        }
    }
}
