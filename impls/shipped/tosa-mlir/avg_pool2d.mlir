// `tosa.avg_pool2d`. The shipped lowering wants constant zero points, and every size but the number of images.
func.func @run(%x: tensor<?x$INPUTx$TYPE> {bufferization.writable = false}) -> tensor<?x$OUTPUTx$TYPE> attributes {llvm.emit_c_interface} {
  %zx = "tosa.const"() <{values = dense<$INPUT_ZERO_POINT> : tensor<1x$TYPE>}> : () -> tensor<1x$TYPE>
  %zr = "tosa.const"() <{values = dense<$OUTPUT_ZERO_POINT> : tensor<1x$TYPE>}> : () -> tensor<1x$TYPE>
  %r = tosa.avg_pool2d %x, %zx, %zr {
      kernel = array<i64: $KERNEL>, stride = array<i64: $STRIDE>, pad = array<i64: $PAD>, acc_type = i32
    } : (tensor<?x$INPUTx$TYPE>, tensor<1x$TYPE>, tensor<1x$TYPE>) -> tensor<?x$OUTPUTx$TYPE>
  return %r : tensor<?x$OUTPUTx$TYPE>
}
