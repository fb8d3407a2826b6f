// `tosa.pad` of bytes `[B,H,W,C]`, with a value of the run before and after each axis.
func.func @run(%x: tensor<?x?x?x?xi8> {bufferization.writable = false}, %value: tensor<1xi8> {bufferization.writable = false}) -> tensor<?x?x?x?xi8> attributes {llvm.emit_c_interface} {
  %padding = tosa.const_shape {values = dense<[$PADDING]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %r = tosa.pad %x, %padding, %value : (tensor<?x?x?x?xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<?x?x?x?xi8>
  return %r : tensor<?x?x?x?xi8>
}
