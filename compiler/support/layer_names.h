//===- layer_names.h - one name for equal layers ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_LAYER_NAMES_H
#define MESHPLAN_COMPILER_SUPPORT_LAYER_NAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace meshplan {

/// The name with each component that is a number replaced: "layers.*.weight".
std::string withoutIndices(llvm::StringRef name);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_LAYER_NAMES_H
