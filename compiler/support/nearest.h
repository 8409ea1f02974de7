//===- nearest.h - the names that a user may have meant ----------*- C++ -*-===//
//
// Suggestions for a name that does not exist. Pure functions.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SUPPORT_NEAREST_H
#define MESHPLAN_COMPILER_SUPPORT_NEAREST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace meshplan {

/// The candidates whose edit distance from `name` is at most a third of its letters (and at least one letter; two
/// swapped neighbours count as one), nearest first, then in the given order; at most `limit`.
std::vector<std::string> nearestNames(llvm::StringRef name, llvm::ArrayRef<std::string> candidates, size_t limit = 3);

/// `'a'`, `'a' or 'b'`, `'a', 'b' or 'c'`; with "," as conjunction `'a', 'b', 'c'`.
std::string quotedList(llvm::ArrayRef<std::string> names, llvm::StringRef conjunction = "or");

/// `did you mean 'tp'?`; without a near name, `NOUN: 'dp', 'tp'` for up to twelve candidates; otherwise empty.
std::string suggest(llvm::StringRef name, llvm::ArrayRef<std::string> candidates, llvm::StringRef noun);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_NEAREST_H
