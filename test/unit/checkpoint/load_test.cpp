//===- load_test.cpp - checkpoints that a training cannot resume ----------===//

#include "runtime/checkpoint/load.h"
#include "runtime/checkpoint/source.h"
#include "test/unit/checkpoint/small_training.h"

#include <fstream>
#include <sstream>

using namespace meshplan;

namespace {

using testing::HasSubstr;

class LoadTest : public testing::Test {
protected:
  void save(const SmallPlan &plan, const TrainingState &state = {}) {
    Status status = trainAndSave(plan, folder / "run", 2, state);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// The error of the rank with the longest message.
  std::string errorUnder(const SmallPlan &plan, const std::string &weights = "") {
    Artifact artifact = scheduleOf(plan);
    return onRanks(artifact,
                   [&](World &world, ProgramRunner &runner) {
                     return loadCheckpoint(world, runner, folder / "run", weights).status();
                   })
        .message();
  }

  /// Replaces text in the record.
  void edit(const std::string &from, const std::string &to) {
    std::stringstream content;
    content << std::ifstream(checkpoint + "/checkpoint.json").rdbuf();
    std::string text = content.str();
    size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << text;
    writeText(checkpoint + "/checkpoint.json", sealedText(text.replace(place, from.size(), to)));
  }

  TemporaryDirectory folder;
  std::string checkpoint = folder / "run/step-000002";
  const std::string other = checkpoint + ": the checkpoint is of a different model: ";
  const std::string way = "; help: name a checkpoint of this model, or start a new training in another folder";
};

TEST_F(LoadTest, ThereIsNone) {
  EXPECT_EQ(errorUnder({}), "cannot open '" + (folder / "run") + "': No such file or directory");
  std::filesystem::create_directory(folder / "run");
  EXPECT_EQ(errorUnder({}), (folder / "run") +
                                ": neither a checkpoint nor a folder of checkpoints; help: name a folder such as "
                                "step-000010, or the folder that contains it");
}

TEST_F(LoadTest, AnotherModel) {
  save({.hasFrozen = true});
  EXPECT_EQ(errorUnder({.name = "v", .hasFrozen = true}), other + "it has no parameter 'v'" + way);
  EXPECT_EQ(errorUnder({.extent = 8, .hasFrozen = true}), other + "parameter 'w' is [7], [8] required" + way);
  EXPECT_EQ(errorUnder({}), other + "it has parameter 'base', which the plan's model lacks" + way);
  EXPECT_EQ(errorUnder({.hasFrozen = true, .isInteger = true}), other + "parameter 'base' is f32, i64 required" + way);
}

TEST_F(LoadTest, AnotherOptimizer) {
  save({.optimizer = "plain"});
  EXPECT_EQ(errorUnder({}), checkpoint +
                                ": it was saved by sgd (states: none), the plan has sgd (states: "
                                "momentum_buffer); help: keep the optimizer, or start a new training from what "
                                "`meshplan-run export " +
                                checkpoint + "` writes");
}

TEST_F(LoadTest, AnOptimizerThatNeedsLess) {
  save({});
  Artifact artifact = scheduleOf({.optimizer = "plain"});
  Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, checkpoint));
    EXPECT_THAT(loaded.notes,
                testing::ElementsAre("optimizer states 'momentum_buffer' of the checkpoint are not used for 'w'"));
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(LoadTest, WhatWasNotTrainedBegins) {
  save({.hasFrozen = true});
  Artifact artifact = scheduleOf({.hasFrozen = true, .isBaseTrained = true});
  using Begun = std::vector<std::pair<std::string, int64_t>>;
  auto goOn = [&](const std::string &from, const std::vector<std::string> &notes) {
    return onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, from));
      EXPECT_EQ(loaded.notes, notes);
      EXPECT_EQ(loaded.state.begun, (Begun{{"base", 2}}));
      MESHPLAN_ASSIGN_OR_RETURN(
          CheckpointWriter writer,
          CheckpointWriter::open(world, {.folder = folder / "more", .step = loaded.state.counters.steps}));
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(writer.start(runner, loaded.state));
      return writer.finish();
    });
  };
  Status status = goOn(checkpoint, {"optimizer states of 'base' start at zero, and its step count starts here: "
                                    "not trained before"});
  ASSERT_TRUE(status.ok()) << status.message();
  std::string more = folder / "more/step-000003";
  EXPECT_THAT(elementsOf(more + "/optimizer.safetensors", "base.momentum_buffer"), testing::Each(1.0));
  EXPECT_THAT(elementsOf(more + "/model.safetensors", "base"), testing::Each(behindStep(1).parameter));
  EXPECT_THAT(elementsOf(more + "/model.safetensors", "w"), testing::Each(behindStep(3).parameter));
  // It continues the count from there.
  status = goOn(more, {});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(elementsOf(folder / "more/step-000004/model.safetensors", "base"),
              testing::Each(behindStep(2).parameter));
}

