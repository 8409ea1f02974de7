// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-add-optimizer-step | FileCheck %s

// Non-finite elements are noted in the rank's own addend and counted in the gradient, once per layout of parameters.
// The optimizer reads the count and the number of steps that changed something; the count is also an output for the
// run.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.optimizer adam groups [#plan.optimizer_group<lr = 0.5 : f64>] {nonfinite = #plan<nonfinite skip>}
// CHECK: func.func @step(%[[A:arg0]]: {{.*}}, %[[B:arg1]]:
// CHECK-SAME: plan.names = ["optimizer.step"]
// CHECK-SAME: tensor<i64> {plan.name = "nonfinite"}
// CHECK-SAME: attributes {plan.guard = #base.guard<stops = false>, plan.role = #base.role<step>}
func.func @step(%a: tensor<4xf32, #plan.sharding<[{"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[G:.*]] = plan.call "aten.full.default"
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  // CHECK-NEXT: %[[OWN:.*]] = plan.call "meshplan.note_nonfinite"(%[[G]]) {name = "a", self = #base.operand<0>} backward
  // CHECK-NEXT: %[[GA:.*]] = plan.match %[[OWN]] to %[[A]]
  // CHECK-NEXT: %[[OTHER:.*]] = plan.call "meshplan.note_nonfinite"(%[[G]]) {name = "b"
  // CHECK-NEXT: %[[GB:.*]] = plan.match %[[OTHER]] to %[[B]]
  // CHECK-NEXT: %[[NA:.*]] = plan.call "meshplan.nonfinite_count"(%[[GA]]){{.*}} -> tensor<i64>
  // CHECK-NEXT: %[[NB:.*]] = plan.call "meshplan.nonfinite_count"(%[[GB]])
  // CHECK-NEXT: %[[N:.*]] = plan.call "aten.add.Tensor"(%[[NA]], %[[NB]])
  // CHECK-COUNT-2: plan.call "meshplan.adam"({{.*}}%[[N]]) {{.*}}nonfinite = #base.operand<{{[0-9]}}>
  // CHECK: return %[[N]],
  %m0 = plan.match %g to %a : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{"tp"}]>> -> tensor<4xf32>
  %m1 = plan.match %g to %b : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0, %m1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The loss is scaled in its own type before the backward pass; the norm of all gradients, and so the factor of the
// optimizer, are those of the unscaled loss.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.precision {loss_scale = #plan.loss_scale<initial = 65536.0 : f64, growth = 2.0 : f64, backoff = 0.5 : f64, interval = 2000>}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>] clip 2.0 {nonfinite = #plan<nonfinite stop>}
// CHECK: func.func @step(
// CHECK-SAME: %[[SCALE:arg[0-9]]]: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["loss_scale"], plan.value = 6.553600e+04 : f64}
// CHECK-SAME: attributes {plan.guard = #base.guard<stops = true, growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 2000>, plan.role = #base.role<step>}
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}) -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[ONE:.*]] = plan.call "aten.full.default"
  // CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[SCALE]]) {dtype = f16
  // CHECK-NEXT: %[[SCALED:.*]] = plan.call "aten.mul.Tensor"(%[[ONE]], %[[NARROW]])
  // CHECK-NEXT: plan.call "aten.expand.default"(%[[SCALED]])
  %one = plan.call "aten.full.default"() {size = [], fill_value = 1.0 : f64} backward {plan.loss_gradient} : () -> tensor<f16>
  %g = plan.call "aten.expand.default"(%one) {self = #base.operand<0>, size = [4]} backward : (tensor<f16>) -> tensor<4xf16>
  %wide = plan.call "aten._to_copy.default"(%g) {self = #base.operand<0>, dtype = f32} backward : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK: %[[F:.*]] = plan.call "meshplan.clip_factor"(%{{.*}}, %[[SCALE]]) {limit = 2.000000e+00 : f64, scale = #base.operand<1>, squared_norm = #base.operand<0>}
  // CHECK: plan.call "meshplan.sgd"({{.*}}, %[[F]], %{{.*}}) {factor =
  %m0 = plan.match %wide to %a : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0 : tensor<4xf32>
}

// -----

// Without a norm the factor undoes the scale; a fixed scale does not change. Nothing counts non-finite elements.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.precision {loss_scale = #plan.loss_scale<initial = 1024.0 : f64>}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>]
// CHECK: func.func @step(
// CHECK-SAME: %[[SCALE:arg[0-9]]]: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["loss_scale"], plan.value = 1.024000e+03
// CHECK-NOT: nonfinite
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}) -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}) attributes {plan.role = #base.role<step>} {
  %one = plan.call "aten.full.default"() {size = [], fill_value = 1.0 : f64} backward {plan.loss_gradient} : () -> tensor<f32>
  %g = plan.call "aten.expand.default"(%one) {self = #base.operand<0>, size = [4]} backward : (tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[F:.*]] = plan.call "aten.reciprocal.default"(%[[SCALE]])
  // CHECK: plan.call "meshplan.sgd"({{.*}}, %[[F]])
  %m0 = plan.match %g to %a : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0 : tensor<4xf32>
}
