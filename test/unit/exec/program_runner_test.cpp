//===- program_runner_test.cpp - a step and its timeline ------------------===//
//
// loss = sum(x w) / sum(x) on two ranks, each with half of the rows of x, in four microbatches: the gradient of w is
// the sum of the rows divided by the sum of all. The divisor is accumulated over all microbatches first; then the step
// runs for each of them and adds to the gradient; after the last one it reduces the gradient and updates w by SGD.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/program_runner.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/run_schedule.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace meshplan;

namespace {

constexpr int64_t microbatches = 4;

/// One of the programs: it reads a microbatch of x and adds to accumulators.
class Sweep {
public:
  Sweep(const std::string &name, artifact::ProgramRole role) {
    builder.program().name = name;
    builder.program().role = role;
    int x = builder.input("x", {{8, {"dp"}}, {3}});
    microbatch = setting("microbatch", 0);
    rows = builder.value({{8 / microbatches, {"dp"}}, {3}});
    builder.compute("meshplan.take_microbatch",
                    {tensorArg("self", x), tensorArg("index", microbatch), integerArg("dim", literal(0)),
                     integerArg("count", literal(microbatches))},
                    {rows});
  }

  int setting(const std::string &name, double number) {
    auto &setting = *builder.program().settings.emplace_back(std::make_unique<artifact::SettingT>());
    setting.name = name;
    setting.number = number;
    return setting.value = builder.value({});
  }

  /// Addends of ranks, zero at the start of a step.
  int accumulator(const std::string &name, std::vector<TestDim> dims, std::vector<std::string> partial = {"dp"}) {
    auto &accumulator = *builder.program().accumulators.emplace_back(std::make_unique<artifact::AccumulatorT>());
    accumulator.name = name;
    return accumulator.value = builder.value(std::move(dims), DType::f64, std::move(partial));
  }

  /// A call that changes `target` in place; the result is the target's next value.
  int change(const std::string &call, int target, std::vector<artifact::ArgT> arguments) {
    artifact::ProgramT &program = builder.program();
    int changed = static_cast<int>(program.values.size());
    program.values.push_back(std::make_unique<artifact::ValueT>(*program.values[target]));
    builder.compute(call, std::move(arguments), {changed});
    program.instructions.back()->action.AsCompute()->overwrites = {target};
    auto &update = *program.updates.emplace_back(std::make_unique<artifact::UpdateT>());
    update.value = changed;
    update.target = target;
    return changed;
  }

  int accumulate(int target, int addend) {
    return change("meshplan.accumulate", target, {tensorArg("self", target), tensorArg("addend", addend)});
  }

  /// Adds the sum of the rows to the gradient.
  int addRows() {
    int sum = builder.value({{3}}, DType::f64, {"dp"});
    builder.compute("aten.sum.dim_IntList", {tensorArg("self", rows), integersArg("dim", {literal(0)})}, {sum});
    return accumulate(accumulator("gradient of w", {{3}}), sum);
  }

  /// The same, with the sum over ranks in each microbatch, times the number of the microbatch. Its reduction is in
  /// flight when the next one begins.
  int addReducedRows() {
    int sum = builder.value({{3}}, DType::f64, {"dp"});
    builder.compute("aten.sum.dim_IntList", {tensorArg("self", rows), integersArg("dim", {literal(0)})}, {sum});
    int all = reduced(sum, {{3}}), numbered = builder.value({{3}});
    // What is deferred may depend on the microbatch, as a dropout does.
    builder.compute("aten.mul.Tensor", {tensorArg("self", all), tensorArg("other", microbatch)}, {numbered});
    int next = accumulate(accumulator("gradient of w", {{3}}, {}), numbered);
    builder.free({sum, all, numbered});
    auto &instructions = builder.program().instructions;
    for (size_t index = instructions.size() - 4; index < instructions.size(); ++index)
      instructions[index]->when = artifact::When::deferred;
    artifact::ResumeT resume;
    resume.steps = 4;
    instructions.insert(instructions.begin(), std::make_unique<artifact::InstructionT>())->get()->action.Set(resume);
    return next;
  }

