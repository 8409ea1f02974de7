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

/// Runs of PyTorch that an error which is a draw is held against.
inline constexpr int mostDraws = 8;

/// The verdicts on rank 0. While a subject that is a draw is wrong, `exact` gets further draws, up to mostDraws: the
/// error of one number is one, and so is that of a tensor of a model with 16-bit parameters, since the rounding of an
/// activation that all elements were made of moves them together. What the optimizer does is no draw.
Expected<std::vector<Verdict>> judgeWithDraws(std::span<const Subject> subjects,
                                              std::span<const std::vector<Finding>> findings, Exact &exact);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_VERDICTS_H
