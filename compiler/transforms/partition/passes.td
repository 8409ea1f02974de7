//===- passes.td - phase partition: reshards become collectives -----------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def DropShapes : Pass<"plan-drop-shapes", "::mlir::ModuleOp"> {
  let summary = "take away operands that gave only a shape and its layout";
  let description = [{
    What an operator makes of a table's shape alone, such as the gradient of an
    embedding, is told the shape: the table need not be gathered for it.

    ```mlir
    %1 = plan.call "meshplan.embedding_gradient"(%g, %i, %table) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>} ...
    // becomes
    %1 = plan.call "meshplan.embedding_gradient"(%g, %i) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 160 : i64} ...
    ```
  }];
}

def RepeatForward : Pass<"plan-repeat-forward", "::mlir::ModuleOp"> {
  let summary = "make again for the backward pass what is gathered or cheap to make";
  let description = [{
    What forward and backward calls read is made again before its first backward
    reader, instead of living from forward to backward, where that is

    - a reshard whose result is larger on a rank than what it is made of: a
      gathered activation, or a gathered parameter with its conversions;
    - a call that is cheap to repeat (compiler/sharding/calls/cheap_calls.h:
      pointwise, a norm, a move) of operands that are at hand: arguments, what
      the backward pass reads then or later, and what is made of these in the
      same way and takes at most twice the result. No operand is held longer for
      it than the backward pass holds it anyway.

    What the plan keeps (`plan.keep`: of a parameter, of operators that
    `recompute` names) is not made again, nor is a sum over ranks, nor what lives
    on anyway. Nothing is gathered for the sake of a cheap call, except what is
    gathered to be converted.

    ```mlir
    %0 = plan.reshard %x : (tensor<4x8xf32, [{"tp"}, {} ]>) -> tensor<4x8xf32, [{}, {} ]>
    %1 = plan.call "aten.silu.default"(%0) ...
    %2 = plan.call "aten.linear.default"(%1, %w) ...
    %3 = plan.reshard %x : ...
    %4 = plan.call "aten.silu.default"(%3) ... backward
    %5 = plan.call "meshplan.weight_gradient"(%g, %4) ... backward
    %6 = plan.call "aten.silu_backward.default"(%h, %3) ... backward
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LowerReshards : Pass<"plan-lower-reshards", "::mlir::ModuleOp"> {
  let summary = "turn each reshard into slices and collectives";
  let description = [{
    The steps are those of `planReshard` (compiler/sharding/reshard.h). Each
    collective keeps the location and the text of the statement that caused it.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def WidenAddends : Pass<"plan-widen-addends", "::mlir::ModuleOp"> {
  let summary = "choose in which types addends of 16-bit sums are made and moved";
  let description = [{
    A partial sum of a 16-bit type becomes float32, from the call that makes it
    to the collective that adds it up, whose result is converted: the sum is
    rounded once, as on one rank, however many ranks add to it. A call writes
    float32 itself where its record can (`OpRecord::widen`), else its operands
    are converted. Addends of which all but one are zero (rows of a divided
    table) lose nothing and stay as they are.

    Sums of products of activations, or of their gradients, are sent as they are
    instead, unless the plan says `precision { activations f32 }`
    (`plan.wide_activations` on the module): what a rank adds up itself is
    rounded once, just before it is sent. They are marked with their type
    (`plan.activation_sum`), by which the report counts the bytes of both ways.

    With `plan.wide_activations`:

    ```mlir
    %0 = plan.call "meshplan.linear_f32"(%x, %w) {...} : (tensor<4x8xbf16, ...>, tensor<6x8xbf16, ...>) -> tensor<4x6xf32, ...>
    %1 = plan.all_reduce %0 [#plan.axis<"tp">] : tensor<4x6xf32, ...> -> tensor<4x6xf32, ...>
    %2 = plan.call "aten._to_copy.default"(%1) {dtype = bf16, ...} : (tensor<4x6xf32, ...>) -> tensor<4x6xbf16, ...>
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LocalizeCalls : Pass<"plan-localize-calls", "::mlir::ModuleOp"> {
  let summary = "rewrite calls to what runs on a rank";
  let description = [{
    Checks first that the shardings of operands and results of every call are
    those that its factor rule allows, then replaces literal sizes and offsets
    by `#base.local`, and operators whose divided form is another kernel.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def SplitMicrobatches : Pass<"plan-split-microbatches", "::mlir::ModuleOp"> {
  let summary = "run what is divided over time once for each microbatch";
  let description = [{
    A sum over the axis of time becomes an accumulator (`plan.kind` of an
    argument), to which each run of a program adds (`meshplan.accumulate`). What
    must be known of the whole batch before something else can begin, such as the
    number of its tokens, is a pass over the batch of its own: programs `@count0`,
    `@count1`, ..., and `@accumulate` for the last one. `plan.runs` says how often a
    step runs them. `@step` runs the last microbatch, and goes on with the sums. The
    microbatch of an input is taken by its number (`meshplan.take_microbatch`, and
    the setting `microbatch`), and the axis is gone: extents are those of a
    microbatch. Of `@eval` the same is made: `@eval.count0`, ..., `@eval.accumulate`,
    which `plan.runs_before` says are run before `@eval`.

    What would have to put microbatches together again is an error.

    Of a step of microbatches with a mean of their own (`plan.enter_microbatch`)
    the inputs are those of the batch, and all else is that of one microbatch.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD
