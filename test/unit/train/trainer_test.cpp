//===- trainer_test.cpp - steps, and work between them --------------------===//
//
// A small training on two ranks: the loss is the sum of the batch, and so is the gradient of w, a scalar. The data set
// has eight samples, 1, 2, 3, ..., and a step reads four of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trainer.h"

#include "runtime/checkpoint/load.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "test/unit/dataset/helpers.h"
#include "test/unit/exec/schedule_builder.h"

#include <chrono>
#include <gmock/gmock.h>
#include <limits>

using namespace meshplan;

namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double rate = 0.5;

/// Records the reports to the sinks.
class RecordedReports final : public ReportSink {
public:
  Status step(const StepReport &report) override {
    steps.push_back(report);
    return Status();
  }
  Status evaluation(const EvaluationReport &report) override {
    evaluations.push_back(report);
    return Status();
  }
  Status checkpoint(const CheckpointReport &report) override {
    saved.push_back(report.step);
    return Status();
  }
  Status note(const std::string &text) override {
    notes.push_back(text);
    return Status();
  }
  Status finish() override { return Status(); }

  std::vector<double> losses() const {
    std::vector<double> found;
    for (const StepReport &step : steps)
      found.push_back(step.loss);
    return found;
  }

  std::vector<StepReport> steps;
  std::vector<EvaluationReport> evaluations;
  std::vector<int64_t> saved;
  std::vector<std::string> notes;
};

int addSetting(ScheduleBuilder &builder, const std::string &name, double number) {
  auto &setting = *builder.program().settings.emplace_back(std::make_unique<artifact::SettingT>());
  setting.name = name;
  setting.number = number;
  return setting.value = builder.value({});
}

/// The sum of the batch, and w -= rate * sum.
void writeSchedule(const std::string &path) {
  ScheduleBuilder builder({{"dp", 2}});
  artifact::ProgramT &step = builder.program();
  step.name = "step";
  step.role = artifact::ProgramRole::step;
  step.loss = "loss";
  int x = builder.input("x", {{4, {"dp"}}});
  int w = builder.parameter({"w"}, {});
  step.parameters.back()->trainable = true;
  int addend = builder.value({}, DType::f64, {"dp"}), sum = builder.value({}), changed = builder.value({});
  builder.compute("aten.sum.default", {tensorArg("self", x)}, {addend});
  builder.collective(Kind::all_reduce, {"dp"}, addend, sum);
  builder.output("loss", sum);
  auto evaluation = std::make_unique<artifact::ProgramT>(step);
  evaluation->name = "eval";
  evaluation->role = artifact::ProgramRole::eval;
  int lr = addSetting(builder, "optimizer.lr", rate);
  builder.compute("meshplan.sgd",
                  {tensorArg("parameter", w), tensorArg("gradient", sum), tensorArg("learning_rate", lr),
                   realArg("weight_decay", 0)},
                  {changed});
  step.instructions.back()->action.AsCompute()->overwrites = {w};
  auto &update = *step.updates.emplace_back(std::make_unique<artifact::UpdateT>());
  update.value = changed;
  update.target = w;
  builder.schedule().programs.push_back(std::move(evaluation));
  builder.write(path);
}

class TrainerTest : public testing::Test {
protected:
  void SetUp() override {
    writeSchedule(folder / "a.sched");
    writeData({1, 2, 3, 4, 5, 6, 7, 8});
    writeSafetensors(folder / "w.safetensors", {{"w", "F64", "[]", bytesOf<double>({1})}});
  }

  void writeData(const std::vector<double> &numbers) const {
    writeSafetensors(folder / "data.safetensors",
                     {{"x", "F64", "[" + std::to_string(numbers.size()) + "]", bytesOf(numbers)}});
  }

