// Weights of experts: the dim of experts is divided, of weights and biases.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles | FileCheck %s

// CHECK-LABEL: func.func @experts
// CHECK-SAME: %arg2: tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.w"], plan.style = "expert dp"}
// CHECK-SAME: %arg3: tensor<8x10xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.b"], plan.style = "expert dp"}
// CHECK-SAME: %arg4: tensor<8x16xf32, #plan.sharding<[{}, {}]>>
// CHECK-NOT: plan.constrain
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.style "mlp" expert [#plan.axis<"dp">] as "expert dp"
func.func @experts(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.w"]},
    %b: tensor<8x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.b"]},
    %gate: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.gate.weight"]}) -> (tensor<4x6x10xf32>, tensor<4x6x8xf32>) {
  %scores = plan.call "aten.linear.default"(%x, %gate) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.gate" : (tensor<4x6x16xf32>, tensor<8x16xf32>) -> tensor<4x6x8xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp.experts"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp.experts"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp.experts"
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.grouped_bias"(%1, %b, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp.experts"
      : (tensor<8x4x6x10xf32>, tensor<8x10xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %3 = plan.call "meshplan.combine"(%2, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]} in "mlp.experts"
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %3, %scores : tensor<4x6x10xf32>, tensor<4x6x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 4>]
// expected-error @below {{dim 0 of 'mlp.w' has size 3, fewer than dp = 4}}
// expected-note @below {{help: dp can be at most 3}}
plan.style "mlp" expert [#plan.axis<"dp">] as "expert dp"
func.func @few(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<3x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]}) -> tensor<3x4x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 3 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<3x4xi64>, tensor<3x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<3x4xi64>) -> tensor<3x4x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<3x4x16xf32>, tensor<3x10x16xf32>, tensor<3x4xi64>) -> tensor<3x4x10xf32>
  return %1 : tensor<3x4x10xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'up' routes nothing: no weight of it has a matrix for each expert that computes the tokens which chose the expert}}
