// An exchange of rows in the artifact: it has the numbers of rows instead of dims, and the bytes that a rank sends to others if
// every expert is chosen equally often.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-lower-exchanges --schedule=solver=program --print-artifact -o /dev/null | FileCheck %s

// CHECK: communicator dp: dp
// CHECK: v[[T:[0-9]+]] i64[8, 4 over dp, 6] routed rows by 3 dims, 2 slots, v[[C:[0-9]+]] i64[8, 4 over dp, 6] routed counts by 3 dims, 2 slots = meshplan.route(
// CHECK: v[[OWN:[0-9]+]] i64[2 over dp, 8] = meshplan.counts_to_gather(counts=v[[C]], like=v[[T]])
// CHECK: = start 0 all_gather v[[OWN]] dim 0 over dp, 64 bytes of activations of 'mlp'
// CHECK: v[[N:[0-9]+]] i64[2, 8] = meshplan.counts_on_host(
// Half of the 24 rows of 16 floats.
// CHECK: v[[A:[0-9]+]] f32[8 over dp, 4, 6, 16] routed arrivals by 3 dims, 2 slots = start 1 all_to_all v{{[0-9]+}} by v[[N]] over dp, 768 bytes of activations of 'mlp'
// CHECK: f32[8 over dp, 4, 6, 16] routed rows by 3 dims, 2 slots = meshplan.order_by_expert(arrivals=v[[A]], begin=offset(v[[N]], 1), counts=v[[N]], experts=extent(v[[E:[0-9]+]], 0), first=offset(v[[E]], 0))
// CHECK: v[[O:[0-9]+]] f32[8 over dp, 4, 6, 10] routed arrivals by 3 dims, 2 slots = meshplan.order_by_rank(
// CHECK: f32[8, 4 over dp, 6, 10] routed rows by 3 dims, 2 slots = start 2 all_to_all v[[O]] by v[[N]] over dp, 480 bytes of activations of 'mlp.down'
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
