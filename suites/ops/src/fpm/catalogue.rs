//! The corner catalogue: cases worth keeping, with their provenance and the exact value of each scheme. Run first in every
//! verification, on every lane.
//!
//! A line is `x m s SCHEME=VALUE ... # PROVENANCE`; blank lines and lines that start with `#` are comments. The values are held
//! against the oracle when the catalogue is read, so that neither can drift.

use super::tally::Seen;
use tiebreak_engine::tensor::catalogue::{BadLine, lines};
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::fpm::{Parameters, Scheme};

/// The catalogue of the repository.
pub const TEXT: &str = include_str!("../../../catalogue/fpm.txt");

/// One kept case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Accumulator.
    pub x: i32,
    /// Multiplier and shift.
    pub channel: Channel,
    /// Scheme and its value; `-` in the text where the scheme gives none.
    pub values: Vec<(String, Option<i64>)>,
    /// Where the case comes from.
    pub provenance: String,
}

/// Reads a catalogue and holds every value against the oracle.
pub fn read(text: &str) -> Result<Vec<Entry>, BadLine> {
    lines(text, |line| entry(line).and_then(|entry| held(&entry).map(|()| entry)))
}

fn entry(line: &str) -> Result<Entry, String> {
    let (case, provenance) = line.split_once('#').ok_or("no provenance: end the line with `# where it comes from`")?;
    let mut words = case.split_whitespace();
    let mut number = |name: &str| {
        let word = words.next().ok_or_else(|| format!("no {name}: a line starts with x, m and s"))?;
        word.parse::<i32>().map_err(|_| format!("{name}: `{word}` is not an int32"))
    };
    let (x, multiplier, shift) = (number("x")?, number("m")?, number("s")?);
    if !tiebreak_common::parameters::SHIFTS.contains(&shift) {
        return Err(format!("s: {shift} is not in -31..=31"));
    }
    let values = words.map(value).collect::<Result<Vec<_>, _>>()?;
    if values.is_empty() {
        return Err("no value: name at least one SCHEME=VALUE".to_owned());
    }
    Ok(Entry { x, channel: Channel { multiplier, shift }, values, provenance: provenance.trim().to_owned() })
}

fn value(word: &str) -> Result<(String, Option<i64>), String> {
    let (scheme, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not SCHEME=VALUE"))?;
    let parsed = match value {
        "-" => None,
        _ => Some(value.parse().map_err(|_| format!("`{word}`: `{value}` is neither an integer nor `-`"))?),
    };
    Ok((scheme.to_owned(), parsed))
}

fn held(entry: &Entry) -> Result<(), String> {
    let p = Parameters::q31(entry.channel.multiplier, entry.channel.shift);
    for (name, value) in &entry.values {
        let scheme = Scheme::parse(name).map_err(|e| e.to_string())?;
        let exact = scheme.exact(entry.x.into(), &p);
        if exact != *value {
            let text = |v: &Option<i64>| v.map_or("-".to_owned(), |v| v.to_string());
            return Err(format!("{name} is {}, not {}", text(&exact), text(value)));
        }
    }
    Ok(())
}

/// A mismatch in one line.
pub fn line(seen: &Seen) -> String {
    let case = seen.case();
    format!(
        "x={} m={} s={}: got {}, {} {}, class {}",
        case.x,
        case.channel.multiplier,
        case.channel.shift,
        seen.observation.got,
        seen.scheme,
        seen.expected,
        seen.explanation.class
    )
}

/// A catalogue line for a case, with the values of the schemes that kernels promise.
pub fn ready_line(x: i32, channel: Channel, schemes: &[Scheme], provenance: &str) -> String {
    let p = Parameters::q31(channel.multiplier, channel.shift);
    let values: Vec<String> = schemes
        .iter()
        .map(|s| format!("{}={}", s.label(), s.exact(x.into(), &p).map_or("-".to_owned(), |v| v.to_string())))
        .collect();
    format!("{x} {} {} {} # {provenance}", channel.multiplier, channel.shift, values.join(" "))
}
