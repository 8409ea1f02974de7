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
    Placed in the module beside `plan.mesh`, once for each module of the model, or parameter of one,
    that a statement matches; the location is the statement, `text` its text.
    `place` turns it into shardings of parameters and layouts at the borders of
    the module, and `propagate`, which tells who divides what, removes it. `dim` is the dim that `sequence` divides;
    `parts` are the relative sizes of the parts of a fused weight.

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
    The value is input or output `index` of the module: of what comes from
    outside, or is read outside, in the order of the program; outputs of the
    root module are those of the function. `layout` has the dims of the value
    (`exact`) or the leading ones, of which the others are whole, and speaks of
    `axes` only. `place` turns it into a `plan.constrain` and removes it. Where
    the plan lists the dims, `names` has what it calls them (empty for one
    without a name) and `extents` the sizes that these names stand for (0
    without a name): the value has to have them.

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
    `target` is the overload's name ("aten.linear.default") or a kernel
    ("meshplan.attention"). `args` holds every argument that is not the default
    of the schema, by name: `#base.operand<i>` for a tensor, a list of them (or
    `unit` for None) for a list of tensors, else the literal: `i64`, `f64`,
    `i1`, string, type for a dtype, array of integers. A call that is `backward`
    computes gradients: it belongs to the module whose forward call it
    differentiates, and no style or border speaks of it.

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
    /// True if the call belongs to the module of the model at `path` or to one inside it. All are inside the root, "".
    bool isInModule(::llvm::StringRef path);
  }];
}

def Plan_ConstrainOp : Plan_Op<"constrain", [Pure]> {
  let summary = "a layout that the plan states";
  let description = [{
    Says how the value is laid out along `axes`, and nothing about other axes.
    The location is the plan's statement, `style` its text. The importer places
    one at each border of a module that has a style; propagation obeys and
    removes it.
  }];
  let arguments = (ins AnyRankedTensor:$input, Plan_ShardingAttr:$layout, Plan_AxisRefs:$axes, StrAttr:$style);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $layout `along` $axes `as` $style attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Plan_MatchOp : Plan_Op<"match", [Pure]> {
  let summary = "a gradient or a new value, laid out as what it belongs to";
  let description = [{
    The gradient of `value`, summed over whatever the ranks hold addends of, and
    divided as `value` is; where `value` itself is partial, whole: each of its
    addends counts fully. `plan-differentiate` places one for each value that
    has a gradient, so that every gradient reduction follows from the layouts
    of the forward pass; propagation obeys and removes it. With `flat` the result is
    cut once more over these axes.

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
  let summary = "the output of the model that training makes smaller";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement.
    `output` counts the results of the function. `plan-differentiate` removes
    it. Without one the program is a forward program.
  }];
  let arguments = (ins I64Attr:$output);
  let assemblyFormat = "$output attr-dict";
}

def Plan_NormalizeLossOp : Plan_Op<"normalize_loss"> {
  let summary = "the plan takes the mean of the losses of classes, whatever the model makes of them";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement.
    `output` counts the results of the function. `per token` is the mean over
    the targets of the batch that count, `per sequence` the mean over the
    samples of the mean over the targets of each. `plan-normalize-loss` removes
    it.

    ```mlir
    plan.normalize_loss 0 per sequence
    ```
  }];
  let arguments = (ins I64Attr:$output, Plan_LossUnitAttr:$per);
  let assemblyFormat = "$output `per` $per attr-dict";
}

