// RUN: meshplan-opt %s --schedule -split-input-file | FileCheck %s

// Planned memory depends on the strides of tensors. A view of a permuted tensor is a copy: the input, its exponential,
// which is held until the copy is done, and the copy, 768 bytes each.

#none = #plan.sharding<[{}, {}]>
#three = #plan.sharding<[{}, {}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 1>]

// CHECK-LABEL: sched.program @copied
// CHECK-SAME: peak = 2304, least = 2304
func.func @copied(%x: tensor<4x6x8xf32, #three> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<6x32xf32, #none>) {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (tensor<4x6x8xf32, #three>) -> tensor<4x6x8xf32, #three>
  %b = plan.call "aten.transpose.int"(%a) {self = #base.operand<0>, dim0 = 0, dim1 = 1}
    : (tensor<4x6x8xf32, #three>) -> tensor<6x4x8xf32, #three>
  %c = plan.call "aten.reshape.default"(%b) {self = #base.operand<0>, shape = [6, 32]}
    : (tensor<6x4x8xf32, #three>) -> tensor<6x32xf32, #none>
  return %c : tensor<6x32xf32, #none>
}

// -----

// An elementwise operator keeps the order of dims, so transposing its result back gives contiguous rows.

#none = #plan.sharding<[{}, {}]>
#three = #plan.sharding<[{}, {}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 1>]

// CHECK-LABEL: sched.program @viewed
// CHECK-SAME: peak = 1536, least = 1536
func.func @viewed(%x: tensor<4x6x8xf32, #three> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<4x48xf32, #none>) {
  %b = plan.call "aten.transpose.int"(%x) {self = #base.operand<0>, dim0 = 0, dim1 = 1}
    : (tensor<4x6x8xf32, #three>) -> tensor<6x4x8xf32, #three>
  %a = plan.call "aten.exp.default"(%b) {self = #base.operand<0>} : (tensor<6x4x8xf32, #three>) -> tensor<6x4x8xf32, #three>
  %c = plan.call "aten.transpose.int"(%a) {self = #base.operand<0>, dim0 = 0, dim1 = 1}
    : (tensor<6x4x8xf32, #three>) -> tensor<4x6x8xf32, #three>
  %d = plan.call "aten.reshape.default"(%c) {self = #base.operand<0>, shape = [4, 48]}
    : (tensor<4x6x8xf32, #three>) -> tensor<4x48xf32, #none>
  return %d : tensor<4x48xf32, #none>
}

// -----

// A collective sends row-major data: of a transposed tensor, a copy. Its result is row-major whatever its input was:
// input 128 bytes, copy 128, result 256.

#half = #plan.sharding<[{"tp"}, {}]>
#turned = #plan.sharding<[{}, {"tp"}]>
#none = #plan.sharding<[{}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @gathered
// CHECK-SAME: peak = 512, least = 512
func.func @gathered(%x: tensor<8x8xf32, #turned> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<64xf32, #plan.sharding<[{}]>>) {
  %a = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<8x8xf32, #turned>) -> tensor<8x8xf32, #half>
  %b = plan.all_gather %a [#plan.axis<"tp">] dim 0 : tensor<8x8xf32, #half> -> tensor<8x8xf32, #none>
  %c = plan.call "aten.reshape.default"(%b) {self = #base.operand<0>, shape = [64]}
    : (tensor<8x8xf32, #none>) -> tensor<64xf32, #plan.sharding<[{}]>>
  return %c : tensor<64xf32, #plan.sharding<[{}]>>
}

// -----

// Outputs are written row-major: 192 bytes of input, of which the output is a view, and 192 of a copy.

#none = #plan.sharding<[{}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 1>]

// CHECK-LABEL: sched.program @written
// CHECK-SAME: peak = 384, least = 384
func.func @written(%x: tensor<6x8xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<8x6xf32, #none>) {
  %a = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<6x8xf32, #none>) -> tensor<8x6xf32, #none>
  return %a : tensor<8x6xf32, #none>
}

// -----

// Outputs are written one after the other: the largest copy counts, whichever comes last. 192 bytes of input, 192 of
// the copy of the first output; the second is the input itself.

#none = #plan.sharding<[{}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 1>]

// CHECK-LABEL: sched.program @written_first
// CHECK-SAME: peak = 384, least = 384
func.func @written_first(%x: tensor<6x8xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<8x6xf32, #none>, tensor<6x8xf32, #none>) {
  %a = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<6x8xf32, #none>) -> tensor<8x6xf32, #none>
  return %a, %x : tensor<8x6xf32, #none>, tensor<6x8xf32, #none>
}

// -----

// An all-to-all that sends column by column copies its pieces together, in any order of the input's dims: 320 bytes of
// input, of which the transposed tensor is a view, 320 of pieces and 320 of the result.

#rows = #plan.sharding<[{"tp"}, {}]>
#cols = #plan.sharding<[{}, {"tp"}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @exchanged
// CHECK-SAME: peak = 960, least = 960
func.func @exchanged(%x: tensor<8x20xf32, #cols> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<20x8xf32, #cols>) {
  %a = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<8x20xf32, #cols>) -> tensor<20x8xf32, #rows>
  %b = plan.all_to_all %a [#plan.axis<"tp">] from 0 to 1 : tensor<20x8xf32, #rows> -> tensor<20x8xf32, #cols>
  return %b : tensor<20x8xf32, #cols>
}

// -----

// Rank 0 transposes 5 x 2 elements and flattens them, which is a copy; the last rank has 5 x 1, which needs none. It
// counts as one on both: 40 and 20 bytes of input, as many of the copy.

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @copied_on_one_rank
// CHECK-SAME: peak = 80, least = 40
func.func @copied_on_one_rank(%x: tensor<5x3xf32, #plan.sharding<[{}, {"tp"}]>> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<15xf32, #plan.sharding<[{"tp", unit 5}]>>) {
  %a = plan.call "aten.t.default"(%x) {self = #base.operand<0>}
    : (tensor<5x3xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<3x5xf32, #plan.sharding<[{"tp"}, {}]>>
  %b = plan.call "aten.reshape.default"(%a) {self = #base.operand<0>, shape = [#base.local<0, result 0, dim 0, extent 1>]}
    : (tensor<3x5xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<15xf32, #plan.sharding<[{"tp", unit 5}]>>
  return %b : tensor<15xf32, #plan.sharding<[{"tp", unit 5}]>>
}

// -----

// A flat shard is a run of the row-major elements: of a transposed tensor it is taken from a copy. Input and copy have
// 256 bytes each, the shard 128, and so has its exponential when the copy is gone.

#none = #plan.sharding<[{}, {}]>
#flat = #plan.sharding<[{}, {}], flat = {"dp"}>

plan.mesh [#base.mesh_axis<"dp" = 2>]

// CHECK-LABEL: sched.program @flat_part
// CHECK-SAME: peak = 640, least = 640
func.func @flat_part(%x: tensor<8x8xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<8x8xf32, #flat>) {
  %a = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<8x8xf32, #none>) -> tensor<8x8xf32, #none>
  %b = plan.slice %a [#plan.axis<"dp">] : tensor<8x8xf32, #none> -> tensor<8x8xf32, #flat>
  %c = plan.call "aten.exp.default"(%b) {self = #base.operand<0>} : (tensor<8x8xf32, #flat>) -> tensor<8x8xf32, #flat>
  return %c : tensor<8x8xf32, #flat>
}
