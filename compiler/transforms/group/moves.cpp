//===- moves.cpp - moves operations within a block ------------------------===//

#include "compiler/transforms/group/moves.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

/// As Operation::moveBefore, which makes MLIR number all operations of the block again when the next one is asked
/// whether it comes before another; an operation that is inserted gets a number between its neighbours.
static void insertBefore(Operation *op, Block::iterator anchor) {
  Block *block = op->getBlock();
  op->remove();
  block->getOperations().insert(anchor, op);
}

static bool isAfter(Operation *op, Operation *anchor) { return op != anchor && !op->isBeforeInBlock(anchor); }

static void moveProducersUp(Operation *op, Operation *anchor) {
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp(); producer && isAfter(producer, anchor)) {
      // Depth first: a producer of the producer must come before it.
      moveProducersUp(producer, anchor);
      insertBefore(producer, anchor->getIterator());
    }
}

void meshplan::moveUp(ArrayRef<Operation *> ops, Operation *anchor) {
  // Producers are moved first, all of them: then nothing has to come between the moved ops, which must be adjacent to
  // be coalesced.
  SmallVector<Operation *> moved;
  llvm::copy_if(ops, std::back_inserter(moved), [&](Operation *op) { return isAfter(op, anchor); });
  for (Operation *op : moved)
    moveProducersUp(op, anchor);
  for (Operation *op : moved)
    insertBefore(op, anchor->getIterator());
}

bool meshplan::moveDown(Operation *op, Operation *anchor) {
  if (!op->isBeforeInBlock(anchor))
    return false;
  llvm::SetVector<Operation *> readers;
  SmallVector<Operation *> pending{op};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val()->getUsers()) {
      // `anchor` depends on `op` through its readers.
      if (user == anchor)
        return false;
      if (user->isBeforeInBlock(anchor) && readers.insert(user))
        pending.push_back(user);
    }
  // Readers follow in their old order, which satisfies the dependences among them.
  SmallVector<Operation *> ordered = readers.takeVector();
  llvm::sort(ordered, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  insertBefore(op, anchor->getIterator());
  Block::iterator next = std::next(anchor->getIterator());
  for (Operation *reader : ordered)
    insertBefore(reader, next);
  return true;
}
