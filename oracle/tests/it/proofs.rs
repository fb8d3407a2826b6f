//! Proofs of schemes compared with every accumulator and multiplier at small widths, and with known statements at 32 bits.

use std::collections::BTreeMap;
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::proof::{Delta, Difference, Extent, Verdict, prove};

/// Values of a scheme at every accumulator and multiplier of a width.
type Table = Vec<Option<i64>>;

struct Words {
    bits: u32,
    s: i32,
}

impl Words {
    fn values(&self) -> impl Iterator<Item = i64> + Clone + use<> {
        let half = 1i64 << (self.bits - 1);
        -half..half
    }

    fn inputs(&self) -> impl Iterator<Item = (i64, i64)> + use<> {
        let all = self.values();
        all.clone().flat_map(move |m| all.clone().map(move |x| (x, m)))
    }

    fn at(&self, m: i64) -> Parameters {
        Parameters::narrow(m, self.s, self.bits)
    }

    fn table(&self, scheme: &Scheme) -> Table {
        self.inputs().map(|(x, m)| scheme.fast(x, &self.at(m))).collect()
    }
}

fn check(words: &Words, schemes: [&Scheme; 2], tables: [&Table; 2], counts: &mut BTreeMap<&'static str, u64>) {
    let verdict = prove(schemes[0], schemes[1], &words.at(0));
    let message =
        || format!("{} {} {} bits s={}: {verdict:?}", schemes[0].label(), schemes[1].label(), words.bits, words.s);
    let both = || words.inputs().zip(tables[0].iter().zip(tables[1]));
    let kind = match &verdict {
        Verdict::Identical { same_domain } => {
            assert!(both().all(|(_, (a, b))| a.is_none() || b.is_none() || a == b), "{}", message());
            assert!(!same_domain || both().all(|(_, (a, b))| a.is_some() == b.is_some()), "{}", message());
            "identical"
        }
        Verdict::Differ { differences, left, extent, witness, .. } => {
            let p = words.at(witness.m);
            let values = (schemes[0].fast(witness.x, &p), schemes[1].fast(witness.x, &p));
            assert!(
                values == (Some(witness.left), Some(witness.right)) && witness.left != witness.right,
                "{}",
                message()
            );
            if *extent == Extent::All && *left == 0 {
                for ((x, m), (a, b)) in both() {
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    placed(differences, x * m, b - a, &message);
                }
                "closed form"
            } else {
                "witness"
            }
        }
        Verdict::Unknown { .. } => "unknown",
    };
    *counts.entry(kind).or_default() += 1;
}

#[track_caller]
fn placed(differences: &[Difference], product: i64, delta: i64, message: &dyn Fn() -> String) {
    let mut there = differences.iter().filter(|d| d.holds(product));
    match (there.next(), there.next()) {
        (Some(_), Some(_)) => panic!("two sets hold {product}: {}", message()),
        (Some(d), None) => {
            assert!(d.delta == Delta::Varies || d.delta == Delta::By(delta), "{product} {delta}: {}", message())
        }
        (None, _) => assert_eq!(delta, 0, "{product}: {}", message()),
    }
}

fn every_pair(bits: u32, schemes: &[Scheme]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for s in 1 - bits as i32..bits as i32 {
        let words = Words { bits, s };
        let tables: Vec<Table> = schemes.iter().map(|scheme| words.table(scheme)).collect();
        for i in 0..schemes.len() {
            for j in i..schemes.len() {
                check(&words, [&schemes[i], &schemes[j]], [&tables[i], &tables[j]], &mut counts);
            }
        }
    }
    println!("{bits} bits: {counts:?}");
    counts
}

#[test]
fn a_verdict_is_that_of_every_input_at_small_widths() {
    let all: Vec<Scheme> = Scheme::every().collect();
    let counts = every_pair(5, &all);
    // Reduced multipliers and wraps of left shifts leave some pairs undecided, which is never a pass.
    assert!(counts["identical"] > 1000 && counts["closed form"] > 3000, "{counts:?}");
    let without_policies: Vec<Scheme> = all.into_iter().filter(|s| !s.label().contains(':')).collect();
    every_pair(7, &without_policies);
}

fn at_32_bits(left: &str, right: &str, s: i32) -> Verdict {
    let scheme = |name| Scheme::parse(name).expect("a scheme");
    prove(&scheme(left), &scheme(right), &Parameters::q31(0, s))
}

#[test]
fn double_rounding_is_one_interval_of_residues() {
    for s in -31..=-1 {
        let Verdict::Differ { differences, extent: Extent::All, left: 0, .. } =
            at_32_bits("ties-up", "sqrdmulh-srshl", s)
        else {
            panic!("s={s}")
        };
        let half = 1u64 << (30 - s);
        let (first, last) = (half - (1 << 30), half - 1);
        let all = |d: &Difference| (d.bits, d.first, d.last, d.delta) == ((31 - s) as u32, first, last, Delta::By(1));
        assert!(differences.iter().all(all), "s={s}: {differences:?}");
    }
}

#[test]
fn pairs_that_are_identical_for_all_inputs() {
    for s in -31..=0 {
        for (left, right) in [
            ("ties-up", "tflite-single"),
            ("gemmlowp-double", "tosa-apply-scale-32-double"),
            ("cmsis-nn-double", "tosa-apply-scale-32-double"),
        ] {
            assert!(matches!(at_32_bits(left, right, s), Verdict::Identical { .. }), "{left} {right} s={s}");
        }
        let rndnu = at_32_bits("ties-up", "xnnpack-rndnu", s);
        assert_eq!(matches!(rndnu, Verdict::Identical { .. }), s < 0, "s={s}: {rndnu:?}");
    }
}