  /// Trains; if requested, resumes from the last checkpoint in "run".
  Status train(const TrainSchedule &schedule, bool resumes = false) {
    auto loaded = loadSchedule(folder / "a.sched");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    const artifact::Program &step = *loaded->schedule().programs()->Get(0);
    std::vector<std::string> words{folder / "data.safetensors"};
    auto data = Dataset::open(words, inputsOf(step), {.shuffles = false});
    EXPECT_TRUE(data.ok()) << data.status().message();
    return rootCause(runThreads(2, {.timeout = std::chrono::seconds(60)}, [&](World &world) {
      return trainRank(*loaded, step, *data, world, schedule, resumes);
    }));
  }

  RecordedReports reports;
  TemporaryDirectory folder;
  std::function<const char *(int64_t rank, int64_t asked)> wish = [](int64_t, int64_t) { return nullptr; };
  bool evaluates = false;
  double w = 0; // at the end

private:
  Status trainRank(const Artifact &artifact, const artifact::Program &step, std::shared_ptr<const Dataset> data,
                   World &world, const TrainSchedule &schedule, bool resumes) {
    ComputeScope scope(1);
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner program, ProgramRunner::create(artifact, step, world));
    TrainingState state;
    if (resumes) {
      MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint found, loadCheckpoint(world, program, folder / "run"));
      state = found.state;
    } else {
      MESHPLAN_ASSIGN_OR_RETURN(TensorSource weights, TensorSource::open(folder / "w.safetensors"));
      MESHPLAN_RETURN_IF_ERROR(program.loadParameters(FileFeed(std::move(weights))));
    }
    DatasetFeed batches(data, state.samplesConsumed);
    MESHPLAN_ASSIGN_OR_RETURN(
        CheckpointWriter checkpoints,
        CheckpointWriter::open(world, {.folder = folder / "run", .step = program.counters().steps}));
    std::optional<Evaluation> evaluation;
    if (evaluates) {
      MESHPLAN_ASSIGN_OR_RETURN(Evaluation made, Evaluation::create(program, data, 0));
      evaluation.emplace(std::move(made));
    }
    TrainParts parts{.world = &world, .program = &program, .batches = &batches, .checkpoints = &checkpoints};
    parts.checkpointFolder = folder / "run";
    parts.evaluation = evaluation ? &*evaluation : nullptr;
    parts.reports = world.rank() == 0 ? &reports : nullptr;
    parts.peakBytes = [rank = world.rank()] { return 100 + rank; };
    parts.stateToSave = [&] {
      TrainingState saved = state;
      saved.samplesConsumed = batches.position();
      return saved;
    };
    parts.stopIsWished = [this, rank = world.rank(), asked = int64_t(0)]() mutable { return wish(rank, ++asked); };
    MESHPLAN_ASSIGN_OR_RETURN(auto trainer, Trainer::create(parts, schedule));
    MESHPLAN_RETURN_IF_ERROR(trainer->run());
    if (world.rank() == 0) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor held, program.walk().current("w"));
      std::memcpy(&w, held.data(), sizeof w);
    }
    return Status();
  }
};

TEST_F(TrainerTest, StepsTakeOneBatchAfterTheOther) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(train({.lastStep = 3}).ok());
  std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(reports.losses(), ElementsAre(10, 26, 10));
  EXPECT_EQ(w, 1 - rate * 46);
  ASSERT_EQ(reports.steps.size(), 3u);
  const StepReport &second = reports.steps[1];
  EXPECT_EQ(second.step, 2);
  EXPECT_EQ(second.lastStep, 3);
  EXPECT_EQ(second.samples, 4);
  EXPECT_EQ(second.tokens, 0);
  EXPECT_EQ(second.peakBytes, 101); // of the rank with the largest peak
  EXPECT_FALSE(second.gradientNorm);
  EXPECT_THAT(second.rates, ElementsAre(std::pair("optimizer.lr", rate)));
  EXPECT_GT(second.seconds, 0);
  // Of the rank that waits longest, which may have started the step before the first rank, whose seconds are reported.
  EXPECT_GE(second.exposedSeconds.value_or(-1), 0);
  EXPECT_LE(second.exposedSeconds.value_or(-1), whole.count());
  EXPECT_THAT(reports.saved, ElementsAre(3));
  EXPECT_THAT(reports.notes, IsEmpty());
}

