//! Invariant 5: every known bug is detected in every lane with its class and a witness as small as the published one, and every negative control is
//! equal.

use crate::common::{all_lanes, channel, lane, params};
use expect_test::expect;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::LazyLock;
use tiebreak_impls::Form;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::mutants::{self, Mutant};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::ledger::{CheckKind, SelfCheck};
use tiebreak_suites::engine::erased::op;
use tiebreak_suites::engine::self_check::mutants as self_check;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::lane::{Input, Lane, Order};
use tiebreak_suites::operation::promised;
use tiebreak_worker::protocol::Job;

/// Self-checks of every lane, run once for all tests here.
static CHECKS: LazyLock<Vec<(&str, Vec<SelfCheck>)>> =
    LazyLock::new(|| all_lanes().into_iter().map(|name| (name, checked(&lane(name)))).collect());

/// Runs every mutant and control in a lane.
fn checked(lane: &Lane) -> Vec<SelfCheck> {
    let groups = self_check::groups(op::<FixedPointMultiply>()).expect("schemes are known");
    let groups = (0..groups).into_par_iter();
    let lanes = std::slice::from_ref(lane);
    let checks = groups.map(|at| self_check::of_group(op::<FixedPointMultiply>(), at, lanes, |_, _| true, 1));
    self_check::in_order(checks.collect::<Result<Vec<_>, _>>().expect("schemes are known").concat())
}

/// Accumulator with its channel.
#[derive(Clone, Copy)]
struct Case {
    x: i32,
    channel: Channel,
}

impl Case {
    /// Returns a key of complexity.
    fn size(&self) -> impl Ord + use<> {
        let Channel { multiplier: m, shift: s } = self.channel;
        (self.x.unsigned_abs(), s.unsigned_abs(), m.unsigned_abs(), m < 0, self.x < 0, s > 0)
    }
}

fn mutant(name: &str) -> &'static Mutant {
    mutants::fpm::find(name).unwrap_or_else(|| panic!("no mutant {name}"))
}

fn checks(name: &str) -> Vec<(&'static str, &'static SelfCheck)> {
    let found = CHECKS.iter().filter_map(|(lane, checks)| Some((*lane, checks.iter().find(|c| c.name == name)?)));
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 3, "{name} ran in {found:?}");
    found
}

/// Returns the case `x=1 m=2 s=3` of the line that a self-check shows.
fn shrunk(check: &SelfCheck) -> Case {
    let (case, _) = check.seen.split_once(':').unwrap_or_else(|| panic!("no witness in {}", check.seen));
    let number = |name: &str| {
        let word = case.split(' ').find_map(|word| word.strip_prefix(name));
        word.and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("no {name} in {case}"))
    };
    Case { x: number("x="), channel: channel(number("m="), number("s=")) }
}

fn at(x: i32, m: i32, s: i32) -> Case {
    Case { x, channel: channel(m, s) }
}

/// Returns the value of the mutant's contract, from the oracle's rationals.
fn right(mutant: &Mutant, x: i32, m: i32, s: i32) -> Option<i64> {
    promised::<Scheme>(mutant.kernel.contract.promise).expect("a known scheme").exact(x.into(), &Parameters::q31(m, s))
}

fn dies(name: &str) {
    let mutant = mutant(name);
    for (lane, check) in checks(name) {
        assert!(check.passed && check.kind == CheckKind::Mutant, "{lane}: {}", check.seen);
        assert_eq!(check.expected_class, mutant.class);
        assert!(check.seen.ends_with(&format!("class {}", mutant.class)), "{lane}: {}", check.seen);
        let smallest = shrunk(check);
        for w in mutant.witnesses {
            assert!(smallest.size() <= at(w.x, w.m, w.s).size(), "{lane}: {} is larger than {w:?}", check.seen);
        }
    }
    for name in all_lanes() {
        shows_what_was_published(mutant, name);
    }
    nothing_nearer_zero_differs(mutant, shrunk(checks(name)[0].1));
}

/// Runs the published witnesses in the lane, with one element in each batch.
fn shows_what_was_published(mutant: &Mutant, name: &str) {
    let lane = lane(name);
    let mut out = Vec::new();
    for w in mutant.witnesses {
        let values = Arc::new(vec![w.x]);
        let job = Job::Fpm { kernel: mutant.kernel.name.to_owned(), params: params(channel(w.m, w.s)) };
        let order = Order { job: &job, input: Input::Values { len: 1, values: &values }, misalign: 0, products: 0 };
        lane.lease().run(&order, &mut out).expect("the lane answers");
        assert_eq!(out, [w.got], "{name}: {w:?}");
        assert_eq!(right(mutant, w.x, w.m, w.s), Some(w.expected.into()), "{w:?}");
    }
}

/// Checks every accumulator nearer to zero, at the parameters of the shrunk witness.
fn nothing_nearer_zero_differs(mutant: &Mutant, witness: Case) {
    let (m, s) = (witness.channel.multiplier, witness.channel.shift);
    let bound = witness.x.saturating_abs().min(1 << 20) - 1;
    let run = mutant.kernel.run(Form::Portable);
    let mut out = [0];
    for x in -bound..=bound {
        run(&params(witness.channel), &[x], &mut out);
        if let Some(right) = right(mutant, x, m, s) {
            assert_eq!(i64::from(out[0]), right, "x={x} m={m} s={s} is smaller than x={}", witness.x);
        }
    }
}

