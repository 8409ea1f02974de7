// One failing case for each labelled rule of dialect/plan/verifiers.cpp.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics

// A1
// expected-error @below {{axis without a name}}
func.func private @a1(tensor<4xf32, #plan.sharding<[{""}]>>)

// -----

// A2
// expected-error @below {{sub-axis "tp":(1)1 needs a positive product before it and a size of at least 2}}
func.func private @a2(tensor<4xf32, #plan.sharding<[{"tp":(1)1}]>>)

// -----

// A3
// expected-error @below {{unit is 0, must be positive}}
func.func private @a3(tensor<4xf32, #plan.sharding<[{"tp", unit 0}]>>)

// -----

// A4
// expected-error @below {{part is 0, must be positive}}
func.func private @a4(tensor<4xf32, #plan.sharding<[{"tp", parts [4, 0]}]>>)

// -----

// A5
// expected-error @below {{axis "tp" is used twice in one sharding}}
func.func private @a5(tensor<4x4xf32, #plan.sharding<[{"tp"}, {"tp":(2)2}]>>)

// -----

// A6
// expected-error @below {{a partial sharding names both a reduction and axes}}
func.func private @a6(tensor<4xf32, #plan.sharding<[{}], partial = sum {}>>)

// -----

// A7
// expected-error @below {{sharding of rank 1 on a tensor of rank 2}}
func.func private @a7(tensor<4x4xf32, #plan.sharding<[{}]>>)

// -----

// A8
// expected-error @below {{dim 0 of size 10 is not made of units of 4}}
func.func private @a8(tensor<10xf32, #plan.sharding<[{"tp", unit 4}]>>)

// -----

// A9
// expected-error @below {{parts of dim 0 add up to 6, the dim has size 8}}
func.func private @a9(tensor<8xf32, #plan.sharding<[{"tp", parts [4, 2]}]>>)

// -----

// M1
// expected-error @below {{has two axes named "tp"}}
plan.mesh [#plan.mesh_axis<"tp" = 2>, #plan.mesh_axis<"tp" = 4>]

// -----

// M2
// expected-error @below {{axis "tp" has size 0, must be positive}}
plan.mesh [#plan.mesh_axis<"tp" = 0>]

// -----

// M3
plan.mesh [#plan.mesh_axis<"tp" = 2>]
// expected-error @below {{unknown axis "dp"}}
plan.style "a" colwise [#plan.axis<"dp">] as "colwise dp"

// -----

// M4
plan.mesh [#plan.mesh_axis<"tp" = 6>]
// expected-error @below {{sub-axis "tp":(1)4 is not a digit of an axis of size 6}}
plan.style "a" colwise [#plan.axis<"tp":(1)4>] as "colwise tp"

// -----

// M5
// expected-error @below {{names axes, but the module has no mesh}}
plan.style "a" colwise [#plan.axis<"tp">] as "colwise tp"

// -----

// C2
func.func @c2(%x: tensor<4xf32>) {
  // expected-error @below {{refers to operand 1 of 1}}
  %0 = plan.call "aten.neg.default"(%x) {self = #plan.operand<1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C2
func.func @c2(%x: tensor<4xf32>) {
  // expected-error @below {{operand 0 is not an argument}}
  %0 = plan.call "aten.neg.default"(%x) {} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C3
plan.mesh [#plan.mesh_axis<"tp" = 2>]
func.func @c3(%x: tensor<4x4xf32>) {
  // expected-error @below {{states a layout of rank 1 for a tensor of rank 2}}
  %0 = plan.constrain %x <[{"tp"}]> along [#plan.axis<"tp">] as "x" : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// R1
plan.mesh [#plan.mesh_axis<"tp" = 2>]
func.func @r1(%x: tensor<4xf32>) {
  // expected-error @below {{needs decided shardings on both ends}}
  %0 = plan.reshard %x : tensor<4xf32> -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R2
plan.mesh [#plan.mesh_axis<"a" = 2>, #plan.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"a", "b"}]>>) {
  // expected-error @below {{needs its axes at the minor end of dim 0 of #plan.sharding<[{"a", "b"}]>}}
  %0 = plan.all_gather %x [#plan.axis<"a">] dim 0
      : tensor<4xf32, #plan.sharding<[{"a", "b"}]>> -> tensor<4xf32, #plan.sharding<[{"b"}]>>
  return
}

// -----

// R2: the type must be what the op makes
plan.mesh [#plan.mesh_axis<"a" = 2>, #plan.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"a", "b"}]>>) {
  // expected-error @below {{makes #plan.sharding<[{"a"}]>, but its type says #plan.sharding<[{}]>}}
  %0 = plan.all_gather %x [#plan.axis<"b">] dim 0
      : tensor<4xf32, #plan.sharding<[{"a", "b"}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R3
plan.mesh [#plan.mesh_axis<"tp" = 2>]
func.func @r3(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{reduces over axes over which #plan.sharding<[{}]> is not partial}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R4
plan.mesh [#plan.mesh_axis<"a" = 2>, #plan.mesh_axis<"b" = 4>]
func.func @r4(%x: tensor<8xf32, #plan.sharding<[{"a"}]>>) {
  // expected-error @below {{dim 0 has 2 shards before and 4 after}}
  %0 = plan.permute %x [#plan.axis<"a">, #plan.axis<"b">]
      : tensor<8xf32, #plan.sharding<[{"a"}]>> -> tensor<8xf32, #plan.sharding<[{"b"}]>>
  return
}
