//! Operations and kernels of a run.

use crate::adopted::Adopted;
use crate::operation::request::Request;
use crate::pipeline::Pipeline;
use crate::registry::Registry;
use anyhow::Result;
use tiebreak_oracle::names::unknown;

/// Operations to run, each with the named kernels; no names if all kernels run.
pub(crate) type Selected = Vec<(&'static Pipeline, Vec<String>)>;

/// Selects the operations and kernels that a request names, including the lanes' own kernels.
pub(crate) fn select(request: &Request, registry: &Registry, adopted: &Adopted) -> Result<Selected> {
    let own = |op: &str, name: &String| adopted.iter().any(|(of, kernel)| of == op && kernel == name);
    let operations = registry.operations;
    let asked = operations.iter().filter(|op| request.ops.iter().any(|name| name == op.op()));
    let all = request.kernels.is_empty();
    let named = |op: &'static Pipeline| {
        let names = op.names();
        let of = request.kernels.iter().filter(|name| names.contains(&name.as_str()) || own(op.op(), name));
        (op, of.cloned().collect::<Vec<String>>())
    };
    let selected: Selected = asked.map(named).filter(|(_, names)| all || !names.is_empty()).collect();
    let missing = |name: &&String| !selected.iter().any(|(_, names)| names.contains(name));
    if let Some(name) = request.kernels.iter().find(missing) {
        if let Some(op) = operations.iter().find(|op| op.names().contains(&name.as_str()) || own(op.op(), name)) {
            anyhow::bail!("{name} is a kernel of {op}: run it with --op {op}", op = op.op());
        }
        let names = registry.kernel_names(&request.ops).into_iter();
        return Err(unknown("kernel", name, names.chain(adopted.iter().map(|(_, kernel)| kernel.as_str()))).into());
    }
    let idle = |op: &&String| !selected.iter().any(|(known, _)| known.op() == op.as_str());
    if let Some(op) = request.ops.iter().filter(|_| request.ops_named).find(idle) {
        anyhow::bail!("none of the kernels named is one of {op}: name one, or leave --op {op} out");
    }
    Ok(selected)
}
