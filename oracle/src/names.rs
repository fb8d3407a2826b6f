//! Lookups by name, which suggest the nearest name for an unknown name.

use thiserror::Error;

/// Name that is not in a registry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown {kind} `{name}`{}", .nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
pub struct UnknownName {
    /// Kind of name: `scheme`, `kernel`, `lane`, ...
    pub kind: &'static str,
    /// Name as given.
    pub name: String,
    /// Nearest known name, if one is similar.
    pub nearest: Option<String>,
}

/// Creates the error for `name`, with the nearest of `known` as a suggestion.
pub fn unknown<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> UnknownName {
    let nearest = known
        .into_iter()
        .map(|k| (strsim::jaro_winkler(name, k).max(strsim::normalized_damerau_levenshtein(name, k)), k))
        .filter(|(similarity, _)| *similarity > 0.65)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k.to_owned());
    UnknownName { kind, name: name.to_owned(), nearest }
}