TEST_F(TrainerTest, GoesOnFromACheckpointWithTheNextBatch) {
  EXPECT_TRUE(train({.lastStep = 1}).ok());
  EXPECT_TRUE(train({.lastStep = 3}, /*resumes=*/true).ok());
  EXPECT_THAT(reports.losses(), ElementsAre(10, 26, 10));
  EXPECT_EQ(w, 1 - rate * 46);
  EXPECT_TRUE(train({.lastStep = 3}, /*resumes=*/true).ok());
  EXPECT_THAT(reports.notes, ElementsAre("step 3 of 3 is already done: nothing to do"));
}

TEST_F(TrainerTest, SavesEachSoManySteps) {
  EXPECT_TRUE(train({.lastStep = 5, .saveEvery = 2}).ok());
  EXPECT_THAT(reports.saved, ElementsAre(2, 4, 5));
}

TEST_F(TrainerTest, AnyRankMayWishToStop) {
  wish = [](int64_t rank, int64_t asked) { return rank == 1 && asked >= 2 ? "SIGTERM" : nullptr; };
  EXPECT_TRUE(train({.lastStep = 9}).ok());
  EXPECT_THAT(reports.losses(), ElementsAre(10, 26));
  EXPECT_THAT(reports.saved, ElementsAre(2));
  EXPECT_THAT(reports.notes,
              ElementsAre("stopped by another rank's signal after step 2 of 9; --resume continues from there"));
}

TEST_F(TrainerTest, AStopIsTakenInAnEvaluation) {
  evaluates = true;
  // Twice before the first step, once after each step, and then before the first batch of an evaluation.
  wish = [](int64_t, int64_t asked) { return asked >= 5 ? "SIGUSR1" : nullptr; };
  EXPECT_TRUE(train({.lastStep = 9, .evaluateEvery = 2}).ok());
  EXPECT_THAT(reports.losses(), ElementsAre(10, 26));
  EXPECT_EQ(reports.evaluations.size(), 1u);
  EXPECT_THAT(reports.saved, ElementsAre(2));
  EXPECT_THAT(reports.notes, ElementsAre("stopped by SIGUSR1 after step 2 of 9; --resume continues from there"));
}

TEST_F(TrainerTest, EvaluatesAtBothEndsAndBetween) {
  evaluates = true;
  EXPECT_TRUE(train({.lastStep = 3, .evaluateEvery = 2}).ok());
  ASSERT_EQ(reports.evaluations.size(), 3u);
  std::vector<int64_t> steps;
  for (const EvaluationReport &each : reports.evaluations) {
    steps.push_back(each.step);
    EXPECT_THAT(each.loss, DoubleEq((10 + 26) / 2.0));
    EXPECT_FALSE(each.perplexity) << "a sum is not a logarithm of probabilities";
    EXPECT_EQ(each.batches, 2);
    EXPECT_EQ(each.samples, 8);
  }
  EXPECT_THAT(steps, ElementsAre(0, 2, 3));
  // The evaluation changed nothing.
  EXPECT_EQ(w, 1 - rate * 46);
}

TEST_F(TrainerTest, ALossThatIsNoNumberEndsTheRun) {
  writeData({1, 2, 3, 4, 5, std::numeric_limits<double>::quiet_NaN(), 7, 8});
  Status status = train({.lastStep = 3, .saveEvery = 1});
  EXPECT_EQ(status.code(), StatusCode::numericFault);
  EXPECT_THAT(status.message(),
              testing::MatchesRegex(
                  "rank [01]: step 2: the loss 'loss' is nan; help: with 'nonfinite gradients stop' in "
                  "the plan a run names the parameter and the rank of the first non-finite gradient, with 'skip' "
                  "it continues"));
  auto last = findCheckpoint(folder / "run");
  EXPECT_TRUE(!last || last->ends_with("step-000001"));
}

} // namespace
