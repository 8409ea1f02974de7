// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-localize-calls | FileCheck %s

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Literal sizes of sharded dims become those of a rank.
// CHECK-LABEL: func.func @view
func.func @view(%0: tensor<2x6x8xf32, #plan.sharding<[{}, {}, {"tp"}]>>)
    -> tensor<2x6x4x2xf32, #plan.sharding<[{}, {}, {"tp"}, {}]>> {
  // CHECK: shape = [2, 6, #base.local<0, result 0, dim 2, extent 1>, 2]
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 2, 6, -1, 2>}
      : (tensor<2x6x8xf32, #plan.sharding<[{}, {}, {"tp"}]>>) -> tensor<2x6x4x2xf32, #plan.sharding<[{}, {}, {"tp"}, {}]>>
  return %1 : tensor<2x6x4x2xf32, #plan.sharding<[{}, {}, {"tp"}, {}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A vocabulary-sharded table uses another kernel, which gets the first row of the rank.
// CHECK-LABEL: func.func @embedding
func.func @embedding(%w: tensor<32x8xf32, #plan.sharding<[{"tp"}, {}]>>, %i: tensor<4xi64, #plan.sharding<[{}]>>)
    -> tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>> {
  // CHECK: plan.call "meshplan.embedding"{{.*}}offset = #base.local<0, operand 0, dim 0, offset 1>
  %1 = plan.call "aten.embedding.default"(%w, %i) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<32x8xf32, #plan.sharding<[{"tp"}, {}]>>, tensor<4xi64, #plan.sharding<[{}]>>)
      -> tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A product over a sharded dim is an addend; a wrong result type is rejected wherever it comes from.
func.func @forgotten_sum(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>,
                         %w: tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<4x6xf32, #plan.sharding<[{}, {}]>> {
  // expected-error @below {{the partial axes of the result do not follow from its operands and contractions}}
  %1 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<4x6xf32, #plan.sharding<[{}, {}]>>
  return %1 : tensor<4x6xf32, #plan.sharding<[{}, {}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @disagreement(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>,
                        %y: tensor<4x8xf32, #plan.sharding<[{}, {}]>>) -> tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>> {
  // expected-error @below {{operand 1 splits factor}}
  %1 = plan.call "aten.add.Tensor"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<4x8xf32, #plan.sharding<[{}, {}]>>)
      -> tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @whole_factor(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>> {
  // expected-error @below {{operand 0 splits a factor that must be replicated}}
  %1 = plan.call "aten.softmax.int"(%x) {self = #base.operand<0>, dim = 1}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
  return %1 : tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// The exponential of a sum is not the sum of exponentials.
func.func @not_linear(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>)
    -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> {
  // expected-error @below {{has an operand that is partial over "tp" and in which it is not linear}}
  %1 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  return %1 : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A replicated operand beside an addend would be added on every rank.
func.func @addend_beside_whole(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>,
                               %y: tensor<4xf32, #plan.sharding<[{}]>>)
    -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>> {
  // expected-error @below {{has an operand that is partial over "tp" and in which it is not linear}}
  %1 = plan.call "aten.cat.default"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]}
      : (tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>, tensor<4xf32, #plan.sharding<[{}]>>)
      -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  return %1 : tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 12>]

// 12 shards of 3 columns would cut heads of 4.
func.func @cut_within_a_head(%x: tensor<6x36xf32, #plan.sharding<[{}, {"tp"}]>>)
    -> tensor<6x9x4xf32, #plan.sharding<[{}, {}, {}]>> {
  // expected-error @below {{operand 0 has a sharding that no division of its factors gives}}
  %1 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = array<i64: 6, 9, 4>}
      : (tensor<6x36xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<6x9x4xf32, #plan.sharding<[{}, {}, {}]>>
  return %1 : tensor<6x9x4xf32, #plan.sharding<[{}, {}, {}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @undecided(%x: tensor<4xf32, #plan.sharding<[{"tp", ?}]>>) -> tensor<4xf32, #plan.sharding<[{"tp", ?}]>> {
  // expected-error @below {{operand 0 has no decided sharding}}
  %1 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32, #plan.sharding<[{"tp", ?}]>>) -> tensor<4xf32, #plan.sharding<[{"tp", ?}]>>
  return %1 : tensor<4xf32, #plan.sharding<[{"tp", ?}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A maximum of products is not their sum.
func.func @other_reduction(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>)
    -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>> {
  // expected-error @below {{result is partial with reduction max, but its operands and contractions give sum}}
  %1 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>
  return %1 : tensor<4x6xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @sum_of_maxima(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>)
    -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> {
  // expected-error @below {{result is partial with reduction sum, but its operands and contractions give max}}
  %1 = plan.call "aten.amax.default"(%x) {self = #base.operand<0>, dim = [1]}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  return %1 : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A view keeps the kind of reduction of its operand.
func.func @view_of_minima(%x: tensor<4x8xf32, #plan.sharding<[{}, {}], partial = min {"tp"}>>)
    -> (tensor<8x4xf32, #plan.sharding<[{}, {}], partial = min {"tp"}>>, tensor<8x4xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>) {
  %0 = plan.call "aten.t.default"(%x) {self = #base.operand<0>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {}], partial = min {"tp"}>>) -> tensor<8x4xf32, #plan.sharding<[{}, {}], partial = min {"tp"}>>
  // expected-error @below {{result is partial with reduction max, but its operands and contractions give min}}
  %1 = plan.call "aten.t.default"(%x) {self = #base.operand<0>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {}], partial = min {"tp"}>>) -> tensor<8x4xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>
  return %0, %1 : tensor<8x4xf32, #plan.sharding<[{}, {}], partial = min {"tp"}>>, tensor<8x4xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// Addends over dp come in, and the contraction produces addends over tp: the result is partial over exactly both.
// CHECK-LABEL: func.func @addends_of_two_axes
func.func @addends_of_two_axes(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}], partial = sum {"dp"}>>,
                               %w: tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>) {
  // CHECK: plan.call "aten.mm.default"
  %0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}], partial = sum {"dp"}>>, tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"dp", "tp"}>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

func.func @lost_addends(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}], partial = sum {"dp"}>>,
                        %w: tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>) {
  // expected-error @below {{the partial axes of the result do not follow from its operands and contractions}}
  %0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}], partial = sum {"dp"}>>, tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// The same number of axes, but different ones.
func.func @other_axes(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>) {
  // expected-error @below {{the partial axes of the result do not follow from its operands and contractions}}
  %0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Addends from nowhere: no operand is partial and nothing is contracted.
func.func @addends_of_nothing(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{the partial axes of the result do not follow from its operands and contractions}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// The result is checked like the operands; the first tensor that differs is named.
func.func @result_disagrees(%x: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>) {
  // expected-error @below {{result 0 splits factor 0 differently from another tensor of the call}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>}
      : (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Halves of 12 are not two heads of 4 and one.
func.func @other_unit(%x: tensor<12xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{result 0 splits factor 0 differently from another tensor of the call}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>}
      : (tensor<12xf32, #plan.sharding<[{"tp"}]>>) -> tensor<12xf32, #plan.sharding<[{"tp", unit 4}]>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @undecided_result(%x: tensor<4xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{result 0 has no decided sharding}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32, #plan.sharding<[{"tp"}]>>) -> tensor<4xf32>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// An operator without a record runs on whole tensors.
// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // CHECK: plan.call "custom.op.default"
  %0 = plan.call "custom.op.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

func.func @unknown_divided(%x: tensor<4xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{operand 0 splits a factor that must be replicated}}
  %0 = plan.call "custom.op.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32, #plan.sharding<[{"tp"}]>>) -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A contraction over a whole dim leaves no addends.
// CHECK-LABEL: func.func @whole_contraction
func.func @whole_contraction(%x: tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>) {
  // CHECK: plan.call "aten.amax.default"
  %0 = plan.call "aten.amax.default"(%x) {self = #base.operand<0>, dim = [1]}
      : (tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>

// A position-independent operator runs on the elements of the rank, whatever their dims; a sum of all is an addend.
// CHECK-LABEL: func.func @flat
func.func @flat(%x: !flat) {
  // CHECK: plan.call "aten.neg.default"
  // CHECK: plan.call "meshplan.square_sum"
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (!flat) -> !flat
  %1 = plan.call "meshplan.square_sum"(%0) {self = #base.operand<0>} : (!flat) -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>

func.func @flat_rows(%x: !flat) {
  // expected-error @below {{has a flat operand or result, but needs its dims}}
  %0 = plan.call "aten.softmax.int"(%x) {self = #base.operand<0>, dim = 1} : (!flat) -> !flat
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>

// Half of the elements are not all of them.
func.func @flat_made_whole(%x: !flat) {
  // expected-error @below {{has a flat operand or result, but needs its dims}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (!flat) -> !whole
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>

func.func @flat_beside_whole(%x: !flat, %y: !whole) {
  // expected-error @below {{has a flat operand or result, but needs its dims}}
  %0 = plan.call "aten.add.Tensor"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>} : (!flat, !whole) -> !flat
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>

// Only a slice takes a part of a whole tensor.
func.func @made_flat(%x: !whole) {
  // expected-error @below {{has a flat operand or result, but needs its dims}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (!whole) -> !flat
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 3>]
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!sum = tensor<8xf32, #plan.sharding<[{"tp"}]>>
!parts = tensor<8xf32, #plan.sharding<[{"dp", "tp"}]>>
!time = tensor<8xf32, #plan.sharding<[{}], partial = sum {"microbatch"}>>

// A non-finite element of an addend, or of a shard, comes from this rank; in a sum it may come from any rank.
// CHECK-LABEL: func.func @note_nonfinite
// CHECK: name = "addend", {{.*}}summed = false
// CHECK: name = "sum", {{.*}}summed = true
// CHECK: name = "parts", {{.*}}summed = false
// CHECK: name = "time", {{.*}}summed = true
func.func @note_nonfinite(%0: !addend, %1: !sum, %2: !parts, %3: !time) {
  %4 = plan.call "meshplan.note_nonfinite"(%0) {self = #base.operand<0>, name = "addend"} : (!addend) -> !addend
  %5 = plan.call "meshplan.note_nonfinite"(%1) {self = #base.operand<0>, name = "sum"} : (!sum) -> !sum
  %6 = plan.call "meshplan.note_nonfinite"(%2) {self = #base.operand<0>, name = "parts"} : (!parts) -> !parts
  %7 = plan.call "meshplan.note_nonfinite"(%3) {self = #base.operand<0>, name = "time"} : (!time) -> !time
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!wide = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!narrow = tensor<8xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>

// Addends may be rounded only on the path to a parameter.
func.func @rounded(%0: !wide) {
  %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = bf16} backward {plan.keeps_addends} : (!wide) -> !narrow
  // expected-error@below {{has an operand that is partial over "dp" and in which it is not linear}}
  %2 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = bf16} backward : (!wide) -> !narrow
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// The reference, in a module of its own, is the whole model: its calls have no shardings and stay as they are.
// CHECK-LABEL: module @reference
module @reference {
  // CHECK: plan.call "aten.view.default"(%arg0) {self = #base.operand<0>, size = array<i64: 2, 6, -1, 2>}
  func.func @reference(%0: tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32> {
    %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 2, 6, -1, 2>}
        : (tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32>
    return %1 : tensor<2x6x4x2xf32>
  }
}
