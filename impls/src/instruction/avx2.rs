//! Native execution of the x86 instructions. They have no cumulative saturation flag.

/// Builds the native form of an instruction that [`super::register`] describes, on 256 bits. `$run` is generic over [`crate::simd::Wide`].
macro_rules! wide_form {
    ($domain:expr, $isa:ident, |$acc:ident, $a:ident, $b:ident| $run:expr) => {{
        fn one<W: $crate::simd::Wide>($acc: W, $a: W, $b: W) -> W {
            $run
        }

        #[target_feature(enable = "avx2")]
        fn all(operands: [&[i32]; 3], out: &mut [i32], qc: &mut [i32]) {
            use $crate::simd::Wide;
            $crate::instruction::register::each::<32>(&$domain, operands, (out, qc), |acc, a, b| {
                fn run<W: Wide>(acc: &[u8; 32], a: &[u8; 32], b: &[u8; 32], to: &mut [i32; 8]) {
                    one(W::load_bytes(acc), W::load_bytes(a), W::load_bytes(b)).store(to);
                }
                let mut words = [0; 8];
                let to = &mut words;
                $crate::simd::form::on_avx2!($isa, run(acc, a, b, to));
                (bytemuck::cast(words.map(i32::to_le)), false)
            });
        }

        |operands, out, qc| {
            $crate::simd::isa::$isa.require();
            // SAFETY: `require` has checked that the CPU has the instruction set.
            unsafe { all(operands, out, qc) }
        }
    }};
}
pub(super) use wide_form;
