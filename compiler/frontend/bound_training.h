//===- bound_training.h - what a plan says of training ----------*- C++ -*-===//
//
// The statements of training, bound to a model: data parallelism, precision,
// recompute, optimizer and what is trained. Modules and parameters are indices
// into the ModelOutline, axes into the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BOUND_TRAINING_H
#define MESHPLAN_COMPILER_FRONTEND_BOUND_TRAINING_H

#include "compiler/frontend/syntax.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace meshplan {

using AxisList = std::vector<size_t>;

/// Where the plan states an option, by its name.
using OptionPlaces = std::map<std::string, SourceRange>;

/// A pattern over paths of modules and parameters, with what it matched.
struct BoundPaths {
  std::string text;
  std::vector<size_t> modules;
  std::vector<size_t> parameters; ///< named, or held by a module that is named or lies below one
  SourceRange range;
};

enum class DataKind { Parameters, Gradients, Optimizer };
enum class AverageTime { InCollective, AfterCollective };
enum class ReduceTime { EachMicrobatch, LastMicrobatch };

/// `data dp { ... }`. Where parameters are sharded gradients and optimizer are, too, and where gradients are the
/// optimizer is.
struct BoundData {
  AxisList axes;
  std::vector<size_t> parameters;
  std::vector<DataKind> shard; ///< empty: nothing is sharded
  AxisList shardAxes;          ///< axes over which it is sharded; the rest replicates
  /// Each `P`, whose modules are a unit each, or each `[P, Q]` as one unit. No parameter is in two units.
  std::vector<std::vector<BoundPaths>> units;
  std::vector<std::vector<size_t>> unitParameters; ///< of each unit, sorted; none is empty
  std::vector<BoundPaths> keep;
  /// Bytes that are moved in one piece, unless one tensor has more; 0: each tensor alone. None: the plan does not say.
  std::optional<int64_t> bucketBytes;
  /// What `overlap` lists; where the plan does not say, all that is moved.
  bool overlapGradients = true;
  bool overlapParameters = false;
  int64_t prefetch = 0; ///< units gathered ahead; 0 unless parameters overlap, then 1 where the plan does not say
  std::optional<ReduceTime> reduce; ///< none: each where gradients are sharded, else last
  AverageTime average = AverageTime::InCollective;
  bool contiguousParameters = false; ///< what is moved in one piece lies in one buffer; then it is moved in pieces
  bool contiguousGradients = false;
  bool registerBuffers = false; ///< then something is contiguous
  /// Parameters, or what the optimizer keeps for them, lie in the memory of the host. Parameters then are sharded.
  bool offloadParameters = false;
  bool offloadOptimizer = false;
  SourceRange offloadRange; ///< of the option, where there is one
  OptionPlaces places;      ///< of the first one of each name
  SourceRange range;
};

/// `loss_scale 1024` or `loss_scale dynamic { ... }`: gradients are those of the loss times a number, which the
/// optimizer divides them by again. The number changes as that of torch.amp.GradScaler.
struct BoundLossScale {
  double initial = 65536;
  double growth = 0;    ///< factor behind `interval` steps with finite gradients
  double backoff = 0;   ///< factor behind a step without
  int64_t interval = 0; ///< 0: it stays
  SourceRange range;
};

/// dtypes by name (`f64`, `f32`, `bf16`, `f16`); empty: as the archive has it.
struct BoundPrecision {
  std::string compute, storage, gather, reduce, master, state;
  std::string activations; ///< of partial sums of 16-bit activations while they are sent; `f32`, or as they are
  std::optional<BoundLossScale> lossScale;
  OptionPlaces places;
  SourceRange range;
};

/// The dtypes of `precision`, under the names of their options.
inline constexpr std::pair<const char *, std::string BoundPrecision::*> precisionTypes[] = {
    {"compute", &BoundPrecision::compute},        {"storage", &BoundPrecision::storage},
    {"gather", &BoundPrecision::gather},          {"reduce", &BoundPrecision::reduce},
    {"master", &BoundPrecision::master},          {"state", &BoundPrecision::state},
    {"activations", &BoundPrecision::activations}};

struct BoundRecompute {
  std::vector<BoundPaths> paths;
  std::vector<std::string> keep;
  SourceRange range;
};

enum class OptimizerKind { Sgd, Adam, Adamw };

/// The word of the language for an optimizer: `adamw`.
llvm::StringRef optimizerName(OptimizerKind kind);

