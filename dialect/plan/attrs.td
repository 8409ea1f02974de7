//===- attrs.td - attributes of the plan dialect --------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_ATTRS_TD
#define MESHPLAN_DIALECT_PLAN_ATTRS_TD

include "dialect/base/attrs.td"
include "dialect/plan/enums.td"
include "dialect/plan/plan.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Plan_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Plan_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Plan_DataStageAttr : EnumAttr<Plan_Dialect, Plan_DataStage, "data_stage">;

def Plan_LossUnitAttr : EnumAttr<Plan_Dialect, Plan_LossUnit, "loss_unit">;

def Plan_ArgumentKindAttr : EnumAttr<Plan_Dialect, Plan_ArgumentKind, "kind"> {
  let description = [{
    A `parameter` or `buffer` is the model's; an `input` is given for each batch; a `setting` is a number that the run
    gives. A training step also has a `state`, which the optimizer keeps for a parameter, and an `accumulator`, which
    holds a sum over microbatches.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Plan_ArgumentRefAttr : Plan_Attr<"ArgumentRef", "argument"> {
  let summary = "an argument of the function, by kind and name";
  let description = [{
    `name` is the first of the argument's `plan.names`. Names are unique among the arguments of one kind: a model may
    have an input and a parameter of one name. Unlike its number, the name of an argument does not change when others
    are inserted or erased. ArgumentTable (argument_table.h) finds the argument.

    ```mlir
    %m: tensor<4xf32> {plan.kind = #plan.kind<state>, plan.names = ["w.exp_avg"], plan.of = #plan.argument<parameter "w">}
    ```
  }];
  let parameters = (ins EnumParameter<Plan_ArgumentKind>:$kind, "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $kind $name `>`";
  let genVerifyDecl = 1;
}

def Plan_ModuleRunAttr : Plan_Attr<"ModuleRun", "module_run"> {
  let summary = "which call of a module of the model an op belongs to";
  let description = [{
    `#plan.module_run<"block" = 1>` is the second time that the model calls the module at path `block`. The first call of
    a module, run 0, is not written.
  }];
  let parameters = (ins StringRefParameter<"path of the module">:$path, "int64_t":$run);
  let assemblyFormat = "`<` $path `=` $run `>`";
  let genVerifyDecl = 1;
}

def Plan_StandInAttr : EnumAttr<Plan_Dialect, Plan_StandIn, "stand_in"> {
  let assemblyFormat = "`<` $value `>`";
}

def Plan_OptimizerKindAttr : EnumAttr<Plan_Dialect, Plan_OptimizerKind, "optimizer_kind">;

def Plan_OptimizerGroupAttr : Plan_Attr<"OptimizerGroup", "optimizer_group"> {
  let summary = "the numbers of the optimizer for one group of parameters";
  let description = [{
    Those of the classes of torch.optim. A number that is left out is 0.

    ```mlir
    #plan.optimizer_group<lr = 0.1 : f64, momentum = 0.9 : f64>
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$lr, OptionalParameter<"::mlir::FloatAttr">:$weight_decay,
                        OptionalParameter<"::mlir::FloatAttr">:$beta1, OptionalParameter<"::mlir::FloatAttr">:$beta2,
                        OptionalParameter<"::mlir::FloatAttr">:$eps, OptionalParameter<"::mlir::FloatAttr">:$momentum,
                        OptionalParameter<"::mlir::FloatAttr">:$dampening,
                        DefaultValuedParameter<"bool", "false">:$nesterov);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_NonfiniteActionAttr : EnumAttr<Plan_Dialect, Plan_NonfiniteAction, "nonfinite">;

def Plan_RoutingRuleAttr : EnumAttr<Plan_Dialect, Plan_RoutingRule, "routing_rule">;

def Plan_LossScaleAttr : Plan_Attr<"LossScale", "loss_scale"> {
  let summary = "the number that multiplies the loss, so that gradients fit 16 bits";
  let description = [{
    Begins as `initial`. With an `interval` the run multiplies it by `backoff` after a step with gradients that are NaN
    or infinite, and by `growth` after `interval` steps without.
  }];
  let parameters = (ins "::mlir::FloatAttr":$initial, OptionalParameter<"::mlir::FloatAttr">:$growth,
                        OptionalParameter<"::mlir::FloatAttr">:$backoff,
                        DefaultValuedParameter<"int64_t", "0">:$interval);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_InitRuleAttr : Plan_Attr<"InitRuleOf", "init_rule"> {
  let summary = "initial values whose width follows from the features of the parameter";
  let description = [{
    `plan-place-init` replaces it by `#base.init`. The formulas are those of torch.nn.init; `fan` says which features
    kaiming counts. `text` is the statement, at `location`.

    ```mlir
    #plan.init_rule<rule = kaiming_uniform, gain = 1.0 : f64, fan = in, text = "kaiming uniform", location = loc("a.plan":7:3)>
    ```
  }];
  let parameters = (ins EnumParameter<Plan_InitRule>:$rule, "::mlir::FloatAttr":$gain, EnumParameter<Plan_FanKind>:$fan,
                        "::mlir::StringAttr":$text, "::mlir::LocationAttr":$location);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_StyleKindAttr : EnumAttr<Plan_Dialect, Plan_StyleKind, "style_kind">;

def Plan_AxisRefAttr : Plan_Attr<"AxisRef", "axis"> {
  let summary = "a mesh axis or a part of one";
  let description = [{
    `"tp"` is the whole axis. `"tp":(2)4` is a sub-axis: write a coordinate of `tp` as a mixed-radix number; the
    sub-axis is its digit of size 4, and the sizes of the more major digits multiply to 2. A sub-axis that covers the
    whole axis is not allowed.
  }];
  let parameters = (ins StringRefParameter<"name of the mesh axis">:$name, "int64_t":$pre, "int64_t":$size);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{ return $_get($_ctxt, name, int64_t(0), int64_t(0)); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if this is the whole axis.
    bool isWhole() const { return getSize() == 0; }
    /// True if both contain a common digit of one axis.
    bool overlaps(AxisRefAttr other) const;
  }];
}

def Plan_DimShardingAttr : Plan_Attr<"DimSharding", "dim"> {
  let summary = "sharding of one dim of a tensor";
  let description = [{
    `{"dp", "tp"}` divides the dim over the axes, major to minor; `{}` keeps it whole. `?` at the end marks the dim as
    open: propagation may add axes. `unit 64` makes every 64 consecutive elements a block that is never cut. `repeat 3`
    counts each block three times when blocks are distributed, so that neighbouring shards may both hold one. `parts [64
    unit 16, 8 repeat 3, 8 repeat 3]` makes the dim a concatenation of parts; each part is divided on its own, in its
    own blocks (see extent.h). A dim that is not divided has no block size, repeat count or parts. Where every shard has
    the same number of blocks, the block size makes no difference and is written as 1 (see canonicalDim in plan.h).
  }];
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "bool":$open, "int64_t":$unit,
                        ArrayRefParameter<"::meshplan::DimPart">:$parts, "int64_t":$repeat);
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<AxisRefAttr>":$axes, CArg<"bool", "false">:$open), [{
      return $_get($_ctxt, axes, open, int64_t(1), ::llvm::ArrayRef<::meshplan::DimPart>(), int64_t(1));
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<AxisRefAttr>":$axes, "bool":$open, "int64_t":$unit,
                     "::llvm::ArrayRef<::meshplan::DimPart>":$parts), [{
      return $_get($_ctxt, axes, open, unit, parts, int64_t(1));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Plan_ShardingAttr : Plan_Attr<"Sharding", "sharding",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "sharding of a tensor";
  let description = [{
    One entry for each dim, then the axes over which the tensor is `partial` (each rank holds an addend), and those over
    which it is explicitly `replicated`. An axis that is not named is replicated if every dim is closed, else undecided.
    No axis, and no digit of an axis, is used twice.

    ```mlir
    tensor<4x96x576xf32, #plan.sharding<[{"dp"}, {}, {} ], partial = sum {"tp"}>>
    ```

    `flat` splits the shard that the dims leave to a rank again: its elements, in row-major order and regardless of
    dims, are split evenly over the flat axes, and each rank holds a contiguous run of them as a tensor of rank 1. Data
    parallelism stores parameters, gradients and optimizer states in this form: two ranks differ by at most one element.

    ```mlir
    tensor<96x576xf32, #plan.sharding<[{"tp"}, {} ], flat = {"dp"}>>
    ```

    `routed` says that a rank stores only what tokens have chosen of its shard. `plan-store-routed` adds it.

    ```mlir
    tensor<8x4x16x64xf32, #plan.sharding<[{}, {"dp"}, {}, {} ], routed = #base.routed<rows, dims = 3, slots = 2>>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"DimShardingAttr">:$dims, "Reduction":$reduction,
                        ArrayRefParameter<"AxisRefAttr">:$partialAxes, ArrayRefParameter<"AxisRefAttr">:$replicatedAxes,
                        ArrayRefParameter<"AxisRefAttr">:$flatAxes,
                        OptionalParameter<"::meshplan::base::RoutedAttr">:$routed);
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<DimShardingAttr>":$dims), [{
      return $_get($_ctxt, dims, Reduction::none, ::llvm::ArrayRef<AxisRefAttr>(), ::llvm::ArrayRef<AxisRefAttr>(),
                   ::llvm::ArrayRef<AxisRefAttr>(), ::meshplan::base::RoutedAttr());
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<DimShardingAttr>":$dims, "Reduction":$reduction,
                     "::llvm::ArrayRef<AxisRefAttr>":$partialAxes), [{
      return $_get($_ctxt, dims, reduction, partialAxes, ::llvm::ArrayRef<AxisRefAttr>(),
                   ::llvm::ArrayRef<AxisRefAttr>(), ::meshplan::base::RoutedAttr());
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<DimShardingAttr>":$dims, "Reduction":$reduction,
                     "::llvm::ArrayRef<AxisRefAttr>":$partialAxes,
                     "::llvm::ArrayRef<AxisRefAttr>":$replicatedAxes), [{
      return $_get($_ctxt, dims, reduction, partialAxes, replicatedAxes, ::llvm::ArrayRef<AxisRefAttr>(),
                   ::meshplan::base::RoutedAttr());
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// A closed sharding in which every dim is whole and nothing is partial.
    static ShardingAttr getReplicated(::mlir::MLIRContext *context, int64_t rank);
    int64_t getRank() const { return getDims().size(); }
    bool isPartial() const { return !getPartialAxes().empty(); }
    bool isFlat() const { return !getFlatAxes().empty(); }
    /// True if every dim is whole and the tensor is neither partial nor flat.
    bool isReplicated() const;
    /// True if no dim is open.
    bool isClosed() const;
    /// The same sharding with other axes for one dim, divided element by element.
    ShardingAttr withDim(int64_t dim, ::llvm::ArrayRef<AxisRefAttr> axes) const;
    /// The same sharding with one dim replaced.
    ShardingAttr withDim(int64_t dim, DimShardingAttr sharding) const;
    /// The same sharding without partial axes.
    ShardingAttr withoutPartial() const;
    /// The same sharding, partial over these axes. `Reduction::none` gives a sharding that is not partial.
    ShardingAttr withPartial(Reduction reduction, ::llvm::ArrayRef<AxisRefAttr> axes) const;
    /// The same sharding with these flat axes. Without axes it is not flat.
    ShardingAttr withFlat(::llvm::ArrayRef<AxisRefAttr> axes) const;
    /// The same sharding of a routed value; of any value if `routed` is null.
    ShardingAttr withRouted(::meshplan::base::RoutedAttr routed) const;
  }];
}

def Plan_StorageAttr : Plan_Attr<"Storage", "storage"> {
  let summary = "a position in a buffer of parameters or accumulators";
  let description = [{
    Arguments with one `name` lie in one buffer in the order of `position`, without gaps. All programs of a module share
    the buffer; a program that does not read one of the arguments leaves out its position. With `registered`, the buffer
    is registered with the communicators that use it.
  }];
  let parameters = (ins StringRefParameter<"name of the buffer">:$name, "int64_t":$position,
                        DefaultValuedParameter<"bool", "false">:$registered);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_MergeableAttr : Plan_Attr<"Mergeable", "mergeable"> {
  let summary = "which collectives may be coalesced";
  let description = [{
    Collectives of one function with one `set` have one kind, axes, element type and purpose. Any of them may become one
    collective of at most `most` bytes, or of any number for 0. Which of them do is decided with the schedule.
  }];
  let parameters = (ins "int64_t":$set, "int64_t":$most);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_PrefetchAttr : Plan_Attr<"Prefetch", "prefetch"> {
  let summary = "how far ahead a parameter is gathered in program order";
  let description = [{
    Gathers of one function with one `unit` serve the forward pass, or the backward pass, of one FSDP unit. In program
    order they start where the unit is first read that is gathered `ahead` units earlier; with 0 at their own position.
    Other orders start them as memory allows.
  }];
  let parameters = (ins "int64_t":$unit, "int64_t":$ahead);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_CauseAttr : Plan_Attr<"Cause", "cause"> {
  let summary = "the statement of the plan that caused an axis of a value";
  let description = [{
    `#plan.cause<"tp" because "rowwise tp" at loc("a.plan":7:3)>` records that the statement at that location divides a
    value over `tp`, or makes it partial over `tp`. Propagation attaches a list of causes as metadata to the location of
    each op whose results are divided or partial (withCauses, getCauses), so that later phases and reports can name the
    statement. Arguments have their own location and `plan.style` instead.
  }];
  let parameters = (ins StringRefParameter<"name of the mesh axis">:$axis,
                        OptionalParameter<"::mlir::StringAttr", "the statement as written">:$text,
                        "::mlir::LocationAttr":$statement);
  let assemblyFormat = "`<` $axis (`because` $text^)? `at` $statement `>`";
  let genVerifyDecl = 1;
}

#endif // MESHPLAN_DIALECT_PLAN_ATTRS_TD
