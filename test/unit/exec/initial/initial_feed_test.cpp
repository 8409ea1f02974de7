//===- initial_feed_test.cpp - initial values without weights -------------===//

#include "runtime/exec/initial/initial_feed.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/program_runner.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

void draw(artifact::ParameterT &parameter, artifact::InitKind kind, double low, double high, double std = 0) {
  parameter.init = std::make_unique<artifact::InitT>();
  parameter.init->kind = kind;
  parameter.init->low = low;
  parameter.init->high = high;
  parameter.init->std = std;
}

void give(artifact::ParameterT &parameter, artifact::DType dtype, const at::Tensor &values) {
  parameter.init = std::make_unique<artifact::InitT>();
  parameter.init->kind = artifact::InitKind::given;
  parameter.init->dtype = dtype;
  auto *bytes = static_cast<const uint8_t *>(values.const_data_ptr());
  parameter.init->data.assign(bytes, bytes + values.nbytes());
}

/// Parameters `w` [7, 10] with two names, in several layouts over four ranks, and `bias` [10].
class InitialFeedTest : public testing::Test {
protected:
  using Layout = std::function<int(ScheduleBuilder &)>;

  /// A schedule whose parameters have `init`; `layout` builds w, of type `dtype`.
  void build(const Layout &layout, bool hasBias = true) {
    build(layout, [&](artifact::ParameterT &bias) {
      if (hasBias)
        draw(bias, artifact::InitKind::uniform, -1, 1);
    });
  }

  void build(const Layout &layout, const std::function<void(artifact::ParameterT &)> &initBias) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
    int w = layout(builder);
    draw(*builder.program().parameters.back(), artifact::InitKind::normal, 0, 0, 0.02);
    int bias = builder.parameter({"bias"}, {{10}}, DType::f32);
    initBias(*builder.program().parameters.back());
    builder.output("bias", bias);
    master = static_cast<int>(builder.program().values.size());
    auto copied = std::make_unique<artifact::ValueT>(*builder.program().values[w]);
    copied->dtype = artifact::DType::f32;
    builder.program().values.push_back(std::move(copied));
    auto &state = *builder.program().states.emplace_back(std::make_unique<artifact::StateT>());
    state.name = "master of w";
    state.value = master;
    state.parameter = "w";
    state.copies = true;
    weight = w;
    builder.write(folder / "a.sched");
    auto loaded = loadSchedule(folder / "a.sched");
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    artifact.emplace(*std::move(loaded));
  }

  const artifact::Program &program() { return *artifact->schedule().programs()->Get(0); }

  Expected<InitialFeed> feed(uint64_t seed = 7) { return InitialFeed::create(program(), seed); }

  at::Tensor read(std::string name, std::vector<int64_t> shape, SliceRanges ranges, DType dtype, at::ScalarType type,
                  uint64_t seed = 7) {
    std::vector<int64_t> sizes = sliceShape(ranges);
    at::Tensor out = at::empty(sizes, type);
    std::span<std::byte> bytes(static_cast<std::byte *>(out.data_ptr()), out.nbytes());
    EXPECT_TRUE((*feed(seed)).read({{std::move(name)}, std::move(shape), std::move(ranges), dtype}, bytes).ok());
    return out;
  }

  at::Tensor whole(DType dtype = DType::f32, at::ScalarType type = at::kFloat, uint64_t seed = 7) {
    return read("w", {7, 10}, wholeTensor(std::vector<int64_t>{7, 10}), dtype, type, seed);
  }

  TemporaryDirectory folder;
  std::optional<Artifact> artifact;
  int weight = 0, master = 0;
};

int plain(ScheduleBuilder &builder) { return builder.parameter({"w", "head.w"}, {{7}, {10}}, DType::bf16); }

} // namespace

