//! `verify`: comparison of kernels with their contracts.

use super::compilers::Compilers;
use super::unfinished::Unfinished;
use super::{Format, base::Base, built, library, network, note, print, shards, style, threads};
use crate::audit;
use crate::budget::Effort;
use crate::code;
use crate::lane::config::{HOST, Lanes};
use crate::network::pieces;
use crate::operation::{CaseSelection, Layer, Parameter, ReferenceOption, Stage};
use crate::parameters::{self, SHIFTS};
use crate::verify::{Command, Heading, OPERATIONS, OPS, Outcome, PartialRun, Pipeline, Request, run as verify};
use crate::{figures, model, proofs, quantized, rewritten};
use anyhow::{Context, Result, bail};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tiebreak_impls::conv2d::Params;
use tiebreak_impls::fpm::{Channel, Fpm};
use tiebreak_impls::quantized::Quantized;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_oracle::names::unknown;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_reports::html::Earlier;
use tiebreak_reports::json;
use tiebreak_reports::ledger::{Ledger, LeftOut, Network, Verdict};
use tiebreak_reports::table::{self, Detail};
use tiebreak_shards::shell::quoted;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SCREEN)]
pub(super) struct Args {
    #[arg(long, value_name = "NAME", help = operations())]
    op: Vec<String>,
    /// Kernel, by name; a mutant's name works too [default: all kernels]
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// Lane: host, aarch64-qemu, aarch64-native, or a name from the lanes file [default: host and aarch64; with a lanes file of
    /// your own, host and all lanes of that file]
    #[arg(long, value_name = "NAME")]
    lane: Vec<String>,
    /// Size of the plan
    #[arg(long, value_enum, default_value = "standard")]
    pub(super) effort: Effort,
    /// One multiplier, with --shift
    #[arg(long, value_name = "M", requires = "shift", conflicts_with = "params", allow_negative_numbers = true, value_parser = multiplier)]
    multiplier: Option<i32>,
    /// One shift, positive = left, with --multiplier
    #[arg(long, value_name = "S", requires = "multiplier", allow_negative_numbers = true, value_parser = shift)]
    shift: Option<i32>,
    /// One accumulator, with --multiplier and --shift; it runs at every position of every length from 1 to 9
    #[arg(long, value_name = "X", requires = "multiplier", allow_negative_numbers = true, value_parser = accumulator)]
    x: Option<i32>,
    /// Fractional bits of the given multipliers
    #[arg(long, value_name = "Q", default_value = "31", value_parser = clap::value_parser!(u32).range(0..=31))]
    q: u32,
    /// CSV file with columns multiplier and shift
    #[arg(long, value_name = "FILE.csv")]
    params: Option<PathBuf>,
    /// One case of the operation of --op, such as 'm=1 n=1 k=16 lhs[0,0]=255 rhs=1'; elements without a value are 0. A tensor may be a
    /// list, lhs=[1,2,0*6], consecutive values, lhs=1.., or the filling of a plan, lhs=uniform@1/17. Repeated, the cases run one after the
    /// other in one worker
    #[arg(long, value_name = "TEXT", requires = "op", conflicts_with_all = ["multiplier", "params"], value_parser = case)]
    case: Vec<String>,
    /// Number of times that the cases run, one after the other in one worker
    #[arg(long, value_name = "N", requires = "case", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// TensorFlow Lite model: its network runs layer after layer, each kernel on the exact input of each layer; and each layer runs as a
    /// convolution and as a matrix product, on random and extreme data, with random weights and the model's weights
    #[arg(long, value_name = "FILE.tflite", conflicts_with_all = ["multiplier", "params", "case"])]
    model: Option<PathBuf>,
    /// Inputs of the model's network: how many random ones, or a file of numpy with samples along its first axis; 0 leaves the network out
    #[arg(long, value_name = "N|FILE.npy", requires = "model", default_value = USUAL_INPUTS)]
    inputs: String,
    /// Scheme with which all kernels of fpm are compared, NAME or NAME:wrap, NAME:saturate
    #[arg(long, value_name = "SCHEME", default_value = "ties-up")]
    reference: String,
    /// Quantized type, such as '!quant.uniform<i8<-8:7>:f32, 0.3:1>', instead of the planned types of quantize and dequantize
    #[arg(long = "type", value_name = "TYPE", conflicts_with_all = ["multiplier", "params", "case", "model"], value_parser = quantized::read_run_type)]
    types: Vec<Quantized>,
    /// Rounding rule of the single-rounding reference (quantize, add, mul): ties-even, ties-away, toward-zero, ...
    #[arg(long, value_name = "RULE", default_value = USUAL_ROUNDING, value_parser = rounding)]
    rounding: RoundingRule,
    /// Seed of all samples: a number, or `random` for a new number, which every printed command of the run contains
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = seed)]
    pub(super) seed: u64,
    /// Threads, and workers of each lane [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Ledger to compare with: report.html, summary.md and the screen say what changed [default: latest run of the same command in
    /// reports/published]
    #[arg(long, value_name = "LEDGER")]
    base: Option<PathBuf>,
    /// Directory for report.html, ledger.json, mismatches.csv, summary.md, details.md, junit.xml and findings.sarif [default: tiebreak-out; with --case
    /// or --x tiebreak-case, so that the files of the whole run remain]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Print the tables of all kernels, the witness of each difference and every finding, whatever the run covers
    #[arg(long, short)]
    verbose: bool,
    /// Lane that may be absent without breaking the run
    #[arg(long, value_name = "NAME")]
    allow_not_run: Vec<String>,
    /// Accept that parameters of the caller are outside the domain of a kernel named with --kernel
    #[arg(long)]
    allow_outside_domain: bool,
    /// End at the first kernel with findings: the files have the results until then, marked as unfinished
    #[arg(long)]
    fail_fast: bool,
    /// Lanes file that replaces the built-in lanes; host remains, and all lanes of the file run unless --lane names some; see
    /// docs/src/lanes.md
    #[arg(long, value_name = "FILE.json", overrides_with = "lanes")]
    lanes: Option<PathBuf>,
    #[command(flatten)]
    pub(super) library: library::Args,
    #[command(flatten)]
    compilers: Compilers,
    #[command(flatten)]
    pub(super) shards: shards::Options,
}

