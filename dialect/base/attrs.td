//===- attrs.td - attributes of the base dialect --------------------------===//

#ifndef MESHPLAN_DIALECT_BASE_ATTRS_TD
#define MESHPLAN_DIALECT_BASE_ATTRS_TD

include "dialect/base/enums.td"
include "dialect/base/base.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"

class Base_Attr<string name, string attrMnemonic> : AttrDef<Base_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Base_ProgramRoleAttr : EnumAttr<Base_Dialect, Base_ProgramRole, "role"> {
  let description = [{
    `forward` computes the outputs of a batch. `step` is a training step and `eval` the loss between the steps of a
    training. `reference` is the exported model on one rank, with which `meshplan-run verify` compares the ranks.
    `microbatch` only runs in the timeline of another program.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Base_WhenAttr : EnumAttr<Base_Dialect, Base_When, "when"> {
  let description = [{
    One body serves all microbatches. A step `always` runs in every instance of the program. `last` is the instance that
    ends the timeline, in which the sums over all microbatches are complete. `first` is the instance of microbatch 0:
    what it makes is there for all. A `deferred` step runs in the last instance at its own position; that of an earlier
    instance runs in the next one, where a `sched.resume` is.
  }];
  let assemblyFormat = "$value";
}

def Base_InstanceAttr : Base_Attr<"Instance", "instance"> {
  let summary = "a run of a program for one microbatch";
  let description = [{
    `#base.instance<@step, 2>` runs `@step` with 2 as the setting `microbatch`. A list of instances, in the order in
    which they run, is a timeline.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$program, "int64_t":$microbatch);
  let assemblyFormat = "`<` $program `,` $microbatch `>`";
  let genVerifyDecl = 1;
}

def Base_Timeline : TypedArrayAttrBase<Base_InstanceAttr, "list of instances">;

def Base_CollectiveKindAttr : EnumAttr<Base_Dialect, Base_CollectiveKind, "collective"> {
  let assemblyFormat = "$value";
}

def Base_DirectionAttr : EnumAttr<Base_Dialect, Base_Direction, "direction"> {
  let description = [{
    The part of a training step that an operation belongs to: the forward pass; the backward pass, with what it
    recomputes; or what follows from whole gradients (norms, the optimizer, new parameters).
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Base_PurposeAttr : EnumAttr<Base_Dialect, Base_Purpose, "purpose"> {
  let description = [{
    What a collective moves: parameters that are gathered; gradients that are reduced; values that the optimizer
    computes from all gradients, such as their norm; activations, and gradients of activations, are the rest.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Base_MeshAxisAttr : Base_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "name and size of an axis of the mesh";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `=` $size `>`";
  let genVerifyDecl = 1;
}

def Base_OperandRefAttr : Base_Attr<"OperandRef", "operand"> {
  let summary = "a tensor argument of a call, by operand index";
  let parameters = (ins "int64_t":$index);
  let assemblyFormat = "`<` $index `>`";
  let genVerifyDecl = 1;
}

def Base_LocalIntAttr : Base_Attr<"LocalInt", "local"> {
  let summary = "an integer argument that depends on the rank";
  let description = [{
    The value is constant + offset_scale * offset + (extent_scale + microbatch_scale * microbatch) * extent. `offset`
    and `extent` are those of `dim` of an operand or result of the call on the rank; `microbatch` is the index of the
    microbatch that runs. It is the IntExpr of the artifact. `#base.local<0, result 0, dim 2, extent 1>` is the local
    size of dim 2 of the first result.
  }];
  let parameters = (ins "int64_t":$constant, "bool":$ofResult, "int64_t":$index, "int64_t":$dim, "int64_t":$offsetScale,
                        "int64_t":$extentScale, "int64_t":$microbatchScale);
  let builders = [AttrBuilder<(ins "int64_t":$constant, "bool":$ofResult, "int64_t":$index, "int64_t":$dim,
                                   "int64_t":$offsetScale, "int64_t":$extentScale), [{
    return $_get($_ctxt, constant, ofResult, index, dim, offsetScale, extentScale, int64_t(0));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Base_RoutedAttr : Base_Attr<"Routed", "routed"> {
  let summary = "that a rank stores only the rows of chosen experts";
  let description = [{
    The first `dims` dims of a routed value are the experts and the dims of the tokens. A token chooses `slots` different
    experts, one in each of its slots, when the program runs. A value of `rows` has elements for the pairs of an expert
    and a token that chose it, and no others: a rank stores one index instead of these dims, with the pairs of its
    experts and tokens, by expert and then by token. A value of `counts` is the number of these pairs for each expert of
    the rank, in host memory. `arrivals` are rows in the order in which an exchange between ranks gives or takes them: by
    rank, and then as rows. With `reserve` a rank may have at most this many times as many rows as if all experts were
    chosen equally often. See runtime/schema/routed.h.

    ```mlir
    #base.routed<rows, dims = 3, slots = 2>   // of [experts, samples, positions, features]
    #base.routed<rows, dims = 3, slots = 2, reserve = 1.25 : f64>
    ```
  }];
  let parameters = (ins EnumParameter<Base_RoutedKind>:$kind, "int64_t":$dims, "int64_t":$slots,
                        OptionalParameter<"::mlir::FloatAttr">:$reserve);
  let assemblyFormat = "`<` $kind `,` `dims` `=` $dims `,` `slots` `=` $slots (`,` `reserve` `=` $reserve^)? `>`";
  let genVerifyDecl = 1;
}

def Base_InitAttr : Base_Attr<"Init", "init"> {
  let summary = "the distribution of the first elements of a parameter";
  let description = [{
    A training may begin without weights: each element is then drawn by its position in the whole tensor. `constant`
    has a `value`; `uniform` has `low` and `high`; `normal` has `mean` and `std`; `truncated_normal` has `mean`, `std`,
    `low` and `high`.
    The elements of a buffer may be `given` (`elements`, of the whole tensor).

    ```mlir
    #base.init<kind = normal, mean = 0.0 : f64, std = 0.02 : f64>
    ```
  }];
  let parameters = (ins EnumParameter<Base_InitKind>:$kind, OptionalParameter<"::mlir::FloatAttr">:$value,
                        OptionalParameter<"::mlir::FloatAttr">:$low, OptionalParameter<"::mlir::FloatAttr">:$high,
                        OptionalParameter<"::mlir::FloatAttr">:$mean, OptionalParameter<"::mlir::FloatAttr">:$std,
                        OptionalParameter<"::mlir::ElementsAttr">:$elements);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Base_PiecesAttr : Base_Attr<"Pieces", "pieces"> {
  let summary = "the names under which weight files have a parameter";
  let description = [{
    The tensors `before[i]` + `after[i]` are the parts of the parameter along `dim`, of `sizes[i]` elements. With a
    `count`, the first dim is stacked: its index is between the two texts, and each tensor lacks that dim. See
    runtime/schema/weight_pieces.h.

    ```mlir
    #base.pieces<before = ["experts.", "experts."], after = [".w1", ".w3"], sizes = [48, 48], dim = 1, count = 4>
    ```
  }];
  let parameters = (ins "::mlir::ArrayAttr":$before, "::mlir::ArrayAttr":$after, "::mlir::DenseI64ArrayAttr":$sizes,
                        DefaultValuedParameter<"int64_t", "0">:$dim, DefaultValuedParameter<"int64_t", "0">:$count);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    static PiecesAttr get(::mlir::MLIRContext *context, const ::meshplan::WeightPieces &pieces);
    ::meshplan::WeightPieces asPieces() const;
  }];
  let genVerifyDecl = 1;
}

def Base_RateScheduleAttr : Base_Attr<"RateSchedule", "rate_schedule"> {
  let summary = "the factor of the learning rate in each step";
  let description = [{
    The formula is that of RateSchedule in runtime/schema/schedule.fbs. `warmup`, `steps` and `decay` count steps.

    ```mlir
    #base.rate_schedule<kind = cosine, warmup = 10, steps = 100, min = 0.1 : f64>
    ```
  }];
  let parameters = (ins EnumParameter<Base_RateKind>:$kind, DefaultValuedParameter<"int64_t", "0">:$warmup,
                        DefaultValuedParameter<"int64_t", "0">:$steps, DefaultValuedParameter<"int64_t", "0">:$decay,
                        OptionalParameter<"::mlir::FloatAttr">:$min);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Base_GuardAttr : Base_Attr<"Guard", "guard"> {
  let summary = "what a run does after a step whose gradients are NaN or infinite";
  let description = [{
    The output `nonfinite` of the step counts such elements. If it is not 0, the step has changed nothing. The run then
    ends if the guard `stops`; otherwise it continues. With an `interval` the setting `loss_scale` is multiplied by
    `backoff` after such a step, and by `growth` after `interval` consecutive steps without such elements.

    ```mlir
    #base.guard<stops = false, growth = 2.0 : f64, backoff = 0.5 : f64, interval = 2000>
    ```
  }];
  let parameters = (ins "bool":$stops, OptionalParameter<"::mlir::FloatAttr">:$growth,
                        OptionalParameter<"::mlir::FloatAttr">:$backoff,
                        DefaultValuedParameter<"int64_t", "0">:$interval);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // MESHPLAN_DIALECT_BASE_ATTRS_TD