def Plan_DataOp : Plan_Op<"data"> {
  let summary = "how ranks that have different samples share parameters and what belongs to them";
  let description = [{
    Placed in the module beside `plan.mesh`, once for each statement `data`; the
    location is the statement, `text` its first words. An argument that it is
    about says which one (`plan.data`, a position among these ops) and, if a
    statement names one, its unit (`plan.unit`, a number that no other statement
    uses). What `shard` names, and what stands before it in the order optimizer,
    gradients, parameters, is divided over `axes`. Collectives of one unit are
    made in one piece, or in pieces of at most `bucket` bytes; with `bucket 0`
    each is alone. Where nothing is divided units say nothing, and without
    `bucket` each is alone, too. `prefetch` is
    the number of units that are gathered before they are needed; with 0 each is
    waited for where it starts, and so are gradients without
    `overlap_gradients`. Gradients are reduced when those of all microbatches are
    added up, or with `reduce_each` in each. With `average_after` what ranks add
    up is as many times the gradient, and divided by that number behind the sum.
    With `offload_parameters` the parameters, with `offload_optimizer` what the
    optimizer keeps for them lies in the memory of the host.
    What is moved in one piece of the parameters that are stored divided lies in
    one buffer with `contiguous_parameters`, where they are not the new ones are
    gathered into their place; with `contiguous_gradients` a piece of gradients
    is reduced into a buffer. Buffers are known to the communicators that use
    them with `register_buffers`.

    ```mlir
    plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients}
    ```
  }];
  let arguments = (ins Plan_DataStageAttr:$shard, Plan_AxisRefs:$axes, OptionalAttr<I64Attr>:$bucket,
                       I64Attr:$prefetch, StrAttr:$text, UnitAttr:$overlap_gradients, UnitAttr:$reduce_each,
                       OptionalAttr<I64Attr>:$average_after,
                       UnitAttr:$offload_parameters, UnitAttr:$offload_optimizer, UnitAttr:$contiguous_parameters,
                       UnitAttr:$contiguous_gradients, UnitAttr:$register_buffers);
  let assemblyFormat = "$shard `over` $axes (`bucket` $bucket^)? `prefetch` $prefetch `as` $text attr-dict";
  let hasVerifier = 1;
}

def Plan_MicrobatchesOp : Plan_Op<"microbatches"> {
  let summary = "the batch of a training step is run in pieces, one after the other";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement.
    `plan-place-microbatches` makes time an axis of the mesh, the last one, over
    which the batch is divided: what is partial over it is accumulated.
    `plan-split-microbatches` removes the axis again.

    With `mean` the program is that of one microbatch, which the step runs for
    each, and takes the mean of their losses. What microbatches have for
    themselves lies between `plan.enter_microbatch` and `plan.leave_microbatch`.

    ```mlir
    plan.microbatches 4
    ```
  }];
  let arguments = (ins I64Attr:$count, UnitAttr:$mean);
  let assemblyFormat = "$count (`mean` $mean^)? attr-dict";
}

def Plan_EnterMicrobatchOp : Plan_Op<"enter_microbatch", [Pure]> {
  let summary = "the samples of the microbatch that runs";
  let description = [{
    The dim of the input is made of `count` parts of equal size, each divided
    over ranks as the dim of the result is: a microbatch has the same samples
    on any mesh. No data moves. `plan-split-microbatches` makes a call of it.

    ```mlir
    %0 = plan.enter_microbatch %x dim 0 of 3 : tensor<24x4xf32, #plan.sharding<[{"dp", parts [8, 8, 8]}, {} ]>> -> tensor<8x4xf32, #plan.sharding<[{"dp"}, {} ]>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, I64Attr:$count);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim `of` $count attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How a dim with the samples of `count` microbatches is divided over these axes.
    static DimShardingAttr divideBatch(int64_t extent, int64_t count, ::llvm::ArrayRef<AxisRefAttr> axes, MeshOp mesh);
    /// The layout that the result has by that of the input, which is decided.
    ShardingAttr getResultSharding();
  }];
}

def Plan_LeaveMicrobatchOp : Plan_Op<"leave_microbatch", [Pure]> {
  let summary = "what each microbatch has for itself becomes an addend of the sum over all";
  let description = [{
    The result is partial over time, and else what the input is. `text` is the
    statement that asks for the sum.

    ```mlir
    %1 = plan.leave_microbatch %0 as "microbatches 3 mean" : tensor<f32, #plan.sharding<[]>> -> tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$text);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `as` $text attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The layout that the result has by that of the input, which is decided, and partial over sums only.
    ShardingAttr getResultSharding();
  }];
}

def Plan_PrecisionOp : Plan_Op<"precision"> {
  let summary = "in which floating-point types a training keeps and moves numbers";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement. A
    type that it does not name is that of the archive: `compute` of products
    (`plan-autocast` removes it), `storage` of parameters, `gather` of what is
    gathered of them, `reduce` of gradients while they are added up, `master` of
    the parameters that the optimizer changes, `state` of what else it keeps.
    Gradients are those of the loss times `loss_scale`.

    ```mlir
    plan.precision {master = f32, reduce = f32}
    ```
  }];
  let arguments = (ins OptionalAttr<TypeAttr>:$compute, OptionalAttr<TypeAttr>:$storage,
                       OptionalAttr<TypeAttr>:$gather, OptionalAttr<TypeAttr>:$reduce, OptionalAttr<TypeAttr>:$master,
                       OptionalAttr<TypeAttr>:$state, OptionalAttr<Plan_LossScaleAttr>:$loss_scale);
  let assemblyFormat = "attr-dict";
}