TEST_F(InitialFeedTest, PartsAreThoseOfTheWhole) {
  build(plain);
  at::Tensor all = whole();
  EXPECT_TRUE(at::equal(read("w", {7, 10}, {{{1, 3}}, {{0, 2}, {6, 3}}}, DType::f32, at::kFloat),
                        at::cat({all.slice(0, 1, 4).slice(1, 0, 2), all.slice(0, 1, 4).slice(1, 6, 9)}, 1)));
  EXPECT_TRUE(at::equal(read("w", {7, 10}, {{{6, 1}}, {{9, 1}}}, DType::f32, at::kFloat), all.slice(0, 6).slice(1, 9)));
}

TEST_F(InitialFeedTest, NamesOfOneParameterAreOne) {
  build(plain);
  EXPECT_TRUE(
      at::equal(read("head.w", {7, 10}, wholeTensor(std::vector<int64_t>{7, 10}), DType::f32, at::kFloat), whole()));
  EXPECT_FALSE(at::equal(read("bias", {10}, {{{0, 10}}}, DType::f32, at::kFloat), whole()[0]));
}

/// One parameter of the experts of a list begins as the parameters of the modules do in another plan. What files call
/// otherwise, or in several parts, keeps its own name.
TEST_F(InitialFeedTest, ModulesOfAListAreDrawnByThemselves) {
  auto drawn = [&](const std::string &name, std::vector<std::string> before, std::vector<std::string> after) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
    builder.output("w", builder.parameter({name}, {{3, {"dp"}}, {4}, {5}}, DType::f32));
    artifact::ParameterT &parameter = *builder.program().parameters.back();
    draw(parameter, artifact::InitKind::normal, 0, 0, 0.02);
    if (!before.empty()) {
      parameter.pieces = std::make_unique<artifact::WeightPiecesT>();
      parameter.pieces->sizes.assign(before.size(), 4 / static_cast<int64_t>(before.size()));
      parameter.pieces->before = std::move(before);
      parameter.pieces->after = std::move(after);
      parameter.pieces->dim = 1;
      parameter.pieces->count = 3;
    }
    builder.write(folder / "a.sched");
    artifact.emplace(*loadSchedule(folder / "a.sched"));
    return read(name, {3, 4, 5}, wholeTensor(std::vector<int64_t>{3, 4, 5}), DType::f32, at::kFloat);
  };
  auto module = [&](const std::string &name) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
    builder.output("w", builder.parameter({name}, {{4}, {5}}, DType::f32));
    draw(*builder.program().parameters.back(), artifact::InitKind::normal, 0, 0, 0.02);
    builder.write(folder / "a.sched");
    artifact.emplace(*loadSchedule(folder / "a.sched"));
    return read(name, {4, 5}, wholeTensor(std::vector<int64_t>{4, 5}), DType::f32, at::kFloat);
  };
  at::Tensor stacked = drawn("e.w.weight", {"e."}, {".w.weight"});
  at::Tensor part = read("e.w.weight", {3, 4, 5}, {{{1, 2}}, {{0, 1}, {3, 1}}, {{1, 3}}}, DType::f32, at::kFloat);
  EXPECT_TRUE(at::equal(stacked, at::stack({module("e.0.w.weight"), module("e.1.w.weight"), module("e.2.w.weight")})));
  EXPECT_TRUE(at::equal(
      part, at::stack({stacked.slice(0, 1).select(1, 0), stacked.slice(0, 1).select(1, 3)}, 1).slice(2, 1, 4)));
  at::Tensor whole = drawn("e.w.weight", {}, {});
  EXPECT_FALSE(at::equal(whole, stacked));
  EXPECT_TRUE(at::equal(whole, drawn("e.w.weight", {"x."}, {".w.weight"})));
  EXPECT_TRUE(at::equal(whole, drawn("e.w.weight", {"e.", "e."}, {".w.weight", ".v.weight"})));
}

