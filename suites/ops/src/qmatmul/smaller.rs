//! Smaller cases of the same kind: fewer rows, columns and depths, fewer stages, simpler parameters.

use super::Qmatmul;
use crate::matmul::{cropped, simpler_offsets};
use tiebreak_engine::operation::{Case, Operation};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::matmul;
use tiebreak_impls::qmatmul::{Along, Domain, Params, Stage};

/// Returns smaller cases, the smallest first.
pub(super) fn smaller(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
    let mut out = Vec::new();
    let inner = Case { params: case.params.shape, tensors: case.tensors.clone(), misalign: case.misalign };
    let matmul::Params { m, n, k, lhs_offset, rhs_offset } = case.params.shape;
    for (rows, columns, depth) in [(1, n, k), (m, 1, k), (m, n, 1), (m / 2, n, k), (m, n / 2, k), (m, n, k / 2)]
        .into_iter()
        .chain([(m - 1, n, k), (m, n - 1, k), (m, n, k - 1)])
        .filter(|(rows, columns, depth)| *rows > 0 && *columns > 0 && *depth > 0)
    {
        for last in [false, true] {
            let Case { params: shape, tensors, misalign } = cropped(&inner, (rows, columns, depth), last);
            let stages = case.params.stages.iter().map(|stage| of_places(stage, [m, n], [rows, columns], last));
            out.push(Case { params: Params { shape, stages: stages.collect() }, tensors, misalign });
        }
    }
    let with = |params: Params| Case { params, ..case.clone() };
    for (lhs_offset, rhs_offset) in simpler_offsets(lhs_offset, rhs_offset) {
        let shape = matmul::Params { lhs_offset, rhs_offset, ..case.params.shape };
        out.push(with(Params { shape, ..case.params.clone() }));
    }
    for (at, stage) in case.params.stages.iter().enumerate() {
        let mut without = case.params.clone();
        without.stages.remove(at);
        out.push(with(without));
        for plain in plainer(stage) {
            let mut params = case.params.clone();
            params.stages[at] = plain;
            out.push(with(params));
        }
    }
    out.extend(case.aligned());
    out.retain(|smaller| smaller != case && Qmatmul::covers(domain, &smaller.params));
    out
}

/// Restricts a stage to the first or the last rows and columns.
fn of_places(stage: &Stage, [m, n]: [usize; 2], [rows, columns]: [usize; 2], last: bool) -> Stage {
    fn some<T: Copy>(values: &[T], from: usize, to: usize, last: bool) -> Vec<T> {
        match values.len() {
            1 => values.to_vec(),
            _ if last => values[from - to..].to_vec(),
            _ => values[..to].to_vec(),
        }
    }
    let of = |along: &Along| if *along == Along::Rows { (m, rows) } else { (n, columns) };
    match stage {
        Stage::Bias { along, values } => {
            let (from, to) = of(along);
            Stage::Bias { along: *along, values: some(values, from, to, last) }
        }
        Stage::Bias64 { along, values } => {
            let (from, to) = of(along);
            Stage::Bias64 { along: *along, values: some(values, from, to, last) }
        }
        Stage::Scale { along, channels, zero_point } => {
            let (from, to) = of(along);
            Stage::Scale { along: *along, channels: some(channels, from, to, last), zero_point: *zero_point }
        }
        stage => stage.clone(),
    }
}

/// Returns the stage with simpler parameters.
fn plainer(stage: &Stage) -> Vec<Stage> {
    match stage {
        Stage::Bias { along, values } => {
            let of = |values: Vec<i32>| Stage::Bias { along: *along, values };
            let mut out = vec![of(vec![0]), of(vec![values[0]])];
            out.push(of(values.iter().map(|v| v / 2).collect()));
            out
        }
        Stage::Bias64 { along, values } => {
            let of = |values: Vec<i64>| Stage::Bias64 { along: *along, values };
            vec![of(vec![0]), of(vec![values[0]]), of(values.iter().map(|v| v / 2).collect())]
        }
        Stage::Scale { along, channels, zero_point } => {
            let of = |channels: Vec<Channel>, zero_point: i32| Stage::Scale { along: *along, channels, zero_point };
            let mut out =
                vec![of(vec![channels[0]], *zero_point), of(channels.clone(), 0), of(channels.clone(), zero_point / 2)];
            if let [Channel { multiplier, shift }] = channels[..] {
                let order = |c: Channel| (c.multiplier.unsigned_abs().count_ones(), c.shift.unsigned_abs());
                let plain = [(1 << 30, 0), (1 << 30, -1), (1 << 30, 1), (1 << 30, shift), (multiplier, 0)];
                let plain = plain.map(|(multiplier, shift)| Channel { multiplier, shift });
                let simpler = plain.into_iter().filter(|channel| order(*channel) < order(channels[0]));
                out.extend(simpler.map(|channel| of(vec![channel], *zero_point)));
            }
            out
        }
        Stage::Down { offset, multiplier, shift } => vec![
            Stage::Down { offset: 0, multiplier: *multiplier, shift: *shift },
            Stage::Down { offset: offset / 2, multiplier: *multiplier, shift: *shift },
            Stage::Down { offset: *offset, multiplier: 1, shift: *shift },
            Stage::Down { offset: *offset, multiplier: *multiplier, shift: -1 },
        ],
        Stage::Clamp { min, max } => vec![
            Stage::Clamp { min: i32::MIN, max: i32::MAX },
            Stage::Clamp { min: i32::MIN, max: *max },
            Stage::Clamp { min: *min, max: i32::MAX },
        ],
        Stage::Tanh { zero_point, amplitude } => vec![
            Stage::Tanh { zero_point: 0, amplitude: *amplitude },
            Stage::Tanh { zero_point: *zero_point, amplitude: amplitude / 2 },
        ],
        Stage::Cast { .. } => Vec::new(),
    }
}
