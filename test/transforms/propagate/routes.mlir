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

// Experts over tp, which divides no tokens: a rank has the rows of its experts, and each token is a sum over tp.
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

// The same where the plan states a layout of the weight before it is read: with `precision { gather f32 }`, its storage
// is gathered before the conversion.
// CHECK-LABEL: func.func @experts_of_stated_weights
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>)
// CHECK: plan.reshard %arg2 because "precision" {{.*}} -> tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}]>>
// CHECK: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xbf16, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @experts_of_stated_weights(
    %x: tensor<4x6x16xbf16, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over tp"}) -> tensor<4x6x10xbf16> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xbf16, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xbf16>
  %stated = plan.constrain %w <[{}, {}, {}]> along [#plan.axis<"dp">] as "precision"
      : tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}], flat = {"dp"}>> -> tensor<8x10x16xf32>
  %narrow = plan.call "aten._to_copy.default"(%stated) {dtype = bf16, self = #base.operand<0>} : (tensor<8x10x16xf32>) -> tensor<8x10x16xbf16>
  %1 = plan.call "meshplan.grouped_linear"(%0, %narrow, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xbf16>, tensor<8x10x16xbf16>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xbf16>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xbf16>, tensor<8x4x6xi64>) -> tensor<4x6x10xbf16>
  return %2 : tensor<4x6x10xbf16>
}

// -----

