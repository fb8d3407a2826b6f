//! Wrong results of single instructions are seen wherever they are.

use tiebreak_impls::Form;
use tiebreak_impls::instruction::find;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::Class;
use tiebreak_suites::instruction::{Cases, Expected, Mismatch, Outcome};

/// The first vectors of the cases with what the model gives.
fn outputs(cases: &Cases) -> (Vec<Expected>, Vec<i32>) {
    let pairs = cases.pairs[..64].to_vec();
    let lanes = cases.kernel.lanes;
    let fill = |operand: fn(&Expected) -> i32| -> Vec<i32> {
        pairs.iter().flat_map(|p| std::iter::repeat_n(operand(p), lanes)).collect()
    };
    let (mut out, mut flags) = (vec![0; pairs.len() * lanes], vec![0; pairs.len()]);
    cases.kernel.run(Form::Portable)(&fill(|p| p.a), &fill(|p| p.b), &mut out, &mut flags);
    out.extend(flags);
    (pairs, out)
}

fn judged(cases: &Cases, pairs: &[Expected], outs: &[i32]) -> Outcome {
    let mut outcome = Outcome::default();
    cases.judge(pairs, outs, &mut outcome);
    outcome
}

/// Both classes of this operation, each shown by one wrong result among many right ones, in any lane position.
#[test]
fn one_wrong_value_or_flag_is_seen_wherever_it_is() {
    for name in ["sqrdmulh.s32", "sqrdmulh.s16", "srshl.s8", "sqadd.s32"] {
        let kernel = find(name).unwrap_or_else(|| panic!("no {name}"));
        let cases = Cases::new(kernel, &Effort::Quick.budget(), 1).expect("a known instruction");
        let (pairs, right) = outputs(&cases);
        let sound = judged(&cases, &pairs, &right);
        assert_eq!((sound.values, sound.flags, sound.kept), (0, 0, Vec::new()), "{name}");
        assert_eq!(sound.inputs, (pairs.len() * kernel.lanes) as u64);
        for at in 0..right.len() {
            let mut outs = right.clone();
            outs[at] ^= 1;
            let seen = judged(&cases, &pairs, &outs);
            let is_value = at < pairs.len() * kernel.lanes;
            assert_eq!((seen.values, seen.flags), (u64::from(is_value), u64::from(!is_value)), "{name} {at}");
            let class = if is_value { Class::Value } else { Class::SaturationFlag };
            let pair = if is_value { at / kernel.lanes } else { at - pairs.len() * kernel.lanes };
            let Expected { a, b, .. } = pairs[pair];
            let expected = Mismatch { a, b, got: outs[at], expected: right[at], class };
            assert_eq!(seen.kept, [expected], "{name} {at}");
        }
    }
}

#[test]
fn bytes_are_all_there() {
    let kernel = find("sqrdmulh.s8").or_else(|| find("srshl.s8")).expect("an instruction on bytes");
    let cases = Cases::new(kernel, &Effort::Quick.budget(), 1).expect("a known instruction");
    let pairs: std::collections::BTreeSet<_> = cases.pairs.iter().map(|p| (p.a, p.b)).collect();
    assert!(cases.exhaustive && pairs.len() == 1 << 16);
}
