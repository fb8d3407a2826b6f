//! The ledger of a run and everything drawn from it. Knows nothing of the oracle or of any kernel.

pub mod ledger;
