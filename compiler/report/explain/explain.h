//===- explain.h - why a tensor has its layout ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLAIN_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLAIN_H

#include "compiler/report/explain/explanation.h"
#include "compiler/report/explain/target.h"
#include "mlir/IR/BuiltinOps.h"

namespace meshplan {

/// Explains a parameter, buffer, input or output of the model by name, a module of `modulePaths`, or a value at the
/// border of one. `module` is a program after `partition`. Reports an unknown path or index, with suggestions; then the
/// result is empty.
std::optional<Explanation> explain(mlir::ModuleOp module, const ExplainTarget &target,
                                   const std::vector<std::string> &modulePaths, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLAIN_H
