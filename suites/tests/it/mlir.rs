//! Modules of the shipped compiler, in the workers of their lanes. `cargo xtask test` installs the tools.

use crate::common::LANES;
use std::sync::Arc;
use std::sync::LazyLock;
use tempfile::TempDir;
use tiebreak_impls::quantized::{Cast, Container, Expressed, Granularity, Params, Quantized, Scale, Storage};
use tiebreak_oracle::{dequantize, quantize};
use tiebreak_suites::lane::config::Entry;
use tiebreak_suites::lane::{Failure, Input, Lane, Order, provide};
use tiebreak_suites::mlir::{Function, Plan, Toolchain};
use tiebreak_suites::quantized::quantizations;
use tiebreak_worker::protocol::Job;

/// Returns the lanes that this host must have. The lane with bf16 is required only if the CPU has it, which `cargo xtask` knows.
fn names() -> Vec<&'static str> {
    const ALL: [&str; 3] = ["mlir-x86", "mlir-aarch64", "mlir-aarch64-bf16"];
    let lacks = |name: &str| match name {
        "mlir-x86" => cfg!(target_arch = "aarch64"),
        "mlir-aarch64-bf16" => cfg!(target_arch = "aarch64") && entry(name).command.is_none(),
        _ => false,
    };
    ALL.into_iter().filter(|name| !lacks(name)).collect()
}

fn entry(name: &str) -> &'static Entry {
    LANES.lanes.iter().find(|lane| lane.name == name).expect("a known lane")
}

/// Opens these lanes, with modules of these functions.
fn lanes(functions: &[Function]) -> Vec<Lane> {
    let names: Vec<String> = names().into_iter().map(str::to_owned).collect();
    let plan = Plan::new(functions.to_vec());
    let lanes = provide(&LANES, &names, &plan, || ()).expect("the tools compile it");
    let open = |name: &String| {
        let lane = Lane::open(name, &lanes).expect("a known lane");
        lane.unwrap_or_else(|reason| panic!("lane {name} does not run ({reason}): run `cargo xtask test`"))
    };
    names.iter().map(open).collect()
}

fn storage(bits: u32, signed: bool) -> Storage {
    Storage { bits, signed }
}

/// Returns parameters with `SCALE:ZERO_POINT` for each channel along axis 1, or for the tensor.
fn params(
    storage: Storage,
    expressed: Expressed,
    scales: &[(f64, i64)],
    container: Container,
    shape: &[usize],
) -> Params {
    let range = storage.range();
    let quantized = Quantized {
        storage,
        min: *range.start(),
        max: *range.end(),
        expressed,
        granularity: if scales.len() == 1 { Granularity::Layer } else { Granularity::Channel { axis: 1 } },
        scales: scales.iter().map(|(scale, _)| Scale(*scale)).collect(),
        zero_points: scales.iter().map(|(_, zero_point)| *zero_point).collect(),
    };
    Params { quantized, container, shape: shape.to_vec() }
}

const CASTS: [Cast; 2] = [Cast::Quantize, Cast::Dequantize];

fn both(params: &Params) -> [Function; 2] {
    CASTS.map(|cast| Function { cast, params: params.clone() })
}

/// Runs a kernel of a lane on these words.
fn run(
    lane: &Lane,
    cast: Cast,
    level: u32,
    params: &Params,
    words: &[i32],
    misalign: usize,
) -> Result<Vec<i32>, Failure> {
    let kernel = format!("mlir-opt-{}-o{level}", cast.name());
    let params = params.clone();
    let sizes = if cast == Cast::Quantize { params.quantize_sizes() } else { params.dequantize_sizes() };
    let len = sizes.expect("a shape").outputs;
    let job = match cast {
        Cast::Quantize => Job::Quantize { kernel, params },
        Cast::Dequantize => Job::Dequantize { kernel, params },
    };
    let mut out = Vec::new();
    lane.lease().run(
        &Order { job: &job, input: Input::Values { len, values: &Arc::new(words.to_vec()) }, misalign, products: 0 },
        &mut out,
    )?;
    Ok(out)
}

