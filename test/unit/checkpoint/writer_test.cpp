//===- writer_test.cpp - checkpoints that are written while steps run -----===//

#include "runtime/checkpoint/load.h"
#include "runtime/checkpoint/source.h"
#include "test/unit/checkpoint/small_training.h"
#include "test/unit/small_files.h"

#include <cstring>

using namespace meshplan;

namespace {

using testing::Each;
using testing::ElementsAre;

/// Loads the last checkpoint of a folder under a plan, runs steps after it, and returns all elements of w and its
/// momentum from the ranks.
struct Resumed {
  LoadedCheckpoint loaded;
  std::vector<double> parameter, momentum, base;
};

void appendElements(const Walk &walk, std::string_view name, std::vector<double> &elements) {
  auto part = walk.current(name);
  ASSERT_TRUE(part.ok());
  std::vector<double> own(part->elementCount());
  if (part->dtype() == DType::f64)
    std::memcpy(own.data(), part->data(), part->byteSize());
  else
    convertFloats(part->data(), part->dtype(), reinterpret_cast<std::byte *>(own.data()), DType::f64, own.size());
  elements.insert(elements.end(), own.begin(), own.end());
}

Resumed resume(const SmallPlan &plan, const std::string &path, int64_t steps = 0, const std::string &weights = "") {
  Resumed resumed;
  std::mutex mutex;
  Artifact artifact = scheduleOf(plan);
  Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, path, weights));
    for (int64_t step = 0; step < steps; ++step)
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    std::lock_guard lock(mutex);
    EXPECT_EQ(runner.counters().steps, loaded.state.counters.steps + steps);
    resumed.loaded = loaded;
    appendElements(runner.walk(), plan.name, resumed.parameter);
    if (plan.optimizer == "sgd")
      appendElements(runner.walk(), plan.name + ".momentum_buffer", resumed.momentum);
    if (plan.hasFrozen)
      appendElements(runner.walk(), plan.baseName, resumed.base);
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return resumed;
}

TEST(CheckpointWriter, SavesWhatAllRanksHold) {
  TemporaryDirectory folder;
  TrainingState state{.samplesConsumed = 12,
                      .samples = 100,
                      .dataFingerprint = "abc",
                      .seed = 7,
                      .settings = {{"optimizer.lr", 0.25}},
                      .weights = ""};
  Status status = trainAndSave({}, folder.path(), 3, state);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(folder.names(), ElementsAre(".lock", "step-000003"));
  std::string path = folder / "step-000003";
  EXPECT_THAT(elementsOf(path + "/model.safetensors", "w"), Each(behindStep(3).parameter));
  EXPECT_THAT(elementsOf(path + "/optimizer.safetensors", "w.momentum_buffer"), Each(behindStep(3).momentum));
  state.counters.steps = 3;
  for (int64_t ranks : {1, 2, 3}) {
    Resumed resumed = resume({.ranks = ranks}, folder.path(), 2);
    EXPECT_EQ(resumed.loaded.path, path);
    EXPECT_EQ(resumed.loaded.state, state);
    EXPECT_THAT(resumed.loaded.notes, ElementsAre());
    EXPECT_EQ(resumed.parameter.size(), 7);
    EXPECT_THAT(resumed.parameter, Each(behindStep(5).parameter)) << ranks << " ranks";
    EXPECT_THAT(resumed.momentum, Each(behindStep(5).momentum));
  }
}

