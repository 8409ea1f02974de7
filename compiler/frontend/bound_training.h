//===- bound_training.h - training in a bound plan --------------*- C++ -*-===//
//
// The statements of training, bound to a model: data parallelism, precision, recompute, tokens of experts, what is
// trained, initial values and the timeline. The optimizer is in bound_optimizer.h. Modules and parameters are indices
// into the ModelOutline, axes as in AxisList.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BOUND_TRAINING_H
#define MESHPLAN_COMPILER_FRONTEND_BOUND_TRAINING_H

#include "compiler/frontend/bound_optimizer.h"
#include "compiler/frontend/mesh.h"
#include "compiler/frontend/syntax.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace meshplan {

enum class DataKind { Parameters, Gradients, Optimizer };
enum class AverageTime { InCollective, AfterCollective };
enum class ReduceTime { EachMicrobatch, LastMicrobatch };

/// `data dp { ... }`. If parameters are sharded, so are gradients and optimizer states; if gradients are, so are
/// optimizer states.
struct BoundData {
  AxisList axes;
  std::vector<size_t> parameters;
  std::vector<DataKind> shard; ///< empty: nothing is sharded
  AxisList shardAxes;          ///< axes of the shards; the other axes replicate
  /// The units of `unit P, [P, Q]`: each module that `P` matches is one unit; `[P, Q]` is one unit of both. The
  /// collectives of a unit are coalesced. No parameter is in two units.
  std::vector<std::vector<BoundPaths>> units;
  std::vector<std::vector<size_t>> unitParameters; ///< of each unit, sorted, not empty
  std::vector<BoundPaths> keep;
  /// Bytes that are coalesced into one collective; a larger tensor is alone. 0: each tensor is alone. None: not stated.
  std::optional<int64_t> bucketBytes;
  /// The transfers that `overlap` lists; all of them if the plan has no `overlap`.
  bool overlapGradients = true;
  /// Without sharded parameters: new parameters are gathered beside the forward pass of the next step. A rank then
  /// stores its shards of what is trained.
  bool overlapParameters = false;
  int64_t prefetch = 0;             ///< units gathered ahead; 0 if parameters do not overlap, else 1 unless stated
  std::optional<ReduceTime> reduce; ///< none: each if gradients are sharded, else last
  AverageTime average = AverageTime::InCollective;
  bool contiguousParameters = false; ///< coalesced tensors share one buffer; then transfers are coalesced
  bool contiguousGradients = false;
  bool registerBuffers = false; ///< requires contiguous parameters or gradients
  /// Parameters, or their optimizer states, are in host memory. Offloaded parameters are sharded.
  bool offloadParameters = false;
  bool offloadOptimizer = false;
  SourceRange offloadRange; ///< range of the option, if it is stated

  /// True if new parameters are gathered beside the next forward pass, though the block does not shard parameters.
  bool gathersInStep() const { return overlapParameters && !llvm::is_contained(shard, DataKind::Parameters); }

  OptionRanges ranges; ///< of the first option of each name
  SourceRange range;
};

/// `loss_scale 1024` or `loss_scale dynamic { ... }`: gradients are computed for the loss times a scale, and divided by
/// the scale in the optimizer. A dynamic scale changes as in torch.amp.GradScaler.
struct BoundLossScale {
  double initial = 65536;
  double growth = 0;    ///< factor after `interval` steps with finite gradients
  double backoff = 0;   ///< factor after a step with non-finite gradients
  int64_t interval = 0; ///< 0: the scale is constant
  SourceRange range;
};

/// dtypes by name (`f64`, `f32`, `bf16`, `f16`); empty: as in the archive.
struct BoundPrecision {
  std::string compute, storage, gather, reduce, master, state;
  std::string activations; ///< type in which partial sums of 16-bit activations are sent: `f32`, or empty
  std::optional<BoundLossScale> lossScale;
  OptionRanges ranges;
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

/// Statements about the tokens of experts: the rows for which memory is planned, the most tokens of an expert, and the
/// rate of the update that balances the bias of the scores.
enum class RoutingRule { Reserve, Capacity, Bias };

/// `reserve 1.25 on model.layers.*`
struct BoundRouting {
  RoutingRule rule = RoutingRule::Reserve;
  double number = 0;
  std::vector<BoundPaths> paths; ///< empty: all layers with experts
  std::string text;              ///< `reserve 1.25`
  SourceRange range;
};

/// `freeze P`, `train only P`, `unused P` as written; `BoundPlan::parameterUse` has the result.
struct BoundTrainable {
  TrainableStatement::Kind kind = TrainableStatement::Kind::Freeze;
  std::vector<BoundPaths> paths;
  SourceRange range;
};

/// How training treats a parameter. Frozen, by the archive or the plan: no gradient and no optimizer state. Unused: the
/// plan states that the loss does not depend on it.
enum class ParameterUse { Trained, Frozen, Unused };

/// The distribution of a parameter's initial elements. Kaiming and Xavier are those of torch.nn.init: their width
/// depends on the features of the parameter, which binding does not know.
enum class Distribution {
  Constant,        ///< `value`
  Uniform,         ///< from `low` to `high`
  Normal,          ///< `mean`, `std`
  TruncatedNormal, ///< the same, truncated to [`low`, `high`]
  KaimingUniform,  ///< `gain` and one of the fans
  KaimingNormal,
  XavierUniform, ///< `gain` and both fans
  XavierNormal,
};

/// A distribution of the plan; unused numbers are 0.
struct InitialValues {
  Distribution distribution = Distribution::Constant;
  double value = 0, low = 0, high = 0, mean = 0, std = 0, gain = 0;
  bool isFanOut = false; ///< for Kaiming: use the output's fan
};

/// `lm_head.weight normal 0.01`
struct BoundInitEntry {
  BoundPaths paths; ///< for `rest`, the parameters that it applies to
  InitialValues values;
  std::string text; ///< `normal 0.01`
};

/// `init { ... }`
struct BoundInit {
  std::vector<BoundInitEntry> entries;
  std::vector<size_t> entryOf; ///< by parameter
  SourceRange range;
};

/// A clause of `overlap`: `require gradients over dp hidden >= 90 %`, `forbid exposed > 5 ms`. It is about the
/// estimated timeline of a step.
struct BoundOverlapClause {
  bool forbids = false;      ///< limits the exposed time; else it requires a hidden part
  std::string purpose;       ///< gradients, parameters, activations; empty: all collectives
  AxisList axes;             ///< of the collectives; empty: any
  double hiddenPercent = 0;  ///< of a `require`: at least this part of the time is hidden
  double exposedSeconds = 0; ///< of a `forbid`: at most this time is exposed
  std::string text;          ///< the clause as written
  SourceRange range;
};

/// `split products N` of `overlap`: products and the collectives next to them may be split into parts.
struct BoundSplit {
  int64_t most = 1; ///< parts of each
  SourceRange range;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_BOUND_TRAINING_H
