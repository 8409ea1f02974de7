//===- ops.td - operations of the plan dialect ----------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_OPS_TD
#define MESHPLAN_DIALECT_PLAN_OPS_TD

include "dialect/plan/attrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Plan_Op<string opMnemonic, list<Trait> traits = []> : Op<Plan_Dialect, opMnemonic, traits>;

def Plan_AxisRefs : TypedArrayAttrBase<Plan_AxisRefAttr, "list of axes">;

def Plan_MeshOp : Plan_Op<"mesh"> {
  let summary = "the device mesh of the module";
  let description = [{
    Names and sizes of the axes, outermost first. The product of the sizes is
    the world size. A module has at most one mesh.

    ```mlir
    plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<Base_MeshAxisAttr, "list of mesh axes">:$axes);
  let assemblyFormat = "$axes attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of ranks.
    int64_t getWorldSize();
    /// Position of the axis of this name, or -1.
    int64_t findAxis(::llvm::StringRef name);
    /// Size of the axis at a position.
    int64_t getAxisSize(int64_t index);
    /// Names of the axes in order.
    ::llvm::SmallVector<::llvm::StringRef> getAxisNames();
  }];
}

def Plan_StyleOp : Plan_Op<"style"> {
  let summary = "the style that the plan gives to a module or to a parameter";
  let description = [{
    Placed in the module beside `plan.mesh`, once for each module or parameter of the model that a statement matches.
    The location is the statement, `text` its text. `place` turns it into shardings of parameters and layouts at the
    borders of the module. `propagate` removes it, after it has read it for diagnostics. `dim` is the dim that
    `sequence` divides; `parts` are the relative sizes of the parts of a fused weight.

    ```mlir
    plan.style "model.layers.0.mlp.down_proj" rowwise [#plan.axis<"tp">] as "rowwise tp"
    ```
  }];
  let arguments = (ins StrAttr:$module, Plan_StyleKindAttr:$kind, Plan_AxisRefs:$axes, StrAttr:$text,
                       DefaultValuedAttr<I64Attr, "1">:$dim, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$parts);
  let assemblyFormat = "$module $kind $axes `as` $text attr-dict";
  let hasVerifier = 1;
}

def Plan_BorderOp : Plan_Op<"border"> {
  let summary = "the layout that the plan states where a value crosses the border of a module";
  let description = [{
    The value is input or output `index` of the module, in program order. Inputs are the values that the module reads
    from outside; outputs are those of its values that are read outside; outputs of the root module are the results of
    the function. `layout` has all dims of the value (`exact`), or only the leading ones; the others are then whole. It
    says nothing about axes other than `axes`. `place` turns the op into a `plan.constrain` and removes it. Where the
    plan lists the dims, `names` has their names (empty for a dim without a name) and `extents` the sizes of these names
    (0 without a name), which the value must have.

    ```mlir
    plan.border "lm_head" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
    ```
  }];
  let arguments = (ins StrAttr:$module, BoolAttr:$is_input, I64Attr:$index, Plan_ShardingAttr:$layout, BoolAttr:$exact,
                       Plan_AxisRefs:$axes, StrAttr:$text, OptionalAttr<StrArrayAttr>:$names,
                       OptionalAttr<DenseI64ArrayAttr>:$extents);
  let assemblyFormat = [{
    $module `is_input` $is_input `index` $index $layout `exact` $exact `along` $axes `as` $text attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_ConstantOp : Plan_Op<"constant", [Pure]> {
  let summary = "a tensor whose value is in the archive";
  let arguments = (ins StrAttr:$name, ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$name $value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_CallOp : Plan_Op<"call", [Pure]> {
  let summary = "an ATen operator or a kernel of the runtime";
  let description = [{
    `target` is the name of the overload ("aten.linear.default") or of a kernel ("meshplan.attention"). `args` holds, by
    name, every argument that differs from the default of the schema: `#base.operand<i>` for a tensor; a list of these
    (or `unit` for None) for a list of tensors; else the literal: `i64`, `f64`, `i1`, string, type for a dtype, array of
    integers. A call with `backward` computes gradients: it belongs to the module whose forward call it differentiates,
    and no style or border applies to it.

    ```mlir
    %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
        : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$target, Variadic<AnyRankedTensor>:$operands, DictionaryAttr:$args,
                       OptionalAttr<StrAttr>:$module, UnitAttr:$backward);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $target `(` $operands `)` $args (`in` $module^)? (`backward` $backward^)? attr-dict `:`
    functional-type($operands, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True if the call belongs to the module of the model at `path` or to a module inside it. The root is "" and
    /// contains all.
    bool isInModule(::llvm::StringRef path);
  }];
}

def Plan_ConstrainOp : Plan_Op<"constrain", [Pure]> {
  let summary = "a layout that the plan states";
  let description = [{
    States the layout of the value along `axes`, and nothing about other axes. The location is the plan's statement,
    `style` its text. `place` inserts one at each border of a module that has a style; propagation obeys it and removes
    it.
  }];
  let arguments = (ins AnyRankedTensor:$input, Plan_ShardingAttr:$layout, Plan_AxisRefs:$axes, StrAttr:$style);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $layout `along` $axes `as` $style attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Plan_MatchOp : Plan_Op<"match", [Pure]> {
  let summary = "a gradient or a new value in the layout of its value";
  let description = [{
    The gradient of `value`: summed over the axes over which it is partial, and divided as `value` is. Where `value`
    itself is partial the gradient is replicated, because each addend of `value` contributes fully. `plan-differentiate`
    inserts one for each value that has a gradient, so that every gradient reduction follows from the layouts of the
    forward pass; propagation obeys it and removes it. With `flat` the result is split further over these axes.

    ```mlir
    %0 = plan.match %gradient to %weight : tensor<16x8xf32>, tensor<16x8xf32, #plan.sharding<[{"tp"}, {} ]>> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$value, OptionalAttr<Plan_AxisRefs>:$flat);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$gradient `to` $value (`flat` $flat^)? attr-dict `:` type($gradient) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Plan_LossOp : Plan_Op<"loss"> {
  let summary = "the output of the model that training minimizes";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement. `output` is the index of a result of the
    function. `plan-differentiate` removes it. Without this op the program is a forward program.
  }];
  let arguments = (ins I64Attr:$output);
  let assemblyFormat = "$output attr-dict";
  let hasVerifier = 1;
}

def Plan_NormalizeLossOp : Plan_Op<"normalize_loss"> {
  let summary = "the mean of losses of classes that the plan defines";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement. `output` is the index of a result of the
    function. `per token` is the mean over all targets of the batch that are not ignored. `per sequence` takes the mean
    over the targets of each sample first, and then the mean over the samples. `plan-normalize-loss` removes it.

    ```mlir
    plan.normalize_loss 0 per sequence
    ```
  }];
  let arguments = (ins I64Attr:$output, Plan_LossUnitAttr:$per);
  let assemblyFormat = "$output `per` $per attr-dict";
  let hasVerifier = 1;
}

