//===- style_names.h - the parallel styles of Hugging Face ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_STYLE_NAMES_H
#define MESHPLAN_COMPILER_ADOPT_STYLE_NAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace meshplan {

/// What a style of transformers means in the language. Names differ between versions 4 and 5; both are known.
struct ForeignStyle {
  enum class Meaning {
    colwise,        ///< output features are split
    rowwise,        ///< input features, or the rows of a table, are split
    packedColwise,  ///< output features of two concatenated projections, each of which is split
    packedRowwise,  ///< the same for the last dim
    featuresOfRows, ///< the features of a table's rows are split
    sequence,       ///< the sequence is split
    replicate,      ///< replicated
    nothing,        ///< needs no style here: reductions follow from layouts
    experts,        ///< experts are distributed over ranks: left to the user
  };
  llvm::StringRef name;
  Meaning meaning;
  bool gathersOutput = false;
  llvm::StringRef says = ""; ///< for `nothing` and `experts`: what the style does in transformers
  bool takesWhole = false;   ///< for these two: the module reads all tokens
};

/// The style of this name, or null.
const ForeignStyle *findForeignStyle(llvm::StringRef name);

/// All names.
const std::vector<std::string> &foreignStyleNames();

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_STYLE_NAMES_H
