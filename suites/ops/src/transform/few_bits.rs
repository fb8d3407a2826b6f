//! Packing of few bits: its cases, and the changes that a kernel may make.

use super::{Layout, Transform};
use crate::fuzzing::Numbers;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::{Arguments, Case, CaseError, Change, Field, arguments, fields};
use tiebreak_impls::transform::packing::Params;
use tiebreak_impls::transform::{Kind, Params as Any};
use tiebreak_oracle::transform::Transform as Exact;
use tiebreak_oracle::transform::packing::{First, Form, Packing};
use tiebreak_reports::ledger::Value;

/// Returns the oracle's packing; `None` for other kinds of transforms.
pub(super) fn exact(kind: Kind, p: &Params) -> Option<Packing> {
    let planes = Form::Planes { bits: p.bits, word: p.word };
    let (form, first, unpacks) = match kind {
        Kind::BitPack => (planes, First::High, false),
        Kind::BitUnpack => (planes, First::High, true),
        Kind::NibblePackLow => (Form::Nibbles, First::Low, false),
        Kind::NibblePackHigh => (Form::Nibbles, First::High, false),
        Kind::NibbleUnpackLow => (Form::Nibbles, First::Low, true),
        Kind::NibbleUnpackHigh => (Form::Nibbles, First::High, true),
        _ => return None,
    };
    Some(Packing { form, first, unpacks, signed: p.signed, rows: p.rows, columns: p.columns })
}

const USUAL: Params = Params { rows: 1, columns: 1, bits: 4, word: 8, signed: false };

const FIELDS: [Field<Params>; 4] = fields![Params; size bits always; size word; size rows; size columns];

/// Formats the parameters as arguments of a case.
pub(super) fn arguments(p: &Params) -> Vec<(String, Value)> {
    let signed = p.signed.then(|| ("signed".to_owned(), Value::from(1i64)));
    fields::written(&FIELDS, p, &USUAL).into_iter().chain(signed).collect()
}

/// Parses the parameters from the arguments of a case.
pub(super) fn from_arguments(given: &Arguments) -> Result<Params, CaseError> {
    let mut left = given.clone();
    let signed = arguments::take_size(&mut left, "signed", 0)? != 0;
    fields::read_all(&FIELDS, Params { signed, ..USUAL }, &left, &["signed", "input"])
}

/// Returns parameters with fewer rows or columns, or fewer bits.
pub(super) fn smaller(p: &Params) -> Vec<Params> {
    let columns = [p.columns / 2, p.columns.saturating_sub(p.word), p.columns.saturating_sub(1)];
    let rows = [1, p.rows / 2].map(|rows| Params { rows, ..*p });
    let bits = (1..p.bits).map(|bits| Params { bits, ..*p });
    columns.map(|columns| Params { columns, ..*p }).into_iter().chain(rows).chain(bits).collect()
}

/// Makes patterns that differ from place to place in all bits, limited to the bits of a word.
pub(super) fn tagged(p: &Params, len: usize) -> Vec<i32> {
    let mask = u32::MAX >> (32 - p.word);
    (1..=len as u32).map(|i| (i.wrapping_mul(0x9e37_79b1).rotate_left(13) & mask) as i32).collect()
}

/// Returns rows of several numbers of words, for each number of bits and each word width; several rows, and a long row.
pub(super) fn planes(budget: &Budget) -> Vec<Any> {
    let most = if budget.every_tail { 9 } else { 4 };
    let forms: Vec<(usize, usize)> = (1..=4).flat_map(|bits| [8, 16, 32].map(|word| (bits, word))).collect();
    let with = |(bits, word): (usize, usize), words: usize| {
        let rows = 1 + (words + bits) % 3;
        let signed = (words + bits + word / 8).is_multiple_of(2);
        [(rows, signed), (4 - rows, !signed)].map(|(rows, signed)| Params {
            rows,
            columns: words * word,
            bits,
            word,
            signed,
        })
    };
    let short = forms.iter().flat_map(|form| (1..=most).chain([17, 65]).map(move |words| (*form, words)));
    // Every number of words, to reach every remainder after whole vectors, each in one form.
    let rests = (2..=66).map(|words| (forms[words % forms.len()], words));
    let long = [((2, 8), 1_100)];
    let all: Vec<_> = short.chain(rests).chain(long).collect();
    all.into_iter().flat_map(|(form, words)| with(form, words)).chain(one_by_one()).map(Any::Packed).collect()
}

