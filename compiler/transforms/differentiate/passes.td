//===- passes.td - phase differentiate: the training step -----------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddEvaluation : Pass<"plan-add-evaluation", "::mlir::ModuleOp"> {
  let summary = "make the program that evaluates a model in training";
  let description = [{
    Where the plan names a loss, a copy of the forward program, `@eval`, without
    what only training does: dropouts (calls with `plan.in_evaluation`, which says
    what is in their place) and the dropout of attention. Numbers that the model
    draws for itself stay, with a warning unless the model was exported in
    evaluation mode (`plan.is_evaluated`). Parameters are stored as `@step` stores them, so that
    both programs can have the same. The loss is marked `plan.loss`. In
    microbatches the program gives what is one number and nothing else.

    The attribute `plan.in_evaluation` is dropped in all programs.

    ```mlir
    plan.loss 0
    func.func @forward(%x: tensor<4x8xf32>) -> tensor<f32> {
      %0 = plan.call "meshplan.dropout"(%x, ...) {input = #base.operand<0>, p = 0.5, ...} {plan.in_evaluation = "first operand"}
      %1 = plan.call "aten.sum.default"(%0) ...
    // becomes, beside it
    func.func @eval(%x: tensor<4x8xf32>) -> (tensor<f32> {plan.loss}) {
      %1 = plan.call "aten.sum.default"(%x) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def Differentiate : Pass<"plan-differentiate", "::mlir::ModuleOp"> {
  let summary = "make the training step of a program whose plan names a loss";
  let description = [{
    Behind a copy of the forward program, `@step`, come the gradients: of each
    call in reverse, by its operator's derivative rule. A value that several
    calls read has the sum of what they give. The step returns the outputs that
    are one number and the gradients of the trained parameters.

    The gradient of each value is laid out as the value (`plan.match`), which is
    what makes every gradient reduction: the partitioner derives it from layouts
    as it does for forward values. Where a call only moves elements, or the plan
    states a layout, nothing is matched: what is behind has the last word, so
    that addends which meet there are reduced once. Nor is it on the way from a
    function of parameters alone to these, whose calls are marked
    `plan.keeps_addends`: propagation leaves their results addends for as long
    as it can. A conversion that `precision` placed passes a gradient as it is.

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
  let summary = "give the gradients of attention what the forward pass made";
  let description = [{
    On `cuda` the kernel of the gradients reads the result of the forward call and
    the logarithms of its rows, where there is such a kernel: with operands of 16
    bits and no other mask than `causal` and `window`. On `cpu` weights are made
    anew, and both need not live that long.

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

def PlaceMicrobatches : Pass<"plan-place-microbatches", "::mlir::ModuleOp"> {
  let summary = "make time an axis over which the batch is divided";
  let description = [{
    The mesh gets a last axis, `microbatch`, and each input of `@step` with a dim
    `batch` a `plan.constrain` that divides it. What the step makes of it is
    divided or partial over time as it is over ranks, by the same rules. So is
    what `@eval` makes.

    ```mlir
    plan.microbatches 2
    func.func @step(%x: tensor<8x4xf32, #plan.sharding<[{"dp"}, {} ]>> {plan.dims = ["batch", ""], plan.kind = "input"}) {
      %0 = plan.call "aten.relu.default"(%x) ...
    // becomes
      %1 = plan.constrain %x #plan.sharding<[{"microbatch"}, {} ]> along [#plan.axis<"microbatch">] as "microbatches 2"
      %0 = plan.call "aten.relu.default"(%1) ...
    ```

    With `mean` the step is that of one microbatch, and becomes that of the
    batch: each input with a dim `batch` has as many times the samples, of which a
    `plan.enter_microbatch` takes those of one microbatch. The backward pass
    begins with one by their number, and what the step returns, the gradients
    among it, is added up over time (`plan.leave_microbatch`). Random numbers of a
    microbatch follow those of the one before. An output of integers is an error:
    it has no mean.

    ```mlir
    plan.microbatches 2 mean
    func.func @step(%x: tensor<16x4xf32, #plan.sharding<[{"dp", parts [8, 8]}, {} ]>> {plan.dims = ["batch", ""], plan.kind = "input"}) {
      %0 = plan.enter_microbatch %x dim 0 of 2
      ...
      %2 = plan.leave_microbatch %gradient as "microbatches 2 mean"
      %3 = plan.match %2 to %w
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def AddOptimizerStep : Pass<"plan-add-optimizer-step", "::mlir::ModuleOp"> {
  let summary = "change the parameters by their gradients";
  let description = [{
    For each gradient that `@step` returns, by the statement `plan.optimizer`, a
    call that changes the parameter and its states in place. States
    (`plan.kind = "state"`) are arguments laid out as their parameter; learning
    rate and number of the step are settings (`plan.kind = "setting"`), which a
    run may give. The new values are results in the gradients' place, marked
    with the argument that they are the new value of (`plan.updates`).

    With a limit for the norm the squares of all gradients are added up first;
    each element counts once, however many ranks hold it.

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
  let summary = "make again for the backward pass what the plan says";
  let description = [{
    What calls of a module with `plan.recompute` make, and only calls of that
    module read, is made again from what is kept, before its first backward
    reader; the forward values need not live that long. What leaves the module is
    kept, and so is what the named operators make. The calls that repeat others
    are `backward`, and propagation decides their layouts as it did before.

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

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_PASSES_TD
