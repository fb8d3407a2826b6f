// `tosa.matmul` of int8 matrices without zero points: the shipped lowering takes constants alone.
func.func @matmul(%a: tensor<1x?x?xi8> {bufferization.writable = false}, %b: tensor<1x?x?xi8> {bufferization.writable = false}) -> tensor<1x?x?xi32> attributes {llvm.emit_c_interface} {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.matmul %a, %b, %zero, %zero : (tensor<1x?x?xi8>, tensor<1x?x?xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x?x?xi32>
  return %r : tensor<1x?x?xi32>
}
