//! One name for each cause in every operation, and one table of all names, in `docs/src/classes.md`.

use crate::common::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use tiebreak_impls::contract::{Contract, Deviation, Overflow as Declared, Promise, Region};
use tiebreak_impls::fpm;
use tiebreak_impls::mutants::{self, Fault};
use tiebreak_suites::engine::plan::plans;

use tiebreak_impls::quantized::{Expressed, Granularity};
use tiebreak_oracle::fpm::Scheme as Multiply;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::class::{Class, Kind};
use tiebreak_suites::engine::erased::{Domain, Kernel, Op, op};
use tiebreak_suites::engine::explain::cause::explain;
use tiebreak_suites::fpm::changes::class_of;
use tiebreak_suites::fpm::promised::Promised;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::lane::Failure;
use tiebreak_suites::mlir::faults::KNOWN;
use tiebreak_suites::operation::{CaseSelection, Observed};
use tiebreak_suites::quantized::quantizations;
use tiebreak_suites::verify::{Visitor, visit_tensors};
use tiebreak_suites::{dequantize::Dequantize, elementwise::Add, quantize::Quantize, requantize::Requantize};

/// Class names in a tensor operation.
struct Named {
    op: &'static str,
    /// Mutants with their classes.
    mutants: Vec<(&'static str, &'static str)>,
    deviations: Vec<&'static str>,
    causes: BTreeSet<Class>,
    catalogue: &'static str,
}

fn named(op: Op) -> Named {
    let kernels = || op.kernels().iter().chain(op.mutants().iter().map(|mutant| &mutant.kernel));
    // Group 0 has results outside of a declared deviation, group 1 the results in a deviation.
    let of_group = |k: &Kernel, group| {
        let scheme = k.scheme().expect("known");
        scheme.causes(group, &scheme, &k.contract.domain, false)
    };
    let causes = kernels().flat_map(|k| [of_group(k, 0), of_group(k, 1)]).flatten();
    Named {
        op: op.name(),
        mutants: op.mutants().iter().map(|mutant| (mutant.kernel.name, mutant.class)).collect(),
        deviations: kernels().flat_map(|k| k.contract.deviations).map(|deviation| deviation.class).collect(),
        causes: causes.map(|cause| cause.class).collect(),
        catalogue: op.catalogue(),
    }
}

/// Returns the class names of every operation.
fn all() -> Vec<Named> {
    struct All(Vec<Named>);
    impl Visitor for All {
        fn visit<O: Fuzzed>(&mut self) {
            self.0.push(named(op::<O>()));
        }
    }
    let mut all = All(Vec::new());
    visit_tensors(&mut all);
    all.0
}

/// Returns the classes in a text, as witnesses write them: `class tie-direction`.
fn written(text: &str) -> impl Iterator<Item = &str> {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.split(", class ").skip(1).map(move |rest| &rest[..rest.find(|c| !word(c)).unwrap_or(rest.len())])
}

#[test]
fn every_class_named_anywhere_is_one() {
    let mut names = BTreeMap::new();
    for Named { op, mutants, deviations, catalogue, .. } in all() {
        names.extend(mutants.iter().map(|(mutant, class)| (format!("{op} {mutant}"), *class)));
        names.extend(deviations.iter().map(|class| (format!("a deviation of {op}, {class}"), *class)));
        names.extend(written(catalogue).map(|class| (format!("the catalogue of {op}, {class}"), class)));
    }
    let findings = fs::read_to_string(workspace().join("docs/src/findings.md")).expect("it can be read");
    // `none` is for findings that do not compile, or differ on no input.
    let found = written(&findings).filter(|class| *class != "none");
    names.extend(found.map(|class| (format!("docs/src/findings.md, {class}"), class)));
    let wrong: Vec<String> =
        names.iter().filter_map(|(place, class)| Some(format!("{place}: {}", class.parse::<Class>().err()?))).collect();
    assert_eq!(wrong, [] as [String; 0]);
    assert!(names.len() > 80, "only {} names were found", names.len());
}

#[test]
fn a_name_is_parsed_and_a_wrong_one_gets_a_suggestion() {
    for class in Class::ALL {
        assert_eq!(class.name().parse(), Ok(*class));
    }
    let names: BTreeSet<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    assert_eq!(names.len(), Class::ALL.len(), "two classes of one name");
    let error = "directed-ruonding".parse::<Class>().expect_err("no class");
    assert_eq!(error.to_string(), "unknown class `directed-ruonding`; did you mean `directed-rounding`?");
}

