//===- transfers.cpp - copies between device and host ---------------------===//

#include "compiler/sharding/storage/transfers.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/attributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

TransferOperands meshplan::transferOperands(CallOp call) {
  CallView view = CallView::of(call);
  if (call.getTarget() != assignTarget)
    return {call.getOperand(0), Value()};
  return {call.getOperand(*view.getOperand("source")), call.getOperand(*view.getOperand("self"))};
}

bool meshplan::isTransfer(CallOp call) {
  if (call.getTarget() == toHostTarget || call.getTarget() == toDeviceTarget)
    return true;
  if (call.getTarget() != assignTarget)
    return false;
  TransferOperands operands = transferOperands(call);
  return isOnHost(operands.source) != isOnHost(operands.target) &&
         operands.source.getType() == operands.target.getType();
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