  /// The same as addReducedRows(), summed over the ranks again: the next microbatch starts this second reduction.
  int addTwiceReducedRows() {
    int sum = builder.value({{3}}, DType::f64, {"dp"});
    builder.compute("aten.sum.dim_IntList", {tensorArg("self", rows), integersArg("dim", {literal(0)})}, {sum});
    auto &instructions = builder.program().instructions;
    size_t start = instructions.size();
    int all = reduced(sum, {{3}}), numbered = builder.value({{3}}, DType::f64, {"dp"});
    builder.free({sum});
    builder.compute("aten.mul.Tensor", {tensorArg("self", all), tensorArg("other", microbatch)}, {numbered});
    int twice = reduced(numbered, {{3}}), next = accumulate(accumulator("gradient of w", {{3}}, {}), twice);
    builder.free({all, numbered, twice});
    for (size_t index = start + 1; index < instructions.size(); ++index)
      instructions[index]->when = artifact::When::deferred;
    auto resume = [&](size_t position, int32_t steps) {
      artifact::ResumeT action;
      action.steps = steps;
      auto place = instructions.begin() + static_cast<ptrdiff_t>(position);
      instructions.insert(place, std::make_unique<artifact::InstructionT>())->get()->action.Set(action);
    };
    resume(start, 3); // the second wait, the addition and the last free
    resume(0, 4);     // the first wait, the first free, the product and the second start
    return next;
  }

  /// The same as addRows(), times a factor that the first instance computes for all: it is 1, and would be more in
  /// others.
  int addRowsTimesFirst() {
    int factor = builder.value({}), sum = builder.value({{3}}, DType::f64, {"dp"}),
        scaled = builder.value({{3}}, DType::f64, {"dp"});
    builder.compute("aten.exp.default", {tensorArg("self", microbatch)}, {factor});
    builder.program().instructions.back()->when = artifact::When::first;
    builder.compute("aten.sum.dim_IntList", {tensorArg("self", rows), integersArg("dim", {literal(0)})}, {sum});
    builder.compute("aten.mul.Tensor", {tensorArg("self", sum), tensorArg("other", factor)}, {scaled});
    int next = accumulate(accumulator("gradient of w", {{3}}), scaled);
    builder.free({sum, scaled});
    builder.free({factor});
    builder.program().instructions.back()->when = artifact::When::last;
    return next;
  }

  /// An all-reduce of addends.
  int reduced(int addends, std::vector<TestDim> dims) {
    int sum = builder.value(std::move(dims));
    builder.collective(Kind::all_reduce, {"dp"}, addends, sum);
    return sum;
  }

  /// The instructions that follow run in the last instance only.
  void beginLast() {
    builder.free({rows});
    always = builder.program().instructions.size();
  }

  std::unique_ptr<artifact::ProgramT> take() {
    markLast();
    return std::move(builder.schedule().programs[0]);
  }

  void markLast() {
    auto &instructions = builder.program().instructions;
    for (size_t index = always; index < instructions.size(); ++index)
      instructions[index]->when = artifact::When::last;
  }

