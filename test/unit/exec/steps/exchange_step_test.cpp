//===- exchange_step_test.cpp - rows at the ranks of their experts --------===//
//
// A layer of experts under prescribed routings, compared with loops over tokens. All numbers are small integers, so
// that every sum is exact in every dtype and order.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/memory.h"
#include "runtime/tensor/torch/dtype.h"
#include "test/lib/delays/start_on.h"
#include "test/lib/delays/wrapped_world.h"
#include "test/unit/exec/steps/exchange_program.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <map>
#include <mutex>

using namespace meshplan;

namespace {

const std::vector<ExchangeAxes> &allAxes() {
  static const std::vector<ExchangeAxes> split{
      {"TwoRanks", {{"dp", 2}}, {"dp"}, {}, {}, {"dp"}},
      {"ThreeRanks", {{"dp", 3}}, {"dp"}, {}, {}, {"dp"}},
      {"FourRanks", {{"dp", 4}}, {"dp"}, {}, {}, {"dp"}},
      {"Positions", {{"tp", 3}}, {}, {"tp"}, {}, {"tp"}},
      {"BothAxes", {{"dp", 2}, {"tp", 2}}, {"dp"}, {"tp"}, {}, {"dp", "tp"}},
      {"BothAxesTurned", {{"dp", 2}, {"tp", 2}}, {"tp"}, {"dp"}, {}, {"dp", "tp"}},
      {"TokensOverTheOther", {{"dp", 2}, {"tp", 2}}, {"dp"}, {"tp"}, {}, {"tp"}},
      {"MoreExpertsThanAxes", {{"tp", 2}, {"dp", 2}}, {"dp"}, {}, {"tp"}, {"dp"}},
      {"MinorDigit", {{"dp", 4}}, {"dp:1:2", "dp:2:2"}, {}, {}, {"dp:2:2"}},
      {"MajorDigit", {{"dp", 4}}, {"dp:2:2", "dp:1:2"}, {}, {}, {"dp:1:2"}},
      {"TwoDigits", {{"dp", 4}, {"tp", 1}}, {"dp:1:2"}, {"dp:2:2"}, {}, {"dp:1:2", "dp:2:2"}},
      {"ADigitIsKept", {{"dp", 4}}, {"dp:2:2"}, {}, {"dp:1:2"}, {"dp:2:2"}},
  };
  return split;
}

/// The experts of each token [samples, positions, slots].
struct Routing {
  const char *name;
  at::Tensor indices;
};

std::vector<Routing> allRoutings(const LayerSizes &sizes) {
  at::manual_seed(5);
  std::vector<int64_t> shape{sizes.samples, sizes.positions, sizes.slots};
  at::Tensor spread = std::get<1>(at::rand({sizes.samples, sizes.positions, sizes.experts}).topk(sizes.slots));
  at::Tensor few = std::get<1>(at::rand({sizes.samples, sizes.positions, 3}).topk(sizes.slots)) * 2 + 1;
  // All tokens of one expert, and its neighbours in the other slots.
  auto crowd = [&](int64_t expert) {
    return (at::arange(sizes.slots, at::kLong) + expert).remainder(sizes.experts).expand(shape).contiguous();
  };
  at::Tensor bySample = (at::arange(sizes.samples, at::kLong).view({-1, 1, 1}) + at::arange(sizes.slots, at::kLong))
                            .remainder(sizes.experts)
                            .expand(shape)
                            .contiguous();
  return {{"spread", spread},
          {"the first experts only", crowd(0)},
          {"the last experts only", crowd(sizes.experts - sizes.slots)},
          {"experts without tokens", few},
          {"one expert for each sample", bySample}};
}

at::Tensor smallIntegers(std::vector<int64_t> shape, int64_t low, int64_t high, DType dtype) {
  return at::randint(low, high, shape).to(scalarTypeOf(dtype));
}

Tensors inputsOf(const LayerSizes &sizes, const at::Tensor &indices, DType dtype) {
  return {{"indices", indices},
          {"x", smallIntegers({sizes.samples, sizes.positions, sizes.hidden}, -2, 3, dtype)},
          {"g", smallIntegers({sizes.samples, sizes.positions, sizes.features}, -2, 3, dtype)},
          {"w", smallIntegers({sizes.experts, sizes.features, sizes.hidden}, -1, 2, dtype)}};
}

/// What the layer promises, token by token.
Tensors layerByLoops(const Tensors &inputs) {
  at::Tensor x = inputs.at("x").to(at::kDouble), g = inputs.at("g").to(at::kDouble), w = inputs.at("w").to(at::kDouble);
  at::Tensor indices = inputs.at("indices"), y = at::zeros_like(g), dx = at::zeros_like(x), dw = at::zeros_like(w);
  for (int64_t sample = 0; sample < x.size(0); ++sample)
    for (int64_t position = 0; position < x.size(1); ++position)
      for (int64_t slot = 0; slot < indices.size(2); ++slot) {
        int64_t expert = indices[sample][position][slot].item<int64_t>();
        y[sample][position] += w[expert].mv(x[sample][position]);
        dx[sample][position] += w[expert].t().mv(g[sample][position]);
        dw[expert] += at::outer(g[sample][position], x[sample][position]);
      }
  at::ScalarType type = inputs.at("x").scalar_type();
  return {{"y", y.to(type)}, {"dx", dx.to(type)}, {"dw", dw.to(type)}};
}

void expectLayer(const ExchangeAxes &split, const LayerSizes &sizes, const at::Tensor &indices, DType dtype,
                 const std::string &name) {
  ExchangeProgram program(split, sizes, dtype);
  program.addLayer();
  Tensors inputs = inputsOf(sizes, indices, dtype), results = mustRun(program.builder, inputs);
  for (const auto &[output, expected] : layerByLoops(inputs))
    EXPECT_TRUE(results[output].defined() && at::equal(results[output], expected))
        << name << ": " << output << " is " << results[output] << "\n, should be " << expected;
}

/// Runs a rank on a pool whose free blocks are full of NaN, of all types of floats.
Status onMemoryOfNaN(World &world, const RankBody &body) {
  installPoolAllocator();
  auto pool = std::make_shared<MemoryPool>();
  std::vector<std::pair<MemoryPool::Block, size_t>> blocks;
  // A tensor may take a block that is an eighth larger.
  for (size_t bytes = 64 << 10; bytes <= 1 << 20; bytes += bytes / 12) {
    blocks.emplace_back(pool->allocate(bytes), bytes);
    std::memset(blocks.back().first.address, 0xff, bytes);
  }
  for (auto [block, bytes] : blocks)
    pool->release(block, bytes);
  PoolScope scope(pool);
  EXPECT_TRUE(at::empty({1 << 15}).isnan().all().item<bool>()) << "the memory is not used again";
  return body(world);
}

class ExchangeStepTest : public testing::TestWithParam<ExchangeAxes> {};

} // namespace

