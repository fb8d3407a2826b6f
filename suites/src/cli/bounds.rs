//! `bounds`.

use super::{Format, print, style};
use crate::bounds::bounds;
use crate::lane::Lane;
use crate::lane::config::{HOST, Lanes};
use crate::verify::Command;
use anyhow::{Result, bail};
use std::path::PathBuf;
use tiebreak_reports::table;

/// Arguments of `bounds`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Kernel, by name [default: all that have bounds]
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// Lane in which the bounds are shown
    #[arg(long, value_name = "NAME", default_value = HOST)]
    lane: String,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The lanes there are, in place of those that `cargo xtask` builds
    #[arg(long, value_name = "FILE.json", overrides_with = "lanes")]
    lanes: Option<PathBuf>,
}

/// True where every bound is right at its value and wrong past it.
pub(super) fn run(args: &Args) -> Result<bool> {
    let lanes = match &args.lanes {
        Some(path) => Lanes::read(path)?,
        None => Lanes::default(),
    };
    let lane = match Lane::open(&args.lane, &lanes)? {
        Ok(lane) => lane,
        Err(reason) => bail!("lane {}: not run: {reason}", args.lane),
    };
    let all = bounds(&args.kernel, &[lane], &Command::default())?;
    print(&match args.format {
        Format::Table => table::render_bounds(&all, style()),
        Format::Json => serde_json::to_string_pretty(&all)? + "\n",
    })?;
    Ok(all.iter().all(|bound| bound.shown))
}
