// `tosa.apply_scale` on every element; multipliers and shifts are those of the second dimension.
func.func @run(%x: tensor<?x?xi32> {bufferization.writable = false}, %m: tensor<?xi32> {bufferization.writable = false}, %s: tensor<?xi8> {bufferization.writable = false}) -> tensor<?x?xi32> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = tensor.dim %x, %zero : tensor<?x?xi32>
  %columns = tensor.dim %x, %one : tensor<?x?xi32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xi32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %m, %s : tensor<?x?xi32>, tensor<?xi32>, tensor<?xi8>) outs(%empty : tensor<?x?xi32>) {
  ^bb0(%value: i32, %multiplier: i32, %shift: i8, %out: i32):
    %scaled = tosa.apply_scale %value, %multiplier, %shift {rounding_mode = $ROUNDING} : (i32, i32, i8) -> i32
    linalg.yield %scaled : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
