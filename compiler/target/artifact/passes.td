//===- passes.td - the artifact as a pass ---------------------------------===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_PASSES_TD
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintArtifact : Pass<"print-artifact", "::mlir::ModuleOp"> {
  let summary = "prints the artifact of a sched module as text";
  let description = [{
    Serializes the module and prints what the bytes say, for tests. Does not change the module.

    ```
    v4 f32[8 over dp, 28 over tp] = aten.linear.default(input=v2, weight=v0)
    ```
  }];
}

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_PASSES_TD
