// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --schedule=preset=h100 | FileCheck %s

plan.mesh [#base.mesh_axis<"tp" = 4>]

// The rank with the most work has 2 x 1024 x 2048 x 1024 operations at 720 TFLOP/s (6.0 us), and sends three quarters of
// twice 4 MiB, which is five sevenths of the way from 3,670,016 bytes (44.8 us) to twice as many (57.0 us); a view takes
// no time.
// CHECK: sched.program @narrow {{.*}} time <compute = 5965, communication = 53526>
func.func @narrow(%x: tensor<1024x4096xbf16, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<4096x2048xbf16, #plan.sharding<[{"tp"}, {}]>>)
    -> (tensor<2097152xbf16, #plan.sharding<[{}]>> {plan.name = "y"}) {
  %0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<1024x4096xbf16, #plan.sharding<[{}, {"tp"}]>>, tensor<4096x2048xbf16, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<1024x2048xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %1 = plan.all_reduce %0 [#plan.axis<"tp">] : tensor<1024x2048xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<1024x2048xbf16, #plan.sharding<[{}, {}]>>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [2097152]}
      : (tensor<1024x2048xbf16, #plan.sharding<[{}, {}]>>) -> tensor<2097152xbf16, #plan.sharding<[{}]>>
  return %2 : tensor<2097152xbf16, #plan.sharding<[{}]>>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 4>, #base.mesh_axis<"tp" = 3>]

// A group of dp spans two nodes: 1 MiB, of which a rank gets three quarters over the network (19.5 us) after twice 5 us
// of latency. Of an uneven dim the larger shard counts. The operator is issued 4 us after the gather, which transfers
// after 5 us: 3 of its 4 us take 1 / 0.841 times as long.
// CHECK: sched.program @network {{.*}} time <compute = 4568, communication = 29466>
func.func @network(%x: tensor<262144xf32, #plan.sharding<[{"dp"}]>>, %y: tensor<7xf32, #plan.sharding<[{"tp"}]>>)
    -> (tensor<262144xf32, #plan.sharding<[{}]>> {plan.name = "x"}, tensor<7xf32, #plan.sharding<[{"tp"}]>> {plan.name = "y"}) {
  %0 = plan.all_gather %x [#plan.axis<"dp">] dim 0 : tensor<262144xf32, #plan.sharding<[{"dp"}]>> -> tensor<262144xf32, #plan.sharding<[{}]>>
  %1 = plan.call "aten.relu.default"(%y) {self = #base.operand<0>}
      : (tensor<7xf32, #plan.sharding<[{"tp"}]>>) -> tensor<7xf32, #plan.sharding<[{"tp"}]>>
  return %0, %1 : tensor<262144xf32, #plan.sharding<[{}]>>, tensor<7xf32, #plan.sharding<[{"tp"}]>>
}