/// Six experts, which four ranks do not divide evenly.
TEST_P(ExchangeStepTest, AllRoutings) {
  LayerSizes sizes;
  for (const auto &[name, indices] : allRoutings(sizes))
    for (DType dtype : {DType::f32, DType::bf16})
      expectLayer(GetParam(), sizes, indices, dtype, name + std::string(" ") + std::string(dtypeName(dtype)));
}

/// Some ranks have no tokens.
TEST_P(ExchangeStepTest, FewTokens) {
  LayerSizes sizes{.samples = 1, .positions = 1};
  for (const auto &[name, indices] : allRoutings(sizes))
    expectLayer(GetParam(), sizes, indices, DType::f32, name);
}

/// Some ranks have no experts. One slot and one feature.
TEST_P(ExchangeStepTest, FewExperts) {
  LayerSizes sizes{.experts = 1, .samples = 3, .positions = 2, .slots = 1, .hidden = 1, .features = 1};
  expectLayer(GetParam(), sizes, at::zeros({3, 2, 1}, at::kLong), DType::f32, "one expert");
  sizes.experts = 3;
  expectLayer(GetParam(), sizes, at::tensor({2, 0, 2, 2, 1, 2}, at::kLong).view({3, 2, 1}), DType::f32, "three");
}

/// Rows of a size that pools keep.
TEST_P(ExchangeStepTest, WhatMemoryHadBeforeDoesNotMatter) {
  LayerSizes sizes{.hidden = 4096, .features = 2};
  std::vector<Routing> routings = allRoutings(sizes);
  routings.resize(2);
  for (DType dtype : {DType::f32, DType::bf16})
    for (const auto &[name, indices] : routings) {
      ExchangeProgram program(GetParam(), sizes, dtype);
      program.addLayer();
      Tensors inputs = inputsOf(sizes, indices, dtype), expected = mustRun(program.builder, inputs);
      auto results = runSchedule(program.builder, inputs, std::chrono::seconds(20), onMemoryOfNaN);
      ASSERT_TRUE(results.ok()) << results.status().message();
      for (const char *output : {"y", "dx", "dw"})
        EXPECT_TRUE(at::equal((*results)[output], expected[output])) << name << ": " << output;
    }
}

