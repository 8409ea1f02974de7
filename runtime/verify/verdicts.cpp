//===- verdicts.cpp - the findings of all ranks ---------------------------===//

#include "runtime/verify/verdicts.h"

#include <algorithm>

using namespace meshplan;

/// For subjects of the optimizer, each rank measures PyTorch's own error; takes the largest.
static void takeOptimizer(std::span<const Subject> subjects, std::span<const std::vector<Finding>> findings,
                          OwnNumbers &own) {
  for (size_t i = 0; i < subjects.size(); ++i)
    if (subjects[i].isOfOptimizer())
      for (const std::vector<Finding> &ofRank : findings) {
        own.errors[i] = std::max(own.errors[i], ofRank[i].own);
        own.magnitudes[i] = std::max(own.magnitudes[i], ofRank[i].magnitude);
      }
}

/// The largest magnitude of the subjects of a kind.
static double largestOf(SubjectKind kind, std::span<const Subject> subjects, const OwnNumbers &own) {
  double largest = 0;
  for (size_t i = 0; i < subjects.size(); ++i)
    if (subjects[i].kind == kind)
      largest = std::max(largest, own.magnitudes[i]);
  return largest;
}

std::vector<Verdict> meshplan::judge(std::span<const Subject> subjects, std::span<const std::vector<Finding>> findings,
                                     OwnNumbers own) {
  takeOptimizer(subjects, findings, own);
  std::vector<Verdict> verdicts(subjects.size());
  double ofGradients = largestOf(SubjectKind::gradient, subjects, own);
  double ofOptimizer =
      std::max(largestOf(SubjectKind::master, subjects, own), largestOf(SubjectKind::parameter, subjects, own));
  for (size_t i = 0; i < subjects.size(); ++i) {
    // Small gradients are sums with large cancelling terms; their error scales with the largest gradient.
    double magnitude = subjects[i].kind == SubjectKind::gradient ? ofGradients
                       : subjects[i].isOfOptimizer()             ? ofOptimizer
                                                                 : own.magnitudes[i];
    for (size_t rank = 0; rank < findings.size(); ++rank) {
      // PyTorch's copy of a master weight has no error but that of one rounding.
      bool isRounded = subjects[i].isHalf || !subjects[i].master.empty();
      Deviation deviation =
          deviationOf(findings[rank][i].errors, own.errors[i], magnitude, isRounded, subjects[i].isOfOptimizer());
      if (rank == 0 || deviation.ratio() > verdicts[i].deviation.ratio()) {
        verdicts[i].deviation = deviation;
        // The rank with the largest error is shown.
        verdicts[i].rank = static_cast<int64_t>(rank);
      }
      if (!deviation.isRight())
        verdicts[i].wrongRanks.push_back(static_cast<int64_t>(rank));
    }
  }
  return verdicts;
}

Expected<std::vector<Verdict>> meshplan::judgeWithDraws(std::span<const Subject> subjects,
                                                        std::span<const std::vector<Finding>> findings, Exact &exact,
                                                        const Progress &tell) {
  // More draws only make bounds larger, so they are added only while something exceeds its bound.
  for (;;) {
    OwnNumbers own;
    for (size_t i = 0; i < subjects.size(); ++i) {
      own.errors.push_back(exact.ownError(i));
      own.magnitudes.push_back(exact.magnitude(i));
    }
    std::vector<Verdict> verdicts = judge(subjects, findings, std::move(own));
    bool hasWrongOutput = false, hasWrongGradient = false;
    for (size_t i = 0; i < subjects.size(); ++i) {
      bool &isWrong = subjects[i].kind == SubjectKind::output ? hasWrongOutput : hasWrongGradient;
      isWrong |= !subjects[i].isOfOptimizer() && !verdicts[i].isRight();
    }
    if ((!hasWrongOutput && !hasWrongGradient) || exact.draws() >= mostDraws)
      return verdicts;
    if (tell)
      tell("perturbing the rounding of the reference, " + std::to_string(exact.draws()) + " of " +
           std::to_string(mostDraws - 1));
    // The backward pass is the larger part of a run and is left out while only outputs are wrong.
    MESHPLAN_RETURN_IF_ERROR(exact.addDraw(hasWrongGradient));
  }
}
