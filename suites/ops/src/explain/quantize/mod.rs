//! Explanation of a quantization: schemes and kernels for one float.

mod steps;

use super::cast::{self, Entry, compare};
use super::sheet::{Row, Sheet};
use super::{Comparison, ExplainError};
use crate::quantize::{Promised, Quantize};
use crate::quantized::quantizations;
use serde_json::json;
use steps::{described, lines};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Element};
use tiebreak_impls::quantize::Kernel;
use tiebreak_impls::quantized::{Params, Quantized};
use tiebreak_oracle::Rational;
use tiebreak_oracle::quantize::scheme::DEFINITIONS;
use tiebreak_oracle::quantize::{Quantization, Scheme, Stored};

/// Explains schemes and kernels for one float, given as a bit pattern of the type's expressed type. All are compared with the first scheme. A
/// kernel that breaks its contract is also compared with its contract's scheme. The type must have one scale.
pub fn explain(quantized: &Quantized, x: u64, schemes: &[Scheme], kernels: &[&Kernel]) -> Result<Sheet, ExplainError> {
    let q = *quantizations(quantized)?.first().ok_or(ExplainError::NoScale)?;
    let case = cast::one(quantized, Element::Float(q.format).of(x));
    let mut table = Table { quantized, q, x, case, entries: Vec::new(), labels: Vec::new(), comparisons: Vec::new() };
    for scheme in schemes {
        table.scheme(scheme)?;
    }
    for right in 1..table.entries.len() {
        table.compare(0, right);
    }
    for kernel in kernels {
        table.kernel(kernel, schemes.is_empty())?;
    }
    let exact = table.exact();
    let rows = table.entries.into_iter().map(|entry| entry.row).collect();
    Ok(Sheet { exact, notes: Vec::new(), rows, comparisons: table.comparisons })
}

struct Table<'a> {
    quantized: &'a Quantized,
    q: Quantization,
    x: u64,
    /// Case of the single float.
    case: Case<Params>,
    entries: Vec<Entry<Quantize>>,
    /// Schemes with their indices among the entries.
    labels: Vec<(Scheme, usize)>,
    comparisons: Vec<Comparison>,
}

