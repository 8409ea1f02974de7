// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-add-optimizer-step | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --plan-add-optimizer-step=keep-gradients | FileCheck %s --check-prefix=KEPT

// Nothing is changed, and no state is needed.
// KEPT-NOT: plan.optimizer
// KEPT-NOT: plan.kind = "state"
// KEPT-NOT: meshplan.adam
// KEPT: plan.name = "gradients.w"

// States are laid out as their parameter; the new values take the gradients' place.
plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"tp" = 2>]
plan.optimizer "adamw" groups [{lr = 0.5 : f64, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64}]
  schedule {kind = "cosine", steps = 8 : i64}
// CHECK-NOT: plan.optimizer
// CHECK: func.func @step(%[[W:arg0]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: %[[M:arg1]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = "state", plan.names = ["w.exp_avg"], plan.of = 0 : i64}
// CHECK-SAME: %[[V:arg2]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = "state", plan.names = ["w.exp_avg_sq"], plan.of = 0 : i64}
// CHECK-SAME: %[[LR:arg3]]: tensor<f64, #plan.sharding<[]>> {plan.kind = "setting", plan.names = ["optimizer.lr"], plan.schedule = {kind = "cosine", steps = 8 : i64}, plan.value = 5.000000e-01 : f64}
// CHECK-SAME: %[[N:arg4]]: tensor<f64, #plan.sharding<[]>> {plan.kind = "setting", plan.names = ["step"], plan.value = 1.000000e+00 : f64}
// CHECK-SAME: -> (tensor<f32> {plan.name = "loss"}, tensor<8x4xf32> {plan.updates = 0 : i64},
// CHECK-SAME: tensor<8x4xf32> {plan.updates = 1 : i64}, tensor<8x4xf32> {plan.updates = 2 : i64})
func.func @step(%w: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = "parameter", plan.names = ["w"]})
    -> (tensor<f32> {plan.name = "loss"}, tensor<8x4xf32> {plan.gradient_of = 0 : i64, plan.name = "gradients.w"}) {
  %loss = plan.call "aten.full.default"() {size = [], fill_value = 1.0 : f64} : () -> tensor<f32>
  %g = plan.call "aten.full.default"() {size = [8, 4], fill_value = 1.0 : f64} : () -> tensor<8x4xf32>
  // CHECK: %[[U:.*]]:3 = plan.call "meshplan.adam"(%[[W]], %{{.*}}, %[[M]], %[[V]], %[[LR]], %[[N]])
  // CHECK-SAME: decoupled = true
  // CHECK-SAME: backward
  // CHECK: return %{{.*}}, %[[U]]#0, %[[U]]#1, %[[U]]#2
  return %loss, %g : tensor<f32>, tensor<8x4xf32>
}

// -----

// Groups with numbers of their own; without momentum there is no state.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.optimizer "sgd" groups [{lr = 0.5 : f64, momentum = 0.0 : f64, weight_decay = 0.1 : f64},
                             {lr = 0.25 : f64, momentum = 0.9 : f64, dampening = 0.5 : f64, weight_decay = 0.0 : f64, nesterov = 0.0 : f64}]
// CHECK: func.func @step(
// CHECK-SAME: plan.names = ["optimizer.lr"]
// CHECK-SAME: plan.names = ["optimizer.group1.lr"], plan.value = 2.500000e-01
// CHECK-SAME: plan.names = ["b.momentum_buffer"]
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = "parameter", plan.names = ["a"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.group = 1 : i64, plan.kind = "parameter", plan.names = ["b"]})
    -> (tensor<4xf32> {plan.gradient_of = 0 : i64}, tensor<4xf32> {plan.gradient_of = 1 : i64}) {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  // CHECK: plan.call "meshplan.sgd"(%arg0, {{.*}}weight_decay = 1.000000e-01
  // CHECK: plan.call "meshplan.sgd_momentum"(%arg1, {{.*}}dampening = 5.000000e-01 {{.*}}rate = 9.000000e-01
  return %g, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// One sum of squares for each division of parameters, then one for all.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.optimizer "sgd" groups [{lr = 0.5 : f64}] clip 2.0
// CHECK: func.func @step(
func.func @step(%a: tensor<4xf32, #plan.sharding<[{"tp"}]>> {plan.kind = "parameter", plan.names = ["a"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = "parameter", plan.names = ["b"]},
                %c: tensor<6xf32, #plan.sharding<[{"tp"}]>> {plan.kind = "parameter", plan.names = ["c"]})
    -> (tensor<4xf32> {plan.gradient_of = 0 : i64}, tensor<4xf32> {plan.gradient_of = 1 : i64}, tensor<6xf32> {plan.gradient_of = 2 : i64}) {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  %h = plan.call "aten.full.default"() {size = [6], fill_value = 1.0 : f64} : () -> tensor<6xf32>
  // CHECK: %[[A:.*]] = plan.call "meshplan.square_sum"
  // CHECK: %[[B:.*]] = plan.call "meshplan.square_sum"
  // CHECK: %[[C:.*]] = plan.call "meshplan.square_sum"
  // CHECK: %[[AC:.*]] = plan.call "aten.add.Tensor"(%[[A]], %[[C]])
  // CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"(%[[AC]], %[[B]])
  // CHECK: %[[F:.*]] = plan.call "meshplan.clip_factor"(%[[ALL]]) {limit = 2.000000e+00
  // CHECK-COUNT-3: plan.call "meshplan.sgd"({{.*}}, %[[F]])
  return %g, %g, %h : tensor<4xf32>, tensor<4xf32>, tensor<6xf32>
}

// -----

// A program without a statement keeps its gradients.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
// CHECK: func.func @step({{.*}}) -> (tensor<4xf32> {plan.gradient_of = 0 : i64})
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = "parameter", plan.names = ["a"]})
    -> (tensor<4xf32> {plan.gradient_of = 0 : i64}) {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// A program that draws random numbers has a step already, and there is one of a name.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.optimizer "sgd" groups [{lr = 0.5 : f64, momentum = 0.9 : f64, dampening = 0.0 : f64, weight_decay = 0.0 : f64, nesterov = 0.0 : f64}]
// CHECK: func.func @step(
// CHECK-SAME: %[[STEP:arg1]]: tensor<f64, #plan.sharding<[]>> {plan.kind = "setting", plan.names = ["step"], plan.value = 1.000000e+00 : f64}
// CHECK-NOT: plan.names = ["step"]
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = "parameter", plan.names = ["a"]},
                %step: tensor<f64, #plan.sharding<[]>> {plan.kind = "setting", plan.names = ["step"], plan.value = 1.0 : f64})
    -> (tensor<4xf32> {plan.gradient_of = 0 : i64}) {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  // CHECK: plan.call "meshplan.sgd_momentum"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %[[STEP]])
  return %g : tensor<4xf32>
}
