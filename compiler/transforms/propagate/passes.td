//===- passes.td - phase propagate: every value gets a sharding -----------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PASSES_TD
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PropagateShardings : Pass<"plan-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "give every value a sharding and insert reshards";
  let description = [{
    Walks each function in program order and obeys stated layouts. Otherwise a value keeps the layout of its producer
    until a consumer cannot take it; one `plan.reshard` before that consumer serves all consumers that need the same
    layout. A partial value is reduced before the first consumer that does not accept an addend: to a layout that some
    consumer wants (a reduce-scatter), or else replicated (an all-reduce).

    If operands disagree, divided parameters take precedence, then the larger tensor, then the earlier operand. An
    operand that is already available undivided for another consumer yields if its division would make the result
    partial. `plan.constrain`, `plan.match` and `plan.style` ops are removed. The location of an op records the
    statements that caused the axes of its results (`#plan.cause`).

    An operator without a record runs replicated: divided operands are gathered, with a warning. Fails where such an
    operator would read several microbatches, where a stated division does not fit the factors of a dim (heads), and
    where a style divides a dim into more shards than it has elements.
  }];
  let dependentDialects = ["::meshplan::plan::PlanDialect"];
  let options = [
    Option<"strict", "strict", "bool", "false", "reshards that nothing in the plan implies are errors">
  ];
}

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PASSES_TD
