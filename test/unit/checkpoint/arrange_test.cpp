//===- arrange_test.cpp - parameters of modules, apart and stacked --------===//

#include "runtime/checkpoint/arrange.h"
#include "test/unit/checkpoint/small_training.h"

#include <numeric>

using namespace meshplan;

namespace {

using testing::ElementsAre;
using Begun = std::vector<std::pair<std::string, int64_t>>;

constexpr int64_t extent = 4, modules = 3;
const WeightPieces pieces{{"l."}, {".w"}, {extent}, 1, modules};

class ArrangeTest : public testing::Test {
protected:
  /// Adds a parameter and its momentum.
  void add(const std::string &name, const std::vector<int64_t> &shape) {
    record.parameters.push_back({{name}, DType::f64, shape});
    record.states.push_back(
        {.name = name + ".momentum_buffer", .parameter = name, .dtype = DType::f64, .shape = shape});
    record.state.begun.emplace_back(name, 2);
  }

  void addModules() {
    for (int64_t module = 0; module < modules; ++module)
      add("l." + std::to_string(module) + ".w", {extent});
  }

  void addStack() {
    add("l.w", {modules, extent});
    record.parameters.back().pieces = pieces;
  }

  /// The files of the record: their elements are numbered through, from 0 and from 100.
  void open() {
    model = write("model.safetensors", record.modelSpecs(), 0);
    optimizer = write("optimizer.safetensors", record.optimizerSpecs(), 100);
  }

  std::optional<TensorSource> write(const std::string &name, const std::vector<TensorSpec> &specs, double first) {
    auto writer = SafetensorsWriter::create(folder / name, specs);
    EXPECT_TRUE(writer.ok()) << writer.status().message();
    for (const TensorSpec &spec : specs) {
      std::vector<double> numbers(elementCount(spec.shape));
      std::iota(numbers.begin(), numbers.end(), first);
      first += static_cast<double>(numbers.size());
      EXPECT_TRUE(writer->write(spec.name, wholeTensor(spec.shape), std::as_bytes(std::span(numbers))).ok());
    }
    EXPECT_TRUE(writer->commit().ok());
    return *TensorSource::open(folder / name);
  }

  Status arrangeFor(const SmallPlan &plan, bool hasOptimizer = true) {
    Artifact artifact = scheduleOf(plan);
    return arrange({record, *model, hasOptimizer ? &*optimizer : nullptr}, "run",
                   *artifact.schedule().programs()->Get(0));
  }

  static std::vector<double> read(const TensorSource &source, const std::string &name, const SliceRanges &ranges) {
    const StoredTensor *tensor = source.find(name);
    EXPECT_NE(tensor, nullptr) << name;
    std::vector<double> numbers(elementCount(sliceShape(ranges)));
    if (tensor)
      EXPECT_TRUE(source.read(*tensor, ranges, DType::f64, std::as_writable_bytes(std::span(numbers))).ok());
    return numbers;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    names.reserve(record.parameters.size() + record.states.size());
    for (const RecordedParameter &parameter : record.parameters)
      names.push_back(parameter.names.front());
    for (const RecordedState &state : record.states)
      names.push_back(state.name);
    return names;
  }

