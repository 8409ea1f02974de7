// RUN: meshplan-opt %s --schedule -split-input-file | FileCheck %s

// Two collectives in flight during a computation that does not need them.

#none = #plan.sharding<[{}]>
#partial = #plan.sharding<[{}], partial = sum {"tp"}>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @overlap
func.func @overlap(%x: tensor<4xf32, #partial> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                   %y: tensor<4xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["y"]})
    -> (tensor<4xf32, #none>) {
  // CHECK: %[[A:.*]] = sched.compute "aten.neg.default"
  // CHECK-NEXT: %[[T:.*]] = sched.start all_reduce %[[A]]
  // CHECK-NEXT: %[[B:.*]] = sched.compute "aten.relu.default"
  // CHECK-NEXT: %[[R:.*]] = sched.wait %[[T]]
  // CHECK-NEXT: sched.free %[[A]] :
  // CHECK-NEXT: %[[C:.*]] = sched.compute "aten.add.Tensor"(%[[B]], %[[R]])
  // CHECK-NEXT: sched.free %[[B]], %[[R]] :
  // CHECK-NEXT: sched.output "0" %[[C]]
  %a = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4xf32, #partial>) -> tensor<4xf32, #partial>
  %b = plan.call "aten.relu.default"(%y) {self = #base.operand<0>} : (tensor<4xf32, #none>) -> tensor<4xf32, #none>
  %r = plan.all_reduce %a [#plan.axis<"tp">] : tensor<4xf32, #partial> -> tensor<4xf32, #none>
  %c = plan.call "aten.add.Tensor"(%b, %r) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4xf32, #none>, tensor<4xf32, #none>) -> tensor<4xf32, #none>
  return %c : tensor<4xf32, #none>
}

// -----

// A view keeps memory alive, but it counts once: 400 bytes for the input, 400 for relu and its view, 400 for exp.
// Unused results are freed at once; an input may be an output.

#none = #plan.sharding<[{}]>

plan.mesh [#base.mesh_axis<"tp" = 1>]

// CHECK-LABEL: sched.program @views
// CHECK-SAME: peak = 1200, least = 1200
func.func @views(%x: tensor<100xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<4x25xf32, #plan.sharding<[{}, {}]>>, tensor<100xf32, #none>) {
  // CHECK: %[[A:.*]] = sched.compute "aten.relu.default"
  // CHECK-NEXT: %[[U:.*]] = sched.compute "aten.neg.default"
  // CHECK-NEXT: sched.free %[[U]] :
  // CHECK-NEXT: %[[V:.*]] = sched.compute "aten.view.default"(%[[A]])
  // CHECK-NEXT: sched.free %[[A]] :
  // CHECK-NEXT: %[[E:.*]] = sched.compute "aten.exp.default"(%[[V]])
  // CHECK-NEXT: sched.free %[[V]] :
  // CHECK-NEXT: sched.output "0" %[[E]]
  // CHECK-NEXT: sched.output "1" %{{.*}} : <[100], f32>
  %a = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  %u = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<100xf32, #none>) -> tensor<100xf32, #none>
  %v = plan.call "aten.view.default"(%a) {self = #base.operand<0>, size = [4, 25]}
    : (tensor<100xf32, #none>) -> tensor<4x25xf32, #plan.sharding<[{}, {}]>>
  %e = plan.call "aten.exp.default"(%v) {self = #base.operand<0>}
    : (tensor<4x25xf32, #plan.sharding<[{}, {}]>>) -> tensor<4x25xf32, #plan.sharding<[{}, {}]>>
  return %e, %x : tensor<4x25xf32, #plan.sharding<[{}, {}]>>, tensor<100xf32, #none>
}

// -----

// A gather along dim 1 assembles its pieces from a staging buffer: 320 bytes of input, 640 of result, 640 of staging.
// Along dim 0 the pieces are the result: 320 and 640.

#none = #plan.sharding<[{}, {}]>
#rows = #plan.sharding<[{"tp"}, {}]>
#cols = #plan.sharding<[{}, {"tp"}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @staging
// CHECK-SAME: peak = 1600, least = 1600
func.func @staging(%c: tensor<8x20xf32, #cols> {plan.kind = #plan.kind<input>, plan.names = ["c"]}) -> (tensor<8x20xf32, #none>) {
  %0 = plan.all_gather %c [#plan.axis<"tp">] dim 1 : tensor<8x20xf32, #cols> -> tensor<8x20xf32, #none>
  return %0 : tensor<8x20xf32, #none>
}

// CHECK-LABEL: sched.program @direct
// CHECK-SAME: peak = 960, least = 960
func.func @direct(%r: tensor<8x20xf32, #rows> {plan.kind = #plan.kind<input>, plan.names = ["r"]}) -> (tensor<8x20xf32, #none>) {
  %0 = plan.all_gather %r [#plan.axis<"tp">] dim 0 : tensor<8x20xf32, #rows> -> tensor<8x20xf32, #none>
  return %0 : tensor<8x20xf32, #none>
}

// -----

// An all-to-all from rows to columns sends pieces that are contiguous and assembles those that arrive: 320 bytes of
// input, 320 of result, 320 of staging.

#rows = #plan.sharding<[{"tp"}, {}]>
#cols = #plan.sharding<[{}, {"tp"}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @arriving_pieces
// CHECK-SAME: peak = 960, least = 960
func.func @arriving_pieces(%c: tensor<8x20xf32, #cols> {plan.kind = #plan.kind<input>, plan.names = ["c"]}) -> (tensor<8x20xf32, #rows>) {
  %0 = plan.all_to_all %c [#plan.axis<"tp">] from 1 to 0 : tensor<8x20xf32, #cols> -> tensor<8x20xf32, #rows>
  return %0 : tensor<8x20xf32, #rows>
}

// -----

// A slice is a view: exp is held until the reader of its half is done. Input and exp have 128 bytes each, relu 64.

#none = #plan.sharding<[{}, {}]>
#rows = #plan.sharding<[{"tp"}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @sliced
// CHECK-SAME: peak = 320, least = 320
func.func @sliced(%x: tensor<8x4xf32, #none> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<8x4xf32, #rows>) {
  %y = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (tensor<8x4xf32, #none>) -> tensor<8x4xf32, #none>
  %s = plan.slice %y [#plan.axis<"tp">] dim 0 : tensor<8x4xf32, #none> -> tensor<8x4xf32, #rows>
  %z = plan.call "aten.relu.default"(%s) {self = #base.operand<0>} : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  return %z : tensor<8x4xf32, #rows>
}

// -----

// If a dim has parts, a rank holds several ranges, which a slice copies together: 48 bytes of input, 24 of its half.

#parts = #plan.sharding<[{"tp", parts [8, 4]}]>

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @sliced_parts
// CHECK-SAME: peak = 72, least = 72
func.func @sliced_parts(%x: tensor<12xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<12xf32, #parts>) {
  %s = plan.slice %x [#plan.axis<"tp">] dim 0 : tensor<12xf32, #plan.sharding<[{}]>> -> tensor<12xf32, #parts>
  return %s : tensor<12xf32, #parts>
}

// -----

// Workspace of an operator counts while it runs: matmul expands one matrix for each of 4 products. 4x6x2x12 and 6x12x4
// floats of input, 4x6x2x4 of result, 4x6x12x4 of workspace.

#three = #plan.sharding<[{}, {}, {}]>
#four = #plan.sharding<[{}, {}, {}, {}]>

plan.mesh [#base.mesh_axis<"tp" = 1>]

// CHECK-LABEL: sched.program @workspace
// CHECK-SAME: inputs = 3456, peak = 8832, least = 8832
func.func @workspace(%x: tensor<4x6x2x12xf32, #four> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                     %y: tensor<6x12x4xf32, #three> {plan.kind = #plan.kind<input>, plan.names = ["y"]}) -> (tensor<4x6x2x4xf32, #four>) {
  %0 = plan.call "aten.matmul.default"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x2x12xf32, #four>, tensor<6x12x4xf32, #three>) -> tensor<4x6x2x4xf32, #four>
  return %0 : tensor<4x6x2x4xf32, #four>
}
