// Every attribute that arguments, results, functions, calls, statements, collectives and modules may carry: its text,
// and one failing case for its type (D2 of dialect/plan/attributes.cpp). attributes.mlir has the types of 'kind', 'names'
// and 'role', where attributes may stand, and the other rules.
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | %meshplan-opt --split-input-file | FileCheck %s

// CHECK: module attributes {plan.is_decomposed, plan.is_evaluated, plan.wide_activations} {
module attributes {plan.wide_activations, plan.is_decomposed, plan.is_evaluated} {
  plan.mesh [#base.mesh_axis<"tp" = 2>]
  plan.data replicated over [#plan.axis<"tp">] prefetch 0 as "data tp"
  plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0>, #plan.optimizer_group<lr = 2.0>]
  // CHECK: func.func @step(
  // CHECK-SAME: plan.data = 0 : i64, plan.group = 1 : i64, plan.host, plan.init = #base.init<kind = constant, value = 0.000000e+00 : f64>, plan.keep
  // CHECK-SAME: plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.parts = array<i64: 2, 1>, plan.pieces = #base.pieces<before = ["a.", "b."], after = ["", ""], sizes = [2, 4]>, plan.sharding = #plan.sharding<[{"tp"}]>, plan.style = "colwise tp"
  // CHECK-SAME: plan.trainable = true, plan.unit = 3 : i64
  // CHECK-SAME: plan.trainable = false, plan.unused = loc("a.plan":3:10)
  // CHECK-SAME: plan.dims = ["batch"]
  // CHECK-SAME: plan.schedule = #base.rate_schedule<kind = wsd, steps = 9, decay = 2>, plan.value = 5.000000e-01 : f64
  // CHECK-SAME: plan.copies
  // CHECK-SAME: plan.of = #plan.argument<parameter "w">
  // CHECK-SAME: plan.scratch, plan.storage = #plan.storage<name = "sums", position = 0>
  // CHECK-SAME: plan.loss, plan.name = "loss"
  // CHECK-SAME: plan.gradient_of = #plan.argument<parameter "w">
  // CHECK-SAME: plan.updates = #plan.argument<accumulator "w.sum">
  // CHECK-SAME: plan.experts = ["m"], plan.pairs = array<i64: 4>
  // CHECK-SAME: attributes {plan.guard = #base.guard<stops = true>, plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>]}
  func.func @step(
      %w: tensor<6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true, plan.group = 1 : i64,
                         plan.data = 0 : i64, plan.unit = 3 : i64, plan.keep, plan.host, plan.style = "colwise tp",
                         plan.sharding = #plan.sharding<[{"tp"}]>, plan.parts = array<i64: 2, 1>,
                         plan.pieces = #base.pieces<before = ["a.", "b."], after = ["", ""], sizes = [2, 4]>,
                         plan.init = #base.init<kind = constant, value = 0.0>},
      %v: tensor<6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v"], plan.trainable = false, plan.unused = loc("a.plan":3:10)},
      %x: tensor<6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.dims = ["batch"]},
      %r: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["r"], plan.value = 0.5 : f64,
                       plan.schedule = #base.rate_schedule<kind = wsd, steps = 9, decay = 2>},
      %m: tensor<6xf32> {plan.kind = #plan.kind<state>, plan.names = ["w.m"], plan.of = #plan.argument<parameter "w">, plan.copies},
      %s: tensor<6xf32> {plan.kind = #plan.kind<accumulator>, plan.names = ["w.sum"], plan.scratch,
                         plan.storage = #plan.storage<name = "sums", position = 0>},
      %p: tensor<6xf32, #plan.sharding<[{}], partial = sum {"tp"}>>,
      %f: tensor<6xf32, #plan.sharding<[{}], flat = {"tp"}>>,
      %n: tensor<1x3xi64>)
      -> (tensor<6xf32> {plan.name = "loss", plan.loss}, tensor<6xf32> {plan.gradient_of = #plan.argument<parameter "w">},
          tensor<6xf32> {plan.updates = #plan.argument<accumulator "w.sum">},
          tensor<1x3xi64> {plan.experts = ["m"], plan.pairs = array<i64: 4>})
      attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>], plan.guard = #base.guard<stops = true>} {
    // CHECK: plan.call "aten.neg.default"(%{{.*}}) {self = #base.operand<0>} in "m" {plan.autocast_off = "cuda", plan.host, plan.in_evaluation = #plan.stand_in<ones>,
    // CHECK-SAME: plan.keeps_addends, plan.kept, plan.loss_gradient, plan.module_runs = [#plan.module_run<"m" = 1>], plan.precision, plan.reserve = 1.500000e+00 : f64, plan.zero_gradient}
    %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "m"
      {plan.host, plan.module_runs = [#plan.module_run<"m" = 1>], plan.loss_gradient, plan.kept, plan.precision, plan.keeps_addends, plan.zero_gradient,
       plan.in_evaluation = #plan.stand_in<ones>, plan.autocast_off = "cuda", plan.reserve = 1.5} : (tensor<6xf32>) -> tensor<6xf32>
    // CHECK: plan.constrain {{.*}} as "input replicate" {plan.input_of = "m"}
    %1 = plan.constrain %0 <[{}]> along [#plan.axis<"tp">] as "input replicate" {plan.input_of = "m"} : tensor<6xf32> -> tensor<6xf32>
    // CHECK: plan.constrain {{.*}} as "output replicate" {plan.output_of = "m"}
    %2 = plan.constrain %1 <[{}]> along [#plan.axis<"tp">] as "output replicate" {plan.output_of = "m"} : tensor<6xf32> -> tensor<6xf32>
    // CHECK: plan.all_reduce {{.*}} {plan.activation_sum = bf16, plan.data = 0 : i64, plan.mergeable = #plan.mergeable<set = 1, most = 64>, plan.unit = 3 : i64}
    %3 = plan.all_reduce %p [#plan.axis<"tp">] {plan.activation_sum = bf16, plan.data = 0 : i64, plan.mergeable = #plan.mergeable<set = 1, most = 64>, plan.unit = 3 : i64}
      : tensor<6xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<6xf32, #plan.sharding<[{}]>>
    // CHECK: plan.all_gather {{.*}} {plan.keeps_addends, plan.once, plan.prefetch = #plan.prefetch<unit = 2, ahead = 1>}
    %4 = plan.all_gather %f [#plan.axis<"tp">] {plan.keeps_addends, plan.once, plan.prefetch = #plan.prefetch<unit = 2, ahead = 1>}
      : tensor<6xf32, #plan.sharding<[{}], flat = {"tp"}>> -> tensor<6xf32, #plan.sharding<[{}]>>
    return %2, %w, %s, %n : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<1x3xi64>
  }
}

// -----

// D2
// expected-error @below {{has 'plan.dims' of the wrong type, "batch"}}
func.func @argument(%x: tensor<4xf32> {plan.dims = "batch"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.dims' of the wrong type, [1]}}
func.func @argument(%x: tensor<4xf32> {plan.dims = [1]}) { return }

// -----

// D2
// expected-error @below {{has 'plan.sharding' of the wrong type, "tp"}}
func.func @argument(%x: tensor<4xf32> {plan.sharding = "tp"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.parts' of the wrong type, [2, 1]}}
func.func @argument(%x: tensor<4xf32> {plan.parts = [2, 1]}) { return }

// -----

// D2
// expected-error @below {{has 'plan.pieces' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.pieces = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.style' of the wrong type, true}}
func.func @argument(%x: tensor<4xf32> {plan.style = true}) { return }

// -----

// D2
// expected-error @below {{has 'plan.trainable' of the wrong type, "yes"}}
func.func @argument(%x: tensor<4xf32> {plan.trainable = "yes"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.unused' of the wrong type, "a.plan"}}
func.func @argument(%x: tensor<4xf32> {plan.unused = "a.plan"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.group' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.group = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.data' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.data = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.unit' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.unit = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.keep' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.keep = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.init' of the wrong type, "zeros"}}
func.func @argument(%x: tensor<4xf32> {plan.init = "zeros"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.of' of the wrong type, "w"}}
func.func @argument(%x: tensor<4xf32> {plan.of = "w"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.copies' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.copies = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.scratch' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.scratch = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.value' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.value = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.schedule' of the wrong type, "linear"}}
func.func @argument(%x: tensor<4xf32> {plan.schedule = "linear"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.storage' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.storage = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.host' of the wrong type, "a"}}
func.func @argument(%x: tensor<4xf32> {plan.host = "a"}) { return }

// -----

// D2
// expected-error @below {{has 'plan.name' of the wrong type, true}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.name = true}) { return %x : tensor<4xf32> }

// -----

// D2
// expected-error @below {{has 'plan.loss' of the wrong type, "a"}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.loss = "a"}) { return %x : tensor<4xf32> }

// -----

// D2
// expected-error @below {{has 'plan.gradient_of' of the wrong type, "w"}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.gradient_of = "w"}) { return %x : tensor<4xf32> }

// -----

// D2
// expected-error @below {{has 'plan.updates' of the wrong type, "w"}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.updates = "w"}) { return %x : tensor<4xf32> }

// -----

// D2
// expected-error @below {{has 'plan.guard' of the wrong type, "stop"}}
func.func @function() attributes {plan.guard = "stop"} { return }

// -----

// D2
// expected-error @below {{has 'plan.timeline' of the wrong type, "a"}}
func.func @function() attributes {plan.timeline = "a"} { return }

// -----

// D2
// expected-error @below {{has 'plan.timeline' of the wrong type, [0]}}
func.func @function() attributes {plan.timeline = [0]} { return }

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.module_runs' of the wrong type, "m"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.module_runs = "m"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.module_runs' of the wrong type, [1]}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.module_runs = [1]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.loss_gradient' of the wrong type, "a"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.loss_gradient = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.kept' of the wrong type, "a"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.kept = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.precision' of the wrong type, "a"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.precision = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.keeps_addends' of the wrong type, "a"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.keeps_addends = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.zero_gradient' of the wrong type, "a"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.zero_gradient = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.in_evaluation' of the wrong type, "ones"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.in_evaluation = "ones"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.autocast_off' of the wrong type, true}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.autocast_off = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
func.func @call(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.host' of the wrong type, "a"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.host = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// D2
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @statement(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.input_of' of the wrong type, true}}
  %0 = plan.constrain %x <[{}]> along [#plan.axis<"tp">] as "input replicate" {plan.input_of = true} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// D2
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @statement(%x: tensor<4xf32>) {
  // expected-error @below {{has 'plan.output_of' of the wrong type, true}}
  %0 = plan.constrain %x <[{}]> along [#plan.axis<"tp">] as "input replicate" {plan.output_of = true} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// D2
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @collective(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) {
  // expected-error @below {{has 'plan.activation_sum' of the wrong type, "bf16"}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] {plan.activation_sum = "bf16"}
    : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// D2
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @mergeable(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) {
  // expected-error @below {{has 'plan.mergeable' of the wrong type, 1}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] {plan.mergeable = 1}
    : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// D2
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @once(%x: tensor<4xf32, #plan.sharding<[{}], flat = {"tp"}>>) {
  // expected-error @below {{has 'plan.once' of the wrong type, 1}}
  %0 = plan.all_gather %x [#plan.axis<"tp">] {plan.once = 1}
    : tensor<4xf32, #plan.sharding<[{}], flat = {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @prefetch(%x: tensor<4xf32, #plan.sharding<[{}], flat = {"tp"}>>) {
  // expected-error @below {{has 'plan.prefetch' of the wrong type, 1}}
  %0 = plan.all_gather %x [#plan.axis<"tp">] {plan.prefetch = 1}
    : tensor<4xf32, #plan.sharding<[{}], flat = {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// D2
// expected-error @below {{has 'plan.wide_activations' of the wrong type, "a"}}
module attributes {plan.wide_activations = "a"} {}

// -----

// D2
// expected-error @below {{has 'plan.is_decomposed' of the wrong type, "a"}}
module attributes {plan.is_decomposed = "a"} {}

// -----

// D2
// expected-error @below {{has 'plan.is_evaluated' of the wrong type, "a"}}
module attributes {plan.is_evaluated = "a"} {}

// -----

// expected-error @below {{has 'plan.experts' of the wrong type, "m"}}
func.func @function(%x: tensor<6xf32>) -> (tensor<6xf32> {plan.experts = "m"}) { return %x : tensor<6xf32> }

// -----

// expected-error @below {{has 'plan.pairs' of the wrong type, 4 : i64}}
func.func @function(%x: tensor<6xf32>) -> (tensor<6xf32> {plan.pairs = 4 : i64}) { return %x : tensor<6xf32> }

// -----

func.func @function(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{has 'plan.reserve' of the wrong type, 5.000000e-01 : f64}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} {plan.reserve = 0.5 : f64} : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
