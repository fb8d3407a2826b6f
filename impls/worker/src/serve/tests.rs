//! The protocol end to end over memory: framing, alignment, failures that do not end the worker, and process mutants.

use super::*;
use crate::execute::execute;
use crate::protocol::VERSION;
use tiebreak_impls::dot::{self, Dot};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::fpm::Params;
use tiebreak_impls::instruction::Instruction;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::quantize::{self, Quantize};
use tiebreak_impls::{fpm, instruction};

/// Serves the requests with their payloads and splits the answers.
fn exchange(requests: &[(Request, Vec<i32>)]) -> Vec<(Answer, Vec<i32>)> {
    let mut bytes = Vec::new();
    for (request, payload) in requests {
        serde_json::to_writer(&mut bytes, request).expect("a request is JSON");
        bytes.push(b'\n');
        bytes.extend(payload.iter().flat_map(|value| value.to_le_bytes()));
    }
    answers(&bytes)
}

fn answers(requests: &[u8]) -> Vec<(Answer, Vec<i32>)> {
    let mut written = Vec::new();
    serve(requests, &mut written).expect("memory does not fail");
    let (mut rest, mut answers) = (written.as_slice(), Vec::new());
    while !rest.is_empty() {
        let mut line = Vec::new();
        rest.read_until(b'\n', &mut line).expect("memory does not fail");
        let answer: Answer = serde_json::from_slice(&line).expect("an answer is JSON");
        let bytes = if let Answer::Done { bytes } = answer { bytes } else { 0 };
        let (payload, after) = rest.split_at(bytes);
        let payload = payload.chunks(4).map(|v| i32::from_le_bytes(v.try_into().expect("4 bytes"))).collect();
        answers.push((answer, payload));
        rest = after;
    }
    answers
}

fn fpm_job(kernel: &str) -> Job {
    let channels = vec![Channel { multiplier: (1 << 30) + 1, shift: -1 }];
    Job::Fpm { kernel: kernel.to_owned(), params: Params { q: 31, channels } }
}

fn instruction_job(kernel: &str, vectors: usize) -> Job {
    Job::Instruction { kernel: kernel.to_owned(), params: instruction::Params { vectors } }
}

fn run(job: Job, payload: Vec<i32>, misalign: usize) -> (Request, Vec<i32>) {
    let len = if matches!(job, Job::Fpm { .. }) { payload.len() } else { payload.len() / 2 };
    let source = Source::Payload { bytes: payload.len() * 4 };
    (Request::Run(Box::new(Batch { job, len, source, misalign })), payload)
}

fn failed(answer: &(Answer, Vec<i32>), part: &str) {
    let Answer::Failed { reason, .. } = &answer.0 else { panic!("{answer:?} did not fail") };
    assert!(reason.contains(part), "{reason}");
}

#[test]
fn hello_lists_every_registry() {
    let Answer::Hello(hello) = &exchange(&[(Request::Hello, vec![])])[0].0 else { panic!("no hello") };
    assert_eq!(hello.protocol, VERSION);
    assert_eq!(hello.arch, std::env::consts::ARCH);
    for name in ["tvm-neon-rfc", "mutant-dead-fixup", "mutant-hang", "sqrdmulh.s32"] {
        assert!(hello.kernels.iter().any(|offer| offer.kernel == name), "{name}");
    }
    let count = |op: &str| hello.kernels.iter().filter(|offer| offer.op == op).count();
    assert_eq!(count("fpm"), fpm::kernels().len() + mutants::fpm::mutants().len() + mutants::process().len());
    assert_eq!(count("instruction"), instruction::kernels().len() + Instruction::mutants().len());
    assert_eq!(count("dot"), dot::kernels().len() + Dot::mutants().len());
    let here = quantize::kernels().iter().filter(|kernel| !kernel.contract.domain.compiled).count();
    assert_eq!(
        count("quantize"),
        here + Quantize::mutants().len() + <Quantize as TensorOperation>::process_mutants().len()
    );
}

#[test]
fn what_only_a_compiled_module_has_is_neither_offered_nor_run() {
    use tiebreak_impls::quantized::{Container, Expressed, Granularity, Params, Quantized, Scale, Storage};
    let quantized = Quantized {
        storage: Storage { bits: 8, signed: true },
        min: -128,
        max: 127,
        expressed: Expressed::F32,
        granularity: Granularity::Layer,
        scales: vec![Scale(1.0)],
        zero_points: vec![0],
    };
    let params = Params { quantized, container: Container::Ranked, shape: vec![2] };
    let kernel = "mlir-opt-qcast-o2".to_owned();
    assert!(hello(Form::Native).kernels.iter().all(|offer| offer.kernel != kernel));
    let batch =
        Batch { job: Job::Quantize { kernel, params }, len: 2, source: Source::Payload { bytes: 8 }, misalign: 0 };
    let answers = exchange(&[(Request::Run(Box::new(batch)), vec![0, 0]), (Request::Hello, vec![])]);
    failed(&answers[0], "runs in lanes of compiled modules only");
    assert!(matches!(answers[1].0, Answer::Hello(_)));
}

#[test]
fn payload_and_range_agree_at_every_length_and_alignment() {
    let (mut requests, mut expected) = (Vec::new(), Vec::new());
    for (len, misalign) in (0..=9).flat_map(|len| (0..16).map(move |misalign| (len, misalign))) {
        let x: Vec<i32> = (-4..).take(len).collect();
        let mut out = vec![0; len];
        execute(&fpm_job("tvm-neon-fixup"), Form::Portable, &x, &mut out, 0).expect("runs");
        requests.push(run(fpm_job("tvm-neon-fixup"), x, misalign));
        let source = Source::Range { start: -4 };
        requests
            .push((Request::Run(Box::new(Batch { job: fpm_job("tvm-neon-fixup"), len, source, misalign })), vec![]));
        expected.extend([out.clone(), out]);
    }
    for ((answer, payload), expected) in exchange(&requests).into_iter().zip(expected) {
        assert_eq!(answer, Answer::Done { bytes: 4 * expected.len() });
        assert_eq!(payload, expected);
    }
}

/// A line equal to the previous line is not parsed again, but its payload is read.
#[test]
fn a_line_that_comes_twice_has_a_payload_each_time() {
    let (x, other) = (vec![1 << 20, -5], vec![7, 1 << 30]);
    let results = |x: &[i32]| {
        let mut out = vec![0; x.len()];
        execute(&fpm_job("tvm-relay"), Form::Portable, x, &mut out, 0).expect("runs");
        out
    };
    let twice = [x.clone(), other.clone()].map(|payload| run(fpm_job("tvm-relay"), payload, 0));
    let unknown = [3, 4].map(|value| run(fpm_job("tvm-relais"), vec![value], 0));
    let answers = exchange(&[twice, unknown].concat());
    assert_eq!([&answers[0].1, &answers[1].1], [&results(&x), &results(&other)]);
    assert_ne!(answers[0].1, answers[1].1);
    failed(&answers[2], "tvm-relais");
    failed(&answers[3], "tvm-relais");
}

#[test]
fn a_range_wraps() {
    let source = Source::Range { start: i32::MAX };
    let job = Job::Fpm { kernel: "tvm-relay".to_owned(), params: Params::single(1, 31) };
    let answers = exchange(&[(Request::Run(Box::new(Batch { job, len: 3, source, misalign: 0 })), vec![])]);
    assert_eq!(answers[0].1, [i32::MAX, i32::MIN, i32::MIN + 1]);
}

#[test]
fn instructions_return_flags_after_their_results() {
    let job = instruction_job("sqadd.s32", 2);
    let payload: Vec<i32> = [1, 2, 3, 4, i32::MAX, 0, 0, 0].into_iter().chain([1; 8]).collect();
    let source = Source::Payload { bytes: 64 };
    let answers = exchange(&[(Request::Run(Box::new(Batch { job, len: 10, source, misalign: 3 })), payload)]);
    assert_eq!(answers[0].1, [2, 3, 4, 5, i32::MAX, 1, 1, 1, 0, 1]);
}

