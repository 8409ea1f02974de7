//===- problem_text.h - text form of a scheduling problem -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_PROBLEM_TEXT_H
#define MESHPLAN_TEST_LIB_PROBLEM_PROBLEM_TEXT_H

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/StringRef.h"

namespace meshplan::scheduling {

/// A problem, and the steps if the text contains them. If it has several coordinates, they are there instead.
struct ProblemText {
  Problem problem;
  std::optional<Solution> solution;
  std::vector<Coordinate> coordinates;
};

/// Reads the format that README.md describes. Names must be declared before use. Fails with the line number.
llvm::Expected<ProblemText> parseProblem(llvm::StringRef text);

/// The inverse: problem and steps of each coordinate. One coordinate without a name is a problem without coordinates.
std::string textOf(llvm::ArrayRef<Coordinate> coordinates);

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_PROBLEM_TEXT_H
