//! Text of cases of tensor operations.

use tiebreak_impls::fpm::Channel;
use tiebreak_reports::text::case as spelled;
use tiebreak_suites::elementwise::Add;
use tiebreak_suites::engine::case::text::{Draft, arguments, complete, parse};
use tiebreak_suites::engine::erased::{AnyCase, Domain, op};
use tiebreak_suites::matmul::Matmul;
use tiebreak_suites::operation::fill::Fill;
use tiebreak_suites::operation::{Operation, Spec};
use tiebreak_suites::quantize::Quantize;
use tiebreak_suites::requantize::Requantize;

fn domain<O: Operation>(fits: impl Fn(&O::Domain) -> bool) -> &'static Domain {
    let mut domains = op::<O>().kernels().iter().map(|kernel| &kernel.contract.domain);
    domains.find(|domain| fits(domain.typed::<O>())).expect("one")
}

/// A row of `mismatches.csv` once omitted all channels but the first.
#[test]
fn several_channels_have_a_text() {
    let domain = domain::<Requantize>(|domain| domain.channels.per_channel && domain.bias);
    let case = parse("len=2 min=0 max=255 x[1]=5", domain).expect("a case");
    let text = |case: &AnyCase| arguments(domain, case).map(|a| spelled(&a));
    assert_eq!(text(&case).as_deref(), Some("m=1073741824 s=0 zero_point=0 min=0 max=255 len=2 x[1]=5"));
    let mut case = case.typed::<Requantize>();
    case.params.channels.push(Channel { multiplier: 7, shift: -1 });
    case.params.bias.push(-3);
    let case = AnyCase::of::<Requantize>(case);
    let written = text(&case).expect("a text");
    assert_eq!(written, "m=1073741824,7 s=0,-1 bias=0,-3 zero_point=0 min=0 max=255 len=2 x[1]=5");
    assert_eq!(parse(&written, domain), Ok(case));
}

#[test]
fn a_value_stands_for_all_channels_and_lists_must_agree() {
    let signed = tiebreak_impls::element::Element::I8;
    let domain = domain::<Requantize>(|domain| domain.channels.per_channel && domain.output == signed);
    let case = parse("m=1,2,3 s=-4", domain).expect("a case");
    let params = case.params.typed::<Requantize>();
    let shifts: Vec<i32> = params.channels.iter().map(|c| c.shift).collect();
    assert_eq!((shifts, &params.bias), (vec![-4; 3], &vec![0; 3]));
    for (text, reason) in [
        ("m=1,2,3 s=-4,-5", "s: 2 values for 3 channels"),
        ("s=-4,32", "s: 32 is not in -31..=31"),
        ("m=1,,2", "m: `` is not an integer; several are separated by commas, such as m=1,2"),
    ] {
        let refused = Draft::read(domain.op(), text).err().map(|e| e.to_string());
        assert_eq!(refused.as_deref(), Some(reason), "{text}");
    }
}

/// Text of a large tensor: a list, consecutive values, or the fill of a plan.
#[test]
fn a_large_tensor_has_a_text() {
    let domain = domain::<Add>(|domain| domain.element == tiebreak_impls::element::Element::I8);
    let mut case = parse("len=300", domain).expect("a case");
    case.tensors[0] = (0..300).map(|i| i % 127 / 2).collect();
    case.tensors[1] = (0..300).map(|i| i % 97 - 50).collect();
    assert_eq!(arguments(domain, &case), None);
    let written = spelled(&complete(domain, &case, &[None, None, None]).expect("a text"));
    assert!(written.contains(" lhs=[0*2,1*2,2*2,") && written.contains(" rhs=[-50,-49,"), "{written}");
    assert_eq!(parse(&written, domain), Ok(case));
    let case = parse("len=200 lhs=-100.. rhs=-73..", domain).expect("a case");
    assert_eq!((case.tensors[0][0], case.tensors[0][199]), (-100, 99));
    assert!(parse("len=200 lhs=0..", domain).is_err(), "200 values from 0 are no i8");
}

#[test]
fn consecutive_floats_are_consecutive_patterns() {
    let domain = domain::<Quantize>(|domain| domain.expressed.contains(&tiebreak_impls::quantized::Expressed::F64));
    for ty in ["f16", "f32", "f64"] {
        let text = format!("type=!quant.uniform<i8:{ty},0.1> shape=100 x=-1..");
        let Ok(case) = parse(&text, domain) else { panic!("{text}") };
        let written = spelled(&complete(domain, &case, &[None, None, None]).expect("a text"));
        assert_eq!(written, text);
    }
}

/// The text of each fill makes the same tensors as the plan.
#[test]
fn a_planned_tensor_is_made_again() {
    let domain = domain::<Matmul>(|_| true);
    let params = Draft::read(domain.op(), "m=9 n=10 k=11").expect("a case").params().to_owned();
    let fills = [&Fill::PATTERNS[..], &Fill::RANDOM, &[Fill::AnySize, Fill::Varied]].concat();
    for (i, fill) in fills.into_iter().enumerate() {
        let spec = Spec { place: i, ..Spec::new(params.clone(), [fill.clone(), Fill::Uniform, Fill::None], 3) };
        let case = spec.case(domain, 7).expect("a case");
        let written = spelled(&complete(domain, &case, &spec.made(7)).expect("a text"));
        assert!(written.contains(&format!(" rhs=uniform@7/{i}")), "{written}");
        assert_eq!(parse(&written, domain), Ok(case), "{written}");
    }
}

#[test]
fn a_text_that_fills_nothing_is_refused_with_what_to_write() {
    let domain = domain::<Matmul>(|_| true);
    for (text, reason) in [
        ("k=3 lhs=[1,2]", "lhs: the list has 2 elements, and the tensor 3"),
        ("k=3 lhs=[1,2,3,4]", "lhs: the list has more than the 3 elements of the tensor"),
        ("k=3 lhs=[0*18446744073709551615,1]", "lhs: the list has more than the 3 elements of the tensor"),
        ("k=3 lhs=[1,2", "lhs: the list has no end: write [1,2,3]"),
        ("k=3 lhs=[1,2*x]", "lhs: `2*x` is not VALUE*TIMES, such as 0*6"),
        (
            "lhs=uniform",
            "lhs: `uniform` is not uniform@SEED/CASE, two numbers that say which random values, such as uniform@1/0",
        ),
        ("lhs=alternating/0", "lhs: `alternating/0` is not alternating/RUN, such as alternating/8"),
        ("lhs=largest@1/2", "lhs: `largest@1/2` is not an integer"),
    ] {
        assert_eq!(parse(text, domain).err().map(|e| e.to_string()).as_deref(), Some(reason), "{text}");
    }
}

/// A line of the catalogue of `fpm` is a case for `--case`, as for all other operations.
#[test]
fn fixed_point_multiply_takes_a_case_as_the_others_do() {
    let case = "m=1073741824 s=-1 x=3";
    let run = crate::common::verify(&["--op=fpm", "--kernel=tvm-relay", "--lane=host", "--case", case]).exits(0);
    let ledger = run.ledger();
    let rows = crate::common::items(&ledger, "rows");
    assert!(rows.iter().any(|row| row["against"] == "contract" && row["inputs"] == 1), "{rows:#?}");
}
