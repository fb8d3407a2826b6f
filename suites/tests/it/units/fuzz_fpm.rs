//! Batches of a fuzzer through kernels of fixed point multiply.

use tiebreak_impls::fpm::kernels;
use tiebreak_impls::mutants;
use tiebreak_suites::fpm::catalogue;
use tiebreak_suites::fuzzing::fpm::{Batch, Held, held};

fn batch(q: u8, channels: &[(i32, i8)], xs: &[i32]) -> Batch {
    Batch { q, channels: channels.to_vec(), misalign: 3, xs: xs.to_vec() }
}

#[test]
fn kernels_keep_their_contracts() {
    let xs: Vec<i32> = tiebreak_suites::accumulators::corners();
    for index in 0..kernels().len() {
        for (m, s) in [(1 << 30, -1), (i32::MIN, 0), (-1, 31), (1_395_864_371, -8), (0, 5), (i32::MAX, -128)] {
            assert_eq!(held(index).run(&batch(31, &[(m, s), (1, -1)], &xs)), Ok(()));
            assert_eq!(held(index).run(&batch(7, &[(m, s)], &xs[..9])), Ok(()));
        }
        assert_eq!(held(index).run(&batch(31, &[], &xs)), Ok(()));
        assert_eq!(held(index).run(&batch(31, &[(1, 1)], &[])), Ok(()));
    }
}

#[test]
fn a_mutant_is_reported_with_its_smallest_witness() {
    let mutant = mutants::fpm::find("mutant-double-rounding").expect("a mutant");
    let report = Held::new(&mutant.kernel).run(&batch(31, &[(1_583_594_044, -9)], &[0, 0, 7984, 0])).unwrap_err();
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(
        lines[0],
        "fpm mutant-double-rounding host x=1 m=1073741824 s=-1: got 1, ties-up:wrap 0, class double-rounding"
    );
    assert_eq!(lines[1], "catalogue: 1 1073741824 -1 ties-up:wrap=0 # mutant-double-rounding, found by fuzzing");
    assert_eq!(
        lines[2],
        "again: cargo xtask verify --op fpm --kernel mutant-double-rounding --lane host --multiplier=1073741824 --shift=-1 --x=1"
    );
    let kept = lines[1].trim_start_matches("catalogue: ");
    assert_eq!(catalogue::read(kept).expect("a line of the catalogue").len(), 1);
}

#[test]
fn every_mutant_is_caught_at_its_witnesses() {
    for mutant in mutants::fpm::mutants() {
        for w in mutant.witnesses {
            let caught = Held::new(&mutant.kernel).run(&batch(31, &[(w.m, w.s as i8)], &[w.x; 5]));
            assert!(caught.is_err(), "{} at x={} m={} s={}", mutant.kernel.name, w.x, w.m, w.s);
        }
    }
}
