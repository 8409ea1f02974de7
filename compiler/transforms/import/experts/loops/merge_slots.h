//===- merge_slots.h - loops over the slots of tokens -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_MERGE_SLOTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_MERGE_SLOTS_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// Makes one mixture of those of single slots, where each slot of a choice computes all experts. Calls become unread.
void mergeSlots(mlir::Block &block);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_MERGE_SLOTS_H
