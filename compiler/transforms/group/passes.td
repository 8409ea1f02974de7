//===- passes.td - phase group: units and buckets -------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD

include "mlir/Pass/PassBase.td"

def GroupCollectives : Pass<"plan-group-collectives", "::mlir::ModuleOp"> {
  let summary = "make collectives of data parallelism in one piece";
  let description = [{
    What ranks gather of the parameters of one unit, in the forward or in the
    backward pass, is gathered in one piece where the first of them is needed.
    The gradients of a unit are reduced in one piece when the last of them is
    there, and so are new parameters gathered behind the optimizer. With `bucket`
    a piece has at most that many bytes, or one tensor; with `bucket 0` each
    tensor is alone. Parameters that stay whole
    are in no unit: their gradients are reduced in the order in which they come,
    a piece for each `bucket`, or one by one without.

    Parameters that lie in one storage (`contiguous_parameters`) are gathered in
    the order in which they will lie there: those that the backward pass reads,
    too, before the others, else in the order of the arguments of the step.

    Members of a piece stand one after the other with the same `bucket`; what
    reads them moves behind the last. Where the statement does not overlap
    gradients their collectives are `blocking`. `plan.data` stays.

    ```mlir
    %0 = plan.all_gather %w0 [#plan.axis<"dp">] bucket 0 : ...
    %1 = plan.all_gather %w1 [#plan.axis<"dp">] bucket 0 : ...
    %2 = plan.call "aten.linear.default"(%x, %0, %1) ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LayOutBuffers : Pass<"plan-lay-out-buffers", "::mlir::ModuleOp"> {
  let summary = "what is moved in one piece lies in one storage";
  let description = [{
    With `contiguous_parameters` the parameters of a unit lie one after the other
    in one storage (`plan.storage`), where gathers that take a run of them find
    it packed. New parameters that are gathered behind the optimizer get into the
    place of the parameter, without a copy of their own.

    With `contiguous_gradients` a piece of gradients lies in one storage, too, of
    accumulators. What ranks add up whole is added up there: microbatches add to
    it; without them each gradient is copied to it when it is made
    (`meshplan.assign`), and its own tensor goes. What a reduce-scatter makes is
    put there.

    ```mlir
    func.func @step(..., %a: tensor<4xf32, ...> {plan.kind = "accumulator", plan.names = ["w.gradient"],
        plan.scratch, plan.storage = {name = "gradients from w", position = 0}}) {
      %0 = plan.reduce_scatter %g [#plan.axis<"dp">] : ... -> ... into %a : ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def PrefetchGathers : Pass<"plan-prefetch-gathers", "::mlir::ModuleOp"> {
  let summary = "gather units before they are needed";
  let description = [{
    With `prefetch N` the gather of a unit stands where the N-th unit before it,
    in the order of the program, is first read: it is under way while those
    units are computed. Removes `plan.data`.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def InsertTransfers : Pass<"plan-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "copy what lies on the host to the device, and gradients to the host";
  let description = [{
    Arguments with `plan.host` lie in the memory of the host. The forward and the
    backward pass each get a copy of a parameter on the device, where it is first
    read or gathered; it is gone when it was. A call of the optimizer runs on the
    host where what it keeps lies there: its gradient is copied to the host before
    the next ones are reduced, behind what is summed over its elements, and a
    parameter of the other memory is copied there and assigned back. Results of
    such a call are converted on the host and copied to the device where they are
    gathered. Calls that run on the host get `plan.host`.

    ```mlir
    %0 = plan.call "meshplan.to_host"(%gradient) {self = #base.operand<0>} {plan.host} : ...
    %1:3 = plan.call "meshplan.adam"(%parameter, %0, %average, %square, ...) {...} {plan.host} : ...
    ```
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD
