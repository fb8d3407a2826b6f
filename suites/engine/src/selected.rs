//! Operations and kernels of a run.

use crate::lane::Lane;
use crate::operation::request::Request;
use crate::registry::{Registry, Verifies};
use anyhow::Result;
use tiebreak_oracle::names::unknown;

/// Operations to run, each with the kernels named; none where all are meant.
pub(crate) type Selected = Vec<(&'static dyn Verifies, Vec<String>)>;

/// Kernels that lanes offer under names of their own, each with its operation.
pub(crate) type Own = Vec<(&'static str, &'static str)>;

/// Those of the operations of a request.
pub(crate) fn own(request: &Request, registry: &Registry, lanes: &[Lane]) -> Result<Own> {
    let asked = registry.operations.iter().filter(|op| request.ops.iter().any(|name| name == op.op()));
    let each = asked.map(|op| Ok(op.own_names(lanes)?.into_iter().map(|name| (op.op(), name)).collect::<Own>()));
    Ok(each.collect::<Result<Vec<_>>>()?.concat())
}

/// Operations and kernels of a request. Before lanes are open, nothing is known of kernels of their own (`None`): a name that the project does not have may
/// be one of these.
pub(crate) fn select(request: &Request, registry: &Registry, own: Option<&Own>) -> Result<Selected> {
    let operations = registry.operations;
    let is_own = |op: &str, name: &str| own.is_some_and(|own| own.contains(&(op, name)));
    let asked = operations.iter().copied().filter(|op| request.ops.iter().any(|name| name == op.op()));
    let all = request.kernels.is_empty();
    let named = |op: &'static dyn Verifies| {
        let names = op.names();
        let of = request.kernels.iter().filter(|name| names.contains(&name.as_str()) || is_own(op.op(), name));
        (op, of.cloned().collect::<Vec<String>>())
    };
    let selected: Selected = asked.map(named).filter(|(_, names)| all || !names.is_empty()).collect();
    let missing = |name: &&String| !selected.iter().any(|(_, names)| names.contains(name));
    if let Some(name) = request.kernels.iter().find(missing) {
        if let Some(op) = operations.iter().find(|op| op.names().contains(&name.as_str())) {
            anyhow::bail!("{name} is a kernel of {op}: run it with --op {op}", op = op.op());
        }
        if own.is_none() && request.known_lanes.has_callers() {
            return Ok(selected);
        }
        let own = own.into_iter().flatten().map(|(_, name)| *name);
        return Err(unknown("kernel", name, registry.kernel_names(&request.ops).into_iter().chain(own)).into());
    }
    let idle = |op: &&String| !selected.iter().any(|(known, _)| known.op() == op.as_str());
    if let Some(op) = request.ops.iter().filter(|_| request.ops_named).find(idle) {
        anyhow::bail!("none of the kernels named is one of {op}: name one, or leave --op {op} out");
    }
    Ok(selected)
}
