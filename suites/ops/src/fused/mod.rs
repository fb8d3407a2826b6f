//! What operations share that are a product and, in one kernel, what becomes of each sum: contracts with a deviation in the last columns, and causes of both parts as
//! causes of the whole.

pub(crate) mod composed;
pub(crate) mod lifted;
pub(crate) mod wide;

use tiebreak_engine::operation::{Case, Expected, Operation};
use tiebreak_impls::requantize;
use tiebreak_oracle::matmul;
use tiebreak_oracle::requantize::Scheme;

pub(crate) use crate::requantize::Promised;
use wide::Wide;

/// A product with what becomes of its sums.
pub(crate) trait Fused: Operation<Scheme = Promised> {
    /// The operation that gives the sums.
    type Product: Operation<Scheme = matmul::Scheme>;

    /// What the product takes of a domain.
    fn product_domain(domain: &Self::Domain) -> <Self::Product as Operation>::Domain;
    /// The product of a case.
    fn product(case: &Case<Self::Params>) -> Case<<Self::Product as Operation>::Params>;
    /// What a requantization takes of a domain.
    fn requantize_domain(domain: &Self::Domain) -> &requantize::Domain;
    /// The sums of a case: exact modulo 2^32, or in 64 bits if what follows takes them so; `None` if the case has no shape.
    fn sums(case: &Case<Self::Params>) -> Option<Vec<i64>> {
        lifted::wrapped::<Self>(case)
    }
    /// What becomes of so many sums, as a requantization; none if that is something else.
    fn requantize(p: &Self::Params, len: usize) -> Option<requantize::Params>;
    /// What becomes of sums of 64 bits; none if sums are int32.
    fn wide(p: &Self::Params) -> Option<Wide>;
    /// The same case with something else in its place.
    fn with_wide(p: &Self::Params, wide: Wide) -> Self::Params;
    /// What a scheme makes of sums.
    fn finished(scheme: &Scheme, p: &Self::Params, sums: &[i64]) -> Option<Expected>;
}
