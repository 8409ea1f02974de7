//===- ops.td - operations of the sched dialect ---------------------------===//

#ifndef MESHPLAN_DIALECT_SCHED_OPS_TD
#define MESHPLAN_DIALECT_SCHED_OPS_TD

include "dialect/sched/attrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Sched_Op<string opMnemonic, list<Trait> traits = []> : Op<Sched_Dialect, opMnemonic, traits>;
class Sched_Step<string opMnemonic, list<Trait> traits = []>
    : Sched_Op<opMnemonic, traits # [HasParent<"ProgramOp">]>;

def Sched_Axes : TypedArrayAttrBase<Sched_AxisAttr, "list of axes">;
def Sched_MeshAxes : TypedArrayAttrBase<Base_MeshAxisAttr, "list of mesh axes">;

// In which instances of the program a step runs.
def Sched_When : DefaultValuedAttr<Base_WhenAttr, "base::When::always">;

def Sched_Movable : AnyTypeOf<[Sched_TensorType, Sched_PackedType]>;

def Sched_MeshOp : Sched_Op<"mesh"> {
  let summary = "the device mesh";
  let description = [{
    Names and sizes of the axes, outermost first. The last axis varies fastest over the ranks.

    ```mlir
    sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]
    ```
  }];
  let arguments = (ins Sched_MeshAxes:$axes);
  let assemblyFormat = "$axes attr-dict";
  let hasVerifier = 1;
}

