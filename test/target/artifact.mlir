// The artifact of a small program, read back from its bytes.
// RUN: meshplan-opt %s --schedule=solver=program --print-artifact -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace

#rows = #plan.sharding<[{"dp"}, {}]>
#partial = #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>
#split = #plan.sharding<[{"dp"}, {"tp"}]>

//      CHECK:schedule format 9 compiler '' plan '' device cpu fingerprint ''
// CHECK-NEXT:mesh dp=2 tp=3
// CHECK-NEXT:communicator tp: tp
// CHECK-NEXT:program forward
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]

// Rank 0 holds 8 x (4 + 8) floats of weights and 4 x 4 of x, and two tensors of 4 x 8 at the all-reduce.
// CHECK-NEXT:  memory parameters 384 constants 0 inputs 64 states 0 peak 704
// CHECK-NEXT:  parameter v0 f32[8, 12 over tp] trainable 'down.weight' init truncated_normal low -1 high 2 mean 0.5 std 0.25 pieces dim 1 4 'e.' '.a', 8 'e.' '.b' stacked 8
// CHECK-NEXT:  parameter v1 f32[8, 24 over tp unit 4] buffer 'wide.weight' init given f16 384 bytes
// CHECK-NEXT:  input v2 f32[batch=8 over dp, 12 over tp] 'x'
func.func @forward(
    %w: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>
      {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"], plan.trainable = true,
       plan.pieces = #base.pieces<before = ["e.", "e."], after = [".a", ".b"], sizes = [4, 8], dim = 1, count = 8>,
       plan.init = #base.init<kind = truncated_normal, low = -1.0 : f64, high = 2.0 : f64, mean = 0.5 : f64, std = 0.25 : f64>},
    %b: tensor<8x24xf32, #plan.sharding<[{}, {"tp", unit 4}]>>
      {plan.kind = #plan.kind<buffer>, plan.names = ["wide.weight"],
       plan.init = #base.init<kind = given, elements = dense<0.5> : tensor<8x24xf16>>},
    %x: tensor<8x12xf32, #split> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.dims = ["batch", ""]})
    -> (tensor<8x8xf32, #split> {plan.name = "y"}, tensor<4x2x8xf32, #plan.sharding<[{"dp"}, {}, {}]>>) {
  // CHECK-NEXT:  v3 f32[8 over dp, 8] partial sum over tp = aten.linear.default(input=v2, weight=v0)  origin 0
  %p = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "down"
    : (tensor<8x12xf32, #split>, tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8x8xf32, #partial>
  // CHECK-NEXT:  v4 f32[8 over dp, 8] = start 0 all_reduce v3 sum over tp, 171 bytes of activations of 'down'  origin 1
  // CHECK-NEXT:  wait 0  origin 1
  // CHECK-NEXT:  free v3
  %r = plan.all_reduce %p [#plan.axis<"tp">] because "rowwise tp" : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #rows>
    loc("mlp.plan":9:5)
  // CHECK-NEXT:  v5 f32[8 over dp, 8 over tp] = slice v4  origin 2
  %s = plan.slice %r [#plan.axis<"tp">] dim 1 because "sequence tp" : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #split>
    loc("mlp.plan":10:5)
  // CHECK-NEXT:  v6 f32[4 over dp, 2, 8] = aten.view.default(self=v4, size=[extent(v6, 0), 2, 8])
  %v = plan.call "aten.view.default"(%r)
    {self = #base.operand<0>, size = [#base.local<0, result 0, dim 0, extent 1>, 2, 8]}
    : (tensor<8x8xf32, #rows>) -> tensor<4x2x8xf32, #plan.sharding<[{"dp"}, {}, {}]>>
  // CHECK-NEXT:  free v4
  // CHECK-NEXT:  output v5 'y'
  // CHECK-NEXT:  output v6 '1'
  return %s, %v : tensor<8x8xf32, #split>, tensor<4x2x8xf32, #plan.sharding<[{"dp"}, {}, {}]>>
}
// CHECK-NEXT:source 0: mlp.plan:9:5 'rowwise tp'
// CHECK-NEXT:source 1: mlp.plan:10:5 ''
// CHECK-NEXT:origin 0: source -1 module 'down'
// CHECK-NEXT:origin 1: source 0 module ''
// CHECK-NEXT:origin 2: source 1 module ''
