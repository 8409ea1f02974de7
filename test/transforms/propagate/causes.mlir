// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-place-styles --plan-propagate-shardings --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "embed" rowwise [#plan.axis<"tp">] as "rowwise tp" loc("a.plan":5:10)
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp" loc("a.plan":6:10)
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp" loc("a.plan":7:10)
plan.style "rest" replicate [] as "replicate" loc("a.plan":8:10)

// The location of each op names the statement that caused each axis of its results. The embedding causes the addends,
// and the norm, which needs them sharded after the reduction, causes the sharding.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: plan.style = "rowwise tp"} loc("a.plan":5:10)
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{}]>> {{.*}}plan.style = "sequence tp"} loc("a.plan":6:10)
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{}]>> {{.*}}plan.style = "replicate"} loc("a.plan":8:10)
// CHECK: plan.call "aten.embedding.default"
// CHECK-SAME: loc(fused<[#plan.cause<"dp" because "input ids" at loc("a.plan":3:9)>, #plan.cause<"tp" because "rowwise tp" at loc("a.plan":5:10)>]>["embedding"])
// CHECK: plan.reshard %{{.*}} because "rowwise tp"
// CHECK-SAME: loc(fused<[#plan.cause<"dp" because "input ids" at loc("a.plan":3:9)>, #plan.cause<"tp" because "sequence tp" at loc("a.plan":6:10)>]>["a.plan":5:10])
// CHECK: plan.call "aten.mul.Tensor"
// CHECK-SAME: loc(fused<[#plan.cause<"dp" because "input ids" at loc("a.plan":3:9)>, #plan.cause<"tp" because "sequence tp" at loc("a.plan":6:10)>]>["mul"])
// CHECK: plan.reshard %{{.*}} because "colwise tp"
// CHECK-SAME: loc(fused<[#plan.cause<"dp" because "input ids" at loc("a.plan":3:9)>]>["a.plan":7:10])
// CHECK: plan.call "aten.linear.default"
// CHECK-SAME: loc(fused<[#plan.cause<"dp" because "input ids" at loc("a.plan":3:9)>, #plan.cause<"tp" because "colwise tp" at loc("a.plan":7:10)>]>["linear"])
// CHECK: plan.call "aten.sum.dim_IntList"
// CHECK-SAME: loc(fused<[#plan.cause<"tp" because "colwise tp" at loc("a.plan":7:10)>, #plan.cause<"dp" because "input ids" at loc("a.plan":3:9)>]>["sum"])
// CHECK: plan.reshard %{{.*}} because "input ids"
// CHECK-SAME: loc(fused<[#plan.cause<"tp" because "colwise tp" at loc("a.plan":7:10)>]>["a.plan":3:9])
// CHECK: plan.call "aten.exp.default"
func.func @forward(
    %ids: tensor<2x6xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"], plan.sharding = #plan.sharding<[{"dp"}, {}]>}
        loc("a.plan":3:9),
    %table: tensor<32x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"]},
    %g: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"]},
    %wq: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
    %r: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["rest.scale"]}) -> tensor<6x8xf32> {
  %h = plan.call "aten.embedding.default"(%table, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<32x8xf32>, tensor<2x6xi64>) -> tensor<2x6x8xf32> loc("embedding")
  %n = plan.call "aten.mul.Tensor"(%h, %g) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32> loc("mul")
  %q = plan.call "aten.linear.default"(%n, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32> loc("linear")
  %s = plan.call "aten.sum.dim_IntList"(%q) {self = #base.operand<0>, dim = [0]} in "rest"
      : (tensor<2x6x8xf32>) -> tensor<6x8xf32> loc("sum")
  %e = plan.call "aten.exp.default"(%s) {self = #base.operand<0>} in "rest" : (tensor<6x8xf32>) -> tensor<6x8xf32> loc("exp")
  return %e : tensor<6x8xf32>
}