/// Note on the printed output, at the end of the help.
const SCREEN: &str = "\
A run of every operation and kernel prints one screen: a line for each operation, and at most six findings. A run narrowed by \
--op, --kernel, --case, --type, --model, --rounding or parameters prints the tables of all its kernels, the witness of each difference \
and every finding. --verbose prints these always. The files have everything in both cases.";

fn int32(text: &str, what: &str) -> Result<i32, String> {
    text.parse().map_err(|_| format!("{what} must be an int32, -2147483648..=2147483647"))
}

fn multiplier(text: &str) -> Result<i32, String> {
    int32(text, "a multiplier")
}

fn accumulator(text: &str) -> Result<i32, String> {
    int32(text, "an accumulator")
}

fn shift(text: &str) -> Result<i32, String> {
    match text.parse() {
        Ok(s) if SHIFTS.contains(&s) => Ok(s),
        _ => Err("a shift must be in -31..=31, positive = left".to_owned()),
    }
}

/// Value of `--seed` for a random seed.
const RANDOM: &str = "random";

/// Parses a seed, or draws a new seed. Drawn seeds have 32 bits, so that they are quick to copy.
fn seed(text: &str) -> Result<u64, String> {
    match text {
        RANDOM => Ok(RandomState::new().hash_one(std::process::id()) >> 32),
        number => number.parse().map_err(|_| format!("a seed is a number below 2^64, or `{RANDOM}`")),
    }
}

/// True if the caller requests a random seed.
fn is_drawn(arguments: &[String]) -> bool {
    seed_at(arguments).is_some_and(|(_, value)| value == RANDOM)
}

/// Returns the position of the seed among the arguments, and its text.
fn seed_at(arguments: &[String]) -> Option<(usize, &str)> {
    let one = |(at, argument): (usize, &String)| match argument.strip_prefix("--seed") {
        Some("") => arguments.get(at + 1).map(|value| (at + 1, value.len())),
        Some(value) if value.starts_with('=') => Some((at, value.len() - 1)),
        _ => None,
    };
    let (at, len) = arguments.iter().enumerate().filter_map(one).next_back()?;
    Some((at, &arguments[at][arguments[at].len() - len..]))
}

/// Parses a case that is not empty. An unset shell variable would otherwise select the case of default values.
fn case(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the case is empty; write NAME=VALUE words, such as 'm=1 n=1 k=16 rhs=1'".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Removes duplicates and keeps the order.
fn once<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    for value in values {
        if !out.contains(value) {
            out.push(value.clone());
        }
    }
    out
}