/// Each step is saved, and continued in the other form.
TEST_F(LoadTest, ModulesGoOnAsAStackAndBack) {
  struct Form {
    SmallPlan plan;
    std::vector<std::string> names;
  };
  const Form apart{{.dtype = DType::bf16, .master = DType::f32, .modules = 3}, {"l.0.w", "l.1.w", "l.2.w"}};
  const Form stacked{{.ranks = 3, .dtype = DType::bf16, .master = DType::f32, .modules = 3, .isStacked = true},
                     {"l.w"}};
  save(apart.plan);
  int64_t steps = 2;
  for (const Form &form : {stacked, apart, stacked}) {
    Artifact artifact = scheduleOf(form.plan);
    Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, folder / "run"));
      EXPECT_THAT(loaded.notes, testing::IsEmpty());
      MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer,
                                CheckpointWriter::open(world, {.folder = folder / "run", .step = steps}));
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(writer.start(runner, loaded.state));
      return writer.finish();
    });
    ASSERT_TRUE(status.ok()) << status.message();
    std::string saved = (folder / "run/step-00000") + std::to_string(++steps);
    for (const std::string &name : form.names) {
      EXPECT_THAT(elementsOf(saved + "/optimizer.safetensors", name + ".master"),
                  testing::Each(behindStep(steps).parameter));
      EXPECT_THAT(elementsOf(saved + "/optimizer.safetensors", name + ".momentum_buffer"),
                  testing::Each(behindStep(steps).momentum));
    }
  }
}

TEST_F(LoadTest, OtherModules) {
  save({.modules = 3});
  EXPECT_EQ(errorUnder({.modules = 4, .isStacked = true}),
            other + "it has no parameter 'l.3.w', which is a part of 'l.w' [4, 7] in this plan" + way);
  EXPECT_EQ(errorUnder({.modules = 2, .isStacked = true}),
            other + "it has parameter 'l.2.w', which the plan's model lacks" + way);
  EXPECT_EQ(errorUnder({.extent = 8, .modules = 3, .isStacked = true}),
            other + "parameter 'l.0.w' is [7], [8] required as a part of 'l.w'" + way);
}

TEST_F(LoadTest, AnotherStack) {
  save({.modules = 3, .isStacked = true});
  EXPECT_EQ(errorUnder({.modules = 4}), other + "it has no parameter 'l.3.w'" + way);
  EXPECT_EQ(errorUnder({.modules = 2}), other + "it has parameter 'l.2.w', which the plan's model lacks" + way);
  EXPECT_EQ(errorUnder({.extent = 8, .modules = 3}), other + "parameter 'l.0.w' is [7], [8] required" + way);
  EXPECT_EQ(errorUnder({.modules = 4, .isStacked = true}), other + "parameter 'l.w' is [3, 7], [4, 7] required" + way);
}

TEST_F(LoadTest, ParametersAloneNeedNoStates) {
  save({});
  std::filesystem::remove(checkpoint + "/optimizer.safetensors");
  const std::string missing = "cannot open '" + checkpoint + "/optimizer.safetensors': No such file or directory";
  EXPECT_EQ(errorUnder({}), missing);
  EXPECT_EQ(errorUnder({.optimizer = "plain"}), "") << "a program that keeps nothing";
}

