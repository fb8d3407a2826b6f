//! Kernels in another process: the protocol of jobs, and the worker that answers it.
//!
//! Kernels are those of [`tiebreak_impls`], of a caller's shared library, or of compiled modules. This crate is compiled apart from the kernels, so
//! that an edited kernel does not compile it again.

pub mod execute;
#[cfg(unix)]
pub mod library;
#[cfg(all(unix, target_pointer_width = "64"))]
pub mod modules;
pub mod protocol;
pub mod serve;

/// SHA-256 of the sources of this crate; `None` in a copy of the crate without its build script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");