/// Returns the help of `--op`.
fn operations() -> String {
    let names = OPS.join(", ");
    format!("Operation: {names}; or `all` (alone): every operation that accepts the given inputs [default: all]")
}

/// Default number of fractional bits of multipliers.
const USUAL_Q: u32 = 31;

impl Args {
    /// Returns the caller's choice of inputs for the model's network.
    pub(super) fn inputs(&self) -> &str {
        &self.inputs
    }

    /// Returns the kernels that the caller names.
    pub(super) fn kernel(&self) -> &[String] {
        &self.kernel
    }

    /// Returns the directory of the files.
    pub(super) fn out(&self) -> PathBuf {
        let is_one = self.x.is_some() || !self.case.is_empty();
        self.out.clone().unwrap_or_else(|| PathBuf::from(if is_one { "tiebreak-case" } else { "tiebreak-out" }))
    }
}

/// Default number of random inputs of a network.
const USUAL_INPUTS: &str = "2";

/// Default rounding rule of the single-rounding reference.
const USUAL_ROUNDING: &str = "ties-even";

fn rounding(text: &str) -> Result<RoundingRule, String> {
    // Accept names of the reference's schemes: `nearest-even` means `ties-even`.
    let name = text.strip_prefix("nearest-").map_or(text.to_owned(), |ties| format!("ties-{ties}"));
    let known = RoundingRule::ALL.into_iter().find(|rule| rule.name() == name);
    let names = RoundingRule::ALL.map(RoundingRule::name);
    known.ok_or_else(|| format!("{}; rules are {}", unknown("rule", text, names), names.join(", ")))
}

/// Runs `verify`. Returns true if everything holds.
pub(super) fn run(args: &Args) -> Result<bool> {
    if let Some(shard) = args.shards.shard {
        refuse_with_shard(args)?;
        return shards::verify(args, shard);
    }
    let partial = PartialRun::default();
    let mut network = None;
    let ready = threads::start(args.jobs).and_then(|()| built::check());
    let heading =
        Heading { command: command(args).whole(), seed: args.seed, effort: args.effort, begun: Instant::now() };
    // Read the base before marking the files: both can be the same files.
    let base = Base::read(args.base.as_deref());
    let out = args.out();
    let files = Unfinished::begin(&out, heading, partial.clone())?;
    if is_drawn(&arguments()) {
        note(&format!("seed {0}, drawn at random: --seed {0} runs the same cases again", args.seed));
    }
    let (mut outcome, base) = match ready.and(base).and_then(|base| Ok((outcome(args, &partial, &mut network)?, base)))
    {
        Ok(ended) => ended,
        Err(error) => {
            files.failed(&error)?;
            return Err(error);
        }
    };
    outcome.ledger.network = network.map(|network: Network| network.judged(&outcome.ledger.rows));
    outcome.ledger.environment = Some(files.environment().clone());
    if is_whole(args) {
        outcome.ledger.figures = figures::of(&outcome.ledger);
        rewritten::judge(&mut outcome.ledger)?;
    }
    let library = args.library.file().map(|file| (library::LIBRARY, file));
    let of_caller = callers_lanes(args).is_some();
    let is_own = |lane: &str| lane == HOST || !of_caller;
    outcome.ledger.code = code::of(&outcome.ledger, library, is_own);
    outcome.ledger.proofs = proofs::of(&outcome.ledger, is_own);
    let earlier: Vec<Ledger> = base.of(&outcome.ledger).into_iter().collect();
    let earlier = Earlier { runs: &earlier };
    // Write the files and print in any case: a full disk or a closed standard output must not lose the results.
    let written = files.ended(&outcome, earlier);
    let files_line = if written.is_ok() { table::format_files(&out, style()) } else { String::new() };
    let printed = print(&match args.format {
        Format::Table => table::render_compared(&outcome.ledger, earlier, detail(args)?, style()) + &files_line,
        Format::Json => json::render(&outcome.ledger),
    });
    written?;
    printed?;
    Ok(outcome.ledger.verdict == Verdict::Holds)
}

