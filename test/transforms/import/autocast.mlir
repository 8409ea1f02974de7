// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-autocast | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: %meshplan-opt %s --split-input-file --plan-autocast=device=cuda | FileCheck %s --check-prefixes=CHECK,CUDA

// Products run in 16 bits, later calls follow, and a sum with an f32 tensor is f32. Each tensor is converted once: two
// products read %x. The statement is complete and is removed.
// CHECK-NOT: plan.precision
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<2x8xf32>, tensor<2x8xbf16>)
// CHECK-NEXT: %[[X:.*]] = plan.call "aten.to.dtype"(%arg0) {dtype = bf16, self = #base.operand<0>} in "a" : (tensor<2x8xf32>) -> tensor<2x8xbf16>
// CHECK-NEXT: %[[W:.*]] = plan.call "aten.to.dtype"(%arg1) {dtype = bf16, self = #base.operand<0>} in "a" : (tensor<8x8xf32>) -> tensor<8x8xbf16>
// CHECK-NEXT: %[[A:.*]] = plan.call "aten.linear.default"(%[[X]], %[[W]]) {{.*}} -> tensor<2x8xbf16>
// CHECK-NEXT: %[[B:.*]] = plan.call "aten.linear.default"(%[[X]], %[[W]]) {{.*}} -> tensor<2x8xbf16>
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.gelu.default"(%[[A]]) {{.*}} -> tensor<2x8xbf16>
// CHECK-NEXT: %[[R:.*]] = plan.call "aten.add.Tensor"(%arg0, %[[G]]) {{.*}} : (tensor<2x8xf32>, tensor<2x8xbf16>) -> tensor<2x8xf32>
// CHECK-NEXT: return %[[R]], %[[B]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = bf16}
func.func @forward(%x: tensor<2x8xf32>, %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>}) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %a = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "a" : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %b = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "b" : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %g = plan.call "aten.gelu.default"(%a) {self = #base.operand<0>} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = plan.call "aten.add.Tensor"(%x, %g) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %r, %b : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// A call that only moves elements is repeated after its conversion: a parameter is converted as it is stored, and views
// of one tensor share its conversion. A conversion between two modules belongs to the module that contains both.
// CHECK: plan.precision {master = f32}
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[H:.*]] = plan.call "aten.relu.default"(%arg0) {{.*}} in "m.a"
// CHECK-NEXT: %[[N:.*]] = plan.call "aten.to.dtype"(%[[H]]) {{.*}} in "m" : (tensor<2x2x8xf32>) -> tensor<2x2x8xbf16>
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.view.default"(%[[N]]) {{.*}} in "m.b" : (tensor<2x2x8xbf16>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[W:.*]] = plan.call "aten.to.dtype"(%arg1) {{.*}} in "m.b" : (tensor<8x8xf32>) -> tensor<8x8xbf16>
// CHECK-NEXT: %[[T:.*]] = plan.call "aten.t.default"(%[[W]])
// CHECK-NEXT: plan.call "aten.mm.default"(%[[V]], %[[T]]) {{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT: %[[U:.*]] = plan.call "aten.view.default"(%[[N]]) {{.*}} in "m.c"
// CHECK-NEXT: plan.call "aten.mm.default"(%[[U]], %[[T]])
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = bf16, master = f32}
func.func @forward(%x: tensor<2x2x8xf32>, %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>}) {
  %h = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "m.a" : (tensor<2x2x8xf32>) -> tensor<2x2x8xf32>
  %t = plan.call "aten.t.default"(%w) {self = #base.operand<0>} in "m.b" : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = plan.call "aten.view.default"(%h) {self = #base.operand<0>, size = [4, 8]} in "m.b" : (tensor<2x2x8xf32>) -> tensor<4x8xf32>
  %a = plan.call "aten.mm.default"(%v, %t) {self = #base.operand<0>, mat2 = #base.operand<1>} in "m.b" : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %u = plan.call "aten.view.default"(%h) {self = #base.operand<0>, size = [4, 8]} in "m.c" : (tensor<2x2x8xf32>) -> tensor<4x8xf32>
  %b = plan.call "aten.mm.default"(%u, %t) {self = #base.operand<0>, mat2 = #base.operand<1>} in "m.c" : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// The lists differ: norms and softmax run in f32 on CUDA. On CPUs the result of a norm has the type of its input, f32
// weights included. Losses are f32 on both, also of logarithms that nothing else reads.
// CHECK-LABEL: func.func @forward
// CHECK: %[[H:.*]] = plan.call "aten.mm.default"{{.*}} -> tensor<4x4xbf16>
// CPU-NEXT: plan.call "aten.softmax.int"(%[[H]]) {{.*}} -> tensor<4x4xbf16>
// CPU-NEXT: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[H]]) {dtype = f32
// CPU-NEXT: %[[NORM:.*]] = plan.call "aten.layer_norm.default"(%[[WIDE]], %arg2) {{.*}} -> tensor<4x4xf32>
// CPU-NEXT: %[[NARROW:.*]] = plan.call "aten.to.dtype"(%[[NORM]]) {dtype = bf16
// CPU-NEXT: plan.call "aten.relu.default"(%[[NARROW]]) {{.*}} -> tensor<4x4xbf16>
// CUDA-NEXT: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[H]]) {dtype = f32
// CUDA-NEXT: plan.call "aten.softmax.int"(%[[WIDE]]) {{.*}} -> tensor<4x4xf32>
// CUDA-NEXT: %[[NORM:.*]] = plan.call "aten.layer_norm.default"(%[[WIDE]], %arg2) {{.*}} -> tensor<4x4xf32>
// CUDA-NEXT: plan.call "aten.relu.default"(%[[NORM]]) {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[LOGS:.*]] = plan.call "aten._log_softmax.default"(%[[WIDE]]) {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: plan.call "aten.nll_loss_forward.default"(%[[LOGS]], %arg3) {{.*}} -> (tensor<f32>, tensor<f32>)
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = bf16}
func.func @forward(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %scale: tensor<4xf32>, %t: tensor<4xi64>) {
  %h = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %s = plan.call "aten.softmax.int"(%h) {self = #base.operand<0>, dim = -1} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = plan.call "aten.layer_norm.default"(%h, %scale) {input = #base.operand<0>, normalized_shape = [4], weight = #base.operand<1>} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %r = plan.call "aten.relu.default"(%n) {self = #base.operand<0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %logs = plan.call "aten._log_softmax.default"(%h) {self = #base.operand<0>, dim = 1, half_to_float = false} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss:2 = plan.call "aten.nll_loss_forward.default"(%logs, %t) {self = #base.operand<0>, target = #base.operand<1>, reduction = 1} : (tensor<4x4xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// Kernels that need one type get the widest; integers and f64 stay; the model's own conversions stay, and tensors that
// it has widened are not rounded again.
// CHECK-LABEL: func.func @forward
// CHECK: %[[H:.*]] = plan.call "aten.mm.default"{{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[H]]) {dtype = f32
// CHECK-NEXT: plan.call "aten.index_add.default"(%arg0, %arg2, %[[WIDE]]) {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[OWN:.*]] = plan.call "aten.to.dtype"(%[[H]]) {dtype = f32
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[OWN]], %arg0) {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: plan.call "aten.mm.default"(%[[H]], %[[H]]) {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: plan.call "aten.add.Tensor"(%arg1, %arg1) {{.*}} -> tensor<4x4xf64>
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = f16}
func.func @forward(%x: tensor<4x4xf32>, %d: tensor<4x4xf64>, %i: tensor<4xi64>) {
  %h = plan.call "aten.mm.default"(%x, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = plan.call "aten.index_add.default"(%x, %i, %h) {self = #base.operand<0>, dim = 0, index = #base.operand<1>, source = #base.operand<2>} : (tensor<4x4xf32>, tensor<4xi64>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %own = plan.call "aten.to.dtype"(%h) {self = #base.operand<0>, dtype = f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = plan.call "aten.mul.Tensor"(%own, %x) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = plan.call "aten.mm.default"(%own, %own) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = plan.call "aten.add.Tensor"(%d, %d) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return
}

// -----

// The types of the archive: nothing is converted.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: plan.call "aten.mm.default"(%arg0, %arg0)
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = f32}
func.func @forward(%x: tensor<4x4xf32>) {
  %h = plan.call "aten.mm.default"(%x, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Values of integers and buffers alone are computed as before, and converted where data meets them.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[P:.*]] = plan.call "aten.to.dtype"(%arg1) {dtype = f32
// CHECK-NEXT: %[[A:.*]] = plan.call "aten.matmul.default"(%arg0, %[[P]]) {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten.to.dtype"(%[[A]]) {dtype = bf16
// CHECK-NEXT: %[[X:.*]] = plan.call "aten.to.dtype"(%arg2) {dtype = bf16
// CHECK-NEXT: plan.call "aten.matmul.default"(%[[NARROW]], %[[X]]) {{.*}} -> tensor<4x4xbf16>
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = bf16}
func.func @forward(%f: tensor<4x1xf32> {plan.kind = #plan.kind<buffer>}, %i: tensor<1x4xi64> {plan.kind = #plan.kind<input>}, %x: tensor<4x4xf32> {plan.kind = #plan.kind<input>}) {
  %p = plan.call "aten.to.dtype"(%i) {self = #base.operand<0>, dtype = f32} : (tensor<1x4xi64>) -> tensor<1x4xf32>
  %a = plan.call "aten.matmul.default"(%f, %p) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %b = plan.call "aten.matmul.default"(%a, %x) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// A region of the model without autocast, on every device or on one: its calls run in the types of their operands.
// CHECK-LABEL: func.func @forward
// CHECK: %[[H:.*]] = plan.call "aten.mm.default"{{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT: plan.call "aten.mm.default"(%[[H]]) {mat2 = #base.operand<0>, self = #base.operand<0>} : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
// CHECK-NEXT: %[[F:.*]] = plan.call "aten.to.dtype"(%[[H]]) {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: plan.call "aten.mm.default"(%[[F]], %arg0) {{.*}} -> tensor<4x4xf32>
// CPU: plan.call "aten.mm.default"{{.*}} -> tensor<4x4xbf16>
// CUDA-NEXT: plan.call "aten.mm.default"(%[[F]], %arg0) {{.*}} -> tensor<4x4xf32>
// CHECK-NOT: autocast_off
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = bf16}
func.func @forward(%x: tensor<4x4xf32>) {
  %h = plan.call "aten.mm.default"(%x, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = plan.call "aten.mm.default"(%h) {self = #base.operand<0>, mat2 = #base.operand<0>} {plan.autocast_off = "*"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = plan.call "aten.to.dtype"(%h) {self = #base.operand<0>, dtype = f32} {plan.autocast_off = "*"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.call "aten.mm.default"(%f, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} {plan.autocast_off = "*"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = plan.call "aten.mm.default"(%f, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} {plan.autocast_off = "cuda"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// A scalar that bf16 cannot represent becomes the lowest bf16 value where an operator fills elements with it.
// CHECK-LABEL: func.func @forward
// CHECK: plan.call "aten.clamp.default"({{.*}}) {max = 4.000000e+00 : f64, min = -3.3895313892515355E+38 : f64, self = #base.operand<0>} : {{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT: plan.call "aten.masked_fill.Scalar"({{.*}}) {{.*}}value = 0xFFF0000000000000 : f64{{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT: plan.call "aten.mul.Scalar"({{.*}}) {other = -3.4028234663852886E+38 : f64
// CHECK-NEXT: plan.call "aten.clamp.default"(%arg0) {min = -3.4028234663852886E+38 : f64
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {compute = bf16}
func.func @forward(%x: tensor<4x4xf32> {plan.kind = #plan.kind<input>}, %m: tensor<4x4xi1> {plan.kind = #plan.kind<input>}) {
  %h = plan.call "aten.mm.default"(%x, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = plan.call "aten.clamp.default"(%h) {self = #base.operand<0>, min = -3.4028234663852886E+38 : f64, max = 4.0 : f64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.call "aten.masked_fill.Scalar"(%h, %m) {self = #base.operand<0>, mask = #base.operand<1>, value = 0xFFF0000000000000 : f64} : (tensor<4x4xf32>, tensor<4x4xi1>) -> tensor<4x4xf32>
  %c = plan.call "aten.mul.Scalar"(%h) {self = #base.operand<0>, other = -3.4028234663852886E+38 : f64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = plan.call "aten.clamp.default"(%x) {self = #base.operand<0>, min = -3.4028234663852886E+38 : f64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
