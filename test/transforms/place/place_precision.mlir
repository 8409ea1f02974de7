// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-precision | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {storage = f32}

!flat = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xbf16, #plan.sharding<[{}]>>

// Parameters are stored in the type and converted once, before the gather; other arguments and integers are unchanged.
// CHECK-LABEL: func.func @storage(
// CHECK-SAME: %[[W:arg0]]: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>}
// CHECK-SAME: %[[B:arg1]]: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>}
// CHECK-SAME: %arg2: tensor<8xi64
// CHECK-SAME: %arg3: tensor<8xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<buffer>}
// CHECK-SAME: %arg4: tensor<8xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>}
func.func @storage(%w: !flat {plan.kind = #plan.kind<parameter>}, %b: !whole {plan.kind = #plan.kind<parameter>}, %i: tensor<8xi64, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>},
                   %c: !whole {plan.kind = #plan.kind<buffer>}, %x: !whole {plan.kind = #plan.kind<input>}) {
  // CHECK-DAG: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[W]]) {dtype = bf16, self = #base.operand<0>} {plan.precision} : (tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>) -> tensor<8xbf16>
  // CHECK-DAG: %[[BIAS:.*]] = plan.call "aten._to_copy.default"(%[[B]]) {dtype = bf16, self = #base.operand<0>} {plan.precision} : (tensor<8xf32, #plan.sharding<[{}]>>) -> tensor<8xbf16>
  // CHECK: plan.call "aten.add.Tensor"(%[[NARROW]], %[[BIAS]])
  // CHECK: plan.call "aten.mul.Tensor"(%[[NARROW]], %arg4)
  // CHECK-NOT: _to_copy
  %0 = plan.call "aten.add.Tensor"(%w, %b) {self = #base.operand<0>, other = #base.operand<1>} : (!flat, !whole) -> tensor<8xbf16>
  %1 = plan.call "aten.mul.Tensor"(%w, %x) {self = #base.operand<0>, other = #base.operand<1>} : (!flat, !whole) -> tensor<8xbf16>
  return
}

// Without a reader nothing is converted.
// CHECK-LABEL: func.func @late(
// CHECK-NEXT: plan.call "aten.neg.default"(%arg1)
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%arg0)
// CHECK-NEXT: plan.call "aten.exp.default"(%[[NARROW]])
// CHECK-NEXT: plan.call "aten.neg.default"(%[[NARROW]])
// CHECK-NEXT: return
func.func @late(%w: !flat {plan.kind = #plan.kind<parameter>}, %x: !whole {plan.kind = #plan.kind<input>}, %unread: !flat {plan.kind = #plan.kind<parameter>}) {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (!whole) -> !whole
  %1 = plan.call "aten.exp.default"(%w) {self = #base.operand<0>} : (!flat) -> tensor<8xbf16>
  %2 = plan.call "aten.neg.default"(%w) {self = #base.operand<0>} : (!flat) -> tensor<8xbf16>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.precision {gather = f32, storage = f64}

// A parameter that is gathered in another type is whole in that type first; without a gather, that type is not used.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[W:arg0]]: tensor<8xf64, #plan.sharding<[{"tp"}], flat = {"dp"}>>
// CHECK-SAME: %[[B:arg1]]: tensor<8xf64, #plan.sharding<[{"tp"}]>>
func.func @gather(%w: tensor<8xbf16, #plan.sharding<[{"tp"}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>},
                  %b: tensor<8xbf16, #plan.sharding<[{"tp"}]>> {plan.kind = #plan.kind<parameter>}) {
  // CHECK-DAG: %[[FLAT:.*]] = plan.call "aten._to_copy.default"(%[[W]]) {dtype = f32,{{.*}} -> tensor<8xf32>
  // CHECK-DAG: %[[WHOLE:.*]] = plan.constrain %[[FLAT]] <[{}]> along [#plan.axis<"dp">] as "precision" : tensor<8xf32> -> tensor<8xf32>
  // CHECK-DAG: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[WHOLE]]) {dtype = bf16,{{.*}} -> tensor<8xbf16>
  // CHECK-DAG: %[[BIAS:.*]] = plan.call "aten._to_copy.default"(%[[B]]) {dtype = bf16,{{.*}} -> tensor<8xbf16>
  // CHECK: plan.call "aten.add.Tensor"(%[[NARROW]], %[[BIAS]])
  %0 = plan.call "aten.add.Tensor"(%w, %b) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xbf16, #plan.sharding<[{"tp"}], flat = {"dp"}>>, tensor<8xbf16, #plan.sharding<[{"tp"}]>>) -> tensor<8xbf16>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {master = f32, reduce = f32, state = bf16, storage = bf16}

// The types of the optimizer, and a storage type that equals the parameter's type, change nothing here.
// CHECK-LABEL: func.func @same(
// CHECK-SAME: %arg0: tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-NOT: plan.call
// CHECK: return
func.func @same(%w: tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>}) { return }

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {master = f32, storage = bf16}

// A parameter that is stored narrower than it is read is gathered in its storage type, and widened after.
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %[[W:arg0]]: tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-NEXT: %[[WHOLE:.*]] = plan.constrain %[[W]] <[{}]> along [#plan.axis<"dp">] as "precision" : {{.*}} -> tensor<8xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[WHOLE]]) {dtype = f32
// CHECK-NEXT: plan.call "aten.neg.default"(%[[WIDE]])
func.func @narrow(%w: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>}) {
  %0 = plan.call "aten.neg.default"(%w) {self = #base.operand<0>} : (tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>) -> tensor<8xf32>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 1>]
plan.precision {gather = bf16}
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp on b"

// A rank that has the whole parameter rounds it as several ranks do. Replicated parameters are not gathered.
// CHECK-LABEL: func.func @one_rank(
// CHECK-NEXT: %[[ROUNDED:.*]] = plan.call "aten._to_copy.default"(%arg0) {dtype = bf16
// CHECK-NEXT: %[[READ:.*]] = plan.call "aten._to_copy.default"(%[[ROUNDED]]) {dtype = f32
// CHECK-NEXT: plan.call "aten.add.Tensor"(%[[READ]], %arg1)
func.func @one_rank(%w: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.data = 0},
                    %b: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.data = 1}) {
  %0 = plan.call "aten.add.Tensor"(%w, %b) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xf32, #plan.sharding<[{}]>>, tensor<8xf32, #plan.sharding<[{}]>>) -> tensor<8xf32>
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.precision {gather = bf16, storage = bf16}

// A reader that autocast gives the gather or storage type reads the parameter unconverted. Others read it widened.
// CHECK-LABEL: func.func @autocast(
// CHECK-SAME: %[[W:arg0]]: tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-SAME: %[[B:arg1]]: tensor<8xbf16, #plan.sharding<[{}]>>
// CHECK-DAG: %[[WHOLE:.*]] = plan.constrain %[[W]] <[{}]> along [#plan.axis<"dp">] as "precision"
// CHECK-DAG: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[WHOLE]]) {dtype = f32
// CHECK-DAG: plan.call "aten.neg.default"(%[[WHOLE]])
// CHECK-DAG: plan.call "aten.neg.default"(%[[WIDE]])
// CHECK-DAG: plan.call "aten.exp.default"(%[[B]])
// CHECK-NOT: plan.call
// CHECK: return
func.func @autocast(%w: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>},
                    %b: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>}) {
  %0 = plan.call "aten.to.dtype"(%w) {self = #base.operand<0>, dtype = bf16} : (tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>) -> tensor<8xbf16>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (tensor<8xbf16>) -> tensor<8xbf16>
  %2 = plan.call "aten.neg.default"(%w) {self = #base.operand<0>} : (tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>) -> tensor<8xf32>
  %3 = plan.call "aten.to.dtype"(%b) {self = #base.operand<0>, dtype = bf16} : (tensor<8xf32, #plan.sharding<[{}]>>) -> tensor<8xbf16>
  %4 = plan.call "aten.exp.default"(%3) {self = #base.operand<0>} : (tensor<8xbf16>) -> tensor<8xbf16>
  return
}
