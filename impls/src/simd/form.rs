//! Native forms: the vector code of a kernel over real instructions, under a symbol that a disassembler finds.

/// Makes the [`crate::kernel::Native`] form with the instructions in `fn name(arguments) body`, exported as `$symbol`. `$run` is the registered
/// function, in terms of `name`. The short pattern `$body::<Neon>(arguments)` registers a function that only calls `$body`.
macro_rules! neon_form {
    (
        $isa:ident, $symbol:literal, $instructions:tt, $type:ty,
        $body:ident::<Neon $(, $constant:ident)*>($($arg:ident: $arg_type:ty),+)
    ) => {
        $crate::simd::form::neon_form!(
            $isa, $symbol, $instructions, $type,
            fn native_form($($arg: $arg_type),+) {
                $body::<$crate::simd::Neon $(, $constant)*>($($arg),+);
            },
            native_form
        )
    };
    (
        $isa:ident, $symbol:literal, [$($instruction:literal),+], $type:ty,
        fn $name:ident($($arg:ident: $arg_type:ty),+) $body:block, $run:expr
    ) => {{
        #[cfg(target_arch = "aarch64")]
        const RUN: Option<$type> = {
            // SAFETY: the name has this project's prefix, and each name is used once.
            #[unsafe(export_name = $symbol)]
            #[inline(never)]
            extern "Rust" fn $name($($arg: $arg_type),+) {
                $crate::simd::isa::$isa.require();
                $body
            }
            Some($run)
        };
        #[cfg(not(target_arch = "aarch64"))]
        const RUN: Option<$type> = None;
        $crate::simd::form::native(&$crate::simd::isa::$isa, $symbol, &[$($instruction),+], RUN)
    }};
}
pub(crate) use neon_form;

/// Makes the form of `$body::<Neon>(params, tensors, out)` with the caller's types `Params` and `Run`: `body<CONSTANTS>(tensors: element)`.
macro_rules! params_form {
    ($symbol:literal, $instructions:tt, $body:ident $(<$($constant:ident),+>)? ($($tensor:ident),+: $element:ty)) => {
        $crate::simd::form::neon_form!(
            NEON, $symbol, $instructions, Run,
            $body::<Neon $($(, $constant)+)?>(params: &Params, $($tensor: &[$element],)+ out: &mut [i32])
        )
    };
}
pub(crate) use params_form;

/// Makes a native form on x86: `body` is compiled with AVX2 enabled, and entered only if the CPU has `$isa`.
macro_rules! avx2_form {
    (
        $isa:ident, $symbol:literal, [$($instruction:literal),+], $type:ty,
        fn $name:ident($($arg:ident: $arg_type:ty),+) $body:block, $run:expr
    ) => {{
        #[cfg(target_arch = "x86_64")]
        const RUN: Option<$type> = {
            // SAFETY: the name has this project's prefix, and each name is used once.
            #[unsafe(export_name = $symbol)]
            #[inline(never)]
            #[target_feature(enable = "avx2")]
            extern "Rust" fn body($($arg: $arg_type),+) $body

            fn $name($($arg: $arg_type),+) {
                $crate::simd::isa::$isa.require();
                // SAFETY: the CPU has just been checked.
                unsafe { body($($arg),+) }
            }
            Some($run)
        };
        #[cfg(not(target_arch = "x86_64"))]
        const RUN: Option<$type> = None;
        $crate::simd::form::native(&$crate::simd::isa::$isa, $symbol, &[$($instruction),+], RUN)
    }};
}
pub(crate) use avx2_form;

/// Makes a native form with blocks of [`super::avx512::step`], which need no target feature around them.
macro_rules! avx512_form {
    (
        $isa:ident, $symbol:literal, [$($instruction:literal),+], $type:ty,
        fn $name:ident($($arg:ident: $arg_type:ty),+) $body:block
    ) => {{
        #[cfg(target_arch = "x86_64")]
        const RUN: Option<$type> = {
            // SAFETY: the name has this project's prefix, and each name is used once.
            #[unsafe(export_name = $symbol)]
            #[inline(never)]
            extern "Rust" fn $name($($arg: $arg_type),+) {
                $crate::simd::isa::$isa.require();
                $body
            }
            Some($name)
        };
        #[cfg(not(target_arch = "x86_64"))]
        const RUN: Option<$type> = None;
        $crate::simd::form::native(&$crate::simd::isa::$isa, $symbol, &[$($instruction),+], RUN)
    }};
}
pub(crate) use avx512_form;

/// Calls a function that is generic over [`super::Wide`] on real registers. VNNI has the encoding of the CPU.
#[cfg(target_arch = "x86_64")]
macro_rules! on_avx2 {
    (VNNI, $run:ident($($arg:ident),+)) => {
        if $crate::simd::avx2::evex() {
            $run::<$crate::simd::avx2::Ymm<true>>($($arg),+);
        } else {
            $run::<$crate::simd::avx2::Ymm<false>>($($arg),+);
        }
    };
    ($isa:ident, $run:ident($($arg:ident),+)) => {
        $run::<$crate::simd::avx2::Avx2>($($arg),+)
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use on_avx2;

use super::isa::Isa;
use crate::kernel::Native;

/// Makes a native form that needs `isa`.
pub(crate) const fn native<R: Copy>(
    isa: &Isa,
    symbol: &'static str,
    instructions: &'static [&'static str],
    run: Option<R>,
) -> Native<R> {
    Native { isa: isa.name, arch: isa.arch, instructions, symbol, available: isa.available, run }
}
