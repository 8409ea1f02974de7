//===- style_names.h - the parallel styles of Hugging Face ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_STYLE_NAMES_H
#define MESHPLAN_COMPILER_ADOPT_STYLE_NAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace meshplan {

/// What a style of transformers means here. Names changed with its versions 4 and 5; both eras are known.
struct ForeignStyle {
  enum class Meaning {
    colwise,        ///< output features are divided
    rowwise,        ///< input features, or the rows of a table
    packedColwise,  ///< output features of two projections side by side, each divided
    packedRowwise,  ///< the same of the last dim
    featuresOfRows, ///< of a table: the features of its rows
    sequence,       ///< the sequence is divided
    replicate,      ///< whole
    nothing,        ///< follows here from layouts: sums, and who runs on what it holds
    experts,        ///< experts are dealt to ranks: no style here
  };
  llvm::StringRef name;
  Meaning meaning;
  bool gathersOutput = false;
  llvm::StringRef says = ""; ///< of `nothing` and `experts`: what it does there
  bool takesWhole = false;   ///< of these two: the module reads all tokens
};

/// The style of this name, or null.
const ForeignStyle *findForeignStyle(llvm::StringRef name);

/// All names.
const std::vector<std::string> &foreignStyleNames();

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_STYLE_NAMES_H
