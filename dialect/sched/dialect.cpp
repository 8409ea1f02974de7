//===- dialect.cpp - the sched dialect ------------------------------------===//

#include "dialect/sched/sched.h"

using namespace mlir;
using namespace meshplan::sched;

#include "dialect/sched/dialect.cpp.inc"

void SchedDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/sched/ops.cpp.inc"
      >();
}
