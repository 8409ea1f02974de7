//===- training_plan.h - plans with training statements ---------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_FRONTEND_BIND_TRAINING_TRAINING_PLAN_H
#define MESHPLAN_TEST_UNIT_FRONTEND_BIND_TRAINING_TRAINING_PLAN_H

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace meshplan::test {

/// A plan for dp = 2, tp = 3 in which `n` is 4 and every module is replicated.
inline std::string trainingPlan(const std::string &body) {
  return "plan p {\nmesh dp = 2, tp = 3\nlet n = 4\nrest: replicate\n" + body + "\n}\n";
}

/// The bound plan of valid statements.
inline BoundPlan bound(const std::string &body, const ModelOutline &model = llama(2)) {
  Outcome outcome = bindTo(model, trainingPlan(body));
  EXPECT_EQ(outcome.text, "") << body;
  return outcome.plan.value_or(BoundPlan());
}

/// The diagnostics of a plan.
inline std::vector<std::string> faultsOfPlan(const std::string &plan, const ModelOutline &model) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax = parsePlan(sources.add("p.plan", plan), diagnostics);
  if (syntax)
    bindPlan(*syntax, model, {}, diagnostics);
  return messagesAndHelps(diagnostics.all());
}

/// The diagnostics of statements.
inline std::vector<std::string> faults(const std::string &body, const ModelOutline &model = llama(2)) {
  return faultsOfPlan(trainingPlan(body), model);
}

/// The index of a parameter by its first name.
inline size_t parameterAt(const ModelOutline &model, const std::string &path) {
  auto found = std::find_if(model.parameters.begin(), model.parameters.end(),
                            [&](const OutlineParameter &each) { return parameterPath(model, each) == path; });
  EXPECT_NE(found, model.parameters.end()) << path;
  return static_cast<size_t>(found - model.parameters.begin());
}

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_FRONTEND_BIND_TRAINING_TRAINING_PLAN_H
