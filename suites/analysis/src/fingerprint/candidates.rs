//! Candidates: every derivation of a multiplier with every scheme that takes a multiplier, in fixed point and in floats.

use super::observations::{Observations, Parameters, Setting};
use super::search::MOST_SETTINGS;
use rug::Rational;
use tiebreak_oracle::derivation::dyadic::Dyadic;
use tiebreak_oracle::derivation::floats::{self, DEFINITIONS};
use tiebreak_oracle::derivation::{DERIVATIONS, Derivation, Scales, quantize_multiplier};
use tiebreak_oracle::fpm;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::requantize::{Definition, Scheme};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::scheme::Registered;
use tiebreak_oracle::word::Overflow;

/// Kind of candidates, which a verdict names together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Q0.31 multiplier, with roundings to nearest.
    FixedPoint,
    /// Q0.31 multiplier, with one directed rounding.
    Directed,
    /// Multiplication in floats.
    Float,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 3] = [Self::FixedPoint, Self::Directed, Self::Float];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::FixedPoint => "fixed-point",
            Self::Directed => "fixed-point-directed",
            Self::Float => "float",
        }
    }

    /// Returns the description in a verdict.
    pub fn text(self) -> &'static str {
        match self {
            Self::FixedPoint => "fixed-point scheme that rounds to nearest",
            Self::Directed => "fixed-point scheme that rounds in one direction",
            Self::Float => "float scheme",
        }
    }
}

/// Function of a candidate at the parameters of one setting.
#[derive(Clone, Debug)]
pub enum Function {
    /// Scheme with multiplier and shift.
    Fixed(Scheme, (i32, i32)),
    /// Float scheme.
    Float(floats::Scheme),
    /// The candidate does not accept the parameters.
    Nothing,
}

