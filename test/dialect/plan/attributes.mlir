// Every rule of dialect/plan/attributes.cpp, by its label, and attributes that stand where they may.
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | %meshplan-opt --split-input-file | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK: plan.init = #plan.init_rule<rule = kaiming_normal, gain = 1.000000e+00 : f64, fan = in, text = "kaiming normal", location = loc(unknown)>
// CHECK-SAME: plan.storage = #plan.storage<name = "all", position = 1, registered = true>
// CHECK-SAME: plan.kind = #plan.kind<setting>
// CHECK-SAME: plan.schedule = #base.rate_schedule<kind = linear, steps = 3>
// CHECK-SAME: plan.copies
// CHECK-SAME: plan.gradient_of = 0 : i64
// CHECK-SAME: plan.guard = #base.guard<stops = true>, plan.role = #base.role<step>
func.func @step(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true, plan.data = 0 : i64,
                       plan.init = #plan.init_rule<rule = kaiming_normal, gain = 1.0, fan = in, text = "kaiming normal", location = loc(unknown)>,
                       plan.storage = #plan.storage<name = "all", position = 1, registered = true>},
    %s: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["lr"], plan.value = 0.5 : f64,
                     plan.schedule = #base.rate_schedule<kind = linear, steps = 3>},
    %m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = 0 : i64, plan.copies})
    -> (tensor<4xf32> {plan.gradient_of = 0 : i64}, tensor<4xf32> {plan.updates = 2 : i64})
    attributes {plan.role = #base.role<step>, plan.guard = #base.guard<stops = true>} {
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// D1
// expected-error @below {{has 'plan.knd', which the dialect does not know}}
func.func @argument(%x: tensor<4xf32> {plan.knd = #plan.kind<input>}) { return }

// -----

// D1
// expected-error @below {{has 'plan.losss', which the dialect does not know}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.losss}) { return %x : tensor<4xf32> }

// -----

// D2
// expected-error @below {{has 'plan.kind' of the wrong type, "input"}}
func.func @argument(%x: tensor<4xf32> {plan.kind = "input"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.names' of the wrong type, [1]}}
func.func @names(%x: tensor<4xf32> {plan.names = [1]}) { return }

// -----

// D2
// expected-error @below {{has 'plan.role' of the wrong type, "step"}}
func.func @function() attributes {plan.role = "step"} { return }

// -----

// D3
// expected-error @below {{has 'plan.copies' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.copies}) { return }

// -----

// D3
// expected-error @below {{has 'plan.trainable' on result 0, where it means nothing}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.trainable = true}) { return %x : tensor<4xf32> }

// -----

// D3
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'plan.guard' on a call, where it means nothing}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.guard = #base.guard<stops = true>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// D3
// expected-error @below {{has 'plan.loss' on a module, where it means nothing}}
module attributes {plan.loss} {}

// -----

// D4
// expected-error @below {{has 'plan.of' = 2, and 2 arguments}}
func.func @state(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>}, %m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.of = 2 : i64}) { return }

// -----

// D4
// expected-error @below {{has 'plan.updates' = 1, and 1 arguments}}
func.func @update(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.updates = 1 : i64}) { return %x : tensor<4xf32> }
