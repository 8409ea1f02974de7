//===- expert_lists.h - experts that are lists of modules -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_EXPERT_LISTS_H
#define MESHPLAN_COMPILER_DRAFT_EXPERT_LISTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace meshplan {

/// The lists of modules that are the experts of a mixture, `model.layers.0.mlp.experts`, and the number of experts in
/// each: products of rows with a stack of their parameters.
std::map<std::string, int64_t> expertLists(mlir::func::FuncOp function);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_EXPERT_LISTS_H