/// Refuses options that a shard cannot fulfil, because a shard knows nothing of the other shards.
fn refuse_with_shard(args: &Args) -> Result<()> {
    let refused = [
        (args.fail_fast, "--fail-fast", "a shard ends when its units have run"),
        (args.base.is_some(), "--base", "the merged run is compared"),
        (args.format != Format::Table, "--format", "give it to `merge`"),
        (is_drawn(&arguments()), "--seed random", "each shard would draw another seed; name a number"),
    ];
    match refused.iter().find(|(given, ..)| *given) {
        Some((_, option, why)) => bail!("{option} does not go with --shard: {why}"),
        None => Ok(()),
    }
}

/// True if all kernels of an operation run on its own plan. The figures of a report then cover all kernels.
pub(super) fn is_whole(args: &Args) -> bool {
    let given = args.multiplier.is_some() || args.params.is_some() || !args.case.is_empty() || args.model.is_some();
    args.kernel.is_empty() && args.types.is_empty() && !given
}

/// Returns the amount of detail: a screen for a run of every operation and kernel, tables for narrower runs or on request.
pub(super) fn detail(args: &Args) -> Result<Detail> {
    let given_pairs = args.params.is_some() || args.multiplier.is_some();
    let everything =
        args.kernel.is_empty() && args.model.is_none() && ops(args, given_pairs, (&[], &[]))?.len() == OPS.len();
    Ok(if args.verbose || !everything { Detail::Tables } else { Detail::Screen })
}

fn outcome(args: &Args, partial: &PartialRun, network: &mut Option<Network>) -> Result<Outcome> {
    let request = request(args)?;
    network.clone_from(&request.network);
    verify(&request, partial)
}

pub(super) fn request(args: &Args) -> Result<Request> {
    let channels = match (&args.params, args.multiplier, args.shift) {
        (Some(path), ..) => parameters::read_csv(path)?,
        (None, Some(multiplier), Some(shift)) => vec![Channel { multiplier, shift }],
        _ => Vec::new(),
    };
    let planned = args.model.as_deref().map(|path| network::planned(path, args)).transpose()?.flatten();
    let (stages, network) = planned.map(|planned| (planned.stages, planned.network)).unzip();
    let stages = stages.unwrap_or_default();
    let layers = args.model.as_deref().map(|path| layers(path, !stages.is_empty())).transpose()?;
    let (layers, left_out) = layers.unwrap_or_default();
    let ops = ops(args, !channels.is_empty(), (&layers, &stages))?;
    if args.q != USUAL_Q && args.effort == Effort::Exhaustive && args.x.is_none() {
        bail!(
            "--effort exhaustive sweeps only multipliers of Q0.31, not of --q {}; leave out one of the two options",
            args.q
        );
    }
    if channels.is_empty() && args.q != USUAL_Q {
        bail!("--q needs --multiplier and --shift, or --params; without them a run covers every format");
    }
    let reference = Scheme::parse(&args.reference)?.label();
    let mut known_lanes = Lanes { own_worker: super::worker::command(), ..Lanes::given(args.lanes.as_deref())? };
    let compiled = args.compilers.replace(&mut known_lanes)?;
    let library = args.library.lane(&args.op, &known_lanes)?;
    let lanes = match &library {
        _ if !args.lane.is_empty() => once(&args.lane),
        Some(library) => vec![library.name.clone()],
        None => compiled.clone(),
    };
    if !compiled.is_empty() && !lanes.iter().any(|lane| compiled.contains(lane)) {
        bail!(
            "no lane of this run calls the compilers that are named; leave out --lane, or name {}",
            compiled.join(" or ")
        );
    }
    known_lanes.lanes.extend(library);
    for name in &args.allow_not_run {
        if !known_lanes.names().any(|known| known == name) && !Lanes::KNOWN.contains(&name.as_str()) {
            return Err(unknown("lane", name, known_lanes.names().chain(Lanes::KNOWN)).into());
        }
    }
    let q = Some(args.q).filter(|q| *q != USUAL_Q);
    Ok(Request {
        selection: CaseSelection {
            cases: vec![args.case.clone(); args.repeat.into()].concat(),
            layers,
            stages,
            channels,
            types: once(&args.types),
            x: args.x,
            q,
        },
        ops_named: !args.op.is_empty() && args.op != [ALL],
        ops,
        kernels: once(&args.kernel),
        lanes,
        left_out,
        network,
        allow_outside_domain: args.allow_outside_domain,
        fail_fast: args.fail_fast,
        allow_not_run: args.allow_not_run.clone(),
        effort: args.effort,
        reference,
        rounding: args.rounding,
        seed: args.seed,
        command: command(args),
        known_lanes,
    })
}

