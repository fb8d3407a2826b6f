//! Words, policies and rounding rules, compared with their names on every value of small words, and with the machine's casts.

use rug::{Integer, Rational};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::{INT32, Overflow, Word};

/// Checks every form of a value in a word.
fn check(word: Word, v: i128, wrapped: i128, saturated: i128) {
    let (big, held) = (Integer::from(v), wrapped == v);
    assert_eq!((word.wrap(v), word.saturate(v), word.holds(v)), (wrapped, saturated, held), "{v} in {word:?}");
    assert_eq!(
        (word.wrap_exact(&big), word.saturate_exact(&big)),
        (wrapped.into(), saturated.into()),
        "{v} in {word:?}"
    );
    assert_eq!(word.holds_exact(&big), held, "{v} in {word:?}");
    let fitted = [Some(wrapped), Some(saturated), held.then_some(v)];
    for (policy, expected) in Overflow::ALL.into_iter().zip(fitted) {
        assert_eq!(policy.fit(word, v), expected, "{v} in {word:?} by {policy:?}");
        assert_eq!(policy.fit_exact(word, &big), expected.map(Integer::from), "{v} in {word:?} by {policy:?}");
        if word == INT32 {
            assert_eq!(policy.fit_int32(v).map(i128::from), expected, "{v} by {policy:?}");
        }
    }
}

#[test]
fn small_words_hold_what_is_congruent_or_nearest() {
    for bits in 2..=6u32 {
        let word = Word { bits };
        // Two's complement: as many values as patterns, with one more value below zero than above.
        let all: Vec<i128> = (0..1i128 << bits).map(|i| i - (1 << bits) / 2).collect();
        assert_eq!((word.min(), word.max()), (all[0], all[all.len() - 1]));
        for v in -200i128..=200 {
            let wrapped = all.iter().copied().find(|w| (w - v).rem_euclid(1 << bits) == 0).expect("one is congruent");
            let saturated = all.iter().copied().min_by_key(|w| w.abs_diff(v)).expect("one is nearest");
            check(word, v, wrapped, saturated);
        }
    }
}

#[test]
fn words_of_the_machine_are_its_casts() {
    let near = |end: i128| (-3..=3).map(move |n| end + n);
    let ends = [0, 8, 16, 31, 32, 33, 63, 64, 90].map(|bit| 1i128 << (bit as u32).max(1));
    for v in ends.into_iter().flat_map(|end| [end, -end, end / 2, -end / 2]).flat_map(near) {
        check(Word { bits: 8 }, v, (v as i8).into(), v.clamp(-0x80, 0x7f));
        check(Word { bits: 16 }, v, (v as i16).into(), v.clamp(-0x8000, 0x7fff));
        check(INT32, v, (v as i32).into(), v.clamp(-0x8000_0000, 0x7fff_ffff));
        check(Word { bits: 64 }, v, (v as i64).into(), v.clamp(i64::MIN.into(), i64::MAX.into()));
    }
}

#[test]
fn rounding_to_nearest_is_off_by_a_half_at_most() {
    for rule in RoundingRule::ALL {
        let near = (-40..40).map(|n| Rational::from((n, 8))).all(|v| (rule.round(&v) - v).abs() * 2u32 <= 1u32);
        assert_eq!(rule.is_nearest(), near, "{}", rule.name());
    }
}
