//! `bounds`: kernels at their bound, and beyond it.

use super::{Format, style};
use crate::bounds::{self, bounds};
use crate::lane::Lane;
use crate::lane::config::{HOST, Lanes};
use crate::verify::Command;
use anyhow::{Result, bail};
use std::path::PathBuf;
use tiebreak_reports::{table, text};

/// Arguments of `bounds`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Kernel, by name [default: all that have bounds]
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// Lane in which kernels run at their bounds
    #[arg(long, value_name = "NAME", default_value = HOST)]
    lane: String,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Lanes file, instead of the lanes that `cargo xtask` builds
    #[arg(long, value_name = "FILE.json", overrides_with = "lanes")]
    lanes: Option<PathBuf>,
}

/// Runs `bounds`. Returns true if every kernel is right at its bound and wrong past it.
pub(super) fn run(args: &Args) -> Result<bool> {
    let lanes = Lanes::given(args.lanes.as_deref())?;
    let lane = match Lane::open(&args.lane, &lanes)? {
        Ok(lane) => lane,
        Err(reason) => bail!("lane {}: not run: {reason}", args.lane),
    };
    let (missing, must_offer) = (not_offered(&args.kernel, &lane)?, lane.must_offer());
    let all = bounds(&args.kernel, &[lane], &Command::default())?;
    args.format.print(|| table::render_bounds(&all, style()), || &all)?;
    if !missing.is_empty() {
        let number = text::plural(missing.len(), "kernel");
        eprintln!("not shown: lane {} does not offer {number} with bounds: {}", args.lane, missing.join(", "));
    }
    Ok(all.iter().all(|bound| bound.shown) && (missing.is_empty() || !must_offer))
}

/// Returns the kernels with bounds that the lane does not offer. Fails if the lane offers none of them, or if the caller named a missing kernel.
fn not_offered(names: &[String], lane: &Lane) -> Result<Vec<&'static str>> {
    // Unknown names are refused later, when the bounds are shown.
    let (missing, offered) = bounds::not_offered(names, lane);
    match &missing[..] {
        [] => Ok(missing),
        [first, ..] if !names.is_empty() => {
            bail!("lane {} does not offer {first}; name a lane that does", lane.name)
        }
        _ if offered.is_empty() => {
            let all = missing.join(", ");
            bail!("lane {} offers no kernel with bounds; kernels with bounds are {all}", lane.name)
        }
        _ => Ok(missing),
    }
}
