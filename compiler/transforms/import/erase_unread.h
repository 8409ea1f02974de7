//===- erase_unread.h - erases calls that nothing reads ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ERASE_UNREAD_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ERASE_UNREAD_H

#include "mlir/IR/Block.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshplan {

/// Erases the ops of a block whose results are not read, including those that become unread.
inline void eraseUnread(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ERASE_UNREAD_H
