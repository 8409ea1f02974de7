//===- plan.td - the plan dialect -----------------------------------------===//
//
// What the user wrote and what follows from it: a program with global shapes
// in which every value has a sharding.
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
    A module holds one `plan.mesh` and functions of the `func` dialect. A value
    is a ranked tensor with its *global* shape; its sharding is the encoding of
    the type, an attribute `#plan.sharding`. A tensor without encoding is
    undecided. Operators are `plan.call`; data moves between ranks only in the
    collective ops, each of which changes the sharding and nothing else.

    Arguments of a function carry the attributes `plan.kind` ("parameter",
    "buffer", "input", "setting"), `plan.names` (the names that the model gives to one
    tied tensor) and, for inputs, `plan.dims` (the plan's names of the dims).
    What the plan states of an argument itself is its `plan.sharding`, with
    `plan.parts` where the dim that is split is made of parts. A parameter that
    a data statement is about says which (`plan.data`), its unit (`plan.unit`)
    and whether what is gathered of it is kept (`plan.keep`). A "setting" is a
    number that the run gives. A training step has arguments of two more kinds:
    "state", which belongs to a parameter (`plan.of`) and begins as zeros or as
    that (`plan.copies`), and "accumulator", which begins as zeros in each step
    and holds a sum over microbatches. Results carry `plan.name`. The call that
    begins the backward pass has `plan.loss_gradient`; a step that the run judges
    by its output `nonfinite` says how (`plan.guard`, as `sched.program`).
    Arguments and calls with `plan.host` have, and give, tensors in the memory of
    the host; all others are on the device.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

#endif // MESHPLAN_DIALECT_PLAN_PLAN_TD