const CONTAINERS: [Container; 3] = [Container::Scalar, Container::Ranked, Container::Unranked];

/// Returns a layer for each expressed type and container.
fn kinds() -> impl Iterator<Item = (Expressed, Container)> {
    Expressed::ALL.into_iter().flat_map(|expressed| CONTAINERS.map(|container| (expressed, container)))
}

fn of_length(expressed: Expressed, container: Container, len: usize) -> Params {
    params(storage(8, true), expressed, &[(0.3, 1)], container, &[len])
}

/// Returns parameters of every type and container, per layer and per channel, with values that are exact in each.
fn every_type_and_container() -> Vec<Params> {
    let storages = [(8, true), (8, false), (16, true), (16, false), (32, true), (32, false), (4, true), (4, false)];
    let mut cases = Vec::new();
    for ((bits, signed), expressed) in storages.into_iter().flat_map(|s| Expressed::ALL.map(|e| (s, e))) {
        let of = |scales: &[(f64, i64)], container, shape: &[usize]| {
            params(storage(bits, signed), expressed, scales, container, shape)
        };
        cases.extend(CONTAINERS.map(|c| of(&[(0.5, 1)], c, &[6])));
        let channels = [(0.5, 1), (0.5, 1), (0.5, 1)];
        cases.extend([Container::Ranked, Container::Unranked].map(|c| of(&channels, c, &[1, 3, 2])));
    }
    cases
}

/// Returns the lanes with modules of all these types, compiled once for all tests.
fn with_all() -> &'static [Lane] {
    static LANES: LazyLock<Vec<Lane>> = LazyLock::new(|| {
        let of_one = kinds().map(|(expressed, container)| of_length(expressed, container, 1));
        let all: Vec<Function> = of_one.chain(every_type_and_container()).flat_map(|params| both(&params)).collect();
        lanes(&all)
    });
    &LANES
}

/// Every length that ends anywhere in a vector, at four alignments: the result of an element does not depend on its position.
#[test]
fn a_value_is_the_same_at_every_index_of_every_length() {
    for lane in with_all() {
        for (expressed, container) in kinds() {
            let ([x, stored], [q, real]) = by_the_steps(&of_length(expressed, container, 1));
            for (len, level) in (1..=70).flat_map(|len| [(len, 0), (len, 2)]) {
                for misalign in [0, 1, 3, 8] {
                    let params = of_length(expressed, container, len);
                    let out = |cast, words: &[i32]| run(lane, cast, level, &params, &words.repeat(len), misalign);
                    let described = format!(
                        "{} {expressed:?} {container:?} -O{level} length {len} misaligned {misalign}",
                        lane.name
                    );
                    assert_eq!(out(Cast::Quantize, &x), Ok(stored.repeat(len)), "qcast {described}");
                    assert_eq!(out(Cast::Dequantize, &q), Ok(real.repeat(len)), "dcast {described}");
                }
            }
        }
    }
}

/// Returns the words of -4.6 and of its quantized value, and those of a stored value and of its dequantized value.
fn by_the_steps(params: &Params) -> ([Vec<i32>; 2], [Vec<i32>; 2]) {
    let q = quantizations(&params.quantized).expect("a type")[0];
    let words = |bits: u64| [bits as i32, (bits >> 32) as i32][..q.format.bits().div_ceil(32) as usize].to_vec();
    let x = q.format.nearest(&rug::Rational::from((-46, 10)));
    let stored = quantize::Scheme::parse("mlir-qcast").expect("a scheme").exact(&q, x);
    let real = dequantize::Scheme::parse("mlir-dcast").expect("a scheme").exact(&q, 14);
    ([words(x), vec![stored.value().expect("in range") as i32]], [vec![14], words(real)])
}