def Sched_CommunicatorOp : Sched_Op<"communicator", [Symbol]> {
  let summary = "groups of ranks whose coordinates differ only in these axes";
  let description = [{
    ```mlir
    sched.communicator @tp over [#sched.axis<1:(1)3>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sched_Axes:$axes);
  let assemblyFormat = "$sym_name `over` $axes attr-dict";
  let hasVerifier = 1;
}

def Sched_ProgramOp : Sched_Op<"program", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "an entry point: the steps of one rank, the same for all";
  let description = [{
    The `role` is what a run uses the program for. `devices` replaces the mesh of the module for a program that runs on
    other ranks, such as the reference on one rank.

    The `timeline` lists what one run of the program consists of, in order; without it, the program once. It ends with
    the instances of the program itself. The other programs in it have the role `microbatch`, and run nowhere else. An
    instance of microbatch m has m as the setting `microbatch`; the microbatches of each program are 0, 1, ... in this
    order.

    One body serves all instances: steps `when first` run only in the first one, and what they make is there for all
    until the last one frees it. Steps `when last` run only in the last one. The last one also runs steps `when
    deferred`, at their own position; those of an earlier instance run in the next one, where a `sched.resume` is.
    An accumulator has the value of its update after each instance and the steps that the instance has deferred; other
    updates and outputs are those of the last one.

    A `guard` says what follows from the output `nonfinite`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       DefaultValuedAttr<Base_ProgramRoleAttr, "base::ProgramRole::forward">:$role,
                       OptionalAttr<Sched_MeshAxes>:$devices,
                       OptionalAttr<Sched_MemoryAttr>:$memory, OptionalAttr<Sched_TimeAttr>:$time,
                       OptionalAttr<Base_Timeline>:$timeline, OptionalAttr<Base_GuardAttr>:$guard,
                       OptionalAttr<Sched_PeakAttr>:$peak);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`role` $role^)? (`timeline` $timeline^)? (`guard` $guard^)? (`devices` $devices^)? (`memory` $memory^)? (`time` $time^)? (`peak` $peak^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Sizes of the mesh axes of the ranks that run this program: `devices`, or the mesh of the module.
    ::llvm::SmallVector<int64_t> getMeshSizes();

    /// The program in whose timeline this one is: itself unless it only runs in that of another one.
    ProgramOp getRunner();

    /// How often a run of the runner runs this program.
    int64_t getInstances();
  }];
}

def Sched_ParameterOp : Sched_Step<"parameter"> {
  let summary = "a weight of the model";
  let description = [{
    Several names mean that the model ties these parameters; the first is the canonical name. A `buffer` is a PyTorch
    buffer and is not trained. With `host` the parameter is in host memory instead of on the device. With `init` a
    training may begin without weights: the elements are then drawn, each by its position in the whole tensor.
  }];
  let arguments = (ins StrArrayAttr:$names, UnitAttr:$trainable, UnitAttr:$buffer, UnitAttr:$host,
                       OptionalAttr<Base_InitAttr>:$init, OptionalAttr<Base_PiecesAttr>:$pieces);
  let results = (outs Sched_TensorType:$result);
  let assemblyFormat = "$names (`trainable` $trainable^)? (`buffer` $buffer^)? (`host` $host^)? (`init` $init^)? (`pieces` $pieces^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sched_ConstantOp : Sched_Step<"constant"> {
  let summary = "a tensor whose value is in the artifact";
  let arguments = (ins StrAttr:$name, ElementsAttr:$value);
  let results = (outs Sched_TensorType:$result);
  let assemblyFormat = "$name $value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sched_InputOp : Sched_Step<"input"> {
  let summary = "a tensor that the caller gives";
  let description = "`dims` are the plan's names of the dims, empty where a dim has none.";
  let arguments = (ins StrAttr:$name, OptionalAttr<StrArrayAttr>:$dims);
  let results = (outs Sched_TensorType:$result);
  let assemblyFormat = "$name (`dims` $dims^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sched_StateOp : Sched_Step<"state"> {
  let summary = "an optimizer state of a parameter, or an accumulator";
  let description = [{
    All zeros before the first step, or with `copies` a copy of the parameter. `parameter` is the first name of a
    parameter of the same program. A state without a parameter is an accumulator: it is zeros at the beginning of each
    step, or with `scratch` undefined, and may be partial. With `host` the state is in host memory instead of on the device.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$parameter, UnitAttr:$copies, UnitAttr:$scratch,
                       UnitAttr:$host);
  let results = (outs Sched_TensorType:$result);
  let assemblyFormat = [{
    $name (`of` $parameter^)? (`copies` $copies^)? (`scratch` $scratch^)? (`host` $host^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Sched_BufferOp : Sched_Step<"buffer"> {
  let summary = "parameters or accumulators that are contiguous in one storage";
  let description = [{
    The values are contiguous, in the order of `values` and without gaps, so that a collective over a range of them
    needs no copy. With `registered` the storage is registered with the collective backend beforehand. The op comes
    after the ops that define the values.

    ```mlir
    sched.buffer "parameters of model.layers.0" %0, %1 registered : !sched.tensor<[4], f32>, !sched.tensor<[8], f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Sched_TensorType>:$values, UnitAttr:$registered);
  let assemblyFormat = "$name $values (`registered` $registered^)? attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def Sched_SettingOp : Sched_Step<"setting"> {
  let summary = "a number that the run supplies for each step";
  let description = [{
    `value` is the default if the run supplies no other. A learning rate is multiplied by the factor of `schedule`
    for the step. The setting named `step` is the number of the step, starting at 1.
  }];
  let arguments = (ins StrAttr:$name, F64Attr:$value, OptionalAttr<Base_RateScheduleAttr>:$schedule);
  let results = (outs Sched_TensorType:$result);
  let assemblyFormat = "$name $value (`schedule` $schedule^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Sched_UpdateOp : Sched_Step<"update"> {
  let summary = "the value of a parameter or state from the next step on";
  let arguments = (ins Sched_TensorType:$value, Sched_TensorType:$target);
  let assemblyFormat = "$value `to` $target attr-dict `:` type($value) `to` type($target)";
  let hasVerifier = 1;
}

def Sched_GradientOp : Sched_Step<"gradient"> {
  let summary = "marks a value as the gradient of a parameter";
  let description = [{
    The gradient is summed over all ranks and not yet scaled by the optimizer. The op marks where the value is alive and
    does nothing. There is at most one for each parameter.
  }];
  let arguments = (ins Sched_TensorType:$value, Sched_TensorType:$parameter);
  let assemblyFormat = "$value `of` $parameter attr-dict `:` type($value) `of` type($parameter)";
  let hasVerifier = 1;
}

def Sched_OutputOp : Sched_Step<"output"> {
  let summary = "a tensor that the caller receives";
  let description = [{
    `loss` marks the one number that the gradients are of. With `experts` the output has for each of these modules the
    numbers of tokens that its experts have computed in the step, i64 [modules, experts]; `pairs` has for each the
    number of pairs of a token and a slot that its router has chosen experts for.
  }];
  let arguments = (ins StrAttr:$name, Sched_TensorType:$value, UnitAttr:$loss, OptionalAttr<StrArrayAttr>:$experts,
                       OptionalAttr<DenseI64ArrayAttr>:$pairs);
  let assemblyFormat = "$name $value (`loss` $loss^)? (`experts` $experts^)? (`pairs` $pairs^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Sched_ComputeOp : Sched_Step<"compute"> {
  let summary = "an ATen operator or a kernel of the runtime on the rank's tensors";
  let description = [{
    `args` holds, by name, every argument that differs from the default of the schema: `#base.operand<i>` for a tensor;
    a list of these (or `unit` for None) for a list of tensors; `#base.local` for an integer that depends on the rank;
    else the literal. `overwrites` has the indices of operands: the first results are written in place of these
    operands, and no later op reads their old values. With `host` the op runs on the host, and its results are in host
    memory; `sched.copy` copies a tensor there and back.

    ```mlir
    %y = sched.compute "aten.relu.default"(%x) {self = #base.operand<0>}
        : (!sched.tensor<[4], f32>) -> !sched.tensor<[4], f32>
    ```
  }];
  let arguments = (ins StrAttr:$target, Variadic<Sched_TensorType>:$operands, DictionaryAttr:$args,
                       OptionalAttr<DenseI64ArrayAttr>:$overwrites, OptionalAttr<StrAttr>:$module,
                       UnitAttr:$host, Sched_When:$when);
  let results = (outs Variadic<Sched_TensorType>:$results);
  let assemblyFormat = [{
    $target `(` $operands `)` $args (`overwrites` $overwrites^)? (`in` $module^)? (`host` $host^)?
    (`when` $when^)? attr-dict `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Sched_PackOp : Sched_Step<"pack"> {
  let summary = "puts tensors into one run of memory, for the collective that reads it";
  let description = [{
    Copies the elements in the order in which the collective sends them. With `in_place` the tensors are adjacent in one
    buffer (`sched.buffer`), in this order, and the result is that part of the buffer; nothing is copied. Exactly one
    `sched.start` reads the result, as its input, as its target, or as both.

    ```mlir
    %p = sched.pack %a, %b : (!sched.tensor<[4], f32>, !sched.tensor<[8], f32>)
        -> !sched.packed<!sched.tensor<[4], f32>, !sched.tensor<[8], f32>>
    ```
  }];
  let arguments = (ins Variadic<Sched_TensorType>:$tensors, UnitAttr:$in_place,
                       Sched_When:$when);
  let results = (outs Sched_PackedType:$result);
  let assemblyFormat = [{
    $tensors (`in_place` $in_place^)? (`when` $when^)? attr-dict `:`
    custom<Packed>(type($tensors), type($result))
  }];
  let hasVerifier = 1;
}

def Sched_UnpackOp : Sched_Step<"unpack"> {
  let summary = "takes tensors out of the run of memory that a collective gave";
  let description = [{
    Copies the elements into new tensors or, with `into`, in place of the targets, which are not read afterwards. With
    `in_place` the results are parts of `packed`, which the collective has written into a buffer; nothing is copied.

    ```mlir
    %a, %b = sched.unpack %r : !sched.packed<!sched.tensor<[4], f32>, !sched.tensor<[8], f32>>
    ```
  }];
  let arguments = (ins Sched_PackedType:$packed, Variadic<Sched_TensorType>:$targets, UnitAttr:$in_place,
                       Sched_When:$when);
  let results = (outs Variadic<Sched_TensorType>:$results);
  let assemblyFormat = [{
    $packed (`in_place` $in_place^)? (`when` $when^)? attr-dict `:`
    custom<Members>(type($packed), type($results)) (`into` $targets^ `:` type($targets))?
  }];
  let hasVerifier = 1;
}

def Sched_StartOp : Sched_Step<"start", [AttrSizedOperandSegments]> {
  let summary = "begins a collective";
  let description = [{
    The input must live until the wait, which gives the result. Either may be packed: several tensors that are moved at
    once, or one whose elements are not in the order in which they are moved. `sequence` counts the collectives and the
    copies (`sched.copy`) of the program, the same on every rank. `dim` is the dim that grows (all_gather) or is split
    (reduce_scatter, all_to_all); `from_dim` is the dim that an all_to_all gathers. Without `dim` an all_gather takes
    flat tensors and a reduce_scatter makes them. Several flat all_gathers, several flat reduce_scatters or several
    all_reduces may be coalesced into one collective. `activations` is the 16-bit type of the activations that the
    collective sums; the type that is sent may be wider. With `into` the result is written in place of the target, which
    is not read afterwards. An all_to_all of rows that are routed to experts has no dims but `counts`: the number of rows
    of each rank of the group, before they go to the experts, for each expert.

    ```mlir
    %t = sched.start all_gather %x dim 1 over @tp sequence 0 because "sequence tp"
        : !sched.tensor<[4, 6 over {1:(1)3}, 8], f32> -> !sched.token<!sched.tensor<[4, 6, 8], f32>>
    ```
  }];
  let arguments = (ins Base_CollectiveKindAttr:$kind, Sched_Movable:$input, OptionalAttr<I64Attr>:$dim,
                       OptionalAttr<I64Attr>:$from_dim, FlatSymbolRefAttr:$communicator,
                       I64Attr:$sequence, OptionalAttr<StrAttr>:$cause, OptionalAttr<StrAttr>:$module,
                       OptionalAttr<TypeAttr>:$activation_sum, Optional<Sched_Movable>:$target,
                       Optional<Sched_TensorType>:$counts, Sched_When:$when);
  let results = (outs Sched_TokenType:$token);
  let assemblyFormat = [{
    $kind $input (`from` $from_dim^)? (`dim` $dim^)? `over` $communicator `sequence` $sequence
    (`because` $cause^)? (`in` $module^)? (`activations` $activation_sum^)? (`when` $when^)? attr-dict `:` type($input) `->`
    type($token) (`into` $target^ `:` type($target))? (`by` $counts^ `:` type($counts))?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The wait that gives its result. Only in a verified program.
    WaitOp getWait();
  }];
}

def Sched_CopyOp : Sched_Step<"copy"> {
  let summary = "begins a copy between device memory and host memory";
  let description = [{
    The input must live until the wait, which gives the result: in host memory with `host`, else on the device. The
    input is in the other memory. `sequence` counts the copies together with the collectives of the program. With `into`
    the result is written in place of the target, which is not read afterwards.

    ```mlir
    %t = sched.copy %x host sequence 3 : <[4, 6], f32> -> <!sched.tensor<[4, 6], f32>>
    ```
  }];
  let arguments = (ins Sched_TensorType:$input, UnitAttr:$host, I64Attr:$sequence,
                       OptionalAttr<StrAttr>:$module, Optional<Sched_TensorType>:$target, Sched_When:$when);
  let results = (outs Sched_TokenType:$token);
  let assemblyFormat = [{
    $input (`host` $host^)? `sequence` $sequence (`in` $module^)? (`when` $when^)? attr-dict `:`
    type($input) `->` type($token) (`into` $target^ `:` type($target))?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The wait that gives its result. Only in a verified program.
    WaitOp getWait();
  }];
}

def Sched_WaitOp : Sched_Step<"wait"> {
  let summary = "waits for a collective or a copy and returns the result that the token promises";
  let arguments = (ins Sched_TokenType:$token, Sched_When:$when);
  let results = (outs Sched_Movable:$result);
  let assemblyFormat = "$token (`when` $when^)? attr-dict `:` custom<Landed>(type($token), type($result))";
  let hasVerifier = 1;
}

def Sched_SliceOp : Sched_Step<"slice"> {
  let summary = "the rank's shard of a tensor that is replicated over some axes; no communication";
  let arguments = (ins Sched_TensorType:$input, Sched_When:$when);
  let results = (outs Sched_TensorType:$result);
  let assemblyFormat = "$input (`when` $when^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Sched_ResumeOp : Sched_Step<"resume"> {
  let summary = "runs steps that the instance before has deferred";
  let description = [{
    Runs the next `steps` of the steps `when deferred`, in their order, for the instance before this one. Does nothing in
    the first instance. What they use lives until then: a collective may be in flight across the border.

    ```mlir
    sched.resume 2                             // of the instance before: the wait and the addition
    ...
    %t = sched.start reduce_scatter %gradient ...
    %sum = sched.wait %t when deferred
    %next = sched.compute "meshplan.accumulate"(%accumulator, %sum) ... when deferred
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$steps);
  let assemblyFormat = "$steps attr-dict";
}

def Sched_FreeOp : Sched_Step<"free"> {
  let summary = "frees values after their last use";
  let arguments = (ins Variadic<Sched_Movable>:$values, Sched_When:$when);
  let assemblyFormat = "$values (`when` $when^)? attr-dict `:` type($values)";
}

#endif // MESHPLAN_DIALECT_SCHED_OPS_TD
