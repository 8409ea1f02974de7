// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-simplify | FileCheck %s

// Calls that do nothing, repeat another call or are not read.

// Conversions to the type that a tensor already has, and aliases.
// CHECK-LABEL: func.func @conversions
// CHECK-NEXT: return %arg0 : tensor<4x8xf32>
func.func @conversions(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = plan.call "aten.to.dtype"(%x) {self = #base.operand<0>, dtype = f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten._to_copy.default"(%0) {self = #base.operand<0>, dtype = f32}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.alias.default"(%1) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = plan.call "aten.lift_fresh_copy.default"(%2) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// A conversion to another type stays.
// CHECK-LABEL: func.func @real_conversion
// CHECK-NEXT: "aten.to.dtype"
func.func @real_conversion(%x: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %0 = plan.call "aten.to.dtype"(%x) {self = #base.operand<0>, dtype = bf16} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// A copy is separate memory that a view can read: contiguous, which copies only if needed, and once.
// CHECK-LABEL: func.func @copies
// CHECK-NEXT: %[[T:.*]] = plan.call "aten.t.default"(%arg0)
// CHECK-NEXT: %[[C:.*]] = plan.call "aten.contiguous.default"(%[[T]])
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.view.default"(%[[C]])
// CHECK-NEXT: return %[[V]]
func.func @copies(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = plan.call "aten.clone.default"(%0) {self = #base.operand<0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = plan.call "aten.contiguous.default"(%1) {self = #base.operand<0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = [32 : i64]}
      : (tensor<8x4xf32>) -> tensor<32xf32>
  return %3 : tensor<32xf32>
}

// Dropout outside of training, or with probability 0.
// CHECK-LABEL: func.func @idle_dropout
// CHECK-NEXT: return %arg0 : tensor<4x8xf32>
func.func @idle_dropout(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.1 : f64, train = false}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.dropout.default"(%0) {input = #base.operand<0>, p = 0.0 : f64, train = true}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Two dropouts draw two sets of random numbers, and so do two attention calls with dropout.
// CHECK-LABEL: func.func @random
// CHECK-COUNT-2: "aten.dropout.default"(%arg0)
// CHECK-COUNT-2: "meshplan.attention"
func.func @random(
    %x: tensor<4x8xf32>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) {
  %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.1 : f64, train = true}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.1 : f64, train = true}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %out1:2 = plan.call "meshplan.attention"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>,
       scale = 0.25 : f64, dropout = 0.1 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  %out2:2 = plan.call "meshplan.attention"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>,
       scale = 0.25 : f64, dropout = 0.1 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return %0, %1, %out1#0, %out2#0 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
}

// The same call of the same module is computed once; in another module it stays: a plan may lay it out differently.
// CHECK-LABEL: func.func @repeated
// CHECK-NEXT: %[[A:.*]] = plan.call "aten.relu.default"(%arg0) {self = #base.operand<0>} :
// CHECK-NEXT: %[[B:.*]] = plan.call "aten.relu.default"(%arg0) {self = #base.operand<0>} in "up"
// CHECK-NEXT: return %[[A]], %[[A]], %[[B]]
func.func @repeated(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "up" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A call that nothing reads is removed, and then the calls that only it reads.
// CHECK-LABEL: func.func @unread
// CHECK-NEXT: return
func.func @unread(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}

// A detach stays where a trainable parameter feeds it, and goes where none does.
// CHECK-LABEL: func.func @detached
// CHECK-NEXT: %[[Y:.*]] = plan.call "aten.mul.Tensor"(%arg0, %arg1)
// CHECK-NEXT: %[[D:.*]] = plan.call "aten.detach.default"(%[[Y]])
// CHECK-NEXT: %[[Z:.*]] = plan.call "aten.mul.Tensor"(%arg0, %arg2)
// CHECK-NEXT: return %[[D]], %[[Z]], %[[D]]
func.func @detached(
    
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>},
    %w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>},
    %frozen: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.trainable = false})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.detach.default"(%0) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.mul.Tensor"(%x, %frozen) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = plan.call "aten.detach.default"(%2) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = plan.call "aten.detach.default"(%1) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// It also stays for a parameter that the plan calls unused: without it the loss would depend on the parameter.
// CHECK-LABEL: func.func @detached_unused
// CHECK-NEXT: %[[D:.*]] = plan.call "aten.detach.default"(%arg0)
// CHECK-NEXT: return %[[D]]
func.func @detached_unused(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.trainable = false, plan.unused = loc("a.plan":3:10)}) -> tensor<4xf32> {
  %0 = plan.call "aten.detach.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An operand of which only shape or dtype is read is dropped, so that its layout does not matter.
// CHECK-LABEL: func.func @unread_operands
// CHECK: plan.call "aten.ones.default"() {dtype = i1, size = [{{.*}}]}
func.func @unread_operands(%x: tensor<4x6xf32>) -> tensor<4xi1> {
  %0 = plan.call "aten.new_ones.default"(%x) {self = #base.operand<0>, size = array<i64: 4>, dtype = i1}
      : (tensor<4x6xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Tensors that are broadcast together are each expanded separately, if at all.
// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.expand.default"(%arg1) {self = #base.operand<0>, size = [4, 6]} : (tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: return %arg0, %[[WIDE]]
func.func @broadcast(%x: tensor<4x6xf32>, %y: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0:2 = plan.call "aten.broadcast_tensors.default"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]}
      : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// An operator with several names gets the one with a record; an operand that only gives a shape is not read.
// CHECK-LABEL: func.func @other_names
// CHECK-NEXT: %[[TURNED:.*]] = plan.call "aten.transpose.int"(%arg0) {dim0 = 0 : i64, dim1 = 1 : i64, self = #base.operand<0>}
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.expand.default"(%arg1) {self = #base.operand<0>, size = [6, 4]}
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%[[TURNED]], %[[WIDE]])
// CHECK-NEXT: return %[[PRODUCT]]
func.func @other_names(%x: tensor<4x6xf32>, %y: tensor<6x1xf32>) -> tensor<6x4xf32> {
  %0 = plan.call "aten.swapdims.default"(%x) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.expand_as.default"(%y, %0) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<6x1xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = plan.call "aten.positive.default"(%1) {self = #base.operand<0>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %3 = plan.call "aten.multiply.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// The last states of an lstm get the shape of the first, if nothing reads them with the wrong shape of the archive.
// CHECK-LABEL: func.func @states
// CHECK-NEXT: "aten.lstm.input"{{.*}} -> (tensor<4x5x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>)
func.func @states(%x: tensor<4x5x3xf32>, %s: tensor<1x4x2xf32>, %w: tensor<8x3xf32>, %h: tensor<8x2xf32>) -> tensor<4x5x2xf32> {
  %0:3 = plan.call "aten.lstm.input"(%x, %s, %s, %w, %h) {input = #base.operand<0>,
      hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>], has_biases = false,
      num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = true}
      : (tensor<4x5x3xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<8x3xf32>, tensor<8x2xf32>)
      -> (tensor<4x5x2xf32>, tensor<1x1x4x2xf32>, tensor<1x1x4x2xf32>)
  return %0#0 : tensor<4x5x2xf32>
}

// The result of another operator may have any memory order, and so may an argument: copies stay, one of two equal ones.
// CHECK-LABEL: func.func @contiguous
// CHECK-NEXT: %[[T:.*]] = plan.call "aten.t.default"(%arg0)
// CHECK-NEXT: %[[C:.*]] = plan.call "aten.contiguous.default"(%[[T]])
// CHECK-NEXT: %[[X:.*]] = plan.call "aten.contiguous.default"(%arg0)
// CHECK-NEXT: return %[[C]], %[[C]], %[[X]]
func.func @contiguous(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = plan.call "aten.contiguous.default"(%0) {self = #base.operand<0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = plan.call "aten.contiguous.default"(%0) {self = #base.operand<0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = plan.call "aten.contiguous.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2, %3 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x8xf32>
}

// A tensor without any mark may be trained, so that no detach of it goes; a detach of a buffer does.
// CHECK-LABEL: func.func @detached_arguments
// CHECK-NEXT: %[[D:.*]] = plan.call "aten.detach.default"(%arg0)
// CHECK-NEXT: return %[[D]], %arg1
func.func @detached_arguments(%x: tensor<4xf32>, %b: tensor<4xf32> {plan.kind = #plan.kind<buffer>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = plan.call "aten.detach.default"(%x) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.detach.default"(%b) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A scalar tensor among those that are broadcast is not expanded.
// CHECK-LABEL: func.func @broadcast_number
// CHECK-NEXT: "aten.broadcast_tensors.default"(%arg0)
func.func @broadcast_number(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0:2 = plan.call "aten.broadcast_tensors.default"(%x) {tensors = [#base.operand<0>, 2.0]}
      : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// The last states of an lstm may be read if the archive has the right shape.
// CHECK-LABEL: func.func @right_states
// CHECK-NEXT: %[[S:.*]]:3 = plan.call "aten.lstm.input"
// CHECK-NEXT: return %[[S]]#1
func.func @right_states(%x: tensor<4x5x3xf32>, %s: tensor<1x4x2xf32>, %w: tensor<8x3xf32>, %h: tensor<8x2xf32>) -> tensor<1x4x2xf32> {
  %0:3 = plan.call "aten.lstm.input"(%x, %s, %s, %w, %h) {input = #base.operand<0>,
      hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>], has_biases = false,
      num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = true}
      : (tensor<4x5x3xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<8x3xf32>, tensor<8x2xf32>)
      -> (tensor<4x5x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>)
  return %0#1 : tensor<1x4x2xf32>
}
