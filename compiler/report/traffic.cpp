//===- traffic.cpp - bytes that a collective moves ------------------------===//

#include "compiler/report/traffic.h"

using namespace mlir;
using meshplan::sched::ShardedTensorType;

int64_t meshplan::trafficBytes(sched::StartOp start, int64_t ranks, Type element) {
  auto bytesOf = [&](ShardedTensorType type) {
    int64_t bytes = sched::largestBytes(type);
    return element ? bytes / sched::elementBytes(type.getElementType()) * sched::elementBytes(element) : bytes;
  };
  double sent = 0;
  for (auto [input, result] : llvm::zip_equal(start.getInputs(), start.getToken().getType().getTensors()))
    sent += base::sentBytes(start.getKind(), bytesOf(cast<ShardedTensorType>(input.getType())), bytesOf(result), ranks);
  return trafficBytes(sent);
}
