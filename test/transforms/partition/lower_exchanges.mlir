// Rows that have to be on the rank of their expert are exchanged, and ordered by expert; they come back in the reverse
// order of steps. All ranks tell each other their numbers of rows before, once for each route.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-lower-exchanges | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: %[[R:.*]]:2 = plan.call "meshplan.route"
// CHECK-NEXT: %[[OWN:.*]] = plan.call "meshplan.counts_to_gather"(%[[R]]#1, %[[R]]#0) {counts = #base.operand<0>, like = #base.operand<1>} in "mlp" : {{.*}} -> tensor<2x8xi64, #plan.sharding<[{"dp"}, {}]>>
// CHECK-NEXT: %[[ALL:.*]] = plan.all_gather %[[OWN]] [#plan.axis<"dp">] dim 0 because "split 0 over dp" : {{.*}} -> tensor<2x8xi64, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: %[[N:.*]] = plan.call "meshplan.counts_on_host"(%[[ALL]]) {self = #base.operand<0>} in "mlp" : {{.*}} -> tensor<2x8xi64, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: %[[C:.*]] = plan.call "meshplan.counts_of_experts"(%[[N]]) {begin = #base.local<0, operand 0, dim 1, offset 1>, counts = #base.operand<0>, experts = #base.local<0, result 0, dim 0, extent 1>, first = #base.local<0, result 0, dim 0, offset 1>} in "mlp" : {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
// CHECK-NEXT: %[[D:.*]] = plan.call "meshplan.dispatch"
// CHECK-NEXT: %[[A:.*]] = plan.exchange %[[D]] by %[[N]] [#plan.axis<"dp">] because "split 0 over dp" : tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>> -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<arrivals, dims = 3, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: %[[E:.*]] = plan.call "meshplan.order_by_expert"(%[[A]], %[[N]]) {arrivals = #base.operand<0>, begin = #base.local<0, operand 1, dim 1, offset 1>, counts = #base.operand<1>, experts = #base.local<0, result 0, dim 0, extent 1>, first = #base.local<0, result 0, dim 0, offset 1>} in "mlp" : {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK-NEXT: %[[L:.*]] = plan.call "meshplan.grouped_linear"(%[[E]], %{{.*}}, %[[C]])
// CHECK-NEXT: %[[O:.*]] = plan.call "meshplan.order_by_rank"(%[[L]], %[[N]]) {begin = #base.local<0, operand 1, dim 1, offset 1>, counts = #base.operand<1>, experts = #base.local<0, result 0, dim 0, extent 1>, first = #base.local<0, result 0, dim 0, offset 1>, rows = #base.operand<0>} in "mlp.down" : {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<arrivals, dims = 3, slots = 2>>>
// CHECK-NEXT: %[[B:.*]] = plan.exchange %[[O]] by %[[N]] [#plan.axis<"dp">] because "split 0 over dp" : tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<arrivals, dims = 3, slots = 2>>> -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: plan.call "meshplan.combine"(%[[B]], %[[R]]#0)
// The gradients use the numbers of the forward pass.
// CHECK-NEXT: %[[G:.*]] = plan.call "meshplan.dispatch"
// CHECK-NEXT: plan.exchange %[[G]] by %[[N]]
// CHECK-NEXT: plan.call "meshplan.order_by_expert"(%{{.*}}, %[[N]]){{.*}} backward :
// CHECK-NEXT: return
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
func.func @forward(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>, %w: !weight, %g: !sums) -> (!sums, !own_products) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!table, !counts)
  %own = plan.reshard %counts because "split 0 over dp" : !counts -> !own_counts
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (!tokens, !table) -> !rows
  %1 = plan.reshard %0 because "split 0 over dp" : !rows -> !own_rows
  %2 = plan.call "meshplan.grouped_linear"(%1, %w, %own) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp.down"
      : (!own_rows, !weight, !own_counts) -> !own_products
  %3 = plan.reshard %2 because "split 0 over dp" : !own_products -> !products
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]} in "mlp"
      : (!products, !table) -> !sums
  %5 = plan.call "meshplan.dispatch"(%g, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp" backward
      : (!sums, !table) -> !products
  %6 = plan.reshard %5 because "split 0 over dp" : !products -> !own_products
  return %4, %6 : !sums, !own_products
}

// -----

// Two axes, one above which tp divides the experts as well: the group of the exchange has 4 ranks, and the numbers are
// those of the rank's experts of tp. Two routes have numbers of their own.
// CHECK-LABEL: func.func @axes
// CHECK: %[[R:.*]]:2 = plan.call "meshplan.route"(%arg1)
// CHECK-NEXT: plan.call "meshplan.counts_to_gather"(%[[R]]#1{{.*}} -> tensor<4x8xi64, #plan.sharding<[{"dp", "cp"}, {"tp"}]>>
// CHECK-NEXT: plan.all_gather %{{.*}} [#plan.axis<"dp">, #plan.axis<"cp">] dim 0 : {{.*}} -> tensor<4x8xi64, #plan.sharding<[{}, {"tp"}]>>
// CHECK-NEXT: %[[N:.*]] = plan.call "meshplan.counts_on_host"
// CHECK: plan.exchange %{{.*}} by %[[N]] [#plan.axis<"dp">, #plan.axis<"cp">] : tensor<8x4x6x16xbf16, #plan.sharding<[{"tp"}, {"dp"}, {"cp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>> -> tensor<8x4x6x16xbf16, #plan.sharding<[{"tp", "dp", "cp"}, {}, {}, {}], routed = #base.routed<arrivals, dims = 3, slots = 2>>>,
// CHECK: %[[S:.*]]:2 = plan.call "meshplan.route"(%arg2)
// CHECK-NEXT: plan.call "meshplan.counts_to_gather"(%[[S]]#1
// CHECK: %[[M:.*]] = plan.call "meshplan.counts_on_host"
// CHECK: plan.exchange %{{.*}} by %[[M]]
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"dp" = 2>, #base.mesh_axis<"cp" = 2>]
!tokens = tensor<4x6x16xbf16, #plan.sharding<[{"dp"}, {"cp"}, {}]>>
!indices = tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {"cp"}, {}]>>
!table = tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {"cp"}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!counts = tensor<8x4x6xi64, #plan.sharding<[{"tp"}, {"dp"}, {"cp"}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!rows = tensor<8x4x6x16xbf16, #plan.sharding<[{"tp"}, {"dp"}, {"cp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!own_rows = tensor<8x4x6x16xbf16, #plan.sharding<[{"tp", "dp", "cp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
func.func @axes(%x: !tokens, %i: !indices, %j: !indices) -> (!own_rows, !own_rows) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} : (!indices) -> (!table, !counts)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} : (!tokens, !table) -> !rows
  %1 = plan.reshard %0 : !rows -> !own_rows
  %second, %others = plan.call "meshplan.route"(%j) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} : (!indices) -> (!table, !counts)
  %2 = plan.call "meshplan.dispatch"(%x, %second) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} : (!tokens, !table) -> !rows
  %3 = plan.reshard %2 : !rows -> !own_rows
  return %1, %3 : !own_rows, !own_rows
}

// -----

// Nothing to do without rows that move.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @none() {
  return
}