  TemporaryDirectory folder;
  CheckpointRecord record;
  std::optional<TensorSource> model, optimizer;
};

const SmallPlan apart{.extent = extent, .modules = modules};
const SmallPlan stacked{.extent = extent, .modules = modules, .isStacked = true};

TEST_F(ArrangeTest, StacksModules) {
  addModules();
  open();
  ASSERT_EQ(arrangeFor(stacked).message(), "");
  EXPECT_THAT(names(), ElementsAre("l.w", "l.w.momentum_buffer"));
  EXPECT_EQ(record.parameters[0].shape, (std::vector<int64_t>{modules, extent}));
  EXPECT_EQ(record.parameters[0].pieces, pieces);
  EXPECT_EQ(record.states[0].shape, (std::vector<int64_t>{modules, extent}));
  EXPECT_EQ(record.state.begun, (Begun{{"l.w", 2}}));
  EXPECT_THAT(read(*model, "l.w", {{{1, 2}}, {{1, 2}}}), ElementsAre(5, 6, 9, 10));
  EXPECT_THAT(read(*optimizer, "l.w.momentum_buffer", {{{0, 1}, {2, 1}}, {{3, 1}}}), ElementsAre(103, 111));
}

TEST_F(ArrangeTest, DividesStacks) {
  addStack();
  open();
  ASSERT_EQ(arrangeFor(apart).message(), "");
  EXPECT_THAT(names(), ElementsAre("l.0.w", "l.1.w", "l.2.w", "l.0.w.momentum_buffer", "l.1.w.momentum_buffer",
                                   "l.2.w.momentum_buffer"));
  EXPECT_EQ(record.parameters[1].shape, std::vector<int64_t>{extent});
  EXPECT_EQ(record.parameters[1].pieces, std::nullopt);
  EXPECT_EQ(record.state.begun, (Begun{{"l.0.w", 2}, {"l.1.w", 2}, {"l.2.w", 2}}));
  EXPECT_THAT(read(*model, "l.1.w", {{{0, 4}}}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(read(*model, "l.2.w", {{{0, 1}, {3, 1}}}), ElementsAre(8, 11));
  EXPECT_THAT(read(*optimizer, "l.2.w.momentum_buffer", {{{1, 2}}}), ElementsAre(109, 110));
}

TEST_F(ArrangeTest, LeavesWhatTheProgramHas) {
  addStack();
  add("v", {extent});
  open();
  ASSERT_EQ(arrangeFor(stacked).message(), "");
  EXPECT_THAT(names(), ElementsAre("l.w", "v", "l.w.momentum_buffer", "v.momentum_buffer"));
  ASSERT_EQ(arrangeFor({.extent = extent}).message(), "") << "it has neither";
  EXPECT_THAT(names(), ElementsAre("l.w", "v", "l.w.momentum_buffer", "v.momentum_buffer"));
}

TEST_F(ArrangeTest, ModulesAreSavedUnderTheirNamesInWeightFiles) {
  // The stack has the names of a plan that renames the modules, and these are its parameters.
  addStack();
  record.parameters.back().pieces = WeightPieces{{"f."}, {""}, {extent}, 1, modules};
  open();
  divideStacks(*model, record.parameters, std::vector<RecordedParameter>{{{"f.2"}, DType::f64, {extent}}});
  EXPECT_THAT(model->names(), ElementsAre("f.0", "f.1", "f.2"));
  EXPECT_THAT(read(*model, "f.2", {{{0, 4}}}), ElementsAre(8, 9, 10, 11));
}

TEST_F(ArrangeTest, NeedsNoOptimizer) {
  addModules();
  open();
  ASSERT_EQ(arrangeFor(stacked, /*hasOptimizer=*/false).message(), "");
  EXPECT_THAT(names(), ElementsAre("l.w", "l.w.momentum_buffer"));
  EXPECT_THAT(read(*model, "l.w", {{{0, 1}}, {{0, 4}}}), ElementsAre(0, 1, 2, 3));
}

TEST_F(ArrangeTest, ModulesThatAreNotAlike) {
  const std::string way = " are parts of 'l.w' in this plan, and have to be alike; help: leave 'expert' out, or start "
                          "a new training from what `meshplan-run export run` writes";
  const std::string begin = "run: parameters 'l.0.w' (f64, trained, saved, its states momentum_buffer f64, counted "
                            "from step 2) and ";
  addModules();
  open();
  record.parameters[1].dtype = DType::f32;
  EXPECT_EQ(arrangeFor(stacked).message(),
            begin + "'l.1.w' (f32, trained, saved, its states momentum_buffer f64, counted from step 2)" + way);
  record.parameters[1].dtype = DType::f64;
  record.parameters[2].isTrained = false;
  record.states.pop_back();
  EXPECT_EQ(arrangeFor(stacked).message(),
            begin + "'l.2.w' (f64, not trained, saved, its states none, counted from step 2)" + way);
  record.state.begun[1].second = 1;
  EXPECT_EQ(arrangeFor(stacked).message(),
            begin + "'l.1.w' (f64, trained, saved, its states momentum_buffer f64, counted from step 1)" + way);
}

} // namespace
