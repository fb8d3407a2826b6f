//! Questions for each operation of a worker, and diagnosis of bytes that are not the expected results.

use super::Problem;
use crate::presented::fitting::Fitting;
use crate::presented::sample::Sample;
use crate::presented::{domain, is_sized_by_kernel, sample, shown};
use crate::verify::OPS;
use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::{Expressed, Storage};
use tiebreak_oracle::names::unknown;
use tiebreak_worker::protocol::Offer;

/// Number of results of the shorter batch.
const FEW: usize = 3;

/// Batches for one kernel.
pub(super) struct Question {
    pub(super) op: String,
    pub(super) kernel: String,
    pub(super) sample: Sample,
}

/// Returns one question for each offered operation. Fails if no run can use an offer.
pub(super) fn questions(offers: &[Offer]) -> Result<Vec<Question>, Problem> {
    if let Some(offer) = offers.iter().find(|offer| !OPS.contains(&offer.op.as_str())) {
        let names = OPS.join(", ");
        let unknown = unknown("operation", &offer.op, OPS.iter().copied());
        return Err(format!("the answer to `hello` offers an {unknown}; operations are {names}"));
    }
    Ok(OPS.iter().filter_map(|op| Question::of(op, offers)).collect())
}

impl Question {
    fn of(op: &str, offers: &[Offer]) -> Option<Self> {
        let usual = shown(op)?;
        let mut offered = offers.iter().filter(|offer| offer.op == op);
        let is_usual = |offer: &&Offer| offer.kernel == usual;
        let offer = match is_sized_by_kernel(op) {
            true => offered.find(is_usual)?,
            false => offered.clone().find(is_usual).or_else(|| offered.next())?,
        };
        let sample = sample(op, &offer.kernel, fitting(offer))?;
        Some(Self { op: op.to_owned(), kernel: offer.kernel.clone(), sample })
    }

    /// Returns the sample with fewer inputs. `None` unless batches of the operation can have any length.
    pub(super) fn shorter(&self) -> Option<Sample> {
        ["fpm", "requantize"].contains(&self.op.as_str()).then(|| self.sample.clone().first(FEW))
    }
}

/// Returns parameters that the kernel of an offer accepts, according to its domain.
fn fitting(offer: &Offer) -> Fitting {
    let name = offer.own.like.as_deref().unwrap_or(&offer.kernel);
    let known = domain(&offer.op, name);
    // Returns a name, or the first name of a list.
    let named = |field: &str| {
        let value = offer.own.domain.get(field).or_else(|| known.as_ref()?.get(field))?;
        value.as_str().or_else(|| value.as_array()?.first()?.as_str()).map(str::to_owned)
    };
    let element = named("output").or_else(|| named("element"));
    let element =
        element.and_then(|name| [Element::U8, Element::I8, Element::I16].into_iter().find(|e| e.name() == name));
    let storage = named("storage").and_then(|name| {
        let all = (1..=32).flat_map(|bits| [true, false].map(|signed| Storage { bits, signed }));
        all.into_iter().find(|storage| storage.name() == name)
    });
    let expressed = named("expressed").and_then(|name| Expressed::ALL.into_iter().find(|e| e.name() == name));
    let plain = Fitting::PLAIN;
    Fitting {
        element: element.unwrap_or(plain.element),
        storage: storage.unwrap_or(plain.storage),
        expressed: expressed.unwrap_or(plain.expressed),
        ..plain
    }
}

/// Describes the mistake in results of a wrong length.
pub(super) fn length(bytes: usize, count: usize) -> String {
    let whole = match bytes.checked_div(count) {
        Some(each @ (1 | 2 | 8)) if bytes == each * count => format!(", {each} for each result"),
        _ => String::new(),
    };
    format!(
        "{bytes} bytes were announced{whole}, and {count} results are {} bytes; write each result as an int32 of 4 bytes, little-endian, whatever the type of \
         the output",
        4 * count
    )
}

/// Detects a mistake in byte order or type that turns the exact results into these bytes.
pub(super) fn misread(sample: &Sample, bytes: &[u8]) -> Option<&'static str> {
    let words = |from: fn([u8; 4]) -> i32| -> Vec<i32> { bytes.as_chunks().0.iter().map(|word| from(*word)).collect() };
    let right = sample.exact()?;
    let (got, swapped) = (words(i32::from_le_bytes), words(i32::from_be_bytes));
    if got == right {
        return None;
    }
    if swapped == right {
        return Some("its results are big-endian; write little-endian int32");
    }
    if words(|word| f32::from_le_bytes(word) as i32) == right {
        return Some("its results are float32; write int32");
    }
    let input = sample.input.iter().map(|x| x.swap_bytes()).collect();
    let right = Sample { input, ..sample.clone() }.exact()?;
    (got == right || swapped == right).then_some("it reads the inputs as big-endian; they are little-endian int32")
}
