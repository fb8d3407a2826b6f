!stored = !quant.uniform<i8<-8:7>:f32, 0.3:1>

func.func @add_one(%stored: tensor<?x!stored>, %one: tensor<?xf32>) -> tensor<?x!stored> {
  %real = quant.dcast %stored : tensor<?x!stored> to tensor<?xf32>
  %sum = arith.addf %real, %one : tensor<?xf32>
  %result = quant.qcast %sum : tensor<?xf32> to tensor<?x!stored>
  return %result : tensor<?x!stored>
}