def Plan_DataOp : Plan_Op<"data"> {
  let summary = "how data parallel ranks shard parameters, gradients and optimizer states";
  let description = [{
    Placed in the module beside `plan.mesh`, once for each `data` statement; the location is the statement, `text` its
    first words. Each argument that the statement covers names it by its position among these ops (`plan.data`), and its
    unit, if a statement names one (`plan.unit`, a number that is unique over all statements).

    `shard` and everything before it in the order optimizer, gradients, parameters is divided over `axes`. Collectives
    of one unit are coalesced, into buckets of at most `bucket` bytes; with `bucket 0` none are coalesced. Where no
    parameter is divided, units have no effect, and only `bucket` coalesces. `prefetch` is the number of
    units that are gathered before they are needed; with 0 each gather is waited for where it starts. Gradient
    reductions are waited for where they start, too, unless `overlap_gradients` is set. Gradients are reduced once,
    after all microbatches have accumulated, or with `reduce_each` in every microbatch. With `average_after` the ranks
    sum gradients that are too large by this factor, and divide by it after the sum.

    Where `shard` ends before parameters, the new ones are gathered after the optimizer, and a rank stores them whole.
    With `gather_in_step` it stores its shards of those that the step updates, and the next step gathers them beside its
    forward pass, once, and holds them until the backward pass has read them.

    With `offload_parameters` the parameters are in host memory, with `offload_optimizer` the optimizer states. With
    `contiguous_parameters` the divided parameters that one collective moves are stored in one buffer; where parameters
    are not divided, the new ones are gathered into it in place. With `contiguous_gradients` a bucket of gradients is
    reduced into a buffer. With `register_buffers` these buffers are registered with the communicators that use them.

    ```mlir
    plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients}
    ```
  }];
  let arguments = (ins Plan_DataStageAttr:$shard, Plan_AxisRefs:$axes, OptionalAttr<I64Attr>:$bucket,
                       I64Attr:$prefetch, StrAttr:$text, UnitAttr:$overlap_gradients, UnitAttr:$reduce_each,
                       OptionalAttr<I64Attr>:$average_after,
                       UnitAttr:$offload_parameters, UnitAttr:$offload_optimizer, UnitAttr:$contiguous_parameters,
                       UnitAttr:$contiguous_gradients, UnitAttr:$register_buffers, UnitAttr:$gather_in_step);
  let assemblyFormat = "$shard `over` $axes (`bucket` $bucket^)? `prefetch` $prefetch `as` $text attr-dict";
  let hasVerifier = 1;
}

