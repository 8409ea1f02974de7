//===- patterns.h - path patterns from text ---------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_FRONTEND_PATTERNS_H
#define MESHPLAN_TEST_UNIT_FRONTEND_PATTERNS_H

#include "compiler/frontend/path_pattern.h"

#include <gtest/gtest.h>

namespace meshplan::test {

/// The pattern of an entry inside of blocks, from the outermost block to the path of the entry.
inline PatternSequence pattern(const std::vector<std::string> &nested, bool literal = false) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::vector<PathPattern> paths;
  for (const std::string &text : nested)
    paths.push_back({text, literal, {}});
  std::optional<PatternSequence> result = parsePattern(paths, diagnostics);
  EXPECT_EQ(diagnostics.text(), "") << testing::PrintToString(nested);
  return result.value_or(PatternSequence());
}

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_FRONTEND_PATTERNS_H
