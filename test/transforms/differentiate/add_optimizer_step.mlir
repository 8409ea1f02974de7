// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-add-optimizer-step | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --plan-add-optimizer-step=keep-gradients | FileCheck %s --check-prefix=KEPT

// Nothing is trained: no state is needed.
// KEPT-NOT: plan.optimizer
// KEPT-NOT: plan.kind = #plan.kind<state>
// KEPT-NOT: meshplan.adam
// KEPT: plan.name = "gradients.w"

// States have the layout of their parameter; the new values replace the gradients as results.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.optimizer adamw groups [#plan.optimizer_group<lr = 0.5 : f64, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64>]
  schedule <kind = cosine, steps = 8>
// CHECK-NOT: plan.optimizer
// CHECK: func.func @step(%[[W:arg0]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: %[[M:arg1]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<state>, plan.names = ["w.exp_avg"], plan.of = #plan.argument<parameter "w">}
// CHECK-SAME: %[[V:arg2]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<state>, plan.names = ["w.exp_avg_sq"], plan.of = #plan.argument<parameter "w">}
// CHECK-SAME: %[[LR:arg3]]: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.schedule = #base.rate_schedule<kind = cosine, steps = 8>, plan.value = 5.000000e-01 : f64}
// CHECK-SAME: %[[N:arg4]]: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.000000e+00 : f64}
// CHECK-SAME: -> (tensor<f32> {plan.name = "loss"}, tensor<8x4xf32> {plan.updates = #plan.argument<parameter "w">},
// CHECK-SAME: tensor<8x4xf32> {plan.updates = #plan.argument<state "w.exp_avg">}, tensor<8x4xf32> {plan.updates = #plan.argument<state "w.exp_avg_sq">})
func.func @step(%w: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<f32> {plan.name = "loss"}, tensor<8x4xf32> {plan.gradient_of = #plan.argument<parameter "w">, plan.name = "gradients.w"}) attributes {plan.role = #base.role<step>} {
  %loss = plan.call "aten.full.default"() {size = [], fill_value = 1.0 : f64} : () -> tensor<f32>
  %g = plan.call "aten.full.default"() {size = [8, 4], fill_value = 1.0 : f64} : () -> tensor<8x4xf32>
  // CHECK: %[[U:.*]]:3 = plan.call "meshplan.adam"(%[[W]], %{{.*}}, %[[M]], %[[V]], %[[LR]], %[[N]])
  // CHECK-SAME: decoupled = true
  // CHECK-SAME: backward
  // CHECK: return %{{.*}}, %[[U]]#0, %[[U]]#1, %[[U]]#2
  %m0 = plan.match %g to %w : tensor<8x4xf32>, tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> -> tensor<8x4xf32>
  return %loss, %m0 : tensor<f32>, tensor<8x4xf32>
}

// -----

// Groups with their own hyperparameters; without momentum there is no state.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64, momentum = 0.0 : f64, weight_decay = 0.1 : f64>,
                             #plan.optimizer_group<lr = 0.25 : f64, momentum = 0.9 : f64, dampening = 0.5 : f64, weight_decay = 0.0 : f64, nesterov = false>]
// CHECK: func.func @step(
// CHECK-SAME: plan.names = ["optimizer.lr"]
// CHECK-SAME: plan.names = ["optimizer.group1.lr"], plan.value = 2.500000e-01
// CHECK-SAME: plan.names = ["b.momentum_buffer"]
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.group = 1 : i64, plan.kind = #plan.kind<parameter>, plan.names = ["b"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  // CHECK: plan.call "meshplan.sgd"(%arg0, {{.*}}weight_decay = 1.000000e-01
  // CHECK: plan.call "meshplan.sgd_momentum"(%arg1, {{.*}}dampening = 5.000000e-01 {{.*}}rate = 9.000000e-01
  %m0 = plan.match %g to %a : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  %m1 = plan.match %g to %b : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0, %m1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// One sum of squares per layout of parameters, then the total.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>] clip 2.0
// CHECK: func.func @step(
func.func @step(%a: tensor<4xf32, #plan.sharding<[{"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"]},
                %c: tensor<6xf32, #plan.sharding<[{"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["c"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "b">}, tensor<6xf32> {plan.gradient_of = #plan.argument<parameter "c">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  %h = plan.call "aten.full.default"() {size = [6], fill_value = 1.0 : f64} : () -> tensor<6xf32>
  // CHECK: %[[A:.*]] = plan.call "meshplan.square_sum"
  // CHECK: %[[B:.*]] = plan.call "meshplan.square_sum"
  // CHECK: %[[C:.*]] = plan.call "meshplan.square_sum"
  // CHECK: %[[AC:.*]] = plan.call "aten.add.Tensor"(%[[A]], %[[C]])
  // CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"(%[[AC]], %[[B]])
  // CHECK: %[[F:.*]] = plan.call "meshplan.clip_factor"(%[[ALL]]) {limit = 2.000000e+00
  // CHECK-COUNT-3: plan.call "meshplan.sgd"({{.*}}, %[[F]])
  %m0 = plan.match %g to %a : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{"tp"}]>> -> tensor<4xf32>
  %m1 = plan.match %g to %b : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  %m2 = plan.match %h to %c : tensor<6xf32>, tensor<6xf32, #plan.sharding<[{"tp"}]>> -> tensor<6xf32>
  return %m0, %m1, %m2 : tensor<4xf32>, tensor<4xf32>, tensor<6xf32>
}

