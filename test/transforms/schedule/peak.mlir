// RUN: meshplan-opt %s --schedule -split-input-file | FileCheck %s

// What is held at the peak, and where: parameters by name, results by their operator and module; equal layers together.

#none = #plan.sharding<[{}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK: sched.program @forward
// CHECK-SAME: peak <"aten.relu.default" in "layers.1.act" :
// CHECK-SAME: <what = "layers.*.weight", module = "layers.*", count = 2, bytes = 800>,
// CHECK-SAME: <what = "input x", module = "", count = 1, bytes = 400>,
// CHECK-SAME: <what = "aten.add.Tensor", module = "layers.*", count = 1, bytes = 400>,
// CHECK-SAME: <what = "aten.relu.default", module = "layers.*.act", count = 1, bytes = 400>>
func.func @forward(%x: tensor<100xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                   %a: tensor<100xf32, #none> {plan.kind = #plan.kind<parameter>, plan.names = ["layers.0.weight"]},
                   %b: tensor<100xf32, #none> {plan.kind = #plan.kind<parameter>, plan.names = ["layers.1.weight"]})
    -> (tensor<100xf32, #none>) {
  %0 = plan.call "aten.add.Tensor"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} in "layers.1"
    : (tensor<100xf32, #none>, tensor<100xf32, #none>) -> tensor<100xf32, #none>
  %1 = plan.call "aten.relu.default"(%0) {self = #base.operand<0>} in "layers.1.act"
    : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [100]} in "layers.1"
    : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  return %2 : tensor<100xf32, #none>
}

// -----

// The peak is in another program of the timeline: tensors that the step keeps count there. A later evaluation computes only its loss.

#none = #plan.sharding<[{}]>
#one = #plan.sharding<[]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @count0(%w: tensor<100xf32, #none> {plan.kind = #plan.kind<parameter>, plan.names = ["m.w"]})
    attributes {plan.role = #base.role<microbatch>} {
  %0 = plan.call "aten.relu.default"(%w) {self = #base.operand<0>} in "m" : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} in "m" : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  return
}
// CHECK: sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@step, 0>] memory <parameters = 400, constants = 0, inputs = 0, peak = 1600, least = 1600, states = 400>
// CHECK-SAME: peak <"aten.neg.default" in "m" : <what = "m.w", module = "m", count = 1, bytes = 400>,
// CHECK-SAME: <what = "m.w.exp_avg", module = "m", count = 1, bytes = 400>>
func.func @step(%w: tensor<100xf32, #none> {plan.kind = #plan.kind<parameter>, plan.names = ["m.w"]},
                %m: tensor<100xf32, #none> {plan.kind = #plan.kind<state>, plan.names = ["m.w.exp_avg"], plan.of = #plan.argument<parameter "m.w">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@count0, 0>, #base.instance<@step, 0>]} {
  return
}
// CHECK: sched.program @eval role <eval> memory <parameters = 400, constants = 0, inputs = 0, peak = 1204, least = 1204, evaluation = 1204, least_evaluation = 1204>
func.func @eval(%w: tensor<100xf32, #none> {plan.kind = #plan.kind<parameter>, plan.names = ["m.w"]})
    -> (tensor<100xf32, #none>, tensor<f32, #one> {plan.loss}, tensor<100xf32, #none>) attributes {plan.role = #base.role<eval>} {
  %0 = plan.call "aten.relu.default"(%w) {self = #base.operand<0>} in "m" : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} in "m" : (tensor<100xf32, #none>) -> tensor<f32, #one>
  %2 = plan.call "aten.neg.default"(%w) {self = #base.operand<0>} in "m" : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  return %0, %1, %2 : tensor<100xf32, #none>, tensor<f32, #one>, tensor<100xf32, #none>
}

// -----

// A collective is named by the value that it moves, and belongs to its module: here 32 elements of the weight, the
// addends that are reduced and their sum, and half of the input.

// CHECK: peak = 448,
// CHECK-SAME: peak <"all_reduce of aten.mm.default" in "down" :
// CHECK-SAME: <what = "down.weight", module = "down", count = 1, bytes = 128>,
// CHECK-SAME: <what = "aten.mm.default", module = "down", count = 1, bytes = 128>,
// CHECK-SAME: <what = "all_reduce of aten.mm.default", module = "down", count = 1, bytes = 128>,
// CHECK-SAME: <what = "input x", module = "", count = 1, bytes = 64>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
!part = tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>
func.func @forward(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                   %w: tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"]}) -> (!whole {plan.name = "y"}) {
  %0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>} in "down" : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>) -> !part
  %1 = plan.all_reduce %0 [#plan.axis<"tp">] : !part -> !whole
  %2 = plan.call "aten.relu.default"(%1) {self = #base.operand<0>} : (!whole) -> !whole
  return %2 : !whole
}
