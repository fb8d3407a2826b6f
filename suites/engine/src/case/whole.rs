//! Text of a whole tensor: one value everywhere (`3`), a list with repetitions (`[1,2,0*6]`), consecutive values (`1..`), or a fill of a plan
//! (`largest`, `alternating/8`, and, with the seed of the run and the number of the case in its plan, `uniform@1/17`).

use crate::operation::element::{Element, bits};
use crate::operation::errors::CaseError;
use crate::operation::fill::Fill;
use std::ops::RangeInclusive;
use tiebreak_reports::ledger::Value;

/// Formats a tensor in few characters: consecutive values if possible, otherwise a list.
pub fn described(element: &Element, tensor: &[i32]) -> String {
    let words = element.words();
    let described = |words: &[i32]| element.described(words).to_string();
    if let Some(first) = tensor.get(..words)
        && tensor.chunks(words).zip(consecutive(element, first)).all(|(value, next)| value == next)
    {
        return format!("{}..", described(first));
    }
    let values: Vec<&[i32]> = tensor.chunks(words).collect();
    let run = |run: &[&[i32]]| match run.len() {
        1 => described(run[0]),
        n => format!("{}*{n}", described(run[0])),
    };
    let runs: Vec<String> = values.chunk_by(|a, b| a == b).map(run).collect();
    format!("[{}]", runs.join(","))
}

/// Iterates over a value and the following values: integers count upwards, floats by their patterns.
fn consecutive(element: &Element, first: &[i32]) -> impl Iterator<Item = Vec<i32>> {
    let first = bits(first);
    (0..).map(move |i: u64| element.of(first.wrapping_add(i)))
}

/// Returns the text from which a fill can be made again; `None` for fills whose values were given.
pub fn made(fill: &Fill, seed: u64, case: usize) -> Option<String> {
    let random = |name: &str| Some(format!("{name}@{seed}/{case}"));
    match fill {
        Fill::Smallest => Some("smallest".to_owned()),
        Fill::Largest => Some("largest".to_owned()),
        Fill::Alternating { run } => Some(format!("alternating/{run}")),
        Fill::Counting => Some("counting".to_owned()),
        Fill::Uniform => random("uniform"),
        Fill::Varied => random("varied"),
        Fill::Extremes => random("extremes"),
        Fill::Sparse => random("sparse"),
        Fill::AnySize => random("any-size"),
        Fill::None | Fill::Constant(_) | Fill::Only(_) | Fill::Given(_) => None,
    }
}

/// Tensor to fill from a text.
pub(crate) struct Place<'a> {
    /// Name of the operation.
    pub(crate) op: &'a str,
    /// Name of the tensor.
    pub(crate) tensor: &'a str,
    /// Element type of the tensor.
    pub(crate) element: &'a Element,
    /// Values that the tensor may hold.
    pub(crate) range: RangeInclusive<i32>,
}

impl Place<'_> {
    /// Fills the tensor from a text. Fails if the text is wrong; the message describes the error.
    pub(crate) fn fill(&self, value: &Value, tensor: &mut [i32]) -> Result<(), CaseError> {
        let words = self.element.words();
        if let Value::Text(text) = value {
            if let Some(list) = text.strip_prefix('[') {
                let list = list.strip_suffix(']').ok_or("the list has no end: write [1,2,3]")?;
                return self.list(list, tensor);
            }
            if let Some(first) = text.strip_suffix("..") {
                let first = self.read(first)?;
                if let [first] = first[..] {
                    (0..).zip(tensor.iter_mut()).for_each(|(i, place)| *place = first.wrapping_add(i));
                } else {
                    let all = tensor.chunks_mut(words).zip(consecutive(self.element, &first));
                    all.for_each(|(place, value)| place.copy_from_slice(&value));
                }
                return self.check(tensor);
            }
            if let Some((fill, seed, purpose)) = self.planned(text)? {
                tensor.copy_from_slice(&fill.make(tensor.len(), &self.range, seed, &purpose));
                return Ok(());
            }
        }
        let value = self.element.read(value)?;
        repeat(tensor, &value);
        Ok(())
    }

    fn read(&self, text: &str) -> Result<Vec<i32>, CaseError> {
        self.element.read(&text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Integer))
    }

    /// Checks the range, which consecutive values may leave.
    fn check(&self, tensor: &[i32]) -> Result<(), CaseError> {
        if let Element::Integer(range) = self.element
            && tensor.chunks(self.element.words()).all(|v| range.contains(&self.element.place(v)))
        {
            return Ok(());
        }
        let outside =
            tensor.chunks(self.element.words()).find_map(|v| self.element.read(&self.element.described(v)).err());
        outside.map_or(Ok(()), Err)
    }

    fn list(&self, list: &str, tensor: &mut [i32]) -> Result<(), CaseError> {
        let words = self.element.words();
        let (mut at, elements) = (0usize, tensor.len() / words);
        for item in list.split(',') {
            let (value, times) = match item.split_once('*') {
                Some((value, times)) => {
                    (value, times.parse().map_err(|_| format!("`{item}` is not VALUE*TIMES, such as 0*6"))?)
                }
                None => (item, 1usize),
            };
            let value = self.read(value)?;
            let end = at.checked_add(times).filter(|end| *end <= elements);
            let end = end.ok_or_else(|| format!("the list has more than the {elements} elements of the tensor"))?;
            repeat(&mut tensor[at * words..end * words], &value);
            at = end;
        }
        match at == elements {
            true => Ok(()),
            false => Err(format!("the list has {at} elements, and the tensor {elements}").into()),
        }
    }

    /// Parses a fill of a plan, with seed and stream; `None` for other texts.
    fn planned(&self, text: &str) -> Result<Option<(Fill, u64, String)>, CaseError> {
        let (name, stream) = text.split_once('@').map_or((text, None), |(name, stream)| (name, Some(stream)));
        let random = match name {
            "uniform" => Some(Fill::Uniform),
            "varied" => Some(Fill::Varied),
            "extremes" => Some(Fill::Extremes),
            "sparse" => Some(Fill::Sparse),
            "any-size" => Some(Fill::AnySize),
            _ => None,
        };
        if let Some(fill) = random {
            let numbers = stream.and_then(|stream| stream.split_once('/'));
            let numbers = numbers.and_then(|(seed, case)| Some((seed.parse().ok()?, case.parse::<usize>().ok()?)));
            let (seed, case) = numbers.ok_or_else(|| {
                format!(
                    "`{text}` is not {name}@SEED/CASE, two numbers that say which random values, such as {name}@1/0"
                )
            })?;
            return Ok(Some((fill, seed, purpose(self.op, case, self.tensor))));
        }
        let pattern = match name.split_once('/') {
            Some(("alternating", run)) => match run.parse() {
                Ok(run) if run > 0 => Some(Fill::Alternating { run }),
                _ => return Err(format!("`{text}` is not alternating/RUN, such as alternating/8").into()),
            },
            None if name == "smallest" => Some(Fill::Smallest),
            None if name == "largest" => Some(Fill::Largest),
            None if name == "counting" => Some(Fill::Counting),
            _ => None,
        };
        Ok(pattern.filter(|_| stream.is_none()).map(|fill| (fill, 0, String::new())))
    }
}

/// Fills the tensor with equal elements.
fn repeat(tensor: &mut [i32], element: &[i32]) {
    match element {
        [word] => tensor.fill(*word),
        words => tensor.chunks_mut(words.len()).for_each(|place| place.copy_from_slice(words)),
    }
}

/// Returns the name of the random stream for a tensor of a case.
pub(crate) fn purpose(op: &str, case: usize, tensor: &str) -> String {
    format!("{op}/{case}/{tensor}")
}
