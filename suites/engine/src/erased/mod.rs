//! Operations without their types, so that the stages of a run are compiled once and not once for each operation.
//!
//! An operation is written with types of its own ([`Operation`]). A run handles its parameters, domains and schemes as [`Params`], [`Domain`] and
//! [`Scheme`], each of which knows its operation. [`AnyOperation`] has the operation's functions on these values; each of them calls the function with
//! the operation's types. Changes, controls and [`Capabilities`] have one definition for both, by [`Types`].
//!
//! [`Operation`]: crate::operation::Operation
//! [`Capabilities`]: crate::operation::Capabilities
//! [`Types`]: crate::operation::Types

mod capabilities;
mod functions;
mod kernels;
mod methods;
mod operation;
mod typed;
mod values;

pub use operation::{AnyCase, AnyOperation, Change, Control, Erased, Op, PathStep};
pub use typed::op;
pub use values::{Domain, Kernel, Lists, Mutant, Params, Scheme};
