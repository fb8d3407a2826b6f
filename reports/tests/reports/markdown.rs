use crate::sample;
use expect_test::expect_file;
use tiebreak_reports::markdown::render;

#[test]
fn a_holding_run() {
    expect_file!["snapshots/holding.md"].assert_eq(&render(&sample::holding()));
}

#[test]
fn a_broken_run() {
    expect_file!["snapshots/broken.md"].assert_eq(&render(&sample::broken()));
}

/// Text of a worker is not markup.
#[test]
fn text_of_others_stays_text() {
    let mut ledger = sample::broken();
    ledger.findings[1].message = "died in `main`".into();
    ledger.rows[0].isa_path = "a|b".into();
    let page = render(&ledger);
    assert!(page.contains("`` fpm tvm-neon-rfc aarch64-qemu x=7 m=5 s=31: died in `main`, class crash ``"));
    assert!(page.contains("a\\|b"));
}
