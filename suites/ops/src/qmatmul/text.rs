//! Text form of lists of stages in a case: `bias-columns:40;scale-columns:-1,1073741824^-3;clamp:-128,127;cast:i8`.
//!
//! A stage is its name and its numbers: the biases (64-bit for `bias64`); offset, multiplier and shift of `down`; the zero point of `scale`,
//! followed by `MULTIPLIER^SHIFT` for each place; the ends of `clamp`; zero point and amplitude of `tanh`; the type of `cast`.

use tiebreak_engine::operation::CaseError;
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qmatmul::{Along, Stage};
use tiebreak_oracle::names::unknown;

/// Prefix of 64-bit biases.
pub(super) const WIDE: &str = "bias64-";

const NAMES: [&str; 10] = [
    "bias-columns",
    "bias-rows",
    "bias64-columns",
    "bias64-rows",
    "down",
    "scale-columns",
    "scale-rows",
    "clamp",
    "tanh",
    "cast",
];

fn axis(along: Along) -> &'static str {
    match along {
        Along::Rows => "rows",
        Along::Columns => "columns",
    }
}

/// Formats a list of stages.
pub(super) fn written(stages: &[Stage]) -> String {
    stages.iter().map(one).collect::<Vec<_>>().join(";")
}

/// Formats a stage.
pub(crate) fn one(stage: &Stage) -> String {
    let joined = |words: Vec<String>| words.join(",");
    match stage {
        Stage::Bias { along, values } => {
            format!("bias-{}:{}", axis(*along), joined(values.iter().map(i32::to_string).collect()))
        }
        Stage::Bias64 { along, values } => {
            format!("{WIDE}{}:{}", axis(*along), joined(values.iter().map(i64::to_string).collect()))
        }
        Stage::Down { offset, multiplier, shift } => format!("down:{offset},{multiplier},{shift}"),
        Stage::Scale { along, channels, zero_point } => {
            let channel = |c: &Channel| format!("{}^{}", c.multiplier, c.shift);
            let channels = joined(channels.iter().map(channel).collect());
            format!("scale-{}:{zero_point},{channels}", axis(*along))
        }
        Stage::Clamp { min, max } => format!("clamp:{min},{max}"),
        Stage::Tanh { zero_point, amplitude } => format!("tanh:{zero_point},{amplitude}"),
        Stage::Cast { to } => format!("cast:{}", to.name()),
    }
}

/// Parses a list of stages; an empty text is an empty list.
pub(super) fn read(text: &str) -> Result<Vec<Stage>, CaseError> {
    text.split(';').filter(|stage| !stage.is_empty()).map(stage).collect()
}

fn number(text: &str) -> Result<i32, CaseError> {
    text.parse().map_err(|_| CaseError::from(format!("`{text}` is not an int32")))
}

fn wide_number(text: &str) -> Result<i64, CaseError> {
    text.parse().map_err(|_| CaseError::from(format!("`{text}` is not an int64")))
}

fn channel(text: &str) -> Result<Channel, CaseError> {
    let Some((multiplier, shift)) = text.split_once('^') else {
        return Err(CaseError::from(format!("`{text}` is not MULTIPLIER^SHIFT, such as 1073741824^-3")));
    };
    Ok(Channel { multiplier: number(multiplier)?, shift: number(shift)? })
}

fn stage(text: &str) -> Result<Stage, CaseError> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let words: Vec<&str> = rest.split(',').collect();
    let numbers = || words.iter().map(|word| number(word)).collect::<Result<Vec<i32>, _>>();
    let count = |n: usize| match words.len() == n {
        true => Ok(()),
        false => Err(CaseError::from(format!("`{text}`: `{name}` takes {n} numbers"))),
    };
    let along = if name.ends_with("rows") { Along::Rows } else { Along::Columns };
    Ok(match name {
        "bias-columns" | "bias-rows" => Stage::Bias { along, values: numbers()? },
        "bias64-columns" | "bias64-rows" => {
            Stage::Bias64 { along, values: words.iter().map(|word| wide_number(word)).collect::<Result<_, _>>()? }
        }
        "scale-columns" | "scale-rows" => Stage::Scale {
            along,
            zero_point: number(words[0])?,
            channels: words[1..].iter().map(|word| channel(word)).collect::<Result<_, _>>()?,
        },
        "down" => {
            count(3)?;
            let numbers = numbers()?;
            Stage::Down { offset: numbers[0], multiplier: numbers[1], shift: numbers[2] }
        }
        "clamp" => {
            count(2)?;
            let numbers = numbers()?;
            Stage::Clamp { min: numbers[0], max: numbers[1] }
        }
        "tanh" => {
            count(2)?;
            let numbers = numbers()?;
            Stage::Tanh { zero_point: numbers[0], amplitude: numbers[1] }
        }
        "cast" => {
            let types = [Element::U8, Element::I8, Element::I16];
            let found = types.into_iter().find(|element| element.name() == rest);
            Stage::Cast { to: found.ok_or_else(|| CaseError::from(unknown("type", rest, ["u8", "i8", "i16"])))? }
        }
        _ => return Err(CaseError::from(unknown("stage", name, NAMES))),
    })
}

#[cfg(test)]
mod tests {
    use super::{read, written};

    #[test]
    fn a_list_is_read_as_it_is_written() {
        let all = "bias64-rows:-5000000000,7;bias-columns:1,-2;bias-rows:3;down:-5,7,-4;scale-rows:9,1073741824^-3,5^2;scale-columns:0,1^0;\
                   clamp:-6,6;tanh:1,128;cast:i16";
        assert_eq!(read(all).map(|stages| written(&stages)), Ok(all.to_owned()));
        assert_eq!(read(""), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_stage_is_refused_in_words() {
        for (text, words) in [
            ("tanh:1", "`tanh` takes 2 numbers"),
            ("clamp:1,2,3", "`clamp` takes 2 numbers"),
            ("bias-columns:x", "`x` is not an int32"),
            ("bias-columns:5000000000", "`5000000000` is not an int32"),
            ("bias64-columns:x", "`x` is not an int64"),
            ("scale-rows:0,5", "`5` is not MULTIPLIER^SHIFT"),
            ("cast:i32", "i32"),
            ("relu", "relu"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
