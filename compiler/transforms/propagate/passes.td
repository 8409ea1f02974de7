//===- passes.td - phase propagate: every value gets a sharding -----------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateShardings : Pass<"plan-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "give every value a sharding and place reshards where a consumer needs another";
  let description = [{
    Walks each function in program order. What is stated is obeyed; else the
    layout of the producer stays until a consumer cannot take it, and there
    stands one `plan.reshard`, shared by all consumers that need the same. A
    partial value is reduced at the first consumer that cannot take an addend:
    to the layout that some consumer wants (a reduce-scatter) or else whole. If
    operands disagree, parameters win, then the larger tensor, then the earlier
    operand; one that stands whole already, for another consumer, gives way
    where its division would make addends of the result. The `plan.constrain` and `plan.style` ops are removed. The location
    of an op keeps the statements behind the axes of its results (`#plan.cause`).

    Fails where a divided value reaches an operator without a record, and where
    a stated division does not come out even in a dim's factors (heads).
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
  let options = [
    Option<"strict", "strict", "bool", "false", "reshards that nothing in the plan implies are errors">
  ];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PASSES_TD
