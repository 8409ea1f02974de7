//===- reshard_steps.cpp - what the steps of a reshard share --------------===//

#include "dialect/plan/reshard_steps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace meshplan::plan;

/// `read` of the op under its own type, or null if the op is not a step.
template <typename Read> static auto ofStep(Operation *op, Read read) {
  using Result = decltype(read(AllGatherOp()));
  return TypeSwitch<Operation *, Result>(op)
      .template Case<AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp, ExchangeOp, PermuteOp, SliceOp>(read)
      .Default([](Operation *) { return Result(); });
}

/// `read` of a collective that may be in a bucket, or null.
template <typename Read> static auto ofBucketed(Operation *op, Read read) {
  using Result = decltype(read(AllGatherOp()));
  return TypeSwitch<Operation *, Result>(op).template Case<AllGatherOp, ReduceScatterOp, AllReduceOp>(read).Default(
      [](Operation *) { return Result(); });
}

ArrayAttr meshplan::plan::stepAxes(Operation *step) {
  return ofStep(step, [](auto op) { return op.getAxesAttr(); });
}

IntegerAttr meshplan::plan::stepDim(Operation *step) {
  if (auto exchange = dyn_cast<AllToAllOp>(step))
    return exchange.getToDimAttr();
  if (auto slice = dyn_cast<SliceOp>(step))
    return slice.getDimAttr();
  return ofBucketed(step, [](auto op) { return op.getDimAttr(); });
}

StringAttr meshplan::plan::stepCause(Operation *step) {
  return ofStep(step, [](auto op) { return op.getCauseAttr(); });
}

IntegerAttr meshplan::plan::bucketOf(Operation *step) {
  return ofBucketed(step, [](auto op) { return op.getBucketAttr(); });
}

void meshplan::plan::setBucket(Operation *collective, IntegerAttr bucket) {
  TypeSwitch<Operation *>(collective).Case<AllGatherOp, ReduceScatterOp, AllReduceOp>([&](auto op) {
    op.setBucketAttr(bucket);
  });
}

bool meshplan::plan::isBlocking(Operation *step) {
  return ofBucketed(step, [](auto op) { return op.getBlocking(); });
}

void meshplan::plan::setBlocking(Operation *collective) {
  TypeSwitch<Operation *>(collective).Case<AllGatherOp, ReduceScatterOp, AllReduceOp>([](auto op) {
    op.setBlocking(true);
  });
}
