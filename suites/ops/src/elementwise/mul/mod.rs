//! Quantized multiplication in the harness: all pairs of 8-bit operands with each set of parameters, against the exact product.

mod parts;

use super::{Arithmetic, Binades, Definition, Elementwise, Exchange, Schemes};
use parts::Kind;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::mul::{self as impls, Domain, Scales};
use tiebreak_impls::elementwise::{Operand as Placed, Params};
use tiebreak_impls::quantized::Scale;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::mul::{self as oracle, ProductBits, Scheme};

/// The operation.
pub type Mul = Elementwise<Multiplication>;

/// Multiplication of two elements.
pub enum Multiplication {}

impl Arithmetic for Multiplication {
    type Impl = impls::Mul;
    type Oracle = oracle::Multiplication;
    type Domain = Domain;
    type Kind = Kind;
    const NOUN: &'static str = "multiplication";
    const ABOUT: &'static str = "Multiplication of two quantized tensors: one result of a case";
    const SHOWN: &'static str = "tflite-mul-i8";
    const CATALOGUE: &'static str = include_str!("../../../catalogue/mul.txt");
    const SCALES: [[f32; 3]; 12] = [
        // Quotients that are powers of two: many products are ties.
        [0.5, 0.5, 1.0],
        [0.25, 0.125, 0.5],
        // Scales of one magnitude.
        [0.0235, 0.3, 0.31],
        [0.0386, 0.0179, 0.05],
        // Results over the whole range, and results that saturate.
        [0.007, 0.008, 0.0035],
        [0.1, 0.1, 0.01],
        // A quotient that is a half in f32 but exactly just below it, and scales whose product rounds in f32.
        [0.1, 0.1, 0.020_000_001],
        [0.333_333_34, 0.142_857_15, 11.3],
        // Mostly results of 0; the smallest quotient that XNNPACK accepts, and a quotient below it.
        [0.001, 0.002, 0.1],
        [0.003_906_25, 0.003_906_25, 1.0],
        [0.003, 0.003, 1.0],
        // A left shift.
        [3.0, 5.0, 0.7],
    ];
    const AS_SMALL: &'static [usize] = &[0, 2, 1, 2];
    const EXCHANGES: &'static [Exchange] =
        &[(Class::OperandOrder, "each operand has the other's zero point", |[a, b, out]| {
            [Operand { zero_point: b.zero_point, ..a }, Operand { zero_point: a.zero_point, ..b }, out]
        })];
    const SCHEMES: Schemes<Definition<Self>, Kind> =
        Schemes { parts: parts::parts, class: parts::class, next: parts::next };

    fn limits(domain: &Domain) -> (Element, bool) {
        (domain.element, domain.clamp)
    }

    fn open(element: Element) -> Domain {
        Domain { element, scales: Scales::Rescaled, clamp: true }
    }

    fn stated(domain: &Domain) -> oracle::Scales {
        match domain.scales {
            Scales::Rescaled => oracle::Scales::Rescaled,
            Scales::Ratio => oracle::Scales::Ratio,
        }
    }

    fn scales(domain: &Domain) -> &'static str {
        match (domain.scales, domain.element) {
            (Scales::Ratio, _) => "lhs*rhs/out in [2^-16, 2^8)",
            (Scales::Rescaled, Element::I16) => "lhs*rhs/out < 1, zero points 0",
            (Scales::Rescaled, _) => "lhs*rhs/out < 2^14",
        }
    }

    fn own(_: &Params) -> ProductBits {
        oracle::PRODUCT_BITS
    }

    fn changes(scheme: Scheme) -> Vec<Change<Mul>> {
        let wraps = Change::predicts(Class::Wrap16, "the product wraps in 16 bits", move |case: &Case<Params>| {
            let p = Mul::parameters(&case.params);
            Mul::at(&scheme, case, &oracle::Parameters { own: ProductBits(16), ..p })
        });
        Some(wraps).filter(|_| scheme.definition.operand.is_empty()).into_iter().collect()
    }

    const UNIT: [f64; 2] = [1.0, 1.0];

    fn real([lhs, rhs, out]: [f64; 3], [a, b]: [f64; 2]) -> f64 {
        a * b * (lhs * rhs / out)
    }

    /// Returns a right operand whose results are whole numbers; with a factor other than 1, which whole numbers would hide, halves or quarters.
    fn identity([lhs, rhs, _]: [f64; 3], factor: f64) -> [f64; 3] {
        let right = if factor == 1.0 { 1.0 } else { [0.5, 0.25][usize::from(rhs < lhs)] };
        [lhs, right, lhs * factor]
    }

    fn binades(between: Binades<'_>) -> [i32; 3] {
        let (lhs, rhs) = (between(-12, 3), between(-12, 3));
        // A quotient of about 2^-7 makes results of 8-bit products fill the type.
        [lhs, rhs, lhs + rhs + between(2, 11)]
    }

    /// Sets 16-bit zero points to 0, as kernels require, and multiplies the result's scale by 2^8, because 16-bit products are 2^8 times as large.
    fn taken(params: Params) -> Params {
        if params.element == Element::I16 { larger(params, 256.0) } else { params }
    }

    /// Scales the parameters so that results fill the type; 16-bit zero points are 0.
    fn fuzzed(params: Params) -> Params {
        larger(params, if params.element == Element::I16 { 65_536.0 } else { 16.0 })
    }
}

/// Multiplies the result's scale by `times`, and sets 16-bit zero points to 0.
fn larger(params: Params, times: f64) -> Params {
    let placed = |operand: Placed| match params.element {
        Element::I16 => Placed { zero_point: 0, ..operand },
        _ => operand,
    };
    let out = placed(params.out);
    let out = Placed { scale: Scale(out.scale.0 * times), ..out };
    Params { lhs: placed(params.lhs), rhs: placed(params.rhs), out, ..params }
}
