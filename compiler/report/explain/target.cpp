//===- target.cpp - the target of `meshplan explain` ----------------------===//

#include "compiler/report/explain/target.h"

using namespace meshplan;
using llvm::StringRef;

std::optional<ExplainTarget> meshplan::parseTarget(StringRef text) {
  auto [path, border] = text.split(':');
  ExplainTarget target{path == "\"\"" ? "" : path.str()};
  if (path.size() == text.size())
    return target;
  if (border.consume_front("input["))
    target.border = ExplainTarget::Border::input;
  else if (border.consume_front("output["))
    target.border = ExplainTarget::Border::output;
  else
    return std::nullopt;
  bool isRight = border.consume_back("]") && !border.getAsInteger(10, target.index) && target.index >= 0;
  return isRight ? std::optional(target) : std::nullopt;
}
