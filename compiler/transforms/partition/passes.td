//===- passes.td - phase partition: reshards become collectives -----------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerReshards : Pass<"plan-lower-reshards", "::mlir::ModuleOp"> {
  let summary = "turn each reshard into slices and collectives";
  let description = [{
    The steps are those of `planReshard` (compiler/sharding/reshard.h). Each
    collective keeps the location and the text of the statement that caused it.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

def LocalizeCalls : Pass<"plan-localize-calls", "::mlir::ModuleOp"> {
  let summary = "rewrite calls to what runs on a rank";
  let description = [{
    Checks first that the shardings of operands and results of every call are
    those that its factor rule allows, then replaces literal sizes and offsets
    by `#plan.local`, and operators whose divided form is another kernel.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_PARTITION_PASSES_TD