/// A buffer starts with its exported value: in parts, with any seed, and rounded once to another floating-point type.
TEST_F(InitialFeedTest, BuffersAreGiven) {
  at::Tensor values = at::arange(10, at::kFloat) / 3;
  build(plain, [&](artifact::ParameterT &bias) { give(bias, artifact::DType::f32, values); });
  EXPECT_TRUE(at::equal(read("bias", {10}, {{{7, 2}, {0, 3}}}, DType::f32, at::kFloat),
                        at::cat({values.slice(0, 7, 9), values.slice(0, 0, 3)})));
  EXPECT_TRUE(at::equal(read("bias", {10}, {{{0, 10}}}, DType::f32, at::kFloat, 8), values));
  EXPECT_TRUE(at::equal(read("bias", {10}, {{{0, 10}}}, DType::bf16, at::kBFloat16), values.to(at::kBFloat16)));
  std::vector<std::byte> out(80);
  EXPECT_EQ((*feed()).read({{"bias"}, {10}, {{{0, 10}}}, DType::i64}, out).message(),
            "buffer 'bias' has dtype f32, i64 required");
}

TEST_F(InitialFeedTest, SeedsDiffer) {
  build(plain);
  EXPECT_TRUE(at::equal(whole(), whole()));
  EXPECT_FALSE(at::equal(whole(), whole(DType::f32, at::kFloat, 8)));
}

/// As in PyTorch: a parameter is its master rounded.
TEST_F(InitialFeedTest, DTypesAreThatOfF32Rounded) {
  build(plain);
  at::Tensor exact = whole(DType::f64, at::kDouble), single = whole();
  EXPECT_TRUE(at::equal(exact.to(at::kFloat), single));
  EXPECT_TRUE(at::equal(single.to(at::kBFloat16), whole(DType::bf16, at::kBFloat16)));
  EXPECT_TRUE(at::equal(single.to(at::kHalf), whole(DType::f16, at::kHalf)));
  EXPECT_FALSE(at::equal(exact.to(at::kFloat).to(at::kDouble), exact)) << "f64 has more digits";
}

/// Every layout of a parameter: rows, columns, blocks, both axes on one dim, and flat runs of the dims' shards.
TEST_F(InitialFeedTest, LayoutsBeginWithTheSameWeights) {
  const std::pair<const char *, Layout> layouts[] = {
      {"whole", plain},
      {"rows", [](ScheduleBuilder &b) { return b.parameter({"w"}, {{7, {"tp"}}, {10}}, DType::bf16); }},
      {"columns", [](ScheduleBuilder &b) { return b.parameter({"w"}, {{7}, {10, {"tp"}, 5}}, DType::bf16); }},
      {"both", [](ScheduleBuilder &b) { return b.parameter({"w"}, {{7, {"dp"}}, {10, {"tp"}}}, DType::bf16); }},
      {"one dim", [](ScheduleBuilder &b) { return b.parameter({"w"}, {{7}, {10, {"dp", "tp"}}}, DType::bf16); }},
      {"parts", [](ScheduleBuilder &b) { return b.parameter({"w"}, {{7}, {10, {"tp"}, 1, {4, 6}}}, DType::bf16); }},
      {"flat", [](ScheduleBuilder &b) { return b.flat(b.parameter({"w"}, {{7}, {10, {"tp"}}}, DType::bf16), {"dp"}); }},
  };
  for (const auto &[name, layout] : layouts) {
    build(layout);
    at::Tensor all = whole();
    auto statuses = runThreads(4, {}, [&](World &world) -> Status {
      ComputeScope scope(1);
      MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(*artifact, program(), world));
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(*feed()));
      MESHPLAN_ASSIGN_OR_RETURN(Tensor own, runner.walk().current("w"));
      MESHPLAN_ASSIGN_OR_RETURN(Tensor copy, runner.walk().current("master of w"));
      // The rank's shard of the whole tensor, by its slices.
      std::vector<at::Tensor> parts;
      for (const SliceRanges &slice : runner.walk().view().slices(weight)) {
        at::Tensor part = all;
        for (size_t dim = 0; dim < slice.size(); ++dim) {
          std::vector<at::Tensor> ranges;
          for (const Range &range : slice[dim])
            ranges.push_back(part.narrow(static_cast<int64_t>(dim), range.offset, range.size));
          part = at::cat(ranges, static_cast<int64_t>(dim));
        }
        parts.push_back(part.flatten());
      }
      at::Tensor expected = at::cat(parts);
      EXPECT_TRUE(at::equal(unwrap(copy).flatten(), expected)) << name << " rank " << world.rank();
      EXPECT_TRUE(at::equal(unwrap(own).flatten(), expected.to(at::kBFloat16))) << name;
      return Status();
    });
    for (const Status &status : statuses)
      EXPECT_TRUE(status.ok()) << status.message();
  }
}

