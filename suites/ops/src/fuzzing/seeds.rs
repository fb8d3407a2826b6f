//! Seeds for fuzzing the text parsers; without a seed a fuzzer finds no type and no case in an hour. They come from the catalogues and from the
//! examples of the RFC of quantized types. The example `fuzzing` writes them, with models, into files.

use crate::dequantize::Dequantize;
use crate::quantize::Quantize;
use crate::registry::catalogues;
use tiebreak_engine::operation::Operation;

/// Examples of the RFC, and texts that are nearly types.
const RFC: &str = include_str!("../../data/quant_rfc.txt");
const BAD: &str = include_str!("../../data/quant_bad.txt");

/// Returns valid and invalid types and ops for the target `quant_type`.
pub fn quant_types() -> Vec<String> {
    let marked = |line: &str| {
        let (word, text) = line.split_once(' ')?;
        ["example", "Correct", "Incorrect"].contains(&word).then(|| text.to_owned())
    };
    // The line after a text marks the place of its error.
    let lines: Vec<&str> = BAD.lines().collect();
    let bad = lines.windows(2).filter(|pair| pair[1].trim_start().starts_with('^')).map(|pair| pair[0].to_owned());
    let kept = [Quantize::CATALOGUE, Dequantize::CATALOGUE].into_iter().flat_map(str::lines);
    let kept = kept.filter_map(|line| Some(line.strip_prefix("type=")?.split(' ').next()?.to_owned()));
    let mut all: Vec<String> = RFC.lines().filter_map(marked).chain(bad).chain(kept).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns cases of every operation and catalogue lines for the target `cases`.
pub fn cases() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in catalogues().into_iter().flat_map(str::lines) {
        if let Some((case, _)) = line.split_once(" out[") {
            out.extend([case.to_owned(), line.to_owned()]);
        }
    }
    let whole =
        ["m=2 n=3 k=4 lhs=[1,2*3,-4*4] rhs=1..", "m=9 n=9 k=9 lhs=uniform@1/2 rhs=alternating/3 lhs_offset=-128"];
    out.extend(whole.map(str::to_owned));
    out
}

/// Returns files of multipliers and shifts for the target `parameters`.
pub fn parameters() -> Vec<String> {
    let files = [
        "multiplier,shift\n1073741824,-1\n",
        "shift,name,multiplier\r\n0,\"a,b\",7\r\n",
        "multiplier,shift\n-2147483648,31\n\n2147483647,-31\n",
        "\u{feff}multiplier,shift\n1,32\n",
    ];
    files.map(str::to_owned).to_vec()
}
