//===- parse_statements.h - statements without their plan -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_FRONTEND_PARSE_PARSE_STATEMENTS_H
#define MESHPLAN_TEST_UNIT_FRONTEND_PARSE_PARSE_STATEMENTS_H

#include "test/unit/frontend/models.h"

#include <gtest/gtest.h>

namespace meshplan::test {

/// The syntax of these statements of a plan, the first of which is in line 2. The test fails if one of them is
/// invalid.
inline Syntax parseStatements(const std::string &body) {
  Outcome outcome = parse("plan p {\n" + body + "\n}\n");
  EXPECT_EQ(outcome.text, "") << body;
  return outcome.syntax.value_or(Syntax());
}

/// Words as they are written.
template <typename ListT> std::vector<std::string> textsOf(const ListT &words) {
  std::vector<std::string> texts;
  for (const auto &word : words)
    texts.push_back(word.text);
  return texts;
}

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_FRONTEND_PARSE_PARSE_STATEMENTS_H