def Plan_MicrobatchesOp : Plan_Op<"microbatches"> {
  let summary = "splits the batch of a training step into microbatches";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement. `plan-place-microbatches` adds time as the
    last axis of the mesh and divides the batch over it: a value that is partial over time is accumulated.
    `plan-split-microbatches` removes the axis again.

    With `mean` the model is written for one microbatch: the step runs it for each microbatch and takes the mean of
    their losses. Values that each microbatch has for itself are between `plan.enter_microbatch` and
    `plan.leave_microbatch`.

    ```mlir
    plan.microbatches 4
    ```
  }];
  let arguments = (ins I64Attr:$count, UnitAttr:$mean);
  let assemblyFormat = "$count (`mean` $mean^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_EnterMicrobatchOp : Plan_Op<"enter_microbatch", [Pure]> {
  let summary = "the samples of the microbatch that runs";
  let description = [{
    The dim of the input is a concatenation of `count` parts of equal size, each divided over ranks like the dim of the
    result: a microbatch has the same samples on any mesh. No data moves. `plan-split-microbatches` turns it into a
    call.

    ```mlir
    %0 = plan.enter_microbatch %x dim 0 of 3 : tensor<24x4xf32, #plan.sharding<[{"dp", parts [8, 8, 8]}, {} ]>> -> tensor<8x4xf32, #plan.sharding<[{"dp"}, {} ]>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, I64Attr:$count);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim `of` $count attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The division over these axes of a dim that has the samples of `count` microbatches.
    static DimShardingAttr divideBatch(int64_t extent, int64_t count, ::llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh);
    /// The layout of the result, given that of the input, which must be decided.
    ShardingAttr getResultSharding();
  }];
}

def Plan_LeaveMicrobatchOp : Plan_Op<"leave_microbatch", [Pure]> {
  let summary = "a value of each microbatch becomes an addend of the sum over all";
  let description = [{
    The result is partial over time, and otherwise has the layout of the input. `text` is the statement that asks for
    the sum.

    ```mlir
    %1 = plan.leave_microbatch %0 as "microbatches 3 mean" : tensor<f32, #plan.sharding<[]>> -> tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$text);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `as` $text attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The layout of the result, given that of the input, which must be decided and partial over sums only.
    ShardingAttr getResultSharding();
  }];
}