// If tp divides positions, too, their rows are exchanged over tp; samples stay where they are.
// CHECK-LABEL: func.func @positions
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {"tp"}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {"tp"}]>>)
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%arg0{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @positions(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over tp"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"tp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// Features over tp: rows that are addends stay so, also with two readers, until the tokens are summed.
// CHECK-LABEL: func.func @features
// CHECK: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
// CHECK-NEXT: plan.call "aten.silu.default"
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "meshplan.combine"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "aten.mul.Scalar"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "meshplan.combine"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @features(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 1 over tp"},
    %v: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 2 over tp"})
    -> (tensor<4x6x16xf32>, tensor<4x6x16xf32>) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
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

// -----

// Experts over the axis of samples: rows go from the rank of their token to that of their expert, and come back. The
// counts go, too. The table stays: it says which tokens of the rank the rows are.
// CHECK-LABEL: func.func @exchanged
// CHECK: %[[R:.*]]:2 = plan.call "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>)
// CHECK-NEXT: %[[N:.*]] = plan.reshard %[[R]]#1 because "split 0 over dp" : tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>> -> tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: %[[D:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[R]]#0){{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[E:.*]] = plan.reshard %[[D]] because "split 0 over dp" : tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>> -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK-NEXT: %[[L:.*]] = plan.call "meshplan.grouped_linear"(%[[E]], %arg2, %[[N]]){{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK-NEXT: %[[B:.*]] = plan.reshard %[[L]] because "split 0 over dp" : tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>> -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[C:.*]] = plan.call "meshplan.combine"(%[[B]], %[[R]]#0){{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: return %[[C]]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @exchanged(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over dp"}) -> tensor<4x6x10xf32> {
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

// Two axes divide tokens and experts: one exchange over both.
// CHECK-LABEL: func.func @both
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {"tp"}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {"tp"}]>>)
// CHECK-NEXT: plan.reshard %{{.*}} : tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {"tp"}]>> -> tensor<8x4x6xi64, #plan.sharding<[{"dp", "tp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%arg0
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @both(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over (dp, tp)"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// Above it, it stays: each rank routes its tokens to the experts of tp, sends their rows over dp, and its tokens are
// addends over tp.
// CHECK-LABEL: func.func @kept_above
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {}]>>)
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"tp", "dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%arg0
// CHECK-NEXT: plan.reshard {{.*}} : tensor<8x4x6x16xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>> -> tensor<8x4x6x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[Y:.*]] = plan.call "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.reshard %[[Y]]{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"dp" = 2>]
func.func @kept_above(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over (tp, dp)"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// Experts over dp and their features over tp: positions over tp are gathered, rows and their gates go over dp, and the
// rows that come back are addends over tp.
// CHECK-LABEL: func.func @features_of_experts
// CHECK: plan.reshard %arg1{{.*}} -> tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: %[[R:.*]]:2 = plan.call "meshplan.route"{{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>)
// CHECK-NEXT: plan.reshard %[[R]]#1
// CHECK-NEXT: plan.reshard %arg0{{.*}} -> tensor<4x6x32xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"{{.*}} -> tensor<8x4x6x32xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x32xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x64xf32, #plan.sharding<[{"dp"}, {}, {}, {"tp"}]>>
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x32xf32, #plan.sharding<[{"dp"}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.reshard %arg2{{.*}} -> tensor<4x6x2xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch_gates"{{.*}} -> tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: "aten.unsqueeze.default"
// CHECK-NEXT: "aten.mul.Tensor"{{.*}} -> tensor<8x4x6x32xf32, #plan.sharding<[{"dp"}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x32xf32, #plan.sharding<[{}, {"dp"}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<4x6x32xf32, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"tp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @features_of_experts(
    %x: tensor<4x6x32xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %g: tensor<4x6x2xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x64x32xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over dp, 1 over tp"},
    %v: tensor<8x32x64xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over dp, 2 over tp"}) -> tensor<4x6x32xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x32xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x32xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x32xf32>, tensor<8x64x32xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x64xf32>
  %2 = plan.call "meshplan.grouped_linear"(%1, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x64xf32>, tensor<8x32x64xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x32xf32>
  %3 = plan.call "meshplan.dispatch_gates"(%g, %table) {gates = #base.operand<0>, table = #base.operand<1>}
      : (tensor<4x6x2xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6xf32>
  %4 = plan.call "aten.unsqueeze.default"(%3) {self = #base.operand<0>, dim = -1 : i64} : (tensor<8x4x6xf32>) -> tensor<8x4x6x1xf32>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<8x4x6x32xf32>, tensor<8x4x6x1xf32>) -> tensor<8x4x6x32xf32>
  %6 = plan.call "meshplan.combine"(%5, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 32]}
      : (tensor<8x4x6x32xf32>, tensor<8x4x6xi64>) -> tensor<4x6x32xf32>
  return %6 : tensor<4x6x32xf32>
}

// -----

// The axis of the experts is not the last one of the samples: what arrives at a rank are tokens of both its pods.
// CHECK-LABEL: func.func @major
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"pod", "dp"}, {}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"pod"}, {"dp"}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"pod"}, {"dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"pod", "dp"}, {}, {}]>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"pod", "dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>]
func.func @major(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"pod", "dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"pod", "dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"pod"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert pod"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64, #plan.sharding<[{"pod", "dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"pod", "dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"pod"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// So with a digit: the other one divides what arrives.
// CHECK-LABEL: func.func @major_digit
// CHECK: "meshplan.dispatch"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp":(1)2}, {"dp":(2)2}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 4>]
func.func @major_digit(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp":(1)2}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert pod"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp":(1)2}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// Each microbatch exchanges its own rows: time stays where it is.
// CHECK-LABEL: func.func @time
// CHECK: "meshplan.route"(%arg1){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp", "microbatch"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp", "microbatch"}, {}]>>)
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {"microbatch"}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {"microbatch"}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp", "microbatch"}, {}, {}]>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp", "microbatch"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @time(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp", "microbatch"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp", "microbatch"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over dp"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp", "microbatch"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp", "microbatch"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// A style of a weight states where the counts are, too. Positions are gathered for it in front of the route, and tokens
// become rows with all their features.
// CHECK-LABEL: func.func @styled
// CHECK-DAG: plan.reshard %arg0 {{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK-DAG: plan.reshard %arg1 {{.*}} -> tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>
// CHECK: "meshplan.dispatch"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}]>>
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @styled(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "colwise tp"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {"tp"}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %c = plan.constrain %counts <[{}, {}, {}]> along [#plan.axis<"tp">] as "colwise tp" : tensor<8x4x6xi64> -> tensor<8x4x6xi64>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %c) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// The features of tokens are gathered in front of weights that have all of them: rows are more, and are not gathered.
// CHECK-LABEL: func.func @whole_weights
// CHECK: %[[X:.*]] = plan.reshard %arg0{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%[[X]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @whole_weights(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>},
    %v: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %3 = plan.call "meshplan.grouped_linear"(%2, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %4 : tensor<4x6x16xf32>
}


// -----

// A rank takes the features of tokens that its part of the first weight contracts, and the rows are summed.
// CHECK-LABEL: func.func @first_by_inputs
// CHECK: %[[X:.*]] = plan.reshard %arg0{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>
// CHECK-NEXT: "meshplan.dispatch"(%[[X]]
// CHECK-NEXT: %[[L:.*]] = plan.call "meshplan.grouped_linear"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: %[[S:.*]] = plan.reshard %[[L]]{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {}]>>
// CHECK-NEXT: "aten.silu.default"(%[[S]])
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @first_by_inputs(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.style = "a style"},
    %v: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %3 = plan.call "meshplan.grouped_linear"(%2, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %4 : tensor<4x6x16xf32>
}


// -----

// A rank takes the features of rows that its part of the last weight contracts.
// CHECK-LABEL: func.func @last_by_inputs
// CHECK: %[[R:.*]] = plan.call "aten.silu.default"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {}]>>
// CHECK-NEXT: %[[P:.*]] = plan.reshard %[[R]]{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
// CHECK-NEXT: "meshplan.grouped_linear"(%[[P]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @last_by_inputs(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>},
    %v: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.style = "a style"}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %3 = plan.call "meshplan.grouped_linear"(%2, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %4 : tensor<4x6x16xf32>
}


// -----

// A rank takes the part of the last weight that its features of rows meet.
// CHECK-LABEL: func.func @first_by_outputs
// CHECK: %[[R:.*]] = plan.call "aten.silu.default"{{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
// CHECK-NEXT: %[[V:.*]] = plan.reshard %arg3{{.*}} -> tensor<8x16x10xf32, #plan.sharding<[{}, {}, {"tp"}]>>
// CHECK-NEXT: "meshplan.grouped_linear"(%[[R]], %[[V]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @first_by_outputs(
    %x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "a style"},
    %v: tensor<8x16x10xf32, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<parameter>}) -> tensor<4x6x16xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
  %3 = plan.call "meshplan.grouped_linear"(%2, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x10xf32>, tensor<8x16x10xf32, #plan.sharding<[{}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
  return %4 : tensor<4x6x16xf32>
}

// -----

// Experts over dp and tp, of which only dp divides tokens: each rank of tp sends a part of the tokens, so that each row is
// sent once, and what comes back is gathered.
// CHECK-LABEL: func.func @spread
// CHECK: %[[I:.*]] = plan.reshard %arg1{{.*}} -> tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: "meshplan.route"(%[[I]]){{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {"tp"}]>>
// CHECK-NEXT: plan.reshard {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"dp", "tp"}, {}, {}]>>
// CHECK-NEXT: %[[X:.*]] = plan.reshard %arg0{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: "meshplan.dispatch"(%[[X]]
// CHECK: %[[Y:.*]] = plan.call "meshplan.combine"{{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
// CHECK-NEXT: plan.reshard %[[Y]] because "expert (dp, tp)" {{.*}} -> tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @spread(
    %x: tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert (dp, tp)"}) -> tensor<4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  return %2 : tensor<4x6x10xf32>
}