macro_rules! mutants_die {
    ($($test:ident: $name:literal,)+) => {
        $(#[test]
        fn $test() {
            dies($name);
        })+

        /// Every mutant has a test that names its origin.
        #[test]
        fn every_mutant_is_tested() {
            let tested = [$($name),+];
            let known: Vec<_> = mutants::fpm::mutants().iter().map(|m| m.kernel.name).collect();
            let untested: Vec<_> = known.iter().filter(|name| !tested.contains(name)).collect();
            assert!(untested.is_empty(), "a line of `mutants_die!` in {} for each of {untested:?}", file!());
            assert_eq!(tested.as_slice(), known.as_slice(), "in the order of the list");
            println!("{} mutants in {:?}", known.len(), all_lanes());
        }
    };
}

mutants_die! {
    tensorflow_issue_25087_and_ruy_pull_227_double_rounding: "mutant-double-rounding",
    tensorflow_issue_25087_and_ruy_pull_227_single_rounding: "mutant-single-rounding",
    tvm_pull_5980_dead_fixup: "mutant-dead-fixup",
    tvm_pull_12659_fixup_lost: "mutant-fixup-lost",
    cmsis_nn_pull_220_wrap_before_rounding: "mutant-narrow-before-rounding",
    tensorflow_pull_42134_multiplier_narrowed: "mutant-narrowed-multiplier",
    apache_tvm_0_27_and_tilelang_issue_3003_wrap: "mutant-power-of-two-wrap",
    tilelang_issue_3003_and_tvm_issue_20340_shift_by_minus_one: "mutant-power-of-two-shift-minus-one",
    cmsis_nn_issue_170_body: "mutant-left-shift-wrap",
    cmsis_nn_issue_170_tail: "mutant-tail-double-rounding",
    simde_issue_1173_and_webassembly_simd_issue_483_no_saturation: "mutant-no-saturation",
    tensorflow_pull_103028_floor_for_truncation: "mutant-floor-for-truncation",
    own_ties_down: "mutant-ties-down",
    own_ties_away: "mutant-ties-away",
    own_no_rounding: "mutant-no-rounding",
    own_sqrdmulh_no_saturation: "mutant-sqrdmulh-no-saturation",
    own_srshl_ceiling: "mutant-srshl-ceiling",
}

/// All lanes share one table, because shrinking does not depend on the lane.
#[test]
fn shrunk_witnesses() {
    let mut table = String::new();
    for mutant in mutants::fpm::mutants() {
        let seen: Vec<_> = checks(mutant.kernel.name).into_iter().map(|(_, check)| check.seen.as_str()).collect();
        assert!(seen.iter().all(|s| *s == seen[0]), "{seen:#?}");
        table += &format!("{:36} {}\n", mutant.kernel.name, seen[0]);
    }
    expect![[r#"
        mutant-double-rounding               x=1 m=1073741824 s=-1: got 1, ties-up:wrap 0, class double-rounding
        mutant-single-rounding               x=1 m=1073741824 s=-1: got 0, gemmlowp-double:wrap 1, class double-rounding
        mutant-dead-fixup                    x=-1 m=1073741825 s=-1: got 0, gemmlowp-double:wrap -1, class tie-direction
        mutant-fixup-lost                    x=-1 m=1073741825 s=-1: got 0, gemmlowp-double:wrap -1, class fixup-lost
        mutant-narrow-before-rounding        x=1073741824 m=2147483647 s=0: got -1073741824, cmsis-nn-single:wrap 1073741824, class wrap
        mutant-narrowed-multiplier           x=1 m=2147450880 s=0: got -1, tflite-int16-multiplier:wrap 1, class multiplier-narrowed
        mutant-power-of-two-wrap             x=1073741824 m=1073741824 s=-30: got -1, ties-up:wrap 1, class wrap
        mutant-power-of-two-shift-minus-one  x=0 m=1073741824 s=1: got -2147483648, ties-up:wrap 0, class wrap
        mutant-left-shift-wrap               x=1 m=1 s=30: got 0, ties-up:wrap 1, class wrap
        mutant-tail-double-rounding          x=1 m=1073741824 s=-1: got 1, ties-up:wrap 0, class position
        mutant-no-saturation                 x=-2147483648 m=-2147483648 s=0: got -2147483648, gemmlowp-double:wrap 2147483647, class missing-saturation
        mutant-floor-for-truncation          x=-1 m=1 s=0: got -1, gemmlowp-double:wrap 0, class directed-rounding
        mutant-ties-down                     x=1 m=1073741824 s=0: got 0, ties-up:wrap 1, class tie-direction
        mutant-ties-away                     x=-1 m=1073741824 s=0: got -1, ties-up:wrap 0, class tie-direction
        mutant-no-rounding                   x=-1 m=1 s=0: got -1, ties-up:wrap 0, class directed-rounding
        mutant-sqrdmulh-no-saturation        x=-2147483648 m=-2147483648 s=0: got -2147483648, sqrdmulh-srshl:wrap 2147483647, class missing-saturation
        mutant-srshl-ceiling                 x=1 m=1073741824 s=-2: got 1, sqrdmulh-srshl:wrap 0, class directed-rounding
    "#]].assert_eq(&table);
}

#[test]
fn negative_controls_are_equal_in_every_lane() {
    let controls = mutants::controls();
    for control in &controls {
        for (lane, check) in checks(control.name) {
            assert!(check.passed && check.kind == CheckKind::Control, "{lane}: {}: {}", control.name, check.seen);
            let inputs = check.seen.strip_prefix("equal on ").and_then(|s| s.strip_suffix(" inputs"));
            let inputs: u64 = inputs.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{}", check.seen));
            assert!(inputs > 10_000, "{}: only {inputs} inputs", control.name);
            println!("{} {lane}: {}", control.name, check.seen);
        }
    }
    assert!(controls.len() >= 4);
}
