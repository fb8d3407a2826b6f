//! Error with its place, displayed as the text with a caret below.

use super::spans::Span;
use std::fmt::Display;
use thiserror::Error;

/// Broken rule and its place, without the text.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) rule: String,
    pub(super) span: Span,
}

impl Fault {
    pub(super) fn new(rule: impl Into<String>, span: Span) -> Self {
        Self { rule: rule.into(), span }
    }
}

/// Rule on an integer beyond int64, or beyond any axis.
pub(super) const INTEGER_TOO_LARGE: &str = "integer value too large";

/// Returns the rule that another token is expected here.
pub(super) fn expected(what: &str) -> String {
    format!("expected {what}")
}

/// Returns the rule on a part of MLIR that this parser does not support; `instead` describes supported parts.
pub(super) fn not_supported(name: impl Display, instead: &str) -> String {
    format!("{name} is not supported: {instead}")
}

/// Error of a text that is not a type or op, or breaks a rule.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{rule}\n{}", .excerpt)]
pub struct Error {
    /// Broken rule, in the words of mlir-opt 22.1.8 if it has any. For a text that mlir-opt accepts, the message says how it is read.
    pub rule: String,
    /// Offending bytes; empty at the end of the text.
    pub span: Span,
    /// Position of the offending character, from 1.
    pub character: usize,
    excerpt: String,
}

/// Characters shown before and after the offending one.
const BEFORE: usize = 80;
const AFTER: usize = 30;

impl Error {
    pub(super) fn new(Fault { rule, span }: Fault, text: &str) -> Self {
        let character = text[..span.start].chars().count() + 1;
        let excerpt = excerpt(text, span.start, character);
        Self { rule, span, character, excerpt }
    }
}

/// Returns the line that has byte `at`, with a caret below.
fn excerpt(text: &str, at: usize, character: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let before: Vec<char> = text[start..at].chars().collect();
    let after: Vec<char> = text[at..end].chars().collect();
    let cut = before.len().saturating_sub(BEFORE);
    let open = if cut > 0 { "..." } else { "" };
    let close = if after.len() > AFTER { "..." } else { "" };
    let shown: String = before[cut..].iter().chain(after.iter().take(AFTER)).map(|c| plain(*c)).collect();
    let blanks = " ".repeat(open.len() + before.len() - cut);
    format!("  {open}{}{close}\n  {blanks}^ character {character}", shown.trim_end())
}

/// Replaces control characters, so that each character is one column wide.
fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}
