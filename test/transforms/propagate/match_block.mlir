// Backward communication of a transformer block: that of Megatron-LM, given only the layouts of the forward pass.
// REQUIRES: meshplan-opt
// DEFINE: %{passes} = --plan-place-styles --plan-differentiate --plan-propagate-shardings --plan-repeat-forward --plan-lower-reshards
// DEFINE: %{others} = --implicit-check-not="plan.all_" --implicit-check-not=plan.reduce_scatter --implicit-check-not=plan.permute
// RUN: %meshplan-opt %s %{passes} | FileCheck %s --check-prefix=TP %{others} --implicit-check-not=plan.slice
// RUN: sed 's,^//SP ,,' %s > %t && %meshplan-opt %t %{passes} | FileCheck %s --check-prefix=SP %{others}

// Tensor parallelism: in the forward pass an all-reduce after each rowwise module, in the backward pass one after the
// colwise modules, where the gradients of q, k and v are summed first. Gradients of parameters need none.
// TP-LABEL: func.func @forward(
// TP: plan.all_reduce
// TP: plan.all_reduce
// TP-LABEL: func.func @step(
// TP: plan.call "aten.linear.default"{{.*}} in "o"
// TP-NEXT: plan.all_reduce
// TP: plan.call "aten.linear.default"{{.*}} in "down"
// TP-NEXT: plan.all_reduce
// TP: %[[U:.*]] = plan.call "aten.matmul.default"{{.*}} in "up" backward
// TP: plan.all_reduce %[[U]] [#plan.axis<"tp">] because "colwise tp"
// TP: %[[K:.*]] = plan.call "aten.matmul.default"{{.*}} in "k" backward
// TP: %[[Q:.*]] = plan.call "aten.matmul.default"{{.*}} in "q" backward
// TP: %[[S:.*]] = plan.call "aten.add.Tensor"(%[[K]], %[[Q]])
// TP: plan.all_reduce %[[S]] [#plan.axis<"tp">] because "colwise tp"
// TP: return

