//! Network of `--model`, with random inputs or inputs from a file.

use super::offline::elements;
use super::verify::Args;
use crate::model::{self, network};
use crate::network::{self as runs, Inputs, Planned};
use crate::operation::Stage;
use crate::verify::{OPERATIONS, Pipeline};
use anyhow::{Context, Result, bail};
use serde_json::Value as Json;
use std::path::Path;
use tiebreak_reports::ledger::Network;

/// Maximum number of inputs: the tensors of all layers are held for each input.
const MOST: usize = 1 << 12;

/// Returns the cases of the network's layers. `None` if the caller wants no cases, or if the model has no inputs or no layers.
pub(super) fn planned(path: &Path, args: &Args) -> Result<Option<Planned>> {
    let bytes = model::load(path)?;
    let named = || path.display().to_string();
    let net = network::network(&bytes).with_context(named)?;
    if net.inputs.is_empty() || net.nodes.is_empty() {
        return Ok(None);
    }
    let (inputs, source) = match args.inputs().parse::<usize>() {
        Ok(0) => return Ok(None),
        Ok(count) if count > MOST => bail!("--inputs {count}: at most {MOST} inputs run; give fewer"),
        Ok(count) => (runs::random(&net, count, args.seed), "random".to_owned()),
        Err(_) => (of_file(&net, args.inputs())?, args.inputs().to_owned()),
    };
    let takes = |stage: &Stage| OPERATIONS.iter().any(|op: &Pipeline| op.takes_stage(stage));
    let planned = runs::plan(&bytes, &net, (&inputs, args.seed), args.kernel(), takes).with_context(named)?;
    let network = Network { model: path.display().to_string(), source, ..planned.network };
    Ok(Some(Planned { network, ..planned }))
}

/// Reads the samples of a file along its first axis.
fn of_file(net: &network::Network<'_>, file: &str) -> Result<Inputs> {
    let [input] = net.inputs[..] else {
        bail!("--inputs {file}: the model has {} inputs, and a file is of one; give a number", net.inputs.len());
    };
    let tensor = &net.tensors[input];
    let all = elements(file, Path::new(""))
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("--inputs takes a number of random inputs, or a file of numpy, not `{file}`"))?;
    let size = tensor.len();
    if size == 0 || all.is_empty() || !all.len().is_multiple_of(size) {
        bail!("{file}: {} values are no samples of the model's input, {:?}", all.len(), tensor.shape);
    }
    if all.len() / size > MOST {
        bail!("{file}: {} inputs; at most {MOST} inputs run", all.len() / size);
    }
    let stored = |value: &Json| match tensor.stored {
        network::Stored::Quantized(q) => {
            let value = value.as_i64().and_then(|v| i32::try_from(v).ok()).filter(|v| q.element.range().contains(v));
            value.with_context(|| format!("{file}: a value is no {}, which the model's input is", q.element.name()))
        }
        _ => {
            let value = value.as_f64().with_context(|| format!("{file}: a value is no number"))?;
            Ok((value as f32).to_bits() as i32)
        }
    };
    let values: Vec<i32> = all.iter().map(stored).collect::<Result<_>>()?;
    Ok(values.chunks(size).map(|sample| vec![sample.to_vec()]).collect())
}
