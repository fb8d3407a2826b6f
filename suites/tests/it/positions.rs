//! Invariant 9: body and tail, every lane position, every length up to two vectors and more, and every alignment give the result that the contract
//! has for this place.

use crate::common::{aarch64, channel, lane};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use proptest::{prelude::*, prop_oneof};
use std::collections::BTreeMap;
use std::sync::Arc;
use tiebreak_impls::fpm::{Channel, Kernel, Params, kernels};
use tiebreak_oracle::fpm::Scheme;
use tiebreak_suites::fpm::parameters;
use tiebreak_suites::lane::{Input, Lease, Order};
use tiebreak_suites::operation::promised;
use tiebreak_worker::protocol::Job;

const LENGTHS: std::ops::RangeInclusive<usize> = 0..=17;
const MISALIGNMENTS: std::ops::Range<usize> = 0..4;

/// Number of compared outputs, and number of those that follow a declared deviation with an effect, by kernel and class.
#[derive(Default)]
struct Seen {
    outputs: u64,
    deviations: BTreeMap<(&'static str, &'static str), u64>,
}

/// Returns the contract's value of an element, in big rationals, with the class of its declared deviation if this has an effect.
fn expected(kernel: &Kernel, params: &Params, xs: &[i32], index: usize) -> (Option<i64>, Option<&'static str>) {
    let (promise, deviation) = kernel.contract.at(index, xs.len(), params.q);
    let p = parameters(params.channels[index % params.channels.len()], params.q);
    let value = |scheme: Scheme| scheme.exact(xs[index].into(), &p);
    let here = value(promised(promise).expect("a known scheme"));
    let elsewhere = value(promised(kernel.contract.promise).expect("a known scheme"));
    (here, deviation.filter(|_| here != elsewhere).map(|d| d.class))
}

/// Runs every length and misalignment with values that repeat `cycle`.
fn everywhere(
    kernel: &'static Kernel,
    lease: &mut Lease<'_>,
    params: &Params,
    cycle: &[i32],
    seen: &mut Seen,
) -> Result<(), String> {
    let job = Job::Fpm { kernel: kernel.name.to_owned(), params: params.clone() };
    let mut outs = Vec::new();
    for len in LENGTHS {
        let xs: Arc<Vec<i32>> = Arc::new(cycle.iter().copied().cycle().take(len).collect());
        let right: Vec<_> = (0..len).map(|i| expected(kernel, params, &xs, i)).collect();
        for misalign in MISALIGNMENTS {
            let order = Order { job: &job, input: Input::Values { len, values: &xs }, misalign, products: 0 };
            lease.run(&order, &mut outs).map_err(|e| format!("{}: {e}", kernel.name))?;
            if outs.len() != len {
                return Err(format!("{}: {} results for {len}", kernel.name, outs.len()));
            }
            for (index, (got, (right, class))) in outs.iter().zip(&right).enumerate() {
                if right.is_some_and(|right| right != i64::from(*got)) {
                    let place = format!("index {index} of {len}, misaligned by {misalign}");
                    return Err(format!(
                        "{} {params:?} x={} at {place}: got {got}, not {right:?}",
                        kernel.name, xs[index]
                    ));
                }
                seen.outputs += u64::from(right.is_some());
                if let Some(class) = class {
                    *seen.deviations.entry((kernel.name, class)).or_default() += 1;
                }
            }
        }
    }
    Ok(())
}

fn in_domain(kernel: &Kernel, params: &Params) -> bool {
    params.channels.iter().all(|c| kernel.contract.domain.contains(c.multiplier, c.shift, params.q))
}

/// Inputs on which declared deviations differ from the contract's usual scheme.
const DIRECTED: [(i32, i32, i32, u32); 4] =
    [(1, 1 << 30, -1, 31), (-1, (1 << 30) + 1, -1, 31), (7984, 1_583_594_044, -9, 31), (3, 3 << 13, 0, 15)];

fn number() -> impl Strategy<Value = i32> {
    prop_oneof![
        any::<i32>(),
        (any::<i32>(), 0..32u32).prop_map(|(v, shift)| v >> shift),
        prop::sample::select(vec![i32::MIN, i32::MAX, 0, 1, -1, 1 << 30, -(1 << 30)]),
    ]
}

/// Returns multipliers, some of them in the domain of every kernel: of 24 bits, normalised, any.
fn multiplier() -> impl Strategy<Value = i32> {
    let normalised = (1 << 30)..=i32::MAX;
    prop_oneof![normalised.clone(), normalised.prop_map(|m| m & !127), number()]
}

fn any_channel() -> impl Strategy<Value = Channel> {
    (multiplier(), prop_oneof![-31..=31, -12..=0]).prop_map(|(m, s)| channel(m, s))
}

fn check(name: &str, cases: u32) {
    let lane = lane(name);
    let seen = std::cell::RefCell::new(Seen::default());
    let mut covered: BTreeMap<&str, u32> = BTreeMap::new();
    let all = |params: &Params, cycle: &[i32], covered: &mut BTreeMap<&str, u32>| {
        let mut lease = lane.lease();
        for kernel in kernels()
            .iter()
            .filter(|k| in_domain(k, params) && (k.contract.domain.per_channel || params.channels.len() == 1))
        {
            everywhere(kernel, &mut lease, params, cycle, &mut seen.borrow_mut())?;
            *covered.entry(kernel.name).or_default() += 1;
        }
        Ok::<(), String>(())
    };
    for (x, m, s, q) in DIRECTED {
        let params = Params { q, channels: vec![channel(m, s)] };
        all(&params, &[x], &mut covered).expect("directed");
    }
    let covered = std::cell::RefCell::new(covered);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // One value everywhere, or several; one channel, or several; Q0.31, or another format.
    let formats = prop_oneof![4 => Just(31u32), 1 => 0..=31u32];
    let strategy = (prop::collection::vec(any_channel(), 1..4), formats, prop::collection::vec(number(), 1..4));
    let result = runner.run(&strategy, |(channels, q, cycle)| {
        for c in &channels {
            all(&Params { q, channels: vec![*c] }, &cycle, &mut covered.borrow_mut()).map_err(TestCaseError::fail)?;
        }
        all(&Params { q, channels }, &cycle, &mut covered.borrow_mut()).map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|failure| panic!("{name}: {failure}"));
    let (seen, covered) = (seen.into_inner(), covered.into_inner());
    for kernel in kernels() {
        let times = covered.get(kernel.name).copied().unwrap_or(0);
        assert!(times >= 5, "{} was run with {times} parameters only", kernel.name);
        for deviation in kernel.contract.deviations {
            let times = seen.deviations.get(&(kernel.name, deviation.class)).copied().unwrap_or(0);
            assert!(times > 0, "{}: the declared deviation `{}` was never seen", kernel.name, deviation.class);
        }
    }
    println!("{name}: {} outputs, deviations {:?}", seen.outputs, seen.deviations);
}

#[test]
fn every_place_on_the_host() {
    check("host", 48);
}

#[test]
fn every_place_on_aarch64() {
    check(aarch64(), 24);
}