TEST(CheckpointWriter, StepsGoOnMeanwhile) {
  TemporaryDirectory folder;
  Artifact artifact = scheduleOf({.extent = 300001});
  Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {folder.path(), 3, 0}));
    for (int64_t step = 0; step < 12; ++step) {
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(writer.poll());
      // Each waits for the previous one.
      if (step % 2 == 1)
        MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {}));
    }
    MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {})); // saved already
    MESHPLAN_RETURN_IF_ERROR(writer.finish());
    EXPECT_EQ(writer.lastStep(), 12);
    EXPECT_GT(writer.times().writing, 0);
    return writer.start(runner, {}); // saved already
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(folder.names(), ElementsAre(".lock", "step-000008", "step-000010", "step-000012"));
  for (int64_t step : {8, 10, 12}) {
    std::string path = checkpointPath(folder.path(), step);
    EXPECT_THAT(elementsOf(path + "/model.safetensors", "w"), Each(behindStep(step).parameter)) << step;
    EXPECT_THAT(elementsOf(path + "/optimizer.safetensors", "w.momentum_buffer"), Each(behindStep(step).momentum));
  }
}

TEST(CheckpointWriter, SaysWhyItCannotWriteAndKeepsWhatIsThere) {
  TemporaryDirectory folder;
  Artifact artifact = scheduleOf({.extent = 40001});
  std::vector<Status> failures(2);
  Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {folder.path(), 1, 0}));
    auto save = [&]() -> Status {
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {}));
      return writer.finish();
    };
    MESHPLAN_RETURN_IF_ERROR(save());
    // The limit is that of the process, and so applies to both ranks.
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("world"));
    std::optional<SmallFiles> full;
    if (world.rank() == 0)
      full.emplace(100000);
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    failures[world.rank()] = save();
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    full.reset();
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    EXPECT_EQ(writer.lastStep(), 1);
    return save(); // there is space again
  });
  ASSERT_TRUE(status.ok()) << status.message();
  std::string file = folder / ".step-000002.incomplete/model.safetensors";
  for (int rank : {0, 1})
    EXPECT_EQ(failures[rank].message(), "rank " + std::to_string(rank) +
                                            ": cannot save the checkpoint of step 2: cannot write '" + file +
                                            "': File too large");
  EXPECT_THAT(folder.names(), ElementsAre(".lock", "step-000003"));
  EXPECT_THAT(resume({.extent = 40001}, folder.path()).parameter, Each(behindStep(3).parameter));
}

TEST(CheckpointWriter, OneRankThatFailsIsNamedByTheOthers) {
  TemporaryDirectory folder;
  std::vector<Status> failures(2);
  // Only rank 0 writes the record, and it cannot read the weights that the record refers to.
  Artifact frozen = scheduleOf({.hasFrozen = true});
  Status status = onRanks(frozen, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {folder.path(), 1, 0}));
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {.weights = "/nowhere/w.safetensors"}));
    failures[world.rank()] = writer.finish();
    return Status();
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(failures[0].message(), "rank 0: cannot save the checkpoint of step 1: cannot open "
                                   "'/nowhere/w.safetensors': No such file or directory");
  EXPECT_EQ(failures[1].message(), "cannot save the checkpoint of step 1: rank 0 failed, see its message");
  EXPECT_THAT(folder.names(), ElementsAre(".lock"));
}

TEST(CheckpointWriter, WhatIsGivenUpLeavesNothing) {
  TemporaryDirectory folder;
  Artifact artifact = scheduleOf({.extent = 300001});
  Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {folder.path(), 1, 0}));
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {}));
    return Status(StatusCode::internal, "numeric fault");
  });
  EXPECT_EQ(status.message(), "numeric fault");
  EXPECT_FALSE(std::filesystem::exists(folder / "step-000001"));
}