impl Table<'_> {
    fn exact(&self) -> Option<Rational> {
        self.q.format.decode(self.x).finite().map(|x| x / self.q.exact_scale() + self.q.zero_point)
    }

    /// Adds the row of a scheme, or of a kernel whose contract has the scheme. A result without a value has no word to compare.
    fn push(&mut self, row: Row, scheme: &Scheme, stored: Stored) {
        let outs = stored.value().map(|v| v as i32).into_iter().collect();
        let scheme = Promised::plain(*scheme);
        self.entries.push(Entry { row, steps: scheme.scheme.definition.steps.len(), scheme, outs });
    }

    fn error(&self, stored: Stored) -> Option<Rational> {
        Some(Rational::from(stored.value()?) - self.exact()?)
    }

    /// Returns the index of a scheme among the entries; adds the scheme if it is new.
    fn scheme(&mut self, scheme: &Scheme) -> Result<usize, ExplainError> {
        if let Some((_, at)) = self.labels.iter().find(|(known, _)| known.label() == scheme.label()) {
            return Ok(*at);
        }
        let stored = scheme.exact(&self.q, self.x);
        let taken = scheme.definition.takes.takes(&self.q);
        let steps_of = match stored {
            Stored::Poison => Some(self.targets(scheme)?),
            _ if !taken => Some(format!("{} does not take this type", scheme.definition.source)),
            _ => None,
        };
        let label = scheme.label();
        let name = tiebreak_reports::text::scheme(&label).to_owned();
        let row = Row {
            name: if self.entries.iter().any(|e| e.row.name == name) { label } else { name },
            result: stored.value().map_or_else(|| json!(stored), |v| json!(v)),
            text: described(stored),
            error: self.error(stored),
            steps_of,
            steps: taken.then(|| lines(scheme, &self.q, self.x)),
        };
        self.push(row, scheme, stored);
        self.labels.push((*scheme, self.entries.len() - 1));
        Ok(self.entries.len() - 1)
    }

    /// Returns the stored values of a kernel in the body of a batch and after its vectors.
    fn run(&self, kernel: &Kernel) -> Result<[i64; 2], ExplainError> {
        let words = Element::Float(self.q.format).of(self.x);
        let storage = self.q.storage;
        let both = cast::in_process::<Quantize>(kernel, self.quantized, &words)?;
        Ok(both.map(|words| storage.wrap(words.first().copied().unwrap_or_default().into())))
    }

    /// Describes the results of a poison input in kernels whose contract has this scheme.
    fn targets(&self, scheme: &Scheme) -> Result<String, ExplainError> {
        let mut given = Vec::new();
        for kernel in tiebreak_impls::quantize::kernels() {
            let own = Promised::by(&kernel.contract)?;
            if own.scheme.label() == scheme.label() && !kernel.contract.domain.compiled {
                let [body, tail] = self.run(kernel)?;
                let in_tail = if body == tail { String::new() } else { format!(" (after its vectors {tail})") };
                given.push(format!("{} gives {body}{in_tail}", kernel.name));
            }
        }
        let start = "poison: there is no value, and none is expected";
        Ok(if given.is_empty() { start.to_owned() } else { format!("{start}; {}", given.join(", ")) })
    }

    fn kernel(&mut self, kernel: &Kernel, alone: bool) -> Result<(), ExplainError> {
        let promised = Promised::by(&kernel.contract)?;
        let [body, tail] = self.run(kernel)?;
        let apart = [(" (body)", body, 0), (" (tail)", tail, 1)];
        let places = if body == tail { &[("", body, 0)][..] } else { &apart };
        for (place, value, group) in places {
            let promised = *promised.at(*group);
            let stored = promised.exact(&self.q, self.x);
            let keeps = stored.value() == Some(*value);
            let listed = self.labels.iter().find(|(known, _)| known.label() == promised.label()).map(|(_, at)| *at);
            let own = if alone || !keeps { Some(self.scheme(&promised)?) } else { listed };
            let steps_of = match stored {
                Stored::Value(_) if keeps => format!("gives what it promises here, {}", promised.label()),
                Stored::Value(v) => format!("breaks its promise here: {} gives {v}", promised.label()),
                _ => format!(
                    "promises {}, which has no value here: this is what its instructions give",
                    promised.label()
                ),
            };
            let row = Row {
                name: cast::kernel_name(kernel.name, place, DEFINITIONS.iter().map(|d| d.name)),
                result: json!(value),
                text: value.to_string(),
                error: self.error(Stored::Value(*value)),
                steps_of: Some(steps_of),
                steps: keeps.then(|| lines(&promised, &self.q, self.x)),
            };
            self.push(row, &promised, Stored::Value(*value));
            let right = self.entries.len() - 1;
            let first = self.labels.first().map(|(_, at)| *at);
            if let Some(left) = own {
                self.compare(left, right);
            }
            if let Some(left) = first.filter(|first| Some(*first) != own) {
                self.compare(left, right);
            }
        }
        Ok(())
    }

    fn compare(&mut self, left: usize, right: usize) {
        let (a, b) = (&self.entries[left].row, &self.entries[right].row);
        let number = a.result.is_number() && b.result.is_number();
        let poison = || self.entries[right].scheme.scheme.exact(&self.q, self.x) == Stored::Poison;
        let promises_none = b.steps.is_none() && poison();
        let comparison = match (number, promises_none && a.text != b.text) {
            (true, false) => compare(&self.entries, left, right, &self.case),
            (true, true) => {
                let sentence = format!(
                    "{} gives {} where {} gives {}, class {}: it promises a scheme that has no value here",
                    b.name,
                    b.text,
                    a.name,
                    a.text,
                    Class::Poison
                );
                Comparison { left, right, class: Some(Class::Poison), because: None, sentence }
            }
            (false, _) => self.without_value(left, right),
        };
        self.comparisons.push(comparison);
    }

    /// Compares two entries of which at least one has no value.
    fn without_value(&self, left: usize, right: usize) -> Comparison {
        let (a, b) = (&self.entries[left].row, &self.entries[right].row);
        let gives = |row: &Row| match row.result.is_number() {
            true => format!("gives {}", row.text),
            false => format!("has no value ({})", row.text),
        };
        let values = format!("{} {} where {} {}", b.name, gives(b), a.name, gives(a));
        let poison = [a, b].into_iter().find(|row| row.text == described(Stored::Poison));
        let class = match poison {
            Some(_) => Class::Poison,
            None if self.exact().is_none() => Class::NanPolicy,
            None => Class::Unexplained,
        };
        let why = poison.map_or_else(
            || [a, b].into_iter().find_map(|row| row.steps_of.clone()).unwrap_or_else(|| "it is left open".to_owned()),
            |row| format!("{} {}", row.name, cast::did(row)),
        );
        let because = poison.filter(|_| b.steps.is_some()).and_then(|row| row.steps_of.clone());
        let sentence = format!("{values}, class {class}: {why}");
        Comparison { left, right, class: Some(class), because, sentence }
    }
}
