//===- plan.td - the plan dialect -----------------------------------------===//
//
// The program as the user wrote it, and what follows from it: global shapes,
// with a sharding for every value.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_PLAN_TD
#define MESHPLAN_DIALECT_PLAN_PLAN_TD

include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::meshplan::plan";
  let summary = "programs with global shapes and explicit shardings";
  let description = [{
    A module holds one `plan.mesh` and functions of the `func` dialect. A value is a ranked tensor with its *global*
    shape; its sharding is the encoding of the type, an attribute `#plan.sharding`. A tensor without encoding is
    undecided. Operators are `plan.call`; data moves between ranks only in the collective ops, each of which changes the
    sharding and nothing else.

    Arguments of a function have the attributes `plan.kind` ("parameter", "buffer", "input", "setting"), `plan.names`
    (the names that the model gives to one tied tensor) and, for inputs, `plan.dims` (the plan's names of the dims). A
    sharding that the plan states for an argument is its `plan.sharding`, with `plan.parts` where the divided dim is
    made of parts. A parameter that a data statement covers names the statement (`plan.data`), its unit (`plan.unit`)
    and whether the gathered parameter is kept (`plan.keep`). A "setting" is a number that the run supplies.

    A training step has arguments of two more kinds. A "state" belongs to a parameter (`plan.of`) and starts as zeros,
    or as a copy of the parameter (`plan.copies`). An "accumulator" starts as zeros in each step and holds a sum over
    microbatches. Results have `plan.name`. The call that begins the backward pass has `plan.loss_gradient`. A step
    whose output `nonfinite` the run must check says how in `plan.guard` (see `sched.program`). Arguments and results of
    calls with `plan.host` are tensors in host memory; all others are on the device.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

#endif // MESHPLAN_DIALECT_PLAN_PLAN_TD
