//===- stacked_modules.h - parameters of a list of modules ------*- C++ -*-===//
//
// A plan that divides the experts of a list of modules has one parameter for those of all modules. What it is called,
// and in which tensors weight files have it, is decided here, once for the compiler, which makes such parameters, and
// for the runtime, where a module is what it is in a plan that leaves the list alone.
//
//   list "h.experts", leaf "w1.weight"      the parameter h.experts.w1.weight [4, 48, 16], of
//                                           h.experts.0.w1.weight [48, 16], h.experts.1.w1.weight, ...
//
// Header only, standard library only, no state. The functions are pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_STACKED_MODULES_H
#define MESHPLAN_RUNTIME_SCHEMA_STACKED_MODULES_H

#include "runtime/schema/weight_pieces.h"

#include <string_view>

namespace meshplan {

/// The tensors of the parameter `list`.`leaf`, of this shape: the parameters of the modules.
inline WeightPieces stackedModules(const std::string &list, const std::string &leaf, std::span<const int64_t> shape) {
  return {{list + "."}, {"." + leaf}, {shape.size() > 1 ? shape[1] : 1}, 1, shape[0]};
}

/// True if these are tensors of a parameter with this name that stackedModules gives. Names that a plan gives to weight
/// files are others, except where they are those of modules.
inline bool areStackedModules(const WeightPieces &pieces, std::string_view name) {
  if (pieces.count == 0 || pieces.sizes.size() != 1)
    return false;
  const std::string &before = pieces.before[0], &after = pieces.after[0];
  return before.ends_with('.') && after.starts_with('.') && name == before + after.substr(1);
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_STACKED_MODULES_H
