//===- passes.td - phase differentiate: the training step -----------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddEvaluation : Pass<"plan-add-evaluation", "::mlir::ModuleOp"> {
  let summary = "add the program that evaluates a model in training";
  let description = [{
    If the plan names a loss, adds a copy of the forward program, `@eval`, without training behaviour: dropouts (calls
    with `plan.in_evaluation`, which gives their replacement) and the dropout of attention. Random numbers that the
    model itself draws stay, with a warning unless the model was exported in evaluation mode (`plan.is_evaluated`).
    Parameters are stored as in `@step`, so that both programs can share them. The loss is marked `plan.loss`. With
    microbatches the program returns only outputs that are a single number.

    The attribute `plan.in_evaluation` is removed from all programs.

    ```mlir
    plan.loss 0
    func.func @forward(%x: tensor<4x8xf32>) -> tensor<f32> {
      %0 = plan.call "meshplan.dropout"(%x, ...) {input = #base.operand<0>, p = 0.5, ...} {plan.in_evaluation = #plan.stand_in<first_operand>}
      %1 = plan.call "aten.sum.default"(%0) ...
    // becomes, beside it
    func.func @eval(%x: tensor<4x8xf32>) -> (tensor<f32> {plan.loss}) {
      %1 = plan.call "aten.sum.default"(%x) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def Differentiate : Pass<"plan-differentiate", "::mlir::ModuleOp"> {
  let summary = "make the training step of a program with a loss";
  let description = [{
    Appends the gradients to a copy of the forward program, `@step`: for each call in reverse order, by the derivative
    rule of its operator. The gradient of a value with several readers is the sum of their contributions. The step
    returns the outputs that are a single number and the gradients of the trained parameters.

    The gradient of each value is laid out like the value (`plan.match`). All gradient reductions follow from this:
    propagation derives them from layouts, as for forward values. No match is inserted where a call only moves elements
    or the plan states a layout: the value before it determines the layout, so that addends which meet there are reduced
    once. Nor is there a match between a function of parameters alone and these parameters; its calls are marked
    `plan.keeps_addends`, and propagation keeps their results partial for as long as it can. A conversion that
    `precision` inserted passes a gradient unchanged.

    ```mlir
    plan.loss 0
    func.func @forward(%x: tensor<4x8xf32>, %w: tensor<1x8xf32>) -> tensor<f32> {
      %y = plan.call "aten.linear.default"(%x, %w) ...
      %loss = plan.call "aten.sum.default"(%y) ...
      return %loss
    // becomes, beside it
    func.func @step(%x: tensor<4x8xf32>, %w: tensor<1x8xf32>) -> (tensor<f32>, tensor<1x8xf32>) {
      ...
      %0 = plan.call "aten.full.default"() {fill_value = 1.0, ...} backward
      %1 = plan.call "aten.expand.default"(%0) {size = [4, 1]} backward
      %2 = plan.match %1 to %y
      %3 = plan.call "meshplan.weight_gradient"(%2, %x) backward
      %4 = plan.match %3 to %w
      return %loss, %4
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def KeepAttentionResults : Pass<"plan-keep-attention-results", "::mlir::ModuleOp"> {
  let summary = "pass results of the forward attention to its gradients";
  let description = [{
    On `cuda` the gradient kernel reads the result of the forward call and the log-sum-exp of its rows, where such a
    kernel exists: for 16-bit operands and no mask other than `causal` and `window`. On `cpu` the attention weights are
    recomputed, so that neither value has to live that long.

    ```mlir
    %out, %lse = plan.call "meshplan.attention"(%q, %k, %v) ...
    %0:3 = plan.call "meshplan.attention_backward"(%g, %q, %k, %v) ... backward
    // becomes
    %0:3 = plan.call "meshplan.attention_backward"(%g, %q, %k, %v, %out, %lse) {..., out = #base.operand<4>, logsumexp = #base.operand<5>} backward
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
  let options = [
    Option<"device", "device", "std::string", [{"cpu"}], "whose kernels run: cpu or cuda">
  ];
}

def CountTokens : Pass<"plan-count-tokens", "::mlir::ModuleOp"> {
  let summary = "output the number of tokens of each expert of a step";
  let description = [{
    For each `meshplan.route` of the forward pass of the step, adds the number of tokens of each expert, summed over all
    tokens of the batch. Layers with equally many experts have one output, so that one collective sums the numbers of
    all of them: i64 [modules, experts], with the modules in `plan.experts` and the pairs of a token and a slot of each in
    `plan.pairs`. It is replicated: any rank can log it.

    ```mlir
    %table, %counts = plan.call "meshplan.route"(%indices) {...} in "layers.0.mlp"
    // adds
    %0 = plan.call "meshplan.expert_tokens"(%counts, %table) in "layers.0.mlp" : ... -> tensor<8xi64>
    %1 = plan.call "aten.stack.default"(%0) {dim = 0}
    return ..., %1    // {plan.name = "expert_tokens", plan.experts = ["layers.0.mlp"], plan.pairs = array<i64: 128>}
    ```

  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceMicrobatches : Pass<"plan-place-microbatches", "::mlir::ModuleOp"> {
  let summary = "divide the batch over time, an axis of the mesh";
  let description = [{
    Adds the last axis `microbatch` to the mesh, and to each input of `@step` with a dim `batch` a `plan.constrain` that
    divides it. All values of the step, and of `@eval`, are then divided or partial over time by the same rules as over
    ranks.

    ```mlir
    plan.microbatches 2
    func.func @step(%x: tensor<8x4xf32, #plan.sharding<[{"dp"}, {} ]>> {plan.dims = ["batch", ""], plan.kind = #plan.kind<input>}) {
      %0 = plan.call "aten.relu.default"(%x) ...
    // becomes
      %1 = plan.constrain %x #plan.sharding<[{"microbatch"}, {} ]> along [#plan.axis<"microbatch">] as "microbatches 2"
      %0 = plan.call "aten.relu.default"(%1) ...
    ```

    With `mean` the step is written for one microbatch and becomes that of the batch. The samples of each input with a
    dim `batch` are multiplied by the number of microbatches, and a `plan.enter_microbatch` takes those of one
    microbatch. The backward pass begins with one divided by this number, and the results of the step, including the
    gradients, are summed over time (`plan.leave_microbatch`). The random numbers of a microbatch follow those of the
    previous one. An integer output is an error, because it has no mean.

    ```mlir
    plan.microbatches 2 mean
    func.func @step(%x: tensor<16x4xf32, #plan.sharding<[{"dp", parts [8, 8]}, {} ]>> {plan.dims = ["batch", ""], plan.kind = #plan.kind<input>}) {
      %0 = plan.enter_microbatch %x dim 0 of 2
      ...
      %2 = plan.leave_microbatch %gradient as "microbatches 2 mean"
      %3 = plan.match %2 to %w
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def AddOptimizerStep : Pass<"plan-add-optimizer-step", "::mlir::ModuleOp"> {
  let summary = "add the update of parameters by their gradients";
  let description = [{
    For each gradient that `@step` returns, inserts a call of the optimizer that `plan.optimizer` states; it updates the
    parameter and its states in place. States (`plan.kind = #plan.kind<state>`) are arguments with the layout of their parameter.
    Learning rate and step number are settings (`plan.kind = #plan.kind<setting>`), which a run may supply. The new values are
    results in place of the gradients, marked with the argument whose new value they are (`plan.updates`).

    With a limit of the norm the squares of all gradients are summed first; each element counts once, however many ranks
    hold it.

    ```mlir
    %0 = plan.call "meshplan.square_sum"(%g) ...
    %1 = plan.call "meshplan.clip_factor"(%0) {limit = 1.0} ...
    %2:3 = plan.call "meshplan.adam"(%w, %g, %average, %square, %lr, %step, %1) {beta1 = ..., decoupled = true} ...
    return %loss, %2#0, %2#1, %2#2
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
  let options = [
    Option<"keepGradients", "keep-gradients", "bool", "false", "the step returns the gradients and changes nothing">
  ];
}

def Recompute : Pass<"plan-recompute", "::mlir::ModuleOp"> {
  let summary = "recompute the modules that the plan names in the backward pass";
  let description = [{
    Results of calls of a module with `plan.recompute` that only calls of this module read are recomputed, from values
    that are kept, before their first backward reader; the forward values need not live that long. Values that leave the
    module are kept, and so are the results of the named operators. The recomputed calls are `backward`, and propagation
    decides their layouts like those of the originals.

    ```mlir
    %1 = plan.call "aten.relu.default"(%0) ... in "mlp"
    %2 = plan.call "aten.linear.default"(%1, %w) ... in "mlp"
    ...
    %3 = plan.call "aten.relu.default"(%0) ... in "mlp" backward
    %4 = plan.call "meshplan.weight_gradient"(%g, %3) ... in "mlp" backward
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def BalanceBias : Pass<"plan-balance-bias", "::mlir::ModuleOp"> {
  let summary = "update the bias of routers by the tokens of their experts";
  let description = [{
    For each layer of experts in the module of a `plan.routing bias`, the step updates the buffer that is added to the
    scores: b += rate * sign(mean - tokens), with the tokens of each expert in the whole batch. The router of a step reads
    the bias of the step before. A step that non-finite gradients skip changes no bias. Runs after `plan-count-tokens`,
    and after the optimizer, whose count of non-finite elements it reads.

    ```mlir
    plan.routing bias 0.001 of "layers.0.mlp" as "balance bias 0.001"
    func.func @step(..., %bias: tensor<8xf32>) {
      ...
      %0 = plan.call "aten.select.int"(%expert_tokens) {dim = 0, index = 0}
      %1 = plan.call "meshplan.balanced_bias"(%bias, %0) {rate = 0.001}
      %2 = plan.call "meshplan.assign"(%bias, %1)
      return ..., %2   // {plan.updates = %bias}
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_PASSES_TD
