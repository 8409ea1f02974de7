//===- apply_splits.h - operations as parts ---------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_APPLY_SPLITS_H
#define MESHPLAN_COMPILER_SCHEDULING_APPLY_SPLITS_H

#include "compiler/scheduling/choices.h"

namespace meshplan::scheduling {

/// The part of resolve() that splits. `merged` is the problem in which the merges are decided, `split` are indices into
/// the splittables of `problem`. Fails with V11 as resolve() says.
llvm::Expected<Resolution> applySplits(const Problem &problem, Resolution merged, llvm::ArrayRef<unsigned> split);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_APPLY_SPLITS_H
