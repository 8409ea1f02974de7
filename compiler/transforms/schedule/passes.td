//===- passes.td - passes of the phase `schedule` -------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"schedule", "::mlir::ModuleOp"> {
  let summary = "orders the steps of every rank: plan -> sched";
  let description = [{
    Turns every function of a partitioned program into a `sched.program`.
    Collectives become a start right after the producer and a wait before the
    first use. Of results that are larger than what they are made of, such as
    gathered activations, two are started before they are needed, and of values
    that nothing but collectives in flight read, such as gradients, no more is
    held than two of the largest. There is one communicator for each distinct list of axes.
    Values are freed after their last use. The schedule is verified before it
    is written (compiler/scheduling). A function of the role `reference` runs on
    one rank, all others on all ranks.

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
  let dependentDialects = ["::meshplan::sched::SchedDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD
