//! Parsed line: scheme, domain and case, with the results of the scheme.

use crate::case::text::{self, Draft};
use crate::offline::line::{self, Line};
use crate::operation::case::Case;
use crate::operation::errors::CaseError;
use crate::operation::expected::Expected;
use crate::operation::{self, Kernel, Operation, contract, every, find, label, scheme_named};
use serde_json::Value as Json;
use std::ops::Deref;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger::Value;

/// Domain of a kernel, or a domain without the limits of a kernel.
pub enum Domain<D: 'static> {
    /// Domain of a kernel.
    Kernel(&'static D),
    /// Domain of all cases to which the scheme gives values.
    Open(D),
}

impl<D> Deref for Domain<D> {
    type Target = D;

    fn deref(&self) -> &D {
        match self {
            Self::Kernel(domain) => domain,
            Self::Open(domain) => domain,
        }
    }
}

/// Line with expected results.
pub struct EvaluatedLine<O: Operation> {
    /// Kernel of the line, if the line names a kernel.
    pub kernel: Option<&'static Kernel<O>>,
    /// Scheme of the line.
    pub scheme: O::Scheme,
    /// Domain of the case.
    pub domain: Domain<O::Domain>,
    /// Case of the line.
    pub case: Case<O::Params>,
    /// Results of the scheme.
    pub expected: Expected,
    /// Index of the result that the case selects by `at`.
    pub at: Option<usize>,
}

impl<O: Operation> EvaluatedLine<O> {
    /// Parses a line, and evaluates the case by the oracle.
    pub fn of(line: &Line) -> Result<Self, CaseError> {
        let mut arguments = match &line.case {
            Json::String(written) => text::words_by_name(written)?,
            Json::Object(named) => line::arguments(named, O::TENSORS)?,
            _ => return Err(CaseError::from("neither a text nor an object").of("case")),
        };
        if O::CAPABILITIES.tensors.has_len
            && !arguments.contains_key("len")
            && let Some(len) = O::TENSORS.first().and_then(|first| line::listed(arguments.get(*first)?))
        {
            arguments.insert("len".to_owned(), Value::Integer(len as i64));
        }
        let (kernel, scheme, domain) = match (&line.scheme, &line.kernel) {
            (Some(name), None) => {
                let scheme = scheme_named::<O>(name)?;
                let domain = O::widest_domain(&scheme, line.ty.as_deref(), &mut arguments)?;
                (None, scheme, Domain::Open(domain))
            }
            (None, Some(name)) => {
                let kernel = find::<O>(name).ok_or_else(|| unknown("kernel", name, every::<O>()))?;
                if let Some(ty) = &line.ty {
                    arguments.insert("type".to_owned(), Value::Text(ty.clone()));
                }
                (Some(kernel), contract::<O>(kernel)?, Domain::Kernel(&kernel.contract.domain))
            }
            _ => return Err("name either a scheme or a kernel, such as \"scheme\":\"ties-up\"".into()),
        };
        let draft = Draft::<O>::of(arguments)?;
        let (case, at) = (draft.case(&domain)?, draft.at(&domain)?);
        if !O::covers(&domain, &case.params) {
            return Err(match kernel {
                Some(kernel) => format!("{} takes other parameters: {}", kernel.name, O::domain_text(&domain)).into(),
                None => format!("{} takes other parameters: {}", label::<O>(&scheme), O::domain_text(&domain)).into(),
            });
        }
        let expected = O::expected(&scheme, &case).map_err(|error| error.to_string())?;
        Ok(Self { kernel, scheme, domain, case, expected, at })
    }

    /// Formats the results; `None` for results without a value.
    pub fn results(&self) -> Vec<Option<Value>> {
        let element = operation::result_element::<O>(&self.domain, &self.case.params);
        let one = |words: &[Option<i32>]| {
            let words: Option<Vec<i32>> = words.iter().copied().collect();
            Some(element.described(&words?))
        };
        self.expected.chunks(element.words()).map(one).collect()
    }

    /// Parses the caller's results into words, with flags for the words that are given.
    pub(super) fn given(&self, given: &[Json]) -> Result<(Vec<i32>, Vec<bool>), CaseError> {
        let element = operation::result_element::<O>(&self.domain, &self.case.params);
        let results = self.expected.len() / element.words();
        if given.len() != results {
            let reason = format!("{} values, and the case has {results} results", given.len());
            return Err(CaseError::from(reason).of("expected"));
        }
        let (mut outs, mut is_given) = (Vec::new(), Vec::new());
        for (at, json) in given.iter().enumerate() {
            let of = |error: CaseError| error.of(&format!("expected[{at}]"));
            let words = match json {
                Json::Null => element.zero(),
                json => read(&element, &line::element(json).map_err(of)?).map_err(of)?,
            };
            is_given.extend(words.iter().map(|_| !json.is_null()));
            outs.extend(words);
        }
        Ok((outs, is_given))
    }
}

/// Parses a caller's result, which may be outside the type of the results.
fn read(element: &crate::operation::Element, value: &Value) -> Result<Vec<i32>, CaseError> {
    match (element, value) {
        (crate::operation::Element::Integer(range), Value::Integer(v)) if !range.contains(v) => {
            let word = i32::try_from(*v).map_err(|_| format!("{v} is no int32"))?;
            Ok(vec![word])
        }
        _ => element.read(value),
    }
}
