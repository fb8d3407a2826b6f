//! Kernels of a caller, which have a name, a contract and a domain, but no code in this process. A run adds one for each kernel that a worker or a
//! lanes file offers. They are kept until the process ends, because the engine takes `'static` kernels, like those in the lists of this crate.

use crate::operation::Code;
use serde::{Deserialize, Deserializer};
use std::any::Any;
use std::sync::{PoisonError, RwLock};

struct Entry {
    op: &'static str,
    kernel: &'static (dyn Any + Send + Sync),
}

static KERNELS: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// Registers the kernel under its name, in place of an earlier kernel with that name.
pub fn add<K: Code + Send>(op: &'static str, kernel: K) -> &'static K {
    let kernel: &'static K = Box::leak(Box::new(kernel));
    KERNELS.write().unwrap_or_else(PoisonError::into_inner).push(Entry { op, kernel });
    kernel
}

/// Returns the latest kernel of this name.
pub fn find<K: Code>(op: &str, name: &str) -> Option<&'static K> {
    let kernels = KERNELS.read().unwrap_or_else(PoisonError::into_inner);
    let of_op = kernels.iter().rev().filter(|entry| entry.op == op);
    of_op.filter_map(|entry| entry.kernel.downcast_ref::<K>()).find(|kernel| kernel.name() == name)
}

/// Deserializes a list of a domain as a `'static` slice, the form in which contracts hold lists.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<&'static [T], D::Error> {
    Ok(Vec::deserialize(from)?.leak())
}
