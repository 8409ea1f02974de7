//===- coalesced.cpp - collectives that are one collective ----------------===//

#include "compiler/sharding/coalesced.h"
#include "dialect/plan/reshard_steps.h"

using namespace mlir;
using namespace meshplan;

static bool areCoalesced(Operation *op, Operation *neighbour) {
  return neighbour && plan::bucketOf(op) && op->getName() == neighbour->getName() &&
         plan::bucketOf(op) == plan::bucketOf(neighbour) && plan::stepAxes(op) == plan::stepAxes(neighbour);
}

SmallVector<Operation *, 1> meshplan::coalescedWith(Operation *op) {
  while (areCoalesced(op, op->getPrevNode()))
    op = op->getPrevNode();
  SmallVector<Operation *, 1> ops{op};
  while (areCoalesced(op, op->getNextNode()))
    ops.push_back(op = op->getNextNode());
  return ops;
}
