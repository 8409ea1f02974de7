//===- repeated_blocks.h - what repeats in an order -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_REPEATED_BLOCKS_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_REPEATED_BLOCKS_H

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace meshplan::scheduling {

/// A number for each operation. Two operations have the same number if they agree in lane, communicator, costs, bytes
/// of workspace and buffers, and number of operands.
std::vector<unsigned> kindsOf(const Problem &problem);

/// Part of an order.
struct Block {
  size_t begin = 0, end = 0;

  size_t size() const { return end - begin; }
};

/// Cuts an order into blocks of at most `mostSize` operations. Where the kinds repeat with a period, at least once, a
/// block is one period (or as many equal parts of one as the limit needs), so that equal layers become equal blocks.
/// Elsewhere blocks have `mostSize` operations. Takes time of the length times `mostPeriod`.
std::vector<Block> repeatedBlocks(llvm::ArrayRef<unsigned> kinds, size_t mostSize, size_t mostPeriod);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_REPEATED_BLOCKS_H
