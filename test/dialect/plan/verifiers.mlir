// One failing case for each labelled rule of verifiers.cpp, attr_verifiers.cpp and reshard_verifiers.cpp in dialect/plan.
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
// expected-error @below {{block size is 0, must be positive}}
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
// expected-error @below {{a partial sharding must name both a reduction and axes}}
func.func private @a6(tensor<4xf32, #plan.sharding<[{}], partial = sum {}>>)

// -----

// A7
// expected-error @below {{sharding of rank 1 on a tensor of rank 2}}
func.func private @a7(tensor<4x4xf32, #plan.sharding<[{}]>>)

// -----

// A8
// expected-error @below {{dim 0 of size 10 is not a multiple of its block size 4}}
func.func private @a8(tensor<10xf32, #plan.sharding<[{"tp", unit 4}]>>)

// -----

// A9
// expected-error @below {{parts of dim 0 sum to 6, the dim has size 8}}
func.func private @a9(tensor<8xf32, #plan.sharding<[{"tp", parts [4, 2]}]>>)

// -----

// M1
// expected-error @below {{has two axes named "tp"}}
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"tp" = 4>]

// -----

// M3
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{unknown axis "dp"}}
plan.style "a" colwise [#plan.axis<"dp">] as "colwise dp"

// -----

// M4
plan.mesh [#base.mesh_axis<"tp" = 6>]
// expected-error @below {{sub-axis "tp":(1)4 is not a digit of an axis of size 6}}
plan.style "a" colwise [#plan.axis<"tp":(1)4>] as "colwise tp"

// -----

// M5
// expected-error @below {{names axes, but the module has no mesh}}
plan.style "a" colwise [#plan.axis<"tp">] as "colwise tp"

// -----

// M6
// expected-note @below {{the first one is here}}
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'plan.mesh' op must be the only one of its module}}
plan.mesh [#base.mesh_axis<"dp" = 2>]

// -----

// C2
func.func @c2(%x: tensor<4xf32>) {
  // expected-error @below {{refers to operand 1 of 1}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<1>} : (tensor<4xf32>) -> tensor<4xf32>
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
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @c3(%x: tensor<4x4xf32>) {
  // expected-error @below {{states a layout of rank 1 for a tensor of rank 2}}
  %0 = plan.constrain %x <[{"tp"}]> along [#plan.axis<"tp">] as "x" : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// R1
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r1(%x: tensor<4xf32>) {
  // expected-error @below {{needs decided shardings on its input and its result}}
  %0 = plan.reshard %x : tensor<4xf32> -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R2
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"a", "b"}]>>) {
  // expected-error @below {{needs its axes at the minor end of dim 0 of #plan.sharding<[{"a", "b"}]>}}
  %0 = plan.all_gather %x [#plan.axis<"a">] dim 0
      : tensor<4xf32, #plan.sharding<[{"a", "b"}]>> -> tensor<4xf32, #plan.sharding<[{"b"}]>>
  return
}

// -----

// R2: the type must be that of the op's result
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"a", "b"}]>>) {
  // expected-error @below {{produces #plan.sharding<[{"a"}]>, but its type is #plan.sharding<[{}]>}}
  %0 = plan.all_gather %x [#plan.axis<"b">] dim 0
      : tensor<4xf32, #plan.sharding<[{"a", "b"}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R3
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r3(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{reduces over axes over which #plan.sharding<[{}]> is not partial}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R4
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 4>]
func.func @r4(%x: tensor<8xf32, #plan.sharding<[{"a"}]>>) {
  // expected-error @below {{dim 0 has 2 shards before and 4 after}}
  %0 = plan.permute %x [#plan.axis<"a">, #plan.axis<"b">]
      : tensor<8xf32, #plan.sharding<[{"a"}]>> -> tensor<8xf32, #plan.sharding<[{"b"}]>>
  return
}

// -----

// A2: a digit with `pre`, but without a size
// expected-error @below {{sub-axis "tp":(2)0 needs a positive product before it and a size of at least 2}}
func.func private @a2(tensor<4xf32, #plan.sharding<[{"tp":(2)0}]>>)

// -----

// A2: a digit with a size, but without `pre`
// expected-error @below {{sub-axis "tp":(0)2 needs a positive product before it and a size of at least 2}}
func.func private @a2(tensor<4xf32, #plan.sharding<[{"tp":(0)2}]>>)

// -----

// A2: negative
// expected-error @below {{sub-axis "tp":(1)-2 needs a positive product before it and a size of at least 2}}
func.func private @a2(tensor<4xf32, #plan.sharding<[{"tp":(1)-2}]>>)

// -----

// A5: an axis is used twice, once among the partial axes
// expected-error @below {{axis "tp" is used twice in one sharding}}
func.func private @a5(tensor<4xf32, #plan.sharding<[{"tp"}], partial = sum {"tp"}>>)

// -----

// A5: an axis is used twice, once among the replicated axes
// expected-error @below {{axis "tp" is used twice in one sharding}}
func.func private @a5(tensor<4xf32, #plan.sharding<[{"dp"}], partial = max {"tp"}, replicated = {"tp":(1)2}>>)

// -----

// A5: an axis is used twice in one dim
// expected-error @below {{axis "tp" is used twice in one sharding}}
func.func private @a5(tensor<4xf32, #plan.sharding<[{"tp", "dp", "tp"}]>>)

// -----

// A5: digits that overlap: the first covers the factors 1 and 2 of 8, the second 2 and 4
// expected-error @below {{axis "tp" is used twice in one sharding}}
func.func private @a5(tensor<4x4xf32, #plan.sharding<[{"tp":(1)4}, {"tp":(2)4}]>>)

// -----

// A5 accepts two digits that are adjacent.
func.func private @a5(tensor<4x4xf32, #plan.sharding<[{"tp":(1)2}, {"tp":(2)4}]>>)

// -----

// A6: partial axes without a reduction
// expected-error @below {{a partial sharding must name both a reduction and axes}}
func.func private @a6(tensor<4xf32, #plan.sharding<[{}], partial = none {"tp"}>>)

// -----

// A7: a scalar
// expected-error @below {{sharding of rank 1 on a tensor of rank 0}}
func.func private @a7(tensor<f32, #plan.sharding<[{"tp"}]>>)

// -----

// A8: a part
// expected-error @below {{part of size 6 is not a multiple of its block size 4}}
func.func private @a8(tensor<16xf32, #plan.sharding<[{"tp", parts [8 unit 4, 6 unit 4, 2]}]>>)

// -----

// A8: the second dim
// expected-error @below {{dim 1 of size 7 is not a multiple of its block size 2}}
func.func private @a8(tensor<8x7xf32, #plan.sharding<[{"tp", unit 2}, {"dp", unit 2}]>>)

// -----

// A10
// expected-error @below {{blocks repeat 0 times, must be positive}}
func.func private @a10(tensor<8xf32, #plan.sharding<[{"tp", repeat 0}]>>)

// -----

// A10: with parts
// expected-error @below {{a dim in parts must not have a block size of its own}}
func.func private @a10(tensor<8xf32, #plan.sharding<[{"tp", parts [4, 4], repeat 2}]>>)

// -----

// M2
// expected-error @below {{axis "dp" has size -2, must be positive}}
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"dp" = -2>]

// -----

// M3: the axes of a border
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.border' op unknown axis "dp"}}
plan.border "a" is_input true index 0 <[{"tp"}]> exact true along [#plan.axis<"dp">] as "input split 0 over tp"

// -----

// M3: the layout of a border
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.border' op unknown axis "dp"}}
plan.border "a" is_input true index 0 <[{"dp"}]> exact true along [#plan.axis<"tp">] as "input split 0 over dp"

// -----

// M3: a partial axis of a result
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @m3(%x: tensor<4xf32>) {
  // expected-error @below {{'plan.call' op unknown axis "dp"}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>}
      : (tensor<4xf32>) -> tensor<4xf32, #plan.sharding<[{"tp"}], partial = sum {"dp"}>>
  return
}

// -----

// M3: a replicated axis of a constant
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @m3() {
  // expected-error @below {{'plan.constant' op unknown axis "dp"}}
  %0 = plan.constant "c" dense<1.0> : tensor<4xf32> : tensor<4xf32, #plan.sharding<[{?}], replicated = {"dp"}>>
  return
}

// -----

// M3: the layout in a statement
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @m3(%x: tensor<4xf32>) {
  // expected-error @below {{'plan.constrain' op unknown axis "dp"}}
  %0 = plan.constrain %x <[{"dp"}]> along [#plan.axis<"dp">] as "x" : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// M3: an axis of an argument that a collective takes
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @m3(%x: tensor<8xf32, #plan.sharding<[{"z", "a"}]>>) {
  // expected-error @below {{'plan.all_gather' op unknown axis "z"}}
  %0 = plan.all_gather %x [#plan.axis<"a">] dim 0
      : tensor<8xf32, #plan.sharding<[{"z", "a"}]>> -> tensor<8xf32, #plan.sharding<[{}]>>
  return
}

// -----

// M3: an axis of an argument that is permuted
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @m3(%x: tensor<8xf32, #plan.sharding<[{"z"}]>>) {
  // expected-error @below {{'plan.permute' op unknown axis "z"}}
  %0 = plan.permute %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{"z"}]>> -> tensor<8xf32, #plan.sharding<[{"a"}]>>
  return
}

// -----

// M4: a digit that covers the whole axis must be written as the axis
plan.mesh [#base.mesh_axis<"tp" = 6>]
// expected-error @below {{'plan.style' op sub-axis "tp":(1)6 is not a digit of an axis of size 6}}
plan.style "a" colwise [#plan.axis<"tp":(1)6>] as "colwise tp"

// -----

// M4: the size divides the axis, but not the rest after the preceding digits
plan.mesh [#base.mesh_axis<"tp" = 6>]
// expected-error @below {{'plan.style' op sub-axis "tp":(2)2 is not a digit of an axis of size 6}}
plan.style "a" colwise [#plan.axis<"tp":(2)2>] as "colwise tp"

// -----

// M7: the names of a border
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.border' op has 1 names and 2 extents for 2 dims}}
plan.border "a" is_input true index 0 <[{}, {}]> exact true along [] as "input [n, _]" {names = ["n"], extents = array<i64: 4, 0>}

// -----

// M5: a border
// expected-error @below {{'plan.border' op names axes, but the module has no mesh}}
plan.border "a" is_input true index 0 <[{}]> exact true along [] as "input replicate"

// -----

// M5: a layout in a statement
func.func @m5(%x: tensor<4xf32>) {
  // expected-error @below {{'plan.constrain' op states a layout, but the module has no mesh}}
  %0 = plan.constrain %x <[{}]> along [] as "x" : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// M5: a sharded result
func.func @m5(%x: tensor<4xf32>) {
  // expected-error @below {{'plan.call' op has a sharding, but the module has no mesh}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// C1: the shape
func.func @c1() {
  // expected-error @below {{'plan.constant' op value has type 'tensor<4xf32>', result is 'tensor<5xf32>'}}
  %0 = plan.constant "c" dense<1.0> : tensor<4xf32> : tensor<5xf32>
  return
}

// -----

// C1: the element type
func.func @c1() {
  // expected-error @below {{'plan.constant' op value has type 'tensor<4xf32>', result is 'tensor<4xbf16>'}}
  %0 = plan.constant "c" dense<1.0> : tensor<4xf32> : tensor<4xbf16>
  return
}

// -----

// C2: negative
func.func @c2(%x: tensor<4xf32>) {
  // expected-error @below {{operand -1, must be 0 or more}}
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<-1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C2: in a nested list
func.func @c2(%x: tensor<4xf32>) {
  // expected-error @below {{'plan.call' op refers to operand 3 of 1}}
  %0 = plan.call "aten.cat.default"(%x) {tensors = [#base.operand<0>, [unit, #base.operand<3>]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C2: an operand in a list counts as an argument; the next one is not an argument
func.func @c2(%x: tensor<4xf32>) {
  // expected-error @below {{'plan.call' op operand 1 is not an argument}}
  %0 = plan.call "aten.cat.default"(%x, %x) {tensors = [#base.operand<0>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// R1: the shape
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r1(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.reshard' op changes the tensor from 'tensor<4xf32, #plan.sharding<[{}]>>' to 'tensor<2xf32, #plan.sharding<[{}]>>'}}
  %0 = plan.reshard %x : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<2xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R1: the element type
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r1(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.slice' op changes the tensor from 'tensor<4xf32, #plan.sharding<[{}]>>' to 'tensor<4xf64, #plan.sharding<[{"tp"}]>>'}}
  %0 = plan.slice %x [#plan.axis<"tp">] dim 0 : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf64, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R1: an open dim
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r1(%x: tensor<4xf32, #plan.sharding<[{"tp", ?}]>>) {
  // expected-error @below {{'plan.reshard' op needs decided shardings on its input and its result}}
  %0 = plan.reshard %x : tensor<4xf32, #plan.sharding<[{"tp", ?}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R1: an undecided result
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r1(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.permute' op needs decided shardings on its input and its result}}
  %0 = plan.permute %x [] : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32>
  return
}

// -----

// R2: no such dim
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{'plan.all_gather' op dim 1 of a tensor of rank 1}}
  %0 = plan.all_gather %x [#plan.axis<"tp">] dim 1
      : tensor<4xf32, #plan.sharding<[{"tp"}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R2: a negative dim
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.slice' op dim -1 of a tensor of rank 1}}
  %0 = plan.slice %x [#plan.axis<"tp">] dim -1
      : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R2: no axes
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{'plan.all_gather' op needs its axes at the minor end of dim 0 of #plan.sharding<[{"tp"}]>}}
  %0 = plan.all_gather %x [] dim 0
      : tensor<4xf32, #plan.sharding<[{"tp"}]>> -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R2: more axes than the dim has
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"b"}]>>) {
  // expected-error @below {{'plan.all_gather' op needs its axes at the minor end of dim 0 of #plan.sharding<[{"b"}]>}}
  %0 = plan.all_gather %x [#plan.axis<"a">, #plan.axis<"b">] dim 0
      : tensor<4xf32, #plan.sharding<[{"b"}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R2: a gathered dim keeps its blocks where they matter: three heads over two ranks are uneven
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<12xf32, #plan.sharding<[{"a", "b", unit 4}]>>) {
  // expected-error @below {{'plan.all_gather' op produces #plan.sharding<[{"a", unit 4}]>, but its type is #plan.sharding<[{"a"}]>}}
  %0 = plan.all_gather %x [#plan.axis<"b">] dim 0
      : tensor<12xf32, #plan.sharding<[{"a", "b", unit 4}]>> -> tensor<12xf32, #plan.sharding<[{"a"}]>>
  return
}

// -----

// R2: a slice whose input is not replicated over the axes of its result
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.slice' op needs an input of layout #plan.sharding<[{"a"}]>, but its input is #plan.sharding<[{}]>}}
  %0 = plan.slice %x [#plan.axis<"b">] dim 0
      : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32, #plan.sharding<[{"a", "b"}]>>
  return
}

// -----

// R2: a slice has no reduction
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>>) {
  // expected-error @below {{'plan.slice' op needs an input of layout #plan.sharding<[{}]>, but its input is #plan.sharding<[{}], partial = sum {"a"}>}}
  %0 = plan.slice %x [#plan.axis<"b">] dim 0
      : tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<4xf32, #plan.sharding<[{"b"}]>>
  return
}

// -----

// R2: a slice over no axes needs a dim, too
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.slice' op dim 1 of a tensor of rank 1}}
  %0 = plan.slice %x [] dim 1 : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R2: a slice over no axes ends the sharing of blocks, and nothing else. Of two heads, each shared by 3 query heads,
// four ranks hold 0, 0, 1 and 1; unshared, two of them hold nothing.
plan.mesh [#base.mesh_axis<"a" = 4>]
func.func @r2(%x: tensor<8xf32, #plan.sharding<[{"a", unit 4, repeat 3}]>>) {
  // expected-error @below {{'plan.slice' op produces #plan.sharding<[{"a", unit 4}]>, but its type is #plan.sharding<[{"a", unit 4, repeat 3}]>}}
  %0 = plan.slice %x [] dim 0
      : tensor<8xf32, #plan.sharding<[{"a", unit 4, repeat 3}]>> -> tensor<8xf32, #plan.sharding<[{"a", unit 4, repeat 3}]>>
  return
}

// -----

// R2: the axes that an all-to-all takes from one dim become the minor axes of the other
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4x4xf32, #plan.sharding<[{"a"}, {"b"}]>>) {
  // expected-error @below {{'plan.all_to_all' op needs its axes at the minor end of dim 1 of #plan.sharding<[{}, {"a", "b"}]>}}
  %0 = plan.all_to_all %x [#plan.axis<"a">] from 0 to 1
      : tensor<4x4xf32, #plan.sharding<[{"a"}, {"b"}]>> -> tensor<4x4xf32, #plan.sharding<[{}, {"a", "b"}]>>
  return
}

// -----

// R2: an all-to-all does not change other dims
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r2(%x: tensor<4x4x4xf32, #plan.sharding<[{"a"}, {}, {"b"}]>>) {
  // expected-error @below {{'plan.all_to_all' op needs an input of layout #plan.sharding<[{}, {}, {}]>, but its input is #plan.sharding<[{}, {}, {"b"}]>}}
  %0 = plan.all_to_all %x [#plan.axis<"a">] from 0 to 1
      : tensor<4x4x4xf32, #plan.sharding<[{"a"}, {}, {"b"}]>> -> tensor<4x4x4xf32, #plan.sharding<[{}, {"a"}, {}]>>
  return
}

// -----

// R2: an all-to-all needs two dims
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"a"}]>>) {
  // expected-error @below {{'plan.all_to_all' op moves axes from dim 0 to itself}}
  %0 = plan.all_to_all %x [#plan.axis<"a">] from 0 to 0
      : tensor<4xf32, #plan.sharding<[{"a"}]>> -> tensor<4xf32, #plan.sharding<[{"a"}]>>
  return
}

// -----

// R2: both dims of an all-to-all exist
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r2(%x: tensor<4xf32, #plan.sharding<[{"a"}]>>) {
  // expected-error @below {{'plan.all_to_all' op dim 1 of a tensor of rank 1}}
  %0 = plan.all_to_all %x [#plan.axis<"a">] from 0 to 1
      : tensor<4xf32, #plan.sharding<[{"a"}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R3: one of the two axes is not a partial axis
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r3(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>>) {
  // expected-error @below {{'plan.all_reduce' op reduces over axes over which #plan.sharding<[{}], partial = sum {"a"}> is not partial}}
  %0 = plan.all_reduce %x [#plan.axis<"a">, #plan.axis<"b">]
      : tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R3: no axes
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r3(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>>) {
  // expected-error @below {{'plan.reduce_scatter' op reduces over axes over which #plan.sharding<[{}], partial = sum {"a"}> is not partial}}
  %0 = plan.reduce_scatter %x [] dim 0
      : tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<4xf32, #plan.sharding<[{"a"}]>>
  return
}

// -----

// R3: axes that are not reduced stay partial, with their reduction
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r3(%x: tensor<4xf32, #plan.sharding<[{}], partial = max {"a", "b"}>>) {
  // expected-error @below {{'plan.all_reduce' op produces #plan.sharding<[{}], partial = max {"b"}>, but its type is #plan.sharding<[{}], partial = sum {"b"}>}}
  %0 = plan.all_reduce %x [#plan.axis<"a">]
      : tensor<4xf32, #plan.sharding<[{}], partial = max {"a", "b"}>> -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"b"}>>
  return
}

// -----

// R3: a reduce-scatter shards over the axes that it reduces
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r3(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>>) {
  // expected-error @below {{'plan.reduce_scatter' op needs its axes at the minor end of dim 0 of #plan.sharding<[{"b"}]>}}
  %0 = plan.reduce_scatter %x [#plan.axis<"a">] dim 0
      : tensor<4xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<4xf32, #plan.sharding<[{"b"}]>>
  return
}

// -----

// R3: a reduce-scatter does not change other dims
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r3(%x: tensor<4x4xf32, #plan.sharding<[{}, {"b"}], partial = sum {"a"}>>) {
  // expected-error @below {{'plan.reduce_scatter' op needs an input of layout #plan.sharding<[{}, {}]>, but its input is #plan.sharding<[{}, {"b"}]>}}
  %0 = plan.reduce_scatter %x [#plan.axis<"a">] dim 0
      : tensor<4x4xf32, #plan.sharding<[{}, {"b"}], partial = sum {"a"}>> -> tensor<4x4xf32, #plan.sharding<[{"a"}, {}]>>
  return
}

// -----

// R4: a permute does not change partial axes
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>, #base.mesh_axis<"c" = 2>]
func.func @r4(%x: tensor<8xf32, #plan.sharding<[{"a"}], partial = sum {"c"}>>) {
  // expected-error @below {{'plan.permute' op changes the partial axes or the reduction}}
  %0 = plan.permute %x [#plan.axis<"a">, #plan.axis<"b">]
      : tensor<8xf32, #plan.sharding<[{"a"}], partial = sum {"c"}>> -> tensor<8xf32, #plan.sharding<[{"b"}]>>
  return
}

// -----

// R4 accepts equal counts: 4 shards over "a", and over its two digits in the other order.
plan.mesh [#base.mesh_axis<"a" = 4>]
func.func @r4(%x: tensor<8xf32, #plan.sharding<[{"a"}]>>) {
  %0 = plan.permute %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{"a"}]>> -> tensor<8xf32, #plan.sharding<[{"a":(2)2, "a":(1)2}]>>
  return
}

// -----

// R5
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r5(%g: tensor<8x4xf32>, %w: tensor<4x8xf32, #plan.sharding<[{"a"}, {}]>>) {
  // expected-error @below {{gives a gradient of type 'tensor<8x4xf32>' to a value of type 'tensor<4x8xf32, #plan.sharding<[{"a"}, {}]>>'}}
  %0 = plan.match %g to %w : tensor<8x4xf32>, tensor<4x8xf32, #plan.sharding<[{"a"}, {}]>> -> tensor<4x8xf32>
  return
}

// -----

// R5: the result
func.func @r5(%g: tensor<4x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{'plan.match' op gives a gradient}}
  %0 = plan.match %g to %w : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

// R5: the element type is that of the gradient
func.func @r5(%g: tensor<4xbf16>, %w: tensor<4xf32>) {
  %0 = plan.match %g to %w : tensor<4xbf16>, tensor<4xf32> -> tensor<4xbf16>
  // expected-error @below {{gives a gradient of type 'tensor<4xbf16>' to a value of type 'tensor<4xf32>'}}
  %1 = plan.match %g to %w : tensor<4xbf16>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// A5: among the flat axes
// expected-error @below {{axis "a" is used twice in one sharding}}
func.func @a5(%x: tensor<4xf32, #plan.sharding<[{"a"}], flat = {"a"}>>) { return }

// -----

// M3: the flat axes
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @m3(%x: tensor<4xf32, #plan.sharding<[{}], flat = {"b"}>>) {
  // expected-error @below {{unknown axis "b"}}
  %0 = plan.all_gather %x [#plan.axis<"b">] : tensor<4xf32, #plan.sharding<[{}], flat = {"b"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R6: a gather without a dim gathers flat axes
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{}], flat = {"a", "b"}>>) {
  %0 = plan.all_gather %x [#plan.axis<"b">]
      : tensor<8xf32, #plan.sharding<[{}], flat = {"a", "b"}>> -> tensor<8xf32, #plan.sharding<[{}], flat = {"a"}>>
  // expected-error @below {{'plan.all_gather' op needs its axes at the minor end of the flat axes of #plan.sharding<[{}], flat = {"a", "b"}>}}
  %1 = plan.all_gather %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{}], flat = {"a", "b"}>> -> tensor<8xf32, #plan.sharding<[{}], flat = {"b"}>>
  return
}

// -----

// R6: the tensor is not flat, so it has no flat axes to gather
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{"a"}]>>) {
  // expected-error @below {{'plan.all_gather' op needs its axes at the minor end of the flat axes of #plan.sharding<[{"a"}]>}}
  %0 = plan.all_gather %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{"a"}]>> -> tensor<8xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R6: a collective on flat axes does not change dims
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{"a"}], flat = {"b"}>>) {
  // expected-error @below {{'plan.all_gather' op names dim 0, but #plan.sharding<[{"a"}], flat = {"b"}> is flat}}
  %0 = plan.all_gather %x [#plan.axis<"a">] dim 0
      : tensor<8xf32, #plan.sharding<[{"a"}], flat = {"b"}>> -> tensor<8xf32, #plan.sharding<[{}], flat = {"b"}>>
  return
}

// -----

// R6: a slice without a dim adds flat axes and changes nothing else
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{"b"}]>>) {
  %0 = plan.slice %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{"b"}]>> -> tensor<8xf32, #plan.sharding<[{"b"}], flat = {"a"}>>
  // expected-error @below {{'plan.slice' op needs an input of layout #plan.sharding<[{}]>, but its input is #plan.sharding<[{"b"}]>}}
  %1 = plan.slice %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{"b"}]>> -> tensor<8xf32, #plan.sharding<[{}], flat = {"a"}>>
  return
}

// -----

// R6: a slice of a dim
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{}], flat = {"b"}>>) {
  // expected-error @below {{'plan.slice' op names dim 0, but #plan.sharding<[{"a"}], flat = {"b"}> is flat}}
  %0 = plan.slice %x [#plan.axis<"a">] dim 0
      : tensor<8xf32, #plan.sharding<[{}], flat = {"b"}>> -> tensor<8xf32, #plan.sharding<[{"a"}], flat = {"b"}>>
  return
}

// -----

// R6: a slice over no axes needs a dim
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{"a"}]>>) {
  // expected-error @below {{'plan.slice' op dim -1 of a tensor of rank 1}}
  %0 = plan.slice %x []
      : tensor<8xf32, #plan.sharding<[{"a"}]>> -> tensor<8xf32, #plan.sharding<[{"a"}]>>
  return
}

// -----

// R6: the result of a reduce-scatter without a dim is flat
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"a", "b"}>>) {
  %0 = plan.reduce_scatter %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a", "b"}>> -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"b"}, flat = {"a"}>>
  %1 = plan.all_reduce %0 [#plan.axis<"b">]
      : tensor<8xf32, #plan.sharding<[{}], partial = sum {"b"}, flat = {"a"}>> -> tensor<8xf32, #plan.sharding<[{}], flat = {"a"}>>
  // expected-error @below {{'plan.reduce_scatter' op needs its axes at the minor end of the flat axes of #plan.sharding<[{}], partial = sum {"b"}>}}
  %2 = plan.reduce_scatter %x [#plan.axis<"a">]
      : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a", "b"}>> -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"b"}>>
  return
}

// -----

// R6: an all-to-all does not take flat tensors
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
func.func @r6(%x: tensor<8x8xf32, #plan.sharding<[{"a"}, {}], flat = {"b"}>>) {
  // expected-error @below {{'plan.all_to_all' op names dim 0, but #plan.sharding<[{"a"}, {}], flat = {"b"}> is flat}}
  %0 = plan.all_to_all %x [#plan.axis<"a">] from 0 to 1
      : tensor<8x8xf32, #plan.sharding<[{"a"}, {}], flat = {"b"}>> -> tensor<8x8xf32, #plan.sharding<[{}, {"a"}], flat = {"b"}>>
  return
}

// -----

// R6: a permute does not take flat tensors
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>, #base.mesh_axis<"c" = 2>]
func.func @r6(%x: tensor<8xf32, #plan.sharding<[{"a"}], flat = {"c"}>>) {
  // expected-error @below {{'plan.permute' op redistributes dims, but its input or result is flat}}
  %0 = plan.permute %x [#plan.axis<"a">, #plan.axis<"b">]
      : tensor<8xf32, #plan.sharding<[{"a"}], flat = {"c"}>> -> tensor<8xf32, #plan.sharding<[{"b"}], flat = {"c"}>>
  return
}

// -----

// R7: a value is reduced completely, without regard to its dims
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r7(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>>) {
  %0 = plan.all_reduce %x [#plan.axis<"a">] : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<8xf32, #plan.sharding<[{}]>>
  // expected-error @below {{'plan.all_reduce' op has dim 0, but sums all elements of a value}}
  %1 = plan.all_reduce %x [#plan.axis<"a">] dim 0
      : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<8xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R8: an all-reduce may write its result over its addends, but not over another tensor
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r8(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>>, %y: tensor<8xf32, #plan.sharding<[{"a"}]>>) {
  %0 = plan.all_reduce %x [#plan.axis<"a">] : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<8xf32, #plan.sharding<[{}]>>
      into %x : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>>
  // expected-error @below {{'plan.all_reduce' op puts a result of type 'tensor<8xf32, #plan.sharding<[{}]>>' into 'tensor<8xf32, #plan.sharding<[{"a"}]>>'}}
  %1 = plan.all_reduce %x [#plan.axis<"a">] : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<8xf32, #plan.sharding<[{}]>>
      into %y : tensor<8xf32, #plan.sharding<[{"a"}]>>
  return
}

// -----

// R8: a gather
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r8(%x: tensor<8xf32, #plan.sharding<[{"a"}]>>, %y: tensor<4xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.all_gather' op puts a result of type 'tensor<8xf32, #plan.sharding<[{}]>>' into 'tensor<4xf32, #plan.sharding<[{}]>>'}}
  %0 = plan.all_gather %x [#plan.axis<"a">] dim 0 : tensor<8xf32, #plan.sharding<[{"a"}]>> -> tensor<8xf32, #plan.sharding<[{}]>>
      into %y : tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R8: a reduce-scatter
plan.mesh [#base.mesh_axis<"a" = 2>]
func.func @r8(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>>, %y: tensor<8xf32, #plan.sharding<[{}]>>) {
  // expected-error @below {{'plan.reduce_scatter' op puts a result of type 'tensor<8xf32, #plan.sharding<[{}], flat = {"a"}>>' into 'tensor<8xf32, #plan.sharding<[{}]>>'}}
  %0 = plan.reduce_scatter %x [#plan.axis<"a">] : tensor<8xf32, #plan.sharding<[{}], partial = sum {"a"}>> -> tensor<8xf32, #plan.sharding<[{}], flat = {"a"}>>
      into %y : tensor<8xf32, #plan.sharding<[{}]>>
  return
}

// -----

// M5: a data statement
// expected-error @below {{'plan.data' op names axes, but the module has no mesh}}
plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp"

// -----

// M3: the axes of a data statement
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.data' op unknown axis "dp"}}
plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp"

// -----

// M8
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp"
// expected-error @below {{'plan.data' op prefetches parameters, but they are not sharded}}
plan.data gradients over [#plan.axis<"dp">] prefetch 1 as "data dp"

// -----

// M8: optimizer states
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'plan.data' op prefetches parameters, but they are not sharded}}
plan.data optimizer over [#plan.axis<"dp">] prefetch 1 as "data dp"

// -----

// M8: gathered ahead in the step. M21
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 1 as "data dp" {gather_in_step}
// expected-error @below {{'plan.data' op gathers in the step what it updates, but shards 'parameters', must be 'optimizer' or 'gradients'}}
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {gather_in_step}

// -----

// M9
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_gradients, register_buffers}
// expected-error @below {{'plan.data' op registers buffers, but neither parameters nor gradients are contiguous}}
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {register_buffers}

// -----

// T1: the parts
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @t1(%x: tensor<9xf32>) {
  // expected-error @below {{'plan.enter_microbatch' op slices 'tensor<9xf32>' into 2 microbatches, but its result is 'tensor<4xf32>'}}
  %0 = plan.enter_microbatch %x dim 0 of 2 : tensor<9xf32> -> tensor<4xf32>
  return
}

// -----

// T1: the dim
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @t1(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.enter_microbatch' op slices dim 1 of 'tensor<8xf32>' into 2 microbatches}}
  %0 = plan.enter_microbatch %x dim 1 of 2 : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// T1: each rank has a part of each microbatch
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @t1(%x: tensor<8xf32, #plan.sharding<[{"dp"}]>>) {
  // expected-error @below {{'plan.enter_microbatch' op needs #plan.dim<{"dp", parts [4, 4]}> on dim 0, and the input has #plan.dim<{"dp"}>}}
  %0 = plan.enter_microbatch %x dim 0 of 2 : tensor<8xf32, #plan.sharding<[{"dp"}]>> -> tensor<4xf32>
  return
}

// -----

// A slice over time of a batch whose runs are the microbatches.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @run_of_batch(%x: tensor<8xf32, #plan.sharding<[{"dp"}]>>) {
  // expected-error @below {{'plan.slice' op needs an input of layout #plan.sharding<[{"dp", parts [4, 4]}]>, but its input is #plan.sharding<[{"dp"}]>}}
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0
      : tensor<8xf32, #plan.sharding<[{"dp"}]>> -> tensor<8xf32, #plan.sharding<[{"microbatch", "dp"}]>>
  return
}

// -----

// T1: the result
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @t1(%x: tensor<8xf32, #plan.sharding<[{"dp", parts [4, 4]}]>>) {
  // expected-error @below {{'plan.enter_microbatch' op produces #plan.sharding<[{"dp"}]>, but its type is #plan.sharding<[{}]>}}
  %0 = plan.enter_microbatch %x dim 0 of 2 : tensor<8xf32, #plan.sharding<[{"dp", parts [4, 4]}]>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return
}

// -----

// T2: the tensor
plan.mesh [#base.mesh_axis<"microbatch" = 2>]
func.func @t2(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.leave_microbatch' op changes the tensor from 'tensor<8xf32>' to 'tensor<8xf64>'}}
  %0 = plan.leave_microbatch %x as "microbatches 2 mean" : tensor<8xf32> -> tensor<8xf64>
  return
}

// -----

// T2: the layout
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @t2(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>) {
  // expected-error @below {{'plan.leave_microbatch' op produces #plan.sharding<[{}], partial = sum {"dp", "microbatch"}>, but its type is #plan.sharding<[{}], partial = sum {"microbatch"}>}}
  %0 = plan.leave_microbatch %x as "microbatches 2 mean" : tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
      -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"microbatch"}>>
  return
}

// -----

// T2: the reduction of the accumulated value
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @t2(%x: tensor<8xf32, #plan.sharding<[{}], partial = max {"dp"}>>) {
  // expected-error @below {{'plan.leave_microbatch' op accumulates values that are partial with reduction max}}
  %0 = plan.leave_microbatch %x as "microbatches 2 mean" : tensor<8xf32, #plan.sharding<[{}], partial = max {"dp"}>>
      -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp", "microbatch"}>>
  return
}

// -----

// A11
// expected-error @below {{a loss scale that changes has growth, backoff and a positive interval}}
plan.precision {loss_scale = #plan.loss_scale<initial = 2.0, growth = 2.0>}

// -----

// A12
// expected-error @below {{number 5.000000e-01 : f32 of a group is not f64}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 0.1, momentum = 0.5 : f32>]

// -----

// M10
// expected-error @below {{'plan.optimizer' op has no group of parameters}}
plan.optimizer sgd groups []

// -----

// M10
// expected-error @below {{'plan.optimizer' op attribute 'groups' failed to satisfy constraint: list of groups}}
plan.optimizer sgd groups [{lr = 1.0}]

// -----

// A13
// expected-error @below {{loss scale begins as 0.000000e+00, must be finite and positive}}
plan.precision {loss_scale = #plan.loss_scale<initial = 0.0>}

// -----

// A14
// expected-error @below {{reference to the argument of kind 'parameter' without a name}}
func.func @a14(%x: tensor<4xf32> {plan.of = #plan.argument<parameter "">}) { return }

// -----

// A15
// expected-error @below {{gain is -1.000000e+00, must be finite and positive}}
func.func @a15(%x: tensor<4xf32> {plan.init = #plan.init_rule<rule = xavier_normal, gain = -1.0, fan = in, text = "xavier normal gain -1", location = loc(unknown)>}) { return }

// -----

// A16
// expected-error @below {{storage without a name}}
func.func @a16(%x: tensor<4xf32> {plan.storage = #plan.storage<name = "", position = 0>}) { return }

// -----

// A16: the position
// expected-error @below {{position -1 in storage "all", must be 0 or more}}
func.func @a16(%x: tensor<4xf32> {plan.storage = #plan.storage<name = "all", position = -1>}) { return }

// -----

// A17
// expected-error @below {{cause of an axis without a name}}
module attributes {test.attr = #plan.cause<"" because "rowwise tp" at loc("a.plan":7:3)>} {}

// -----

// A18
// expected-error @below {{run of a module without a path}}
module attributes {test.attr = #plan.module_run<"" = 1>} {}

// -----

// A18
// expected-error @below {{run 0 of module "block", must be at least 1: run 0 is not written}}
module attributes {test.attr = #plan.module_run<"block" = 0>} {}

// -----

// The values of #plan.kind
// expected-error @below {{expected ::meshplan::plan::ArgumentKind to be one of: parameter, buffer, input, setting, state, accumulator}}
// expected-error @below {{failed to parse Plan_ArgumentKindAttr parameter 'value' which is to be a `::meshplan::plan::ArgumentKind`}}
func.func @kind(%x: tensor<4xf32> {plan.kind = #plan.kind<weight>}) { return }

// -----

// The values of #plan.stand_in
// expected-error @below {{expected ::meshplan::plan::StandIn to be one of: first_operand, second_operand, ones}}
// expected-error @below {{failed to parse Plan_StandInAttr parameter 'value' which is to be a `::meshplan::plan::StandIn`}}
module attributes {test.attr = #plan.stand_in<zeros>} {}

// -----

// The values of #plan.style_kind
// expected-error @below {{expected ::meshplan::plan::StyleKind to be one of: colwise, rowwise, sequence, expert, within, replicate}}
// expected-error @below {{failed to parse Plan_StyleKindAttr parameter 'value' which is to be a `::meshplan::plan::StyleKind`}}
plan.style "up" diagonal [] as "diagonal"

// -----

// The values of #plan.data_stage
// expected-error @below {{expected ::meshplan::plan::DataStage to be one of: replicated, optimizer, gradients, parameters}}
// expected-error @below {{failed to parse Plan_DataStageAttr parameter 'value' which is to be a `::meshplan::plan::DataStage`}}
plan.data all over [] prefetch 0 as "data dp"

// -----

// The values of #plan.loss_unit
// expected-error @below {{expected ::meshplan::plan::LossUnit to be one of: token, sequence}}
// expected-error @below {{failed to parse Plan_LossUnitAttr parameter 'value' which is to be a `::meshplan::plan::LossUnit`}}
plan.normalize_loss 0 per batch {}

// -----

// The values of #plan.optimizer_kind
// expected-error @below {{expected ::meshplan::plan::OptimizerKind to be one of: sgd, adam, adamw}}
// expected-error @below {{failed to parse Plan_OptimizerKindAttr parameter 'value' which is to be a `::meshplan::plan::OptimizerKind`}}
plan.optimizer lion groups [#plan.optimizer_group<lr = 1.0>]

// -----

// The values of #plan.nonfinite
// expected-error @below {{expected ::meshplan::plan::NonfiniteAction to be one of: skip, stop}}
// expected-error @below {{failed to parse Plan_NonfiniteActionAttr parameter 'value' which is to be a `::meshplan::plan::NonfiniteAction`}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0>] {nonfinite = #plan<nonfinite wait>}

// -----

// The values of #plan.routing_rule
// expected-error @below {{expected ::meshplan::plan::RoutingRule to be one of: reserve, capacity, bias}}
// expected-error @below {{failed to parse Plan_RoutingRuleAttr parameter 'value' which is to be a `::meshplan::plan::RoutingRule`}}
plan.routing drop 1.0 of "m" as "drop 1"

// -----

// M22
// expected-error @below {{'plan.routing' op states reserve 5.000000e-01, must be a number of at least 1}}
plan.routing reserve 0.5 of "m" as "reserve 0.5"

// -----

// M22: not finite
// expected-error @below {{'plan.routing' op states capacity INF, must be a number of at least 1}}
plan.routing capacity 0x7FF0000000000000 of "m" as "capacity inf"

// -----

// M22: a rate
// expected-error @below {{'plan.routing' op states bias 0.000000e+00, must be a number above 0}}
plan.routing bias 0.0 of "m" as "balance bias 0"

// -----

// M11
// expected-error @below {{'plan.loss' op names output -1, must be 0 or more}}
plan.loss -1

// -----

// M11: the other statement
// expected-error @below {{'plan.normalize_loss' op names output -2, must be 0 or more}}
plan.normalize_loss -2 per token

// -----

// M12
// expected-error @below {{'plan.microbatches' op splits the batch into 0 microbatches, must be at least 1}}
plan.microbatches 0

// -----

// M13
// expected-error @below {{'plan.precision' op states 'i32', which is not a floating-point type}}
plan.precision {master = f32, state = i32}

// -----

// M14
// expected-error @below {{'plan.optimizer' op clips to a norm of 0.000000e+00, must be positive}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0>] clip 0.0

// -----

// M15
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'plan.data' op has a bucket of -1 bytes, prefetches 0 units and divides by 1: must be 0 or more, 0 or more and at least 1}}
plan.data parameters over [#plan.axis<"dp">] bucket -1 prefetch 0 as "data dp"

// -----

// M15: the factor
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'plan.data' op has a bucket of 0 bytes, prefetches 0 units and divides by 0: must be 0 or more, 0 or more and at least 1}}
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {average_after = 0}

// -----

// A19
// expected-error @below {{a dim that no axis divides has block size 4, repeat count 1 and 0 parts, must have 1, 1 and none}}
func.func private @a19(tensor<8xf32, #plan.sharding<[{unit 4}]>>)

// -----

// A19: repeated blocks
// expected-error @below {{a dim that no axis divides has block size 1, repeat count 2 and 0 parts, must have 1, 1 and none}}
func.func private @a19(tensor<8xf32, #plan.sharding<[{?, repeat 2}]>>)

// -----

// A19: parts
// expected-error @below {{a dim that no axis divides has block size 1, repeat count 1 and 2 parts, must have 1, 1 and none}}
func.func private @a19(tensor<8xf32, #plan.sharding<[{parts [4, 4]}]>>)

// -----

// A20
// expected-error @below {{lr is -1.000000e+00, must be 0 or more}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = -1.0>]

// -----

// A20
// expected-error @below {{weight_decay is -1.000000e+00, must be 0 or more}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, weight_decay = -1.0>]

// -----

// A20
// expected-error @below {{beta1 is 1.000000e+00, must be 0 or more and below 1}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, beta1 = 1.0>]

// -----

// A20
// expected-error @below {{beta2 is -5.000000e-01, must be 0 or more and below 1}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, beta2 = -0.5>]

// -----

// A20
// expected-error @below {{eps is -1.000000e+00, must be 0 or more}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, eps = -1.0>]

// -----

// A20
// expected-error @below {{momentum is -1.000000e+00, must be 0 or more}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, momentum = -1.0>]

// -----

// A20
// expected-error @below {{a number of a group is INF, must be finite}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, dampening = 0x7FF0000000000000 : f64>]

// -----

// A20
// expected-error @below {{nesterov with momentum 0.000000e+00 and dampening 0.000000e+00, must have a momentum above 0 and no dampening}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, nesterov = true>]

// -----

// A20
// expected-error @below {{nesterov with momentum 5.000000e-01 and dampening 1.000000e+00, must have a momentum above 0 and no dampening}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0, momentum = 0.5, dampening = 1.0, nesterov = true>]

// -----

// A13: infinite
// expected-error @below {{loss scale begins as INF, must be finite and positive}}
plan.precision {loss_scale = #plan.loss_scale<initial = 0x7FF0000000000000 : f64>}

// -----

// A15: infinite
// expected-error @below {{gain is INF, must be finite and positive}}
module attributes {test.attr = #plan.init_rule<rule = xavier_normal, gain = 0x7FF0000000000000 : f64, fan = in, text = "xavier normal", location = loc(unknown)>} {}

// -----

// A21
// expected-error @below {{set -1 of at most 64 bytes, both must be 0 or more}}
module attributes {test.attr = #plan.mergeable<set = -1, most = 64>} {}

// -----

// A21: the bytes
// expected-error @below {{set 1 of at most -64 bytes, both must be 0 or more}}
module attributes {test.attr = #plan.mergeable<set = 1, most = -64>} {}

// -----

// A22
// expected-error @below {{unit -1 is gathered 1 units ahead, both must be 0 or more}}
module attributes {test.attr = #plan.prefetch<unit = -1, ahead = 1>} {}

// -----

// A22: the distance
// expected-error @below {{unit 1 is gathered -1 units ahead, both must be 0 or more}}
module attributes {test.attr = #plan.prefetch<unit = 1, ahead = -1>} {}

// -----

// The values of #plan.init_rule
// expected-error @below {{expected ::meshplan::plan::InitRule to be one of: kaiming_uniform, kaiming_normal, xavier_uniform, xavier_normal}}
// expected-error @below {{failed to parse Plan_InitRuleAttr parameter 'rule' which is to be a `::meshplan::plan::InitRule`}}
module attributes {test.attr = #plan.init_rule<rule = lecun_normal, gain = 1.0, fan = in, text = "", location = loc(unknown)>} {}

// -----

// The values of #plan.init_rule, the features
// expected-error @below {{expected ::meshplan::plan::FanKind to be one of: in, out}}
// expected-error @below {{failed to parse Plan_InitRuleAttr parameter 'fan' which is to be a `::meshplan::plan::FanKind`}}
module attributes {test.attr = #plan.init_rule<rule = xavier_normal, gain = 1.0, fan = both, text = "", location = loc(unknown)>} {}

// -----

// The reductions of #plan.sharding
// expected-error @below {{unknown reduction 'mean', expected sum, max or min}}
func.func private @reduction(tensor<4xf32, #plan.sharding<[{}], partial = mean {"tp"}>>)

// -----

// M16
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.style' op names axis "tp" twice}}
plan.style "a" colwise [#plan.axis<"tp">, #plan.axis<"tp">] as "colwise tp"

// -----

// M16: digits that overlap
plan.mesh [#base.mesh_axis<"tp" = 8>]
// expected-error @below {{'plan.data' op names axis "tp" twice}}
plan.data replicated over [#plan.axis<"tp":(1)4>, #plan.axis<"tp":(2)2>] prefetch 0 as "data tp"

// -----

// M16: a border
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.border' op names axis "tp" twice}}
plan.border "a" is_input true index 0 <[{}]> exact true along [#plan.axis<"tp">, #plan.axis<"tp">] as "input replicate"

// -----

// M16: a layout
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.constrain' op names axis "tp" twice}}
  %0 = plan.constrain %x <[{}]> along [#plan.axis<"tp">, #plan.axis<"tp">] as "x" : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// M3: the axes of a layout
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.constrain' op unknown axis "dp"}}
  %0 = plan.constrain %x <[{}]> along [#plan.axis<"dp">] as "x" : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// M3: the flat axes of a gradient
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.match' op unknown axis "dp"}}
  %0 = plan.match %x to %x flat [#plan.axis<"dp">] : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// M17
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.style' op divides dim -1, must be 0 or more}}
plan.style "a" sequence [#plan.axis<"tp">] as "sequence tp" {dim = -1 : i64}

// -----

// M17: a part
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.style' op has a part of size 0, must be positive}}
plan.style "a" colwise [#plan.axis<"tp">] as "colwise tp" {parts = array<i64: 1, 0>}

// -----

// M18
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.border' op is about value -1, must be 0 or more}}
plan.border "a" is_input true index -1 <[{}]> exact true along [] as "input replicate"

// -----

// M18: an extent
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'plan.border' op has a dim of size -4, must be 0 or more}}
plan.border "a" is_input true index 0 <[{}]> exact true along [] as "input [n]" {names = ["n"], extents = array<i64: -4>}

// -----

// M19
// expected-error @below {{'plan.recompute' op keeps an operator without a name}}
plan.recompute "layers.0" keep ["linear", ""]

// -----

// M19: twice
// expected-error @below {{'plan.recompute' op keeps "linear" twice}}
plan.recompute "layers.0" keep ["linear", "attention", "linear"]

// -----

// M20
// expected-note @below {{the first one is here}}
plan.loss 0
// expected-error @below {{'plan.loss' op must be the only one of its module}}
plan.loss 0

// -----

// M20
// expected-note @below {{the first one is here}}
plan.microbatches 2
// expected-error @below {{'plan.microbatches' op must be the only one of its module}}
plan.microbatches 2

// -----

// M20
// expected-note @below {{the first one is here}}
plan.precision {reduce = f32}
// expected-error @below {{'plan.precision' op must be the only one of its module}}
plan.precision {reduce = f32}

// -----

// M20
// expected-note @below {{the first one is here}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0>]
// expected-error @below {{'plan.optimizer' op must be the only one of its module}}
plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0>]

// -----

// C4
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.call' op refers to result 1 of 1}}
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [#base.local<0, result 1, dim 0, extent 1>]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// C4: the dim
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.call' op refers to dim 1 of operand 0, which has rank 1}}
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = #base.local<0, operand 0, dim 1, extent 1>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// C5
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.constrain' op changes the tensor from 'tensor<8xf32>' to 'tensor<9xf32>'}}
  %0 = plan.constrain %x <[{}]> along [#plan.axis<"tp">] as "x" : tensor<8xf32> -> tensor<9xf32>
  return
}

// -----

// C6
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.call' op has no target}}
  %0 = plan.call ""(%x) {self = #base.operand<0>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// R9
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{'plan.all_gather' op is in bucket -1, must be 0 or more}}
  %0 = plan.all_gather %x [#plan.axis<"tp">] dim 0 bucket -1 : tensor<8xf32, #plan.sharding<[{"tp"}]>> -> tensor<8xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R9
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) {
  // expected-error @below {{'plan.reduce_scatter' op is in bucket -1, must be 0 or more}}
  %0 = plan.reduce_scatter %x [#plan.axis<"tp">] dim 0 bucket -1 : tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<8xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R9
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>) {
  // expected-error @below {{'plan.all_reduce' op is in bucket -1, must be 0 or more}}
  %0 = plan.all_reduce %x [#plan.axis<"tp">] bucket -1 : tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<8xf32, #plan.sharding<[{}]>>
  return
}

// -----

// R10
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{'plan.permute' op unknown axis "dp"}}
  %0 = plan.permute %x [#plan.axis<"dp">] : tensor<8xf32, #plan.sharding<[{"tp"}]>> -> tensor<8xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// R10: twice
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32, #plan.sharding<[{"tp"}]>>) {
  // expected-error @below {{'plan.permute' op names axis "tp" twice}}
  %0 = plan.permute %x [#plan.axis<"tp">, #plan.axis<"tp">] : tensor<8xf32, #plan.sharding<[{"tp"}]>> -> tensor<8xf32, #plan.sharding<[{"tp"}]>>
  return
}

// -----

// T1: no microbatches
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'plan.enter_microbatch' op slices dim 0 of 'tensor<8xf32>' into 0 microbatches}}
  %0 = plan.enter_microbatch %x dim 0 of 0 : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// M13: each type
// expected-error @below {{'plan.precision' op states 'i8', which is not a floating-point type}}
plan.precision {compute = i8}

// -----

// M13
// expected-error @below {{'plan.precision' op states 'i8', which is not a floating-point type}}
plan.precision {storage = i8}

// -----

// M13
// expected-error @below {{'plan.precision' op states 'i8', which is not a floating-point type}}
plan.precision {gather = i8}

// -----

// M13
// expected-error @below {{'plan.precision' op states 'i8', which is not a floating-point type}}
plan.precision {reduce = i8}

// -----

// M13
// expected-error @below {{'plan.precision' op states 'i8', which is not a floating-point type}}
plan.precision {master = i8}

// -----

// B15
// expected-error @below {{a routed value with 3 dims of experts and tokens has rank 2, must be at least as many}}
func.func private @b15(tensor<8x4xf32, #plan.sharding<[{}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>)

// -----

// B15: counts
// expected-error @below {{a routed value with 2 dims of experts and tokens has rank 3, must be equal}}
func.func private @b15(tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}], routed = #base.routed<counts, dims = 2, slots = 2>>>)

// -----

// B16
// expected-error @below {{a token chooses 9 of 8 experts}}
func.func private @b16(tensor<8x4xf32, #plan.sharding<[{}, {}], routed = #base.routed<rows, dims = 2, slots = 9>>>)

// -----

// B17
// expected-error @below {{a routed value is flat: the number of its elements is not known before it is computed}}
func.func private @b17(tensor<8x4xf32, #plan.sharding<[{}, {}], flat = {"dp"}, routed = #base.routed<rows, dims = 2, slots = 2>>>)

// -----

// R11: rows to rows
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op turns 'tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>' into 'tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>', must turn rows into arrivals or the reverse}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: a tensor that is not routed
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}]>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op turns 'tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}]>>' into 'tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}]>>', must turn rows into arrivals or the reverse}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}]>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: counts
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4xi64, #plan.sharding<[{}, {"dp"}], routed = #base.routed<counts, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{must turn rows into arrivals or the reverse}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4xi64, #plan.sharding<[{}, {"dp"}], routed = #base.routed<counts, dims = 2, slots = 2>>> -> tensor<8x4xi64, #plan.sharding<[{"dp"}, {}], routed = #base.routed<counts, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: tokens that are whole
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op needs tokens that are divided over its axes, evenly over all but the last one, but the rows are 'tensor<8x4x6xf32}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: an axis of features
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {}, {"dp"}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op needs tokens that are divided over its axes, evenly over all but the last one, but the rows are 'tensor<8x4x6xf32}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {}, {"dp"}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: counts of another type
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi32, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op has counts of type 'tensor<2x8xi32, #plan.sharding<[{}, {}]>>', must be i64 [ranks, experts]}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi32, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: counts of another rank
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<8xi64, #plan.sharding<[{}]>>) {
  // expected-error @below {{must be i64 [ranks, experts]}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<8xi64, #plan.sharding<[{}]>>
  return
}

// -----

// R11: counts of other experts
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x4xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{must be i64 [ranks, experts]}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x4xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: counts of other ranks
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<4x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{must be i64 [ranks, experts]}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<4x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: arrivals that are whole
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op produces #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>, but its type is #plan.sharding<[{}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: tokens that move otherwise
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{but its type is #plan.sharding<[{"dp"}, {"tp"}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {"tp"}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: another number of slots
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{but its type is #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 3>>}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 3>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: another shape
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op changes the tensor from}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4xf32, #plan.sharding<[{"dp"}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: rows come back to other ranks
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op needs an input of layout #plan.sharding<[{"dp"}, {"tp"}, {}]}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{}, {"dp", "tp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: unequal shards of tokens, of which dp is not the last axis
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x5x6xf32, #plan.sharding<[{"dp"}, {"tp"}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op needs tokens that are divided over its axes, evenly over all but the last one, but the rows are 'tensor<8x5x6xf32}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">] : tensor<8x5x6xf32, #plan.sharding<[{"dp"}, {"tp"}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>> -> tensor<8x5x6xf32, #plan.sharding<[{}, {"dp", "tp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: an axis that the mesh does not have
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op unknown axis "ep"}}
  %0 = plan.exchange %x by %counts [#plan.axis<"ep">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}

// -----

// R11: an axis twice
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @f(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // expected-error @below {{'plan.exchange' op names axis "dp" twice}}
  %0 = plan.exchange %x by %counts [#plan.axis<"dp">, #plan.axis<"dp">] : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}