/// The reference reads whole tensors.
TEST_F(InitialFeedTest, WholeTensorsCanBeWritten) {
  build(plain);
  writeTensors(folder / "w.safetensors", {{"w", whole()}});
  auto source = TensorSource::open(folder / "w.safetensors");
  ASSERT_TRUE(source.ok());
  at::Tensor again = at::empty({7, 10}, at::kFloat);
  std::span<std::byte> bytes(static_cast<std::byte *>(again.data_ptr()), again.nbytes());
  ASSERT_TRUE(FileFeed(*std::move(source))
                  .read({{"w"}, {7, 10}, wholeTensor(std::vector<int64_t>{7, 10}), DType::f32}, bytes)
                  .ok());
  EXPECT_TRUE(at::equal(again, whole()));
}

TEST_F(InitialFeedTest, SaysWhatHasNoInitialValues) {
  build(plain, /*hasBias=*/false);
  EXPECT_THAT(parametersWithoutInit(program()), testing::ElementsAre("bias"));
  EXPECT_EQ(feed().status().message(),
            "the plan does not initialize bias; help: give weights, or write 'init { "
            "**.bias zeros; rest normal 0.02 }' in the "
            "plan; buffers start with the values of the archive, if it was exported with weights");
  build(plain);
  EXPECT_THAT(parametersWithoutInit(program()), testing::IsEmpty());
}

/// Norms are recognized by their structure, and not by "norm" in their names; equal layers are one entry, which matches
/// nothing but norms.
TEST_F(InitialFeedTest, HelpNamesTheModelsOwnNorms) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  for (const char *name : {"h.0.n1.weight", "h.0.up.weight", "h.0.up.bias", "h.1.n1.weight", "ln_f.weight",
                           "net.0.weight", "net.1.weight", "net.4.weight"}) {
    bool isMatrix =
        std::string_view(name).find("up.weight") != std::string_view::npos || name == std::string_view("net.0.weight");
    builder.output(
        name,
        builder.parameter({name}, isMatrix ? std::vector<TestDim>{{7}, {10}} : std::vector<TestDim>{{10}}, DType::f32));
  }
  builder.output("mask.weight", builder.parameter({"mask.weight"}, {{10}}, DType::f32));
  builder.program().parameters.back()->buffer = true;
  builder.write(folder / "a.sched");
  artifact.emplace(*loadSchedule(folder / "a.sched"));
  std::string message = feed().status().message();
  EXPECT_NE(message.find("or write 'init { h.*.n1.weight ones; ln_f.weight ones; net.1.weight ones; net.4.weight ones; "
                         "**.bias zeros; rest normal 0.02 }'"),
            std::string::npos)
      << message;
}

TEST_F(InitialFeedTest, RefusesWhatIsNotDrawn) {
  build(plain);
  std::vector<std::byte> out(80);
  EXPECT_EQ((*feed()).read({{"x"}, {10}, {{{0, 10}}}, DType::f32}, out).message(), "the plan does not initialize 'x'");
  EXPECT_EQ((*feed()).read({{"bias"}, {10}, {{{0, 10}}}, DType::i64}, out).message(),
            "parameter 'bias' of type i64 cannot be initialized randomly");
}
