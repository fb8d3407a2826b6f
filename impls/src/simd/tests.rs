//! Models against the instructions of this machine, register by register.

#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
use {super::isa::Isa, crate::random::Random, std::io::Write};

/// Returns deterministic bytes, more than half of them extremes, so that sums reach the ends of their lanes.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
fn bytes<const N: usize>(random: &mut Random) -> [u8; N] {
    std::array::from_fn(|_| {
        let word = random.word();
        let random = word as u8;
        match word >> 29 {
            0..=4 => [0x00, 0x7f, 0x80, 0xff][usize::from(random % 4)],
            _ => random,
        }
    })
}

/// Reports that a test has nothing to run on this machine. The test runner hides the output of a passing test, but not this direct write.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
fn not_run(isa: &Isa) {
    writeln!(std::io::stderr(), "not run: this CPU has no {}", isa.name).expect("standard error can be written");
}

/// Registers tried for each instruction.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
const REGISTERS: usize = 20_000;

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::super::{Neon, Portable, Register};
    use super::{REGISTERS, bytes, not_run};
    use crate::random::Random;
    use crate::simd::isa::{DOTPROD, I8MM};

    /// Checks that methods of three operands agree on both types.
    macro_rules! agree {
        ($($name:ident($acc:ident, $a:ident, $b:ident) => $run:expr;)+) => {$(
            fn $name<R: Register>($acc: R, $a: R, $b: R) -> R {
                $run
            }
            let mut random = Random::new(1);
            for _ in 0..REGISTERS {
                let operands: [[u8; 16]; 3] = [bytes(&mut random), bytes(&mut random), bytes(&mut random)];
                let (mut model, mut instruction) = ([0; 16], [0; 16]);
                let [acc, a, b] = operands.each_ref().map(Portable::load_bytes);
                $name(acc, a, b).store_bytes(&mut model);
                let [acc, a, b] = operands.each_ref().map(Neon::load_bytes);
                $name(acc, a, b).store_bytes(&mut instruction);
                assert_eq!(model, instruction, "{} of {operands:?}", stringify!($name));
            }
        )+};
    }

    /// The extremes of every lane width include NaN, the neighbours of infinities, and subnormals of f32.
    #[test]
    fn float_instructions_are_their_models() {
        use super::super::Float;
        let mut random = Random::new(1);
        for _ in 0..REGISTERS {
            let operands: [[u8; 16]; 2] = [bytes(&mut random), bytes(&mut random)];
            fn all<R: Register + Float>(a: R, b: R) -> [R; 6] {
                [a.fcvtns(), a.sqxtn_4h(), a.sqxtn_4h().sqxtn2_8h(b), a.sqadd_8h(b), a.sqxtn_8b(), a.sqxtun_8b()]
            }
            fn products<R: Register + Float>(a: R, b: R) -> [i32; 4] {
                let mut lanes = [0; 4];
                a.fmul(b).store(&mut lanes);
                // The choice of NaN is left open.
                lanes.map(|bits| if f32::from_bits(bits as u32).is_nan() { -1 } else { bits })
            }
            let [a, b] = operands.each_ref().map(Portable::load_bytes);
            let [c, d] = operands.each_ref().map(Neon::load_bytes);
            for (model, instruction) in all(a, b).into_iter().zip(all(c, d)) {
                let (mut of_model, mut of_instruction) = ([0; 16], [0; 16]);
                model.store_bytes(&mut of_model);
                instruction.store_bytes(&mut of_instruction);
                assert_eq!(of_model, of_instruction, "{operands:?}");
            }
            assert_eq!(products(a, b), products(c, d), "{operands:?}");
        }
    }

    #[test]
    fn baseline_instructions_are_their_models() {
        agree! {
            umull(_acc, a, b) => a.umull(b);
            umull2(_acc, a, b) => a.umull2(b);
            smull(_acc, a, b) => a.smull(b);
            smull2(_acc, a, b) => a.smull2(b);
            umlal2(acc, a, b) => acc.umlal2_8h(a, b);
            smlal2(acc, a, b) => acc.smlal2_8h(a, b);
            uadalp_4s(acc, a, _b) => acc.uadalp_4s(a);
            sadalp_4s(acc, a, _b) => acc.sadalp_4s(a);
            uadalp_8h(acc, a, _b) => acc.uadalp_8h(a);
            sadalp_8h(acc, a, _b) => acc.sadalp_8h(a);
            add_8h(_acc, a, b) => a.add_8h(b);
            addp(_acc, a, b) => a.addp(b);
            sxtl(_acc, a, _b) => a.sxtl();
            sxtl2(_acc, a, _b) => a.sxtl2();
            uxtl(_acc, a, _b) => a.uxtl();
            uxtl2(_acc, a, _b) => a.uxtl2();
            umlal_4s(acc, a, b) => acc.umlal_4s(a, b);
            umlal2_4s(acc, a, b) => acc.umlal2_4s(a, b);
            smlal_4s(acc, a, b) => acc.smlal_4s(a, b);
            smlal2_4s(acc, a, b) => acc.smlal2_4s(a, b);
            cnt(_acc, a, _b) => a.cnt();
            zip1(_acc, a, b) => a.zip1_2d(b);
            zip2(_acc, a, b) => a.zip2_2d(b);
            and(_acc, a, b) => a.and(b);
        }
    }

    #[test]
    fn dot_product_instructions_are_their_models() {
        if !(DOTPROD.available)() {
            return not_run(&DOTPROD);
        }
        agree! {
            udot(acc, a, b) => acc.udot(a, b);
            sdot(acc, a, b) => acc.sdot(a, b);
        }
    }

    #[test]
    fn matrix_instructions_are_their_models() {
        if !(I8MM.available)() {
            return not_run(&I8MM);
        }
        agree! {
            ummla(acc, a, b) => acc.ummla(a, b);
            smmla(acc, a, b) => acc.smmla(a, b);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::avx2::{Ymm, evex};
    use super::super::{PortableWide, WIDE_LANES, Wide};
    use super::{REGISTERS, bytes, not_run};
    use crate::random::Random;
    use crate::simd::isa::{AVX2, VNNI, VNNI_INT8};

    /// Checks that methods of three operands agree on both types; `$real` is the type of real registers.
    macro_rules! agree {
        ($real:ty; $($name:ident($acc:ident, $a:ident, $b:ident) => $run:expr;)+) => {$(
            fn $name<W: Wide>($acc: W, $a: W, $b: W) -> W {
                $run
            }
            let mut random = Random::new(1);
            for _ in 0..REGISTERS {
                let operands: [[u8; 32]; 3] = [bytes(&mut random), bytes(&mut random), bytes(&mut random)];
                let (mut model, mut instruction) = ([0; WIDE_LANES], [0; WIDE_LANES]);
                let [acc, a, b] = operands.each_ref().map(PortableWide::load_bytes);
                $name(acc, a, b).store(&mut model);
                let [acc, a, b] = operands.each_ref().map(<$real>::load_bytes);
                $name(acc, a, b).store(&mut instruction);
                assert_eq!(model, instruction, "{} of {operands:?}", stringify!($name));
            }
        )+};
    }

    #[test]
    fn avx2_instructions_are_their_models() {
        if !(AVX2.available)() {
            return not_run(&AVX2);
        }
        agree! {
            Ymm<false>;
            vpmaddubsw(_acc, a, b) => a.vpmaddubsw(b);
            vpmaddwd(_acc, a, b) => a.vpmaddwd(b);
            vpaddd(_acc, a, b) => a.vpaddd(b);
            splat(_acc, a, _b) => a.vpmaddwd(W::splat_halves(-3));
            broadcast(_acc, a, _b) => a.vpaddd(W::broadcast(&[7; 16]));
        }
    }

    fn vnni<Real: Wide>() {
        agree! {
            Real;
            vpdpbusd(acc, a, b) => acc.vpdpbusd(a, b);
            vpdpbusds(acc, a, b) => acc.vpdpbusds(a, b);
        }
    }

    #[test]
    fn vnni_instructions_are_their_models() {
        if !(VNNI.available)() {
            return not_run(&VNNI);
        }
        if evex() { vnni::<Ymm<true>>() } else { vnni::<Ymm<false>>() }
    }

    #[test]
    fn signed_vnni_instructions_are_their_models() {
        if !(VNNI_INT8.available)() {
            return not_run(&VNNI_INT8);
        }
        agree! {
            Ymm<false>;
            vpdpbssd(acc, a, b) => acc.vpdpbssd(a, b);
        }
    }
}
