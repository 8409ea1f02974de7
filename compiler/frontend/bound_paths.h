//===- bound_paths.h - paths and options of bound statements ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BOUND_PATHS_H
#define MESHPLAN_COMPILER_FRONTEND_BOUND_PATHS_H

#include "compiler/support/diagnostics.h"

#include <map>
#include <string>
#include <vector>

namespace meshplan {

/// Where the plan states each option, by name.
using OptionRanges = std::map<std::string, SourceRange>;

/// A pattern over paths of modules and parameters, with what it matched.
struct BoundPaths {
  std::string text;
  std::vector<size_t> modules;
  std::vector<size_t> parameters; ///< named, or held by a module that is named or below a named one
  SourceRange range;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_BOUND_PATHS_H
