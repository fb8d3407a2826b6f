//! Inputs of fuzz targets as lines, so that people can read and commit the inputs that a campaign keeps.
//!
//! A line that begins with `"` is a JSON string with the bytes of a text. A line that begins with `b"` is a JSON string with a character
//! for each byte. Any other line stands for the bytes of the line.

/// Prefix of a line with bytes that are not text.
const BYTES: &str = "b\"";

/// Returns the line of an input. `text` is the target's own text of the input, if any.
pub fn line(input: &[u8], text: Option<String>) -> String {
    let own =
        |text: &str| !text.starts_with(['"', '#']) && !text.starts_with(BYTES) && !text.chars().any(char::is_control);
    let plain = text.or_else(|| Some(std::str::from_utf8(input).ok()?.to_owned()));
    match plain {
        Some(text) if own(&text) && !text.trim().is_empty() => text,
        Some(text) => quoted(&text),
        None => format!("b{}", quoted(&input.iter().map(|byte| char::from(*byte)).collect::<String>())),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text has a JSON string")
}

/// Decodes a line. Fails if the line is malformed.
pub fn bytes(line: &str) -> Result<Vec<u8>, String> {
    let read = |text: &str| serde_json::from_str::<String>(text).map_err(|error| format!("no JSON string: {error}"));
    match line.strip_prefix('b').filter(|_| line.starts_with(BYTES)) {
        Some(text) => {
            let byte = |c: char| {
                u8::try_from(c).map_err(|_| format!("`{c}` is no byte: write b\"...\" with \\u0000 to \\u00ff"))
            };
            read(text)?.chars().map(byte).collect()
        }
        None if line.starts_with('"') => Ok(read(line)?.into_bytes()),
        None => Ok(line.as_bytes().to_vec()),
    }
}
