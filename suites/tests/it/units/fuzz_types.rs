//! The reader of quantized types either rejects or accepts a text.

use proptest::prelude::*;
use tiebreak_suites::fuzzing::quant_type;
use tiebreak_suites::quant_type::parse;

/// Parts of texts, chosen so that some texts are types.
const TOKENS: [&str; 40] = [
    "!quant.uniform<",
    "tensor<",
    "quant.qcast ",
    "quant.dcast",
    "\"quant.scast\"(",
    "%0",
    " = ",
    " : ",
    " to ",
    "->",
    "i8",
    "u16",
    "i32",
    "si8",
    "f32",
    "f16",
    "bf16",
    "f64",
    ":",
    ",",
    ", ",
    "{",
    "}",
    ">",
    "<",
    "*x",
    "?x",
    "2x",
    "0",
    "1",
    "-8",
    "7",
    "300",
    "1.0",
    "2.5e-3",
    "0x3FF0000000000000",
    "// \n",
    "\u{e9}",
    "(",
    ")",
];

const SEEDS: [&str; 5] = [
    "%r = quant.qcast %i : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32:1, {2.0, 3.0, 4.0}>>",
    "!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0, 2.0}, {3.0, 4.0:-5}}>",
    "tensor<*x!quant.uniform<u16<0:1023>:f16, 1.23:512>>",
    "%2 = \"quant.scast\"(%1) : (tensor<4xi8>) -> tensor<4x!quant.uniform<i8<-8:7>:f32:0, {2.0, 3.0, 4.0, 5.0}>>",
    "!quant.uniform<u32:f32, 1.9999998807907104>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_text_is_refused_or_read(tokens in prop::collection::vec(0..TOKENS.len(), 0..24)) {
        quant_type(tokens.iter().map(|i| TOKENS[*i]).collect::<String>().as_bytes());
    }

    /// Types with a part replaced or cut.
    #[test]
    fn types_that_are_nearly_right(seed in 0..SEEDS.len(), at in 0..100usize, cut in 0..4usize, token in 0..TOKENS.len()) {
        let text: Vec<char> = SEEDS[seed].chars().collect();
        let at = at.min(text.len());
        let after = text[(at + cut).min(text.len())..].iter();
        let text: String = text[..at].iter().copied().chain(TOKENS[token].chars()).chain(after.copied()).collect();
        quant_type(text.as_bytes());
    }

    #[test]
    fn any_characters(text in any::<String>()) {
        quant_type(text.as_bytes());
    }
}

#[test]
fn whole_types() {
    SEEDS.iter().for_each(|seed| {
        assert!(parse(seed).is_ok(), "{seed}");
        quant_type(seed.as_bytes());
    });
}
