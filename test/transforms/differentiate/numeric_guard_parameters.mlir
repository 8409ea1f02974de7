// Which gradients are checked for which parameters, and which step count the optimizer reads.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-add-optimizer-step | FileCheck %s

// A frozen parameter has no gradient to check. A tied one is reported by its first name; the step count is that of the
// steps that changed something, also for the momentum.
plan.mesh []
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64, momentum = 0.5 : f64>] {nonfinite = #plan<nonfinite stop>}
// CHECK: func.func @step(
// CHECK-SAME: plan.names = ["head.weight.momentum_buffer"]
// CHECK-SAME: plan.names = ["optimizer.step"]
// CHECK-NOT: plan.names = ["step"]
// CHECK-SAME: attributes {plan.guard = #base.guard<stops = true>, plan.role = #base.role<step>}
func.func @step(%frozen: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["frozen"]},
                %w: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["head.weight", "stem.weight"]},
                %g: tensor<4xf32, #plan.sharding<[{}]>>) -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "head.weight">}) attributes {plan.role = #base.role<step>} {
  // CHECK-NEXT: %[[OWN:.*]] = plan.call "meshplan.note_nonfinite"(%arg2) {name = "head.weight", self = #base.operand<0>} backward
  // CHECK-NEXT: %[[G:.*]] = plan.match %[[OWN]] to %arg1
  // CHECK-NEXT: %[[N:.*]] = plan.call "meshplan.nonfinite_count"(%[[G]])
  // CHECK-NOT: aten.add.Tensor
  // CHECK: plan.call "meshplan.sgd_momentum"(%arg1, %[[G]], {{.*}}%[[N]]
  // CHECK: return %[[N]],
  %m = plan.match %g to %w : tensor<4xf32, #plan.sharding<[{}]>>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m : tensor<4xf32>
}

// -----

// The addend is checked in the type in which it is reduced: after the conversion to that type. With a master, the
// gradient that the optimizer reads is counted.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {master = f32, reduce = bf16}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>] {nonfinite = #plan<nonfinite skip>}
// CHECK: func.func @step(
// CHECK-SAME: plan.names = ["w.master"]
func.func @step(%w: tensor<4xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}, %g: tensor<4xbf16>)
    -> (tensor<4xbf16> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[OWN:.*]] = plan.call "meshplan.note_nonfinite"(%arg1)
  // CHECK-NEXT: %[[NARROW:.*]] = plan.call "meshplan.round_gradient"(%[[OWN]])
  // CHECK-NEXT: %[[SUM:.*]] = plan.match %[[NARROW]] to %arg0
  // CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[SUM]]) {dtype = f32
  // CHECK-NEXT: plan.call "meshplan.nonfinite_count"(%[[WIDE]])
  // CHECK: plan.call "meshplan.sgd"(%{{.*}}, %[[WIDE]]
  %m = plan.match %g to %w : tensor<4xbf16>, tensor<4xbf16, #plan.sharding<[{}]>> -> tensor<4xbf16>
  return %m : tensor<4xbf16>
}

// -----

// A factor of the norm, a count and a scale: each call of the optimizer reads all of them, also in a group with another
// rate.
plan.mesh []
plan.precision {loss_scale = #plan.loss_scale<initial = 8.0 : f64, growth = 2.0 : f64, backoff = 0.5 : f64, interval = 3>}
plan.optimizer adamw groups [#plan.optimizer_group<lr = 0.5 : f64>, #plan.optimizer_group<lr = 0.25 : f64>] clip 1.0 {nonfinite = #plan<nonfinite skip>}
// CHECK: func.func @step(
// CHECK-SAME: plan.names = ["loss_scale"], plan.value = 8.000000e+00
// CHECK-SAME: plan.names = ["optimizer.lr"], plan.value = 5.000000e-01
// CHECK-SAME: plan.names = ["optimizer.group1.lr"], plan.value = 2.500000e-01
// CHECK-SAME: attributes {plan.guard = #base.guard<stops = false, growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 3>, plan.role = #base.role<step>}
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.group = 1 : i64})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[N:.*]] = plan.call "aten.add.Tensor"({{.*}}) {{.*}} -> tensor<i64>
  // CHECK: %[[F:.*]] = plan.call "meshplan.clip_factor"
  // CHECK-COUNT-2: plan.call "meshplan.adam"({{.*}}%[[F]], %[[N]]) {average = #base.operand<2>, beta1 = {{.*}}factor = #base.operand<6>{{.*}}nonfinite = #base.operand<7>
  %one = plan.call "aten.full.default"() {size = [], fill_value = 1.0 : f64} backward {plan.loss_gradient} : () -> tensor<f32>
  %g = plan.call "aten.expand.default"(%one) {self = #base.operand<0>, size = [4]} backward : (tensor<f32>) -> tensor<4xf32>
  %m0 = plan.match %g to %a : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  %m1 = plan.match %g to %b : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0, %m1 : tensor<4xf32>, tensor<4xf32>
}