/// Returns calls that mostly differ from the call before in one parameter.
fn one_by_one() -> Vec<Params> {
    let base = Params { rows: 2, columns: 64, bits: 2, word: 8, signed: false };
    let words = [16, 32, 8].map(|word| Params { word, ..base });
    let bits = [3, 1, 2].map(|bits| Params { bits, ..base });
    let signed = [true, false].map(|signed| Params { signed, ..base });
    let square = [(8, 8), (16, 16)].map(|(rows, columns)| Params { rows, columns, ..base });
    // Whole blocks of 32 words.
    let blocks = [32, 96].map(|words| Params { rows: 1, columns: words * 8, bits: 4, ..base });
    let exchanged = [(8, 16), (16, 8)].map(|(rows, columns)| Params { rows, columns, ..base });
    [base]
        .into_iter()
        .chain(exchanged)
        .chain(square)
        .chain(blocks)
        .chain([base])
        .chain(words)
        .chain(bits)
        .chain(signed)
        .collect()
}

/// Returns every number of columns, odd and even, with one to three rows.
pub(super) fn nibbles(budget: &Budget) -> Vec<Any> {
    let most = if budget.every_tail { 160 } else { 66 };
    let columns = (1..=most).chain([255, 256, 257, 4_099]);
    let of = |columns: usize| {
        [false, true].map(|signed| Params {
            rows: 1 + columns % 3,
            columns,
            signed: signed == (columns % 4 < 2),
            ..USUAL
        })
    };
    // The same number of rows and columns.
    let square =
        (2..=9).chain([17, 18, 33]).map(|side| Params { rows: side, columns: side, signed: side % 2 == 0, ..USUAL });
    columns.flat_map(of).chain(square).map(Any::Packed).collect()
}

/// Draws a packing from a fuzzer's numbers.
pub(super) fn fuzzed(kind: Kind, numbers: &mut Numbers<'_>) -> Params {
    let (rows, signed) = (numbers.size(3), *numbers.one_of(&[false, true]));
    if !matches!(kind, Kind::BitPack | Kind::BitUnpack) {
        return Params { rows, columns: numbers.size(40), signed, ..USUAL };
    }
    let word = *numbers.one_of(&[8, 16, 32]);
    Params { rows, columns: word * numbers.size(3), bits: numbers.size(4), word, signed }
}

/// Returns every change, in the order of preference.
pub(super) fn changes(layout: Layout) -> Vec<Change<Transform>> {
    let with = move |class: Class, because: &'static str, changed: fn(Packing) -> Packing| {
        Change::predicts(class, because, move |case: &Case<Any>| {
            let Any::Packed(p) = &case.params else { return None };
            let out = Exact::Packing(changed(exact(layout.kind, p)?)).expected(&case.tensors[0]).ok()?;
            Some(out.into_iter().map(Some).collect())
        })
    };
    let lost = Change::predicts(Class::TruncatedTail, "the last element of an odd number is lost", move |case| {
        let Any::Packed(p) = &case.params else { return None };
        let packing = exact(layout.kind, p)?;
        let mut out = Exact::Packing(packing).expected(&case.tensors[0]).ok()?;
        let row = out.len() / p.rows;
        if packing.form == Form::Nibbles && p.columns % 2 == 1 {
            out.chunks_mut(row).for_each(|row| row[row.len() - 1] = 0);
        }
        Some(out.into_iter().map(Some).collect())
    });
    let order = with(Class::Layout, "the first element of a word lies at its other end", |p| {
        let first = if p.first == First::Low { First::High } else { First::Low };
        Packing { first, ..p }
    });
    let unsigned = with(Class::Signedness, "signed elements are zero extended", |p| Packing { signed: false, ..p });
    let signed = with(Class::Signedness, "unsigned elements are sign extended", |p| Packing { signed: true, ..p });
    vec![order, unsigned, signed, lost]
}
