//! Rescaling in each runtime: derivation of the multiplier, and scheme, for the sums of a layer.

use super::runtimes::RUNTIMES;
use crate::model::operators::{Kind, Products};
use thiserror::Error;
use tiebreak_impls::element::Element;
use tiebreak_oracle::Rational;
use tiebreak_oracle::census::Requantizer;
use tiebreak_oracle::derivation::real::{self, Real};
use tiebreak_oracle::derivation::{Derivation, Scales, floats, quantize_multiplier};
use tiebreak_oracle::fpm::{self, Parameters};
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::rounding::RoundingRule;

/// Scheme of rescaling, in fixed point or in floats.
#[derive(Clone, Copy, Debug)]
pub enum Rescaling {
    /// Q0.31 multiplier and shift.
    Fixed(fpm::Scheme),
    /// Real multiplier, or the scales separately.
    Float(&'static floats::Definition),
    /// Real multiplier, with only the last rounding.
    Real(&'static real::Definition),
}

impl Rescaling {
    /// Parses the name of a scheme: of fixed point multiply, NAME or NAME:POLICY, or in floats.
    pub fn parse(text: &str) -> Result<Self, UnknownName> {
        if let Some(definition) = floats::DEFINITIONS.iter().find(|d| d.name == text) {
            return Ok(Self::Float(definition));
        }
        if let Some(definition) = real::DEFINITIONS.iter().find(|d| d.name == text) {
            return Ok(Self::Real(definition));
        }
        let names = || {
            let fixed = fpm::scheme::DEFINITIONS.iter().map(|d| d.name);
            fixed.chain(floats::DEFINITIONS.iter().map(|d| d.name)).chain(real::DEFINITIONS.iter().map(|d| d.name))
        };
        fpm::Scheme::parse(text).map(Self::Fixed).map_err(|error| match error.kind {
            "scheme" => unknown("scheme", &error.name, names()),
            _ => error,
        })
    }

    /// Returns the name, with the overflow policy if there is one.
    pub fn label(&self) -> String {
        match self {
            Self::Fixed(scheme) => scheme.label(),
            Self::Float(definition) => definition.name.to_owned(),
            Self::Real(definition) => definition.name.to_owned(),
        }
    }

    /// Returns the requantization at a Q0.31 multiplier and a shift. A scheme in floats uses the real multiplier, rounded to its format. `None` if
    /// the scheme uses the scales of a layer separately.
    pub fn at(&self, multiplier: i32, shift: i32) -> Option<Requantizer> {
        match self {
            Self::Fixed(scheme) => Some(Requantizer::Fixed(*scheme, Parameters::q31(multiplier, shift))),
            Self::Float(definition) => {
                definition.of_multiplier(&(Rational::from(multiplier) << (shift - 31))).map(Requantizer::Float)
            }
            Self::Real(definition) => {
                let multiplier = Rational::from(multiplier) << (shift - 31);
                Some(Requantizer::Real(Real::new(definition, multiplier)))
            }
        }
    }

    /// Returns the schemes of addition and of multiplication that rescale in this way.
    fn elementwise(&self) -> Elementwise {
        let name = match self {
            Self::Fixed(scheme) => scheme.definition.name,
            Self::Float(_) => return Elementwise { add: None, mul: None },
            Self::Real(definition) => match definition.rule {
                RoundingRule::TiesAway => return Elementwise { add: Some("nearest-away"), mul: Some("nearest-away") },
                _ => return Elementwise { add: Some("nearest-even"), mul: Some("nearest-even") },
            },
        };
        let both = |name| Elementwise { add: Some(name), mul: Some(name) };
        match name {
            "gemmlowp-double" => both("tflite"),
            "tflite-single" => both("tflite-single"),
            "cmsis-nn-double" => both("cmsis-nn"),
            "cmsis-nn-single" => both("cmsis-nn-single"),
            "tosa-apply-scale-32-double" => both("tosa-double"),
            "tosa-apply-scale-32-single" => both("tosa-single"),
            "tflite-int16-multiplier" => both("tflite-int16-multiplier"),
            _ => Elementwise { add: None, mul: None },
        }
    }
}

/// Names of the schemes for operations on two tensors; `None` if not defined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elementwise {
    pub(super) add: Option<&'static str>,
    pub(super) mul: Option<&'static str>,
}

/// Name of a derivation, and name of a scheme.
pub(super) type Names = (&'static str, &'static str);

/// Properties of sums of products by which a runtime chooses its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Operator of the layer.
    pub kind: Kind,
    /// True if each channel has its own scale.
    pub per_channel: bool,
    /// True if activations and weights are unsigned bytes.
    pub bytes: bool,
    /// True if the channel is after the last whole vector of [`VECTOR`] channels.
    pub is_behind: bool,
}