/// Returns the words of 1.5 and of -0.5.
fn words(expressed: Expressed) -> [Vec<i32>; 2] {
    match expressed {
        Expressed::F16 => [vec![0x3e00], vec![0xb800]],
        Expressed::Bf16 => [vec![0x3fc0], vec![0xbf00]],
        Expressed::F32 => [1.5_f32, -0.5].map(|x| vec![x.to_bits() as i32]),
        Expressed::F64 => [1.5_f64, -0.5].map(|x| vec![x.to_bits() as i32, (x.to_bits() >> 32) as i32]),
    }
}

#[test]
fn every_type_and_container_is_compiled() {
    for lane in with_all() {
        for params in &every_type_and_container() {
            let [above, below] = words(params.quantized.expressed);
            let floats: Vec<i32> = [above, below].concat().repeat(3);
            let integers = [4, 0].repeat(3);
            for level in [0, 2] {
                let described = format!("{} -O{level} {params:?}", lane.name);
                assert_eq!(
                    run(lane, Cast::Quantize, level, params, &floats, 0),
                    Ok(integers.clone()),
                    "qcast {described}"
                );
                assert_eq!(
                    run(lane, Cast::Dequantize, level, params, &integers, 0),
                    Ok(floats.clone()),
                    "dcast {described}"
                );
            }
        }
    }
}

#[test]
fn channels_have_scales_of_their_own() {
    let scales = [(0.5, 1), (0.25, 0), (2.0, -3)];
    let cases = [
        params(storage(8, true), Expressed::F32, &scales, Container::Ranked, &[2, 3, 2]),
        params(storage(8, true), Expressed::F32, &scales, Container::Unranked, &[2, 3, 1, 2]),
    ];
    let functions: Vec<Function> = cases.iter().flat_map(both).collect();
    for lane in lanes(&functions) {
        for (params, level) in cases.iter().flat_map(|params| [(params, 0), (params, 2)]) {
            let out = run(&lane, Cast::Quantize, level, params, &[2.0_f32.to_bits() as i32; 12], 0);
            assert_eq!(out, Ok([5, 5, 8, 8, -2, -2].repeat(2)), "{} -O{level}", lane.name);
        }
    }
}

/// Blocks along one axis, along two axes in either order, along the inner two of three axes, and one block.
#[test]
fn blocks_have_scales_of_their_own() {
    let of = |sizes: &[(usize, usize)], counts: &[usize], shape: &[usize]| {
        let granularity = Granularity::Blocks { sizes: sizes.to_vec(), counts: counts.to_vec() };
        let mut params = params(storage(8, true), Expressed::F32, &[(0.5, 0)], Container::Ranked, shape);
        let blocks: usize = counts.iter().product();
        params.quantized.scales = [0.5, 0.25, 2.0, 1.0][..blocks].iter().map(|scale| Scale(*scale)).collect();
        params.quantized.zero_points = [1, 0, -3, 7][..blocks].to_vec();
        params.quantized.granularity = granularity;
        params
    };
    let cases = [
        (of(&[(0, 2)], &[3], &[6]), vec![5, 5, 8, 8, -2, -2]),
        (of(&[(1, 1)], &[1, 3], &[2, 3]), vec![5, 8, -2, 5, 8, -2]),
        (of(&[(0, 1), (1, 2)], &[2, 2], &[2, 4]), vec![5, 5, 8, 8, -2, -2, 9, 9]),
        (of(&[(1, 2), (0, 1)], &[2, 2], &[2, 4]), vec![5, 5, 8, 8, -2, -2, 9, 9]),
        (of(&[(1, 1), (2, 2)], &[1, 2, 1], &[2, 2, 2]), vec![5, 5, 8, 8, 5, 5, 8, 8]),
        (of(&[], &[1, 1], &[2, 2]), vec![5; 4]),
    ];
    let functions: Vec<Function> = cases.iter().flat_map(|(params, _)| both(params)).collect();
    for lane in lanes(&functions) {
        for ((params, stored), level) in cases.iter().flat_map(|case| [(case, 0), (case, 2)]) {
            let two = vec![2.0_f32.to_bits() as i32; stored.len()];
            let described = format!("{} -O{level} {params:?}", lane.name);
            assert_eq!(run(&lane, Cast::Quantize, level, params, &two, 0).as_ref(), Ok(stored), "{described}");
            assert_eq!(run(&lane, Cast::Dequantize, level, params, stored, 0), Ok(two), "{described}");
        }
    }
}