def Plan_RecomputeOp : Plan_Op<"recompute"> {
  let summary = "what a module of the model makes is made again for the backward pass";
  let description = [{
    Placed in the module beside `plan.mesh`, once for each module of the model
    that a statement matches; the location is the statement. Results of operators
    that `keep` names ("attention", "linear") are kept. `plan-recompute` removes
    it.

    ```mlir
    plan.recompute "model.layers.0" keep ["attention"]
    ```
  }];
  let arguments = (ins StrAttr:$module, StrArrayAttr:$keep);
  let assemblyFormat = "$module `keep` $keep attr-dict";
}

def Plan_OptimizerOp : Plan_Op<"optimizer"> {
  let summary = "how the plan changes parameters by their gradients";
  let description = [{
    Placed in the module beside `plan.mesh`; the location is the statement.
    `groups` are the numbers of each parameter group, the first for parameters
    that no group names; an argument that is trained says its group with
    `plan.group`. `schedule` says how the learning rate changes with the steps; `clip` is the largest norm of all gradients. A
    step with gradients that are NaN or infinite changes nothing where
    `nonfinite` is `skip`, and before the run stops where it is `stop`.
    `plan-add-optimizer-step` removes it.

    ```mlir
    plan.optimizer sgd groups [{lr = 1.0e-01 : f64, momentum = 0.0 : f64, ...} ] clip 1.000000e+00
    ```
  }];
  let arguments = (ins Plan_OptimizerKindAttr:$kind,
                       TypedArrayAttrBase<DictionaryAttr, "list of numbers by name">:$groups,
                       OptionalAttr<Base_RateScheduleAttr>:$schedule, OptionalAttr<F64Attr>:$clip,
                       OptionalAttr<Plan_NonfiniteActionAttr>:$nonfinite);
  let assemblyFormat = "$kind `groups` $groups (`schedule` $schedule^)? (`clip` $clip^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_ReshardOp : Plan_Op<"reshard", [Pure]> {
  let summary = "the same tensor under another sharding";
  let description = [{
    Placed by propagation where a consumer cannot take the layout of the
    producer; `partition` turns it into collectives. The location is the plan's
    statement that caused it.
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

/// One that may be made in one piece with others: those of the same `bucket` that follow one another. Without `dim` it
/// is about the flat axes. One that is `blocking` is waited for where it starts. The result of one with a `target` is in
/// its place: nothing reads the target afterwards.
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
  let summary = "adds up a partial value and leaves it divided along one dim, or flat";
  let arguments = bucketed;
}

def Plan_AllReduceOp : Plan_BucketedOp<"all_reduce"> {
  let summary = "adds up a partial value; has no `dim`";
  let arguments = bucketed;
}

def Plan_AllToAllOp : Plan_CollectiveOp<"all_to_all"> {
  let summary = "moves the most minor axes of one dim to the most minor place of another";
  let arguments = !con(common, (ins I64Attr:$from_dim, I64Attr:$to_dim));
  let assemblyFormat = [{
    $input $axes `from` $from_dim `to` $to_dim (`because` $cause^)? attr-dict `:` type($input) `->` type($result)
  }];
}

def Plan_PermuteOp : Plan_CollectiveOp<"permute"> {
  let summary = "hands each shard to another rank: the same shard counts under other axes";
  let arguments = common;
  let assemblyFormat = "$input $axes (`because` $cause^)? attr-dict `:` type($input) `->` type($result)";
}

def Plan_SliceOp : Plan_CollectiveOp<"slice"> {
  let summary = "keeps the rank's part of a dim, or of all elements in their order; no communication";
  let arguments = !con(common, (ins OptionalAttr<I64Attr>:$dim));
  let assemblyFormat = "$input $axes (`dim` $dim^)? (`because` $cause^)? attr-dict `:` type($input) `->` type($result)";
}

#endif // MESHPLAN_DIALECT_PLAN_OPS_TD