  ScheduleBuilder builder{{{"dp", 2}}};
  int rows, microbatch;
  size_t always = 0; ///< number of instructions that every instance runs
};

std::unique_ptr<artifact::ProgramT> countingSweep() {
  Sweep sweep("count0", artifact::ProgramRole::microbatch);
  int sum = sweep.builder.value({}, DType::f64, {"dp"});
  sweep.builder.compute("aten.sum.default", {tensorArg("self", sweep.rows)}, {sum});
  sweep.accumulate(sweep.accumulator("count", {}), sum);
  sweep.beginLast();
  return sweep.take();
}

/// The sum of x w; the last instance reduces that of all microbatches.
std::unique_ptr<artifact::ProgramT> evaluation() {
  Sweep sweep("eval", artifact::ProgramRole::eval);
  int w = sweep.builder.parameter({"w"}, {{3}}), sums = sweep.builder.value({{2, {"dp"}}}),
      sum = sweep.builder.value({}, DType::f64, {"dp"});
  sweep.builder.compute("aten.mv.default", {tensorArg("self", sweep.rows), tensorArg("vec", w)}, {sums});
  sweep.builder.compute("aten.sum.default", {tensorArg("self", sums)}, {sum});
  int all = sweep.accumulate(sweep.accumulator("eval.sum", {}), sum);
  sweep.beginLast();
  sweep.builder.output("loss", sweep.reduced(all, {}));
  sweep.builder.program().loss = "loss";
  return sweep.take();
}

/// An instance of a program of the schedule for each microbatch.
void addInstances(artifact::ProgramT &runner, int program) {
  for (int microbatch = 0; microbatch < microbatches; ++microbatch)
    runner.timeline.emplace_back(program, microbatch);
}

class ProgramRunnerTest : public testing::Test {
protected:
  /// `addRows` accumulates the gradient in each microbatch; with `isReduced` it is that of all ranks.
  explicit ProgramRunnerTest(int (Sweep::*addRows)() = &Sweep::addRows, bool isReduced = false) {
    Sweep step("step", artifact::ProgramRole::step);
    int w = step.builder.parameter({"w"}, {{3}}), rate = step.setting("optimizer.lr", 0.5),
        counted = step.accumulator("count", {}), rows = (step.*addRows)();
    step.beginLast();
    gradient = isReduced ? rows : step.reduced(rows, {{3}});
    int count = step.reduced(counted, {}), mean = step.builder.value({{3}});
    step.builder.compute("aten.div.Tensor", {tensorArg("self", gradient), tensorArg("other", count)}, {mean});
    step.change("meshplan.sgd", w,
                {tensorArg("parameter", w), tensorArg("gradient", mean), tensorArg("learning_rate", rate),
                 realArg("weight_decay", 0)});
    step.markLast();
    auto &programs = step.builder.schedule().programs;
    programs.push_back(countingSweep());
    programs.push_back(evaluation());
    addInstances(*programs[0], 1);
    addInstances(*programs[0], 0);
    addInstances(*programs[2], 2);
    step.builder.write(folder / "a.sched");
    auto loaded = loadSchedule(folder / "a.sched");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    artifact.emplace(*std::move(loaded));
  }

  /// Runs `body` on both ranks after loading; w is replicated and must be the same on both ranks in the end.
  at::Tensor train(const std::function<Status(ProgramRunner &)> &body) {
    std::vector<at::Tensor> held(2);
    auto statuses = runThreads(2, {}, [&](World &world) -> Status {
      ComputeScope scope(1);
      worlds[world.rank()] = &world;
      MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(*artifact, program("step"), world));
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(TensorFeed({{"w", w}})));
      MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", x}})));
      MESHPLAN_RETURN_IF_ERROR(body(runner));
      EXPECT_EQ(residentBytes(runner.walk().view()).accumulators, (3 + 1) * 8);
      MESHPLAN_ASSIGN_OR_RETURN(Tensor own, runner.walk().current("w"));
      held[world.rank()] = unwrap(own).clone();
      return Status();
    });
    for (const Status &status : statuses)
      EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(at::equal(held[0], held[1]));
    return held[0];
  }

  /// Runs `body` on both ranks, each with a pool that counts its tensors.
  static void onRanksWithPools(const std::function<Status(World &world, MemoryPool &pool)> &body) {
    installPoolAllocator();
    auto statuses = runThreads(2, {}, [&](World &world) -> Status {
      ComputeScope scope(1);
      auto pool = std::make_shared<MemoryPool>();
      PoolScope pooled(pool);
      return body(world, *pool);
    });
    for (const Status &status : statuses)
      EXPECT_TRUE(status.ok()) << status.message();
  }

  const artifact::Program &program(std::string_view name) { return **findProgram(artifact->schedule(), name); }

  TemporaryDirectory folder;
  std::optional<Artifact> artifact;
  std::array<World *, 2> worlds = {};
  int gradient = -1;
  at::Tensor w = at::tensor({1.0, -2.0, 0.5}, at::kDouble), x = at::arange(24, at::kDouble).reshape({8, 3}) + 1;
  at::Tensor exact = x.sum(0) / x.sum();
};

/// The gradient is reduced in each microbatch, and the reduction waited for in the next one.
class DeferringRunnerTest : public ProgramRunnerTest {
protected:
  DeferringRunnerTest() : ProgramRunnerTest(&Sweep::addReducedRows, /*isReduced=*/true) {
    // Each rank has a row of each microbatch.
    at::Tensor numbers = at::arange(microbatches, at::kDouble).reshape({1, microbatches, 1});
    exact = (x.reshape({2, microbatches, 3}) * numbers).sum(at::IntArrayRef({0, 1})) / x.sum();
  }
};

