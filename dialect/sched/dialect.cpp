//===- dialect.cpp - the sched dialect ------------------------------------===//
//
// Rules have labels (D) that reappear in test/dialect/sched/trace_attributes.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/sched/sched.h"

using namespace mlir;
using namespace meshplan;
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

/// The discardable attributes of the dialect are read by the serializer with the types that sched.td says. One of
/// another type, or of a misspelt name, would leave its default in every trace.
LogicalResult SchedDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool hasType = false, isMeant = isa<StartOp>(op);
  if (name == DirectionAttrHelper::getNameStr()) {
    hasType = isa<base::DirectionAttr>(attribute.getValue());
    isMeant = isa<ComputeOp, SliceOp, StartOp, CopyOp>(op);
  } else if (name == PurposeAttrHelper::getNameStr()) {
    hasType = isa<base::PurposeAttr>(attribute.getValue());
  } else if (name == SubjectAttrHelper::getNameStr()) {
    hasType = isa<StringAttr>(attribute.getValue());
  } else { // D1
    return op->emitOpError() << "has '" << name << "', which the dialect does not know";
  }
  if (!hasType) // D2
    return op->emitOpError() << "has '" << name << "' of the wrong type, " << attribute.getValue();
  if (!isMeant) // D3
    return op->emitOpError() << "has '" << name << "', which means nothing on it";
  return success();
}
