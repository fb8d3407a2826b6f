// `tosa.add` of the bias, then `tosa.rescale` by the multipliers and shifts of the second dimension.
func.func @run(%x: tensor<?x?xi32> {bufferization.writable = false}, %bias: tensor<1x?xi32> {bufferization.writable = false}, %m: tensor<?xi32> {bufferization.writable = false}, %s: tensor<?xi8> {bufferization.writable = false}, %z: tensor<1x$TYPE> {bufferization.writable = false}) -> tensor<?x?x$TYPE> attributes {llvm.emit_c_interface} {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %sum = tosa.add %x, %bias : (tensor<?x?xi32>, tensor<1x?xi32>) -> tensor<?x?xi32>
  %r = tosa.rescale %sum, %m, %s, %zero, %z {
      scale32 = true, rounding_mode = $ROUNDING, per_channel = true, input_unsigned = false, output_unsigned = $UNSIGNED
    } : (tensor<?x?xi32>, tensor<?xi32>, tensor<?xi8>, tensor<1xi32>, tensor<1x$TYPE>) -> tensor<?x?x$TYPE>
  return %r : tensor<?x?x$TYPE>
}
