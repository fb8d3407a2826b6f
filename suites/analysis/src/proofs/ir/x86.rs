//! x86 functions that join neighbouring lanes. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

use super::intrinsics::fitted;
use super::term::{Op, Terms};
use super::text::Type;
use super::value::{Lane, Value};
use anyhow::{Result, bail};

/// Returns the result of an x86 function; `None` for an unknown name.
pub(super) fn called(t: &mut Terms, name: &str, values: &[(Type, Value)]) -> Result<Option<Value>> {
    let pairs = match name {
        "llvm.x86.sse2.pmadd.wd" | "llvm.x86.avx2.pmadd.wd" => false,
        "llvm.x86.ssse3.pmadd.ub.sw.128" | "llvm.x86.avx2.pmadd.ub.sw" => true,
        _ => return Ok(None),
    };
    let [(_, a), (_, b)] = values else { bail!("{name} with {} arguments", values.len()) };
    let (a, b) = (a.lanes()?, b.lanes()?);
    let mut lanes = Vec::new();
    for (a, b) in a.chunks(2).zip(b.chunks(2)) {
        lanes.push(pair(t, a, b, pairs));
    }
    Ok(Some(Value::Lanes(lanes)))
}

/// Returns `a0*b0 + a1*b1`: wrapping for signed 16-bit lanes, saturating for an unsigned and a signed byte.
fn pair(t: &mut Terms, a: &[Lane], b: &[Lane], bytes: bool) -> Lane {
    let narrow = t.width(a[0].term);
    let (wide, result) = (2 * narrow + 1, 2 * narrow);
    let mut sum = Lane { term: t.constant(0, wide), poison: t.truth(false) };
    for (a, b) in a.iter().zip(b) {
        let (wa, wb) = (t.extend(a.term, wide, !bytes), t.extend(b.term, wide, true));
        let product = t.binary(Op::Mul, wa, wb);
        sum.term = t.binary(Op::Add, sum.term, product);
        for poison in [a.poison, b.poison] {
            sum.poison = t.binary(Op::Or, sum.poison, poison);
        }
    }
    sum.term = if bytes { fitted(t, sum.term, result, true) } else { t.extract(sum.term, 0, result) };
    sum
}