// -----

// A program without an optimizer statement returns its gradients.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// CHECK: func.func @step({{.*}}) -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">})
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// ZeRO-1: the state is flat. The parameter is sliced to match it, the gradient is reduce-scattered to match it, and the
// new parameter is gathered and written into the old one. Axes of size 1 do not count.
plan.mesh [#base.mesh_axis<"one" = 1>, #base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.data optimizer over [#plan.axis<"one">, #plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64, momentum = 0.9 : f64>]
// CHECK: func.func @step(%[[W:arg0]]:
// CHECK-SAME: %[[M:arg[0-9]]]: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>> {plan.kind = #plan.kind<state>, plan.names = ["w.momentum_buffer"], plan.of = #plan.argument<parameter "w">}
func.func @step(%w: tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> {plan.data = 0 : i64, plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<8x4xf32> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[G:.*]] = plan.call "aten.full.default"
  // CHECK: %[[CUT:.*]] = plan.match %[[G]] to %[[W]] flat [#plan.axis<"dp">] :
  // CHECK: %[[OWN:.*]] = plan.constrain %[[W]] <[{}, {}], flat = {"dp"}> along [#plan.axis<"dp">] as "data dp"
  // CHECK: %[[NEW:.*]]:2 = plan.call "meshplan.sgd_momentum"(%[[OWN]], %[[CUT]], {{.*}}%[[M]]
  // CHECK: %[[WHOLE:.*]] = plan.match %[[NEW]]#0 to %[[W]] :
  // CHECK: %[[UPDATED:.*]] = plan.call "meshplan.assign"(%[[W]], %[[WHOLE]])
  // CHECK: return %[[UPDATED]], %[[NEW]]#1
  %g = plan.call "aten.full.default"() {size = [8, 4], fill_value = 1.0 : f64} : () -> tensor<8x4xf32>
  %m0 = plan.match %g to %w : tensor<8x4xf32>, tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>> -> tensor<8x4xf32>
  return %m0 : tensor<8x4xf32>
}

// -----

// ZeRO-3: the parameter is flat, and so is everything that belongs to it. Squares of gradients with different layouts
// are summed separately.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
plan.optimizer adam groups [#plan.optimizer_group<lr = 0.5 : f64>] clip 1.0
// CHECK: func.func @step(%[[W:arg0]]:
// CHECK-SAME: #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<state>, plan.names = ["w.exp_avg"]
// CHECK-SAME: #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<state>, plan.names = ["w.exp_avg_sq"]
// CHECK-SAME: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<state>, plan.names = ["b.exp_avg"]
func.func @step(%w: tensor<4xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.data = 0 : i64, plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                %b: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[G:.*]] = plan.match %{{.*}} to %[[W]] :
  // CHECK: %[[H:.*]] = plan.match %{{.*}} to %arg1 :
  // CHECK: %[[ONE:.*]] = plan.call "meshplan.square_sum"(%[[G]])
  // CHECK: %[[TWO:.*]] = plan.call "meshplan.square_sum"(%[[H]])
  // CHECK: plan.call "aten.add.Tensor"(%[[ONE]], %[[TWO]])
  // CHECK: %[[NEW:.*]]:3 = plan.call "meshplan.adam"(%[[W]], %[[G]],
  // CHECK-NOT: meshplan.assign
  // CHECK: return %[[NEW]]#0
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  %m0 = plan.match %g to %w : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}], flat = {"dp"}>> -> tensor<4xf32>
  %m1 = plan.match %g to %b : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0, %m1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A master starts as the parameter and is updated in place; the gradient is converted before it is reduced, and states
