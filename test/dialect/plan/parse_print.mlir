// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s | %meshplan-opt | FileCheck %s

// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 8>]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 8>]
// CHECK: plan.style "mlp.up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "mlp.up" colwise [#plan.axis<"tp">] as "colwise tp"
// CHECK: plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp dim 2" {dim = 2 : i64}
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp dim 2" {dim = 2 : i64}
// CHECK: plan.loss 3{{$}}
plan.loss 3
// CHECK: plan.optimizer adam groups [#plan.optimizer_group<lr = 1.000000e+00 : f64>, #plan.optimizer_group<lr = 1.000000e+00 : f64, weight_decay = 2.000000e+00 : f64, beta1 = 3.000000e-01 : f64, beta2 = 4.000000e-01 : f64, eps = 5.000000e+00 : f64, momentum = 6.000000e+00 : f64, dampening = 0.000000e+00 : f64, nesterov = true>]
plan.optimizer adam groups [#plan.optimizer_group<lr = 1.0>,
                            #plan.optimizer_group<nesterov = true, lr = 1.0, weight_decay = 2.0, beta1 = 0.3, beta2 = 0.4, eps = 5.0, momentum = 6.0, dampening = 0.0>]
// CHECK: plan.normalize_loss 3 per token{{$}}
plan.normalize_loss 3 per token
// CHECK: plan.normalize_loss 0 per sequence{{$}}
plan.normalize_loss 0 per sequence
// CHECK: plan.data parameters over [#plan.axis<"dp">] bucket 65536 prefetch 2 as "data dp" {overlap_gradients}
plan.data parameters over [#plan.axis<"dp">] bucket 65536 prefetch 2 as "data dp" {overlap_gradients}
// CHECK: plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_gradients, contiguous_parameters, register_buffers}
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_gradients, contiguous_parameters, register_buffers}
// CHECK: plan.data optimizer over [#plan.axis<"dp">] prefetch 1 as "data dp" {gather_in_step}
plan.data optimizer over [#plan.axis<"dp">] prefetch 1 as "data dp" {gather_in_step}
// CHECK: plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp"{{$}}
plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp"
// CHECK: plan.precision {gather = bf16, master = f32, reduce = f32, state = f16, storage = f64}
plan.precision {storage = f64, gather = bf16, reduce = f32, master = f32, state = f16}

// CHECK: plan.precision {compute = bf16, loss_scale = #plan.loss_scale<initial = 2.000000e+00 : f64, growth = 4.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 8>}
module { plan.precision {compute = bf16, loss_scale = #plan.loss_scale<initial = 2.0, growth = 4.0, backoff = 0.5, interval = 8>} }
// CHECK: plan.style "qkv" rowwise [#plan.axis<"tp":(1)2>] as "rowwise tp" {parts = array<i64: 2, 1, 1>}
plan.style "qkv" rowwise [#plan.axis<"tp":(1)2>] as "rowwise tp" {parts = array<i64: 2, 1, 1>}
// CHECK: plan.style "experts" expert [#plan.axis<"tp">] as "expert tp"{{$}}
plan.style "experts" expert [#plan.axis<"tp">] as "expert tp"
// CHECK: plan.style "experts" within [#plan.axis<"dp">] as "within dp"{{$}}
plan.style "experts" within [#plan.axis<"dp">] as "within dp"
// CHECK: plan.style "router" replicate [] as "replicate"{{$}}
plan.style "router" replicate [] as "replicate"
// CHECK: plan.border "up" is_input true index 1 <[{"tp"}, {}]> exact false along [#plan.axis<"tp">] as "input [n over tp, _]" {extents = array<i64: 4, 0>, names = ["n", ""]}
plan.border "up" is_input true index 1 <[{"tp"}, {}]> exact false along [#plan.axis<"tp">] as "input [n over tp, _]" {names = ["n", ""], extents = array<i64: 4, 0>}
// CHECK: plan.recompute "layers.0" keep ["attention", "linear"]
plan.recompute "layers.0" keep ["attention", "linear"]
// CHECK: plan.routing reserve 1.250000e+00 of "layers.0" as "reserve 1.25"
plan.routing reserve 1.25 of "layers.0" as "reserve 1.25"
// CHECK: plan.routing capacity 2.000000e+00 of "" as "capacity 2"
plan.routing capacity 2.0 of "" as "capacity 2"
// CHECK: plan.routing bias 1.000000e-03 of "layers.0" as "balance bias 0.001"
plan.routing bias 0.001 of "layers.0" as "balance bias 0.001"
// CHECK: plan.optimizer adamw groups [#plan.optimizer_group<lr = 1.000000e+00 : f64>] schedule <kind = linear, warmup = 1, steps = 8> clip 2.000000e+00 {nonfinite = #plan<nonfinite skip>}
module { plan.optimizer adamw groups [#plan.optimizer_group<lr = 1.0>] schedule <kind = linear, warmup = 1, steps = 8> clip 2.0 {nonfinite = #plan<nonfinite skip>} }
// CHECK: plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.000000e+00 : f64>] {nonfinite = #plan<nonfinite stop>}
module { plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0>] {nonfinite = #plan<nonfinite stop>} }
// CHECK: plan.data optimizer over [#plan.axis<"dp">] bucket 0 prefetch 0 as "data dp" {average_after = 2 : i64, offload_optimizer, offload_parameters, reduce_each}
plan.data optimizer over [#plan.axis<"dp">] bucket 0 prefetch 0 as "data dp" {reduce_each, average_after = 2, offload_parameters, offload_optimizer}

// CHECK-LABEL: func.func @shardings
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp":(1)2, "tp":(4)2}]>>
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{?}, {"dp", ?}], replicated = {"tp"}>>
// CHECK-SAME: tensor<4x80xf32, #plan.sharding<[{}, {"tp", parts [64 unit 16, 8 repeat 2, 8]}], partial = sum {"dp"}>>
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{"tp", unit 2, repeat 3}], partial = max {"dp"}>>
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{}], partial = min {"dp", "tp"}>>
func.func @shardings(%0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp":(1)2, "tp":(4)2}]>>,
                     %1: tensor<4x8xf32, #plan.sharding<[{?}, {"dp", ?}], replicated = {"tp"}>>,
                     %2: tensor<4x80xf32, #plan.sharding<[{}, {"tp", parts [64 unit 16, 8 repeat 2, 8]}], partial = sum {"dp"}>>,
                     %3: tensor<8xf32, #plan.sharding<[{"tp", unit 2, repeat 3}], partial = max {"dp"}>>,
                     %4: tensor<8xf32, #plan.sharding<[{}], partial = min {"dp", "tp"}>>) {
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
  // CHECK: plan.constant "c" dense<1.000000e+00> : tensor<16xf32> : tensor<16xf32>
  %c = plan.constant "c" dense<1.0> : tensor<16xf32> : tensor<16xf32>
  // CHECK: plan.constrain %{{.*}} <[{}, {"tp"}]> along [#plan.axis<"tp">] as "rowwise tp"
  %s = plan.constrain %x <[{}, {"tp"}]> along [#plan.axis<"tp">] as "rowwise tp" : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: plan.call "aten.linear.default"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} in "up"
  %y = plan.call "aten.linear.default"(%s, %w, %c)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  // CHECK: size = [#base.local<0, result 0, dim 0, extent 1>, #base.local<2, operand 0, dim 1, offset 3, extent -1>]
  %v = plan.call "aten.view.default"(%y)
      {self = #base.operand<0>,
       size = [#base.local<0, result 0, dim 0, extent 1>, #base.local<2, operand 0, dim 1, offset 3, extent -1>]}
      : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %v : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%0: tensor<4x16xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>) {
  // CHECK: plan.reduce_scatter %{{.*}} [#plan.axis<"tp">] dim 1 because "rowwise tp"
  %1 = plan.reduce_scatter %0 [#plan.axis<"tp">] dim 1 because "rowwise tp"
      : tensor<4x16xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>> -> tensor<4x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
  // CHECK: plan.all_gather %{{.*}} [#plan.axis<"dp">] dim 0 :
  %2 = plan.all_gather %1 [#plan.axis<"dp">] dim 0
      : tensor<4x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>> -> tensor<4x16xf32, #plan.sharding<[{}, {"tp"}]>>
  // CHECK: plan.slice %{{.*}} [#plan.axis<"dp">] dim 1 because "input split 1 over dp" :
  %3 = plan.slice %2 [#plan.axis<"dp">] dim 1 because "input split 1 over dp"
      : tensor<4x16xf32, #plan.sharding<[{}, {"tp"}]>> -> tensor<4x16xf32, #plan.sharding<[{}, {"tp", "dp"}]>>
  // CHECK: plan.all_to_all %{{.*}} [#plan.axis<"dp">] from 1 to 0 because "sequence tp" :
  %4 = plan.all_to_all %3 [#plan.axis<"dp">] from 1 to 0 because "sequence tp"
      : tensor<4x16xf32, #plan.sharding<[{}, {"tp", "dp"}]>> -> tensor<4x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
  // CHECK: plan.permute %{{.*}} [#plan.axis<"tp":(1)2>, #plan.axis<"dp">] because "rowwise tp" :
  %5 = plan.permute %2 [#plan.axis<"tp":(1)2>, #plan.axis<"dp">] because "rowwise tp"
      : tensor<4x16xf32, #plan.sharding<[{}, {"tp"}]>> -> tensor<4x16xf32, #plan.sharding<[{}, {"dp", "tp":(2)4}]>>
  // CHECK: plan.reshard %{{.*}} because "replicate" :
  %6 = plan.reshard %5 because "replicate"
      : tensor<4x16xf32, #plan.sharding<[{}, {"dp", "tp":(2)4}]>> -> tensor<4x16xf32, #plan.sharding<[{}, {}]>>
  return
}

// CHECK-LABEL: func.func @gradients
func.func @gradients(%g: tensor<4x8xf32>, %x: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>) -> tensor<4x8xf32> {
  // CHECK: plan.match %{{.*}} to %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>> -> tensor<4x8xf32>
  %0 = plan.match %g to %x : tensor<4x8xf32>, tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>> -> tensor<4x8xf32>
  // CHECK: plan.call "aten.neg.default"(%{{.*}}) {self = #base.operand<0>} in "up" backward :
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} in "up" backward : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: plan.call "aten.neg.default"(%{{.*}}) {self = #base.operand<0>} backward :
  %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @routed
// CHECK-SAME: tensor<8x4x6xf32, #plan.sharding<[{"tp"}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>
// CHECK-SAME: tensor<8x4xi64, #plan.sharding<[{}, {}], partial = sum {"tp"}, replicated = {"dp"}, routed = #base.routed<counts, dims = 2, slots = 8>>>
func.func @routed(%0: tensor<8x4x6xf32, #plan.sharding<[{"tp"}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>,
                  %1: tensor<8x4xi64, #plan.sharding<[{}, {}], partial = sum {"tp"}, replicated = {"dp"}, routed = #base.routed<counts, dims = 2, slots = 8>>>) {
  return
}

// CHECK-LABEL: func.func @flat
// CHECK-SAME: tensor<8x8xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>>
// CHECK-SAME: tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}, flat = {"dp"}>>
// CHECK-SAME: tensor<8x8xf32, #plan.sharding<[{?}, {}], replicated = {"tp"}, flat = {"dp"}>>
func.func @flat(%0: tensor<8x8xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>>,
                %1: tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}, flat = {"dp"}>>,
                %2: tensor<8x8xf32, #plan.sharding<[{?}, {}], replicated = {"tp"}, flat = {"dp"}>>,
                %summed: tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>) {
  // CHECK: plan.all_gather %{{.*}} [#plan.axis<"dp">] bucket 3 blocking because "data dp" :
  %3 = plan.all_gather %0 [#plan.axis<"dp">] bucket 3 blocking because "data dp"
      : tensor<8x8xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>> -> tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>
  // CHECK: plan.all_reduce %{{.*}} [#plan.axis<"tp">] :{{.*}} into %[[A:.*]] : tensor<
  %in_place = plan.all_reduce %1 [#plan.axis<"tp">]
      : tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}, flat = {"dp"}>> -> tensor<8x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>> into %1 : tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}, flat = {"dp"}>>
  // CHECK: plan.all_reduce %{{.*}} [#plan.axis<"tp">] bucket 0 blocking because "data dp" :
  %4 = plan.all_reduce %1 [#plan.axis<"tp">] bucket 0 blocking because "data dp"
      : tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}, flat = {"dp"}>> -> tensor<8x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
  // CHECK: plan.slice %{{.*}} [#plan.axis<"dp">] :
  %5 = plan.slice %3 [#plan.axis<"dp">]
      : tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>> -> tensor<8x8xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>>
  // CHECK: plan.reduce_scatter %{{.*}} [#plan.axis<"tp">] bucket 1 blocking because "data dp" :
  %scattered = plan.reduce_scatter %summed [#plan.axis<"tp">] bucket 1 blocking because "data dp"
      : tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>> -> tensor<8x8xf32, #plan.sharding<[{}, {}], flat = {"tp"}>>
  // CHECK: plan.match %{{.*}} to %{{.*}} flat [#plan.axis<"dp">] :
  %6 = plan.match %3 to %3 flat [#plan.axis<"dp">] : tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>, tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>
      -> tensor<8x8xf32>
  return
}

// CHECK: plan.microbatches 3 mean
plan.microbatches 3 mean

// CHECK-LABEL: func.func @microbatches
func.func @microbatches(%x: tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>>, %y: tensor<12xf32>) {
  // CHECK: plan.enter_microbatch %{{.*}} dim 0 of 3 : tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>> -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
  %0 = plan.enter_microbatch %x dim 0 of 3 : tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>> -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
  // CHECK: plan.leave_microbatch %{{.*}} as "microbatches 3 mean" : tensor<12xf32> -> tensor<12xf32>
  %1 = plan.leave_microbatch %y as "microbatches 3 mean" : tensor<12xf32> -> tensor<12xf32>
  return
}

// Attributes that no op above has, or not in every form.
// CHECK: module attributes {test.attr = [
// CHECK-SAME: #plan.axis<"tp">, #plan.axis<"tp":(2)4>, #plan.dim<{"dp", "tp", unit 4, repeat 3, ?}>,
// CHECK-SAME: #plan.kind<parameter>, #plan.kind<buffer>, #plan.kind<input>, #plan.kind<setting>, #plan.kind<state>, #plan.kind<accumulator>,
// CHECK-SAME: #plan.stand_in<first_operand>, #plan.stand_in<second_operand>, #plan.stand_in<ones>,
// CHECK-SAME: #plan.init_rule<rule = kaiming_uniform, gain = 1.000000e+00 : f64, fan = out, text = "kaiming uniform", location = {{[^>]*}}>,
// CHECK-SAME: #plan.init_rule<rule = xavier_uniform, gain = 1.000000e+00 : f64, fan = in, text = "xavier uniform", location = {{[^>]*}}>,
// CHECK-SAME: #plan.init_rule<rule = xavier_normal, gain = 2.000000e+00 : f64, fan = in, text = "xavier normal gain 2", location = {{[^>]*}}>,
// CHECK-SAME: #plan<style_kind colwise>, #plan<data_stage gradients>, #plan<loss_unit token>, #plan<optimizer_kind adamw>, #plan<nonfinite stop>, #plan<routing_rule capacity>,
// CHECK-SAME: #plan.storage<name = "all", position = 1>, #plan.loss_scale<initial = 2.000000e+00 : f64>,
// CHECK-SAME: #plan.cause<"tp" because "rowwise tp" at {{[^>]*}}>, #plan.cause<"tp" at {{[^>]*}}>]} {
module attributes {test.attr = [
  #plan.axis<"tp">, #plan.axis<"tp":(2)4>, #plan.dim<{?, repeat 3, unit 4, "dp", "tp"}>,
  #plan.kind<parameter>, #plan.kind<buffer>, #plan.kind<input>, #plan.kind<setting>, #plan.kind<state>, #plan.kind<accumulator>,
  #plan.stand_in<first_operand>, #plan.stand_in<second_operand>, #plan.stand_in<ones>,
  #plan.init_rule<rule = kaiming_uniform, gain = 1.0, fan = out, text = "kaiming uniform", location = loc("a.plan":7:3)>,
  #plan.init_rule<rule = xavier_uniform, gain = 1.0, fan = in, text = "xavier uniform", location = loc(unknown)>,
  #plan.init_rule<rule = xavier_normal, gain = 2.0, fan = in, text = "xavier normal gain 2", location = loc(unknown)>,
  #plan<style_kind colwise>, #plan<data_stage gradients>, #plan<loss_unit token>, #plan<optimizer_kind adamw>, #plan<nonfinite stop>, #plan<routing_rule capacity>,
  #plan.storage<name = "all", position = 1>, #plan.loss_scale<initial = 2.0>,
  #plan.cause<"tp" because "rowwise tp" at loc("a.plan":7:3)>, #plan.cause<"tp" at loc(unknown)>]} {}

// Rows go to the ranks of their experts, and come back.
module {
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-LABEL: func.func @exchange
func.func @exchange(%0: tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>,
                    %counts: tensor<2x8xi64, #plan.sharding<[{}, {}]>>) {
  // CHECK: %[[A:.*]] = plan.exchange %{{.*}} by %{{.*}} [#plan.axis<"dp">] because "expert dp" : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>> -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  %1 = plan.exchange %0 by %counts [#plan.axis<"dp">] because "expert dp"
    : tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>
    -> tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  // CHECK: plan.exchange %[[A]] by %{{.*}} [#plan.axis<"dp">] : {{.*}}routed = #base.routed<arrivals{{.*}} -> {{.*}}routed = #base.routed<rows
  %2 = plan.exchange %1 by %counts [#plan.axis<"dp">]
    : tensor<8x4x6xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<arrivals, dims = 2, slots = 2>>>
    -> tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 2, slots = 2>>>, tensor<2x8xi64, #plan.sharding<[{}, {}]>>
  return
}
}
