//===- problem_fixture.h - problems for the tests of this folder *- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SCHEDULING_PROBLEM_FIXTURE_H
#define MESHPLAN_TEST_UNIT_SCHEDULING_PROBLEM_FIXTURE_H

#include "test/lib/problem/problem_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshplan::scheduling {

/// Two linear layers with an all-reduce between them, and a view.
inline constexpr const char *mlp = R"(
lane compute
lane communication collectives
communicator tp 1:(1)3
buffer w 10 permanent
buffer x 100 permanent
buffer y 50
buffer z 50
buffer v 0 view z
buffer u 20 kept
operation linear on compute reads w x writes y workspace 7
operation reduce on communication over tp reads y writes z
operation reshape on compute reads z writes v
operation project on compute reads v writes u
)";

/// Steps that solve this problem.
inline constexpr const char *mlpSteps = R"(
run linear
start reduce
wait reduce
free y
run reshape
free z
run project
free v
)";

/// The start of a problem with one communicator: its lanes, and a permanent buffer.
inline const std::string twoLanes = R"(
lane compute
lane communication collectives
communicator tp 0:(1)2
buffer x 1 permanent
)";

inline ProblemText parse(llvm::StringRef text) {
  llvm::Expected<ProblemText> parsed = parseProblem(text);
  if (!parsed) {
    ADD_FAILURE() << llvm::toString(parsed.takeError());
    return {};
  }
  return std::move(*parsed);
}

/// The message of an error, empty if there is none.
inline std::string message(llvm::Error error) { return error ? llvm::toString(std::move(error)) : std::string(); }

/// The result of verify() for a problem and steps.
inline std::string verifyText(llvm::StringRef problem, llvm::StringRef steps) {
  ProblemText text = parse((problem + steps).str());
  if (std::string error = message(text.problem.check()); !error.empty())
    return error;
  return message(verify(text.problem, text.solution.value_or(Solution())));
}

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_UNIT_SCHEDULING_PROBLEM_FIXTURE_H
