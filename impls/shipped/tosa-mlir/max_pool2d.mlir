// `tosa.max_pool2d` of int8 images `[B,H,W,C]`.
func.func @run(%x: tensor<?x?x?x?xi8> {bufferization.writable = false}) -> tensor<?x?x?x?xi8> attributes {llvm.emit_c_interface} {
  %r = tosa.max_pool2d %x {
      kernel = array<i64: $KERNEL>, stride = array<i64: $STRIDE>, pad = array<i64: $PAD>
    } : (tensor<?x?x?x?xi8>) -> tensor<?x?x?x?xi8>
  return %r : tensor<?x?x?x?xi8>
}