/// Channels in a vector of LiteRT's optimized depthwise kernels. Channels after the last whole vector use other code.
const VECTOR: usize = 8;

impl Sums {
    /// Returns the properties of a channel of a layer.
    pub fn of(products: &Products<'_>, channel: usize) -> Self {
        let bytes = [products.input.element, products.weights.element] == [Element::U8; 2];
        let is_behind = channel >= products.weights.channels / VECTOR * VECTOR;
        Self { kind: products.kind, per_channel: products.per_channel(), bytes, is_behind }
    }
}

/// Runtime, or one set of its kernels.
#[derive(Clone, Copy, Debug)]
pub struct Runtime {
    /// Name used everywhere.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Measured version, or a statement that none was measured.
    pub version: &'static str,
    /// Repositories and files of the source.
    pub source: &'static str,
    /// Rescaling of convolutions and matrix products; `None` if undefined.
    pub(super) products: fn(Sums) -> Option<Names>,
    /// Rescaling by operators that only rescale, by the types of both tensors; `None` if undefined.
    pub(super) rescale: fn((Element, Element)) -> Option<Names>,
    /// Schemes for int8 tensors, and for tensors of unsigned bytes.
    pub(super) elementwise: [Elementwise; 2],
}

/// Side of a comparison: a runtime, or one scheme with one derivation for all operators.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// Runtime with its own way for each operator.
    Runtime(&'static Runtime),
    /// Scheme and derivation for every operator.
    Scheme(Rescaling, &'static Derivation),
}

/// Rescaling of a layer by one side.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Derivation of the multiplier.
    pub derivation: &'static Derivation,
    /// Scheme of the rescaling.
    pub rescaling: Rescaling,
}

impl Way {
    /// Returns the derivation and the scheme, as in `f64 gemmlowp-double:wrap`.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.derivation.name, self.rescaling.label())
    }
}

/// Error of a channel that has no requantization.
#[derive(Debug, Error)]
pub enum NoMultiplier {
    /// The quotient of the scales is too large.
    #[error("its multiplier is 2^31 or more")]
    TooLarge,
    /// A scheme in floats has no factors for the scales.
    #[error("{0} has no factor for these scales")]
    NoFactor(&'static str),
}

impl Runtime {
    /// Returns the runtime of this name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownName> {
        let found = RUNTIMES.iter().find(|runtime| runtime.name == name);
        found.ok_or_else(|| unknown("runtime", name, RUNTIMES.iter().map(|r| r.name)))
    }
}

impl Side {
    /// Returns the name of the side.
    pub fn label(&self) -> String {
        match self {
            Self::Runtime(runtime) => runtime.name.to_owned(),
            Self::Scheme(rescaling, _) => rescaling.label(),
        }
    }

    /// Returns a description in one line.
    pub fn summary(&self) -> String {
        match self {
            Self::Runtime(runtime) => runtime.summary.to_owned(),
            Self::Scheme(rescaling, derivation) => {
                format!("every layer by {}, multipliers derived by {}", rescaling.label(), derivation.name)
            }
        }
    }

    /// Returns the measured version, or a statement that none was measured; `None` for a scheme.
    pub fn version(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(runtime) => Some(runtime.version),
            Self::Scheme(..) => None,
        }
    }

    /// Returns the rescaling of sums of products; `None` if undefined.
    pub fn products(&self, sums: Sums) -> Option<Way> {
        match self {
            Self::Runtime(runtime) => (runtime.products)(sums).map(way),
            Self::Scheme(rescaling, derivation) => Some(Way { derivation, rescaling: *rescaling }),
        }
    }

    /// Returns the rescaling of operators that only rescale, from one type to another; `None` if undefined.
    pub fn rescale(&self, input: Element, output: Element) -> Option<Way> {
        match self {
            Self::Runtime(runtime) => (runtime.rescale)((input, output)).map(way),
            Self::Scheme(rescaling, derivation) => Some(Way { derivation, rescaling: *rescaling }),
        }
    }

    /// Returns the name of the scheme that adds tensors of a type.
    pub fn add(&self, element: Element) -> Option<&'static str> {
        self.elementwise(element).add
    }

    /// Returns the name of the scheme that multiplies tensors of a type.
    pub fn mul(&self, element: Element) -> Option<&'static str> {
        self.elementwise(element).mul
    }

    fn elementwise(&self, element: Element) -> Elementwise {
        match self {
            Self::Runtime(runtime) => runtime.elementwise[usize::from(element == Element::U8)],
            Self::Scheme(rescaling, _) => rescaling.elementwise(),
        }
    }
}

