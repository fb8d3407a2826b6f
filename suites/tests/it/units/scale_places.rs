//! Scale of an element, by its place.

use tiebreak_impls::quantized::Container;
use tiebreak_impls::quantized::Params;
use tiebreak_suites::quantized::places::{SCALE_CONFUSIONS, scales};
use tiebreak_suites::quantized::read_type;

fn params(ty: &str, shape: &[usize]) -> Params {
    Params { quantized: read_type(ty).expect(ty), container: Container::Ranked, shape: shape.to_vec() }
}

/// Two derivations agree: the harness's, axis by axis, and that of the parameters, from the index of an element.
#[test]
fn both_derivations_agree() {
    let mut elements = 0;
    for (ty, shape) in [
        ("!quant.uniform<i8:f32, 1.0>", &[3, 4][..]),
        ("!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0}>", &[2, 3, 4]),
        ("!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}}>", &[3, 4]),
        ("!quant.uniform<i8:f32:{1:2, 0:1}, {{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}>", &[3, 4]),
        ("!quant.uniform<i8:f32:{3:1, 1:3}, {{{{1.0, 2.0}}, {{3.0, 4.0}}}}>", &[2, 6, 5, 2]),
        ("!quant.uniform<i8:f32:{}, {{1.0}}>", &[2, 2]),
    ] {
        let p = params(ty, shape);
        let defined: Vec<usize> = (0..p.elements().expect(ty)).map(|i| p.scale_of(i)).collect();
        assert_eq!(scales(&p), defined, "{ty}");
        assert_eq!(defined.iter().max(), Some(&(p.quantized.scales.len() - 1)), "{ty}");
        elements += defined.len();
    }
    assert_eq!(elements, 12 + 24 + 12 + 12 + 120 + 4);
}

#[test]
fn each_mistake_is_another() {
    let p = params("!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}>", &[2, 6]);
    let of = |at: usize| (SCALE_CONFUSIONS[at].scales)(&p);
    assert_eq!(scales(&p), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    assert_eq!(of(0), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
    // Blocks are no channels.
    assert_eq!([of(1), of(2)], [scales(&p), scales(&p)]);
    assert_eq!(of(3), [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]);
    assert_eq!(of(4), [0, 0, 2, 2, 4, 4, 1, 1, 3, 3, 5, 5]);
    let channels = params("!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>", &[3, 2]);
    let of = |at: usize| (SCALE_CONFUSIONS[at].scales)(&channels);
    assert_eq!(scales(&channels), [0, 0, 1, 1, 2, 2]);
    assert_eq!([of(1), of(2)], [[1, 1, 2, 2, 0, 0], [2, 2, 0, 0, 1, 1]]);
    assert_eq!(SCALE_CONFUSIONS.len(), 5);
}
