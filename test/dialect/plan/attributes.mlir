// Every rule of dialect/plan/attributes.cpp, by its label, and attributes that stand where they may.
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | %meshplan-opt --split-input-file | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
// CHECK: plan.init = #plan.init_rule<rule = kaiming_normal, gain = 1.000000e+00 : f64, fan = in, text = "kaiming normal", location = loc(unknown)>
// CHECK-SAME: plan.storage = #plan.storage<name = "all", position = 1, registered = true>
// CHECK-SAME: plan.kind = #plan.kind<setting>
// CHECK-SAME: plan.schedule = #base.rate_schedule<kind = linear, steps = 3>
// CHECK-SAME: plan.copies
// CHECK-SAME: plan.of = #plan.argument<parameter "w">
// CHECK-SAME: plan.gradient_of = #plan.argument<parameter "w">
// CHECK-SAME: plan.updates = #plan.argument<state "w">
// CHECK-SAME: plan.guard = #base.guard<stops = true>, plan.role = #base.role<step>
func.func @step(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w", "tied"], plan.trainable = true, plan.data = 0 : i64,
                       plan.init = #plan.init_rule<rule = kaiming_normal, gain = 1.0, fan = in, text = "kaiming normal", location = loc(unknown)>,
                       plan.storage = #plan.storage<name = "all", position = 1, registered = true>},
    %s: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["lr"], plan.value = 0.5 : f64,
                     plan.schedule = #base.rate_schedule<kind = linear, steps = 3>},
    %m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.names = ["w"], plan.of = #plan.argument<parameter "w">, plan.copies})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">}, tensor<4xf32> {plan.updates = #plan.argument<state "w">})
    attributes {plan.role = #base.role<step>, plan.guard = #base.guard<stops = true>} {
  // CHECK: {plan.in_evaluation = #plan.stand_in<second_operand>}
  %0 = plan.call "aten.mul.Tensor"(%w, %m) {self = #base.operand<0>, other = #base.operand<1>} {plan.in_evaluation = #plan.stand_in<second_operand>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: {plan.in_evaluation = #plan.argument<state "w">}
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} {plan.in_evaluation = #plan.argument<state "w">} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
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
// expected-error @below {{has 'plan.of' = #plan.argument<state "n">, whose kind cannot be 'state'}}
func.func @state(%m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<state "n">},
                 %n: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.names = ["n"]}) { return }

// -----

// D4
// expected-error @below {{has 'plan.gradient_of' = #plan.argument<buffer "x">, whose kind cannot be 'buffer'}}
func.func @gradient(%x: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["x"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<buffer "x">}) { return %x : tensor<4xf32> }

// -----

// D4
// expected-error @below {{has 'plan.updates' = #plan.argument<input "x">, whose kind cannot be 'input'}}
func.func @update(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<4xf32> {plan.updates = #plan.argument<input "x">}) { return %x : tensor<4xf32> }

// -----

// D5
// expected-error @below {{has 'plan.of' = #plan.argument<parameter "v">, which is the first name of no argument}}
func.func @state(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                 %m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.of = #plan.argument<parameter "v">}) { return }

// -----

// D5, for the second name of tied parameters
// expected-error @below {{has 'plan.gradient_of' = #plan.argument<parameter "tied">, which is the first name of no argument}}
func.func @gradient(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w", "tied"]})
    -> (tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "tied">}) { return %w : tensor<4xf32> }

// -----

// D5, for a name of another kind
// expected-error @below {{has 'plan.updates' = #plan.argument<buffer "w">, which is the first name of no argument}}
func.func @update(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]})
    -> (tensor<4xf32>, tensor<4xf32> {plan.updates = #plan.argument<buffer "w">}) { return %w, %w : tensor<4xf32>, tensor<4xf32> }

// -----

// D5
func.func @call(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4xf32> {
  // expected-error @below {{has 'plan.in_evaluation' = #plan.argument<buffer "x">, which is the first name of no argument}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.in_evaluation = #plan.argument<buffer "x">} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// D5, where no argument or result has an attribute
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'plan.in_evaluation' = #plan.argument<buffer "x">, which is the first name of no argument}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.in_evaluation = #plan.argument<buffer "x">} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// D6
// expected-error @below {{has arguments 0 and 2 of one name, #plan.argument<parameter "w">}}
func.func @names(%v: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v", "w"]},
                 %m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.names = ["w"]},
                 %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) { return }

// -----

// D7
// expected-error @below {{has 'plan.trainable' on argument 0, to which its gradient cannot refer without a kind and a name}}
func.func @trained(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.trainable = true}) { return }

// -----

// D7
// expected-error @below {{has 'plan.trainable' on argument 0, to which its gradient cannot refer without a kind and a name}}
func.func @trained(%w: tensor<4xf32> {plan.names = ["w"], plan.trainable = true}) { return }

// -----

// D8
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
// expected-error @below {{has 'plan.data' = 1 on argument 0, but the statements of the module have 1}}
func.func @data(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 1 : i64}) { return }

// -----

// D8
// expected-error @below {{has 'plan.data' = 0 on argument 0, but the statements of the module have 0}}
func.func @none(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0 : i64}) { return }

// -----

// D8
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.1 : f64>]
// expected-error @below {{has 'plan.group' = -1 on argument 0, but the statements of the module have 1}}
func.func @group(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.group = -1 : i64}) { return }

// -----

// D9
func.func @other(%x: tensor<4xf32>) {
  // expected-error @below {{has a run of module "mlp.u", which does not contain it}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "mlp.up"
    {plan.module_runs = [#plan.module_run<"mlp" = 1>, #plan.module_run<"mlp.u" = 1>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D10
func.func @twice(%x: tensor<4xf32>) {
  // expected-error @below {{has two runs of module "mlp"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "mlp"
    {plan.module_runs = [#plan.module_run<"mlp" = 1>, #plan.module_run<"mlp" = 2>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
