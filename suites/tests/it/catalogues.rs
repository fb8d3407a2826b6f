//! Every catalogue against the oracle, and the errors for a wrong line.

use tiebreak_suites::conv2d::Conv2d;
use tiebreak_suites::dot::Dot;
use tiebreak_suites::engine::case::catalogue::{line, read};
use tiebreak_suites::engine::case::text::parse;
use tiebreak_suites::engine::erased::{Kernel, Op, op};
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::matmul::Matmul;
use tiebreak_suites::operation::Operation;
use tiebreak_suites::transform::Transform;
use tiebreak_suites::verify::{Visitor, visit_tensors};

fn reason<O: Operation>(line: &str) -> String {
    let text = format!("# head\n\n{line}\n");
    let bad = read(op::<O>(), &text).expect_err(line);
    assert_eq!(bad.line, 3, "{bad}");
    assert!(bad.to_string().starts_with("line 3: "), "{bad}");
    bad.error.to_string()
}

fn agree(op: Op) {
    let name = op.name();
    let entries = read(op, op.catalogue()).unwrap_or_else(|bad| panic!("suites/ops/catalogue/{name}.txt: {bad}"));
    assert!(entries.len() > 4, "{name}");
    for (i, entry) in entries.iter().enumerate() {
        assert!(entries[..i].iter().all(|e| (&e.case, e.index) != (&entry.case, entry.index)), "{} twice", entry.case);
        assert_eq!(read(op, &line(entry)), Ok(vec![entry.clone()]));
    }
}

#[test]
fn every_value_of_every_catalogue_agrees_with_the_oracle() {
    struct Agree;
    impl Visitor for Agree {
        fn visit<O: Fuzzed>(&mut self) {
            agree(op::<O>());
        }
    }
    visit_tensors(&mut Agree);
}

#[test]
fn a_wrong_value_is_told_with_the_line_that_is_right() {
    for written in ["130051", "?", "-", "999999999999"] {
        let described = reason::<Matmul>(&format!("m=1 n=1 k=2 lhs=255 rhs=255 out[0]: exact={written} # here"));
        let expected = format!(
            "exact is 130050, not {written}; the line with every value:\nm=1 n=1 k=2 lhs=255 rhs=255 out[0]: exact=130050 # here"
        );
        assert_eq!(described, expected);
        let (_, right) = described.split_once('\n').expect("two lines");
        assert_eq!(read(op::<Matmul>(), right).expect("the line that was printed").len(), 1);
    }
    assert!(
        reason::<Dot>("len=4 acc=2147483647 a=1 b=1 out[1]: products-4:out-of-domain=3 # x").contains("is -, not 3")
    );
}

#[test]
fn a_line_without_its_parts_is_refused() {
    let without = reason::<Matmul>("m=1 lhs=1 rhs=1 out[0]: exact=1");
    assert_eq!(without, "no provenance: end the line with `# where it comes from`");
    assert_eq!(reason::<Matmul>("m=1 out[0]: exact=0 #  "), without);
    assert!(reason::<Matmul>("m=1 lhs=1 # here").starts_with("no result"));
    assert!(reason::<Matmul>("m=1 lhs=1 out[0]: # here").starts_with("no value"));
    assert!(reason::<Matmul>("m=1 lhs=1 out[0] # here").starts_with("no value"));
    assert_eq!(reason::<Matmul>("m=1 out[0]: exact # here"), "`exact` is not SCHEME=VALUE");
}

#[test]
fn a_bad_index_is_refused() {
    assert_eq!(reason::<Matmul>("m=1 out[1]: exact=0 # x"), "out[1]: there are 1 results");
    assert_eq!(reason::<Matmul>("m=1 out[-1]: exact=0 # x"), "out[-1]: not a flat index, such as out[0]");
    assert_eq!(reason::<Matmul>("m=1 out[0: exact=0 # x"), "out[0: not a flat index, such as out[0]");
    assert_eq!(
        reason::<Conv2d>("out_channels=2: exact=0 # x"),
        "no result: write `out[INDEX]: SCHEME=VALUE ...` after the case"
    );
    assert!(reason::<Matmul>("m=1 lhs[0,1]=1 out[0]: exact=0 # x").contains("not an index into lhs of shape [1, 1]"));
    assert!(reason::<Matmul>("m=1 lhs[0,0=1 out[0]: exact=0 # x").contains("not an index into lhs"));
}

#[test]
fn an_unknown_scheme_is_refused() {
    assert!(reason::<Matmul>("m=1 out[0]: exakt=0 # x").contains("exakt"));
    assert!(reason::<Matmul>("m=1 out[0]: exact:never=0 # x").contains("never"));
    assert!(reason::<Transform>("rows=1 columns=1 out[0]: im3col=0 # x").contains("im3col"));
}

#[test]
fn a_case_that_no_kernel_takes_is_refused() {
    assert!(reason::<Dot>("len=0 out[0]: products-4=0 # x").starts_with("no kernel takes the case: len"));
    assert!(reason::<Matmul>("m=1 lhs=40000 out[0]: exact=0 # x").starts_with("no kernel takes the case: lhs"));
    assert!(reason::<Matmul>("m=1 q=1 out[0]: exact=0 # x").contains("q"));
    assert_eq!(reason::<Matmul>("m=1 m=2 out[0]: exact=0 # x"), "m: given twice");
    let reason = reason::<Matmul>("m=1000 n=1000 k=2 out[0]: exact=0 # x");
    assert!(reason.ends_with("at most 1048576 here"), "{reason}");
}

#[test]
fn an_element_stands_out_from_its_fill_wherever_it_is_named() {
    let text = "k=2 rhs=1 lhs[0,1]=5 lhs=3 out[0]: exact=8 # x";
    assert_eq!(read(op::<Matmul>(), text).map(|entries| entries.len()), Ok(1));
}

/// The line that `case` prints fits the catalogue unchanged.
#[test]
fn the_line_that_a_case_offers_is_read() {
    let printed = crate::common::tiebreak(&["case", "--x=-1", "--multiplier=1073741825", "--shift=-1"]).exits(0).stdout;
    let (_, line) = printed.split_once("As a catalogue line:\n").expect("it offers one");
    assert_eq!(read(op::<FixedPointMultiply>(), line).expect("it can be read").len(), 1);
}

/// Every kernel of fixed point multiply accepts some of the cases.
#[test]
fn every_multiplication_has_cases() {
    let fpm = op::<FixedPointMultiply>();
    let entries = read(fpm, fpm.catalogue()).expect("every line is one");
    let takes = |kernel: &Kernel, case: &str| {
        parse(case, &kernel.contract.domain).is_ok_and(|case| kernel.covers(&case.params))
    };
    let uncovered = fpm.kernels().iter().filter(|kernel| !entries.iter().any(|entry| takes(kernel, &entry.case)));
    assert_eq!(uncovered.map(|kernel| kernel.name).collect::<Vec<_>>(), Vec::<&str>::new());
}
