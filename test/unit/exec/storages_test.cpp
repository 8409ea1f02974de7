//===- storages_test.cpp - tensors in contiguous buffers ------------------===//

#include "runtime/exec/storages.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "test/unit/comm/recording_world.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// Runs `body` with the program of each rank after loading.
void runRanks(const ScheduleBuilder &builder, const Tensors &tensors, const std::function<Status(Walk &)> &body) {
  TemporaryDirectory folder;
  builder.write(folder / "test.sched");
  auto artifact = loadSchedule(folder / "test.sched");
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const artifact::Program &program = *artifact->schedule().programs()->Get(0);
  for (const Status &status : runThreads(builder.worldSize(), {}, [&](World &world) -> Status {
         ComputeScope scope(1);
         MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(*artifact, program, world));
         TensorFeed feed(tensors);
         MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(feed));
         MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(feed));
         MESHPLAN_RETURN_IF_ERROR(runner.walk().session()->clearAccumulators(runner.walk().view()));
         return body(runner.walk());
       }))
    EXPECT_TRUE(status.ok()) << status.message();
}

/// A copy of a rank's tensor; for a replicated one, of the whole.
at::Tensor hold(const Tensor &tensor) {
  at::Tensor copy = at::empty(at::IntArrayRef(tensor.shape().data(), tensor.shape().size()), at::kDouble);
  std::memcpy(copy.mutable_data_ptr(), tensor.data(), static_cast<size_t>(tensor.byteSize()));
  return copy;
}

/// Parameters a [5] and b [2, 3], of which two ranks have half each, and one coalesced gather for both.
struct Gathered {
  explicit Gathered(std::vector<std::string> order, std::vector<std::string> stored) {
    std::map<std::string, int> parameters, wholes;
    for (const auto &[name, dims] : shapes) {
      parameters[name] = builder.flat(builder.parameter({name}, dims), {"dp"});
      wholes[name] = builder.value(dims);
      builder.output(name + ".whole", wholes[name]);
    }
    std::vector<int> inputs, outputs, values;
    for (const std::string &name : order) {
      inputs.push_back(parameters[name]);
      outputs.push_back(wholes[name]);
    }
    for (const std::string &name : stored)
      values.push_back(parameters[name]);
    if (!values.empty())
      builder.buffer("parameters", values);
    builder.bucket(Kind::all_gather, {"dp"}, inputs, outputs, {}, {.inputs = order == stored});
  }

  /// The number of elements that each rank copies in one run; checks the gathered values.
  std::vector<int64_t> packed() const {
    std::vector<int64_t> counts(2);
    runRanks(builder, tensors, [&](Walk &walk) -> Status {
      MESHPLAN_RETURN_IF_ERROR(walk.run());
      for (const artifact::Port *port : *walk.view().program().outputs()) {
        std::string name = port->name()->str().substr(0, 1);
        EXPECT_TRUE(at::equal(hold(walk.valueOf(port->value())), tensors.at(name))) << name;
      }
      counts[walk.view().rank()] = walk.packedBytes() / 8;
      return Status();
    });
    return counts;
  }

  std::map<std::string, std::vector<TestDim>> shapes = {{"a", {{5}}}, {"b", {{2}, {3}}}};
  Tensors tensors = {{"a", at::randn({5}, at::kDouble)}, {"b", at::randn({2, 3}, at::kDouble)}};
  ScheduleBuilder builder{{{"dp", 2}}};
};

/// A world that records registered buffers.
struct Notes {
  int allocated = 0, freed = 0;
  std::vector<std::pair<std::string, int64_t>> registered; // communicator and bytes
  int ended = 0;
};

class NotingGroup final : public Group {
public:
  NotingGroup(std::string name, Notes &notes) : Group(std::move(name), {0, 1}, 0), notes(notes) {}