/// Maximum number of elements in an input or output of a layer's part, for layers that exceed one call.
const PART: usize = 1 << 18;

/// Returns the layer, or its first part if the layer exceeds one call. The network runs all parts.
fn part(layer: Layer) -> Option<Layer> {
    if layer.shape.sizes().is_ok() {
        return Some(layer);
    }
    let fits = |p: &Params| p.sizes().is_ok_and(|sizes| sizes.inputs[0].max(sizes.outputs) <= PART);
    let all = pieces(&layer.shape, fits).or_else(|| pieces(&layer.shape, |p| p.sizes().is_ok()))?;
    let first = all.into_iter().next()?;
    let weights = layer.weights.map(|weights| first.weights(&layer.shape, &weights));
    let output = layer.output.map(|mut output| {
        output.channels.truncate(first.channels.end);
        output.bias.truncate(first.channels.end);
        output
    });
    Some(Layer { shape: first.shape, weights, output })
}

/// Returns the usable layers of a model, with weights and multipliers if the model has them. Also returns the layers that no kernel takes.
fn layers(path: &Path, has_network: bool) -> Result<(Vec<Layer>, Vec<LeftOut>)> {
    let bytes = model::load(path)?;
    let named = || path.display().to_string();
    let layers = model::layers(&bytes).with_context(named)?;
    if layers.is_empty() && !has_network {
        bail!("{}: the model has no convolution and no fully connected layer", path.display());
    }
    let constants = audit::constants(&bytes).with_context(named)?;
    let (mut usable, mut left_out) = (Vec::new(), Vec::new());
    for (layer, constants) in layers.iter().zip(constants) {
        match layer {
            Err(one) => left_out.push(LeftOut { item: format!("layer {}", one.place), reason: one.problem.clone() }),
            Ok(layer) => {
                let (weights, output) = constants.map(|constants| (constants.weights, constants.output)).unzip();
                let reason = "a row of its results is more than one call takes".to_owned();
                let whole = Layer { shape: layer.on_int8(), weights, output };
                match part(whole) {
                    Some(part) => usable.push(part),
                    None => left_out.push(LeftOut { item: format!("layer {}", layer.name), reason }),
                }
            }
        }
    }
    if let (true, [first, ..]) = (usable.is_empty() && !has_network, &left_out[..]) {
        bail!("{}: no kernel takes a layer of the model: {}: {}", path.display(), first.item, first.reason);
    }
    Ok((usable, left_out))
}

/// Returns the names of operations that take a parameter. The first is the default.
fn taking(parameter: Parameter) -> Vec<&'static str> {
    OPERATIONS.iter().filter(|op| op.takes(parameter)).map(|op| op.op()).collect()
}

/// Returns the names of operations that run some of a model's layers.
fn with_layers((layers, stages): (&[Layer], &[Arc<Stage>])) -> Vec<&'static str> {
    let runs = |op: &&Pipeline| {
        layers.iter().any(|layer| op.takes_layer(layer)) || stages.iter().any(|stage| stage.op == op.op())
    };
    OPERATIONS.iter().filter(runs).map(|op| op.op()).collect()
}

/// Returns the names of operations with a single-rounding reference. The first is the default.
fn rounded() -> Vec<&'static str> {
    let rounds = |op: &&Pipeline| op.reference_option() == ReferenceOption::Rounding;
    OPERATIONS.iter().filter(rounds).map(|op| op.op()).collect()
}

/// Name of fixed point multiply, which has options of its own.
const MULTIPLY: &str = <Fpm as tiebreak_impls::operation::Operation>::NAME;

/// Value of `--op` for every operation.
const ALL: &str = "all";