// -----

// The same with one position and one sample for each rank, which cannot be divided further: tokens are gathered.
// CHECK-LABEL: func.func @few_tokens
// CHECK: %[[I:.*]] = plan.reshard %arg1 because "split 0 over (dp, tp)"{{.*}} -> tensor<2x1x2xi64, #plan.sharding<[{}, {}, {}]>>
// CHECK-NEXT: "meshplan.route"(%[[I]]){{.*}} -> (tensor<8x2x1xi64, #plan.sharding<[{"dp", "tp"}, {}, {}]>>, tensor<8x2x1xi64, #plan.sharding<[{"dp", "tp"}, {}, {}]>>)
// CHECK-NEXT: %[[X:.*]] = plan.reshard %arg0 because "split 0 over (dp, tp)"
// CHECK-NEXT: "meshplan.dispatch"(%[[X]]
// CHECK-NEXT: "meshplan.grouped_linear"{{.*}} -> tensor<8x2x1x10xf32, #plan.sharding<[{"dp", "tp"}, {}, {}, {}]>>
// CHECK-NEXT: "meshplan.combine"{{.*}} -> tensor<2x1x10xf32, #plan.sharding<[{}, {}, {}], partial = sum {"dp", "tp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @few_tokens(
    %x: tensor<2x1x16xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<2x1x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "split 0 over (dp, tp)"}) -> tensor<2x1x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<2x1x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (tensor<8x2x1xi64>, tensor<8x2x1xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<2x1x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x2x1xi64>) -> tensor<8x2x1x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x2x1x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}]>>, tensor<8x2x1xi64>) -> tensor<8x2x1x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x2x1x10xf32>, tensor<8x2x1xi64>) -> tensor<2x1x10xf32>
  return %2 : tensor<2x1x10xf32>
}
