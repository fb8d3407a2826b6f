// `tosa.pad` of a tensor `[B,H,W,C]`, with a value of the run before and after each axis.
func.func @run(%x: tensor<?x?x?x?x$TYPE> {bufferization.writable = false}, %value: tensor<1x$TYPE> {bufferization.writable = false}) -> tensor<?x?x?x?x$TYPE> attributes {llvm.emit_c_interface} {
  %padding = tosa.const_shape {values = dense<[$PADDING]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %r = tosa.pad %x, %padding, %value : (tensor<?x?x?x?x$TYPE>, !tosa.shape<8>, tensor<1x$TYPE>) -> tensor<?x?x?x?x$TYPE>
  return %r : tensor<?x?x?x?x$TYPE>
}
