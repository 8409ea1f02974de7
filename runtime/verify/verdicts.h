//===- verdicts.h - the findings of all ranks -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_VERDICTS_H
#define MESHPLAN_RUNTIME_VERIFY_VERDICTS_H

#include "runtime/verify/deviation.h"
#include "runtime/verify/rank_check.h"

namespace meshplan {

/// The verdict on one subject: the deviation of the worst rank, and all ranks that are wrong.
struct Verdict {
  Deviation deviation;
  int64_t rank = 0;
  std::vector<int64_t> wrongRanks;

  bool isRight() const { return wrongRanks.empty(); }
};

/// PyTorch's own errors and the magnitudes of the reference, by subject.
struct OwnNumbers {
  std::vector<double> errors, magnitudes;
};

/// One verdict per subject. `findings` are by rank, then by subject. Gradients are bounded relative to the largest
/// gradient, parameters relative to the largest parameter, other subjects relative to themselves.
std::vector<Verdict> judge(std::span<const Subject> subjects, std::span<const std::vector<Finding>> findings,
                           OwnNumbers own);

/// The verdicts, on rank 0. Own errors are random: while a subject (other than those of the optimizer) is wrong,
/// `exact` adds further runs, up to mostDraws.
Expected<std::vector<Verdict>> judgeWithDraws(std::span<const Subject> subjects,
                                              std::span<const std::vector<Finding>> findings, Exact &exact,
                                              const Progress &tell = {});

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_VERDICTS_H
