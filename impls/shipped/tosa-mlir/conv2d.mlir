// `tosa.conv2d` of int8 images `[B,H,W,C]` by weights `[O,KH,KW,C]` to int32. The shipped lowering wants the weights' shape and constant zero points.
func.func @run(%x: tensor<?x?x?x$CHANNELSxi8> {bufferization.writable = false}, %w: tensor<$WEIGHTSxi8> {bufferization.writable = false}, %bias: tensor<$OUTxi32> {bufferization.writable = false}) -> tensor<?x?x?x$OUTxi32> attributes {llvm.emit_c_interface} {
  %zx = "tosa.const"() <{values = dense<$INPUT_ZERO_POINT> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zw = "tosa.const"() <{values = dense<$WEIGHT_ZERO_POINT> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.conv2d %x, %w, %bias, %zx, %zw {
      pad = array<i64: $PAD>, stride = array<i64: $STRIDE>, dilation = array<i64: $DILATION>, acc_type = i32
    } : (tensor<?x?x?x$CHANNELSxi8>, tensor<$WEIGHTSxi8>, tensor<$OUTxi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<?x?x?x$OUTxi32>
  return %r : tensor<?x?x?x$OUTxi32>
}
