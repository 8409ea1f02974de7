//===- capacity_slots.h - one-hot positions of tokens -----------*- C++ -*-===//
//
// Experts with a capacity give each of their tokens a position. Tensors [*tokens, experts, positions] say by ones where
// a token goes (dispatch), or by gates how much of its row comes back (combine). Both are sums over the slots of
//
//   mask x positions     with mask = hot * (position < capacity), positions = one_hot(sum(position * mask, -1))
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_SLOTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_SLOTS_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// One addend of a dispatch or combine tensor: mask x positions, times numbers of each token.
struct CapacitySlot {
  mlir::Value mask;                         ///< integers [*tokens, experts]
  mlir::Value hot;                          ///< one_hot(chosen), of which the mask has the part that is kept
  mlir::Value positions;                    ///< one_hot(position)
  llvm::SmallVector<mlir::Value, 2> gates;  ///< factors, [*tokens] with dims of size 1
  llvm::SmallVector<mlir::Value, 2> before; ///< one-hot vectors of the slots whose tokens come first
  int64_t tokenDim = -1;                    ///< along which tokens are counted
};

/// The slots of which `value` [*tokens, experts, positions] is the sum; nullopt if it is not such a sum.
std::optional<llvm::SmallVector<CapacitySlot>> readCapacitySlots(mlir::Value value);

/// True if no two tokens of an expert have the same position: all slots count along the same dim, and the positions of
/// each come after those of all slots before it.
bool havePositionsOfTheirOwn(llvm::ArrayRef<CapacitySlot> slots);

/// The one-hot vectors that a value is, in another type or with other dims of tokens; null if it is none.
mlir::Value oneHotOf(mlir::Value value);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_SLOTS_H