fn way((derivation, scheme): Names) -> Way {
    let derivation = Derivation::find(derivation).expect("the table names derivations that are there");
    let rescaling = Rescaling::parse(scheme).expect("the table names schemes that are there");
    Way { derivation, rescaling }
}

impl Way {
    /// Returns the requantization of a channel, with its Q0.31 multiplier and shift: `None` for a scheme that uses the scales separately, or whose
    /// multiplier has more than 31 bits.
    pub fn of(&self, scales: &Scales) -> Result<(Requantizer, Option<(i32, i32)>), NoMultiplier> {
        let real = (self.derivation.real)(scales);
        let multiplier = quantize_multiplier(&real).ok_or(NoMultiplier::TooLarge);
        match self.rescaling {
            Rescaling::Real(definition) => Ok((Requantizer::Real(Real::new(definition, real)), None)),
            Rescaling::Fixed(scheme) => {
                let (m, s) = multiplier?;
                Ok((Requantizer::Fixed(scheme, Parameters::q31(m, s)), Some((m, s))))
            }
            Rescaling::Float(definition) => {
                let of_real = definition.of_multiplier(&real);
                let same = |(m, s): &(i32, i32)| {
                    of_real.as_ref().is_some_and(|scheme| *scheme.factor() == Rational::from(*m) << (s - 31))
                };
                let multiplier = multiplier.ok().filter(same);
                let scheme = of_real.or_else(|| definition.of_scales(scales));
                scheme.map(|s| (Requantizer::Float(s), multiplier)).ok_or(NoMultiplier::NoFactor(definition.name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_oracle::scheme::Scheme;

    /// Every name in the table exists.
    #[test]
    fn what_the_table_names_is_there() {
        let (elements, kinds) = ([Element::I8, Element::U8], [Kind::Convolution, Kind::Dense, Kind::Depthwise]);
        for runtime in RUNTIMES {
            let side = Side::Runtime(Runtime::find(runtime.name).expect("by its own name"));
            for (kind, per_channel, bytes) in kinds.iter().flat_map(|k| {
                [(false, false), (true, false), (false, true)].map(|(per_channel, bytes)| (*k, per_channel, bytes))
            }) {
                for is_behind in [false, true] {
                    side.products(Sums { kind, per_channel, bytes, is_behind });
                }
            }
            for (input, output) in elements.iter().flat_map(|i| elements.map(|o| (*i, o))) {
                side.rescale(input, output);
            }
            for element in elements {
                if let Some(name) = side.add(element) {
                    Scheme::<&'static tiebreak_oracle::elementwise::add::Definition>::parse(name)
                        .expect("a scheme of addition");
                }
                if let Some(name) = side.mul(element) {
                    Scheme::<&'static tiebreak_oracle::elementwise::mul::Definition>::parse(name)
                        .expect("a scheme of multiplication");
                }
            }
        }
        for scheme in fpm::Scheme::every() {
            let Elementwise { add, mul } = Rescaling::Fixed(scheme).elementwise();
            add.map(|name| {
                Scheme::<&'static tiebreak_oracle::elementwise::add::Definition>::parse(name).expect("a scheme")
            });
            mul.map(|name| {
                Scheme::<&'static tiebreak_oracle::elementwise::mul::Definition>::parse(name).expect("a scheme")
            });
        }
        assert_eq!(Runtime::find("xnpack").expect_err("unknown").nearest.as_deref(), Some("xnnpack"));
        assert_eq!(Rescaling::parse("f32-prodct").expect_err("unknown").nearest.as_deref(), Some("f32-product"));
    }
}
