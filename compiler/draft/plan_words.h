//===- plan_words.h - names as the language writes them ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_PLAN_WORDS_H
#define MESHPLAN_COMPILER_DRAFT_PLAN_WORDS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace meshplan {

/// The text as a string of the language.
std::string quotedWord(llvm::StringRef text);

/// A name as a word, or as a string if it is not one: `rest`, and names with characters other than letters, digits and
/// `_`.
std::string planWord(llvm::StringRef name);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_PLAN_WORDS_H
