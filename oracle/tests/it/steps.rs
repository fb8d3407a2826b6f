//! Each step of a scheme separately: on rationals, on machine integers and folded into pieces. Some steps occur only in hypotheses, and some
//! never receive distinguishing values in a scheme.

use expect_test::expect;
use rug::Rational;
use tiebreak_oracle::fpm::pieces::fold_steps;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::steps::{self, Exponent, Multiplier, Step, power_of_two_shift};
use tiebreak_oracle::fpm::{Parameters, integer};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

const EXPONENTS: [Exponent; 12] = [
    Exponent::Left,
    Exponent::Right,
    Exponent::RightAtLeastOne,
    Exponent::LeftOfRightAtLeastOne,
    Exponent::Whole,
    Exponent::WholeButOne,
    Exponent::Fraction,
    Exponent::WholeHighHalf,
    Exponent::RightAndFraction,
    Exponent::TotalRight,
    Exponent::Constant(3),
    Exponent::Constant(-2),
];

const MULTIPLIERS: [Multiplier; 4] =
    [Multiplier::Full, Multiplier::HighHalfSaturated, Multiplier::HighHalfWrapped, Multiplier::Significand24];

/// Returns the steps that accept any number.
fn of_numbers() -> Vec<Step> {
    let mut all: Vec<Step> = RoundingRule::ALL.map(Step::Round).to_vec();
    all.extend(MULTIPLIERS.map(Step::Multiply));
    all.extend(EXPONENTS.map(Step::RequireBits));
    all.extend([Step::Add(5), Step::Offset(-3), Step::FixupNegative, Step::NudgeAwayFromZero, Step::NudgeBySign]);
    all.extend([Step::RequireNonNegativeMultiplier, Step::F32]);
    all
}

/// Returns the steps that accept only integers.
fn of_integers() -> Vec<Step> {
    let mut all = vec![Step::Wrap, Step::Saturate, Step::FixupMasked, Step::PowerOfTwoShift, Step::Clamp(-3, 5)];
    all.extend(EXPONENTS.map(Step::Scale));
    all
}

/// Computes the result of `steps` by rationals.
fn exact(steps: &[Step], x: i64, p: &Parameters) -> Option<Rational> {
    steps.iter().try_fold(Rational::from(x), |v, step| step.apply(v, p))
}

/// Checks that both forms agree; the machine form has a value only if the result is an integer.
fn agree(steps: &[Step], x: i64, p: &Parameters) {
    let whole = exact(steps, x, p).filter(Rational::is_integer).and_then(|v| v.numer().to_i128());
    assert_eq!(integer::run(steps, x, p), whole, "{steps:?} at {x}, {p:?}");
}

/// Returns small words, and multipliers of 32 bits that lose bits when reduced.
fn parameters() -> Vec<Parameters> {
    let small = (-8..8).flat_map(|m| (-4..=4).map(move |s| Parameters::narrow(m, s, 4)));
    let wide = [0x4000_8000, 0x7fff_8000, i32::MAX, i32::MIN, -1, 1 << 20, 0x0100_0001]
        .map(|m| [-9, 0, 2].map(|s| Parameters::q31(m, s)));
    small.chain(wide.into_iter().flatten()).collect()
}

#[test]
fn both_forms_of_every_step_agree() {
    for p in parameters() {
        for x in -9..=9 {
            for step in of_numbers().into_iter().chain(of_integers()) {
                // The last step scales a remaining fraction to an integer.
                agree(&[step, Step::Scale(Exponent::Constant(48))], x, &p);
            }
            for step in of_numbers() {
                // Quarters, scaled back to integers.
                agree(&[Step::Scale(Exponent::Constant(-2)), step, Step::Scale(Exponent::Constant(2))], x, &p);
            }
        }
    }
}

#[test]
fn pieces_are_what_the_steps_give() {
    let mut folded = 0;
    for p in (-8..8).flat_map(|m| (-4..=4).map(move |s| Parameters::narrow(m, s, 4))) {
        for step in of_numbers().into_iter().chain(of_integers()) {
            // A product first, so that values exceed the word, and a rounding last, so that they are integers.
            let steps = [Step::Multiply(Multiplier::Full), step, Step::Round(RoundingRule::TowardNegative)];
            for overflow in Overflow::ALL {
                let Some(pieces) = fold_steps(&steps, overflow, &p) else { continue };
                folded += 1;
                for x in -8..8 {
                    let value = pieces.iter().find(|piece| piece.lo <= x && x <= piece.hi).map(|piece| piece.at(x));
                    let whole = exact(&steps, x, &p).map(|v| v.numer().to_i128().expect("small"));
                    assert_eq!(
                        value,
                        whole.and_then(|v| overflow.fit(p.word, v)),
                        "{step:?} {overflow:?} at {x}, {p:?}"
                    );
                }
            }
        }
    }
    assert!(folded > 15_000, "{folded}");
}

