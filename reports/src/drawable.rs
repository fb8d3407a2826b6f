//! Foreign text, made safe to show. A worker, a lanes file or a foreign ledger may contain anything. Their text must not move the
//! cursor of a terminal, begin a heading of Markdown, or hide neighbouring text.
//!
//! Foreign texts are escaped twice: when an answer or a lanes file is read, and when a report draws a ledger, because the ledger itself
//! may be foreign. JSON escapes text by itself.

use crate::ledger::Ledger;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// True if a character is visible and keeps its place: no control character, line end, invisible character, or change of
/// text direction.
pub fn is_drawable(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !invisible
}

/// Returns a text on one line. Line ends and tabs become spaces, and other characters that are not drawable are escaped, `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    // Most texts are plain ASCII, and a check of bytes is several times faster than one of characters.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || text.chars().all(is_drawable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_drawable(c) => out.push(c),
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// Drawable text of at most `most` characters, with a mark for the missing rest.
pub fn bounded(text: &str, most: usize) -> String {
    const MARK: &str = " ...";
    let text = escaped(text);
    match text.char_indices().nth(most) {
        None => text.into_owned(),
        Some(_) => text.chars().take(most.saturating_sub(MARK.len())).chain(MARK.chars()).collect(),
    }
}

/// Returns a ledger with all texts escaped. A ledger without such texts, as runs write, is not copied.
pub fn ledger(ledger: &Ledger) -> Cow<'_, Ledger> {
    let text = serde_json::to_string(ledger).expect("string keys only");
    if is_drawable_json(&text) {
        return Cow::Borrowed(ledger);
    }
    let value: Value = serde_json::from_str(&text).expect("it was written as JSON");
    Cow::Owned(serde_json::from_value(each_text(value)).expect("a text is a text"))
}

/// Returns ledgers with all texts escaped.
pub(crate) fn ledgers(all: &[Ledger]) -> Cow<'_, [Ledger]> {
    let drawn: Vec<Cow<'_, Ledger>> = all.iter().map(ledger).collect();
    match drawn.iter().all(|one| matches!(one, Cow::Borrowed(_))) {
        true => Cow::Borrowed(all),
        false => Cow::Owned(drawn.into_iter().map(Cow::into_owned).collect()),
    }
}

/// True if every text in the JSON is drawable. JSON escapes most undrawable characters and contains the rest unchanged.
fn is_drawable_json(text: &str) -> bool {
    let mut bytes = text.bytes();
    let escapes = std::iter::from_fn(|| bytes.find(|byte| *byte == b'\\').and_then(|_| bytes.next()));
    let escaped = escapes.into_iter().any(|kind| !matches!(kind, b'"' | b'\\' | b'/'));
    !escaped && (text.is_ascii() || text.chars().all(is_drawable))
}

fn each_text(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escaped(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(each_text).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| (escaped(&name).into_owned(), each_text(value));
            Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Lane, LaneStatus};

    #[test]
    fn what_is_not_drawable_is_escaped() {
        assert!(matches!(escaped("fpm é 🙂 |"), Cow::Borrowed("fpm é 🙂 |")));
        assert_eq!(escaped("x\n# Tiebreak: holds\r\t"), "x # Tiebreak: holds  ");
        assert_eq!(
            escaped("\u{1b}[31m\u{7}\u{9b}2J\u{202e}\u{200b}\u{0}"),
            r"\u{1b}[31m\u{7}\u{9b}2J\u{202e}\u{200b}\u{0}"
        );
        assert_eq!(bounded("abcdefgh", 8), "abcdefgh");
        assert_eq!(bounded("abcdefghi", 8), "abcd ...");
    }

    #[test]
    fn every_text_of_a_ledger_is_escaped() {
        let plain = Ledger { command: r#"a "b" \c /d"#.to_owned(), ..Ledger::default() };
        assert!(matches!(ledger(&plain), Cow::Borrowed(_)));
        for (bad, drawn) in
            [("x\ny", "x y"), ("\u{1b}c", r"\u{1b}c"), ("\u{9b}2J", r"\u{9b}2J"), ("\u{202e}", r"\u{202e}")]
        {
            let status = LaneStatus::Ran { arch: bad.to_owned(), via: bad.to_owned() };
            let lane = Lane { name: bad.to_owned(), status, files: Vec::new() };
            let meanings = [(bad.to_owned(), bad.to_owned())].into();
            let seen = ledger(&Ledger { lanes: vec![lane], meanings, ..Ledger::default() }).into_owned();
            let LaneStatus::Ran { arch, via } = &seen.lanes[0].status else { panic!("{seen:?}") };
            let texts = [&seen.lanes[0].name, arch, via, &seen.meanings[drawn]];
            assert!(texts.iter().all(|text| *text == drawn), "{texts:?}");
        }
    }
}