/// How an optimizer treats a parameter: every number that torch.optim takes, with its defaults where the plan says
/// nothing. What the kind does not take has the value that it has here.
struct OptimizerNumbers {
  double lr = 1e-3;
  double weightDecay = 0; ///< of adamw 0.01 where the plan says nothing
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;   ///< adam, adamw
  double eps = 1e-8;      ///< adam, adamw
  double momentum = 0;    ///< sgd
  double dampening = 0;   ///< sgd
  bool nesterov = false;  ///< sgd; then momentum > 0 and dampening == 0
};

/// Parameters with the same numbers.
struct OptimizerGroup {
  std::vector<BoundPaths> paths; ///< none of group 0, which has what no other group names
  OptimizerNumbers numbers;
  OptionPlaces places; ///< of the numbers that the group or the optimizer states
  SourceRange range;
};

enum class LrScheduleKind { Constant, Linear, Cosine, Wsd };

/// How lr changes over a training. Step s, counted from 0, takes lr * f(s):
///
///   s < warmup              f = (s + 1) / warmup
///   constant, s >= warmup   f = 1
///   others, s >= warmup     f = min + (1 - min) * g(p), where p = 1 for s >= steps and else
///     linear                  p = (s - warmup) / (steps - warmup), g = 1 - p
///     cosine                  p = (s - warmup) / (steps - warmup), g = (1 + cos(pi * p)) / 2
///     wsd                     p = max(0, s - (steps - decay)) / decay, g = 1 - p
///
/// So step 0 is not lost, steps `warmup - 1` and `warmup` take the whole lr, and `min` is reached at step `steps`,
/// the first one behind the end.
struct LrSchedule {
  LrScheduleKind kind = LrScheduleKind::Constant;
  int64_t warmup = 0; ///< steps; at most `steps - decay`
  int64_t steps = 0;  ///< of the whole training; 0 of `constant`, which has no end
  int64_t decay = 0;  ///< of `wsd`: the number of last steps in which lr falls; else 0
  double min = 0;     ///< factor of lr at the end, 0 to 1
  SourceRange range;
};

struct BoundOptimizer {
  OptimizerKind kind = OptimizerKind::Sgd;
  std::vector<OptimizerGroup> groups; ///< group 0 is the statement itself
  std::vector<size_t> groupOf;        ///< by parameter; says nothing of one that is not trained
  std::optional<LrSchedule> schedule;
  SourceRange range;
};

struct BoundClip {
  double norm = 0;
  SourceRange range;
};

/// What a step does whose gradients hold a number that is not finite: the training stops, or goes on without having
/// changed anything.
enum class NonfiniteAction { Stop, Skip };

/// `nonfinite gradients skip`
struct BoundNonfinite {
  NonfiniteAction action = NonfiniteAction::Stop;
  SourceRange range;
};

/// `freeze P`, `train only P`, `unused P` as written; `BoundPlan::parameterUse` says what they come to.
struct BoundTrainable {
  TrainableStatement::Kind kind = TrainableStatement::Kind::Freeze;
  std::vector<BoundPaths> paths;
  SourceRange range;
};

/// What a training does with a parameter. Frozen: by the archive or the plan; no gradient and no state. Unused: the
/// plan says that the loss does not reach it.
enum class ParameterUse { Trained, Frozen, Unused };

/// How the elements of a parameter are drawn. Kaiming and Xavier are those of torch.nn.init: their width follows from
/// the features of the parameter, which binding does not know.
enum class Distribution {
  Constant,        ///< `value`
  Uniform,         ///< from `low` to `high`
  Normal,          ///< `mean`, `std`
  TruncatedNormal, ///< the same, nothing outside of `low` to `high`
  KaimingUniform,  ///< `gain` and one of the fans
  KaimingNormal,
  XavierUniform, ///< `gain` and both fans
  XavierNormal,
};

/// A distribution of the plan; what it does not use is 0.
struct InitialValues {
  Distribution distribution = Distribution::Constant;
  double value = 0, low = 0, high = 0, mean = 0, std = 0, gain = 0;
  bool isFanOut = false; ///< of Kaiming: the fan is that of the output
};

/// `lm_head.weight normal 0.01`
struct BoundInitEntry {
  BoundPaths paths; ///< of `rest` the parameters that it takes
  InitialValues values;
  std::string text; ///< `normal 0.01`
};

/// `init { ... }`
struct BoundInit {
  std::vector<BoundInitEntry> entries;
  std::vector<size_t> entryOf; ///< by parameter
  SourceRange range;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_BOUND_TRAINING_H
