// Exchanges of rows: each reads the numbers of rows, which are gathered and copied to the host once for a route and live until
// the last exchange has ended.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-lower-exchanges --schedule=solver=program | FileCheck %s

// Each rank has 24 rows if every expert is chosen equally often. At the peak it holds its weights, 8 / 2 * 10 * 16 floats;
// x and i, 2 * 6 * 16 floats and 2 * 6 * 2 integers; the table, 24 integers; the numbers, 2 * 8 integers, and those of its
// 4 experts; the rows of 16 floats as they arrived and by expert; and their positions, 24 integers.
// CHECK-LABEL: sched.program @forward memory <parameters = 2560, constants = 0, inputs = 960, peak = 7136,
// CHECK-SAME: peak <"meshplan.order_by_expert" in "mlp" : {{.*}}<what = "all_to_all of meshplan.dispatch", module = "mlp", count = 1, bytes = 1536>
// CHECK: %[[R:.*]]:2 = sched.compute "meshplan.route"
// CHECK-NEXT: %[[OWN:.*]] = sched.compute "meshplan.counts_to_gather"(%[[R]]#1, %[[R]]#0)
// CHECK-NEXT: sched.free %[[R]]#1
// CHECK-NEXT: %[[TN:.*]] = sched.start all_gather %[[OWN]] dim 0 over @dp sequence 0 because "expert dp"
// CHECK: %[[N:.*]] = sched.compute "meshplan.counts_on_host"
// CHECK: %[[C:.*]] = sched.compute "meshplan.counts_of_experts"(%[[N]])
// CHECK: %[[D:.*]] = sched.compute "meshplan.dispatch"
// CHECK-NEXT: %[[T0:.*]] = sched.start all_to_all %[[D]] over @dp sequence 1 because "expert dp" {sched.subject = "mlp"} :
// CHECK-SAME: #base.routed<rows, dims = 3, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6, 16], f32, routed = #base.routed<arrivals, dims = 3, slots = 2>>> by %[[N]] : !sched.tensor<[2, 8], i64>
// CHECK-NEXT: %[[A:.*]] = sched.wait %[[T0]]
// CHECK-NEXT: sched.free %[[D]]
// CHECK-NEXT: %[[E:.*]] = sched.compute "meshplan.order_by_expert"(%[[A]], %[[N]])
// CHECK-NEXT: sched.free %[[A]]
// CHECK-NEXT: %[[L:.*]] = sched.compute "meshplan.grouped_linear"(%[[E]], %{{.*}}, %[[C]])
// CHECK: %[[O:.*]] = sched.compute "meshplan.order_by_rank"(%[[L]], %[[N]])
// CHECK: %[[T1:.*]] = sched.start all_to_all %[[O]] over @dp sequence 2 {{.*}} by %[[N]] : !sched.tensor<[2, 8], i64>
// CHECK-NEXT: %[[B:.*]] = sched.wait %[[T1]]
// CHECK-NEXT: sched.free %[[N]], %[[O]]
// CHECK-NEXT: sched.compute "meshplan.combine"(%[[B]], %[[R]]#0)
plan.mesh [#base.mesh_axis<"dp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!sums = tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!table = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!counts = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!own_counts = tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!own_rows = tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!products = tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!own_products = tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!weight = tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
func.func @forward(%x: !tokens {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: !weight {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (!sums {plan.name = "y"}) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!table, !counts)
  %own = plan.reshard %counts because "expert dp" : !counts -> !own_counts
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (!tokens, !table) -> !rows
  %1 = plan.reshard %0 because "expert dp" : !rows -> !own_rows
  %2 = plan.call "meshplan.grouped_linear"(%1, %w, %own) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp.down"
      : (!own_rows, !weight, !own_counts) -> !own_products
  %3 = plan.reshard %2 because "expert dp" : !own_products -> !products
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]} in "mlp"
      : (!products, !table) -> !sums
  return %4 : !sums
}

// -----

// The gates of rows are exchanged by the same numbers.
// CHECK-LABEL: sched.program @forward
// CHECK-COUNT-1: sched.start all_gather
// CHECK-NOT: sched.start all_gather
// CHECK: %[[N:.*]] = sched.compute "meshplan.counts_on_host"
// CHECK-NOT: meshplan.counts_on_host
// CHECK: sched.start all_to_all {{.*}} by %[[N]] :
// CHECK: sched.start all_to_all {{.*}} by %[[N]] :
// CHECK: sched.start all_to_all {{.*}} by %[[N]] :
// CHECK-NOT: sched.start
plan.mesh [#base.mesh_axis<"dp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!sums = tensor<4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!table = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!counts = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!own_counts = tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!own_rows = tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!products = tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!own_products = tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!slots = tensor<4x6x2xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!gates = tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!own_gates = tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!columns = tensor<8x4x6x1xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!weight = tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
func.func @forward(%x: !tokens {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %g: !slots {plan.kind = #plan.kind<input>, plan.names = ["g"]}, %w: !weight {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (!sums {plan.name = "y"}) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!table, !counts)
  %own = plan.reshard %counts because "expert dp" : !counts -> !own_counts
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (!tokens, !table) -> !rows
  %1 = plan.reshard %0 because "expert dp" : !rows -> !own_rows
  %2 = plan.call "meshplan.grouped_linear"(%1, %w, %own) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp.down"
      : (!own_rows, !weight, !own_counts) -> !own_products
  %5 = plan.call "meshplan.dispatch_gates"(%g, %table) {gates = #base.operand<0>, table = #base.operand<1>} in "mlp" : (!slots, !table) -> !gates
  %6 = plan.reshard %5 because "expert dp" : !gates -> !own_gates
  %7 = plan.call "aten.unsqueeze.default"(%6) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (!own_gates) -> !columns
  %8 = plan.call "aten.mul.Tensor"(%2, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (!own_products, !columns) -> !own_products
  %3 = plan.reshard %8 because "expert dp" : !own_products -> !products
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]} in "mlp"
      : (!products, !table) -> !sums
  return %4 : !sums
}

// -----

// Rows that are summed are copied where the sum starts if they are not row-major, not by an operation of their own: only
// there is their number known. The copy, 48 rows of 8 floats, counts until the sum has ended.
// CHECK-LABEL: sched.program @halves
// CHECK-SAME: <what = "workspace of all_reduce of aten.chunk.default", module = "mlp", count = 1, bytes = 1536>
// CHECK-NOT: sched.pack
// CHECK: sched.start all_reduce
// CHECK-NOT: sched.unpack
plan.mesh [#base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
!halves = tensor<4x6x8xf32, #plan.sharding<[{}, {}, {}]>>
!table = tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!counts = tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!addends = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}, routed = #base.routed<rows, dims = 3, slots = 2>>>
!half = tensor<8x4x6x8xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}, routed = #base.routed<rows, dims = 3, slots = 2>>>
!sums = tensor<8x4x6x8xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!weight = tensor<8x16x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>
func.func @halves(%x: tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>> {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: !weight {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (!halves {plan.name = "y"}) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (!table, !counts)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>, !table) -> !rows
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (!rows, !weight, !counts) -> !addends
  %2:2 = plan.call "aten.chunk.default"(%1) {self = #base.operand<0>, chunks = 2 : i64, dim = 1 : i64} in "mlp" : (!addends) -> (!half, !half)
  %3 = plan.all_reduce %2#0 [#plan.axis<"tp">] because "rowwise tp" : !half -> !sums
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 8]} in "mlp"
      : (!sums, !table) -> !halves
  return %4 : !halves
}
