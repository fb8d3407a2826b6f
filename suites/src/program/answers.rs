//! Answer lines of a program.

use super::lines::Form;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::quantized::Expressed;
use tiebreak_reports::drawable::bounded;

/// Answer to a case outside the program's domain.
const OUTSIDE: &str = "outside-domain";

/// Maximum number of characters that an error quotes from a line.
const MOST_QUOTED: usize = 160;

/// Results of a batch, collected line by line.
pub(super) struct Answers<'a> {
    form: Form,
    output: &'a mut [i32],
    filled: usize,
    /// Number of cases outside the program's domain, and the first of these cases.
    outside: (usize, String),
}

impl<'a> Answers<'a> {
    pub(super) fn new(form: Form, output: &'a mut [i32]) -> Self {
        Self { form, output, filled: 0, outside: Default::default() }
    }

    /// Stores the answer to a case. Fails with both quoted if the answer is wrong.
    pub(super) fn take(&mut self, case: &[u8], line: &[u8]) -> Result<(), JobError> {
        let wrong = |what: &str| {
            let (line, case) = (quoted(line), quoted(case));
            JobError::Module(format!("the program answered {line} to {case}: {what}"))
        };
        let Ok(text) = std::str::from_utf8(line) else { return Err(wrong("a line is UTF-8 text")) };
        let words = self.form.real.map_or(1, Expressed::words);
        if text.trim() == OUTSIDE {
            if self.outside.0 == 0 {
                self.outside.1 = quoted(case);
            }
            self.outside.0 += 1;
            self.filled += self.form.results * words;
            return Ok(());
        }
        let places = self.output[self.filled..].chunks_mut(words).take(self.form.results);
        for (number, to) in text.split_ascii_whitespace().zip(places) {
            if !read(number, self.form.real, to) {
                let what = self.form.real.map_or("int32", Expressed::name);
                return Err(wrong(&format!("`{}` is no {what}", bounded(number, MOST_QUOTED))));
            }
        }
        let given = text.split_ascii_whitespace().count();
        if given != self.form.results {
            let expected = self.form.results;
            let what = if expected == 1 { "one result" } else { "all results, with blanks between them," };
            return Err(wrong(&format!("{given} results where the case has {expected}; write {what} on one line")));
        }
        self.filled += given * words;
        Ok(())
    }

    /// Ends the batch. Fails if a case was outside the program's domain.
    pub(super) fn end(self) -> Result<(), JobError> {
        match self.outside {
            (0, _) => Ok(()),
            (cases, first) => Err(JobError::OutsideDomain(format!(
                "{cases} of the {} lines of a batch are outside its domain, such as {first}",
                self.form.lines
            ))),
        }
    }
}

/// Parses a number into the words of a payload. Returns false if the text is not a number of the type.
fn read(number: &str, real: Option<Expressed>, to: &mut [i32]) -> bool {
    let Some(expressed) = real else {
        return number.parse().map(|value| to[0] = value).is_ok();
    };
    // C can print `-nan`.
    let number = number.strip_prefix("-nan").map_or(number, |_| "nan");
    // Parse a double first. The program rounds to the shortest digits of a double, which can lie on another side of a tie.
    let Ok(value) = number.parse::<f64>() else { return false };
    let bits: u64 = match expressed {
        Expressed::F16 => half::f16::from_f64(value).to_bits().into(),
        Expressed::Bf16 => half::bf16::from_f64(value).to_bits().into(),
        Expressed::F32 => (value as f32).to_bits().into(),
        Expressed::F64 => value.to_bits(),
    };
    to.iter_mut().zip([bits as i32, (bits >> 32) as i32]).for_each(|(word, half)| *word = half);
    true
}

pub(super) fn quoted(line: &[u8]) -> String {
    format!("`{}`", bounded(String::from_utf8_lossy(line).trim_end(), MOST_QUOTED))
}