fn ops(args: &Args, given_pairs: bool, layers: (&[Layer], &[Arc<Stage>])) -> Result<Vec<String>> {
    let op = match &args.op[..] {
        [all] if all == ALL => &[],
        named if named.iter().any(|op| op == ALL) => bail!("--op {ALL} selects every operation: give it alone"),
        named => named,
    };
    if let Some(name) = op.iter().find(|op| !OPS.contains(&op.as_str())) {
        bail!("{}; operations are {}", unknown("operation", name, OPS.iter().copied()), OPS.join(", "));
    }
    if !args.case.is_empty() && once(op).len() != 1 {
        bail!("--case belongs to one operation: name the operation with --op");
    }
    let stranger = |known: &[&str]| op.iter().find(|op| !known.contains(&op.as_str()));
    let models = taking(Parameter::Model);
    let of_model = with_layers(layers);
    let unknown_of = |op: &&String| !of_model.contains(&op.as_str());
    if args.model.is_some() && stranger(&models).filter(unknown_of).is_some() {
        bail!("--model applies only to --op {}, and to those of other layers of the model", models.join(" or "));
    }
    if let (Some(op), true) = (stranger(&of_model), args.model.is_some()) {
        bail!(
            "--op {op}: this model has no such layer; a requantization needs constant weights and scales, from which multipliers are \
             derived, and a matrix product needs a layer of one group"
        );
    }
    let scaled = taking(Parameter::Pairs);
    if given_pairs && stranger(&scaled).is_some() {
        bail!("--multiplier, --shift and --params apply only to --op {}", scaled.join(" or "));
    }
    if let (Some(op), true) = (stranger(&[MULTIPLY]), args.x.is_some() || args.q != USUAL_Q) {
        bail!(
            "--x and --q apply only to --op {MULTIPLY}; give {op} accumulators with --case, and multipliers of Q0.31"
        );
    }
    let casts = taking(Parameter::Types);
    if let Some(op) = stranger(&casts).filter(|_| !args.types.is_empty()) {
        bail!("--type applies only to --op {}, not to {op}", casts.join(" or "));
    }
    let rounds = args.rounding.name() != USUAL_ROUNDING;
    if rounds && stranger(&rounded()).is_some() {
        bail!("--rounding applies only to --op {0}", rounded().join(" or "));
    }
    let usual = |names: &[&str]| names.iter().map(|op| (*op).to_owned()).collect();
    Ok(match () {
        () if !op.is_empty() => once(op),
        () if !args.types.is_empty() => usual(&casts),
        () if rounds => usual(&rounded()[..1]),
        () if args.model.is_some() => usual(&of_model),
        () if given_pairs => usual(&scaled[..1]),
        () => usual(&OPS),
    })
}

/// Lanes file of `cargo xtask`, which passes the file in front of the caller's arguments.
const OWN_LANES: &str = "tiebreak/lanes.json";

/// Returns the arguments of this call after the command's name.
pub(super) fn arguments() -> Vec<String> {
    std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned()).collect()
}

/// Returns the caller's lanes file. `None` if the file is the project's own.
pub(super) fn callers_lanes(args: &Args) -> Option<String> {
    args.lanes.as_ref().map(|file| file.display().to_string()).filter(|file| !file.ends_with(OWN_LANES))
}

/// Returns this call without the project's lanes file, and with the drawn seed.
fn command(args: &Args) -> Command {
    let mut arguments = arguments();
    if let Some((at, RANDOM)) = seed_at(&arguments) {
        arguments[at] = arguments[at].replace(RANDOM, &args.seed.to_string());
    }
    if arguments.first().is_some_and(|a| a == "--lanes") && arguments.get(1).is_some_and(|f| f.ends_with(OWN_LANES)) {
        arguments.drain(..2);
    }
    if args.shards.shard.is_some() {
        arguments = shards::without_shard(&arguments);
    }
    let file = callers_lanes(args);
    let lanes = args.library.written().or_else(|| Some(format!("--lanes {}", quoted(&file?))));
    let lanes: Vec<String> = lanes.into_iter().chain(args.compilers.written()).collect();
    let lanes = (!lanes.is_empty()).then(|| lanes.join(" "));
    let reference = (args.reference != "ties-up").then(|| format!("--reference {}", quoted(&args.reference)));
    let rounding = args.rounding.name();
    let rounding = (rounding != USUAL_ROUNDING).then(|| format!("--rounding {}", quoted(rounding)));
    let option = |op: &Pipeline| {
        let option = match op.reference_option() {
            ReferenceOption::Reference => &reference,
            ReferenceOption::Rounding => &rounding,
        };
        Some((op.op().to_owned(), option.clone()?))
    };
    Command { arguments, references: OPERATIONS.iter().filter_map(option).collect(), lanes }
}
