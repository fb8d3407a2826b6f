//! Instructions that are not lane-wise: they widen, narrow, combine or move lanes. The instructions of integer products are among them.

use super::{Domain, Kernel, Lanes, Run};
use crate::contract::{Contract, Overflow};
use crate::simd::form::native;
use crate::simd::isa::{self, Isa};
use crate::simd::{BYTES, Float, Portable, PortableWide, Register, WIDE_BYTES, Wide};

const ARM: &str = "Arm Architecture Reference Manual (DDI 0487), section C7.2";
const INTEL: &str = "Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2";
const NONE: Lanes = Lanes::NONE;
const U8: Lanes = Lanes::of(16, 8, false);
const S8: Lanes = Lanes::of(16, 8, true);
const U16: Lanes = Lanes::of(8, 16, false);
const S16: Lanes = Lanes::of(8, 16, true);
const S32: Lanes = Lanes::of(4, 32, true);
const WIDE_U8: Lanes = Lanes::of(32, 8, false);
const WIDE_S8: Lanes = Lanes::of(32, 8, true);
const WIDE_S16: Lanes = Lanes::of(16, 16, true);
const WIDE_S32: Lanes = Lanes::of(8, 32, true);
const WIDEST_U8: Lanes = Lanes::of(64, 8, false);
const WIDEST_S8: Lanes = Lanes::of(64, 8, true);
const WIDEST_S16: Lanes = Lanes::of(32, 16, true);
const WIDEST_S32: Lanes = Lanes::of(16, 32, true);

/// Runs `step(acc, a, b)` on the registers of each vector.
#[inline(always)]
pub(crate) fn each<const N: usize>(
    domain: &Domain,
    [a, b, acc]: [&[i32]; 3],
    (out, qc): (&mut [i32], &mut [i32]),
    step: impl Fn(&[u8; N], &[u8; N], &[u8; N]) -> ([u8; N], bool),
) {
    for (i, (out, qc)) in out.chunks_mut(domain.result.count).zip(qc).enumerate() {
        let register = |lanes: Lanes, values: &[i32]| {
            let (from, to) = (i * lanes.count, (i + 1) * lanes.count);
            lanes.pack::<N>(&values[from.min(values.len())..to.min(values.len())])
        };
        let (result, saturated) = step(&register(domain.acc, acc), &register(domain.a, a), &register(domain.b, b));
        domain.result.unpack(&result, out);
        *qc = i32::from(saturated);
    }
}

/// Runs the model of an instruction on 128 bits; `model` returns the result, and true if it sets the flag.
#[inline(always)]
pub(crate) fn model_128(
    domain: &Domain,
    operands: [&[i32]; 3],
    results: (&mut [i32], &mut [i32]),
    model: impl Fn(Portable, Portable, Portable) -> (Portable, bool),
) {
    each::<BYTES>(domain, operands, results, |acc, a, b| {
        let [acc, a, b] = [acc, a, b].map(Portable::load_bytes);
        let (result, saturated) = model(acc, a, b);
        let mut bytes = [0; BYTES];
        result.store_bytes(&mut bytes);
        (bytes, saturated)
    });
}

/// Runs the model of an instruction on 256 bits, which has no flag.
#[inline(always)]
pub(crate) fn model_256(
    domain: &Domain,
    operands: [&[i32]; 3],
    results: (&mut [i32], &mut [i32]),
    model: impl Fn(PortableWide, PortableWide, PortableWide) -> PortableWide,
) {
    each::<WIDE_BYTES>(domain, operands, results, |acc, a, b| {
        let [acc, a, b] = [acc, a, b].map(PortableWide::load_bytes);
        let mut words = [0; 8];
        model(acc, a, b).store(&mut words);
        (bytemuck::cast(words.map(i32::to_le)), false)
    });
}

/// Runs the model of an instruction on 512 bits: the model on 256 bits, twice.
#[inline(always)]
pub(crate) fn model_512(
    domain: &Domain,
    operands: [&[i32]; 3],
    results: (&mut [i32], &mut [i32]),
    model: impl Fn(PortableWide, PortableWide, PortableWide) -> PortableWide,
) {
    each::<{ 2 * WIDE_BYTES }>(domain, operands, results, |acc, a, b| {
        let [acc, a, b] = [acc, a, b].map(|bytes| bytes.as_chunks::<WIDE_BYTES>().0);
        let mut words = [0; 16];
        for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let [acc, a, b] = [acc, a, b].map(|bytes| PortableWide::load_bytes(&bytes[half]));
            model(acc, a, b).store(words);
        }
        (bytemuck::cast(words.map(i32::to_le)), false)
    });
}

/// True if a lane is outside the range.
fn outside(lanes: impl IntoIterator<Item = i32>, min: i32, max: i32) -> bool {
    lanes.into_iter().any(|lane| lane < min || lane > max)
}

