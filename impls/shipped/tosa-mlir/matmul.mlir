// `tosa.matmul` of int8 matrices, whose zero points are constants.
func.func @run(%a: tensor<1x?x?xi8> {bufferization.writable = false}, %b: tensor<1x?x?xi8> {bufferization.writable = false}) -> tensor<1x?x?xi32> attributes {llvm.emit_c_interface} {
  %za = "tosa.const"() <{values = dense<$A_ZERO_POINT> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zb = "tosa.const"() <{values = dense<$B_ZERO_POINT> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.matmul %a, %b, %za, %zb : (tensor<1x?x?xi8>, tensor<1x?x?xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x?x?xi32>
  return %r : tensor<1x?x?xi32>
}
