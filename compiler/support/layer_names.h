//===- layer_names.h - names of modules in messages -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_LAYER_NAMES_H
#define MESHPLAN_COMPILER_SUPPORT_LAYER_NAMES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace meshplan {

/// The name with each component that is a number replaced: "layers.*.weight".
std::string withoutIndices(llvm::StringRef name);

/// A module in a message: "'model.norm'", or "the root module" if the path is empty.
std::string moduleText(llvm::StringRef path);

/// An operator in a message: "'aten.mm.default' in 'model.mlp'"; without a module it is in the root module.
std::string operatorText(llvm::StringRef target, std::optional<llvm::StringRef> module);

/// True if the module at `path` is inside the one at `outer`. A module is not inside itself.
bool isInside(llvm::StringRef path, llvm::StringRef outer);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_LAYER_NAMES_H