fn words(register: Portable) -> [i32; 4] {
    let mut words = [0; 4];
    crate::simd::Vector::store(register, &mut words);
    words
}

fn halves(register: Portable) -> [i32; 8] {
    let mut bytes = [0; BYTES];
    register.store_bytes(&mut bytes);
    std::array::from_fn(|i| i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]).into())
}

/// Builds a kernel of one instruction from name, summary and manual. The instruction is in a function without a name.
const fn kernel(
    [name, summary, source]: [&'static str; 3],
    instructions: &'static [&'static str],
    isa: &Isa,
    domain: Domain,
    portable: Run,
    run: Option<Run>,
) -> Kernel {
    Kernel {
        name,
        summary,
        contract: Contract::new(name, Overflow::Wrap, domain, source),
        portable,
        native: Some(native(isa, "", instructions, run)),
    }
}

/// Defines an Arm instruction: constant, name, mnemonic, instruction set, operands and result, model, and assembler lines.
macro_rules! neon {
    (
        $constant:ident, $name:literal, $mnemonic:literal, $isa:ident, ($a:expr, $b:expr, $acc:expr) => $result:expr,
        |$d:ident, $x:ident, $y:ident| $model:expr, $($template:literal),+
    ) => {
        pub(crate) const $constant: Kernel = {
            const DOMAIN: Domain = Domain { a: $a, b: $b, acc: $acc, result: $result };
            #[cfg(target_arch = "aarch64")]
            const RUN: Option<Run> = Some(super::neon::register_form!(DOMAIN, $($template),+));
            #[cfg(not(target_arch = "aarch64"))]
            const RUN: Option<Run> = None;
            let words = [$name, concat!($mnemonic, ", the arrangement of the result is that of the name"), ARM];
            let portable: Run = |operands, out, qc| model_128(&DOMAIN, operands, (out, qc), |$d, $x, $y| $model);
            kernel(words, &[$mnemonic], &isa::$isa, DOMAIN, portable, RUN)
        };
    };
}

/// Defines an x86 instruction on registers of a width: the model for that width, and the native code.
macro_rules! on_registers {
    (
        $constant:ident, $name:literal, $mnemonic:literal, $isa:ident, ($a:expr, $b:expr, $acc:expr) => $result:expr,
        $registers:literal, $width:ident(|$d:ident, $x:ident, $y:ident| $model:expr), $run:expr
    ) => {
        pub(crate) const $constant: Kernel = {
            const DOMAIN: Domain = Domain { a: $a, b: $b, acc: $acc, result: $result };
            #[cfg(target_arch = "x86_64")]
            const RUN: Option<Run> = Some($run);
            #[cfg(not(target_arch = "x86_64"))]
            const RUN: Option<Run> = None;
            let words = [$name, concat!($mnemonic, " on ", $registers, " registers"), INTEL];
            let portable: Run = |operands, out, qc| $width(&DOMAIN, operands, (out, qc), |$d, $x, $y| $model);
            kernel(words, &[$mnemonic], &isa::$isa, DOMAIN, portable, RUN)
        };
    };
}

/// Defines an x86 instruction on `ymm` registers.
macro_rules! x86 {
    ($constant:ident, $name:literal, $mnemonic:literal, $isa:ident, $operands:tt => $result:expr, |$d:ident, $x:ident, $y:ident| $model:expr) => {
        on_registers!(
            $constant, $name, $mnemonic, $isa, $operands => $result, "ymm", model_256(|$d, $x, $y| $model),
            super::avx2::wide_form!(DOMAIN, $isa, |$d, $x, $y| $model)
        );
    };
}

/// Defines an x86 instruction on `zmm` registers.
macro_rules! avx512 {
    ($constant:ident, $name:literal, $mnemonic:literal, $isa:ident, $operands:tt => $result:expr, |$d:ident, $x:ident, $y:ident| $model:expr) => {
        on_registers!(
            $constant, $name, $mnemonic, $isa, $operands => $result, "zmm", model_512(|$d, $x, $y| $model),
            |operands, out, qc| {
                isa::$isa.require();
                each::<64>(&DOMAIN, operands, (out, qc), |acc, a, b| {
                    let mut result = *acc;
                    crate::simd::avx512::step!(result, a, b, concat!($mnemonic, " zmm0, zmm1, zmm2"));
                    (result, false)
                });
            }
        );
    };
}

neon!(UMULL, "umull.8h", "umull", NEON, (U8, U8, NONE) => U16, |_d, x, y| (x.umull(y), false), "umull {d:v}.8h, {a:v}.8b, {b:v}.8b");
neon!(UMULL2, "umull2.8h", "umull2", NEON, (U8, U8, NONE) => U16, |_d, x, y| (x.umull2(y), false), "umull2 {d:v}.8h, {a:v}.16b, {b:v}.16b");
neon!(SMULL, "smull.8h", "smull", NEON, (S8, S8, NONE) => S16, |_d, x, y| (x.smull(y), false), "smull {d:v}.8h, {a:v}.8b, {b:v}.8b");
neon!(SMULL2, "smull2.8h", "smull2", NEON, (S8, S8, NONE) => S16, |_d, x, y| (x.smull2(y), false), "smull2 {d:v}.8h, {a:v}.16b, {b:v}.16b");
neon!(UMLAL2_8H, "umlal2.8h", "umlal2", NEON, (U8, U8, U16) => U16, |d, x, y| (d.umlal2_8h(x, y), false), "umlal2 {d:v}.8h, {a:v}.16b, {b:v}.16b");
neon!(SMLAL2_8H, "smlal2.8h", "smlal2", NEON, (S8, S8, S16) => S16, |d, x, y| (d.smlal2_8h(x, y), false), "smlal2 {d:v}.8h, {a:v}.16b, {b:v}.16b");
neon!(UMLAL_4S, "umlal.4s", "umlal", NEON, (U16, U16, S32) => S32, |d, x, y| (d.umlal_4s(x, y), false), "umlal {d:v}.4s, {a:v}.4h, {b:v}.4h");
neon!(UMLAL2_4S, "umlal2.4s", "umlal2", NEON, (U16, U16, S32) => S32, |d, x, y| (d.umlal2_4s(x, y), false), "umlal2 {d:v}.4s, {a:v}.8h, {b:v}.8h");
neon!(SMLAL_4S, "smlal.4s", "smlal", NEON, (S16, S16, S32) => S32, |d, x, y| (d.smlal_4s(x, y), false), "smlal {d:v}.4s, {a:v}.4h, {b:v}.4h");
neon!(SMLAL2_4S, "smlal2.4s", "smlal2", NEON, (S16, S16, S32) => S32, |d, x, y| (d.smlal2_4s(x, y), false), "smlal2 {d:v}.4s, {a:v}.8h, {b:v}.8h");
neon!(UADALP_8H, "uadalp.8h", "uadalp", NEON, (U8, NONE, U16) => U16, |d, x, _y| (d.uadalp_8h(x), false), "uadalp {d:v}.8h, {a:v}.16b // {b:v}");
neon!(SADALP_8H, "sadalp.8h", "sadalp", NEON, (S8, NONE, S16) => S16, |d, x, _y| (d.sadalp_8h(x), false), "sadalp {d:v}.8h, {a:v}.16b // {b:v}");
neon!(UADALP_4S, "uadalp.4s", "uadalp", NEON, (U16, NONE, S32) => S32, |d, x, _y| (d.uadalp_4s(x), false), "uadalp {d:v}.4s, {a:v}.8h // {b:v}");
neon!(SADALP_4S, "sadalp.4s", "sadalp", NEON, (S16, NONE, S32) => S32, |d, x, _y| (d.sadalp_4s(x), false), "sadalp {d:v}.4s, {a:v}.8h // {b:v}");
neon!(ADD_8H, "add.8h", "add", NEON, (U16, U16, NONE) => U16, |_d, x, y| (x.add_8h(y), false), "add {d:v}.8h, {a:v}.8h, {b:v}.8h");
neon!(ADDP, "addp.4s", "addp", NEON, (S32, S32, NONE) => S32, |_d, x, y| (x.addp(y), false), "addp {d:v}.4s, {a:v}.4s, {b:v}.4s");
neon!(UDOT, "udot.4s", "udot", DOTPROD, (U8, U8, S32) => S32, |d, x, y| (d.udot(x, y), false), ".arch_extension dotprod", "udot {d:v}.4s, {a:v}.16b, {b:v}.16b");
neon!(SDOT, "sdot.4s", "sdot", DOTPROD, (S8, S8, S32) => S32, |d, x, y| (d.sdot(x, y), false), ".arch_extension dotprod", "sdot {d:v}.4s, {a:v}.16b, {b:v}.16b");
neon!(UMMLA, "ummla.4s", "ummla", I8MM, (U8, U8, S32) => S32, |d, x, y| (d.ummla(x, y), false), ".arch_extension i8mm", "ummla {d:v}.4s, {a:v}.16b, {b:v}.16b");
neon!(SMMLA, "smmla.4s", "smmla", I8MM, (S8, S8, S32) => S32, |d, x, y| (d.smmla(x, y), false), ".arch_extension i8mm", "smmla {d:v}.4s, {a:v}.16b, {b:v}.16b");
neon!(CNT, "cnt.16b", "cnt", NEON, (U8, NONE, NONE) => U8, |_d, x, _y| (x.cnt(), false), "cnt {d:v}.16b, {a:v}.16b // {b:v}");
neon!(ZIP1, "zip1.2d", "zip1", NEON, (S32, S32, NONE) => S32, |_d, x, y| (x.zip1_2d(y), false), "zip1 {d:v}.2d, {a:v}.2d, {b:v}.2d");
neon!(ZIP2, "zip2.2d", "zip2", NEON, (S32, S32, NONE) => S32, |_d, x, y| (x.zip2_2d(y), false), "zip2 {d:v}.2d, {a:v}.2d, {b:v}.2d");
neon!(SXTL, "sxtl.8h", "sxtl", NEON, (S8, NONE, NONE) => S16, |_d, x, _y| (x.sxtl(), false), "sxtl {d:v}.8h, {a:v}.8b // {b:v}");
neon!(SXTL2, "sxtl2.8h", "sxtl2", NEON, (S8, NONE, NONE) => S16, |_d, x, _y| (x.sxtl2(), false), "sxtl2 {d:v}.8h, {a:v}.16b // {b:v}");
neon!(UXTL, "uxtl.8h", "uxtl", NEON, (U8, NONE, NONE) => U16, |_d, x, _y| (x.uxtl(), false), "uxtl {d:v}.8h, {a:v}.8b // {b:v}");
neon!(UXTL2, "uxtl2.8h", "uxtl2", NEON, (U8, NONE, NONE) => U16, |_d, x, _y| (x.uxtl2(), false), "uxtl2 {d:v}.8h, {a:v}.16b // {b:v}");
neon!(SQXTN_4H, "sqxtn.4h", "sqxtn", NEON, (S32, NONE, NONE) => S16, |_d, x, _y| (x.sqxtn_4h(), outside(words(x), -32768, 32767)), "sqxtn {d:v}.4h, {a:v}.4s // {b:v}");
neon!(SQXTN2_8H, "sqxtn2.8h", "sqxtn2", NEON, (S32, NONE, S16) => S16, |d, x, _y| (d.sqxtn2_8h(x), outside(words(x), -32768, 32767)), "sqxtn2 {d:v}.8h, {a:v}.4s // {b:v}");
neon!(SQXTN_8B, "sqxtn.8b", "sqxtn", NEON, (S16, NONE, NONE) => S8, |_d, x, _y| (x.sqxtn_8b(), outside(halves(x), -128, 127)), "sqxtn {d:v}.8b, {a:v}.8h // {b:v}");
neon!(SQXTUN_8B, "sqxtun.8b", "sqxtun", NEON, (S16, NONE, NONE) => U8, |_d, x, _y| (x.sqxtun_8b(), outside(halves(x), 0, 255)), "sqxtun {d:v}.8b, {a:v}.8h // {b:v}");

x86!(VPMADDUBSW, "vpmaddubsw.ymm", "vpmaddubsw", AVX2, (WIDE_U8, WIDE_S8, NONE) => WIDE_S16, |_d, x, y| x.vpmaddubsw(y));
x86!(VPMADDWD, "vpmaddwd.ymm", "vpmaddwd", AVX2, (WIDE_S16, WIDE_S16, NONE) => WIDE_S32, |_d, x, y| x.vpmaddwd(y));
x86!(VPDPBUSD, "vpdpbusd.ymm", "vpdpbusd", VNNI, (WIDE_U8, WIDE_S8, WIDE_S32) => WIDE_S32, |d, x, y| d.vpdpbusd(x, y));
x86!(VPDPBUSDS, "vpdpbusds.ymm", "vpdpbusds", VNNI, (WIDE_U8, WIDE_S8, WIDE_S32) => WIDE_S32, |d, x, y| d.vpdpbusds(x, y));
x86!(VPDPBSSD, "vpdpbssd.ymm", "vpdpbssd", VNNI_INT8, (WIDE_S8, WIDE_S8, WIDE_S32) => WIDE_S32, |d, x, y| d.vpdpbssd(x, y));

avx512!(VPMADDUBSW_512, "vpmaddubsw.zmm", "vpmaddubsw", AVX512, (WIDEST_U8, WIDEST_S8, NONE) => WIDEST_S16, |_d, x, y| x.vpmaddubsw(y));
avx512!(VPMADDWD_512, "vpmaddwd.zmm", "vpmaddwd", AVX512, (WIDEST_S16, WIDEST_S16, NONE) => WIDEST_S32, |_d, x, y| x.vpmaddwd(y));
avx512!(VPDPBUSD_512, "vpdpbusd.zmm", "vpdpbusd", VNNI512, (WIDEST_U8, WIDEST_S8, WIDEST_S32) => WIDEST_S32, |d, x, y| d.vpdpbusd(x, y));
avx512!(VPDPBUSDS_512, "vpdpbusds.zmm", "vpdpbusds", VNNI512, (WIDEST_U8, WIDEST_S8, WIDEST_S32) => WIDEST_S32, |d, x, y| d.vpdpbusds(x, y));
