//! Definitions of the schemes in unbounded integers, for tests.

/// Returns the result of `scheme` for `x`, before the fit to int32.
pub(crate) fn scaled(scheme: &str, x: i32, m: i32, s: i32) -> i128 {
    let (x, wide) = (i128::from(x), i128::from(m));
    let product = x * wide;
    let left = |by: i32| x << by;
    let wrapped = |x: i128| i128::from(x as i32);
    let saturated = |x: i128| x.clamp(i32::MIN.into(), i32::MAX.into());
    let right = -s.min(0);
    match scheme {
        "ties-up" | "tflite-single" | "cmsis-nn-single" => ties_up(product, 31 - s),
        "tosa-apply-scale-32-single" => ties_up(product, 31 - s),
        "tosa-apply-scale-32-double" => {
            let lean = if 31 - s > 31 { 1 << 30 } else { 0 };
            ties_up(if x >= 0 { product + lean } else { product - lean }, 31 - s)
        }
        "ties-away" => ties_away(product, 31 - s),
        "gemmlowp-double" => ties_away(saturated(ties_up(wrapped(left(s.max(0))) * wide, 31)), right),
        "cmsis-nn-double" => ties_away(wrapped(ties_up(wrapped(left(s.max(0))) * wide, 31)), right),
        "sqrdmulh-srshl" => ties_up(saturated(ties_up(wrapped(left(s.max(0))) * wide, 31)), right),
        "sqrdmulh-fixup-srshl" => {
            let y = saturated(ties_up(wrapped(left(s.max(0))) * wide, 31));
            ties_up(if right > 0 && y < 0 { wrapped(y - 1) } else { y }, right)
        }
        "xnnpack-rndnu" => {
            let r = s.min(-1);
            ties_up(saturated((saturated(left(s - r)) * wide).div_euclid(1 << 31)), -r)
        }
        "tflite-int16-multiplier" => ties_up(x * ((wide + (1 << 15)) >> 16).min(0x7FFF), 15 - s),
        other => panic!("no definition of {other}"),
    }
}

/// Computes `numerator / 2^shift`, half towards +inf; `shift` may be 0.
fn ties_up(numerator: i128, shift: i32) -> i128 {
    (numerator * 2 + (1 << shift)).div_euclid(2 << shift)
}

/// Computes `numerator / 2^shift`, half away from zero.
fn ties_away(numerator: i128, shift: i32) -> i128 {
    numerator.signum() * ties_up(numerator.abs(), shift)
}
