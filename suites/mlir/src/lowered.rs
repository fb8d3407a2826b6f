//! Modules in LLVM IR. Each is lowered once for all levels and lanes of a run that have the same tools.

use super::compile::lower;
use super::toolchain::Toolchain;
use super::tools::Identity;
use anyhow::Result;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Lowered modules, by tools and text.
#[derive(Debug, Default)]
pub(super) struct Lowered(Mutex<HashMap<String, Arc<String>>>);

impl Lowered {
    /// Returns a module in LLVM IR. If the tools are not identified completely, the module is lowered again.
    pub(super) fn of(&self, toolchain: &Toolchain, identity: &Identity, text: &str) -> Result<Arc<String>> {
        let key = format!("{}{}\n{text}", identity.front(), toolchain.version);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lowered) = known().get(&key).filter(|_| identity.whole) {
            return Ok(Arc::clone(lowered));
        }
        let lowered = Arc::new(lower(toolchain, text)?);
        known().insert(key, Arc::clone(&lowered));
        Ok(lowered)
    }
}