/// The second of two reductions is started, and waited for, in the next microbatch.
class DeferringTwiceRunnerTest : public ProgramRunnerTest {
protected:
  DeferringTwiceRunnerTest() : ProgramRunnerTest(&Sweep::addTwiceReducedRows, /*isReduced=*/true) {
    at::Tensor numbers = at::arange(microbatches, at::kDouble).reshape({1, microbatches, 1});
    exact = 2 * (x.reshape({2, microbatches, 3}) * numbers).sum(at::IntArrayRef({0, 1})) / x.sum();
  }
};

TEST_F(DeferringTwiceRunnerTest, AllMicrobatchesCountOnce) {
  at::Tensor trained = train([](ProgramRunner &runner) -> Status {
    for (int step = 0; step < 3; ++step)
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    return Status();
  });
  EXPECT_TRUE(at::allclose(trained, w - 1.5 * exact, 0, 1e-15));
}

/// The first microbatch computes a factor for all.
class FirstRunnerTest : public ProgramRunnerTest {
protected:
  FirstRunnerTest() : ProgramRunnerTest(&Sweep::addRowsTimesFirst) {}
};

TEST_F(FirstRunnerTest, OthersUseWhatTheFirstMicrobatchMakes) {
  at::Tensor trained = train([](ProgramRunner &runner) -> Status {
    for (int step = 0; step < 3; ++step)
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    return Status();
  });
  EXPECT_TRUE(at::allclose(trained, w - 1.5 * exact, 0, 1e-15));
}

TEST_F(DeferringRunnerTest, AllMicrobatchesCountOnce) {
  at::Tensor trained = train([](ProgramRunner &runner) -> Status {
    for (int step = 0; step < 3; ++step)
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    return Status();
  });
  EXPECT_TRUE(at::allclose(trained, w - 1.5 * exact, 0, 1e-15));
}

TEST_F(DeferringRunnerTest, ATraceHasEachReductionOfTheMicrobatchThatStartedIt) {
  train([](ProgramRunner &runner) -> Status {
    Trace trace;
    MESHPLAN_RETURN_IF_ERROR(runner.run(&trace));
    TemporaryDirectory folder;
    MESHPLAN_RETURN_IF_ERROR(writeTraces(folder / "t.json", std::span(&trace, 1)));
    std::ifstream file(folder / "t.json");
    std::vector<int64_t> reductions;
    nlohmann::json written = nlohmann::json::parse(file);
    for (const nlohmann::json &event : written["traceEvents"])
      if (event["ph"] == "X" && event["name"].get<std::string>().starts_with("all_reduce"))
        reductions.push_back(event["args"]["microbatch"]);
    // The last one also reduces the number of samples.
    EXPECT_THAT(reductions, testing::ElementsAre(0, 1, 2, microbatches - 1, microbatches - 1));
    return Status();
  });
}

TEST_F(DeferringRunnerTest, NothingIsLeftOfAStep) {
  onRanksWithPools([&](World &world, MemoryPool &pool) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(*artifact, program("step"), world));
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(TensorFeed({{"w", w}})));
    int64_t before = pool.current();
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", x}})));
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    runner.rest();
    EXPECT_EQ(pool.current(), before);
    return Status();
  });
}

TEST_F(ProgramRunnerTest, AllMicrobatchesCountOnce) {
  at::Tensor trained = train([](ProgramRunner &runner) { return runner.run(); });
  EXPECT_TRUE(at::allclose(trained, w - 0.5 * exact, 0, 1e-15));
}

/// Once per step, when all microbatches have accumulated and w is still what it was.
TEST_F(ProgramRunnerTest, UpdatesBeginInTheLastMicrobatch) {
  std::atomic<int> calls = 0;
  train([&](ProgramRunner &runner) {
    runner.beforeUpdates([&] {
      ++calls;
      EXPECT_TRUE(at::equal(unwrap(*runner.walk().current("w")), w));
      return Status();
    });
    return runner.run();
  });
  EXPECT_EQ(calls, 2) << "of two ranks";
}

TEST_F(ProgramRunnerTest, EachStepBeginsWithZeros) {
  at::Tensor trained = train([](ProgramRunner &runner) -> Status {
    for (int64_t step = 0; step < 3; ++step) {
      EXPECT_EQ(runner.walk().steps(), step) << "microbatches do not count";
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    }
    return Status();
  });
  EXPECT_TRUE(at::allclose(trained, w - 1.5 * exact, 0, 1e-15));
}

