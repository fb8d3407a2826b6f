//! Modules for the lanes of compiled modules in a run.
//!
//! A lane is not sent casts that its modules lack. The harness knows which casts it compiled; a refusal costs a new worker, and shrinking proposes
//! many types without a compiled module. Cases of a plan are sent all the same, and a refusal of them is a finding.

use super::config::Lanes;
use anyhow::{Context, Result};
use tiebreak_mlir::{MODULE, Plan};

/// Compiles the modules of `plan` for the lanes in `names`, and adds them to the commands of the lanes.
pub fn provide(lanes: &Lanes, names: &[String], plan: &Plan, done: impl Fn() + Sync) -> Result<Lanes> {
    let mut lanes = lanes.clone();
    for entry in lanes.lanes.iter_mut().filter(|entry| names.contains(&entry.name)) {
        if let (Some(toolchain), Some(command)) = (&entry.modules, &mut entry.command) {
            let (objects, files) = plan
                .compile(toolchain, &done)
                .with_context(|| format!("compiling the modules of lane {}", entry.name))?;
            let arguments = objects.iter().map(|object| object.to_string_lossy().into_owned());
            command.extend(arguments.flat_map(|object| [MODULE.to_owned(), object]));
            entry.made_by = files;
            entry.compiled = Some(plan.symbols().clone());
        }
    }
    Ok(lanes)
}
