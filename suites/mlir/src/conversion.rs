//! The targets' conversions, in tensors, of an integer that the storage type does not hold: the exact values that a known fault may lead to.
//!
//! A type of another width than 8, 16 or 32 bits is converted to 32 and kept in the next wider container between the loops of the lowering. From there signed
//! values are extended from the bits of the type, and unsigned ones are taken as they are: they are clamped as the container holds them, and cut where nothing clamps.
//! Seen in the code of llc 22.1.8 at -O0 and -O2, and held by `suites/tests/it/mlir_faults.rs`.

use rug::{Complete, Integer};
use tiebreak_oracle::quantize::{Conversion, Quantization, Storage};

/// The conversion of a kernel's code in a lane.
pub fn of(kernel: &str, lane: &str) -> Conversion {
    match lane {
        "mlir-x86" if kernel.ends_with("-o0") => |q, v| vec![kept(q, x86_scalar(q, v))],
        "mlir-x86" => |q, v| [x86_scalar(q, v), x86_vector(q, v)].map(|v| kept(q, v)).to_vec(),
        _ => |q, v| vec![kept(q, aarch64(q, v))],
    }
}

/// What `cvttss2si` and `cvttps2dq` give for everything beyond 32 bits.
const INDEFINITE: i64 = 1 << 31;

/// `cvttss2si` to 32 bits, and to 64 bits for unsigned types of more than 16.
fn x86_scalar(q: &Quantization, v: &Integer) -> i64 {
    let wide = !q.storage.signed && q.storage.bits > 16;
    v.to_i64().filter(|v| wide || i32::try_from(*v).is_ok()).unwrap_or(INDEFINITE)
}

/// `cvttps2dq` to 32 bits. For unsigned types what is above 2^31 comes from a second conversion, which has no more of what is beyond 2^32.
fn x86_vector(q: &Quantization, v: &Integer) -> i64 {
    let above = v.to_u32().filter(|_| !q.storage.signed).map(i64::from);
    v.to_i32().map(i64::from).or(above).unwrap_or(INDEFINITE)
}

/// `fcvtzs` to 32 bits, and `fcvtzu` for u32 alone. Both saturate.
fn aarch64(q: &Quantization, v: &Integer) -> i64 {
    let register = Storage { bits: 32, signed: q.storage.signed || q.storage.bits < 32 };
    let (min, max) = (Integer::from(register.min()), Integer::from(register.max()));
    v.clamp_ref(&min, &max).complete().to_i64_wrapping()
}

/// What the next loop reads of a register's low bits.
fn kept(q: &Quantization, v: i64) -> i64 {
    let clamped = (q.min, q.max) != (q.storage.min(), q.storage.max());
    let container = Storage { bits: q.storage.bits.next_power_of_two().max(8), ..q.storage };
    if clamped && !q.storage.signed { container.wrap(v) } else { q.storage.wrap(v) }
}