TEST_F(LoadTest, AMasterIsAState) {
  save({.dtype = DType::bf16, .master = DType::f32});
  std::filesystem::remove(checkpoint + "/optimizer.safetensors");
  EXPECT_EQ(errorUnder({.dtype = DType::bf16, .optimizer = "plain"}), "");
  EXPECT_EQ(errorUnder({.dtype = DType::f32, .optimizer = "plain"}),
            "cannot open '" + checkpoint + "/optimizer.safetensors': No such file or directory")
      << "it would be made of the master";
}

TEST_F(LoadTest, Truncated) {
  save({});
  std::filesystem::resize_file(checkpoint + "/optimizer.safetensors",
                               std::filesystem::file_size(checkpoint + "/optimizer.safetensors") - 8);
  EXPECT_EQ(errorUnder({}), checkpoint +
                                "/optimizer.safetensors: truncated: tensor 'w.momentum_buffer' ends at byte 56 "
                                "of the data, the file has 48");
  std::filesystem::resize_file(checkpoint + "/model.safetensors", 3);
  EXPECT_EQ(errorUnder({}), checkpoint + "/model.safetensors: truncated: a file of 3 bytes is not a safetensors file");
  writeText(checkpoint + "/checkpoint.json", "{");
  EXPECT_EQ(errorUnder({}), checkpoint + "/checkpoint.json: it is not a JSON object");
}

TEST_F(LoadTest, WithoutAFile) {
  save({});
  std::filesystem::remove(checkpoint + "/model.safetensors");
  EXPECT_EQ(errorUnder({}), "cannot open '" + checkpoint + "/model.safetensors': No such file or directory");
}

TEST_F(LoadTest, WithoutATensor) {
  save({});
  edit("w.momentum_buffer", "v.momentum_buffer");
  EXPECT_EQ(errorUnder({}), checkpoint + "/optimizer.safetensors: no tensor 'v.momentum_buffer', which checkpoint.json "
                                         "lists");
  edit("v.momentum_buffer", "w.momentum_buffer");
  edit("\"f64\"", "\"f32\"");
  EXPECT_EQ(errorUnder({}), checkpoint + "/model.safetensors: tensor 'w' is [7] f64, checkpoint.json says [7] f32");
}

TEST_F(LoadTest, CountersThatNoRunHas) {
  save({});
  edit("\"skipped_steps\": 0", "\"skipped_steps\": 3");
  EXPECT_EQ(errorUnder({}), checkpoint +
                                "/checkpoint.json: impossible counters: 2 steps, 3 of them skipped, the last 0 in a "
                                "row, with a loss scale of 0");
}

TEST_F(LoadTest, StatesThatBeginBehindTheTraining) {
  save({});
  edit("\"begun\": {}", "\"begun\": {\"w\": 3}");
  EXPECT_EQ(errorUnder({}), checkpoint + "/checkpoint.json: 'begun' has 3 steps, the training has 2");
}

TEST_F(LoadTest, TheWeightsThatItNeeds) {
  writeWeights(folder / "base.safetensors", 7, 3);
  writeWeights(folder / "changed.safetensors", 7, 4);
  SmallPlan plan{.hasFrozen = true};
  save(plan, {.weights = folder / "base.safetensors"});
  EXPECT_EQ(
      errorUnder(plan, folder / "changed.safetensors"),
      checkpoint + ": '" + (folder / "changed.safetensors") +
          "' are not the initial weights of the training, and the checkpoint does not hold frozen tensors; help: give "
          "the initial weights with --weights");
  edit("\"format\": 3", "\"format\": 2");
  EXPECT_EQ(errorUnder(plan),
            checkpoint + ": its format is older than 3, so it cannot be checked that '" +
                (folder / "base.safetensors") +
                "' are the initial weights of the training; help: export it with the version that wrote it, and train "
                "from the export");
  std::filesystem::remove(folder / "base.safetensors");
  EXPECT_EQ(errorUnder(plan), checkpoint +
                                  ": frozen tensors are in the initial weights of the training: cannot "
                                  "open '" +
                                  (folder / "base.safetensors") +
                                  "': No such file or directory; help: give them with --weights");
}

} // namespace