// expected-note @below {{help: 'mlp' routes tokens to experts; write 'expert' there}}
plan.style "up" expert [#plan.axis<"dp">] as "expert dp"
func.func @elsewhere(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %u: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %w: tensor<3x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]}) -> tensor<3x4x10xf32> {
  %y = plan.call "aten.linear.default"(%x, %u) {input = #base.operand<0>, weight = #base.operand<1>} in "up" : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 3 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<3x4xi64>, tensor<3x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%y, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<3x4xi64>) -> tensor<3x4x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<3x4x16xf32>, tensor<3x10x16xf32>, tensor<3x4xi64>) -> tensor<3x4x10xf32>
  return %1 : tensor<3x4x10xf32>
}

// -----

// Experts that are modules of a list, or parameters of one.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'l.0.mlp.e.1.up' routes nothing}}
// expected-note @below {{help: 'l.0.mlp.e.1.up' is in one of the experts of 'l.0.mlp.e': write 'l.*.mlp.e: expert dp' for their list}}
plan.style "l.0.mlp.e.1.up" expert [#plan.axis<"dp">] as "expert dp"
func.func @in_an_expert(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %h: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["head.weight"]},
    %u: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.e.0.up.weight"]},
    %v: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.e.1.up.weight"]}) -> tensor<2x4x10xf32> {
  %y = plan.call "aten.linear.default"(%x, %h) {input = #base.operand<0>, weight = #base.operand<1>} in "head" : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 2 : i64} in "l.0.mlp"
      : (tensor<4x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%y, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "l.0.mlp"
      : (tensor<4x16xf32>, tensor<2x4xi64>) -> tensor<2x4x16xf32>
  %w = plan.call "aten.stack.default"(%u, %v) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.mlp.e.0.up"
      : (tensor<10x16xf32>, tensor<10x16xf32>) -> tensor<2x10x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "l.0.mlp.e.0.up"
      : (tensor<2x4x16xf32>, tensor<2x10x16xf32>, tensor<2x4xi64>) -> tensor<2x4x10xf32>
  return %1 : tensor<2x4x10xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'l.0.mlp.e.0.up' has no features inside experts}}
// expected-note @below {{help: 'l.0.mlp.e.0.up' is in one of the experts of 'l.0.mlp.e': write 'l.*.mlp.e: within dp' for their list}}
plan.style "l.0.mlp.e.0.up" within [#plan.axis<"dp">] as "within dp"
func.func @features_of_an_expert(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %h: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["head.weight"]},
    %u: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.e.0.up.weight"]},
    %v: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.e.1.up.weight"]}) -> tensor<2x4x10xf32> {
  %y = plan.call "aten.linear.default"(%x, %h) {input = #base.operand<0>, weight = #base.operand<1>} in "head" : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 2 : i64} in "l.0.mlp"
      : (tensor<4x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%y, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "l.0.mlp"
      : (tensor<4x16xf32>, tensor<2x4xi64>) -> tensor<2x4x16xf32>
  %w = plan.call "aten.stack.default"(%u, %v) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.mlp.e.0.up"
      : (tensor<10x16xf32>, tensor<10x16xf32>) -> tensor<2x10x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "l.0.mlp.e.0.up"
      : (tensor<2x4x16xf32>, tensor<2x10x16xf32>, tensor<2x4xi64>) -> tensor<2x4x10xf32>
  return %1 : tensor<2x4x10xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'head' routes nothing}}
// expected-note @below {{help: 'l.0.mlp.e' has experts: write 'l.*.mlp.e: expert dp'}}
plan.style "head" expert [#plan.axis<"dp">] as "expert dp"
func.func @beside_a_list(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %h: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["head.weight"]},
    %u: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.e.0.up.weight"]},
    %v: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.e.1.up.weight"]}) -> tensor<2x4x10xf32> {
  %y = plan.call "aten.linear.default"(%x, %h) {input = #base.operand<0>, weight = #base.operand<1>} in "head" : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 2 : i64} in "l.0.mlp"
      : (tensor<4x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%y, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "l.0.mlp"
      : (tensor<4x16xf32>, tensor<2x4xi64>) -> tensor<2x4x16xf32>
  %w = plan.call "aten.stack.default"(%u, %v) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.mlp.e.0.up"
      : (tensor<10x16xf32>, tensor<10x16xf32>) -> tensor<2x10x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "l.0.mlp.e.0.up"
      : (tensor<2x4x16xf32>, tensor<2x10x16xf32>, tensor<2x4xi64>) -> tensor<2x4x10xf32>
  return %1 : tensor<2x4x10xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'l.0.mlp.up' routes nothing}}
// expected-note @below {{help: 'l.0.mlp.up.0' is of one expert, and 'expert dp' divides parameters that have all of them: make the experts modules of an 'nn.ModuleList', or their weights one parameter}}
plan.style "l.0.mlp.up" expert [#plan.axis<"dp">] as "expert dp"
func.func @listed_parameters(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %h: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["head.weight"]},
    %u: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.up.0"]},
    %v: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.up.1"]}) -> tensor<2x4x10xf32> {
  %y = plan.call "aten.linear.default"(%x, %h) {input = #base.operand<0>, weight = #base.operand<1>} in "head" : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 2 : i64} in "l.0.mlp"
      : (tensor<4x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%y, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "l.0.mlp"
      : (tensor<4x16xf32>, tensor<2x4xi64>) -> tensor<2x4x16xf32>
  %w = plan.call "aten.stack.default"(%u, %v) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.mlp"
      : (tensor<10x16xf32>, tensor<10x16xf32>) -> tensor<2x10x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "l.0.mlp"
      : (tensor<2x4x16xf32>, tensor<2x10x16xf32>, tensor<2x4xi64>) -> tensor<2x4x10xf32>
  return %1 : tensor<2x4x10xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'l.0.mlp' has no features inside experts}}
// expected-note @below {{help: 'l.0.mlp.up.0' is of one expert, and 'within dp' divides parameters}}
plan.style "l.0.mlp" within [#plan.axis<"dp">] as "within dp"
func.func @around_listed_parameters(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %h: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["head.weight"]},
    %u: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.up.0"]},
    %v: tensor<10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.mlp.up.1"]}) -> tensor<2x4x10xf32> {
  %y = plan.call "aten.linear.default"(%x, %h) {input = #base.operand<0>, weight = #base.operand<1>} in "head" : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 2 : i64} in "l.0.mlp"
      : (tensor<4x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%y, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "l.0.mlp"
      : (tensor<4x16xf32>, tensor<2x4xi64>) -> tensor<2x4x16xf32>
  %w = plan.call "aten.stack.default"(%u, %v) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.mlp"
      : (tensor<10x16xf32>, tensor<10x16xf32>) -> tensor<2x10x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "l.0.mlp"
      : (tensor<2x4x16xf32>, tensor<2x10x16xf32>, tensor<2x4xi64>) -> tensor<2x4x10xf32>
  return %1 : tensor<2x4x10xf32>
}

// -----

// Weights plus products of low rank: experts are a dim of the first two, and major in a dim of %a; in %b they are minor.
// CHECK-LABEL: func.func @adapted
// CHECK-SAME: %arg2: tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-SAME: %arg3: tensor<8x16xf32, #plan.sharding<[{}, {}]>>
// CHECK-SAME: %arg4: tensor<24x16xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK-SAME: %arg5: tensor<10x24xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.style "mlp" expert [#plan.axis<"dp">] as "expert dp"
func.func @adapted(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]},
    %s: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.shared"]},
    %a: tensor<24x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.a"]},
    %b: tensor<10x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.b"]}) -> (tensor<8x4x10xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.view.default"(%a) {self = #base.operand<0>, size = [8, 3, 16]} in "mlp" : (tensor<24x16xf32>) -> tensor<8x3x16xf32>
  %1 = plan.call "aten.view.default"(%b) {self = #base.operand<0>, size = [10, 3, 8]} in "mlp" : (tensor<10x24xf32>) -> tensor<10x3x8xf32>
  %2 = plan.call "aten.einsum.default"(%1, %0) {equation = "o r e, e r i -> e o i", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<10x3x8xf32>, tensor<8x3x16xf32>) -> tensor<8x10x16xf32>
  %3 = plan.call "aten.add.Tensor"(%w, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<8x10x16xf32>, tensor<8x10x16xf32>) -> tensor<8x10x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %4 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %5 = plan.call "meshplan.grouped_linear"(%4, %3, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x10x16xf32>, tensor<8x4xi64>) -> tensor<8x4x10xf32>
  %6 = plan.call "aten.linear.default"(%x, %s) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp" : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  return %5, %6 : tensor<8x4x10xf32>, tensor<4x8xf32>
}

// -----

// Experts over dp, and the features inside each of them over tp: gate and up projections each by themselves.
// CHECK-LABEL: func.func @both
// CHECK-SAME: %arg2: tensor<8x20x16xf32, #plan.sharding<[{"dp"}, {"tp", parts [10, 10]}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"], plan.style = "expert dp, within tp"}
// CHECK-SAME: %arg3: tensor<8x20xf32, #plan.sharding<[{"dp"}, {"tp", parts [10, 10]}]>>
// CHECK-SAME: %arg4: tensor<8x16x10xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>
// CHECK-SAME: %arg5: tensor<8x16xf32, #plan.sharding<[{"dp"}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "mlp" expert [#plan.axis<"dp">] as "expert dp"
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @both(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x20x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]},
    %b: tensor<8x20xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.b"]},
    %v: tensor<8x16x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.v"]},
    %c: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.c"]}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x20x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x20xf32>
  %2 = plan.call "meshplan.grouped_bias"(%1, %b, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x6x20xf32>, tensor<8x20xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x20xf32>
  %3:2 = plan.call "aten.chunk.default"(%2) {self = #base.operand<0>, chunks = 2 : i64, dim = 3 : i64} in "mlp" : (tensor<8x4x6x20xf32>) -> (tensor<8x4x6x10xf32>, tensor<8x4x6x10xf32>)
  %4 = plan.call "aten.mul.Tensor"(%3#0, %3#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<8x4x6x10xf32>, tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %5 = plan.call "meshplan.grouped_linear"(%4, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %6 = plan.call "meshplan.grouped_bias"(%5, %c, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %7 = plan.call "meshplan.combine"(%6, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %7 : tensor<4x6x16xf32>
}

// -----

// CHECK-LABEL: func.func @alone
// CHECK-SAME: %arg2: tensor<8x20x16xf32, #plan.sharding<[{}, {"tp", parts [10, 10]}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"], plan.style = "within tp"}
// CHECK-SAME: %arg4: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>>
// CHECK-SAME: %arg5: tensor<8x16xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @alone(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x20x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]},
    %b: tensor<8x20xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.b"]},
    %v: tensor<8x16x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.v"]},
    %c: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.c"]}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x20x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x20xf32>
  %2 = plan.call "meshplan.grouped_bias"(%1, %b, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x6x20xf32>, tensor<8x20xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x20xf32>
  %3:2 = plan.call "aten.chunk.default"(%2) {self = #base.operand<0>, chunks = 2 : i64, dim = 3 : i64} in "mlp" : (tensor<8x4x6x20xf32>) -> (tensor<8x4x6x10xf32>, tensor<8x4x6x10xf32>)
  %4 = plan.call "aten.mul.Tensor"(%3#0, %3#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<8x4x6x10xf32>, tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %5 = plan.call "meshplan.grouped_linear"(%4, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %6 = plan.call "meshplan.grouped_bias"(%5, %c, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %7 = plan.call "meshplan.combine"(%6, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %7 : tensor<4x6x16xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'mlp' has no features inside experts: no product of rows of tokens with the weights of their experts feeds another one}}
// expected-note @below {{help: write 'expert', which divides whole experts}}
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @single(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<3x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]}) -> tensor<4x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 3 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<3x4xi64>, tensor<3x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<3x4xi64>) -> tensor<3x4x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<3x4x16xf32>, tensor<3x10x16xf32>, tensor<3x4xi64>) -> tensor<3x4x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 10]} in "mlp"
      : (tensor<3x4x10xf32>, tensor<3x4xi64>) -> tensor<4x10xf32>
  return %2 : tensor<4x10xf32>
}

// -----

// A module that holds the weights, which another one reads.
// CHECK-LABEL: func.func @held
// CHECK-SAME: %arg2: tensor<8x20x16xf32, #plan.sharding<[{}, {"tp", parts [10, 10]}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.w"], plan.style = "within tp"}
// CHECK-SAME: %arg4: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>>
// CHECK-SAME: %arg5: tensor<8x16xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "mlp.experts" within [#plan.axis<"tp">] as "within tp"
func.func @held(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x20x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.w"]},
    %b: tensor<8x20xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.b"]},
    %v: tensor<8x16x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.v"]},
    %c: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.c"]}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x20x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x20xf32>
  %2 = plan.call "meshplan.grouped_bias"(%1, %b, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x6x20xf32>, tensor<8x20xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x20xf32>
  %3:2 = plan.call "aten.chunk.default"(%2) {self = #base.operand<0>, chunks = 2 : i64, dim = 3 : i64} in "mlp" : (tensor<8x4x6x20xf32>) -> (tensor<8x4x6x10xf32>, tensor<8x4x6x10xf32>)
  %4 = plan.call "aten.mul.Tensor"(%3#0, %3#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<8x4x6x10xf32>, tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %5 = plan.call "meshplan.grouped_linear"(%4, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %6 = plan.call "meshplan.grouped_bias"(%5, %c, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %7 = plan.call "meshplan.combine"(%6, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %7 : tensor<4x6x16xf32>
}

// -----

// Additions of low rank to weights: the features between the two factors stay whole.
// CHECK-LABEL: func.func @low_rank_weights
// CHECK-SAME: {{.*}}, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]
// CHECK-SAME: tensor<8x4x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_a"]
// CHECK-SAME: tensor<8x24x4xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_b"]
// CHECK-SAME: tensor<8x16x24xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]
// CHECK-SAME: tensor<8x4x24xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_a"]
// CHECK-SAME: tensor<8x16x4xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_b"]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @low_rank_weights(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %up: tensor<8x24x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %up_a: tensor<8x4x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_a"]},
    %up_b: tensor<8x24x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_b"]},
    %down: tensor<8x16x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]},
    %down_a: tensor<8x4x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_a"]},
    %down_b: tensor<8x16x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_b"]}) -> tensor<8x4x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %rows = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %p = plan.call "aten.bmm.default"(%up_b, %up_a) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp"
      : (tensor<8x24x4xf32>, tensor<8x4x16xf32>) -> tensor<8x24x16xf32>
  %u = plan.call "aten.add.Tensor"(%up, %p) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<8x24x16xf32>, tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %inner = plan.call "meshplan.grouped_linear"(%rows, %u, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x24x16xf32>, tensor<8x4xi64>) -> tensor<8x4x24xf32>
  %silu = plan.call "aten.silu.default"(%inner) {self = #base.operand<0>} in "mlp"
      : (tensor<8x4x24xf32>) -> tensor<8x4x24xf32>
  %q = plan.call "aten.bmm.default"(%down_b, %down_a) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp"
      : (tensor<8x16x4xf32>, tensor<8x4x24xf32>) -> tensor<8x16x24xf32>
  %d = plan.call "aten.add.Tensor"(%down, %q) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<8x16x24xf32>, tensor<8x16x24xf32>) -> tensor<8x16x24xf32>
  %out = plan.call "meshplan.grouped_linear"(%silu, %d, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x16x24xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// -----

// The same as products of their own.
// CHECK-LABEL: func.func @low_rank_products
// CHECK-SAME: {{.*}}, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]
// CHECK-SAME: tensor<8x4x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_a"]
// CHECK-SAME: tensor<8x24x4xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_b"]
// CHECK-SAME: tensor<8x16x24xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]
// CHECK-SAME: tensor<8x4x24xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_a"]
// CHECK-SAME: tensor<8x16x4xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_b"]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @low_rank_products(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %up: tensor<8x24x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %up_a: tensor<8x4x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_a"]},
    %up_b: tensor<8x24x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_b"]},
    %down: tensor<8x16x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]},
    %down_a: tensor<8x4x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_a"]},
    %down_b: tensor<8x16x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_b"]}) -> tensor<8x4x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %rows = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %base = plan.call "meshplan.grouped_linear"(%rows, %up, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x24x16xf32>, tensor<8x4xi64>) -> tensor<8x4x24xf32>
  %a = plan.call "meshplan.grouped_linear"(%rows, %up_a, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x4xf32>
  %b = plan.call "meshplan.grouped_linear"(%a, %up_b, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x4xf32>, tensor<8x24x4xf32>, tensor<8x4xi64>) -> tensor<8x4x24xf32>
  %scaled = plan.call "aten.mul.Tensor"(%b) {self = #base.operand<0>, other = 2.0 : f64} in "mlp"
      : (tensor<8x4x24xf32>) -> tensor<8x4x24xf32>
  %inner = plan.call "aten.add.Tensor"(%base, %scaled) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x4x24xf32>) -> tensor<8x4x24xf32>
  %silu = plan.call "aten.silu.default"(%inner) {self = #base.operand<0>} in "mlp"
      : (tensor<8x4x24xf32>) -> tensor<8x4x24xf32>
  %base2 = plan.call "meshplan.grouped_linear"(%silu, %down, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x16x24xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %a2 = plan.call "meshplan.grouped_linear"(%silu, %down_a, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4xi64>) -> tensor<8x4x4xf32>
  %b2 = plan.call "meshplan.grouped_linear"(%a2, %down_b, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x4xf32>, tensor<8x16x4xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %out = plan.call "aten.add.Tensor"(%base2, %b2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// -----

// Two products one after the other, which are added to nothing: the features between them are those inside.
// CHECK-LABEL: func.func @linear_experts
// CHECK-SAME: #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]
// CHECK-SAME: tensor<8x16x24xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @linear_experts(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %up: tensor<8x24x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %up_a: tensor<8x4x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_a"]},
    %up_b: tensor<8x24x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up_b"]},
    %down: tensor<8x16x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]},
    %down_a: tensor<8x4x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_a"]},
    %down_b: tensor<8x16x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down_b"]}) -> tensor<8x4x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %rows = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %inner = plan.call "meshplan.grouped_linear"(%rows, %up, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x24x16xf32>, tensor<8x4xi64>) -> tensor<8x4x24xf32>
  %out = plan.call "meshplan.grouped_linear"(%inner, %down, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x16x24xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// -----

// Experts that two routers choose.
// CHECK-LABEL: func.func @two_routers
// CHECK-SAME: %arg3: tensor<8x24x16xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
// CHECK-SAME: %arg4: tensor<8x16x24xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "mlp" expert [#plan.axis<"dp">] as "expert dp"
plan.style "mlp" within [#plan.axis<"tp">] as "within tp"
func.func @two_routers(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %j: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["j"]},
    %up: tensor<8x24x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %down: tensor<8x16x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %table_a, %counts_a = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %rows_a = plan.call "meshplan.dispatch"(%x, %table_a) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %inner_a = plan.call "meshplan.grouped_linear"(%rows_a, %up, %counts_a) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x24x16xf32>, tensor<8x4xi64>) -> tensor<8x4x24xf32>
  %silu_a = plan.call "aten.silu.default"(%inner_a) {self = #base.operand<0>} in "mlp" : (tensor<8x4x24xf32>) -> tensor<8x4x24xf32>
  %made_a = plan.call "meshplan.grouped_linear"(%silu_a, %down, %counts_a) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x16x24xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %out_a = plan.call "meshplan.combine"(%made_a, %table_a) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 16]} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x4xi64>) -> tensor<4x16xf32>
  %table_b, %counts_b = plan.call "meshplan.route"(%j) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %rows_b = plan.call "meshplan.dispatch"(%x, %table_b) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %inner_b = plan.call "meshplan.grouped_linear"(%rows_b, %up, %counts_b) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x24x16xf32>, tensor<8x4xi64>) -> tensor<8x4x24xf32>
  %silu_b = plan.call "aten.silu.default"(%inner_b) {self = #base.operand<0>} in "mlp" : (tensor<8x4x24xf32>) -> tensor<8x4x24xf32>
  %made_b = plan.call "meshplan.grouped_linear"(%silu_b, %down, %counts_b) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x24xf32>, tensor<8x16x24xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %out_b = plan.call "meshplan.combine"(%made_b, %table_b) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 16]} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x4xi64>) -> tensor<4x16xf32>
  return %out_a, %out_b : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// Every token goes to all experts.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the root module routes nothing: no weight of it has a matrix for each expert that computes the tokens which chose the expert}}
// expected-note @below {{help: every token goes to all of its experts: divide the weights by the dim that numbers experts, as by 'parameter { w: split 0 over tp; v: split 0 over tp }'}}
plan.style "" expert [#plan.axis<"tp">] as "expert tp"
func.func @merged(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %g: tensor<4x3xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"]},
    %w: tensor<3x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
    %v: tensor<3x16x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.einsum.default"(%x, %w) {equation = "ti,eoi->eto", tensors = [#base.operand<0>, #base.operand<1>]} : (tensor<4x16xf32>, tensor<3x10x16xf32>) -> tensor<3x4x10xf32>
  %1 = plan.call "aten.einsum.default"(%0, %v) {equation = "eto,eio->eti", tensors = [#base.operand<0>, #base.operand<1>]} : (tensor<3x4x10xf32>, tensor<3x16x10xf32>) -> tensor<3x4x16xf32>
  %2 = plan.call "aten.einsum.default"(%1, %g) {equation = "eti,te->ti", tensors = [#base.operand<0>, #base.operand<1>]} : (tensor<3x4x16xf32>, tensor<4x3xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// Each expert chooses 2 of the tokens.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'mlp' routes nothing}}
// expected-note @below {{help: each expert chooses tokens, not each token experts: divide the weights by the dim that numbers experts, as by 'parameter { w: split 0 over tp }'}}
plan.style "mlp" expert [#plan.axis<"tp">] as "expert tp"
func.func @chosen_tokens(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %g: tensor<3x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"]},
    %w: tensor<3x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.w"]}) -> tensor<3x2x10xf32> {
  %values, %i = plan.call "aten.topk.default"(%g) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %0 = plan.call "aten.index.Tensor"(%x, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x16xf32>, tensor<3x2xi64>) -> tensor<3x2x16xf32>
  %1 = plan.call "aten.einsum.default"(%0, %w) {equation = "eti,eoi->eto", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<3x2x16xf32>, tensor<3x10x16xf32>) -> tensor<3x2x10xf32>
  return %1 : tensor<3x2x10xf32>
}

// -----

// The modules of a list that all tokens go through.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'l.0.e' routes nothing}}
// expected-note @below {{help: every token goes to all of its experts: divide the features in each of its modules by 'colwise' and 'rowwise', as by 'l.*.e.*.up: colwise tp'}}
plan.style "l.0.e" expert [#plan.axis<"tp">] as "expert tp"
func.func @listed(
    %x: tensor<3x4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<3x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.e.up.weight"]}) -> tensor<3x4x10xf32> {
  %0 = plan.call "aten.einsum.default"(%x, %w) {equation = "eti,eoi->eto", tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.e.0.up" : (tensor<3x4x16xf32>, tensor<3x10x16xf32>) -> tensor<3x4x10xf32>
  return %0 : tensor<3x4x10xf32>
}