  Expected<std::unique_ptr<Registration>> registerBuffer(void *buffer, int64_t bytes) override {
    struct Ending final : Registration {
      explicit Ending(Notes &notes) : notes(notes) {}
      ~Ending() override {
        EXPECT_EQ(notes.freed, 0) << "memory is freed after its registration";
        ++notes.ended;
      }
      Notes &notes;
    };
    notes.registered.emplace_back(name(), bytes);
    return std::unique_ptr<Registration>(std::make_unique<Ending>(notes));
  }

protected:
  Expected<Pending> start(Collective) override { return Status(StatusCode::unsupported, "it moves nothing"); }

private:
  Notes &notes;
};

class NotingWorld final : public World {
public:
  explicit NotingWorld(Notes &notes) : notes(notes) {}
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 2; }
  std::chrono::milliseconds timeout() const override { return {}; }
  void abort(Status) override {}
  Status failure() override { return Status(); }
  bool registersBuffers() const override { return true; }
  Expected<std::shared_ptr<void>> allocateBuffer(int64_t bytes) override {
    ++notes.allocated;
    return std::shared_ptr<void>(std::malloc(static_cast<size_t>(bytes)), [&notes = notes](void *memory) {
      ++notes.freed;
      std::free(memory);
    });
  }

protected:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t>, std::string name, int64_t) override {
    return std::unique_ptr<Group>(std::make_unique<NotingGroup>(std::move(name), notes));
  }

private:
  Notes &notes;
};

} // namespace

TEST(Storages, AGatherReadsParametersWhereTheyLie) {
  // Rank 0 has 3 + 3 elements, rank 1 has 2 + 3; afterwards all 11 are unpacked.
  EXPECT_THAT(Gathered({"a", "b"}, {}).packed(), testing::ElementsAre(6 + 11, 5 + 11)) << "each for itself";
  EXPECT_THAT(Gathered({"a", "b"}, {"a", "b"}).packed(), testing::ElementsAre(11, 11));
  EXPECT_THAT(Gathered({"b", "a"}, {"b", "a"}).packed(), testing::ElementsAre(11, 11));
}

TEST(Storages, WhatLiesInAnotherOrderIsPacked) {
  EXPECT_THAT(Gathered({"b", "a"}, {"a", "b"}).packed(), testing::ElementsAre(6 + 11, 5 + 11));
}

TEST(Storages, ParametersAreViewsOfOneStorage) {
  Gathered gathered({"a", "b"}, {"b", "a"});
  runRanks(gathered.builder, gathered.tensors, [](Walk &walk) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor a, walk.current("a"));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor b, walk.current("b"));
    std::vector<Tensor> order = {b, a};
    MESHPLAN_ASSIGN_OR_RETURN(Tensor both, joined(order));
    EXPECT_TRUE(both.defined());
    EXPECT_EQ(both.elementCount(), a.elementCount() + b.elementCount());
    EXPECT_EQ(residentBytes(walk.view()).parameters, both.byteSize());
    return Status();
  });
}

TEST(Storages, LoadingAgainStaysThere) {
  Gathered gathered({"a", "b"}, {"a", "b"});
  runRanks(gathered.builder, gathered.tensors, [&](Walk &walk) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor before, walk.current("b"));
    MESHPLAN_RETURN_IF_ERROR(walk.session()->loadParameters(walk.view(), TensorFeed(gathered.tensors)));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor behind, walk.current("b"));
    EXPECT_EQ(before.data(), behind.data());
    return walk.run();
  });
}

namespace {

/// Inputs x [4] and y [3], whose negations are addends of both ranks.
struct Reduced {
  Reduced() {
    for (const auto &[name, dims] : shapes) {
      int input = builder.input(name, dims);
      int addend = builder.value(dims, DType::f64, {"dp"});
      builder.compute("aten.neg.default", {tensorArg("self", input)}, {addend});
      addends.push_back(addend);
    }
  }

