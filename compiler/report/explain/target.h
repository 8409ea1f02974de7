//===- target.h - the target of `meshplan explain` --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_TARGET_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_TARGET_H

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

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_TARGET_H
