//===- attrs.td - attributes and types of the sched dialect ---------------===//

#ifndef MESHPLAN_DIALECT_SCHED_ATTRS_TD
#define MESHPLAN_DIALECT_SCHED_ATTRS_TD

include "dialect/base/attrs.td"
include "dialect/sched/sched.td"
include "mlir/IR/AttrTypeBase.td"

class Sched_Attr<string name, string attrMnemonic> : AttrDef<Sched_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Sched_Type<string name, string typeMnemonic> : TypeDef<Sched_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Sched_AxisAttr : Sched_Attr<"Axis", "axis"> {
  let summary = "a mesh axis or a digit of one";
  let description = [{
    `1:(1)3` is the digit of size 3 of the axis at position 1 of the mesh; the sizes of the more major digits multiply
    to 1. It is the AxisRef of runtime/schema/extent.h.
  }];
  let parameters = (ins "int64_t":$axis, "int64_t":$pre, "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if both contain a common digit of one axis.
    bool overlaps(AxisAttr other) const;
  }];
}

def Sched_DimAttr : Sched_Attr<"Dim", "dim"> {
  let summary = "global extent and division of a dim";
  let description = [{
    `576 over {1:(1)3} unit 64` is a dim of 576 elements divided over the axes, major to minor, in blocks of 64 elements
    that are never cut. `repeat 3` counts each block three times when blocks are distributed. `parts [512 unit 64, 64]`
    makes the dim a concatenation of parts; each part is divided on its own, in its own blocks (see extent.h).
  }];
  let parameters = (ins "int64_t":$extent, ArrayRefParameter<"AxisAttr">:$axes, "int64_t":$unit,
                        ArrayRefParameter<"::meshplan::DimPart">:$parts, "int64_t":$repeat);
  let builders = [AttrBuilder<(ins "int64_t":$extent, "::llvm::ArrayRef<AxisAttr>":$axes, "int64_t":$unit,
                                   "::llvm::ArrayRef<::meshplan::DimPart>":$parts), [{
    return $_get($_ctxt, extent, axes, unit, parts, int64_t(1));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sched_MemoryAttr : Sched_Attr<"Memory", "memory"> {
  let summary = "peak memory in bytes";
  let description = [{
    `peak` is the sum of parameters, constants, inputs, optimizer states, and the largest sum of live values and
    temporaries, on the rank where it is largest; `least` is the peak of the rank where it is smallest. `accumulators`
    are the tensors to which microbatches add. `evaluation` and `least_evaluation` are the same two peaks for the
    program `eval`, which runs between training steps: the loss is its only output, and the tensors that the step keeps
    stay allocated. The number of rows of experts may differ in each step. Then `peak` counts the rows that the plan
    reserves memory for, `balanced` is the largest peak if all experts are chosen equally often, and `worst` is the peak
    of a rank whose experts all tokens choose. Otherwise `balanced` and `worst` are 0. All of these are on the device;
    `host_parameters`, `host_states` and `host_peak` count the same in host memory.
  }];
  let parameters = (ins "int64_t":$parameters, "int64_t":$constants, "int64_t":$inputs, "int64_t":$peak,
                        "int64_t":$least, DefaultValuedParameter<"int64_t", "0">:$states,
                        DefaultValuedParameter<"int64_t", "0">:$accumulators,
                        DefaultValuedParameter<"int64_t", "0">:$host_parameters,
                        DefaultValuedParameter<"int64_t", "0">:$host_states,
                        DefaultValuedParameter<"int64_t", "0">:$host_peak,
                        DefaultValuedParameter<"int64_t", "0">:$evaluation,
                        DefaultValuedParameter<"int64_t", "0">:$least_evaluation,
                        DefaultValuedParameter<"int64_t", "0">:$balanced, DefaultValuedParameter<"int64_t", "0">:$worst);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sched_HeldAttr : Sched_Attr<"Held", "held"> {
  let summary = "tensors of one kind that a rank holds, and their total bytes";
  let description = [{
    `what` is the name of a parameter, state or input, or the operator that made the tensors. Layer numbers are replaced
    by `*`, so that tensors of equal layers are of one kind.
  }];
  let parameters = (ins StringRefParameter<"name or operator">:$what, StringRefParameter<"path">:$module,
                        "int64_t":$count, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sched_PeakAttr : Sched_Attr<"Peak", "peak"> {
  let summary = "the live tensors at the peak of the device memory, and the op that runs then";
  let description = [{
    `target` is the operator or collective that runs at the peak, in `module`; it is `end` where the outputs are taken.
    The kind with the most bytes comes first; a program whose tensors have no elements holds none.
  }];
  let parameters = (ins StringRefParameter<"operator">:$target, StringRefParameter<"path">:$module,
                        OptionalArrayRefParameter<"HeldAttr">:$held);
  let assemblyFormat = "`<` $target `in` $module (`:` $held^)? `>`";
  let genVerifyDecl = 1;
}

def Sched_TimeAttr : Sched_Attr<"Time", "time"> {
  let summary = "estimated nanoseconds of the slowest rank";
  let description = [{
    The busy time of the operators, of the collectives, and of the copies between device and host memory, on the
    cluster that the schedule was made for (compiler/cluster). Time in which several overlap counts in each.
  }];
  let parameters = (ins "int64_t":$compute, "int64_t":$communication, DefaultValuedParameter<"int64_t", "0">:$copies);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sched_TensorType : Sched_Type<"ShardedTensor", "tensor"> {
  let summary = "a sharded tensor";
  let description = [{
    Dims with global extents and layouts, the element type, and the axes over which the tensor of a rank is only an
    addend. A `flat` tensor splits the shard that the dims leave to a rank evenly over these axes, in row-major order; a
    rank holds a tensor of rank 1.

    ```mlir
    !sched.tensor<[4 over {0:(1)2}, 96, 576], f32, partial = sum {1:(1)3}>
    !sched.tensor<[96 over {1:(1)3}, 576], f32, flat = {0:(1)2}>
    ```

    A rank stores of a `routed` tensor only what tokens have chosen (`#base.routed`).

    ```mlir
    !sched.tensor<[8, 4 over {0:(1)2}, 16, 64], f32, routed = #base.routed<rows, dims = 3, slots = 2>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"DimAttr">:$dims, "::mlir::Type":$elementType, "Reduction":$reduction,
                        ArrayRefParameter<"AxisAttr">:$partialAxes, ArrayRefParameter<"AxisAttr">:$flatAxes,
                        OptionalParameter<"::meshplan::base::RoutedAttr">:$routed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sched_PackedType : Sched_Type<"Packed", "packed"> {
  let summary = "the elements of several tensors of a rank in one run of memory";
  let description = [{
    A collective sends and receives runs of memory. The elements are in the order in which the collective that reads or
    gives the value moves them: piece by piece, and within a piece tensor by tensor (runtime/schema/packing.h). A rank
    has as many elements as its shards of the `members` have together.

    ```mlir
    !sched.packed<!sched.tensor<[4], f32>, !sched.tensor<[8], f32>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"ShardedTensorType">:$members);
  let assemblyFormat = "`<` $members `>`";
  let genVerifyDecl = 1;
}

def Sched_TokenType : Sched_Type<"Token", "token"> {
  let summary = "a collective or a copy in flight, and the type of its result";
  let parameters = (ins "::mlir::Type":$result);
  let assemblyFormat = "`<` $result `>`";
  let genVerifyDecl = 1;
}

#endif // MESHPLAN_DIALECT_SCHED_ATTRS_TD
