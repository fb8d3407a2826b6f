//! Float patterns as text.

use half::{bf16, f16};
use tiebreak_oracle::float::Format;

/// Returns the shortest decimal that parses to the same value; for a NaN, `0x` and the bit pattern.
pub fn shortest(format: Format, bits: u64) -> String {
    let text = match format {
        Format::F16 => format!("{:?}", f16::from_bits(bits as u16)),
        Format::Bf16 => format!("{:?}", bf16::from_bits(bits as u16)),
        Format::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Format::F64 => format!("{:?}", f64::from_bits(bits)),
    };
    if text.contains("NaN") { format!("{bits:#x}") } else { text }
}
