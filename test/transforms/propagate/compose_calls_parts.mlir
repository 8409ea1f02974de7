// For a dim with parts, a rank gets the list of its own indices.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-propagate-shardings | FileCheck %s

// Elements that are selected from a dim with parts are addends, and remain so until a reader needs the sum.
// CHECK-LABEL: func.func @gather(
// CHECK: %[[PLACES:.*]] = plan.call "aten.arange.default"() {dtype = i64, end = 70 : i64}
// CHECK: %[[OWN:.*]] = plan.reshard %[[PLACES]] {{.*}}-> tensor<70xi64, #plan.sharding<[{"tp", parts [30, 40]}]>>
// CHECK: %[[G:.*]] = plan.call "meshplan.gather_part"(%arg0, %arg1, %[[OWN]]){{.*}} -> tensor<4x1xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
// CHECK: plan.call "aten.sum.default"(%[[G]]){{.*}} partial = sum {"tp"}>>
!parts = tensor<4x70xf32, #plan.sharding<[{}, {"tp", parts [30, 40]}]>>
!whole = tensor<4x1xi64, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @gather(%x: !parts {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                  %i: !whole {plan.kind = #plan.kind<input>, plan.names = ["i"]}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.gather.default"(%x, %i) {self = #base.operand<0>, dim = 1, index = #base.operand<1>} : (!parts, !whole) -> tensor<4x1xf32>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4x1xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
