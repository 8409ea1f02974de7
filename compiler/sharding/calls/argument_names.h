//===- argument_names.h - names of a program's arguments --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_ARGUMENT_NAMES_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_ARGUMENT_NAMES_H

#include "dialect/plan/plan.h"

#include <optional>

namespace meshplan {

/// The first name of a parameter in the model; "parameter" if it has none.
llvm::StringRef parameterName(mlir::BlockArgument parameter);

/// The dim of an input that the plan names `batch`.
std::optional<unsigned> batchDimOf(mlir::BlockArgument input);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_ARGUMENT_NAMES_H