/// A deviation of an unknown class is rejected before any judging, with the nearest class.
#[test]
fn a_deviation_of_an_unknown_class_is_refused() {
    const WRONG: &[Deviation] = &[Deviation {
        class: "posiiton",
        region: Region::QNot31,
        instead: Promise { scheme: "ties-up", overflow: Declared::Wrap },
        reason: "a test",
    }];
    let contract = Contract { deviations: WRONG, ..fpm::kernels()[0].contract.clone() };
    let error = Promised::by(&contract).expect_err("no class");
    assert_eq!(error.to_string(), "unknown class `posiiton`; did you mean `position`?");
}

/// Returns the class for results of `follows` if `promised` is the contract, on the plan of the first kernel with a difference.
fn given(op: Op, promised: &str, follows: &str) -> Class {
    let classes = op.kernels().iter().map(|kernel| given_on(&kernel.contract.domain, promised, follows));
    classes.flatten().next().unwrap_or_else(|| panic!("{follows} never differs from {promised}"))
}

fn given_on(domain: &Domain, promised: &str, follows: &str) -> Option<Class> {
    let [promised, follows] = [promised, follows].map(|scheme| domain.op().scheme(scheme).expect("known"));
    let specs = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let cases = specs.iter().filter_map(|spec| spec.case(domain, 1));
    let observed = cases.filter_map(|case| {
        let [right, outs] = [&promised, &follows].map(|scheme| scheme.expected(&case));
        let (right, outs) = (right.ok()?, outs.ok()?);
        // `None` of the followed scheme implies `None` of the promised one.
        let differ = right.iter().zip(&outs).filter(|(right, out)| right != out).count();
        let outs = outs.into_iter().map(Option::unwrap_or_default).collect();
        Some(Observed { case, outs, expected: right, differ, faulty: Vec::new(), due: Vec::new() })
    });
    let observed: Vec<_> = observed.collect();
    let explained = || explain(&promised.changes(domain), &observed.iter().collect::<Vec<_>>()).class;
    observed.iter().any(|seen| seen.differ > 0).then(explained)
}

/// Returns the class of exact products that are rounded to f32 by `rule`.
fn dequantized(rule: RoundingRule) -> Class {
    let scheme = op::<Dequantize>().scheme("ideal").expect("known");
    let domain = &op::<Dequantize>().kernels()[0].contract.domain;
    let specs = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let cases = specs.iter().filter_map(|spec| spec.case(domain, 1));
    let in_f32 = cases.filter(|case| {
        let ty = &case.params.typed::<Dequantize>().quantized;
        ty.granularity == Granularity::Layer && ty.expressed == Expressed::F32
    });
    let observed = in_f32.take(200).map(|case| {
        let q = quantizations(&case.params.typed::<Dequantize>().quantized).expect("a type")[0];
        let real = |word: &i32| q.exact_scale() * (q.storage.wrap((*word).into()) - q.zero_point);
        let outs: Vec<i32> = case.tensors[0].iter().map(|word| q.format.round(&real(word), rule) as i32).collect();
        let expected = scheme.expected(&case).expect("it was planned");
        Observed { case, outs, expected, differ: 1, faulty: Vec::new(), due: Vec::new() }
    });
    let observed: Vec<_> = observed.collect();
    explain(&scheme.changes(domain), &observed.iter().collect::<Vec<_>>()).class
}

/// A different rounding rule has one name, whatever is rounded.
#[test]
fn one_cause_has_one_name_in_every_operation() {
    let multiply = |name: &str| Multiply::parse(name).expect("known");
    let rules = [
        ("toward-zero", "toward-zero", RoundingRule::TowardZero, Class::DirectedRounding),
        ("toward-negative", "toward-negative", RoundingRule::TowardNegative, Class::DirectedRounding),
        ("ties-down", "nearest-down", RoundingRule::TiesDown, Class::TieDirection),
    ];
    for (name, suffix, rule, class) in rules {
        assert_eq!(class_of(&multiply("ties-up:wrap"), &multiply(&format!("{name}:wrap"))), class, "fpm {name}");
        assert_eq!(given(op::<Requantize>(), "ties-up:wrap", &format!("{name}:wrap")), class, "requantize {name}");
        assert_eq!(given(op::<Quantize>(), "nearest-even", suffix), class, "quantize {name}");
        assert_eq!(given(op::<Add>(), "nearest-even", suffix), class, "add {name}");
        assert_eq!(dequantized(rule), class, "dequantize {name}");
    }
}

/// Paths from a reference to a contract use the same names for changes, in both directions.
#[test]
fn paths_name_a_cause_as_causes_do() {
    fn first(op: Op, kernel: &str, reference: &str) -> Class {
        let kernel = op.find(kernel).expect("known");
        let contract = kernel.promise().expect("known");
        let domain = &kernel.contract.domain;
        let spec = &plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1)[0];
        contract.path_from(&op.scheme(reference).expect("known"), domain)[0].class(&spec.params)
    }
    for (reference, class) in [("toward-zero", Class::DirectedRounding), ("nearest-down", Class::TieDirection)] {
        assert_eq!(first(op::<Add>(), "tflite-add-i8", reference), class, "add from {reference}");
        assert_eq!(first(op::<Quantize>(), "tflite-quantize", reference), class, "quantize from {reference}");
    }
    assert_eq!(first(op::<Quantize>(), "mlir-qcast", "nearest-even"), Class::DirectedRounding);
}