#[test]
fn what_was_not_compiled_is_refused_in_words() {
    let there = params(storage(8, true), Expressed::F32, &[(0.5, 0)], Container::Ranked, &[2]);
    let not = params(storage(8, true), Expressed::F32, &[(0.25, 0)], Container::Ranked, &[2]);
    for lane in lanes(&both(&there)) {
        let refused = run(&lane, Cast::Quantize, 2, &not, &[0, 0], 0).expect_err("no such function");
        assert!(refused.to_string().contains("was not compiled for these parameters"), "{refused}");
        assert_eq!(run(&lane, Cast::Quantize, 2, &there, &[0, 0], 0), Ok(vec![0, 0]));
    }
}

#[test]
fn a_lane_offers_what_its_modules_hold() {
    let params = params(storage(8, true), Expressed::F32, &[(0.5, 0)], Container::Ranked, &[2]);
    for lane in lanes(&[Function { cast: Cast::Quantize, params }]) {
        let offered: Vec<&str> = lane.hello.kernels.iter().map(|offer| offer.kernel.as_str()).collect();
        assert_eq!(offered, ["mlir-opt-qcast-o0", "mlir-opt-qcast-o2"]);
        let isa = lane.isa_path("quantize", "mlir-opt-qcast-o2").expect("offered");
        assert!(isa.starts_with("mlir-opt 22.") && isa.contains(", llc -O2, "), "{isa}");
        assert!(lane.is_compiled());
    }
}

/// Returns a lane's tools, with a separate cache.
fn tools(name: &str) -> (Toolchain, TempDir) {
    let entry = entry(name);
    let tools = entry.modules.clone().unwrap_or_else(|| panic!("{:?}: run `cargo xtask test`", entry.not_run));
    let cache = tempfile::tempdir().expect("a temporary directory");
    (Toolchain { cache: cache.path().to_owned(), ..tools }, cache)
}

#[test]
fn objects_are_kept_by_content() {
    let of = |scale| {
        let params = params(storage(8, true), Expressed::F32, &[(scale, 0)], Container::Ranked, &[2]);
        Plan::new([Function { cast: Cast::Quantize, params }])
    };
    let (tools, cache) = tools(names()[0]);
    let compile = |scale| of(scale).compile(&tools, || ()).expect("compiles").0;
    let first = compile(0.5);
    let made = |file: &std::path::PathBuf| file.metadata().and_then(|m| m.modified()).expect("it is there");
    let times: Vec<_> = first.iter().map(made).collect();
    assert_eq!(compile(0.5), first);
    assert_eq!(first.iter().map(made).collect::<Vec<_>>(), times);
    let second = compile(0.25);
    assert!(second.iter().all(|object| !first.contains(object)));
    // Two plans at two levels: each object with its sources, the hashes of the tools, and no working directory.
    assert_eq!(std::fs::read_dir(cache.path()).expect("a directory").count(), 9);
}

#[test]
fn a_complaint_of_the_tools_is_passed_on() {
    let params = params(storage(8, true), Expressed::F32, &[(1e300, 0)], Container::Ranked, &[2]);
    let plan = Plan::new([Function { cast: Cast::Quantize, params }]);
    let (tools, _cache) = tools(names()[0]);
    let error = plan.compile(&tools, || ()).expect_err("no float holds this scale").to_string();
    assert!(error.starts_with("mlir-opt") && error.contains("out of expressed type range"), "{error}");
    let gone = Toolchain { llc: "/no/such/llc-22".into(), ..tools };
    let sound = Plan::new(both(&self::params(storage(8, true), Expressed::F32, &[(1.0, 0)], Container::Ranked, &[2])));
    let error = format!("{:#}", sound.compile(&gone, || ()).expect_err("no llc"));
    assert!(error.contains("cargo xtask setup --with mlir"), "{error}");
}
