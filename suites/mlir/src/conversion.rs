//! Conversions of the targets, in tensors, of an integer beyond the storage type: the exact values that a known fault can cause.
//!
//! For a type of another width than 8, 16 or 32 bits, the code converts to 32 bits and stores the next wider container between the loops of the
//! lowering. The next loop extends signed values from the bits of the type. If it clamps, it reads unsigned values from the whole container;
//! otherwise it cuts them to the type. Derived from the code of llc 22.1.8 at -O0 and -O2, and checked by `suites/tests/it/mlir_faults.rs`.

use rug::{Complete, Integer};
use tiebreak_oracle::quantize::{Conversion, Quantization, Storage};

/// Returns the conversion in a kernel's code in a lane.
pub fn of(kernel: &str, lane: &str) -> Conversion {
    match lane {
        "mlir-x86" if kernel.ends_with("-o0") => |q, v| vec![kept(q, x86_scalar(q, v))],
        "mlir-x86" => |q, v| [x86_scalar(q, v), x86_vector(q, v)].map(|v| kept(q, v)).to_vec(),
        _ => |q, v| vec![kept(q, aarch64(q, v))],
    }
}

/// Result of `cvttss2si` and `cvttps2dq` beyond 32 bits.
const INDEFINITE: i64 = 1 << 31;

/// Converts with `cvttss2si` to 32 bits, or to 64 bits for unsigned types of more than 16 bits.
fn x86_scalar(q: &Quantization, v: &Integer) -> i64 {
    let wide = !q.storage.signed && q.storage.bits > 16;
    v.to_i64().filter(|v| wide || i32::try_from(*v).is_ok()).unwrap_or(INDEFINITE)
}

/// Converts with `cvttps2dq` to 32 bits. For unsigned types, a second conversion gives values from 2^31 up to 2^32, and no larger values.
fn x86_vector(q: &Quantization, v: &Integer) -> i64 {
    let above = v.to_u32().filter(|_| !q.storage.signed).map(i64::from);
    v.to_i32().map(i64::from).or(above).unwrap_or(INDEFINITE)
}

/// Converts with `fcvtzs` to 32 bits, or with `fcvtzu` for u32. Both saturate.
fn aarch64(q: &Quantization, v: &Integer) -> i64 {
    let register = Storage { bits: 32, signed: q.storage.signed || q.storage.bits < 32 };
    let (min, max) = (Integer::from(register.min()), Integer::from(register.max()));
    v.clamp_ref(&min, &max).complete().to_i64_wrapping()
}

/// Returns the value that the next loop reads from a register's low bits.
fn kept(q: &Quantization, v: i64) -> i64 {
    let clamped = (q.min, q.max) != (q.storage.min(), q.storage.max());
    let container = Storage { bits: q.storage.bits.next_power_of_two().max(8), ..q.storage };
    if clamped && !q.storage.signed { container.wrap(v) } else { q.storage.wrap(v) }
}
