//===- traffic.cpp - bytes that a collective moves ------------------------===//

#include "compiler/report/traffic.h"

using namespace mlir;
using meshplan::sched::ShardedTensorType;

int64_t meshplan::trafficBytes(sched::StartOp start, int64_t ranks, Type element) {
  auto bytesOf = [&](ShardedTensorType type) {
    int64_t bytes = sched::largestBytes(type);
    return element ? bytes / sched::elementBytes(type.getElementType()) * sched::elementBytes(element) : bytes;
  };
  // Coalesced tensors are sent as one. The sum of their fractions would be inexact.
  int64_t before = 0, after = 0;
  for (ShardedTensorType tensor : sched::tensorsOf(start.getInput().getType()))
    before += bytesOf(tensor);
  for (ShardedTensorType tensor : sched::tensorsOf(start.getToken().getType().getResult()))
    after += bytesOf(tensor);
  return trafficBytes(base::sentBytes(start.getKind(), before, after, ranks));
}

int64_t meshplan::exchangeBytes(sched::StartOp start, int64_t ranks, RowLoad load) {
  int64_t bytes = 0;
  for (Type type : {start.getInput().getType(), start.getToken().getType().getResult()})
    bytes += sched::largestBytes(cast<ShardedTensorType>(type), load);
  // A rank keeps the rows of its own tokens for its own experts.
  return bytes - bytes / ranks;
}
