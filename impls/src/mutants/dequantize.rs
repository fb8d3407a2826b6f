//! Mutants of dequantization.

use super::tensor::Mutant;
use crate::dequantize::Run;
use crate::quantize::Domain;

pub(super) static MUTANTS: &[Mutant<Run, Domain>] = &[];