/// Returns what shows a class without a mutant.
fn shown_otherwise(class: Class) -> Option<&'static str> {
    let process = |wanted: Fault| {
        let mutant = mutants::process().iter().find(|mutant| mutants::fault(mutant.name) == Some(wanted));
        mutant.map(|mutant| mutant.name)
    };
    match class {
        Class::Fallback => Some("kernel `tvm-neon-rfc`, fpm, as it declares"),
        Class::OtherScheme => Some("kernels of `add`, `quantize` and `dequantize` against another reference"),
        Class::Unexplained => Some("a kernel made for a test of fpm"),
        Class::Poison => Some("kernel `mlir-qcast`, quantize"),
        Class::Overflow => Some("kernel `mlir-dcast`, dequantize"),
        Class::DependsOnHistory => process(Fault::History),
        Class::FloatMode => process(Fault::FloatMode),
        Class::Crash => process(Fault::Crash),
        Class::Hang => process(Fault::Hang),
        Class::Panic => process(Fault::Panic),
        Class::Nondeterministic => Some("a library made for a test of calls"),
        Class::Refused | Class::StrayWrite | Class::ChangedOperand | Class::Unwritten => {
            Some("kernels and workers made for tests of lanes")
        }
        Class::WrongLength => process(Fault::Short),
        Class::NotRun | Class::OutsideDomain | Class::NothingJudged | Class::Bound | Class::SelfCheck => {
            Some("the tests of `verify`")
        }
        _ => None,
    }
}

/// Returns what shows a class: the first mutant of the class, otherwise [`shown_otherwise`].
fn shown(class: Class, all: &[Named]) -> Option<String> {
    let mutants = all.iter().flat_map(|named| named.mutants.iter().map(move |(mutant, of)| (named.op, *mutant, *of)));
    let mutant = mutants.into_iter().find(|(.., of)| *of == class.name());
    let otherwise = || {
        let text = shown_otherwise(class)?;
        Some(if text.starts_with("mutant-") { format!("`{text}`, fpm in a worker") } else { text.to_owned() })
    };
    mutant.map(|(op, mutant, _)| format!("`{mutant}`, {op}")).or_else(otherwise)
}

/// Invariant 5, over all operations: each class of a cause or of a known compiler fault has a mutant.
#[test]
fn every_class_of_a_cause_is_shown_by_a_mutant_of_some_operation() {
    let all = all();
    let mutants: BTreeSet<&str> = all.iter().flat_map(|named| named.mutants.iter().map(|(_, class)| *class)).collect();
    let causes: BTreeSet<Class> =
        all.iter().flat_map(|named| &named.causes).copied().chain(KNOWN.iter().map(|known| known.class)).collect();
    let unshown: Vec<&Class> = causes.iter().filter(|class| !mutants.contains(class.name())).collect();
    assert_eq!(unshown, [&Class::OtherScheme], "another scheme is no bug");
    let unknown: Vec<_> = mutants.iter().filter(|name| !causes.iter().any(|class| class.name() == **name)).collect();
    assert!(unknown.is_empty(), "no cause has {unknown:?}");
}

#[test]
fn failures_of_lanes_are_classes_of_lanes() {
    let failures = [Failure::Crashed(String::new()), Failure::refused("")];
    for failure in failures {
        assert_eq!(failure.class().kind(), Kind::Lane, "{failure:?}");
    }
}

/// The table in the documents has all classes of the enum; `UPDATE_EXPECT=1` updates it.
#[test]
fn the_documents_list_every_class() {
    let all = all();
    let mut page = "# Classes\n\n\
        A class says why a result differs, why a lane gave none, or what a run found about itself. Ledgers, mutants and deviations name it, and \
        a cause has the same name in every operation.\n"
        .to_owned();
    for kind in Kind::ALL {
        writeln!(page, "\n## {}\n\n| Class | Meaning | Shown by |\n| --- | --- | --- |", kind.title())
            .expect("a string");
        for class in Class::ALL.iter().filter(|class| class.kind() == kind) {
            let shown = shown(*class, &all).unwrap_or_else(|| panic!("nothing shows {class}"));
            writeln!(page, "| `{class}` | {} | {shown} |", class.meaning()).expect("a string");
        }
    }
    expect_test::expect_file![workspace().join("docs/src/classes.md")].assert_eq(&page);
}
