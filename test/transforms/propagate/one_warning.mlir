// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-place-styles --plan-propagate-shardings 2>&1 | FileCheck %s

// Operands that arrive alike and are needed alike are one warning.
// CHECK: warning: nothing in the plan asks for this reshard: 'meshplan.attention' in 'attn' needs [4, 2, 8, 4], and gets [4, 2, 8 over tp, 4]
// CHECK-NOT: warning:

plan.mesh [#plan.mesh_axis<"tp" = 2>]
func.func @forward(
    %x: tensor<4x2x8x4xf32> {plan.kind = "input", plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {}, {"tp"}, {}]>},
    %q: tensor<4x2x8x4xf32> {plan.kind = "input", plan.names = ["q"]}) -> tensor<4x2x8x4xf32> {
  %0:2 = plan.call "meshplan.attention"(%q, %x, %x)
      {query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<4x2x8x4xf32>, tensor<4x2x8x4xf32>, tensor<4x2x8x4xf32>) -> (tensor<4x2x8x4xf32>, tensor<4x2x8xf32>)
  return %0#0 : tensor<4x2x8x4xf32>
}
