// The same sum with single rounding: each operand is lifted by the multiplier of its one `tosa.rescale`.
func.func @run(%x: tensor<?xi8> {bufferization.writable = false}, %y: tensor<?xi8> {bufferization.writable = false}, %zx: tensor<1xi8> {bufferization.writable = false}, %zy: tensor<1xi8> {bufferization.writable = false}, %zr: tensor<1xi8> {bufferization.writable = false}, %mx: tensor<1xi32> {bufferization.writable = false}, %sx: tensor<1xi8> {bufferization.writable = false}, %my: tensor<1xi32> {bufferization.writable = false}, %sy: tensor<1xi8> {bufferization.writable = false}, %mr: tensor<1xi32> {bufferization.writable = false}, %sr: tensor<1xi8> {bufferization.writable = false}) -> tensor<?xi8> attributes {llvm.emit_c_interface} {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %tx = tosa.rescale %x, %mx, %sx, %zx, %zero {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<?xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<?xi32>
  %ty = tosa.rescale %y, %my, %sy, %zy, %zero {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<?xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<?xi32>
  %sum = tosa.add %tx, %ty : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  %r = tosa.rescale %sum, %mr, %sr, %zero, %zr {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<?xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<?xi8>
  return %r : tensor<?xi8>
}
