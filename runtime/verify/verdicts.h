//===- verdicts.h - the findings of all ranks together -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_VERDICTS_H
#define MESHPLAN_RUNTIME_VERIFY_VERDICTS_H

#include "runtime/verify/deviation.h"
#include "runtime/verify/rank_check.h"

namespace meshplan {

/// What is said of one subject: the deviation of the rank that is worst, and all ranks that are wrong.
struct Verdict {
  Deviation deviation;
  int64_t rank = 0;
  std::vector<int64_t> wrongRanks;

  bool isRight() const { return wrongRanks.empty(); }
};

/// Numbers of PyTorch's own runs about each subject.
struct OwnNumbers {
  std::vector<double> errors, magnitudes;
};

/// By subject. `findings` are by rank, then by subject. Gradients are compared with the largest of all gradients,
/// parameters with the largest of all parameters, every other subject with itself.
std::vector<Verdict> judge(std::span<const Subject> subjects, std::span<const std::vector<Finding>> findings,
                           OwnNumbers own);

/// The verdicts on rank 0. An error is a draw: while a subject is wrong that the optimizer has not made, `exact` gets
/// further draws, up to mostDraws.
Expected<std::vector<Verdict>> judgeWithDraws(std::span<const Subject> subjects,
                                              std::span<const std::vector<Finding>> findings, Exact &exact,
                                              const Progress &tell = {});

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_VERDICTS_H
