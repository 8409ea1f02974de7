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

def PrefetchGathers : Pass<"plan-prefetch-gathers", "::mlir::ModuleOp"> {
  let summary = "gather units before they are needed";
  let description = [{
    With `prefetch N` the gather of a unit stands where the N-th unit before it,
    in the order of the program, is first read: it is under way while those
    units are computed. Removes `plan.data`.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_TD
