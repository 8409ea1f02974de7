// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-lower-reshards | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 3>]

// CHECK-LABEL: func.func @reduce
func.func @reduce(%0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>)
    -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>> {
  // CHECK: plan.all_reduce %{{.*}} [#plan.axis<"tp">] because "rowwise tp"
  %1 = plan.reshard %0 because "rowwise tp"
      : tensor<4x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>> -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>)
    -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>> {
  // CHECK-NEXT: plan.reduce_scatter %{{.*}} [#plan.axis<"tp">] dim 1 because "rowwise tp"
  // CHECK-NEXT: return
  %1 = plan.reshard %0 because "rowwise tp"
      : tensor<4x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>> -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
}

// CHECK-LABEL: func.func @move
func.func @move(%0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>>)
    -> tensor<4x8xf32, #plan.sharding<[{"dp", "tp"}, {}]>> {
  // CHECK-NEXT: plan.all_to_all %{{.*}} [#plan.axis<"tp">] from 1 to 0
  // CHECK-NEXT: return
  %1 = plan.reshard %0 : tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>> -> tensor<4x8xf32, #plan.sharding<[{"dp", "tp"}, {}]>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{"dp", "tp"}, {}]>>
}

// If a batch consists of runs, one per microbatch, each rank has its shard of every run.
// CHECK-LABEL: func.func @run_of_batch
func.func @run_of_batch(%0: tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>>)
    -> tensor<12xf32, #plan.sharding<[{"microbatch", "dp"}]>> {
  // CHECK-NEXT: plan.slice %{{.*}} [#plan.axis<"microbatch">] dim 0
  // CHECK-NEXT: return
  %1 = plan.reshard %0 : tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>> -> tensor<12xf32, #plan.sharding<[{"microbatch", "dp"}]>>
  return %1 : tensor<12xf32, #plan.sharding<[{"microbatch", "dp"}]>>
}

// A dim with an axis in between needs a gather and a slice.
// CHECK-LABEL: func.func @reorder
func.func @reorder(%0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>)
    -> tensor<4x8xf32, #plan.sharding<[{"tp", "dp"}, {}]>> {
  // CHECK-NEXT: %[[W:.*]] = plan.all_gather %{{.*}} [#plan.axis<"dp">] dim 0
  // CHECK-NEXT: plan.slice %[[W]] [#plan.axis<"tp">, #plan.axis<"dp">] dim 0
  // CHECK-NEXT: return
  %1 = plan.reshard %0 : tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>> -> tensor<4x8xf32, #plan.sharding<[{"tp", "dp"}, {}]>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{"tp", "dp"}, {}]>>
}