// have the type that the statement names.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {master = f32, state = f16}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64, momentum = 0.9 : f64>]
// CHECK: func.func @step(%[[W:arg0]]: tensor<4xbf16,
// CHECK-SAME: %[[MASTER:arg1]]: tensor<4xf32, #plan.sharding<[{}]>> {plan.copies, plan.kind = #plan.kind<state>, plan.names = ["w.master"], plan.of = #plan.argument<parameter "w">}
// CHECK-SAME: %[[M:arg[0-9]]]: tensor<4xf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<state>, plan.names = ["w.momentum_buffer"], plan.of = #plan.argument<parameter "w">}
func.func @step(%w: tensor<4xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<4xbf16> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[G:.*]] = plan.call "aten.full.default"
  // CHECK: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[G]]) {dtype = f32,
  // CHECK: %[[SUM:.*]] = plan.match %[[WIDE]] to %[[W]] : tensor<4xf32>,
  // CHECK: %[[NEW:.*]]:2 = plan.call "meshplan.sgd_momentum"(%[[MASTER]], %[[SUM]],
  // CHECK-SAME: -> (tensor<4xf32>, tensor<4xf16>)
  // CHECK: %[[ROUNDED:.*]] = plan.call "aten._to_copy.default"(%[[NEW]]#0) {dtype = bf16,
  // CHECK: %[[UPDATED:.*]] = plan.call "meshplan.assign"(%[[W]], %[[ROUNDED]])
  // CHECK: return %[[UPDATED]], %[[NEW]]#0, %[[NEW]]#1
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xbf16>
  %m0 = plan.match %g to %w : tensor<4xbf16>, tensor<4xbf16, #plan.sharding<[{}]>> -> tensor<4xbf16>
  return %m0 : tensor<4xbf16>
}

// -----

// Reduced in 16 bits although the master is wide: addends are rounded, summed, and then converted. With ZeRO-2 the
// master is flat, too.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
plan.precision {master = f32, reduce = bf16}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>]
// CHECK: func.func @step(%[[W:arg0]]: tensor<4xbf16,
// CHECK-SAME: %[[MASTER:arg1]]: tensor<4xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.copies,
func.func @step(%w: tensor<4xbf16, #plan.sharding<[{}]>> {plan.data = 0 : i64, plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<4xbf16> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[ROUNDED:.*]] = plan.call "meshplan.round_gradient"(%{{.*}}) {dtype = bf16,
  // CHECK: %[[SUM:.*]] = plan.match %[[ROUNDED]] to %[[W]] flat [#plan.axis<"dp">] : tensor<4xbf16>,
  // CHECK: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[SUM]]) {dtype = f32,
  // CHECK: %[[NEW:.*]] = plan.call "meshplan.sgd"(%[[MASTER]], %[[WIDE]],
  // CHECK-NOT: plan.constrain
  // CHECK: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[NEW]]) {dtype = bf16,
  // CHECK: %[[WHOLE:.*]] = plan.match %[[NARROW]] to %[[W]] :
  // CHECK: plan.call "meshplan.assign"(%[[W]], %[[WHOLE]])
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xbf16>
  %m0 = plan.match %g to %w : tensor<4xbf16>, tensor<4xbf16, #plan.sharding<[{}]>> -> tensor<4xbf16>
  return %m0 : tensor<4xbf16>
}

// -----

// With one rank nothing is sharded: the parameter is updated in place.
plan.mesh [#base.mesh_axis<"dp" = 1>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>]
// CHECK: func.func @step(%[[W:arg0]]:
func.func @step(%w: tensor<4xf32, #plan.sharding<[{}]>> {plan.data = 0 : i64, plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: plan.match %{{.*}} to %[[W]] :
  // CHECK: %[[NEW:.*]] = plan.call "meshplan.sgd"(%[[W]],
  // CHECK-NEXT: return %[[NEW]]
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  %m0 = plan.match %g to %w : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0 : tensor<4xf32>
}

// -----

// A program that draws random numbers already has the setting 'step', which the optimizer then shares.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64, momentum = 0.9 : f64, dampening = 0.0 : f64, weight_decay = 0.0 : f64, nesterov = false>]
// CHECK: func.func @step(
// CHECK-SAME: %[[STEP:arg1]]: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.000000e+00 : f64}
// CHECK-NOT: plan.names = ["step"]
func.func @step(%a: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %step: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.0 : f64})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "a">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  // CHECK: plan.call "meshplan.sgd_momentum"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %[[STEP]])
  return %g : tensor<4xf32>
}

// -----

