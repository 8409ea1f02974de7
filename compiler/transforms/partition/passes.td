//===- passes.td - phase partition: reshards become collectives -----------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def StoreRouted : Pass<"plan-store-routed", "::mlir::ModuleOp"> {
  let summary = "mark values of which ranks store the rows of chosen experts only";
  let description = [{
    Values between `meshplan.dispatch` and `meshplan.combine` have the dims of experts and tokens, of which only the
    pairs exist that a router has chosen. Their shardings get `#base.routed`, so that extents, memory and costs are those
    of the rows (compiler/sharding/dataflow/routed_values.h).

    ```mlir
    %0 = plan.call "meshplan.dispatch"(%x, %table) ... : ... -> tensor<8x4x16x64xf32, #plan.sharding<[{}, {"dp"}, {}, {} ]>>
    // becomes
    %0 = plan.call "meshplan.dispatch"(%x, %table) ... : ... -> tensor<8x4x16x64xf32, #plan.sharding<[{}, {"dp"}, {}, {} ], routed = #base.routed<rows, dims = 3, slots = 2>>>
    ```

    Error: rows that would have to move between ranks.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PlaceExchanges : Pass<"plan-place-exchanges", "::mlir::ModuleOp"> {
  let summary = "let narrow rows go to experts and back";
  let description = [{
    Rows go to the rank of their expert and come back in `plan.reshard`. Where a call computes each row from rows alone,
    and the others of its operands are at the rank of the token, the rows come back before the call if they are not
    wider there. In the other direction, what is computed from rows at the rank of the token goes to the expert instead
    of these rows, if it is not wider. So gates are multiplied at the rank of the token and are not exchanged, and rows
    are exchanged in the type in which experts compute.

    ```mlir
    %1 = plan.call "aten.mul.Tensor"(%rows, %gates) ... : (rows of bf16, rows of f32) -> rows of f32
    %2 = plan.reshard %1 ...
    // becomes
    %1 = plan.reshard %rows ...
    %2 = plan.call "aten.mul.Tensor"(%1, %gates_at_home) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def DropShapes : Pass<"plan-drop-shapes", "::mlir::ModuleOp"> {
  let summary = "remove operands that are used only for shape and sharding";
  let description = [{
    An operator that reads only the shape of a table, such as the gradient of an embedding, gets the shape as an
    argument: the table need not be gathered for it.

    ```mlir
    %1 = plan.call "meshplan.embedding_gradient"(%g, %i, %table) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>} ...
    // becomes
    %1 = plan.call "meshplan.embedding_gradient"(%g, %i) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 160 : i64} ...
    ```
  }];
}

def GatherRows : Pass<"plan-gather-rows", "::mlir::ModuleOp"> {
  let summary = "send the rows of a sum instead of the table that they are added to";
  let description = [{
    The gradient of an embedding has a row for each entry of the table, of which the tokens of a rank have changed few.
    Where the rows of the tokens of all ranks are fewer bytes than the addends of the table, ranks gather the rows, and
    each adds all of them. Nothing is left to be reduced; a rank that needs a shard of the sum takes it.

    ```mlir
    %1 = plan.call "meshplan.embedding_gradient"(%g, %i) ...    // [6 over dp, 2, 64], [6 over dp, 2] -> [160, 64] addends over dp
    %2 = plan.reshard %1 ...                                    // [160, 64] flat over dp
    // becomes
    %g2 = plan.reshard %g ...                                   // [6, 2, 64]
    %i2 = plan.reshard %i ...                                   // [6, 2]
    %1 = plan.call "meshplan.embedding_gradient"(%g2, %i2) ...  // [160, 64]
    %2 = plan.reshard %1 ...                                    // [160, 64] flat over dp
    ```

    Source: sparse gradients of PyTorch (`nn.Embedding(sparse=True)`) are gathered instead of reduced, too.
  }];
}

def RepeatForward : Pass<"plan-repeat-forward", "::mlir::ModuleOp"> {
  let summary = "recompute gathered and cheap values in the backward pass";
  let description = [{
    A value that the forward and the backward pass read is recomputed before its first backward reader, instead of
    living from forward to backward, if it is

    - a reshard whose result is larger on a rank than its input: a gathered activation, or a gathered parameter with its
      conversions;
    - a call that is cheap to recompute (compiler/sharding/families/cheap_calls.h: pointwise, a norm, a move) from
      available operands: arguments, values that the backward pass reads at that time or later, and values that can
      themselves be recomputed from these and are at most twice as large as the result. No operand is held longer than
      the backward pass holds it anyway.

    Not recomputed are values that the plan keeps (`plan.keep` of a parameter, or of the results of operators that
    `recompute` names), sums over ranks, and values that stay live anyway. Nothing is gathered only for a cheap call,
    except for a conversion.

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
    The steps are those of `planReshard` (compiler/sharding/reshard.h). Each collective keeps the location and the text
    of the statement that caused it.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def WidenAddends : Pass<"plan-widen-addends", "::mlir::ModuleOp"> {
  let summary = "choose the types in which addends of 16-bit sums are computed and sent";
  let description = [{
    A partial sum of a 16-bit type becomes float32, from the call that computes it to the collective that reduces it,
    whose result is converted back: the sum is rounded once, as on one rank, for any number of ranks. A call writes
    float32 directly where its record supports this (`OpRecord::widen`); otherwise its operands are converted. Addends
    that are zero on all ranks but one (rows of a divided table) are exact and stay as they are.

    Sums of products of activations, or of their gradients, are an exception, unless the plan says `precision {
    activations f32 }` (`plan.wide_activations` on the module): they are sent in the 16-bit type, and the part that a
    rank sums itself is rounded once, just before it is sent. They are marked with their type (`plan.activation_sum`),
    from which the report counts the bytes of both variants.

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
  let summary = "rewrite calls to their form on a rank";
  let description = [{
    First checks that the shardings of the operands and results of every call are allowed by its factor rule. Then
    replaces literal sizes and offsets by `#base.local`, and operators whose divided form is another kernel.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def SplitMicrobatches : Pass<"plan-split-microbatches", "::mlir::ModuleOp"> {
  let summary = "make a program for each sweep over the microbatches";
  let description = [{
    Microbatches follow one another along the mesh axis of time. A sum over this axis becomes an accumulator, an
    argument with `plan.kind` accumulator, to which each instance of a program adds (`meshplan.accumulate`). A sum over
    the whole batch that must be complete before other computation can begin, such as the number of tokens, needs a
    sweep over the batch of its own: the programs `@count0`, `@count1`, .... The last sweep is `@step` itself, which
    runs for every microbatch and continues with the sums after the last one. `plan.timeline` of `@step` lists these
    instances in their order. Which calls only the last instance runs is decided by `schedule`: those on which no
    accumulator depends. An input is split by microbatch index (`meshplan.take_microbatch` and the setting
    `microbatch`), and the axis is removed: extents are those of a microbatch. `@eval` is treated alike, with the
    programs `@eval.count0`, ....

    An operator that would need several microbatches at once is an error.

    In a step whose microbatches have a mean of their own (`plan.enter_microbatch`) only the inputs are those of the
    batch; all else is that of one microbatch.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def MergeHalves : Pass<"plan-merge-halves", "::mlir::ModuleOp"> {
  let summary = "make one program of two microbatches";
  let description = [{
    For a plan with `overlap { halves }`. The microbatches 2 i and 2 i + 1 of a step become instance i of one program, so
    that one of them is computed while collectives of the other are on their way. Ops that depend on the microbatch are
    there twice, in blocks that end where the result of a collective is needed: a block of the first half, then the same
    block of the second. The sum of both halves of a gradient is what is reduced and accumulated. If one instance is
    left, the sums need no accumulators. `@eval` is treated alike; programs that only count (`@count0`) still run for
    each microbatch.

    ```mlir
    %1 = plan.call "meshplan.accumulate"(%sum, %g) ...
    // becomes
    %2 = plan.call "aten.add.Tensor"(%g, %g_of_second) ...
    %1 = plan.call "meshplan.accumulate"(%sum, %2) ...
    ```

    Error: an op that reads a sum and a value of one microbatch.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LowerExchanges : Pass<"plan-lower-exchanges", "::mlir::ModuleOp"> {
  let summary = "turn reshards of rows of experts into exchanges";
  let description = [{
    Where rows have to be on the rank of their expert, or come back, ranks exchange them. All ranks of the exchange
    gather the numbers of rows first, once for each route. What arrives is ordered by expert.

    ```mlir
    %1 = plan.reshard %0 : tensor<8x4x16xf32, [{}, {"dp"}, {} ], routed = rows> -> tensor<8x4x16xf32, [{"dp"}, {}, {} ], routed = rows>
    // becomes
    %1 = plan.exchange %0 by %numbers [#plan.axis<"dp">] : ... -> tensor<8x4x16xf32, [{"dp"}, {}, {} ], routed = arrivals>, tensor<2x8xi64, ...>
    %2 = plan.call "meshplan.order_by_expert"(%1, %numbers) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD
