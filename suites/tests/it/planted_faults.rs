//! Local faults that a short run detects: at a position, in a tail, from some size on, at one size, in one channel or row, at one zero point, in an
//! interval of scales or accumulators, at a boundary of the results. Each kernel of an operation has another fault.
//! `suites/tests/data/planted-faults.txt` lists them.

use crate::common::*;
use serde_json::{Value, json};

/// Fault of a kernel, as in the list.
struct Planted {
    effort: &'static str,
    op: &'static str,
    kernel: &'static str,
    /// Fault as the corruptor reads it.
    fault: Value,
}

/// Returns the faults of a section of the list.
fn planted(section: &str) -> Vec<Planted> {
    let list = include_str!("../data/planted-faults.txt");
    let section = list.split_once(&format!("\n[{section}]\n")).unwrap_or_else(|| panic!("no section {section}")).1;
    let lines = section.split("\n[").next().expect("its lines").lines();
    let faults = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let [effort, op, kernel, fault] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mut row: Value = serde_json::from_str(fault).expect(line);
        row["kernel"] = kernel.into();
        Planted { effort, op, kernel, fault: row }
    });
    faults.collect()
}

/// Runs each operation of a section in the lane `host-worker`, with a separate run for each fault of one kernel. Every fault must be detected.
fn detected(section: &str) {
    let mut left = planted(section);
    assert!(!left.is_empty(), "{section} has no fault");
    while let Some(Planted { effort, op, .. }) = left.first() {
        let (effort, op) = (*effort, *op);
        let mut run: Vec<Planted> = Vec::new();
        for planted in std::mem::take(&mut left) {
            let is_new = !run.iter().any(|other| other.kernel == planted.kernel);
            if is_new && planted.effort == effort && planted.op == op { &mut run } else { &mut left }.push(planted);
        }
        detects(effort, op, &run);
    }
}

fn detects(effort: &str, op: &str, faults: &[Planted]) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let rows: Vec<&Value> = faults.iter().map(|planted| &planted.fault).collect();
    let command = corruptor(dir.path(), &worker("host-worker"), &json!(rows));
    let file = lanes_with(dir.path(), "host-worker", &command);
    let mut arguments = vec!["--lane=host-worker", "--effort", effort, "--op", op];
    faults.iter().for_each(|planted| arguments.extend(["--kernel", planted.kernel]));
    let ledger = verify_in(&file, &arguments).exits(1).ledger();
    let found = |kernel: &str| items(&ledger, "findings").iter().any(|finding| finding["kernel"] == kernel);
    let alive: Vec<&Value> =
        faults.iter().filter(|planted| !found(planted.kernel)).map(|planted| &planted.fault).collect();
    assert!(alive.is_empty(), "{op}: not detected: {alive:#?}");
}

/// Defines a test for each section of the list.
macro_rules! sections {
    ($($section:ident)+) => {
        $(
            #[test]
            fn $section() {
                detected(stringify!($section));
            }
        )+

        #[test]
        fn every_section_has_its_test() {
            let list = include_str!("../data/planted-faults.txt");
            let sections = list.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
            assert_eq!(sections.collect::<Vec<_>>(), [$(stringify!($section)),+]);
        }
    };
}

sections! {
    of_additions
    of_multiplications
    of_dot_products
    of_matrix_products
    of_convolutions
    of_fixed_point_multiplies
    of_casts_in_four_dimensions
    of_requantizations
    of_transforms
    of_parameters_that_coincide
    of_operands_whose_slices_are_alike
    of_calls_that_differ_little
    of_a_kernel_that_refuses_what_it_promises
    of_layers_of_real_networks
    of_conditions_that_come_together
    of_results_at_the_bounds_of_every_stored_type
    of_blocks_in_every_number_of_axes
    of_results_where_a_float_becomes_infinite
}

/// A last vector that repeats earlier results is visible only among other accumulators. The printed command runs it among them.
#[test]
fn what_shows_among_others_only_is_shown_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let kernel = "xnnpack-rndnu-neon";
    let rows = json!([{"kernel": kernel, "where": {"place": {"last_vector": 16, "index": [16, 99_999]}, "moved": 1}}]);
    let command = corruptor(dir.path(), &worker("host-worker"), &rows);
    let file = lanes_with(dir.path(), "host-worker", &command);
    let run = verify_in(&file, &["--lane=host-worker", "--effort=quick", "--op", "fpm", "--kernel", kernel])
        .exits(1)
        .ledger();
    let witness = &items(&run, "findings")[0]["witness"];
    let [index, len] = ["index", "len"].map(|name| witness["case"][name].as_u64().expect("a place"));
    assert!(16 <= index && index < len, "{witness}");
    let printed = witness["command"].as_str().expect("a command").strip_prefix("cargo xtask verify ");
    let again: Vec<&str> = printed.expect("a run").split(' ').chain(["--effort=quick"]).collect();
    let again = verify_in(&file, &again).exits(1).ledger();
    assert!(items(&again, "findings").iter().any(|finding| finding["kernel"] == kernel), "{witness}");
}