// Squares of gradients of two types are summed in the wider one. A master that is narrower than the parameter would
// lose digits of it: there is none.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {master = f32}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>] clip 2.0
// CHECK: func.func @step(%[[A:arg0]]: tensor<4xf64{{.*}}, %[[B:arg1]]: tensor<4xbf16
// CHECK-NOT: "a.master"
// CHECK-SAME: plan.names = ["b.master"]
func.func @step(%a: tensor<4xf64, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %b: tensor<4xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"]})
    -> (tensor<4xf64> {plan.gradient_of = #plan.argument<parameter "a">}, tensor<4xbf16> {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf64>
  %h = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xbf16>
  // CHECK: %[[A2:.*]] = plan.call "meshplan.square_sum"({{.*}} -> tensor<f64>
  // CHECK: %[[B2:.*]] = plan.call "meshplan.square_sum"({{.*}} -> tensor<f32>
  // CHECK: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[B2]]) {dtype = f64
  // CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"(%[[A2]], %[[WIDE]])
  // CHECK: plan.call "meshplan.clip_factor"(%[[ALL]])
  %m0 = plan.match %g to %a : tensor<4xf64>, tensor<4xf64, #plan.sharding<[{}]>> -> tensor<4xf64>
  %m1 = plan.match %h to %b : tensor<4xbf16>, tensor<4xbf16, #plan.sharding<[{}]>> -> tensor<4xbf16>
  return %m0, %m1 : tensor<4xf64>, tensor<4xbf16>
}

// -----

// A gradient that was widened for a wide parameter is reduced in the narrow type in which it was computed.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {reduce = bf16}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>]
// CHECK: func.func @step(%[[W:arg0]]:
func.func @step(%w: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[G:.*]] = plan.call "aten.full.default"
  // CHECK: %[[ROUNDED:.*]] = plan.call "meshplan.round_gradient"(%[[G]])
  // CHECK: %[[SUM:.*]] = plan.match %[[ROUNDED]] to %[[W]]
  // CHECK-NEXT: plan.call "aten._to_copy.default"(%[[SUM]]) {dtype = f32
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xbf16>
  %wide = plan.call "aten._to_copy.default"(%g) {self = #base.operand<0>, dtype = f32} backward : (tensor<4xbf16>) -> tensor<4xf32>
  %m0 = plan.match %wide to %w : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0 : tensor<4xf32>
}

// -----

// The mean over ranks is divided after the sum; the addends are scaled up by the number of ranks.
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp" {average_after = 4 : i64}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64>]
// CHECK: func.func @step(%[[W:arg0]]:
func.func @step(%w: tensor<4xf32, #plan.sharding<[{}]>> {plan.data = 0 : i64, plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[G:.*]] = plan.call "aten.full.default"
  // CHECK-NEXT: %[[LARGE:.*]] = plan.call "aten.mul.Scalar"(%[[G]]) {other = 4.000000e+00
  // CHECK-NEXT: %[[SUM:.*]] = plan.match %[[LARGE]] to %[[W]]
  // CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.mul.Scalar"(%[[SUM]]) {other = 2.500000e-01
  // CHECK-NEXT: plan.call "meshplan.sgd"(%[[W]], %[[MEAN]]
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xf32>
  %m0 = plan.match %g to %w : tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return %m0 : tensor<4xf32>
}

// -----

// The first parameter's whole optimizer state is on the host.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients, offload_optimizer}
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
plan.precision {master = f32}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.5 : f64, momentum = 0.9 : f64>]
// CHECK: func.func @step(
// CHECK-SAME: plan.copies, plan.host, plan.kind = #plan.kind<state>, plan.names = ["w.master"]
// CHECK-SAME: {plan.copies, plan.kind = #plan.kind<state>, plan.names = ["b.master"]
// CHECK-SAME: {plan.host, plan.kind = #plan.kind<state>, plan.names = ["w.momentum_buffer"]
// CHECK-SAME: {plan.kind = #plan.kind<state>, plan.names = ["b.momentum_buffer"]
func.func @step(%w: tensor<4xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0},
                %b: tensor<4xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 1})
    -> (tensor<4xbf16> {plan.gradient_of = #plan.argument<parameter "w">}, tensor<4xbf16> {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "aten.full.default"() {size = [4], fill_value = 1.0 : f64} : () -> tensor<4xbf16>
  %m0 = plan.match %g to %w : tensor<4xbf16>, tensor<4xbf16, #plan.sharding<[{}]>> -> tensor<4xbf16>
  %m1 = plan.match %g to %b : tensor<4xbf16>, tensor<4xbf16, #plan.sharding<[{}]>> -> tensor<4xbf16>
  return %m0, %m1 : tensor<4xbf16>, tensor<4xbf16>
}
