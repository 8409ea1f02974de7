//===- traffic.cpp - bytes that a collective moves ------------------------===//

#include "compiler/report/traffic.h"

using namespace mlir;
using meshplan::sched::CollectiveKind;

int64_t meshplan::trafficBytes(CollectiveKind kind, int64_t ranks, int64_t bytes) {
  switch (kind) {
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::all_to_all:
    return 2 * (ranks - 1) * bytes / ranks;
  case CollectiveKind::all_reduce:
    return 4 * (ranks - 1) * bytes / ranks;
  case CollectiveKind::permute:
    return 2 * bytes;
  }
  return 0;
}

int64_t meshplan::tensorBytes(sched::StartOp start) {
  bool gathers = start.getKind() == CollectiveKind::all_gather;
  int64_t bytes = 0;
  for (auto [input, result] : llvm::zip_equal(start.getInputs(), start.getToken().getType().getTensors()))
    bytes += sched::largestBytes(gathers ? result : llvm::cast<sched::ShardedTensorType>(input.getType()));
  return bytes;
}

int64_t meshplan::trafficBytes(sched::StartOp start, int64_t ranks) {
  return trafficBytes(start.getKind(), ranks, tensorBytes(start));
}