INSTANTIATE_TEST_SUITE_P(ExchangeAxes, ExchangeStepTest, testing::ValuesIn(allAxes()),
                         [](const testing::TestParamInfo<ExchangeAxes> &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

/// What a rank sends to others, in bytes.
struct SentBytes {
  int64_t exchanged = 0, gathered = 0, others = 0;
};
using SentByRank = std::map<int64_t, SentBytes>;

/// Counts what a rank sends over the communicator dp of a world. Thread safe.
class SentBytesWorld final : public WrappedWorld {
public:
  SentBytesWorld(World &inner, SentByRank &all, std::mutex &mutex) : WrappedWorld(inner), all(all), mutex(mutex) {}

private:
  class CountedGroup final : public Group {
  public:
    CountedGroup(std::unique_ptr<Group> inner, SentBytesWorld &world)
        : Group(inner->name(), {inner->ranks().begin(), inner->ranks().end()}, inner->index()), inner(std::move(inner)),
          world(world) {}
    bool reduces(DType dtype, Reduction reduction) const override { return inner->reduces(dtype, reduction); }
    Status connectPairs() override { return inner->connectPairs(); }

  private:
    Expected<Pending> start(Collective collective) override {
      world.add(collective, size(), index());
      return startOn(*inner, collective, collective.input, collective.output);
    }
    std::unique_ptr<Group> inner;
    SentBytesWorld &world;
  };

  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t) override {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, inner.createGroup(std::move(ranks), std::move(name)));
    if (group->name() == "dp")
      group = std::make_unique<CountedGroup>(std::move(group), *this);
    return group;
  }

  void add(const Collective &collective, int64_t size, int64_t index) {
    int64_t bytes = dtypeSize(collective.dtype);
    std::lock_guard lock(mutex);
    SentBytes &sent = all[rank()];
    if (collective.kind == CollectiveKind::allToAll)
      for (int64_t to = 0; to < size; ++to)
        sent.exchanged += to == index ? 0 : collective.sendCounts[to] * bytes;
    else if (collective.kind == CollectiveKind::allGather)
      sent.gathered += (size - 1) * collective.receiveCounts[index] * bytes;
    else if (collective.kind != CollectiveKind::barrier)
      sent.others += bytes;
  }

  SentByRank &all;
  std::mutex &mutex;
};

/// The shard of `count` that has element `index` of a dim.
int64_t shardOf(int64_t extent, int64_t count, int64_t index) {
  for (int64_t shard = 0; shard < count; ++shard)
    if (Range range = shardRange(extent, 1, count, shard); index >= range.offset && index < range.offset + range.size)
      return shard;
  return -1;
}

/// [ranks of tokens, ranks of experts]: the pairs of a token and a slot, where `ranks` divide samples and experts.
at::Tensor pairsByRanks(const LayerSizes &sizes, const at::Tensor &indices, int64_t ranks) {
  at::Tensor pairs = at::zeros({ranks, ranks}, at::kLong);
  for (int64_t sample = 0; sample < sizes.samples; ++sample)
    for (int64_t position = 0; position < sizes.positions; ++position)
      for (int64_t slot = 0; slot < sizes.slots; ++slot)
        pairs[shardOf(sizes.samples, ranks, sample)]
             [shardOf(sizes.experts, ranks, indices[sample][position][slot].item<int64_t>())] += 1;
  return pairs;
}

} // namespace

/// The rows of pairs whose expert is on another rank, and no others. Besides, ranks tell each other their counts: 8
/// bytes for each expert, once for all exchanges of a route.
TEST(ExchangeStepTest, OnlyRowsOfOtherRanksAreSent) {
  for (int64_t ranks : {2, 3, 4})
    for (DType dtype : {DType::f32, DType::bf16}) {
      LayerSizes sizes;
      for (const auto &[name, indices] : allRoutings(sizes)) {
        ExchangeProgram program({"", {{"dp", ranks}}, {"dp"}, {}, {}, {"dp"}}, sizes, dtype);
        program.addLayer();
        SentByRank sent;
        std::mutex mutex;
        auto counted = [&](World &world, const RankBody &body) {
          SentBytesWorld counting(world, sent, mutex);
          return body(counting);
        };
        auto results = runSchedule(program.builder, inputsOf(sizes, indices, dtype), std::chrono::seconds(20), counted);
        ASSERT_TRUE(results.ok()) << results.status().message();
        at::Tensor pairs = pairsByRanks(sizes, indices, ranks);
        // A rank sends its tokens, the products of its experts, the gradients of its products, and those of the tokens
        // that its experts have computed.
        int64_t rowBytes = (sizes.hidden + sizes.features) * dtypeSize(dtype);
        for (const auto &[rank, bytes] : sent) {
          int64_t own = pairs[rank][rank].item<int64_t>();
          int64_t away = pairs[rank].sum().item<int64_t>() - own,
                  arrived = pairs.select(1, rank).sum().item<int64_t>() - own;
          EXPECT_EQ(bytes.exchanged, (away + arrived) * rowBytes) << name << ", rank " << rank << " of " << ranks;
          EXPECT_EQ(bytes.gathered, (ranks - 1) * sizes.experts * 8);
          EXPECT_EQ(bytes.others, 0);
        }
      }
    }
}