/// Key of a function: equal keys mean equal functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Scheme, overflow policy, multiplier and shift.
    Fixed(&'static str, Overflow, (i32, i32)),
    /// Scheme and factors.
    Float((&'static str, Dyadic, Option<Dyadic>)),
    /// Function without any output.
    Nothing,
}

impl Function {
    /// Returns the output; `None` if there is no output.
    #[inline]
    pub fn at(&self, x: i32, output: &Output) -> Option<i32> {
        match self {
            Self::Fixed(scheme, channel) => scheme.output(*channel, output, x),
            Self::Float(scheme) => Some(scheme.fast(x, output)),
            Self::Nothing => None,
        }
    }

    /// Returns the key.
    pub fn key(&self, output: &Output) -> Key {
        match self {
            Self::Fixed(scheme, channel) => Key::Fixed(scheme.definition.name(), scheme.overflow, *channel),
            Self::Float(scheme) => Key::Float(scheme.key(output)),
            Self::Nothing => Key::Nothing,
        }
    }
}

/// Derivation with a scheme.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Name of the scheme, with its overflow policy if it has one.
    pub scheme: String,
    /// Name of the derivation; `None` if multipliers are given, or if the scheme uses the scales separately.
    pub derivation: Option<&'static str>,
    /// Family of the candidate.
    pub family: Family,
    /// Functions at the first settings of the observations, which form the groups. There may be millions of settings.
    pub functions: Vec<Function>,
    recipe: Recipe,
}

/// Rule by which a candidate becomes a function of the accumulator.
#[derive(Clone, Copy, Debug)]
enum Recipe {
    Fixed(Scheme),
    Float(&'static floats::Definition),
    /// Scheme that uses the scales separately.
    Apart(&'static floats::Definition),
}

impl Candidate {
    /// Returns the output at one of the first settings.
    pub fn at(&self, observations: &Observations, setting: usize, x: i32) -> Option<i32> {
        self.functions[setting].at(x, &observations.settings[setting].output)
    }
}

/// Returns every candidate for the observations. If all multipliers are given, no derivation is tried.
pub fn all(observations: &Observations) -> Vec<Candidate> {
    let settings = &observations.settings;
    let given = |setting: &Setting| matches!(setting.parameters, Parameters::Multiplier { .. });
    let (some_given, all_given) = (settings.iter().any(given), settings.iter().all(given));
    let derivations: Vec<Option<&'static Derivation>> =
        if all_given { vec![None] } else { DERIVATIONS.iter().map(Some).collect() };
    let mut out = Vec::new();
    let mut push = |scheme: String, derivation: Option<&'static Derivation>, family, recipe| {
        let derivation = derivation.map(|d| d.name);
        out.push(Candidate { scheme, derivation, family, functions: Vec::new(), recipe });
    };
    for derivation in derivations {
        for scheme in fixed(some_given) {
            push(scheme.label(), derivation, family(&scheme), Recipe::Fixed(scheme));
        }
        for definition in DEFINITIONS.iter().filter(|d| d.steps == floats::Steps::Multiplier) {
            push(definition.name.to_owned(), derivation, Family::Float, Recipe::Float(definition));
        }
    }
    for definition in DEFINITIONS.iter().filter(|d| d.steps != floats::Steps::Multiplier && !some_given) {
        push(definition.name.to_owned(), None, Family::Float, Recipe::Apart(definition));
    }
    for setting in settings.iter().take(MOST_SETTINGS) {
        let functions = functions(&out, setting);
        out.iter_mut().zip(functions).for_each(|(candidate, function)| candidate.functions.push(function));
    }
    out
}

/// Returns the function of each candidate at one setting.
pub fn functions(candidates: &[Candidate], setting: &Setting) -> Vec<Function> {
    let mut derived: Vec<(Option<&'static str>, Derived)> = Vec::new();
    let mut of = |candidate: &Candidate| {
        let known = derived.iter().position(|(name, _)| *name == candidate.derivation).unwrap_or_else(|| {
            let derivation = DERIVATIONS.iter().find(|d| Some(d.name) == candidate.derivation);
            derived.push((candidate.derivation, Derived::of(setting, derivation)));
            derived.len() - 1
        });
        let derived = &derived[known].1;
        match (candidate.recipe, &setting.parameters) {
            (Recipe::Fixed(scheme), _) => derived.fixed(scheme),
            (Recipe::Float(definition), _) => derived.float(definition),
            (Recipe::Apart(definition), Parameters::Scales { scales, .. }) => function(definition.of_scales(scales)),
            (Recipe::Apart(_), Parameters::Multiplier { .. }) => Function::Nothing,
        }
    };
    candidates.iter().map(&mut of).collect()
}

/// Returns the schemes with both overflow policies that always give an output. Legacy schemes take an integer multiplier, which no derivation gives.
fn fixed(given: bool) -> impl Iterator<Item = Scheme> {
    // Only schemes of `fpm`. Other schemes of `requantize` have the formulas of the float schemes, or cast a product to int32.
    let multiplies = |fpm: &fpm::Definition| fpm::scheme::DEFINITIONS.iter().any(|other| other.name == fpm.name);
    let taken = move |definition: &Definition| match definition {
        Definition::Fpm(fpm) => multiplies(fpm),
        Definition::Legacy | Definition::LegacyTiesAway => given,
    };
    let both = |definition| [Overflow::Wrap, Overflow::Saturate].map(|overflow| Scheme { definition, overflow });
    Definition::all().filter(taken).flat_map(both)
}

fn family(scheme: &Scheme) -> Family {
    let rule = RoundingRule::ALL.into_iter().find(|rule| rule.name() == scheme.definition.name());
    if rule.is_none_or(RoundingRule::is_nearest) { Family::FixedPoint } else { Family::Directed }
}

fn function(scheme: Option<floats::Scheme>) -> Function {
    scheme.map_or(Function::Nothing, Function::Float)
}

/// Multiplier of a setting.
struct Derived {
    fixed: Option<(i32, i32)>,
    real: Option<Rational>,
    given: bool,
}

impl Derived {
    fn of(setting: &Setting, derivation: Option<&Derivation>) -> Self {
        match (&setting.parameters, derivation) {
            (Parameters::Multiplier { multiplier, shift }, _) => Self {
                fixed: Some((*multiplier, *shift)),
                real: Some(Rational::from(*multiplier) << (shift - 31)),
                given: true,
            },
            (Parameters::Scales { scales, .. }, Some(derivation)) => Self::from_scales(scales, derivation),
            (Parameters::Scales { .. }, None) => Self { fixed: None, real: None, given: false },
        }
    }

    fn from_scales(scales: &Scales, derivation: &Derivation) -> Self {
        let real = (derivation.real)(scales);
        Self { fixed: quantize_multiplier(&real), real: Some(real), given: false }
    }

    fn fixed(&self, scheme: Scheme) -> Function {
        let legacy = !matches!(scheme.definition, Definition::Fpm(_));
        match self.fixed {
            Some(channel) if scheme.definition.shifts().contains(&channel.1) && (self.given || !legacy) => {
                Function::Fixed(scheme, channel)
            }
            _ => Function::Nothing,
        }
    }

    fn float(&self, definition: &'static floats::Definition) -> Function {
        function(self.real.as_ref().and_then(|real| definition.of_multiplier(real)))
    }
}
