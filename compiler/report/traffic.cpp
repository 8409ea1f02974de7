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
  for (auto [input, result] : llvm::zip_equal(start.getInputs(), start.getToken().getType().getTensors())) {
    before += bytesOf(cast<ShardedTensorType>(input.getType()));
    after += bytesOf(result);
  }
  return trafficBytes(base::sentBytes(start.getKind(), before, after, ranks));
}