// With sequence parallelism, for the MLP and for the attention: an all-gather of the output's gradient, an all-gather
// of the input, which the norm recomputes so that it need not be held since the forward pass, and a reduce-scatter of
// the input's gradient. Each rank has the addends of its own positions in the gradient of a norm's weight.
// SP-LABEL: func.func @forward(
// SP: plan.all_gather
// SP: plan.reduce_scatter
// SP: plan.all_gather
// SP: plan.reduce_scatter
// SP: plan.all_reduce {{.*}} tensor<f32,
// SP-LABEL: func.func @step(
// SP: %[[N1:.*]] = plan.call "aten.rms_norm.default"{{.*}} in "norm1"
// SP-NEXT: plan.all_gather %[[N1]]
// SP: plan.reduce_scatter
// SP: %[[N2:.*]] = plan.call "aten.rms_norm.default"{{.*}} in "norm2"
// SP-NEXT: plan.all_gather %[[N2]]
// SP: plan.reduce_scatter
// SP: %[[D:.*]] = plan.all_gather {{.*}} dim 1 because "rowwise tp"
// SP: plan.call "meshplan.weight_gradient"(%[[D]], {{.*}} in "down" backward
// SP: %[[U:.*]] = plan.call "aten.matmul.default"{{.*}} in "up" backward
// SP: %[[N2MADE:.*]] = plan.call "aten.rms_norm.default"{{.*}} in "norm2" backward
// SP-NEXT: %[[N2AGAIN:.*]] = plan.all_gather %[[N2MADE]] [#plan.axis<"tp">] dim 1 because "colwise tp"
// SP: plan.call "meshplan.weight_gradient"({{.*}}, %[[N2AGAIN]]){{.*}} in "up" backward
// SP: plan.reduce_scatter %[[U]] [#plan.axis<"tp">] dim 1 because "colwise tp"
// SP: %[[W2:.*]] = plan.call "meshplan.rms_norm_weight_gradient"{{.*}} in "norm2" backward
// SP: %[[O:.*]] = plan.all_gather {{.*}} dim 1 because "rowwise tp"
// SP: plan.call "meshplan.weight_gradient"(%[[O]], {{.*}} in "o" backward
// SP: %[[K:.*]] = plan.call "aten.matmul.default"{{.*}} in "k" backward
// SP: %[[N1MADE:.*]] = plan.call "aten.rms_norm.default"{{.*}} in "norm1" backward
// SP-NEXT: %[[N1AGAIN:.*]] = plan.all_gather %[[N1MADE]] [#plan.axis<"tp">] dim 1 because "colwise tp"
// SP: plan.call "meshplan.weight_gradient"({{.*}}, %[[N1AGAIN]]){{.*}} in "k" backward
// SP: %[[Q:.*]] = plan.call "aten.matmul.default"{{.*}} in "q" backward
// SP: plan.call "meshplan.weight_gradient"({{.*}}, %[[N1AGAIN]]){{.*}} in "q" backward
// SP: %[[S:.*]] = plan.call "aten.add.Tensor"(%[[K]], %[[Q]])
// SP: plan.reduce_scatter %[[S]] [#plan.axis<"tp">] dim 1 because "colwise tp"
// SP: %[[W1:.*]] = plan.call "meshplan.rms_norm_weight_gradient"{{.*}} in "norm1" backward
// SP: %[[E:.*]] = plan.call "aten.sum.dim_IntList"{{.*}} in "embed" backward
// SP-DAG: plan.all_reduce %[[E]] [#plan.axis<"tp">] because "sequence tp"
// SP-DAG: plan.all_reduce %[[W1]] [#plan.axis<"tp">] because "sequence tp"
// SP-DAG: plan.all_reduce %[[W2]] [#plan.axis<"tp">] because "sequence tp"
// SP-DAG: plan.all_reduce {{.*}} tensor<f32,
// SP: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "o" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
//SP plan.style "embed" sequence [#plan.axis<"tp">] as "sequence tp"
//SP plan.style "norm1" sequence [#plan.axis<"tp">] as "sequence tp"
//SP plan.style "norm2" sequence [#plan.axis<"tp">] as "sequence tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %e: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"], plan.trainable = true},
    %n1: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm1.weight"], plan.trainable = true},
    %wq: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"], plan.trainable = true},
    %wk: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"], plan.trainable = true},
    %wo: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["o.weight"], plan.trainable = true},
    %n2: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm2.weight"], plan.trainable = true},
    %wu: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = true},
    %wd: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "loss"}) {
  %h = plan.call "aten.mul.Tensor"(%x, %e) {self = #base.operand<0>, other = #base.operand<1>} in "embed"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %0 = plan.call "aten.rms_norm.default"(%h, %n1) {input = #base.operand<0>, normalized_shape = [8], weight = #base.operand<1>} in "norm1"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %q = plan.call "aten.linear.default"(%0, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %k = plan.call "aten.linear.default"(%0, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q1 = plan.call "aten.view.default"(%q) {self = #base.operand<0>, size = [2, 6, 2, 4]} in "attn" : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn" : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k1 = plan.call "aten.view.default"(%k) {self = #base.operand<0>, size = [2, 6, 2, 4]} in "attn" : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k2 = plan.call "aten.transpose.int"(%k1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn" : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %a0:2 = plan.call "meshplan.attention"(%q2, %k2, %k2) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  %a1 = plan.call "aten.transpose.int"(%a0#0) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn" : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
  %a2 = plan.call "aten.reshape.default"(%a1) {self = #base.operand<0>, shape = [2, 6, 8]} in "attn" : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
  %o = plan.call "aten.linear.default"(%a2, %wo) {input = #base.operand<0>, weight = #base.operand<1>} in "o"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %h1 = plan.call "aten.add.Tensor"(%h, %o) {self = #base.operand<0>, other = #base.operand<1>} in "layer"
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.rms_norm.default"(%h1, %n2) {input = #base.operand<0>, normalized_shape = [8], weight = #base.operand<1>} in "norm2"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %u = plan.call "aten.linear.default"(%1, %wu) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %s = plan.call "aten.silu.default"(%u) {self = #base.operand<0>} in "mlp" : (tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  %d = plan.call "aten.linear.default"(%s, %wd) {input = #base.operand<0>, weight = #base.operand<1>} in "down"
      : (tensor<2x6x16xf32>, tensor<8x16xf32>) -> tensor<2x6x8xf32>
  %h2 = plan.call "aten.add.Tensor"(%h1, %d) {self = #base.operand<0>, other = #base.operand<1>} in "layer"
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %p = plan.call "aten.mul.Tensor"(%h2, %h2) {self = #base.operand<0>, other = #base.operand<1>} in "head"
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %loss = plan.call "aten.sum.default"(%p) {self = #base.operand<0>} in "head" : (tensor<2x6x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
