// Rows that go to the ranks of their experts and come back: experts over axes, or digits of axes, that divide tokens.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-propagate-shardings 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @samples
// CHECK: %[[T:.*]]:2 = plan.call "meshplan.route"{{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>)
// CHECK-NEXT: %[[C:.*]] = plan.reshard %[[T]]#1 because "expert dp" {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: %[[D:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[T]]#0){{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[R:.*]] = plan.reshard %[[D]] because "expert dp" {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK-NEXT: %[[L:.*]] = plan.call "meshplan.grouped_linear"(%[[R]], %arg2, %[[C]]){{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK-NEXT: %[[B:.*]] = plan.reshard %[[L]] because "expert dp" {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: plan.call "meshplan.combine"(%[[B]], %[[T]]#0){{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @samples(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert dp"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// The minor digit of dp divides the experts: what dp leaves to the tokens is its major digit.
// CHECK-LABEL: func.func @digits
// CHECK: plan.reshard {{.*}} -> tensor<8x8x16xf32, #plan.sharding<[{"dp":(2)2}, {"dp":(1)2}, {}]>>
// CHECK: plan.reshard {{.*}} -> tensor<8x8x10xf32, #plan.sharding<[{}, {"dp"}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 4>]
func.func @digits(
    %x: tensor<8x16xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<8x2xi64, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp":(2)2}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert ep"}) -> tensor<8x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<8x2xi64, #plan.sharding<[{"dp"}, {}]>>) -> (tensor<8x8xi64>, tensor<8x8xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<8x16xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<8x8xi64>) -> tensor<8x8x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x8x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp":(2)2}, {}, {}]>>, tensor<8x8xi64>) -> tensor<8x8x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [8, 10]}
      : (tensor<8x8x10xf32>, tensor<8x8xi64>) -> tensor<8x10xf32>
  return %2 : tensor<8x10xf32>
}

// -----

// Six experts over two ranks of tp and then two of dp: a rank of tp has three, of which two ranks cannot have equally
// many. So ranks of tp first take a part of their tokens each, and rows are exchanged over both.
// CHECK-LABEL: func.func @uneven
// CHECK: %[[I:.*]] = plan.reshard %arg1 because "expert (tp, dp)"{{.*}} -> tensor<8x2xi64, #plan.sharding<[{"dp", "tp"}, {}]>>
// CHECK-NEXT: plan.call "meshplan.route"(%[[I]])
// CHECK: plan.reshard {{.*}} : tensor<6x8x16xf32, #plan.sharding<[{}, {"dp", "tp"}, {}]>> -> tensor<6x8x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>>
// CHECK: plan.call "meshplan.combine"{{.*}} -> tensor<8x10xf32, #plan.sharding<[{"dp", "tp"}, {}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x10xf32, #plan.sharding<[{"dp"}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @uneven(
    %x: tensor<8x16xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<8x2xi64, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<6x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert (tp, dp)"}) -> tensor<8x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 6 : i64}
      : (tensor<8x2xi64, #plan.sharding<[{"dp"}, {}]>>) -> (tensor<6x8xi64>, tensor<6x8xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<8x16xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<6x8xi64>) -> tensor<6x8x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<6x8x16xf32>, tensor<6x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>>, tensor<6x8xi64>) -> tensor<6x8x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [8, 10]}
      : (tensor<6x8x10xf32>, tensor<6x8xi64>) -> tensor<8x10xf32>
  return %2 : tensor<8x10xf32>
}

// -----

// Two tokens are too few for that: they are gathered, and each rank computes both.
// CHECK-LABEL: func.func @few_tokens
// CHECK: %[[I:.*]] = plan.reshard %arg1 because "expert (tp, dp)"{{.*}} -> tensor<2x2xi64, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: plan.call "meshplan.route"(%[[I]]){{.*}} -> (tensor<6x2xi64, #plan.sharding<[{"tp", "dp"}, {}]>>
// CHECK: plan.call "meshplan.combine"{{.*}} -> tensor<2x10xf32, #plan.sharding<[{}, {}], partial = sum {"dp", "tp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @few_tokens(
    %x: tensor<2x16xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<2x2xi64, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<6x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert (tp, dp)"}) -> tensor<2x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 6 : i64}
      : (tensor<2x2xi64, #plan.sharding<[{"dp"}, {}]>>) -> (tensor<6x2xi64>, tensor<6x2xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<2x16xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<6x2xi64>) -> tensor<6x2x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<6x2x16xf32>, tensor<6x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>>, tensor<6x2xi64>) -> tensor<6x2x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [2, 10]}
      : (tensor<6x2x10xf32>, tensor<6x2xi64>) -> tensor<2x10xf32>
  return %2 : tensor<2x10xf32>
}

// -----

// A dim of rows, which are the positions of samples: ranks take whole samples.
// CHECK-LABEL: func.func @whole_samples
// CHECK: %[[V:.*]] = plan.call "aten.view.default"(%arg1){{.*}} -> tensor<48x2xi64, #plan.sharding<[{"dp"}, {}]>>
// CHECK: plan.reshard %[[V]] because "expert (dp, tp)"{{.*}} -> tensor<48x2xi64, #plan.sharding<[{"dp", "tp", unit 8}, {}]>>
// CHECK: plan.reshard {{.*}} -> tensor<8x48x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @whole_samples(
    %x: tensor<48x16xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<6x8x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert (dp, tp)"}) -> tensor<48x10xf32> {
  %v = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [48, 2]}
      : (tensor<6x8x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> tensor<48x2xi64>
  %table, %counts = plan.call "meshplan.route"(%v) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<48x2xi64>) -> (tensor<8x48xi64>, tensor<8x48xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<48x16xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<8x48xi64>) -> tensor<8x48x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x48x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>>, tensor<8x48xi64>) -> tensor<8x48x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [48, 10]}
      : (tensor<8x48x10xf32>, tensor<8x48xi64>) -> tensor<48x10xf32>
  return %2 : tensor<48x10xf32>
}
