// RUN: meshplan-opt %s | meshplan-opt | FileCheck %s

// CHECK: sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 6>]
sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 6>]
// CHECK: sched.communicator @tp over [#sched.axis<1:(1)6>]
sched.communicator @tp over [#sched.axis<1:(1)6>]
// CHECK: sched.communicator @inner over [#sched.axis<0:(1)2>, #sched.axis<1:(3)2>]
sched.communicator @inner over [#sched.axis<0:(1)2>, #sched.axis<1:(3)2>]

// CHECK: sched.program @forward memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4> {
sched.program @forward memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4> {
  // CHECK: %[[W:.*]] = sched.parameter ["w", "tied"] trainable : <[24 over {1:(1)6} unit 4, 8], f32>
  %w = sched.parameter ["w", "tied"] trainable : <[24 over {1:(1)6} unit 4, 8], f32>
  // CHECK: sched.parameter ["stacked"] pieces <before = ["e."], after = [".w"], sizes = [8], dim = 1, count = 24> : <[24, 8], f32>
  %k = sched.parameter ["stacked"] pieces <before = ["e."], after = [".w"], sizes = [8], dim = 1, count = 24> : <[24, 8], f32>
  // CHECK: sched.parameter ["fused"] : <[24 over {1:(1)2} parts [16, 8]], bf16>
  %f = sched.parameter ["fused"] : <[24 over {1:(1)2} parts [16, 8]], bf16>
  // CHECK: sched.constant "c" dense<[true, false]> : tensor<2xi1> : <[2], i1>
  %c = sched.constant "c" dense<[true, false]> : tensor<2xi1> : <[2], i1>
  // CHECK: %[[X:.*]] = sched.input "x" dims ["batch", ""] : <[4 over {0:(1)2}, 8], f32>
  %x = sched.input "x" dims ["batch", ""] : <[4 over {0:(1)2}, 8], f32>
  // CHECK: sched.input "n" : <[], i64>
  %n = sched.input "n" : <[], i64>
  // CHECK: %[[Y:.*]] = sched.compute "aten.op"(%[[X]], %[[W]])
  // CHECK-SAME: {dtype = bf16, list = [#base.operand<0>, unit],
  // CHECK-SAME: n = #base.local<1, operand 1, dim 0, offset -1>, size = [4, #base.local<0, result 0, dim 1, extent 2>],
  // CHECK-SAME: x = #base.operand<1>} in "layers.0"
  // CHECK-SAME: -> !sched.tensor<[4 over {0:(1)2}, 24], f32, partial = sum {1:(1)6}>
  %y = sched.compute "aten.op"(%x, %w) {list = [#base.operand<0>, unit], x = #base.operand<1>, dtype = bf16,
      n = #base.local<1, operand 1, dim 0, offset -1>, size = [4, #base.local<0, result 0, dim 1, extent 2>]}
      in "layers.0"
    : (!sched.tensor<[4 over {0:(1)2}, 8], f32>, !sched.tensor<[24 over {1:(1)6} unit 4, 8], f32>)
    -> !sched.tensor<[4 over {0:(1)2}, 24], f32, partial = sum {1:(1)6}>
  // CHECK: %[[T:.*]] = sched.start reduce_scatter %[[Y]] dim 1 over @tp sequence 0 because "rowwise tp" in "layers.0"
  %t = sched.start reduce_scatter %y dim 1 over @tp sequence 0 because "rowwise tp" in "layers.0"
    : !sched.tensor<[4 over {0:(1)2}, 24], f32, partial = sum {1:(1)6}> -> <!sched.tensor<[4 over {0:(1)2}, 24 over {1:(1)6}], f32>>
  // CHECK: %[[Z:.*]] = sched.wait %[[T]] : !sched.token<!sched.tensor<[4 over {0:(1)2}, 24 over {1:(1)6}], f32>>
  %z = sched.wait %t : !sched.token<!sched.tensor<[4 over {0:(1)2}, 24 over {1:(1)6}], f32>>
  // CHECK: sched.free %[[Y]]
  sched.free %y : !sched.tensor<[4 over {0:(1)2}, 24], f32, partial = sum {1:(1)6}>
  // CHECK: %[[U:.*]] = sched.start all_to_all %[[Z]] from 1 dim 0 over @tp
  %u = sched.start all_to_all %z from 1 dim 0 over @tp sequence 1
    : !sched.tensor<[4 over {0:(1)2}, 24 over {1:(1)6}], f32> -> <!sched.tensor<[4 over {0:(1)2, 1:(1)6}, 24], f32>>
  // CHECK: sched.wait %[[U]]
  %v = sched.wait %u : !sched.token<!sched.tensor<[4 over {0:(1)2, 1:(1)6}, 24], f32>>
  sched.free %z : !sched.tensor<[4 over {0:(1)2}, 24 over {1:(1)6}], f32>
  // CHECK: sched.slice %[[X]] : <[4 over {0:(1)2}, 8], f32> -> <[4 over {0:(1)2}, 8 over {1:(1)2}], f32>
  %s = sched.slice %x : <[4 over {0:(1)2}, 8], f32> -> <[4 over {0:(1)2}, 8 over {1:(1)2}], f32>
  // CHECK: sched.output "v"
  sched.output "v" %v : <[4 over {0:(1)2, 1:(1)6}, 24], f32>
  sched.output "s" %s : <[4 over {0:(1)2}, 8 over {1:(1)2}], f32>
}

// CHECK: sched.program @step role <step> memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, states = 8> {
sched.program @step role <step> memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, states = 8> {
  %w = sched.parameter ["w"] trainable : <[8], f32>
  %g = sched.input "g" : <[8], f32>
  // CHECK: %[[M:.*]] = sched.state "w.momentum_buffer" of "w" : <[8], f32>
  %m = sched.state "w.momentum_buffer" of "w" : <[8], f32>
  // CHECK: sched.setting "optimizer.lr" 1.000000e-01 schedule <kind = linear, steps = 9> : <[], f64>
  %r = sched.setting "optimizer.lr" 1.000000e-01 schedule <kind = linear, steps = 9> : <[], f64>
  // CHECK: sched.setting "step" 1.000000e+00 : <[], f64>
  %n = sched.setting "step" 1.000000e+00 : <[], f64>
  // CHECK: sched.gradient %[[G:.*]] of %[[W:.*]] : <[8], f32> of <[8], f32>
  sched.gradient %g of %w : <[8], f32> of <[8], f32>
  // CHECK: %[[U:.*]]:2 = sched.compute "meshplan.op"({{.*}}) {{.*}} overwrites [0, 2]
  %u:2 = sched.compute "meshplan.op"(%w, %g, %m, %r, %n) {a = #base.operand<0>, b = #base.operand<1>, c = #base.operand<2>,
      d = #base.operand<3>, e = #base.operand<4>} overwrites [0, 2]
    : (!sched.tensor<[8], f32>, !sched.tensor<[8], f32>, !sched.tensor<[8], f32>, !sched.tensor<[], f64>, !sched.tensor<[], f64>)
    -> (!sched.tensor<[8], f32>, !sched.tensor<[8], f32>)
  // CHECK: sched.update %[[U]]#1 to %[[M]] : <[8], f32> to <[8], f32>
  sched.update %u#0 to %w : <[8], f32> to <[8], f32>
  sched.update %u#1 to %m : <[8], f32> to <[8], f32>
}

// CHECK: sched.program @flat {
sched.program @flat {
  // CHECK: %[[W:.*]] = sched.parameter ["w"] trainable : <[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>
  %w = sched.parameter ["w"] trainable : <[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>
  %b = sched.parameter ["b"] trainable : <[8], f32, flat = {0:(1)2}>
  // CHECK: sched.state "w.master" of "w" copies : <[24 over {1:(1)6}, 8], f64, flat = {0:(1)2}>
  %m = sched.state "w.master" of "w" copies : <[24 over {1:(1)6}, 8], f64, flat = {0:(1)2}>
  // CHECK: %[[P:.*]] = sched.pack %[[W]], %{{.*}} : !sched.packed<<[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>, <[8], f32, flat = {0:(1)2}>>
  %p = sched.pack %w, %b : !sched.packed<<[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>, <[8], f32, flat = {0:(1)2}>>
  // CHECK: %[[T:.*]] = sched.start all_gather %[[P]] over @tp sequence 0 because "data dp" :
  // CHECK-SAME: !sched.packed<<[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>, <[8], f32, flat = {0:(1)2}>> -> <!sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>>
  %t = sched.start all_gather %p over @tp sequence 0 because "data dp"
    : !sched.packed<<[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>, <[8], f32, flat = {0:(1)2}>> -> <!sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>>
  // CHECK: %[[R:.*]] = sched.wait %[[T]] : !sched.token<!sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>>
  // CHECK: %[[Y:.*]]:2 = sched.unpack %[[R]] : !sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>
  %y:2 = sched.unpack %r : !sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>
  // CHECK: sched.free %[[P]], %[[R]] : !sched.packed<<[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>, <[8], f32, flat = {0:(1)2}>>, !sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>
  sched.free %p, %r : !sched.packed<<[24 over {1:(1)6}, 8], f32, flat = {0:(1)2}>, <[8], f32, flat = {0:(1)2}>>, !sched.packed<<[24 over {1:(1)6}, 8], f32>, <[8], f32>>
  // CHECK: sched.output "y" %[[Y]]#1
  sched.output "y" %y#1 : <[8], f32>
  sched.free %y#0 : !sched.tensor<[24 over {1:(1)6}, 8], f32>
}

// CHECK: sched.program @buffers {
sched.program @buffers {
  // CHECK: %[[A:.*]] = sched.state "a.gradient" scratch : <[8], f32, partial = sum {0:(1)2}>
  %a = sched.state "a.gradient" scratch : <[8], f32, partial = sum {0:(1)2}>
  // CHECK: %[[B:.*]] = sched.state "sum" : <[4], f32, partial = sum {0:(1)2}>
  %b = sched.state "sum" : <[4], f32, partial = sum {0:(1)2}>
  // CHECK: sched.buffer "gradients" %[[A]], %[[B]] registered : !sched.tensor<[8], f32, partial = sum {0:(1)2}>, !sched.tensor<[4], f32, partial = sum {0:(1)2}>
  sched.buffer "gradients" %a, %b registered : !sched.tensor<[8], f32, partial = sum {0:(1)2}>, !sched.tensor<[4], f32, partial = sum {0:(1)2}>
  // CHECK: %[[P:.*]] = sched.pack %[[A]], %[[B]] in_place : !sched.packed<<[8], f32, partial = sum {0:(1)2}>, <[4], f32, partial = sum {0:(1)2}>>
  %p = sched.pack %a, %b in_place : !sched.packed<<[8], f32, partial = sum {0:(1)2}>, <[4], f32, partial = sum {0:(1)2}>>
  // CHECK: %[[T:.*]] = sched.start all_reduce %[[P]] over @tp sequence 0 :
  // CHECK-SAME: -> <!sched.packed<<[8], f32>, <[4], f32>>> into %[[P]] : !sched.packed<<[8], f32, partial = sum {0:(1)2}>, <[4], f32, partial = sum {0:(1)2}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[8], f32, partial = sum {0:(1)2}>, <[4], f32, partial = sum {0:(1)2}>> -> <!sched.packed<<[8], f32>, <[4], f32>>> into %p : !sched.packed<<[8], f32, partial = sum {0:(1)2}>, <[4], f32, partial = sum {0:(1)2}>>
  %w = sched.wait %t : !sched.token<!sched.packed<<[8], f32>, <[4], f32>>>
  // CHECK: sched.unpack %{{.*}} in_place : !sched.packed<<[8], f32>, <[4], f32>>
  %r:2 = sched.unpack %w in_place : !sched.packed<<[8], f32>, <[4], f32>>
  sched.free %p, %w : !sched.packed<<[8], f32, partial = sum {0:(1)2}>, <[4], f32, partial = sum {0:(1)2}>>, !sched.packed<<[8], f32>, <[4], f32>>
  sched.output "a" %r#0 : <[8], f32>
  sched.output "b" %r#1 : <[4], f32>
}

// CHECK: sched.program @reference role <reference> devices [#base.mesh_axis<"rank" = 1>] {
sched.program @reference role <reference> devices [#base.mesh_axis<"rank" = 1>] {
}

// CHECK: sched.program @host memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, host_parameters = 6, host_states = 7, host_peak = 13> {
sched.program @host memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, host_parameters = 6, host_states = 7, host_peak = 13> {
  // CHECK: %[[W:.*]] = sched.parameter ["w"] trainable host : <[8], f32>
  %w = sched.parameter ["w"] trainable host : <[8], f32>
  // CHECK: sched.state "w.master" of "w" copies host : <[8], f32>
  %m = sched.state "w.master" of "w" copies host : <[8], f32>
  // CHECK: sched.compute "meshplan.op"(%{{.*}}) {self = #base.operand<0>} in "model.norm" host :
  %o = sched.compute "meshplan.op"(%w) {self = #base.operand<0>} in "model.norm" host : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
  sched.free %o : !sched.tensor<[8], f32>
  // CHECK: %[[T:.*]] = sched.copy %[[W]] sequence 0 in "model.norm" : <[8], f32> -> <!sched.tensor<[8], f32>>
  %t = sched.copy %w sequence 0 in "model.norm" : <[8], f32> -> <!sched.tensor<[8], f32>>
  // CHECK: %[[C:.*]] = sched.wait %[[T]] : !sched.token<!sched.tensor<[8], f32>>
  %c = sched.wait %t : !sched.token<!sched.tensor<[8], f32>>
  // CHECK: sched.copy %[[C]] host sequence 1 : <[8], f32> -> <!sched.tensor<[8], f32>> into %[[M:.*]] : !sched.tensor<[8], f32>
  %u = sched.copy %c host sequence 1 : <[8], f32> -> <!sched.tensor<[8], f32>> into %m : !sched.tensor<[8], f32>
  %h = sched.wait %u : !sched.token<!sched.tensor<[8], f32>>
  sched.free %c : !sched.tensor<[8], f32>
  // CHECK: sched.update %{{.*}} to
  sched.update %h to %m : <[8], f32> to <[8], f32>
}

// CHECK: sched.program @eval.count0 role <microbatch> {
sched.program @eval.count0 role <microbatch> {
  // CHECK: sched.parameter ["w"] trainable init <kind = uniform, low = -1.000000e+00 : f64, high = 1.000000e+00 : f64> : <[8], f32>
  %w = sched.parameter ["w"] trainable init <kind = uniform, low = -1.0 : f64, high = 1.0 : f64> : <[8], f32>
  // CHECK: sched.parameter ["b"] buffer init <kind = given, elements = dense<[1, 2]> : tensor<2xi64>> : <[2], i64>
  %b = sched.parameter ["b"] buffer init <kind = given, elements = dense<[1, 2]> : tensor<2xi64>> : <[2], i64>
}

// CHECK: sched.program @eval role <eval> timeline [#base.instance<@eval.count0, 0>, #base.instance<@eval, 0>, #base.instance<@eval, 1>] {
sched.program @eval role <eval> timeline [#base.instance<@eval.count0, 0>, #base.instance<@eval, 0>, #base.instance<@eval, 1>] {
  %x = sched.input "x" : <[12], f32>
  %z = sched.input "z" : <[4, 6 over {1:(1)6}, 8], f32>
  // CHECK: %[[S:.*]] = sched.slice %{{.*}} when last :
  %s = sched.slice %x when last : <[12], f32> -> <[12 over {1:(1)6}], f32>
  // CHECK: %[[P:.*]] = sched.pack %{{.*}} when last :
  %p = sched.pack %z when last : !sched.packed<<[4, 6 over {1:(1)6}, 8], f32>>
  // CHECK: %[[T:.*]] = sched.start all_gather %[[P]] dim 1 over @tp sequence 0 when last :
  %t = sched.start all_gather %p dim 1 over @tp sequence 0 when last
    : !sched.packed<<[4, 6 over {1:(1)6}, 8], f32>> -> <!sched.packed<<[4, 6, 8], f32>>>
  // CHECK: %[[G:.*]] = sched.wait %[[T]] when last :
  %g = sched.wait %t when last : !sched.token<!sched.packed<<[4, 6, 8], f32>>>
  // CHECK: %[[U:.*]] = sched.unpack %[[G]] when last :
  %u = sched.unpack %g when last : !sched.packed<<[4, 6, 8], f32>>
  // CHECK: %[[N:.*]] = sched.compute "aten.neg.default"(%[[U]]) {self = #base.operand<0>} when last :
  %n = sched.compute "aten.neg.default"(%u) {self = #base.operand<0>} when last : (!sched.tensor<[4, 6, 8], f32>) -> !sched.tensor<[4, 6, 8], f32>
  // CHECK: sched.free %[[S]], %[[P]], %[[G]], %[[U]], %[[N]] when last :
  sched.free %s, %p, %g, %u, %n when last : !sched.tensor<[12 over {1:(1)6}], f32>, !sched.packed<<[4, 6 over {1:(1)6}, 8], f32>>, !sched.packed<<[4, 6, 8], f32>>, !sched.tensor<[4, 6, 8], f32>, !sched.tensor<[4, 6, 8], f32>
}

// A run looks for its step by the role, so that a module has one.
module {
sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<1:(1)6>]
// CHECK: sched.program @deferring role <step> timeline [#base.instance<@deferring, 0>, #base.instance<@deferring, 1>] {
sched.program @deferring role <step> timeline [#base.instance<@deferring, 0>, #base.instance<@deferring, 1>] {
  %x = sched.input "x" : <[12 over {1:(1)6}], f32>
  // CHECK: sched.resume 2
  sched.resume 2
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {1:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  // CHECK: %[[W:.*]] = sched.wait %{{.*}} when deferred :
  %w = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  // CHECK: sched.free %[[W]] when deferred :
  sched.free %w when deferred : !sched.tensor<[12], f32>
}
}

module {
sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<1:(1)6>]
// CHECK: sched.program @guarded role <step> guard <stops = false, growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 3>
// CHECK-SAME: memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, accumulators = 9, evaluation = 8, least_evaluation = 7>
// CHECK-SAME: time <compute = 1, communication = 2, copies = 3>
// CHECK-SAME: peak <"end" in "" : <what = "layers.*.w", module = "layers.*", count = 2, bytes = 16>, <what = "input x", module = "", count = 1, bytes = 8>> {
sched.program @guarded role <step> guard <stops = false, growth = 2.0, backoff = 0.5, interval = 3>
    memory <parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, accumulators = 9, evaluation = 8, least_evaluation = 7>
    time <compute = 1, communication = 2, copies = 3>
    peak <"end" in "" : <what = "layers.*.w", module = "layers.*", count = 2, bytes = 16>, <what = "input x", module = "", count = 1, bytes = 8>> {
  // CHECK: %[[X:.*]] = sched.input "x" : <[12 over {1:(1)6}], f32>
  %x = sched.input "x" : <[12 over {1:(1)6}], f32>
  // CHECK: sched.start permute %[[X]] over @tp sequence 0 because "rowwise tp" in "up" :
  %t = sched.start permute %x over @tp sequence 0 because "rowwise tp" in "up"
    : !sched.tensor<[12 over {1:(1)6}], f32> -> <!sched.tensor<[12 over {1:(2)3, 1:(1)2}], f32>>
  %y = sched.wait %t : !sched.token<!sched.tensor<[12 over {1:(2)3, 1:(1)2}], f32>>
  %a = sched.input "a" : <[], f32, partial = sum {0:(1)2}>
  // CHECK: sched.start all_reduce %{{.*}} over @tp sequence 1 activations bf16 :
  %u = sched.start all_reduce %a over @tp sequence 1 activations bf16
    : !sched.tensor<[], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[], f32>>
  %l = sched.wait %u : !sched.token<!sched.tensor<[], f32>>
  sched.output "y" %y : <[12 over {1:(2)3, 1:(1)2}], f32>
  %f = sched.input "f" : <[], i64>
  sched.output "nonfinite" %f : <[], i64>
  %tokens = sched.input "tokens of experts" : <[2, 8], i64>
  // CHECK: sched.output "tokens" %{{.*}} experts ["a", "b"] pairs [4, 6] : <[2, 8], i64>
  sched.output "tokens" %tokens experts ["a", "b"] pairs [4, 6] : <[2, 8], i64>
  // CHECK: sched.output "loss" %{{.*}} loss : <[], f32>
  sched.output "loss" %l loss : <[], f32>
}
}

// Rows go to the ranks of their experts, and come back.
module {
sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 6>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
// CHECK: sched.program @exchange {
sched.program @exchange {
  %n = sched.input "n" : <[2, 8], i64>
  %r = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // CHECK: %[[T:.*]] = sched.start all_to_all %{{.*}} over @dp sequence 0 because "expert dp" in "mlp" :
  // CHECK-SAME: !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // CHECK-SAME: -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %{{.*}} : !sched.tensor<[2, 8], i64>
  %t = sched.start all_to_all %r over @dp sequence 0 because "expert dp" in "mlp"
    : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
    -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
  // CHECK: %[[A:.*]] = sched.wait %[[T]]
  %a = sched.wait %t : !sched.token<!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>>
  sched.free %r : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // CHECK: sched.start all_to_all %[[A]] over @dp sequence 1 : {{.*}} by %{{.*}} : !sched.tensor<[2, 8], i64>
  %u = sched.start all_to_all %a over @dp sequence 1
    : !sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>
    -> <!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
  %b = sched.wait %u : !sched.token<!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>>
  sched.free %a, %b : !sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>, !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
}
}

// Attributes and types that no op above has, or not in every form.
// CHECK: module attributes {test.attr = [#sched.axis<1:(2)3>, #sched.dim<576 over {1:(1)3} unit 64 repeat 3>,
// CHECK-SAME: #sched.dim<24 over {1:(1)2} parts [16 unit 4 repeat 2, 8]>, #sched.peak<"end" in "">,
// CHECK-SAME: #sched.held<what = "w", module = "m", count = 2, bytes = 8>, #sched.time<compute = 1, communication = 2, copies = 3>, #sched.time<compute = 1, communication = 2>,
// CHECK-SAME: #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, states = 6, accumulators = 7, host_parameters = 8, host_states = 9, host_peak = 10, evaluation = 12, least_evaluation = 11, balanced = 13, worst = 14>,
// CHECK-SAME: !sched.tensor<[8], bf16, partial = max {0:(1)2}>, !sched.tensor<[], i64, partial = min {0:(1)2, 1:(1)3}>,
// CHECK-SAME: !sched.tensor<[8], f32, partial = sum {1:(1)3}, flat = {0:(1)2}>]} {
module attributes {test.attr = [#sched.axis<1:(2)3>, #sched.dim<576 over {1:(1)3} unit 64 repeat 3>, #sched.dim<24 over {1:(1)2} parts [16 unit 4 repeat 2, 8]>,
  #sched.peak<"end" in "">,
  #sched.held<what = "w", module = "m", count = 2, bytes = 8>, #sched.time<compute = 1, communication = 2, copies = 3>, #sched.time<compute = 1, communication = 2>,
  #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, states = 6, accumulators = 7, host_parameters = 8, host_states = 9, host_peak = 10, evaluation = 12, least_evaluation = 11, balanced = 13, worst = 14>,
  !sched.tensor<[8], bf16, partial = max {0:(1)2}>, !sched.tensor<[], i64, partial = min {0:(1)2, 1:(1)3}>, !sched.tensor<[8], f32, partial = sum {1:(1)3}, flat = {0:(1)2}>]} {}
