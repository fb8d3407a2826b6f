//! Mutants of quantization.

use super::tensor::Mutant;
use crate::quantize::{Domain, Run};

pub(super) static MUTANTS: &[Mutant<Run, Domain>] = &[];
