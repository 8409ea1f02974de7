// Every rule of dialect/plan/attributes.cpp and argument_table.cpp, by its label, and attributes that stand where they may.
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

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.names' of the wrong type, []}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = []}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.names' of the wrong type, [""]}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = [""]}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.parts' of the wrong type, array<i64>}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.parts = array<i64>}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.parts' of the wrong type, array<i64: 2, 0>}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.parts = array<i64: 2, 0>}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.group' of the wrong type, 1 : i32}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.group = 1 : i32}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.unit' of the wrong type, -1 : i64}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.unit = -1 : i64}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.unit' of the wrong type, true}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.unit = true}) { return }

// -----

// D2: what a list or a number may not be
// expected-error @below {{has 'plan.data' of the wrong type, 0 : ui64}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.data = 0 : ui64}) { return }

// -----

// D2: an empty name
// expected-error @below {{has 'plan.name' of the wrong type, ""}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.name = ""}) { return %x : tensor<4xf32> }

// -----

// D2: the type of activations
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @sum(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) {
  // expected-error @below {{has 'plan.activation_sum' of the wrong type, i32}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] {plan.activation_sum = i32} : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// D3
// expected-error @below {{has 'plan.dims' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.dims = ["batch"]}) { return }

// -----

// D3
// expected-error @below {{has 'plan.sharding' on argument 0 (state), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.sharding = #plan.sharding<[{}]>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.parts' on argument 0 (input), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.parts = array<i64: 1>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.trainable' on argument 0 (buffer), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.trainable = true}) { return }

// -----

// D3
// expected-error @below {{has 'plan.unused' on argument 0 (buffer), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.unused = loc(unknown)}) { return }

// -----

// D3
// expected-error @below {{has 'plan.group' on argument 0 (buffer), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.group = 0 : i64}) { return }

// -----

// D3
// expected-error @below {{has 'plan.data' on argument 0 (state), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.data = 0 : i64}) { return }

// -----

// D3
// expected-error @below {{has 'plan.unit' on argument 0 (input), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.unit = 0 : i64}) { return }

// -----

// D3
// expected-error @below {{has 'plan.keep' on argument 0 (buffer), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.keep}) { return }

// -----

// D3
// expected-error @below {{has 'plan.init' on argument 0 (state), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.init = #base.init<kind = constant, value = 0.0>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.of' on argument 0 (accumulator), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<accumulator>, plan.of = #plan.argument<parameter "w">}) { return }

// -----

// D3
// expected-error @below {{has 'plan.scratch' on argument 0 (state), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.scratch}) { return }

// -----

// D3
// expected-error @below {{has 'plan.value' on argument 0 (input), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.value = 1.0 : f64}) { return }

// -----

// D3
// expected-error @below {{has 'plan.schedule' on argument 0 (state), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.schedule = #base.rate_schedule<kind = constant>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.storage' on argument 0 (state), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.storage = #plan.storage<name = "all", position = 0>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.host' on argument 0 (input), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.host}) { return }

// -----

// D3
// expected-error @below {{has 'plan.host' on argument 0 (accumulator), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<accumulator>, plan.host}) { return }

// -----

// D3
// expected-error @below {{has 'plan.name' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.name = "y"}) { return }

// -----

// D3
// expected-error @below {{has 'plan.loss' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.loss}) { return }

// -----

// D3
// expected-error @below {{has 'plan.gradient_of' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.gradient_of = #plan.argument<parameter "w">}) { return }

// -----

// D3
// expected-error @below {{has 'plan.updates' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.updates = #plan.argument<parameter "w">}) { return }

// -----

// D3
// expected-error @below {{has 'plan.role' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.role = #base.role<step>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.timeline' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.timeline = []}) { return }

// -----

// D3
// expected-error @below {{has 'plan.module_runs' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.module_runs = []}) { return }

// -----

// D3
// expected-error @below {{has 'plan.loss_gradient' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.loss_gradient}) { return }

// -----

// D3
// expected-error @below {{has 'plan.kept' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.kept}) { return }

// -----

// D3
// expected-error @below {{has 'plan.precision' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.precision}) { return }

// -----

// D3
// expected-error @below {{has 'plan.keeps_addends' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.keeps_addends}) { return }

// -----

// D3
// expected-error @below {{has 'plan.zero_gradient' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.zero_gradient}) { return }

// -----

// D3
// expected-error @below {{has 'plan.in_evaluation' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.in_evaluation = #plan.stand_in<ones>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.autocast_off' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.autocast_off = "cpu"}) { return }

// -----

// D3
// expected-error @below {{has 'plan.input_of' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.input_of = "m"}) { return }

// -----

// D3
// expected-error @below {{has 'plan.output_of' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.output_of = "m"}) { return }

// -----

// D3
// expected-error @below {{has 'plan.activation_sum' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.activation_sum = bf16}) { return }

// -----

// D3
// expected-error @below {{has 'plan.mergeable' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.mergeable = #plan.mergeable<set = 0, most = 0>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.prefetch' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.prefetch = #plan.prefetch<unit = 0, ahead = 0>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.wide_activations' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.wide_activations}) { return }

// -----

// D3
// expected-error @below {{has 'plan.is_decomposed' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.is_decomposed}) { return }

// -----

// D3
// expected-error @below {{has 'plan.is_evaluated' on argument 0 (parameter), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.is_evaluated}) { return }

// -----

// D3
// expected-error @below {{has 'plan.kind' on a module, where it means nothing}}
module attributes {plan.kind = #plan.kind<input>} {}

// -----

// D3
// expected-error @below {{has 'plan.names' on a module, where it means nothing}}
module attributes {plan.names = ["w"]} {}

// -----

// D3
// expected-error @below {{has 'plan.style' on a module, where it means nothing}}
module attributes {plan.style = "colwise tp"} {}

// -----

// D3: an op that is not a collective
// expected-error @below {{has 'plan.mergeable' on 'plan.mesh', where it means nothing}}
plan.mesh [#base.mesh_axis<"tp" = 2>] {plan.mergeable = #plan.mergeable<set = 0, most = 0>}

// -----

// D3: a collective that gathers nothing
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @sum(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) {
  // expected-error @below {{has 'plan.prefetch' on 'plan.all_reduce', where it means nothing}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] {plan.prefetch = #plan.prefetch<unit = 0, ahead = 0>} : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// D3: a collective that sums nothing
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @gather(%x: tensor<4xf32, #plan.sharding<[{}], flat = {"tp"}>>) {
  // expected-error @below {{has 'plan.activation_sum' on 'plan.all_gather', where it means nothing}}
  %0 = plan.all_gather %x [#plan.axis<"tp">] {plan.activation_sum = bf16} : tensor<4xf32, #plan.sharding<[{}], flat = {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// D3: an op of another dialect
func.func @end() {
  // expected-error @below {{has 'plan.keeps_addends' on 'func.return', where it means nothing}}
  return {plan.keeps_addends}
}

// -----

// D11: the names of the dims
// expected-error @below {{has 'plan.dims' on argument 0 of type 'tensor<4xf32>': names 2 dims of a tensor of rank 1}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.dims = ["batch", ""]}) { return }

// -----

// D11: the rank of a layout
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{has 'plan.sharding' on argument 0 of type 'tensor<4xf32>': sharding of rank 2 on a tensor of rank 1}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.sharding = #plan.sharding<[{}, {}]>}) { return }

// -----

// D11: the axes of a layout
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{has 'plan.sharding' on argument 0 of type 'tensor<4xf32>': unknown axis "dp"}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.sharding = #plan.sharding<[{"dp"}]>}) { return }

// -----

// D11: without a mesh
// expected-error @below {{has 'plan.sharding' on argument 0 of type 'tensor<4xf32>': names axes, but the module has no mesh}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.sharding = #plan.sharding<[{}]>}) { return }

// -----

// D11: given elements
// expected-error @below {{has 'plan.init' on argument 0 of type 'tensor<4xf32>': is given elements of type 'tensor<2xf32>'}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.init = #base.init<kind = given, elements = dense<1.0> : tensor<2xf32>>}) { return }

// -----

// D12
// expected-error @below {{has results 0 and 1 with 'plan.updates' = #plan.argument<parameter "w">, must be one}}
func.func @twice(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> (tensor<4xf32> {plan.updates = #plan.argument<parameter "w">}, tensor<4xf32> {plan.updates = #plan.argument<parameter "w">}) { return %w, %w : tensor<4xf32>, tensor<4xf32> }

// -----

// D12: the loss
// expected-error @below {{has results 0 and 2 with 'plan.loss' = unit, must be one}}
func.func @twice(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> (tensor<4xf32> {plan.loss}, tensor<4xf32>, tensor<4xf32> {plan.loss}) { return %w, %w, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> }

// -----

// D13
// expected-error @below {{has arguments 0 and 2 at position 3 of storage "all", must be one}}
func.func @storage(%v: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.storage = #plan.storage<name = "all", position = 3>},
                   %u: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.storage = #plan.storage<name = "other", position = 3>},
                   %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.storage = #plan.storage<name = "all", position = 3, registered = true>}) { return }

// -----

// D14
func.func @stand_in(%x: tensor<4xf32>) {
  // expected-error @below {{has the stand-in 'first_operand', but 0 operands}}
  %0 = plan.call "aten.op"() {} {plan.in_evaluation = #plan.stand_in<first_operand>} : () -> tensor<4xf32>
  return
}

// -----

// D14
func.func @stand_in(%x: tensor<4xf32>) {
  // expected-error @below {{has the stand-in 'second_operand', but 1 operands}}
  %0 = plan.call "aten.op"(%x) {self = #base.operand<0>} {plan.in_evaluation = #plan.stand_in<second_operand>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D15
// expected-error @below {{has 'plan.pieces' on argument 0 of type 'tensor<4x6xf32>': is not in these pieces: its parts are less than dim 1}}
func.func @argument(%x: tensor<4x6xf32> {plan.kind = #plan.kind<parameter>, plan.pieces = #base.pieces<before = ["a", "b"], after = ["", ""], sizes = [2, 3], dim = 1, count = 4>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.pieces' on argument 0 (input), where it means nothing}}
func.func @argument(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.pieces = #base.pieces<before = ["a"], after = [""], sizes = [4]>}) { return }

// -----

// D3
// expected-error @below {{has 'plan.reserve' on result 0, where it means nothing}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.reserve = 1.5}) { return %x : tensor<4xf32> }

// -----

// D3
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'plan.experts' on a call, where it means nothing}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.experts = ["m"]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// D3
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 'plan.pairs' on a call, where it means nothing}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.pairs = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// D16
// expected-error @below {{has result 0 of type 'tensor<1x3xi64>' that counts tokens of 1 modules with 0 numbers of pairs, must be i64 [modules, experts] with one number for each module}}
func.func @tokens(%x: tensor<1x3xi64>) -> (tensor<1x3xi64> {plan.experts = ["m"]}) { return %x : tensor<1x3xi64> }

// -----

// D16: pairs alone
// expected-error @below {{has result 0 of type 'tensor<1x3xi64>' that counts tokens of 0 modules with 1 numbers of pairs}}
func.func @tokens(%x: tensor<1x3xi64>) -> (tensor<1x3xi64> {plan.pairs = array<i64: 4>}) { return %x : tensor<1x3xi64> }

// -----

// D16: rows of other modules
// expected-error @below {{has result 0 of type 'tensor<2x3xi64>' that counts tokens of 1 modules with 1 numbers of pairs}}
func.func @tokens(%x: tensor<2x3xi64>) -> (tensor<2x3xi64> {plan.experts = ["m"], plan.pairs = array<i64: 4>}) { return %x : tensor<2x3xi64> }

// -----

// D16: no numbers of tokens
// expected-error @below {{has result 0 of type 'tensor<1x3xf32>' that counts tokens of 1 modules with 1 numbers of pairs}}
func.func @tokens(%x: tensor<1x3xf32>) -> (tensor<1x3xf32> {plan.experts = ["m"], plan.pairs = array<i64: 4>}) { return %x : tensor<1x3xf32> }
