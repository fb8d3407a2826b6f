//! Allocator of the program, also used by GMP. It is in its own crate because the crate of the program is compiled without optimization, and because
//! fuzz targets must keep the allocator that their sanitizers watch.

use gmp_mpfr_sys::gmp;
use mimalloc::MiMalloc;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;
use std::sync::Once;

/// SHA-256 of the sources of this crate, set by its build script; `None` outside a workspace of the project.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Makes GMP use the allocator of the program instead of the C library's. To be called before any computation.
///
/// On Linux, `prepare` also disables huge pages for the program and the processes that it starts. Most blocks are small and short-lived, and clearing
/// two mebibytes for a few of them took a quarter of the system time of a run.
pub fn prepare() {
    #[cfg(target_os = "linux")]
    // A kernel without huge pages returns an error.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    shared_with_gmp();
}

fn shared_with_gmp() {
    static BEGUN: Once = Once::new();
    // SAFETY: the functions satisfy the manual of GMP ("Custom Allocation"). The program calls this first, and once, so that each block is freed by
    // the allocator that allocated it.
    BEGUN.call_once(|| unsafe { gmp::set_memory_functions(Some(allocate), Some(reallocate), Some(free)) });
}

/// Returns a layout whose alignment suffices for limbs. Its size is at least 1, because an allocation of 0 bytes is undefined.
fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), align_of::<u128>()).expect("GMP asks for no more than there is")
}

extern "C" fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: the layout has at least one byte.
    given(unsafe { alloc(layout(bytes)) }, bytes)
}

unsafe extern "C" fn reallocate(block: *mut c_void, before: usize, bytes: usize) -> *mut c_void {
    // SAFETY: GMP passes a block of this allocator with the size that it last requested; the layout has at least one byte.
    given(unsafe { realloc(block.cast(), layout(before), bytes.max(1)) }, bytes)
}

unsafe extern "C" fn free(block: *mut c_void, bytes: usize) {
    // SAFETY: GMP passes a block of this allocator with the size that it last requested.
    unsafe { dealloc(block.cast(), layout(bytes)) }
}

/// Returns the block, or aborts if it is null: GMP expects a block or no return.
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
        // SAFETY: the three pointers are valid for the three functions.
        unsafe { gmp::get_memory_functions(&mut functions.0, &mut functions.1, &mut functions.2) };
        assert!(functions.0.is_some_and(|it| std::ptr::fn_addr_eq(it, allocate as extern "C" fn(_) -> _)));
        let mut number = MaybeUninit::<mpz_t>::uninit();
        let number = number.as_mut_ptr();
        // SAFETY: the number is initialised, grows beyond its allocation, and is cleared.
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