#[test]
fn failures_leave_the_stream_in_step() {
    let two_channels = Params { q: 31, channels: vec![Channel { multiplier: 1, shift: 0 }; 2] };
    let wrong_bytes = Request::Run(Box::new(Batch {
        job: fpm_job("tvm-relay"),
        len: 5,
        source: Source::Payload { bytes: 8 },
        misalign: 0,
    }));
    let too_long = Request::Run(Box::new(Batch {
        job: fpm_job("tvm-relay"),
        len: 1 << 40,
        source: Source::Range { start: 0 },
        misalign: 0,
    }));
    let instruction_range = Request::Run(Box::new(Batch {
        job: instruction_job("add.s8", 1),
        len: 17,
        source: Source::Range { start: 0 },
        misalign: 0,
    }));
    let answers = exchange(&[
        run(fpm_job("no-such-kernel"), vec![0x0A0A_0A0A; 3], 0),
        run(instruction_job("no.s8", 1), vec![0; 4], 0),
        run(Job::Fpm { kernel: "gemmlowp-neon".to_owned(), params: two_channels }, vec![1], 0),
        run(Job::Fpm { kernel: "tvm-relay".to_owned(), params: Params { q: 31, channels: vec![] } }, vec![1], 0),
        (wrong_bytes, vec![1, 2]),
        (too_long, vec![]),
        (instruction_range, vec![]),
        run(fpm_job("tvm-relay"), vec![1], 16),
        run(fpm_job("mutant-panic"), vec![1, mutants::FAULT_AT], 0),
        run(fpm_job("tvm-relay"), vec![-1], 0),
    ]);
    let parts = [
        "unknown fpm",
        "unknown instruction",
        "gemmlowp-neon takes one",
        "at least one",
        "payload of 8",
        "at most",
        "range",
    ];
    for (answer, part) in answers.iter().zip(parts.into_iter().chain(["misaligned", "met x"])) {
        failed(answer, part);
    }
    assert_eq!(answers.len(), 10);
    assert_eq!(answers[9], (Answer::Done { bytes: 4 }, vec![0]));
}

#[test]
fn bad_json_is_answered_and_survived() {
    let answers = answers(b"{\"command\":\n{\"command\":\"dance\"}\n{\"command\":\"hello\"}\n");
    failed(&answers[0], "not a request");
    failed(&answers[1], "dance");
    assert!(matches!(answers[2].0, Answer::Hello(_)));
}

#[test]
fn a_short_kernel_returns_one_element_too_few() {
    let answers = exchange(&[run(fpm_job("mutant-short"), vec![0; 5], 0), run(fpm_job("mutant-short"), vec![], 0)]);
    assert_eq!(answers[0], (Answer::Done { bytes: 16 }, vec![0; 4]));
    assert_eq!(answers[1].0, Answer::Done { bytes: 0 });
}

#[test]
fn process_mutants_stay_out_of_this_process() {
    let ends = |name| mutants::fault(name).is_some_and(Fault::ends_its_process);
    for mutant in mutants::process().iter().filter(|mutant| ends(mutant.name)) {
        let error = execute(&fpm_job(mutant.name), Form::Portable, &[0], &mut [0], 0).expect_err("refused");
        let reason = error.to_string();
        assert!(reason.contains("worker process only"), "{reason}");
    }
}

#[test]
fn execute_checks_lengths() {
    assert!(execute(&fpm_job("tvm-relay"), Form::Native, &[1, 2], &mut [0], 0).is_err());
    let job = instruction_job("add.s32", 1);
    assert!(execute(&job, Form::Native, &[1; 7], &mut [0; 5], 0).is_err());
    assert!(execute(&job, Form::Native, &[1; 8], &mut [0; 4], 0).is_err());
    let mut output = [9; 5];
    execute(&job, Form::Native, &[1, 1, 1, 1, 2, 2, 2, 2], &mut output, 0).expect("runs");
    assert_eq!(output, [3, 3, 3, 3, 0]);
}

#[test]
fn a_payload_that_ends_early_is_a_transport_error() {
    let request = b"{\"command\":\"run\",\"op\":\"fpm\",\"kernel\":\"tvm-relay\",\"params\":{\"q\":31,\"channels\":[{\"multiplier\":1,\"shift\":0}]},\"len\":1,\"source\":{\"payload\":{\"bytes\":4}},\"misalign\":0}\nab";
    assert!(serve(&request[..], Vec::new()).is_err());
}
