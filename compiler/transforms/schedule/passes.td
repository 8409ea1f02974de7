//===- passes.td - passes of the phase `schedule` -------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"schedule", "::mlir::ModuleOp"> {
  let summary = "schedule the steps of every rank: plan -> sched";
  let description = [{
    Turns every function of a partitioned program into a `sched.program`. The solver that `solver` names decides the
    order of its steps within the peak memory of the solver `program`. It also decides which collectives of a
    `plan.mergeable` set are merged, and which products and collectives are split, into at most `parts` parts. A
    collective becomes a start on its communicator, and a wait before its first use; values are freed
    after their last use. The schedule is verified before it is written. There is one communicator for each distinct
    list of axes. Durations are estimated for a cluster (compiler/cluster). A function of the role `reference` runs on
    one rank, every other function on all ranks.

    ```mlir
    %1 = plan.all_reduce %0 [#plan.axis<"tp">] : ...
    ```
    becomes
    ```mlir
    %t = sched.start all_reduce %0 over @tp sequence 0 : ...
    %1 = sched.wait %t : ...
    sched.free %0 : ...
    ```
  }];
  let options = [Option<"preset", "preset", "std::string", /*default=*/"\"cpu\"",
                        "preset cluster that durations are estimated for, if the pass is not created with a cluster">,
                 Option<"solver", "solver", "std::string", /*default=*/"::meshplan::scheduling::defaultSolver.str()",
                        "how the order is found: program, list or search (compiler/scheduling/algorithms.h)">,
                 Option<"parts", "parts", "int64_t", /*default=*/"1",
                        "into how many parts a product and the collective next to it may be split at most">];
  let dependentDialects = ["::meshplan::sched::SchedDialect"];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_TD