def Plan_PrecisionOp : Plan_Op<"precision"> {
  let summary = "floating-point types in which training stores, computes and sends";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement. A type that is not given is that of the
    archive. `compute` is the type of products (`plan-autocast` removes it), `storage` that of parameters, `gather` that
    of gathered parameters, `reduce` that of gradients while they are accumulated and reduced, `master` that of the
    parameters that the optimizer updates, and `state` that of the other optimizer states. Gradients are those of the
    loss times `loss_scale`.

    ```mlir
    plan.precision {master = f32, reduce = f32}
    ```
  }];
  let arguments = (ins OptionalAttr<TypeAttr>:$compute, OptionalAttr<TypeAttr>:$storage,
                       OptionalAttr<TypeAttr>:$gather, OptionalAttr<TypeAttr>:$reduce, OptionalAttr<TypeAttr>:$master,
                       OptionalAttr<TypeAttr>:$state, OptionalAttr<Plan_LossScaleAttr>:$loss_scale);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Plan_RecomputeOp : Plan_Op<"recompute"> {
  let summary = "recomputes the results of a module in the backward pass";
  let description = [{
    Placed in the module beside `plan.mesh`, once for each module of the model that a statement matches; the location is
    the statement. Results of the operators that `keep` names ("attention", "linear") are kept. `plan-recompute` removes
    it.

    ```mlir
    plan.recompute "model.layers.0" keep ["attention"]
    ```
  }];
  let arguments = (ins StrAttr:$module, StrArrayAttr:$keep);
  let assemblyFormat = "$module `keep` $keep attr-dict";
  let hasVerifier = 1;
}

def Plan_RoutingOp : Plan_Op<"routing"> {
  let summary = "a statement about the tokens that a module routes to its experts";
  let description = [{
    Placed in the module beside `plan.mesh`, once for each module of the model that a statement matches; the location is
    the statement. `reserve`: the factor of the balanced rows for which memory is planned. `capacity`: the factor of
    the balanced tokens of an expert beyond which tokens are dropped. `bias`: the rate of the update that balances the
    bias of the scores. `plan-place-routing` removes the first two, `plan-count-tokens` the last one.

    ```mlir
    plan.routing reserve 1.250000e+00 of "model.layers.0.mlp" as "reserve 1.25"
    ```
  }];
  let arguments = (ins Plan_RoutingRuleAttr:$rule, F64Attr:$number, StrAttr:$module, StrAttr:$text);
  let assemblyFormat = "$rule $number `of` $module `as` $text attr-dict";
  let hasVerifier = 1;
}

def Plan_OptimizerOp : Plan_Op<"optimizer"> {
  let summary = "how parameters are updated by their gradients";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement. `groups` has the numbers of each parameter
    group; the first group is for parameters that no group names. A trained argument names its group with `plan.group`.
    `schedule` is the schedule of the learning rate; `clip` is the largest allowed norm of
    all gradients together. If a gradient is non-finite, the step changes nothing where `nonfinite` is `skip`, and the
    run stops before the update where it is `stop`. `plan-add-optimizer-step` removes it.

    ```mlir
    plan.optimizer sgd groups [#plan.optimizer_group<lr = 1.0e-01 : f64, momentum = 0.0 : f64>] clip 1.000000e+00
    ```
  }];
  let arguments = (ins Plan_OptimizerKindAttr:$kind,
                       TypedArrayAttrBase<Plan_OptimizerGroupAttr, "list of groups">:$groups,
                       OptionalAttr<Base_RateScheduleAttr>:$schedule, OptionalAttr<F64Attr>:$clip,
                       OptionalAttr<Plan_NonfiniteActionAttr>:$nonfinite);
  let assemblyFormat = "$kind `groups` $groups (`schedule` $schedule^)? (`clip` $clip^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_ReshardOp : Plan_Op<"reshard", [Pure]> {
  let summary = "changes the sharding of a tensor";
  let description = [{
    Inserted by propagation where a consumer cannot take the layout of the producer; `partition` turns it into
    collectives. The location is the plan's statement that caused it.
  }];
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<StrAttr>:$cause);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input (`because` $cause^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

class Plan_CollectiveOp<string opMnemonic> : Plan_Op<opMnemonic, [Pure]> {
  let hasVerifier = 1;
  let results = (outs AnyRankedTensor:$result);
  dag common = (ins AnyRankedTensor:$input, Plan_AxisRefs:$axes, OptionalAttr<StrAttr>:$cause);
}

/// A collective that may be coalesced with others: those of the same `bucket` that are adjacent. Without `dim` it moves
/// the flat axes. A `blocking` collective is waited for where it starts. With a `target` the result is written in place
/// of the target, which is not read afterwards.
class Plan_BucketedOp<string opMnemonic> : Plan_CollectiveOp<opMnemonic> {
  dag bucketed = !con(common, (ins OptionalAttr<I64Attr>:$dim, OptionalAttr<I64Attr>:$bucket, UnitAttr:$blocking,
                                   Optional<AnyRankedTensor>:$target));
  let assemblyFormat = [{
    $input $axes (`dim` $dim^)? (`bucket` $bucket^)? (`blocking` $blocking^)? (`because` $cause^)? attr-dict `:`
    type($input) `->` type($result) (`into` $target^ `:` type($target))?
  }];
}

def Plan_AllGatherOp : Plan_BucketedOp<"all_gather"> {
  let summary = "removes the most minor axes of one dim, or the flat ones";
  let arguments = bucketed;
}

def Plan_ReduceScatterOp : Plan_BucketedOp<"reduce_scatter"> {
  let summary = "reduces a partial value and leaves it divided along one dim, or flat";
  let arguments = bucketed;
}

def Plan_AllReduceOp : Plan_BucketedOp<"all_reduce"> {
  let summary = "sums a partial value; has no `dim`";
  let arguments = bucketed;
}

def Plan_AllToAllOp : Plan_CollectiveOp<"all_to_all"> {
  let summary = "moves the most minor axes of one dim to the minor end of another";
  let arguments = !con(common, (ins I64Attr:$from_dim, I64Attr:$to_dim));
  let assemblyFormat = [{
    $input $axes `from` $from_dim `to` $to_dim (`because` $cause^)? attr-dict `:` type($input) `->` type($result)
  }];
}

def Plan_PermuteOp : Plan_CollectiveOp<"permute"> {
  let summary = "sends each shard to another rank: the same shard counts under other axes";
  let arguments = common;
  let assemblyFormat = "$input $axes (`because` $cause^)? attr-dict `:` type($input) `->` type($result)";
}

def Plan_ExchangeOp : Plan_CollectiveOp<"exchange"> {
  let summary = "sends rows to the ranks of their experts, or back";
  let description = [{
    The axes divide tokens before and experts after it, where the rows are `arrivals`, or the reverse. `counts`, i64
    [ranks, experts], has the numbers of rows of each rank of the group before they go to the experts.

    ```mlir
    %1 = plan.exchange %0 by %counts [#plan.axis<"dp">] : tensor<8x4x6x16xf32, ...> -> tensor<8x4x6x16xf32, ...>, tensor<2x8xi64, ...>
    ```
  }];
  let arguments = !con(common, (ins AnyRankedTensor:$counts));
  let assemblyFormat = [{
    $input `by` $counts $axes (`because` $cause^)? attr-dict `:` type($input) `->` type($result) `,` type($counts)
  }];
}

def Plan_SliceOp : Plan_CollectiveOp<"slice"> {
  let summary = "keeps the rank's shard of a dim, or of all elements in row-major order; no communication";
  let arguments = !con(common, (ins OptionalAttr<I64Attr>:$dim));
  let assemblyFormat = "$input $axes (`dim` $dim^)? (`because` $cause^)? attr-dict `:` type($input) `->` type($result)";
}

#endif // MESHPLAN_DIALECT_PLAN_OPS_TD
