//! Tokens of MLIR text: words, integers and floating-point literals, separated by blanks and `//` comments.

use super::error::{Fault, INTEGER_TOO_LARGE, expected};
use super::spans::Span;

/// Position in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// True if scales may be denormal in the expressed type.
    pub(super) denormal_scales: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, denormal_scales: false }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks and comments, and returns the byte of the next token.
    pub(super) fn here(&mut self) -> usize {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            if !self.rest().starts_with("//") {
                return self.at;
            }
            self.take(|c| c != '\n');
        }
    }

    /// Returns the span from byte `start` to the end of the last token.
    pub(super) fn since(&self, start: usize) -> Span {
        start..self.at
    }

    /// True if the next character, which may be a blank, is wanted.
    pub(super) fn next_is(&self, wanted: impl Fn(char) -> bool) -> bool {
        self.rest().chars().next().is_some_and(wanted)
    }

    /// Consumes `wanted` directly after the last token; true if it was there.
    pub(super) fn eat_here(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    /// Consumes `wanted` after blanks; true if it was there.
    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        self.here();
        self.eat_here(wanted)
    }

    /// Consumes `wanted` after blanks, or returns the rule that it is expected.
    pub(super) fn expect(&mut self, wanted: &str, what: &str) -> Result<(), Fault> {
        if self.eat(wanted) { Ok(()) } else { Err(self.fault(expected(what))) }
    }

    /// Returns the fault that the next character breaks `rule`.
    pub(super) fn fault(&mut self, rule: impl Into<String>) -> Fault {
        let at = self.here();
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Fault::new(rule, at..at + length)
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !wanted(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Consumes letters, digits and `_ . $` from here on.
    pub(super) fn word_here(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
    }

    /// Consumes a word after blanks, and returns it with its span.
    pub(super) fn word(&mut self) -> (&'a str, Span) {
        let start = self.here();
        (self.word_here(), start..self.at)
    }

    /// Consumes decimal digits; the text is empty if there are none.
    pub(super) fn digits(&mut self) -> (&'a str, Span) {
        let start = self.here();
        (self.take(|c| c.is_ascii_digit()), start..self.at)
    }

    /// Parses an integer: `-12`, `0x1F`.
    pub(super) fn integer(&mut self) -> Result<(i64, Span), Fault> {
        let start = self.here();
        let negative = self.eat("-");
        self.here();
        let hexadecimal = self.hexadecimal();
        let digits = hexadecimal.unwrap_or_else(|| self.digits().0);
        let span = self.since(start);
        if digits.is_empty() || self.next_is(|c| c == '.') {
            return Err(Fault::new(expected("integer value"), start..span.end.max(start)));
        }
        let radix = if hexadecimal.is_some() { 16 } else { 10 };
        let magnitude = i128::from_str_radix(digits, radix).ok();
        let value = magnitude.and_then(|m| i64::try_from(if negative { -m } else { m }).ok());
        value.map(|value| (value, span.clone())).ok_or_else(|| Fault::new(INTEGER_TOO_LARGE, span))
    }

    /// Consumes `0x` and returns the digits after it; `None` if no digit follows.
    fn hexadecimal(&mut self) -> Option<&'a str> {
        let digits = self.rest().strip_prefix("0x")?;
        if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 2;
        Some(self.take(|c| c.is_ascii_hexdigit()))
    }

    /// Parses a double: `1.0`, `1.`, `-2.5e-3`, or its bits, `0x3FF0000000000000`.
    pub(super) fn float(&mut self) -> Result<(f64, Span), Fault> {
        let start = self.here();
        let negative = self.eat("-");
        let digits_at = self.here();
        if let Some(digits) = self.hexadecimal() {
            let span = self.since(start);
            let rule = match u64::from_str_radix(digits, 16) {
                // Such as `0x1.8p3`.
                _ if self.next_is(|c| c == '.') => {
                    "hexadecimal float literal is the bits of a double, without a dot or an exponent"
                }
                _ if negative => "hexadecimal float literal should not have a leading minus",
                Ok(bits) => return Ok((f64::from_bits(bits), span)),
                Err(_) => {
                    "hexadecimal float constant out of range for type: it is the bits of a double, at most 16 digits"
                }
            };
            return Err(Fault::new(rule, span));
        }
        if self.digits().0.is_empty() {
            self.at = start;
            return Err(self.fault(expected("floating point literal")));
        }
        if !self.eat_here(".") {
            let rule = "unexpected decimal integer literal for a floating point value: add a trailing dot to make the literal \
                        a float";
            return Err(Fault::new(rule, start..self.at));
        }
        self.take(|c| c.is_ascii_digit());
        self.exponent();
        let span = self.since(start);
        let magnitude: f64 = self.text[digits_at..self.at]
            .parse()
            .map_err(|_| Fault::new(expected("floating point literal"), span.clone()))?;
        Ok((if negative { -magnitude } else { magnitude }, span))
    }

    /// Consumes an exponent such as `e-12`, if it is complete.
    fn exponent(&mut self) {
        let mut after = *self;
        if after.eat_here("e") || after.eat_here("E") {
            let _sign = after.eat_here("+") || after.eat_here("-");
            if !after.take(|c| c.is_ascii_digit()).is_empty() {
                *self = after;
            }
        }
    }

    /// Checks that only blanks and comments are left.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        self.here();
        if self.rest().is_empty() { Ok(()) } else { Err(self.fault("nothing may follow the type")) }
    }
}
