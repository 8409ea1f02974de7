// Every attribute of every op of the dialect: one case in which it has the wrong kind. The rules are those of ops.td; its
// values are verified by the rules of verifiers.mlir.
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'plan.mesh' op attribute 'axes' failed to satisfy constraint: list of mesh axes}}
"plan.mesh"() {axes = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.style' op attribute 'module' failed to satisfy constraint: string attribute}}
"plan.style"() {module = 1 : i64, kind = #plan<style_kind colwise>, axes = [], text = "t", dim = 1, parts = array<i64: 1>} : () -> ()

// -----

// expected-error @below {{'plan.style' op attribute 'kind' failed to satisfy constraint: kind of a style}}
"plan.style"() {module = "a", kind = "wrong", axes = [], text = "t", dim = 1, parts = array<i64: 1>} : () -> ()

// -----

// expected-error @below {{'plan.style' op attribute 'axes' failed to satisfy constraint: list of axes}}
"plan.style"() {module = "a", kind = #plan<style_kind colwise>, axes = "wrong", text = "t", dim = 1, parts = array<i64: 1>} : () -> ()

// -----

// expected-error @below {{'plan.style' op attribute 'text' failed to satisfy constraint: string attribute}}
"plan.style"() {module = "a", kind = #plan<style_kind colwise>, axes = [], text = 1 : i64, dim = 1, parts = array<i64: 1>} : () -> ()

// -----

// expected-error @below {{'plan.style' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.style"() {module = "a", kind = #plan<style_kind colwise>, axes = [], text = "t", dim = "wrong", parts = array<i64: 1>} : () -> ()

// -----

// expected-error @below {{'plan.style' op attribute 'parts' failed to satisfy constraint: i64 dense array attribute}}
"plan.style"() {module = "a", kind = #plan<style_kind colwise>, axes = [], text = "t", dim = 1, parts = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'module' failed to satisfy constraint: string attribute}}
"plan.border"() {module = 1 : i64, is_input = true, index = 0, layout = #plan.sharding<[]>, exact = true, axes = [], text = "t", names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'is_input' failed to satisfy constraint: bool attribute}}
"plan.border"() {module = "a", is_input = "wrong", index = 0, layout = #plan.sharding<[]>, exact = true, axes = [], text = "t", names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'index' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.border"() {module = "a", is_input = true, index = "wrong", layout = #plan.sharding<[]>, exact = true, axes = [], text = "t", names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'layout' failed to satisfy constraint: sharding of a tensor}}
"plan.border"() {module = "a", is_input = true, index = 0, layout = "wrong", exact = true, axes = [], text = "t", names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'exact' failed to satisfy constraint: bool attribute}}
"plan.border"() {module = "a", is_input = true, index = 0, layout = #plan.sharding<[]>, exact = "wrong", axes = [], text = "t", names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'axes' failed to satisfy constraint: list of axes}}
"plan.border"() {module = "a", is_input = true, index = 0, layout = #plan.sharding<[]>, exact = true, axes = "wrong", text = "t", names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'text' failed to satisfy constraint: string attribute}}
"plan.border"() {module = "a", is_input = true, index = 0, layout = #plan.sharding<[]>, exact = true, axes = [], text = 1 : i64, names = [], extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'names' failed to satisfy constraint: string array attribute}}
"plan.border"() {module = "a", is_input = true, index = 0, layout = #plan.sharding<[]>, exact = true, axes = [], text = "t", names = "wrong", extents = array<i64>} : () -> ()

// -----

// expected-error @below {{'plan.border' op attribute 'extents' failed to satisfy constraint: i64 dense array attribute}}
"plan.border"() {module = "a", is_input = true, index = 0, layout = #plan.sharding<[]>, exact = true, axes = [], text = "t", names = [], extents = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.constant' op attribute 'name' failed to satisfy constraint: string attribute}}
%r = "plan.constant"() {name = 1 : i64, value = dense<1.0> : tensor<2xf32>} : () -> (tensor<2xf32>)

// -----

// expected-error @below {{'plan.constant' op attribute 'value' failed to satisfy constraint: constant vector/tensor attribute}}
%r = "plan.constant"() {name = "c", value = "wrong"} : () -> (tensor<2xf32>)

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.call' op attribute 'target' failed to satisfy constraint: string attribute}}
  %r = "plan.call"(%x) {target = 1 : i64, args = {self = #base.operand<0>}, module = "m", backward = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.call' op attribute 'args' failed to satisfy constraint: dictionary of named attribute values}}
  %r = "plan.call"(%x) {target = "aten.neg.default", args = "wrong", module = "m", backward = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.call' op attribute 'module' failed to satisfy constraint: string attribute}}
  %r = "plan.call"(%x) {target = "aten.neg.default", args = {self = #base.operand<0>}, module = 1 : i64, backward = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.call' op attribute 'backward' failed to satisfy constraint: unit attribute}}
  %r = "plan.call"(%x) {target = "aten.neg.default", args = {self = #base.operand<0>}, module = "m", backward = "wrong"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.constrain' op attribute 'layout' failed to satisfy constraint: sharding of a tensor}}
  %r = "plan.constrain"(%x) {layout = "wrong", axes = [], style = "t"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.constrain' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.constrain"(%x) {layout = #plan.sharding<[{}]>, axes = "wrong", style = "t"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.constrain' op attribute 'style' failed to satisfy constraint: string attribute}}
  %r = "plan.constrain"(%x) {layout = #plan.sharding<[{}]>, axes = [], style = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.match' op attribute 'flat' failed to satisfy constraint: list of axes}}
  %r = "plan.match"(%x, %x) {flat = "wrong"} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

// expected-error @below {{'plan.loss' op attribute 'output' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.loss"() {output = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.normalize_loss' op attribute 'output' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.normalize_loss"() {output = "wrong", per = #plan<loss_unit token>} : () -> ()

// -----

// expected-error @below {{'plan.normalize_loss' op attribute 'per' failed to satisfy constraint: elements over which the mean of losses is taken}}
"plan.normalize_loss"() {output = 0, per = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'shard' failed to satisfy constraint: tensors that data parallel ranks shard}}
"plan.data"() {shard = "wrong", axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'axes' failed to satisfy constraint: list of axes}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = "wrong", bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'bucket' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = "wrong", prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'prefetch' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = "wrong", text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'text' failed to satisfy constraint: string attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = 1 : i64, overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'overlap_gradients' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = "wrong", reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'reduce_each' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = "wrong", average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'average_after' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = "wrong", offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'offload_parameters' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = "wrong", offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'offload_optimizer' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = "wrong", contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'contiguous_parameters' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = "wrong", contiguous_gradients = unit, register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'contiguous_gradients' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = "wrong", register_buffers = unit} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'register_buffers' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.data' op attribute 'gather_in_step' failed to satisfy constraint: unit attribute}}
"plan.data"() {shard = #plan<data_stage replicated>, axes = [], bucket = 0, prefetch = 0, text = "t", overlap_gradients = unit, reduce_each = unit, average_after = 1, offload_parameters = unit, offload_optimizer = unit, contiguous_parameters = unit, contiguous_gradients = unit, register_buffers = unit, gather_in_step = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.microbatches' op attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute}}
"plan.microbatches"() {count = "wrong", mean = unit} : () -> ()

// -----

// expected-error @below {{'plan.microbatches' op attribute 'mean' failed to satisfy constraint: unit attribute}}
"plan.microbatches"() {count = 1, mean = "wrong"} : () -> ()

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.enter_microbatch' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.enter_microbatch"(%x) {dim = "wrong", count = 2} : (tensor<2xf32>) -> (tensor<1xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.enter_microbatch' op attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.enter_microbatch"(%x) {dim = 0, count = "wrong"} : (tensor<2xf32>) -> (tensor<1xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.leave_microbatch' op attribute 'text' failed to satisfy constraint: string attribute}}
  %r = "plan.leave_microbatch"(%x) {text = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

// expected-error @below {{'plan.precision' op attribute 'compute' failed to satisfy constraint: any type attribute}}
"plan.precision"() {compute = "wrong", storage = f32, gather = f32, reduce = f32, master = f32, state = f32, loss_scale = #plan.loss_scale<initial = 1.0>} : () -> ()

// -----

// expected-error @below {{'plan.precision' op attribute 'storage' failed to satisfy constraint: any type attribute}}
"plan.precision"() {compute = f32, storage = "wrong", gather = f32, reduce = f32, master = f32, state = f32, loss_scale = #plan.loss_scale<initial = 1.0>} : () -> ()

// -----

// expected-error @below {{'plan.precision' op attribute 'gather' failed to satisfy constraint: any type attribute}}
"plan.precision"() {compute = f32, storage = f32, gather = "wrong", reduce = f32, master = f32, state = f32, loss_scale = #plan.loss_scale<initial = 1.0>} : () -> ()

// -----

// expected-error @below {{'plan.precision' op attribute 'reduce' failed to satisfy constraint: any type attribute}}
"plan.precision"() {compute = f32, storage = f32, gather = f32, reduce = "wrong", master = f32, state = f32, loss_scale = #plan.loss_scale<initial = 1.0>} : () -> ()

// -----

// expected-error @below {{'plan.precision' op attribute 'master' failed to satisfy constraint: any type attribute}}
"plan.precision"() {compute = f32, storage = f32, gather = f32, reduce = f32, master = "wrong", state = f32, loss_scale = #plan.loss_scale<initial = 1.0>} : () -> ()

// -----

// expected-error @below {{'plan.precision' op attribute 'state' failed to satisfy constraint: any type attribute}}
"plan.precision"() {compute = f32, storage = f32, gather = f32, reduce = f32, master = f32, state = "wrong", loss_scale = #plan.loss_scale<initial = 1.0>} : () -> ()

// -----

// expected-error @below {{'plan.precision' op attribute 'loss_scale' failed to satisfy constraint: the number that multiplies the loss, so that gradients fit 16 bits}}
"plan.precision"() {compute = f32, storage = f32, gather = f32, reduce = f32, master = f32, state = f32, loss_scale = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.recompute' op attribute 'module' failed to satisfy constraint: string attribute}}
"plan.recompute"() {module = 1 : i64, keep = []} : () -> ()

// -----

// expected-error @below {{'plan.recompute' op attribute 'keep' failed to satisfy constraint: string array attribute}}
"plan.recompute"() {module = "m", keep = "wrong"} : () -> ()

// -----

// expected-error @below {{'plan.optimizer' op attribute 'kind' failed to satisfy constraint: how parameters follow their gradients}}
"plan.optimizer"() {kind = "wrong", groups = [#plan.optimizer_group<lr = 1.0>], schedule = #base.rate_schedule<kind = constant>, clip = 1.0, nonfinite = #plan<nonfinite skip>} : () -> ()

// -----

// expected-error @below {{'plan.optimizer' op attribute 'groups' failed to satisfy constraint: list of groups}}
"plan.optimizer"() {kind = #plan<optimizer_kind sgd>, groups = "wrong", schedule = #base.rate_schedule<kind = constant>, clip = 1.0, nonfinite = #plan<nonfinite skip>} : () -> ()

// -----

// expected-error @below {{'plan.optimizer' op attribute 'schedule' failed to satisfy constraint: the factor of the learning rate in each step}}
"plan.optimizer"() {kind = #plan<optimizer_kind sgd>, groups = [#plan.optimizer_group<lr = 1.0>], schedule = "wrong", clip = 1.0, nonfinite = #plan<nonfinite skip>} : () -> ()

// -----

// expected-error @below {{'plan.optimizer' op attribute 'clip' failed to satisfy constraint: 64-bit float attribute}}
"plan.optimizer"() {kind = #plan<optimizer_kind sgd>, groups = [#plan.optimizer_group<lr = 1.0>], schedule = #base.rate_schedule<kind = constant>, clip = "wrong", nonfinite = #plan<nonfinite skip>} : () -> ()

// -----

// expected-error @below {{'plan.optimizer' op attribute 'nonfinite' failed to satisfy constraint: what follows from gradients that are NaN or infinite}}
"plan.optimizer"() {kind = #plan<optimizer_kind sgd>, groups = [#plan.optimizer_group<lr = 1.0>], schedule = #base.rate_schedule<kind = constant>, clip = 1.0, nonfinite = "wrong"} : () -> ()

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.reshard' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.reshard"(%x) {cause = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_gather' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.all_gather"(%x) {axes = "wrong", cause = "t", dim = 0, bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_gather' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.all_gather"(%x) {axes = [], cause = 1 : i64, dim = 0, bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_gather' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.all_gather"(%x) {axes = [], cause = "t", dim = "wrong", bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_gather' op attribute 'bucket' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.all_gather"(%x) {axes = [], cause = "t", dim = 0, bucket = "wrong", blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_gather' op attribute 'blocking' failed to satisfy constraint: unit attribute}}
  %r = "plan.all_gather"(%x) {axes = [], cause = "t", dim = 0, bucket = 0, blocking = "wrong"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.reduce_scatter' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.reduce_scatter"(%x) {axes = "wrong", cause = "t", dim = 0, bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.reduce_scatter' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.reduce_scatter"(%x) {axes = [], cause = 1 : i64, dim = 0, bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.reduce_scatter' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.reduce_scatter"(%x) {axes = [], cause = "t", dim = "wrong", bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.reduce_scatter' op attribute 'bucket' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.reduce_scatter"(%x) {axes = [], cause = "t", dim = 0, bucket = "wrong", blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.reduce_scatter' op attribute 'blocking' failed to satisfy constraint: unit attribute}}
  %r = "plan.reduce_scatter"(%x) {axes = [], cause = "t", dim = 0, bucket = 0, blocking = "wrong"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_reduce' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.all_reduce"(%x) {axes = "wrong", cause = "t", dim = 0, bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_reduce' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.all_reduce"(%x) {axes = [], cause = 1 : i64, dim = 0, bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_reduce' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.all_reduce"(%x) {axes = [], cause = "t", dim = "wrong", bucket = 0, blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_reduce' op attribute 'bucket' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.all_reduce"(%x) {axes = [], cause = "t", dim = 0, bucket = "wrong", blocking = unit} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_reduce' op attribute 'blocking' failed to satisfy constraint: unit attribute}}
  %r = "plan.all_reduce"(%x) {axes = [], cause = "t", dim = 0, bucket = 0, blocking = "wrong"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_to_all' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.all_to_all"(%x) {axes = "wrong", cause = "t", from_dim = 0, to_dim = 1} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_to_all' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.all_to_all"(%x) {axes = [], cause = 1 : i64, from_dim = 0, to_dim = 1} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_to_all' op attribute 'from_dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.all_to_all"(%x) {axes = [], cause = "t", from_dim = "wrong", to_dim = 1} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.all_to_all' op attribute 'to_dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.all_to_all"(%x) {axes = [], cause = "t", from_dim = 0, to_dim = "wrong"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.exchange' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.exchange"(%x, %x) {axes = "wrong", cause = "t"} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.exchange' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.exchange"(%x, %x) {axes = [], cause = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.permute' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.permute"(%x) {axes = "wrong", cause = "t"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.permute' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.permute"(%x) {axes = [], cause = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.slice' op attribute 'axes' failed to satisfy constraint: list of axes}}
  %r = "plan.slice"(%x) {axes = "wrong", cause = "t", dim = 0} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.slice' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "plan.slice"(%x) {axes = [], cause = 1 : i64, dim = 0} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.slice' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "plan.slice"(%x) {axes = [], cause = "t", dim = "wrong"} : (tensor<2xf32>) -> (tensor<2xf32>)
  return
}

// -----

// expected-error @below {{'plan.routing' op attribute 'rule' failed to satisfy constraint: a statement about the tokens of experts}}
"plan.routing"() {rule = "wrong", number = 1.0, module = "m", text = "t"} : () -> ()

// -----

// expected-error @below {{'plan.routing' op attribute 'number' failed to satisfy constraint: 64-bit float attribute}}
"plan.routing"() {rule = #plan<routing_rule reserve>, number = 1, module = "m", text = "t"} : () -> ()

// -----

// expected-error @below {{'plan.routing' op attribute 'module' failed to satisfy constraint: string attribute}}
"plan.routing"() {rule = #plan<routing_rule reserve>, number = 1.0, module = 1, text = "t"} : () -> ()

// -----

// expected-error @below {{'plan.routing' op attribute 'text' failed to satisfy constraint: string attribute}}
"plan.routing"() {rule = #plan<routing_rule reserve>, number = 1.0, module = "m", text = 1} : () -> ()
