//! Meanings of parameters, by the names under which a worker reads them.

/// Meaning of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A number of elements.
    Size,
    /// A zero point or an offset.
    ZeroPoint,
    /// A scale.
    Scale,
    /// Any other meaning, for example an end of the clamp.
    Other,
}

/// Returns the meaning of a parameter with a known least value.
pub fn meaning(name: &str, least: f64) -> Meaning {
    let last = name.rsplit('.').find(|key| key.parse::<usize>().is_err()).unwrap_or(name);
    match last {
        "scale" | "scales" => Meaning::Scale,
        "min" | "max" | "multiplier" | "shift" | "bias" | "bits" | "q" | "axis" => Meaning::Other,
        last if last.contains("zero_point") || last.contains("offset") => Meaning::ZeroPoint,
        _ if least >= 0.0 => Meaning::Size,
        _ => Meaning::Other,
    }
}

/// Pairs of sizes along two axes, with names that differ in more than one letter.
const AXES: [[&str; 2]; 4] = [["height", "width"], ["rows", "columns"], ["top", "left"], ["bottom", "right"]];

/// True if two parameters are easily confused: zero points, scales, sizes along two axes (`stride_h`, `stride_w`), equal names in two operands.
pub fn are_interchangeable(one: &str, other: &str) -> bool {
    fn last(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or(name)
    }
    let (of_one, of_other) = (last(one), last(other));
    match (meaning(one, 0.0), meaning(other, 0.0)) {
        (Meaning::ZeroPoint, Meaning::ZeroPoint) | (Meaning::Scale, Meaning::Scale) => true,
        _ if AXES.iter().any(|axes| axes.iter().all(|axis| *axis == of_one || *axis == of_other)) => true,
        _ => {
            let differing = || of_one.chars().zip(of_other.chars()).filter(|(a, b)| a != b).count();
            of_one.chars().count() == of_other.chars().count() && differing() <= 1
        }
    }
}
