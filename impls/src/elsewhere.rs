//! Kernels of somebody else's: under names of their own, with a contract and a domain of their operation, and without code in this process. A run makes
//! one of each offer that a worker or a lanes file makes of its own kernels; they are kept as long as the process lives, because the engine takes kernels
//! as they come from the lists of this crate.

use crate::operation::Code;
use serde::{Deserialize, Deserializer};
use std::any::Any;
use std::sync::{PoisonError, RwLock};

struct Entry {
    op: &'static str,
    kernel: &'static (dyn Any + Send + Sync),
}

static KERNELS: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// From now on the kernel of its name.
pub fn add<K: Code + Send>(op: &'static str, kernel: K) -> &'static K {
    let kernel: &'static K = Box::leak(Box::new(kernel));
    KERNELS.write().unwrap_or_else(PoisonError::into_inner).push(Entry { op, kernel });
    kernel
}

/// The latest kernel of that name.
pub fn find<K: Code>(op: &str, name: &str) -> Option<&'static K> {
    let kernels = KERNELS.read().unwrap_or_else(PoisonError::into_inner);
    let of_op = kernels.iter().rev().filter(|entry| entry.op == op);
    of_op.filter_map(|entry| entry.kernel.downcast_ref::<K>()).find(|kernel| kernel.name() == name)
}

/// A list of a domain, as contracts hold theirs.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<&'static [T], D::Error> {
    Ok(Vec::deserialize(from)?.leak())
}
