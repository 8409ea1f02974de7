//===- argument_names.h - what arguments of a program are called *- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_ARGUMENT_NAMES_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_ARGUMENT_NAMES_H

#include "dialect/plan/plan.h"

#include <optional>

namespace meshplan {

/// The first name that the model has for a parameter; "parameter" for one without.
llvm::StringRef parameterName(mlir::BlockArgument parameter);

/// The dim of an input that the plan calls `batch`.
std::optional<unsigned> batchDimOf(mlir::BlockArgument input);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_ARGUMENT_NAMES_H