  /// Copies each addend to its own accumulator as soon as it is computed.
  std::vector<int> accumulated() {
    std::vector<int> made;
    for (size_t i = 0; i < addends.size(); ++i) {
      places.push_back(builder.value(shapes[i].second, DType::f64, {"dp"}));
      builder.accumulator(shapes[i].first + ".gradient", places.back());
      made.push_back(builder.value(shapes[i].second, DType::f64, {"dp"}));
      builder.compute("meshplan.assign", {tensorArg("self", places.back()), tensorArg("source", addends[i])},
                      {made.back()});
      builder.program().instructions.back()->action.AsCompute()->overwrites = {places.back()};
    }
    return made;
  }

  int64_t packed(const std::function<void(Walk &)> &look) const {
    std::atomic<int64_t> count = -1;
    runRanks(builder, tensors, [&](Walk &walk) -> Status {
      for (int run = 0; run < 2; ++run)
        MESHPLAN_RETURN_IF_ERROR(walk.run());
      look(walk);
      count = walk.packedBytes() / 8 / 2;
      return Status();
    });
    return count;
  }

  std::vector<std::pair<std::string, std::vector<TestDim>>> shapes = {{"x", {{4}}}, {"y", {{2}, {2}}}};
  Tensors tensors = {{"x", at::randn({4}, at::kDouble)}, {"y", at::randn({2, 2}, at::kDouble)}};
  ScheduleBuilder builder{{{"dp", 2}}};
  std::vector<int> addends, places;
};

} // namespace

TEST(Storages, AnAllReduceIsMadeInPlace) {
  Reduced reduced;
  std::vector<int> made = reduced.accumulated(), sums;
  for (const auto &[name, dims] : reduced.shapes) {
    sums.push_back(reduced.builder.value(dims));
    reduced.builder.output(name, sums.back());
  }
  reduced.builder.buffer("gradients", reduced.places);
  reduced.builder.bucket(Kind::all_reduce, {"dp"}, made, sums, made, {.inputs = true, .targets = true});
  int64_t packed = reduced.packed([&](Walk &walk) {
    EXPECT_TRUE(at::equal(hold(walk.valueOf(sums[0])), -2 * reduced.tensors["x"]));
    EXPECT_TRUE(at::equal(hold(walk.valueOf(sums[1])), -2 * reduced.tensors["y"]));
    auto both = joined(std::vector<Tensor>{walk.valueOf(sums[0]), walk.valueOf(sums[1])});
    EXPECT_TRUE(both.ok() && both->defined()) << "they are views of the buffer";
  });
  EXPECT_EQ(packed, 0);
}

TEST(Storages, TargetsApartAreFilled) {
  Reduced reduced;
  std::vector<int> made = reduced.accumulated(), sums;
  for (const auto &[name, dims] : reduced.shapes)
    sums.push_back(reduced.builder.value(dims));
  reduced.builder.bucket(Kind::all_reduce, {"dp"}, made, sums, made);
  int64_t packed = reduced.packed(
      [&](Walk &walk) { EXPECT_TRUE(at::equal(hold(walk.valueOf(sums[1])), -2 * reduced.tensors["y"])); });
  EXPECT_EQ(packed, 8 + 8);
}

TEST(Storages, AReduceScatterLandsInPlace) {
  Reduced reduced;
  std::vector<int> parts, places;
  for (const auto &[name, dims] : reduced.shapes) {
    places.push_back(reduced.builder.flat(reduced.builder.value(dims), {"dp"}));
    reduced.builder.accumulator(name + ".gradient", places.back());
    parts.push_back(reduced.builder.flat(reduced.builder.value(dims), {"dp"}));
    reduced.builder.output(name, parts.back());
  }
  reduced.builder.buffer("gradients", places);
  reduced.builder.bucket(Kind::reduce_scatter, {"dp"}, reduced.addends, parts, places, {.targets = true});
  int64_t packed = reduced.packed([&](Walk &walk) {
    at::Tensor y = reduced.tensors["y"].flatten().narrow(0, walk.view().rank() * 2, 2);
    EXPECT_TRUE(at::equal(hold(walk.valueOf(parts[1])), -2 * y));
  });
  EXPECT_EQ(packed, 8) << "only what is sent";
}

