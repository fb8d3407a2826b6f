//! How the program allocates: one allocator for all of it, exact arithmetic included. It is a crate of its own because the program's is not optimised, and
//! because fuzz targets keep the allocator that their sanitizers watch.

use gmp_mpfr_sys::gmp;
use mimalloc::MiMalloc;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;
use std::sync::Once;

/// The SHA-256 of what this crate was built from, which its build script gives it; none in a copy without one.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Lets GMP allocate as everything else does; by itself it takes the C library's allocator. To be called before anything is computed.
///
/// On Linux the program and the processes that it starts do without huge pages: most blocks are small and short-lived, and emptying two mebibytes for some
/// of them took a quarter of the system's part of a run.
pub fn prepare() {
    #[cfg(target_os = "linux")]
    // A kernel without them refuses this.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    shared_with_gmp();
}

fn shared_with_gmp() {
    static BEGUN: Once = Once::new();
    // SAFETY: the functions do what the manual of GMP asks of them ("Custom Allocation"). The program calls this first, and once, so that nothing is freed
    // by other functions than it was allocated by.
    BEGUN.call_once(|| unsafe { gmp::set_memory_functions(Some(allocate), Some(reallocate), Some(free)) });
}

/// Limbs want no more than this. An allocator may not be asked for nothing.
fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), align_of::<u128>()).expect("GMP asks for no more than there is")
}

extern "C" fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: of at least one byte.
    given(unsafe { alloc(layout(bytes)) }, bytes)
}

unsafe extern "C" fn reallocate(block: *mut c_void, before: usize, bytes: usize) -> *mut c_void {
    // SAFETY: GMP gives a block that it has from here, with the size it asked for last; of at least one byte.
    given(unsafe { realloc(block.cast(), layout(before), bytes.max(1)) }, bytes)
}

unsafe extern "C" fn free(block: *mut c_void, bytes: usize) {
    // SAFETY: as above.
    unsafe { dealloc(block.cast(), layout(bytes)) }
}

/// GMP wants a block, or no return at all.
fn given(block: *mut u8, bytes: usize) -> *mut c_void {
    if block.is_null() { handle_alloc_error(layout(bytes)) } else { block.cast() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmp_mpfr_sys::gmp::{mpz_clear, mpz_init, mpz_mul_2exp, mpz_set_ui, mpz_sizeinbase, mpz_t};
    use std::mem::MaybeUninit;

    #[test]
    fn gmp_allocates_here() {
        shared_with_gmp();
        let mut functions = (None, None, None);
        // SAFETY: three places for three functions.
        unsafe { gmp::get_memory_functions(&mut functions.0, &mut functions.1, &mut functions.2) };
        assert!(functions.0.is_some_and(|it| std::ptr::fn_addr_eq(it, allocate as extern "C" fn(_) -> _)));
        let mut number = MaybeUninit::<mpz_t>::uninit();
        let number = number.as_mut_ptr();
        // SAFETY: a number is made, grows past what it has, and goes.
        let bits = unsafe {
            mpz_init(number);
            mpz_set_ui(number, 5);
            mpz_mul_2exp(number, number, 100_000);
            let bits = mpz_sizeinbase(number, 2);
            mpz_clear(number);
            bits
        };
        assert_eq!(bits, 100_003);
    }
}
