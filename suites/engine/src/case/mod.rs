//! Cases: made from specs, read and written as text, kept in catalogues.

pub mod again;
pub mod catalogue;
pub mod text;
pub mod whole;

use crate::erased::{Domain, Params};
use crate::operation::case::{Case, Later, Spec};

impl Spec<Params> {
    /// Makes the tensors: lengths follow from the shape, and random elements come from a separate stream for each tensor.
    pub fn case(&self, domain: &Domain, seed: u64) -> Option<Case<Params>> {
        if let Some(Later { of, at }) = &self.later {
            return Self { place: self.place, ..of.spec(&self.params, *at) }.case(domain, seed);
        }
        let sizes = domain.sizes(&self.params).ok()?;
        let tensor = |t: usize| {
            if sizes.inputs[t] == 0 {
                return Vec::new();
            }
            let purpose = whole::purpose(domain.op().name(), self.place, domain.op().tensors().get(t).unwrap_or(&""));
            self.fills[t].make(sizes.inputs[t], &domain.range(t), seed, &purpose)
        };
        Some(Case {
            params: self.params.clone(),
            tensors: [tensor(0), tensor(1), tensor(2)].into(),
            misalign: self.misalign,
        })
    }

    /// Returns, for each tensor, the text from which the tensor can be made again; `None` if the fill has no text.
    pub fn made(&self, seed: u64) -> [Option<String>; 3] {
        [0, 1, 2].map(|t| whole::made(&self.fills[t], seed, self.place))
    }
}
