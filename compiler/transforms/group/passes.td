//===- passes.td - phase group: units and buckets -------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD

include "mlir/Pass/PassBase.td"

def GroupCollectives : Pass<"plan-group-collectives", "::mlir::ModuleOp"> {
  let summary = "coalesce collectives of data parallelism";
  let description = [{
    The parameters of one unit are gathered as one coalesced collective, where the first of them is needed: once for the
    forward and once for the backward pass. The gradients of a unit are reduced as one collective when the last of them
    exists, and new parameters are gathered likewise after the optimizer. With `bucket` the schedule decides which
    tensors of a unit are coalesced (`plan.mergeable`), up to that many bytes; with `bucket 0` none are. Replicated
    parameters have no units: the schedule decides for all their gradients, up to `bucket` bytes or without a limit.

    Tensors that share a storage, and those of a statement that offloads, are coalesced here, in the order of the
    program: into buckets of at most `bucket` bytes or of one larger tensor. Without `bucket`, a unit is one bucket, and
    each gradient of a replicated parameter is alone.

    A gather of a parameter says how many units ahead of its readers the solver `program` starts it (`plan.prefetch`),
    and whether one gather serves all microbatches (`plan.once`).

    Parameters that share a storage (`contiguous_parameters`) are gathered in the order of the storage: first those that
    the backward pass reads as well, then the others, each in the order of the arguments of the step.

    Members of a bucket agree in kind, axes, element type, purpose, and unit or statement. They are adjacent and have
    the same `bucket`; their readers move after the last member. A member on which the last member depends is not
    coalesced. A collective of a gradient is `blocking` where the statement does not overlap gradients, and a gather of
    a parameter where it gathers no unit ahead. `plan.data` is kept.

    ```mlir
    %0 = plan.all_gather %w0 [#plan.axis<"dp">] bucket 0 : ...
    %1 = plan.all_gather %w1 [#plan.axis<"dp">] bucket 0 : ...
    %2 = plan.call "aten.linear.default"(%x, %0, %1) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LayOutBuffers : Pass<"plan-lay-out-buffers", "::mlir::ModuleOp"> {
  let summary = "make the tensors of coalesced collectives contiguous";
  let description = [{
    With `contiguous_parameters` the parameters of a unit are contiguous in one storage (`plan.storage`), so that a
    gather of a range of them needs no packing. New parameters that are gathered after the optimizer are written
    directly into the old parameters, without a copy. Removes `plan.data`.

    With `contiguous_gradients` a bucket of gradients is contiguous in one storage, too, which consists of accumulators.
    Gradients that are all-reduced are accumulated there by the microbatches; without microbatches each gradient is
    copied there when it is computed (`meshplan.assign`), and its own tensor is freed. A reduce-scatter writes its
    result there.

    ```mlir
    func.func @step(..., %a: tensor<4xf32, ...> {plan.kind = #plan.kind<accumulator>, plan.names = ["w.gradient"],
        plan.scratch, plan.storage = #plan.storage<name = "gradients from w", position = 0>}) {
      %0 = plan.reduce_scatter %g [#plan.axis<"dp">] : ... -> ... into %a : ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def InsertTransfers : Pass<"plan-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "copy host tensors to the device, and gradients to the host";
  let description = [{
    Arguments with `plan.host` are in host memory. The forward and the backward pass each get a copy of a parameter on
    the device where it is first read or gathered; it is freed after its last read. A call of the optimizer runs on the
    host if its states are there. Its gradient is copied to the host before the next gradients are reduced; its norm and
    its number of non-finite elements are computed on the device before. A parameter on the device is copied to the host
    and assigned back. Results of such a call are converted on the host and copied to the device where they are
    gathered. Outputs on the host are copied to the device. Calls that run on the host get `plan.host`.

    ```mlir
    %0 = plan.call "meshplan.to_host"(%gradient) {self = #base.operand<0>} {plan.host} : ...
    %1:3 = plan.call "meshplan.adam"(%parameter, %0, %average, %square, ...) {...} {plan.host} : ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD
