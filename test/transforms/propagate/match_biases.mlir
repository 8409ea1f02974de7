// Backward communication of a layer with a bias after its rowwise module, with sequence parallelism. The gradient of
// the bias reads the sharded gradient of the output, while that of the input reads the gathered one.
// REQUIRES: meshplan-opt
// DEFINE: %{passes} = --plan-place-styles --plan-differentiate --plan-propagate-shardings --plan-repeat-forward --plan-lower-reshards
// RUN: %meshplan-opt %s %{passes} | FileCheck %s --implicit-check-not=plan.all_ --implicit-check-not=plan.reduce_scatter

// The gradient of the weight reads the gathered one, too, although its operands are of the same size: with the sharded
// one, the other operand would need an all-to-all, and the result would be partial.
// CHECK-LABEL: func.func @forward(
// CHECK: plan.all_gather
// CHECK: plan.reduce_scatter
// CHECK: plan.all_reduce {{.*}} tensor<f32,
// CHECK-LABEL: func.func @step(
// CHECK: plan.all_gather
// CHECK: plan.reduce_scatter
// CHECK: %[[WHOLE:.*]] = plan.all_gather %[[GRADIENT:.*]] [#plan.axis<"tp">] dim 1 because "sequence tp"
// CHECK: plan.call "aten.matmul.default"(%[[WHOLE]], {{.*}} in "down" backward
// CHECK: plan.call "meshplan.weight_gradient"(%[[WHOLE]], %{{.*}} in "down" backward {{.*}} -> tensor<8x8xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: %[[BIAS:.*]] = plan.call "aten.sum.dim_IntList"(%[[GRADIENT]]) {{.*}} in "down" backward
// CHECK: plan.all_gather {{.*}} because "colwise tp"
// CHECK: plan.call "meshplan.weight_gradient"{{.*}} in "up" backward {{.*}} -> tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK: plan.reduce_scatter {{.*}} because "colwise tp"
// CHECK-DAG: plan.all_reduce %[[BIAS]]
// CHECK-DAG: plan.all_reduce {{.*}} tensor<8xf32,
// CHECK-DAG: plan.all_reduce {{.*}} tensor<8xf32,
// CHECK-DAG: plan.all_reduce {{.*}} tensor<f32,
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "embed" sequence [#plan.axis<"tp">] as "sequence tp"
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %e: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"], plan.trainable = true},
    %n: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"], plan.trainable = true},
    %wu: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = true},
    %wd: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"], plan.trainable = true},
    %bd: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.bias"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "loss"}) {
  %h = plan.call "aten.mul.Tensor"(%x, %e) {self = #base.operand<0>, other = #base.operand<1>} in "embed"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %0 = plan.call "aten.rms_norm.default"(%h, %n) {input = #base.operand<0>, normalized_shape = [8], weight = #base.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %u = plan.call "aten.linear.default"(%0, %wu) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %s = plan.call "aten.silu.default"(%u) {self = #base.operand<0>} in "mlp" : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %d = plan.call "aten.linear.default"(%s, %wd, %bd)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "down"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %h2 = plan.call "aten.add.Tensor"(%h, %d) {self = #base.operand<0>, other = #base.operand<1>} in "layer"
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %p = plan.call "aten.mul.Tensor"(%h2, %h2) {self = #base.operand<0>, other = #base.operand<1>} in "head"
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %loss = plan.call "aten.sum.default"(%p) {self = #base.operand<0>} in "head" : (tensor<2x6x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