TEST(Storages, NewParametersAreGatheredIntoTheOldOnes) {
  ScheduleBuilder builder({{"dp", 2}});
  std::vector<int> parameters, parts, wholes;
  for (const auto &[name, extent] : {std::pair("a", 5), std::pair("b", 3)}) {
    parameters.push_back(builder.parameter({name}, {{extent}}));
    int part = builder.flat(builder.value({{extent}}), {"dp"});
    builder.slice(parameters.back(), part);
    parts.push_back(builder.flat(builder.value({{extent}}), {"dp"}));
    builder.compute("aten.neg.default", {tensorArg("self", part)}, {parts.back()});
    wholes.push_back(builder.value({{extent}}));
    auto update = std::make_unique<artifact::UpdateT>();
    update->value = wholes.back();
    update->target = parameters.back();
    builder.program().updates.push_back(std::move(update));
  }
  builder.bucket(Kind::all_gather, {"dp"}, parts, wholes, parameters);
  Tensors tensors = {{"a", at::randn({5}, at::kDouble)}, {"b", at::randn({3}, at::kDouble)}};
  runRanks(builder, tensors, [&](Walk &walk) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor before, walk.current("a"));
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    MESHPLAN_ASSIGN_OR_RETURN(Tensor behind, walk.current("a"));
    EXPECT_EQ(before.data(), behind.data());
    EXPECT_TRUE(at::equal(hold(behind), -tensors["a"]));
    return Status();
  });
}

TEST(Storages, CommunicatorsThatUseAStorageAreTold) {
  Notes notes;
  {
    Gathered gathered({"a", "b"}, {"a", "b"});
    gathered.builder.program().buffers[0]->registered = true;
    LoadedSchedule loaded(gathered.builder);
    NotingWorld world(notes);
    const std::vector<RankView> views = {loaded.view(0)};
    Storages storages(views, world);
    int a = loaded.program().parameters()->Get(0)->value(), b = loaded.program().parameters()->Get(1)->value();
    ASSERT_TRUE(storages.allocate(views[0], a, "parameter a").ok() &&
                storages.allocate(views[0], b, "parameter b").ok());
    EXPECT_EQ(notes.allocated, 1);
    Groups groups;
    groups.push_back(std::make_unique<NotingGroup>("dp", notes));
    ASSERT_TRUE(storages.registerWith(groups).ok());
    ASSERT_TRUE(storages.registerWith(groups).ok());
    EXPECT_THAT(notes.registered, testing::ElementsAre(testing::Pair("dp", 6 * 8))) << "once";
  }
  EXPECT_EQ(notes.ended, 1);
  EXPECT_EQ(notes.freed, 1);
}

TEST(Storages, TheLongestListSaysWhereTensorsAre) {
  // Another program, first in the artifact, does not read `a`, which is before `b` in the storage.
  Notes notes;
  Gathered gathered({"a", "b"}, {"a", "b"});
  auto shorter = std::make_unique<artifact::ProgramT>(gathered.builder.program());
  shorter->name = "shorter";
  shorter->buffers[0]->values.erase(shorter->buffers[0]->values.begin());
  // Its collective packs what is not adjacent.
  for (auto &instruction : shorter->instructions)
    if (auto *pack = instruction->action.AsPackRun())
      pack->in_place = false;
  gathered.builder.schedule().programs.insert(gathered.builder.schedule().programs.begin(), std::move(shorter));
  LoadedSchedule loaded(gathered.builder);
  NotingWorld world(notes);
  std::vector<RankView> views;
  for (const artifact::Program *program : *loaded.schedule().programs())
    views.emplace_back(loaded.schedule(), *program, 1);
  Storages storages(views, world);
  int a = views[1].program().parameters()->Get(0)->value(), b = views[1].program().parameters()->Get(1)->value();
  auto first = storages.allocate(views[1], a, "parameter a"), second = storages.allocate(views[0], b, "parameter b");
  ASSERT_TRUE(first.ok() && second.ok());
  auto both = joined(std::vector<Tensor>{*first, *second});
  EXPECT_TRUE(both.ok() && both->defined());
}
