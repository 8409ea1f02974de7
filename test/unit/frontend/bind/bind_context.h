//===- bind_context.h - the context of the parts of binding -----*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_FRONTEND_BIND_BIND_CONTEXT_H
#define MESHPLAN_TEST_UNIT_FRONTEND_BIND_BIND_CONTEXT_H

#include "compiler/frontend/bind/context.h"

#include <gtest/gtest.h>

#include <optional>

namespace meshplan::test {

/// A plan that was read and evaluated, but not bound.
class BindContext : public testing::Test {
protected:
  /// Its first line is `plan p {`; the text begins on the second.
  void readPlan(const std::string &text) {
    const SourceBuffer &source = sources.add("p.plan", "plan p {\n" + text + "\n}\n");
    syntax = parsePlan(source, diagnostics);
    ASSERT_TRUE(syntax) << diagnostics.text();
    environment = evaluatePlan(*syntax, {}, diagnostics);
    ASSERT_TRUE(environment) << diagnostics.text();
    context.emplace(*syntax, model, *environment, diagnostics);
  }

  Sources sources;
  Diagnostics diagnostics{sources};
  std::optional<Syntax> syntax;
  ModelOutline model;
  std::optional<Environment> environment;
  std::optional<bind::Context> context;
};

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_FRONTEND_BIND_BIND_CONTEXT_H
