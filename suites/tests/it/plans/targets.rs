//! Accumulators that solve an equation.

use tiebreak_impls::requantize::Params;
use tiebreak_impls::requantize::kernels;
use tiebreak_suites::requantize::channels;
use tiebreak_suites::requantize::targets::Target;
use tiebreak_suites::stream::{int32_of_any_size, stream};

/// By definition, the exact result of the middle accumulator is not above the tie, and that of a neighbour is.
#[test]
fn ties_are_reached_with_the_bias() {
    let mut rng = stream(7, "test");
    let domain = &kernels().iter().find(|k| k.name == "tflite-requantize-i8").expect("a kernel").contract.domain;
    let (mut solved, mut exact) = (0, 0);
    for i in 0..4000 {
        let channel = channels::any(domain, &mut rng);
        let bias = int32_of_any_size(&mut rng);
        let p =
            Params { len: 0, channels: vec![channel], bias: vec![bias], zero_point: i % 7 - 3, min: -128, max: 127 };
        let target = Target::new(channel, bias, 31, &p);
        let n = 2 * i64::from(i % 256 - 128) - 1;
        let Some([before, at, after]) = target.around(n) else { continue };
        // x * m * 2^(s-31) and n / 2, both times 2^62.
        let placed =
            |x: i32| (i128::from(x.wrapping_add(bias)) * i128::from(channel.multiplier)) << (channel.shift + 31);
        let tie = i128::from(n) << 61;
        let above = placed(if channel.multiplier > 0 { after } else { before });
        assert!(placed(at) <= tie && tie < above, "{channel:?} bias {bias} n {n}");
        solved += 1;
        exact += usize::from(placed(at) == tie);
    }
    assert!(solved > 2000 && exact > 50, "{solved} solved, {exact} exact");
}
