//===- explain.h - why a tensor has its layout ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLAIN_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLAIN_H

#include "compiler/report/explain/explanation.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace meshplan {

/// "model.norm", "model.norm:input[0]", "model.norm:output[1]"
struct ExplainTarget {
  enum class Border { none, input, output };
  std::string path; ///< path of a module, or name of a parameter, input or output of the model
  Border border = Border::none;
  int64_t index = 0; ///< index of the value at the border
};

/// Parses a target; empty if the text has another form. Pure.
std::optional<ExplainTarget> parseTarget(llvm::StringRef text);

/// Explains a parameter, buffer, input or output of the model by name, a module of `modulePaths`, or a value at the
/// border of one. `module` is a program after `partition`. Reports an unknown path or index, with suggestions; then the
/// result is empty.
std::optional<Explanation> explain(mlir::ModuleOp module, const ExplainTarget &target,
                                   const std::vector<std::string> &modulePaths, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLAIN_H
