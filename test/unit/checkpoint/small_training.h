//===- small_training.h - a small training ----------------------*- C++ -*-===//
//
// One parameter, sharded over the ranks, with a gradient of 1 in each step, under SGD with momentum: all of its
// elements are equal, and their value follows from the step.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_CHECKPOINT_SMALL_TRAINING_H
#define MESHPLAN_TEST_UNIT_CHECKPOINT_SMALL_TRAINING_H

#include "runtime/checkpoint/writer.h"
#include "test/unit/temporary_directory.h"

#include <functional>
#include <gmock/gmock.h>

namespace meshplan {

struct SmallPlan {
  int64_t ranks = 2;
  std::string name = "w";
  int64_t extent = 7; ///< not even over two ranks
  DType dtype = DType::f64;
  std::optional<DType> master = {};                  ///< of w
  std::string optimizer = "sgd";                     ///< "sgd" with momentum, or "plain"
  bool hasFrozen = false;                            ///< there is a parameter "base" that is not trained
  bool isBaseTrained = false;                        ///< and it is, as "w" is
  std::string baseName = "base", otherBaseName = {}; ///< the latter for a tied one
  bool isInteger = false;                            ///< "base" is of i64
  bool isBuffer = false;                             ///< "base" is not a parameter
  bool inPieces = false;                             ///< files have w as "first", of three elements, and "second"
  int64_t modules = 0;    ///< instead of w, a list "l" has this many modules with a parameter "w" each
  bool isStacked = false; ///< and they are one parameter
};

/// A schedule of the plan.
Artifact scheduleOf(const SmallPlan &plan);

/// The values of w and its momentum after a step.
struct Expectation {
  double parameter = 1, momentum = 0;
};
Expectation behindStep(int64_t step);

/// Sets every parameter and every input to ones.
class OnesFeed final : public Feed {
public:
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
};

/// Runs `body` with a runner whose inputs are loaded: on this rank; on every rank, as threads.
using TrainingBody = std::function<Status(World &, ProgramRunner &)>;
Status onRank(const Artifact &artifact, World &world, const TrainingBody &body);
Status onRanks(const Artifact &artifact, const TrainingBody &body);

/// Starts a training, runs this many steps, and saves after the last one with this state.
Status trainAndSave(const SmallPlan &plan, const std::string &folder, int64_t steps, TrainingState state = {});

/// The elements of a tensor of a safetensors file, as doubles.
std::vector<double> elementsOf(const std::string &path, const std::string &name);

/// Writes only "base" as weights: zeros except for the first element.
void writeWeights(const std::string &path, int64_t extent, float first);

void writeText(const std::string &path, const std::string &text);

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_CHECKPOINT_SMALL_TRAINING_H