TEST(CheckpointWriter, MastersLoseNothing) {
  TemporaryDirectory folder;
  SmallPlan masters{.dtype = DType::bf16, .master = DType::f32};
  ASSERT_TRUE(trainAndSave(masters, folder.path(), 9).ok());
  double exact = behindStep(9).parameter, rounded = toFloat(toBFloat16(static_cast<float>(exact)));
  ASSERT_NE(exact, rounded) << "bf16 does not hold it";
  std::string path = folder / "step-000009";
  EXPECT_THAT(elementsOf(path + "/model.safetensors", "w"), Each(rounded));
  EXPECT_THAT(elementsOf(path + "/optimizer.safetensors", "w.master"), Each(exact));
  EXPECT_THAT(resume(masters, folder.path(), 2).parameter,
              Each(toFloat(toBFloat16(static_cast<float>(behindStep(11).parameter)))));

  // A plan that trains in f32 loads the master weights, which are exact.
  Resumed wide = resume({.ranks = 1, .dtype = DType::f32}, folder.path());
  EXPECT_THAT(wide.parameter, Each(exact));
  EXPECT_THAT(wide.loaded.notes, ElementsAre());
  // A plan with bf16 only cannot.
  Resumed narrow = resume({.dtype = DType::bf16}, folder.path());
  EXPECT_THAT(narrow.parameter, Each(rounded));
  EXPECT_THAT(narrow.loaded.notes, ElementsAre("master weights of the checkpoint are not used: the plan "
                                               "keeps none",
                                               "tensors of f32 are converted to bf16"));
}

TEST(CheckpointWriter, MastersBeginAsParametersWhereThereWereNone) {
  TemporaryDirectory folder;
  ASSERT_TRUE(trainAndSave({.dtype = DType::f32}, folder.path(), 9).ok());
  Resumed resumed = resume({.dtype = DType::bf16, .master = DType::f32}, folder.path(), 2);
  EXPECT_THAT(resumed.parameter, Each(toFloat(toBFloat16(static_cast<float>(behindStep(11).parameter)))));
  EXPECT_THAT(resumed.loaded.notes,
              ElementsAre("the checkpoint has no master weights: they start as its parameters, of f32",
                          "tensors of f32 are converted to bf16"));
}

TEST(CheckpointWriter, WhatIsNotTrainedStaysInTheWeights) {
  TemporaryDirectory folder;
  writeWeights(folder / "base.safetensors", 7, 3);
  SmallPlan plan{.hasFrozen = true};
  TrainingState state{.weights = folder / "base.safetensors"};
  ASSERT_TRUE(trainAndSave(plan, folder / "run", 1, state).ok());
  std::string model = folder / "run/step-000001/model.safetensors";
  EXPECT_THAT(TensorSource::open(model)->names(), ElementsAre("w"));
  plan.ranks = 1;
  Resumed resumed = resume(plan, folder / "run");
  EXPECT_THAT(resumed.base, ElementsAre(3, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(resumed.loaded.state.weights, state.weights);
  // The same weights in another location.
  std::filesystem::rename(folder / "base.safetensors", folder / "moved.safetensors");
  EXPECT_THAT(resume(plan, folder / "run", 1, folder / "moved.safetensors").parameter, Each(behindStep(2).parameter));
}

TEST(CheckpointWriter, WhatWasTrainedBeforeIsSavedAgain) {
  TemporaryDirectory folder;
  writeWeights(folder / "base.safetensors", 7, 3);
  SmallPlan plan{.hasFrozen = true, .isBaseTrained = true};
  ASSERT_TRUE(trainAndSave(plan, folder / "run", 1, {.weights = folder / "base.safetensors"}).ok());
  std::vector<double> trained = elementsOf(folder / "run/step-000001/model.safetensors", "base");
  ASSERT_THAT(trained, Each(behindStep(1).parameter));
  // The base is frozen then, and each of two runs resumes from the previous one's checkpoint.
  plan.isBaseTrained = false;
  Artifact artifact = scheduleOf(plan);
  for (std::string step : {"000001", "000002"}) {
    Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, folder / ("run/step-" + step)));
      MESHPLAN_ASSIGN_OR_RETURN(
          CheckpointWriter writer,
          CheckpointWriter::open(world, {.folder = folder / "run", .step = loaded.state.counters.steps}));
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(writer.start(runner, loaded.state));
      return writer.finish();
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(elementsOf(folder / "run/step-000002/model.safetensors", "base"), trained);
  EXPECT_EQ(elementsOf(folder / "run/step-000003/model.safetensors", "base"), trained);
  EXPECT_EQ(resume(plan, folder / "run").base, trained);
}

} // namespace
