//! `explain`: steps of one input, and reasons for differing results. One file for each operation.

mod case;
mod casts;
mod fpm;
mod own;
mod requantize;
mod show;

use crate::explain::case::Wanted;
use crate::operation::NamedScheme;
use crate::presented::Presented;
use crate::verify::{Visitor, visit_tensors};
use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, Command, FromArgMatches, Subcommand};
use tiebreak_impls::kernel::Kernel;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    op: Op,
}

/// Operation to explain. Every operation of the registry is a subcommand. Operations in `Other` have no options of their own and take a case.
#[derive(Debug)]
enum Op {
    Fpm(fpm::Args),
    Requantize(requantize::Args),
    Quantize(casts::ToStored),
    Dequantize(casts::ToFloat),
    Other(String, case::Args),
}

/// Operations with options of their own.
const OWN: [&str; 4] = ["fpm", "requantize", "quantize", "dequantize"];

/// Subcommands of all operations. Operations with options of their own are first.
struct Commands(Vec<Command>);

impl Visitor for Commands {
    fn visit<O: Presented>(&mut self) {
        let command = Command::new(O::OP);
        let command = match O::OP {
            "fpm" => fpm::Args::augment_args(command),
            "requantize" => requantize::Args::augment_args(command),
            "quantize" => casts::ToStored::augment_args(command),
            "dequantize" => casts::ToFloat::augment_args(command),
            _ => case::Args::augment_args(command),
        };
        // The arguments have their own description.
        self.0.push(command.about(O::ABOUT).long_about(None));
    }
}

impl Subcommand for Op {
    fn augment_subcommands(command: Command) -> Command {
        let mut all = Commands(Vec::new());
        visit_tensors(&mut all);
        let Commands(mut all) = all;
        all.sort_by_key(|command| !OWN.contains(&command.get_name()));
        command.subcommands(all).subcommand_required(true).arg_required_else_help(true)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        crate::verify::OPS.contains(&name)
    }
}

impl FromArgMatches for Op {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, matches) = matches.subcommand().ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        Ok(match name {
            "fpm" => Self::Fpm(fpm::Args::from_arg_matches(matches)?),
            "requantize" => Self::Requantize(requantize::Args::from_arg_matches(matches)?),
            "quantize" => Self::Quantize(casts::ToStored::from_arg_matches(matches)?),
            "dequantize" => Self::Dequantize(casts::ToFloat::from_arg_matches(matches)?),
            other => Self::Other(other.to_owned(), case::Args::from_arg_matches(matches)?),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Explains a case of the operation `op`.
struct ByCase<'a> {
    op: &'a str,
    args: &'a case::Args,
    ended: Result<()>,
}

impl Visitor for ByCase<'_> {
    fn visit<O: Presented>(&mut self) {
        if O::OP == self.op {
            self.ended = case::run::<O>(self.args);
        }
    }
}

/// Returns the request for a case with these schemes and kernels; without a case, its text is empty.
fn wanted<R, D>(case: &Option<String>, schemes: &[impl NamedScheme], kernels: &[&Kernel<R, D>]) -> Wanted {
    Wanted {
        case: case.clone().unwrap_or_default(),
        ty: None,
        schemes: schemes.iter().map(NamedScheme::label).collect(),
        kernels: kernels.iter().map(|kernel| kernel.name.to_owned()).collect(),
    }
}

/// Prints the steps and results for the input.
pub(super) fn run(args: &Args) -> Result<()> {
    match &args.op {
        Op::Fpm(args) => fpm::run(args),
        Op::Requantize(args) => requantize::run(args),
        Op::Quantize(args) => casts::quantize(args),
        Op::Dequantize(args) => casts::dequantize(args),
        Op::Other(op, args) => {
            let mut by_case = ByCase { op, args, ended: Ok(()) };
            visit_tensors(&mut by_case);
            by_case.ended
        }
    }
}
