//! Parsed line: scheme, domain and case, with the results of the scheme.

use crate::case::text::{self, Draft};
use crate::erased::{Domain, Kernel, Op, Params, Scheme};
use crate::offline::line::{self, Line};
use crate::operation::case::Case;
use crate::operation::errors::CaseError;
use crate::operation::expected::Expected;
use serde_json::Value as Json;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger::Value;

/// Line with expected results.
pub struct EvaluatedLine {
    /// Kernel of the line, if the line names a kernel.
    pub kernel: Option<&'static Kernel>,
    /// Scheme of the line.
    pub scheme: Scheme,
    /// Domain of the kernel, or of all cases to which the scheme gives values.
    pub domain: Domain,
    /// Case of the line.
    pub case: Case<Params>,
    /// Results of the scheme.
    pub expected: Expected,
    /// Index of the result that the case selects by `at`.
    pub at: Option<usize>,
}

impl EvaluatedLine {
    /// Parses a line, and evaluates the case by the oracle.
    pub fn of(op: Op, line: &Line) -> Result<Self, CaseError> {
        let mut arguments = match &line.case {
            Json::String(written) => text::words_by_name(written)?,
            Json::Object(named) => line::arguments(named, op.tensors())?,
            _ => return Err(CaseError::from("neither a text nor an object").of("case")),
        };
        if op.capabilities().tensors.has_len
            && !arguments.contains_key("len")
            && let Some(len) = op.tensors().first().and_then(|first| line::listed(arguments.get(*first)?))
        {
            arguments.insert("len".to_owned(), Value::Integer(len as i64));
        }
        let (kernel, scheme, domain) = match (&line.scheme, &line.kernel) {
            (Some(name), None) => {
                let scheme = op.scheme(name)?;
                let domain = scheme.widest_domain(line.ty.as_deref(), &mut arguments)?;
                (None, scheme, domain)
            }
            (None, Some(name)) => {
                let kernel = op.find(name).ok_or_else(|| unknown("kernel", name, op.every()))?;
                if let Some(ty) = &line.ty {
                    arguments.insert("type".to_owned(), Value::Text(ty.clone()));
                }
                (Some(kernel), kernel.scheme()?, kernel.contract.domain.clone())
            }
            _ => return Err("name either a scheme or a kernel, such as \"scheme\":\"ties-up\"".into()),
        };
        let draft = Draft::of(op, arguments)?;
        let (case, at) = (draft.case(&domain)?, draft.at(&domain)?);
        if !domain.covers(&case.params) {
            return Err(match kernel {
                Some(kernel) => format!("{} takes other parameters: {}", kernel.name, domain.text()).into(),
                None => format!("{} takes other parameters: {}", scheme.label(), domain.text()).into(),
            });
        }
        let expected = scheme.expected(&case).map_err(|error| error.to_string())?;
        Ok(Self { kernel, scheme, domain, case, expected, at })
    }

    /// Formats the results; `None` for results without a value.
    pub fn results(&self) -> Vec<Option<Value>> {
        let element = self.domain.result_element(&self.case.params);
        let one = |words: &[Option<i32>]| {
            let words: Option<Vec<i32>> = words.iter().copied().collect();
            Some(element.described(&words?))
        };
        self.expected.chunks(element.words()).map(one).collect()
    }

    /// Parses the caller's results into words, with flags for the words that are given.
    pub(super) fn given(&self, given: &[Json]) -> Result<(Vec<i32>, Vec<bool>), CaseError> {
        let element = self.domain.result_element(&self.case.params);
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