TEST_F(ProgramRunnerTest, NewInputsReachAllPrograms) {
  at::Tensor other = x.flip(1) * x;
  at::Tensor trained = train([&](ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", other}})));
    return runner.run();
  });
  EXPECT_TRUE(at::allclose(trained, w - 0.5 * (exact + other.sum(0) / other.sum()), 0, 1e-15));
}

TEST_F(ProgramRunnerTest, AStepHoldsNothingOfTheOneBefore) {
  for (const char *name : {"step", "eval"})
    onRanksWithPools([&](World &world, MemoryPool &pool) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(*artifact, program(name), world));
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(TensorFeed({{"w", w}})));
      MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", x}})));
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      int64_t first = pool.peak();
      MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", x}})));
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      EXPECT_EQ(pool.peak(), first) << name;
      return Status();
    });
}

/// Of two programs that share parameters, an idle one holds only its accumulators.
TEST_F(ProgramRunnerTest, AtRestNothingIsLeft) {
  onRanksWithPools([&](World &world, MemoryPool &pool) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(*artifact, program("step"), world));
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(TensorFeed({{"w", w}})));
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner evaluation,
                              ProgramRunner::create(runner.walk().session(), artifact->schedule(), program("eval")));
    int64_t before = pool.current();
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", x}})));
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    runner.rest();
    EXPECT_EQ(pool.current(), before);
    MESHPLAN_RETURN_IF_ERROR(evaluation.loadInputs(TensorFeed({{"x", x}})));
    MESHPLAN_RETURN_IF_ERROR(evaluation.run());
    EXPECT_GT(pool.current(), before);
    evaluation.rest();
    EXPECT_EQ(pool.current(), before);
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", x}})));
    return runner.run();
  });
}

TEST_F(ProgramRunnerTest, NumbersOfTheRun) {
  at::Tensor trained = train([](ProgramRunner &runner) -> Status {
    EXPECT_EQ(runner.setNumber("rate", 1).message(), "the program has no setting 'rate'; it has optimizer.lr");
    MESHPLAN_RETURN_IF_ERROR(runner.setNumber("optimizer.lr", 2));
    return runner.run();
  });
  EXPECT_TRUE(at::allclose(trained, w - 2 * exact, 0, 1e-15)) << "the counting program has no rate";
}

TEST_F(ProgramRunnerTest, AnObserverSeesTheSumOfAll) {
  train([&](ProgramRunner &runner) -> Status {
    int seen = 0;
    Observer observer{{gradient}, [&](int, const Tensor &tensor) {
                        EXPECT_TRUE(at::equal(unwrap(tensor), x.sum(0)));
                        ++seen;
                      }};
    MESHPLAN_RETURN_IF_ERROR(runner.run(nullptr, &observer));
    EXPECT_EQ(seen, 1);
    return Status();
  });
}

/// Between steps, with the current parameters and its own samples, which the step does not read.
TEST_F(ProgramRunnerTest, AnEvaluationSharesParameters) {
  at::Tensor other = x.flip(0) * 3;
  at::Tensor trained = train([&](ProgramRunner &runner) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner evaluation,
                              ProgramRunner::create(runner.walk().session(), artifact->schedule(), program("eval")));
    MESHPLAN_RETURN_IF_ERROR(evaluation.loadInputs(TensorFeed({{"x", other}})));
    for (int64_t step = 0; step < 2; ++step) {
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(evaluation.run());
      int loss = findOutput(program("eval"), "loss")->value();
      at::Tensor expected = (other.sum(0) * (w - 0.5 * static_cast<double>(step + 1) * exact)).sum();
      EXPECT_TRUE(at::allclose(unwrap(evaluation.walk().valueOf(loss)), expected, 1e-14, 0));
    }
    return Status();
  });
  EXPECT_TRUE(at::allclose(trained, w - exact, 0, 1e-15));
}

TEST_F(ProgramRunnerTest, WhatOnlyAStepRuns) {
  auto statuses = runThreads(
      2, {}, [&](World &world) { return ProgramRunner::create(*artifact, program("count0"), world).status(); });
  for (const Status &status : statuses) {
    EXPECT_EQ(status.code(), StatusCode::invalid);
    EXPECT_EQ(status.message(), "program 'count0' is run by 'step'; help: run the program 'step'");
  }
}

} // namespace
