//! Shared parts of operations that fuse a product with the processing of each sum in one kernel: contracts with a deviation in the last columns,
//! and changes of both parts as changes of the fused operation.

pub(crate) mod composed;
pub(crate) mod part_changes;
pub(crate) mod wide;

use tiebreak_engine::operation::{Case, Expected, Operation};
use tiebreak_impls::requantize;
use tiebreak_oracle::matmul;
use tiebreak_oracle::requantize::Scheme;

pub(crate) use crate::requantize::Promised;
use wide::Wide;

/// Product, fused with the processing of its sums.
pub(crate) trait Fused: Operation<Scheme = Promised> {
    /// Operation that gives the sums.
    type Product: Operation<Scheme = matmul::Scheme>;

    /// Returns the product's part of a domain.
    fn product_domain(domain: &Self::Domain) -> <Self::Product as Operation>::Domain;
    /// Returns the product of a case.
    fn product(case: &Case<Self::Params>) -> Case<<Self::Product as Operation>::Params>;
    /// Returns the requantization's part of a domain.
    fn requantize_domain(domain: &Self::Domain) -> &requantize::Domain;
    /// Returns the sums of a case: exact modulo 2^32, or in 64 bits if the processing is in 64 bits; `None` if the shape of the case is invalid.
    fn sums(case: &Case<Self::Params>) -> Option<Vec<i64>> {
        part_changes::wrapped::<Self>(case)
    }
    /// Returns the processing of `len` sums as a requantization; `None` if it is not a requantization.
    fn requantize(p: &Self::Params, len: usize) -> Option<requantize::Params>;
    /// Returns the processing of 64-bit sums; `None` if sums are int32.
    fn wide(p: &Self::Params) -> Option<Wide>;
    /// Returns the same case with another processing of 64-bit sums.
    fn with_wide(p: &Self::Params, wide: Wide) -> Self::Params;
    /// Returns the results of a scheme for given sums.
    fn finished(scheme: &Scheme, p: &Self::Params, sums: &[i64]) -> Option<Expected>;
}