#[test]
fn exponents_are_what_their_formulas_give() {
    let at = |s: i32, q: u32| {
        let p = Parameters { q, ..Parameters::q31(1, s) };
        EXPONENTS.map(|exponent| exponent.at(&p))
    };
    assert_eq!(at(-3, 31), [0, -3, -3, 0, -34, -33, -31, -18, -34, 34, 3, -2]);
    assert_eq!(at(0, 31), [0, 0, -1, 1, -31, -30, -31, -15, -31, 31, 3, -2]);
    assert_eq!(at(5, 31), [5, 0, -1, 6, -26, -25, -31, -10, -31, 26, 3, -2]);
    assert_eq!(at(5, 7), [5, 0, -1, 6, -2, -1, -7, 14, -7, 2, 3, -2]);
}

/// Halves of multipliers by the machine's doubles, which hold every int32, and 24 bits by its f32.
#[test]
fn multipliers_lose_what_their_names_say() {
    let near = |bit: u32| (-2i64..=2).flat_map(move |n| [(1i64 << bit) + n, n - (1i64 << bit)]);
    let halves = (-40_000i64..40_000).step_by(997).flat_map(|n| [-1, 0, 1].map(|d| n * 65_536 + 32_768 + d));
    let all = (0..32).flat_map(near).chain(halves).filter_map(|m| i32::try_from(m).ok());
    for m in all.chain([i32::MAX, i32::MIN, 0x7fff_7fff, 0x7fff_8000, 0x0100_0001, 0x0100_0003]) {
        let p = Parameters::q31(m, 0);
        let high = (f64::from(m) / 65536.0 + 0.5).floor() as i64;
        let expected =
            [i64::from(m), high.min(32767), if high == 32768 { -32768 } else { high }, f64::from(m as f32) as i64];
        for (kind, expected) in MULTIPLIERS.into_iter().zip(expected) {
            assert_eq!(integer::effective_multiplier(kind, &p), i128::from(expected), "{kind:?} of {m}");
            assert_eq!(steps::effective_multiplier(kind, &p), expected, "{kind:?} of {m}");
        }
    }
}

#[test]
fn only_powers_of_two_are_shifts() {
    for (m, s, shift) in [
        (1 << 30, 0, Some(1)),
        (1 << 30, 1, Some(0)),
        (1 << 30, 2, None),
        (1 << 30, -30, Some(31)),
        (1 << 30, -31, None),
        (1, 0, Some(31)),
        (1, -1, None),
        (2, -1, Some(31)),
        (0, 0, None),
        (3, 0, None),
        (-4, 0, None),
        (i32::MIN, 0, None),
    ] {
        assert_eq!(power_of_two_shift(&Parameters::q31(m, s)), shift, "{m} {s}");
    }
}

#[test]
fn steps_without_a_name_describe_themselves() {
    let all = of_numbers().into_iter().chain(of_integers());
    let text = all.map(|step| step.to_string()).collect::<Vec<_>>().join("\n");
    expect![[r#"
        round (ties-up)
        round (ties-away)
        round (ties-even)
        round (ties-down)
        round (ties-to-zero)
        round (toward-positive)
        round (toward-negative)
        round (toward-zero)
        product x*m
        product with the high half of m, saturated
        product with the high half of m, wrapped
        product with 24 bits of m
        require the value in the bits of 2^max(s,0)
        require the value in the bits of 2^min(s,0)
        require the value in the bits of 2^min(s,-1)
        require the value in the bits of 2^(s-min(s,-1))
        require the value in the bits of 2^(s-Q)
        require the value in the bits of 2^(s-Q+1)
        require the value in the bits of 2^-Q
        require the value in the bits of 2^(s-Q+16)
        require the value in the bits of 2^(min(s,0)-Q)
        require the value in the bits of 2^(Q-s)
        require the value in the bits of 2^3
        require the value in the bits of 2^-2
        add 5
        add -3
        fixup: one less where negative
        nudge by 2^(Q-1) away from zero
        nudge by 2^(Q-1) or 1-2^(Q-1), by sign
        require multiplier >= 0
        round to f32
        wrap
        saturate
        fixup masked, not reduced to a sign
        rounding shift in place of the product
        clamp to -3..=5
        scale by 2^max(s,0)
        scale by 2^min(s,0)
        scale by 2^min(s,-1)
        scale by 2^(s-min(s,-1))
        scale by 2^(s-Q)
        scale by 2^(s-Q+1)
        scale by 2^-Q
        scale by 2^(s-Q+16)
        scale by 2^(min(s,0)-Q)
        scale by 2^(Q-s)
        scale by 2^3
        scale by 2^-2"#]]
    .assert_eq(&text);
}

/// Regression: `scale by 2^(s-15)` and `nudge by 2^30` were names for multipliers of any format, but are true only in Q0.31.
#[test]
fn the_names_of_a_schemes_steps_are_true_in_any_format() {
    let mut spelled = 0;
    for definition in DEFINITIONS {
        for (name, step) in definition.steps {
            let Some((_, power)) = name.split_once("2^") else { continue };
            let power = format!("2^{}", power.split(' ').next().unwrap_or_default());
            match step {
                // The source's own variable, the whole right shift.
                Step::Scale(Exponent::Whole | Exponent::WholeButOne) if power.contains("shift") => {}
                Step::Scale(exponent) => assert_eq!(power, exponent.to_string(), "{}: {name}", definition.name),
                step => assert!(step.to_string().contains(&power), "{}: {name} is {step}", definition.name),
            }
            spelled += 1;
        }
    }
    assert!(spelled > 10, "{spelled}");
}
