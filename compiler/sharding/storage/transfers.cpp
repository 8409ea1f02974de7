//===- transfers.cpp - copies between device and host ---------------------===//

#include "compiler/sharding/storage/transfers.h"
#include "dialect/plan/attributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool meshplan::isTransfer(CallOp call) {
  return call.getTarget() == toHostTarget || call.getTarget() == toDeviceTarget;
}

Value meshplan::transfer(OpBuilder &builder, Location location, Value value, bool toHost) {
  NamedAttrList args;
  args.set("self", OperandRefAttr::get(builder.getContext(), 0));
  auto call =
      CallOp::create(builder, location, value.getType(), builder.getStringAttr(toHost ? toHostTarget : toDeviceTarget),
                     value, args.getDictionary(builder.getContext()), StringAttr(), UnitAttr());
  if (toHost)
    setOpAttr<attr::Host>(call, builder.getUnitAttr());
  return call.getResult(0);
}
