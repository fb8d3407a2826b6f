//! Model in two sets of LiteRT's kernels, layer by layer, compared with the audit's prediction: `impls/shipped/litert/trace.py` runs the model.

use crate::process;
use crate::say;
use crate::shipped::Library;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Set of kernels, by its name in `audit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kernels {
    TfliteReference,
    TfliteOptimized,
    /// As the default delegate, which hides its layers, so that only outputs are compared
    Xnnpack,
}

impl Kernels {
    fn name(self) -> &'static str {
        match self {
            Self::TfliteReference => "tflite-reference",
            Self::TfliteOptimized => "tflite-optimized",
            Self::Xnnpack => "xnnpack",
        }
    }
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Sentences for the terminal
    Text,
    /// JSON, for programs
    Json,
}

/// Arguments of `trace`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Model, a .tflite file
    model: PathBuf,
    /// Kernels of the first run
    #[arg(long, value_enum, default_value = "tflite-reference")]
    from: Kernels,
    /// Kernels of the second run
    #[arg(long, value_enum, default_value = "tflite-optimized")]
    to: Kernels,
    /// Random inputs of the model: every stored value is as likely, floats are normally distributed
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seed of random inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Inputs in place of random ones: an array of numpy (.npy), samples along its first axis
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Results of the runs, as the script prints them.
#[derive(Debug, Serialize, Deserialize)]
struct Traced {
    samples: u64,
    samples_with_other_outputs: u64,
    samples_with_another_greatest_output: u64,
    largest_output_change: f64,
    /// First layer, in the order of execution, whose results differ in a sample, given equal inputs.
    first: Option<First>,
    /// Number of samples in which each layer was the first to differ.
    first_layers: BTreeMap<usize, u64>,
    /// True if layers could be compared; otherwise only outputs were.
    inside: bool,
}

/// Result of a layer that differs.
#[derive(Debug, Serialize, Deserialize)]
struct First {
    layer: usize,
    operator: String,
    at: Vec<usize>,
    channel: Option<usize>,
    /// Sum of products and bias, of a convolution or a matrix product.
    accumulator: Option<i64>,
    left: f64,
    right: f64,
    differ: u64,
    results: u64,
    sample: u64,
}

/// Prediction of the audit for the place.
#[derive(Debug, Serialize)]
struct Predicted {
    /// Changed accumulators of the channel, and all that its weights reach; `None` if the audit has no such channel.
    differ: Option<[u64; 2]>,
    /// Derivation and scheme of both sides.
    schemes: Option<[String; 2]>,
    /// Accumulator times input scale times weight scale over output scale, plus the output zero point.
    real: Option<f64>,
    /// Layers that were the first to differ in a sample, although the audit predicts no change.
    unforeseen: Vec<usize>,
}

impl Arguments {
    /// Runs the model in both sets of kernels.
    fn traced(&self, workspace: &Workspace) -> Result<Traced> {
        let library = Library::find("litert").context("the lane litert is in the list of libraries")?;
        let [python, worker] = &library.command(workspace)?[..] else { bail!("the lane litert is a script of Python") };
        let script = PathBuf::from(worker).with_file_name("trace.py");
        let mut command = Command::new(python);
        command.arg(script).arg(&self.model).args([self.from.name(), self.to.name()]);
        command.args(["--samples", &self.samples.to_string(), "--seed", &self.seed.to_string()]);
        command.args(self.inputs.iter().flat_map(|file| ["--inputs".as_ref(), file.as_os_str()]));
        let printed = process::output(&mut command).with_context(|| format!("running {}", self.model.display()))?;
        serde_json::from_str(printed.trim()).with_context(|| format!("the script printed {printed}"))
    }

    /// Returns the output of `audit` for these kernels.
    fn audited(&self) -> Result<Value> {
        let mut command = Command::new(std::env::current_exe().context("the path of xtask")?);
        command.arg("audit").arg(&self.model).args(["--from", self.from.name(), "--to", self.to.name()]);
        let printed = process::output(command.args(["--format", "json"])).context("auditing the model")?;
        serde_json::from_str(&printed).context("reading the audit")
    }
}

/// Returns the entry of a list with this number as `key`.
fn entry<'a>(list: &'a Value, key: &str, number: usize) -> Option<&'a Value> {
    list.as_array()?.iter().find(|entry| entry[key].as_u64() == Some(number as u64))
}

fn predicted(audit: &Value, traced: &Traced) -> Predicted {
    let compared = &audit["comparisons"][0]["layers"];
    let changes = |layer: usize| entry(compared, "index", layer).and_then(|layer| layer["totals"]["differ"].as_u64());
    let unforeseen = traced.first_layers.keys().copied().filter(|layer| changes(*layer) == Some(0)).collect();
    let mut out = Predicted { differ: None, schemes: None, real: None, unforeseen };
    let Some(first) = &traced.first else { return out };
    let Some(layer) = entry(compared, "index", first.layer) else { return out };
    let label = |side: &str| layer[side].as_str().unwrap_or_default().to_owned();
    out.schemes = Some([label("left"), label("right")]);
    let Some(channel) = first.channel else { return out };
    out.differ = entry(&layer["channels"], "channel", channel)
        .and_then(|counts| Some([counts["differ"].as_u64()?, counts["inputs"].as_u64()?]));
    out.real = entry(&audit["layers"], "index", first.layer).and_then(|layer| {
        let weight = entry(&layer["channels"], "channel", channel)?["weight_scale"].as_f64()?;
        let scale = layer["inputs"][0]["scale"].as_f64()? * weight / layer["output"]["scale"].as_f64()?;
        Some(first.accumulator? as f64 * scale + layer["output"]["zero_point"].as_f64()?)
    });
    out
}

/// Runs a model in two sets of kernels and prints the first layer that differs.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let traced = arguments.traced(&workspace)?;
    let predicted = predicted(&arguments.audited()?, &traced);
    let text = match arguments.format {
        Format::Json => serde_json::to_string_pretty(&serde_json::json!({"trace": traced, "audit": predicted}))? + "\n",
        Format::Text => said(arguments, &traced, &predicted)?,
    };
    say::print(text).map(|()| ExitCode::SUCCESS)
}

fn said(arguments: &Arguments, traced: &Traced, predicted: &Predicted) -> Result<String> {
    let [from, to] = [arguments.from, arguments.to].map(Kernels::name);
    let mut out = String::new();
    writeln!(out, "{} with {from} and with {to}, on {} inputs", arguments.model.display(), traced.samples)?;
    let changed = traced.samples_with_other_outputs;
    if changed == 0 {
        writeln!(out, "outputs   equal for every input")?;
    } else {
        writeln!(
            out,
            "outputs   change for {changed} inputs, by at most {}; the greatest output is another one for {}",
            traced.largest_output_change, traced.samples_with_another_greatest_output
        )?;
    }
    let Some(first) = &traced.first else {
        let text = if traced.inside { "no result of a layer differs" } else { "hidden by XNNPACK's delegate" };
        writeln!(out, "layers    {text}")?;
        return Ok(out);
    };
    let layers: Vec<String> = traced.first_layers.iter().map(|(l, n)| format!("layer {l} for {n} inputs")).collect();
    writeln!(out, "layers    the first that differs: {}", layers.join(", "))?;
    let channel = first.channel.map(|channel| format!(", channel {channel}")).unwrap_or_default();
    let accumulator = first.accumulator.map(|x| format!(", accumulator {x}")).unwrap_or_default();
    let real = predicted.real.map(|real| format!(" (real {real:.4})")).unwrap_or_default();
    writeln!(
        out,
        "place     layer {} {}{channel}{accumulator}{real}: {} and {}; {} of {} results differ for input {}",
        first.layer, first.operator, first.left, first.right, first.differ, first.results, first.sample
    )?;
    if let Some([left, right]) = &predicted.schemes {
        writeln!(out, "schemes   {left}; {right}")?;
    }
    match predicted.differ {
        Some([differ, of]) if differ > 0 => {
            writeln!(out, "audit     predicts it: {differ} of {of} accumulators of this channel change")?
        }
        Some(_) => {
            writeln!(out, "audit     says that no accumulator of this channel changes: this is a fault of the audit")?
        }
        None => writeln!(out, "audit     has no count of this operator")?,
    }
    if !predicted.unforeseen.is_empty() {
        writeln!(
            out,
            "audit     holds layers {:?} unchanged, and they differ: this is a fault of the audit",
            predicted.unforeseen
        )?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn traced(channel: usize, layers: &[usize]) -> Traced {
        let first = json!({"layer": 2, "operator": "FULLY_CONNECTED", "at": [0, channel], "channel": channel, "accumulator": 367_692,
            "left": 88, "right": 89, "differ": 1, "results": 128, "sample": 1});
        let layers: BTreeMap<String, u64> = layers.iter().map(|layer| (layer.to_string(), 1)).collect();
        serde_json::from_value(
            json!({"samples": 2, "samples_with_other_outputs": 1, "samples_with_another_greatest_output": 0,
            "largest_output_change": 0.5, "first": first, "first_layers": layers, "inside": true}),
        )
        .expect("a trace")
    }

    /// K: anomaly_detection of MLPerf Tiny, layer 2, channel 126, accumulator 367692. The real value is 88.4995, and the audit predicts the change. A
    /// differing layer without a predicted change is named.
    #[test]
    fn the_audit_says_of_a_difference_whether_it_is_predicted() {
        let compared = |index: usize, differ: u64| {
            json!({"index": index, "left": "f64 f64-product-away", "right": "f32-f64 sqrdmulh-srshl:wrap", "totals": {"differ": differ},
                "channels": [{"channel": 126, "differ": differ, "inputs": 1000}]})
        };
        let layer = json!({"index": 2, "inputs": [{"scale": 0.929_411_768_913_269}],
            "output": {"scale": 0.056_128_274_649_381_64, "zero_point": -128},
            "channels": [{"channel": 126, "weight_scale": 3.555_873_627_192_341e-5}]});
        let audit = json!({"comparisons": [{"layers": [compared(2, 216), compared(3, 0)]}], "layers": [layer]});
        let known = predicted(&audit, &traced(126, &[2, 3]));
        assert_eq!(known.differ, Some([216, 1000]));
        assert_eq!(known.unforeseen, [3]);
        assert!((known.real.expect("a real value") - 88.4995).abs() < 1e-4, "{known:?}");
        let unknown = predicted(&audit, &traced(0, &[2]));
        assert_eq!((unknown.differ, unknown.unforeseen.len()), (None, 0));
    }
}
