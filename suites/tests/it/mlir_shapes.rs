//! Tensor sizes that the shipped lowering of the quant dialect assumes: the number of channels of a dynamic axis, and static shapes. Origin: RFC
//! "Improvements in the 'quant' dialect", the four cases of its lowering; finding 47.

use crate::mlir_workflow::Tools;

/// Function `@f` that quantizes a dynamic axis of two channels.
const CHANNELS: &str = "\
!q = !quant.uniform<i8:f32:0, {2.0, 3.0}>
func.func @f(%x: tensor<?xf32> {bufferization.writable = false}) -> tensor<?xi8> attributes {llvm.emit_c_interface} {
  %q = quant.qcast %x : tensor<?xf32> to tensor<?x!q>
  %r = quant.scast %q : tensor<?x!q> to tensor<?xi8>
  return %r : tensor<?xi8>
}
";

/// Program that calls `@f` with one, two and eighty elements, all 12. It prints the size of the result, its first elements, how many of them the call
/// wrote, and the number of bytes written beyond the requested memory.
const CALLER: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef struct { int8_t *base, *data; int64_t offset, size, stride; } bytes;
typedef struct { float *base, *data; int64_t offset, size, stride; } floats;
void _mlir_ciface_f(bytes *out, floats *x);
static _Alignas(64) unsigned char memory[4096];
static size_t requested;
void *__wrap_malloc(size_t size) {
    requested = size;
    memset(memory, 0x5a, sizeof memory);
    return memory;
}
int main(void) {
    static const int sizes[] = {1, 2, 80};
    float x[80];
    for (int i = 0; i < 80; i++) x[i] = 12;
    for (int k = 0; k < 3; k++) {
        floats v = {x, x, 0, sizes[k], 1};
        bytes out;
        _mlir_ciface_f(&out, &v);
        size_t beyond = 0;
        for (size_t i = requested; i < sizeof memory; i++) beyond += memory[i] != 0x5a;
        int8_t *r = out.data + out.offset;
        printf("%d: %ld of %d %d, %s\n", sizes[k], (long)out.size, r[0], r[1], beyond ? "more written" : "no more written");
    }
    return 0;
}
"#;

/// The RFC expects as many channels as the type has, but no code checks this. Two channels give the two results of the type. One channel gives two
/// results, one of them never written. Eighty channels give two results, and write beyond their memory.
#[test]
fn the_number_of_channels_of_a_run_is_not_checked() {
    let tools = Tools::new();
    let lowered = tools.made("builtin.module(func.func(lower-quant-ops),canonicalize)", CHANNELS);
    assert!(lowered.contains("tensor.empty() : tensor<2xi8>") && !lowered.contains("cf.assert"), "{lowered}");
    for level in [0, 2] {
        let printed = tools.printed((CHANNELS, CALLER), level, &["-Wl,--wrap=malloc"]);
        let lines: Vec<&str> = printed.lines().collect();
        let expected = ["1: 2 of 6 90, no more written", "2: 2 of 6 4, no more written", "80: 2 of 6 4, more written"];
        assert_eq!(lines, expected, "-O{level}");
    }
}

/// Returns an `@f` that dequantizes 256 bytes.
fn dequantized(shape: &str) -> String {
    format!(
        "!q = !quant.uniform<i8:f32, 0.3:5>\n\
         func.func @f(%x: tensor<{shape}xi8> {{bufferization.writable = false}}) -> tensor<{shape}xf32> \
         attributes {{llvm.emit_c_interface}} {{\n  \
         %q = quant.scast %x : tensor<{shape}xi8> to tensor<{shape}x!q>\n  \
         %r = quant.dcast %q : tensor<{shape}x!q> to tensor<{shape}xf32>\n  return %r : tensor<{shape}xf32>\n}}\n"
    )
}

/// Program that calls `@f` on all bytes, and prints how many results equal the product in f32.
const ALL_BYTES: &str = r#"#include <stdint.h>
#include <stdio.h>
typedef struct { int8_t *base, *data; int64_t offset, size, stride; } bytes;
typedef struct { float *base, *data; int64_t offset, size, stride; } floats;
void _mlir_ciface_f(floats *out, bytes *x);
int main(void) {
    int8_t x[256];
    for (int i = 0; i < 256; i++) x[i] = (int8_t)(i - 128);
    bytes v = {x, x, 0, 256, 1};
    floats out;
    _mlir_ciface_f(&out, &v);
    int equal = 0;
    for (int i = 0; i < 256; i++) equal += out.data[out.offset + i * out.stride] == (float)(x[i] - 5) * 0.3f;
    printf("%ld %d\n", (long)out.size, equal);
    return 0;
}
"#;

/// Scale and zero point of a layer are spread over its tensor, as a constant for a static shape and as an operation for a dynamic one. Both compute
/// the same results.
#[test]
fn a_static_shape_folds_to_one_constant() {
    let tools = Tools::new();
    let lowered =
        |shape: &str| tools.made("builtin.module(func.func(lower-quant-ops),canonicalize)", &dequantized(shape));
    let (fixed, dynamic) = (lowered("256"), lowered("?"));
    assert!(fixed.contains("dense<3.000000e-01> : tensor<256xf32>") && !fixed.contains("tensor.splat"), "{fixed}");
    assert!(dynamic.contains("tensor.splat"), "{dynamic}");
    for shape in ["256", "?"] {
        for level in [0, 2] {
            let printed = tools.printed((&dequantized(shape), ALL_BYTES), level, &[]);
            assert_eq!(printed.trim(), "256 256", "{shape} at -O{level}");
        }
    }
}
