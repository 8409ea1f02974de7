// Which inputs of the step are split into microbatches, and along which dim.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-microbatches | FileCheck %s

// Each input with a dim `batch`, at any position. Inputs without named dims, and arguments that are not inputs, are
// whole in each microbatch. All readers read the microbatch.
// CHECK: plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]
plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>]
plan.microbatches 2
// CHECK-LABEL: func.func @step(
func.func @step(%ids: tensor<6x8xi64, #plan.sharding<[{}, {"pod", "dp"}]>> {plan.kind = #plan.kind<input>, plan.dims = ["seq", "batch"]},
                %mask: tensor<8x1x6xi1, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch", "", "seq"]},
                %scale: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>},
                %table: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>}) -> tensor<8x1x6xi1> attributes {plan.role = #base.role<step>} {
  // CHECK-DAG: %[[IDS:.*]] = plan.constrain %arg0 <[{}, {"microbatch"}]> along [#plan.axis<"microbatch">] as "microbatches 2"
  // CHECK-DAG: %[[MASK:.*]] = plan.constrain %arg1 <[{"microbatch"}, {}, {}]> along [#plan.axis<"microbatch">] as "microbatches 2"
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[IDS]])
  // CHECK-NEXT: plan.call "aten.abs.default"(%[[IDS]])
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%arg2, %arg3)
  // CHECK-NEXT: plan.constrain %[[MASK]] <[{}, {}, {}]> along [] as "whole"
  // CHECK-NEXT: return
  %0 = plan.call "aten.neg.default"(%ids) {self = #base.operand<0>} : (tensor<6x8xi64, #plan.sharding<[{}, {"pod", "dp"}]>>) -> tensor<6x8xi64>
  %1 = plan.call "aten.abs.default"(%ids) {self = #base.operand<0>} : (tensor<6x8xi64, #plan.sharding<[{}, {"pod", "dp"}]>>) -> tensor<6x8xi64>
  %2 = plan.call "aten.mul.Tensor"(%scale, %table) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<8xf32, #plan.sharding<[{}]>>, tensor<8xf32, #plan.sharding<[{}]>>) -> tensor<8xf32>
  %3 = plan.constrain %mask <[{}, {}, {}]> along [] as "whole" : tensor<8x1x6xi1, #plan.sharding<[{}, {}, {}]>> -> tensor<8x1x6xi1>
  return %3 : tensor<8x1x6xi1>
}

// -----

// Without a step there are no microbatches.
// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: plan.microbatches
plan.microbatches 3
// CHECK-LABEL: func.func @forward(
// CHECK-NEXT: return %arg0
func.func @forward(%x: tensor<7xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]}) -> tensor<7xf32, #plan.sharding<[{}]>> {
  return %x : tensor<7xf32, #plan.sharding<[{}]>>
}

// -----

// As many microbatches as a rank has samples.
// CHECK: #base.mesh_axis<"microbatch" = 4>
plan.mesh [#base.mesh_axis<"dp" = 3>]
plan.microbatches 4
// CHECK-LABEL: func.func @step(
// CHECK-NEXT: plan.constrain %arg0 <[{"microbatch"}]>
func.func @step(%x: tensor<12xf32, #plan.sharding<[{"dp"}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]}) -> tensor<12xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<12xf32, #plan.sharding<[{"dp"}]>>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
