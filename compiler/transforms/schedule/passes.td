//===- passes.td - passes of the phase `schedule` -------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"schedule", "::mlir::ModuleOp"> {
  let summary = "schedule the steps of every rank: plan -> sched";
  let description = [{
    Turns every function of a partitioned program into a `sched.program`. A collective becomes a start directly after
    its producer and a wait before its first use. Of the collectives of one communicator whose results are larger than
    their inputs, such as all-gathers, at most two results wait for their readers. Values that only collectives in
    flight read, such as gradients, together take at most twice the size of the largest of them. There is one
    communicator for each distinct list of axes. Durations are estimated for a cluster (compiler/cluster). Values are freed after their last use. The schedule is verified before it is written
    (compiler/scheduling). A function of the role `reference` runs on one rank, every other function on all ranks.

    ```mlir
    %1 = plan.all_reduce %0 [#plan.axis<"tp">] : ...
    ```
    becomes
    ```mlir
    %t = sched.start all_reduce %0 over @tp on @communication sequence 0 : ...
    %1 = sched.wait %t on @compute : ...
    sched.free %0 on @compute : ...
    ```
  }];
  let options = [Option<"preset", "preset", "std::string", /*default=*/"\"cpu\"",
                        "preset cluster that durations are estimated for, if the pass is not created with a cluster">];
  let dependentDialects = ["::meshplan::sched::SchedDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD
