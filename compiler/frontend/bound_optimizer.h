//===- bound_optimizer.h - the optimizer of a bound plan --------*- C++ -*-===//
//
// What a step does with the gradients, bound to a model: the optimizer, its groups and its learning rate, clipping, and
// non-finite gradients.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BOUND_OPTIMIZER_H
#define MESHPLAN_COMPILER_FRONTEND_BOUND_OPTIMIZER_H

#include "compiler/frontend/bound_paths.h"

#include <optional>

namespace meshplan {

enum class OptimizerKind { Sgd, Adam, Adamw };

/// The word of the language for an optimizer: `adamw`.
llvm::StringRef optimizerName(OptimizerKind kind);

/// The hyperparameters of a group: all that torch.optim has, with its defaults where the plan states none. Numbers that
/// the optimizer does not have keep the values given here.
struct OptimizerNumbers {
  double lr = 1e-3;
  double weightDecay = 0; ///< 0.01 by default for adamw
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;   ///< adam, adamw
  double eps = 1e-8;      ///< adam, adamw
  double momentum = 0;    ///< sgd
  double dampening = 0;   ///< sgd
  bool nesterov = false;  ///< sgd; then momentum > 0 and dampening == 0
};

/// Parameters with the same numbers.
struct OptimizerGroup {
  std::vector<BoundPaths> paths; ///< empty for group 0, which has all parameters that no other group names
  OptimizerNumbers numbers;
  OptionRanges ranges; ///< of the numbers that the group or the optimizer states
  SourceRange range;
};

enum class LrScheduleKind { Constant, Linear, Cosine, Wsd };

/// The learning rate over a training. Step s, counted from 0, takes lr * f(s):
///
///   s < warmup              f = (s + 1) / warmup
///   constant, s >= warmup   f = 1
///   others, s >= warmup     f = min + (1 - min) * g(p), where p = 1 for s >= steps and else
///     linear                  p = (s - warmup) / (steps - warmup), g = 1 - p
///     cosine                  p = (s - warmup) / (steps - warmup), g = (1 + cos(pi * p)) / 2
///     wsd                     p = max(0, s - (steps - decay)) / decay, g = 1 - p
///
/// Steps `warmup - 1` and, if it is before the end, `warmup` take the full lr, and `min` is reached at step `steps`,
/// the first one after the end.
struct LrSchedule {
  LrScheduleKind kind = LrScheduleKind::Constant;
  int64_t warmup = 0; ///< number of steps; at most `steps - decay`
  int64_t steps = 0;  ///< steps of the whole training; 0 for `constant`, which has no end
  int64_t decay = 0;  ///< for `wsd`: number of final steps in which lr decays; else 0
  double min = 0;     ///< final factor of lr, from 0 to 1
  SourceRange range;
};

struct BoundOptimizer {
  OptimizerKind kind = OptimizerKind::Sgd;
  std::vector<OptimizerGroup> groups; ///< group 0 is the statement itself
  std::vector<size_t> groupOf;        ///< by parameter; undefined for one that is not trained
  std::optional<LrSchedule> schedule;
  SourceRange range;
};

struct BoundClip {
  double norm = 0;
  SourceRange range;
};

/// What a step does if a gradient is non-finite: stop the training, or skip the update.
enum class NonfiniteAction { Stop, Skip };

/// `nonfinite gradients skip`
struct BoundNonfinite {
  NonfiniteAction action = NonfiniteAction::Stop;
  SourceRange range;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_BOUND_OPTIMIZER_H
