//===- coalesced.cpp - collectives that are one collective ----------------===//

#include "compiler/sharding/coalesced.h"

using namespace mlir;

static bool areCoalesced(Operation *op, Operation *neighbour) {
  return neighbour && op->hasAttr("bucket") && op->getName() == neighbour->getName() &&
         op->getAttr("bucket") == neighbour->getAttr("bucket") && op->getAttr("axes") == neighbour->getAttr("axes");
}

SmallVector<Operation *, 1> meshplan::coalescedWith(Operation *op) {
  while (areCoalesced(op, op->getPrevNode()))
    op = op->getPrevNode();
  SmallVector<Operation *, 1> ops{op};
  while (areCoalesced(op, op->getNextNode()))
    ops.push_back(op = op->getNextNode());
  return ops;
}
