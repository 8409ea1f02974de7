// Layouts of rows between a router and its experts: decided where the route is made, by the experts' weights.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-propagate-shardings 2>/dev/null | FileCheck %s

// Axes that divide samples divide the rows; nothing moves.
// CHECK-LABEL: func.func @samples
// CHECK: "meshplan.route"{{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>)
// CHECK-NEXT: "meshplan.dispatch"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @samples(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// Experts over tp, which does not divide tokens: a rank has the rows of its experts, and each token is a sum over tp.
// CHECK-LABEL: func.func @experts
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>)
// CHECK-NEXT: "meshplan.dispatch"(%arg0{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[Y:.*]] = plan.call "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.reshard %[[Y]]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @experts(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over tp"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// Features over tp: every rank of tp needs all tokens, so that positions, which tp divides before, are gathered: for the
// route and for the rows. Rows that are addends stay so, also with two readers, until the tokens are summed.
// CHECK-LABEL: func.func @features
// CHECK: %[[I:.*]] = plan.reshard %arg1 because "split {{.}} over tp"{{.*}} -> tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>
// CHECK-NEXT: "meshplan.route"(%[[I]])
// CHECK-NEXT: %[[X:.*]] = plan.reshard %arg0 because "split {{.}} over tp"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%[[X]]
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
// CHECK-NEXT: plan.call "aten.silu.default"
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "meshplan.combine"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "aten.mul.Scalar"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "meshplan.combine"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @features(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 1 over tp"},
    %v: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 2 over tp"})
    -> (tensor<4x6x16xf32>, tensor<4x6x16xf32>) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {"tp"}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %3 = plan.call "meshplan.grouped_linear"(%2, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  %5 = plan.call "aten.mul.Scalar"(%3) {self = #base.operand<0>, other = 2.0 : f64} : (tensor<8x4x6x16xf32>) -> tensor<8x4x6x16xf32>
  %6 = plan.call "meshplan.combine"(%5, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %4, %6 : tensor<4x6x16xf32>, tensor<4x6x16xf32>
}

// -----

// What arrives divided over an axis that does not divide the tokens of the route is gathered: rows are not cut.
// CHECK-LABEL: func.func @fixed
// CHECK: %[[X:.*]] = plan.reshard %arg0{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%[[X]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @fixed(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.combine"(%0, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %1 : tensor<4x6x16xf32>
}
