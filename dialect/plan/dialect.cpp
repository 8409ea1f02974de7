//===- dialect.cpp - the plan dialect -------------------------------------===//

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace meshplan::plan;

#include "dialect/plan/dialect.cpp.inc"
#include "dialect/plan/enums.cpp.inc"

void PlanDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/plan/ops.cpp.inc"
      >();
}
