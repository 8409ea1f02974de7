#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "test/unit/tensor/call_helper.h"

#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <latch>
#include <thread>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;
using testing::HasSubstr;

namespace {

/// The gradients of a call's results are the last of its values. -1 is None.
struct Vjp {
  std::string of;
  std::vector<at::Tensor> gradients;

  std::vector<Argument> arguments(std::vector<at::Tensor> &tensors, std::vector<Argument> others) const {
    ValueListArgument list;
    for (const at::Tensor &gradient : gradients) {
      list.values.push_back(gradient.defined() ? static_cast<int>(tensors.size()) : -1);
      if (gradient.defined())
        tensors.push_back(gradient);
    }
    others.push_back({"gradients", list});
    others.push_back({"of", of});
    return others;
  }

  at::Tensor call(std::string_view target, std::vector<at::Tensor> tensors, std::vector<Argument> others) const {
    std::vector<Argument> all = arguments(tensors, std::move(others));
    return callOperator(target, tensors, all)[0];
  }

  std::string failure(std::string_view target, std::vector<at::Tensor> tensors, std::vector<Argument> others) const {
    std::vector<Argument> all = arguments(tensors, std::move(others));
    auto call = prepareCall(target, all, {-1});
    if (!call)
      return call.status().message();
    std::vector<Tensor> values;
    for (const at::Tensor &tensor : tensors)
      values.push_back(wrap(tensor));
    return (*call)->run(values).message();
  }
};

at::Tensor randomDoubles(at::IntArrayRef shape) { return at::randn(shape, at::kDouble); }

/// The gradient of `leaf` by autograd, through the result of `compute`.
template <typename Compute>
at::Tensor expectedGradient(const at::Tensor &leaf, const at::Tensor &gradient, const Compute &compute) {
  c10::AutoGradMode recording(true);
  at::Tensor recorded = leaf.detach().clone().requires_grad_(true);
  return torch::autograd::grad({compute(recorded)}, {recorded}, {gradient})[0];
}

int64_t threadsNow() {
  auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

const std::vector<Argument> cumsumArguments = {value("self", 0), {"dim", int64_t(1)}};

} // namespace

TEST(VjpTest, OneArgumentOneResult) {
  at::Tensor x = randomDoubles({3, 5}), g = randomDoubles({3, 5});
  at::Tensor found = Vjp{"self", {g}}.call("vjp.aten.cumsum.default", {x}, cumsumArguments);
  EXPECT_TRUE(at::equal(found, expectedGradient(x, g, [](const at::Tensor &t) { return at::cumsum(t, 1); })));
  EXPECT_FALSE(found.requires_grad());
  EXPECT_FALSE(x.requires_grad()) << "the argument itself is not recorded";
}

TEST(VjpTest, EachArgumentOfAnOperator) {
  at::Tensor x = randomDoubles({2, 3, 8, 8}), w = randomDoubles({4, 3, 3, 3}), b = randomDoubles({4}),
             g = randomDoubles({2, 4, 4, 4});
  auto call = [&](const char *of) {
    return Vjp{of, {g}}.call(
        "vjp.aten.conv2d.default", {x, w, b},
        {value("input", 0), value("weight", 1), value("bias", 2), {"stride", int64_t(2)}, {"padding", int64_t(1)}});
  };
  auto conv = [](const at::Tensor &x, const at::Tensor &w, const at::Tensor &b) { return at::conv2d(x, w, b, 2, 1); };
  // Sums of at most 100 products of values below 5 in another order.
  EXPECT_LT(difference(call("input"), expectedGradient(x, g, [&](const at::Tensor &t) { return conv(t, w, b); })),
            1e-12);
  EXPECT_LT(difference(call("weight"), expectedGradient(w, g, [&](const at::Tensor &t) { return conv(x, t, b); })),
            1e-12);
  EXPECT_LT(difference(call("bias"), expectedGradient(b, g, [&](const at::Tensor &t) { return conv(x, w, t); })),
            1e-12);
}

// The kernel of PyTorch 2.11 crashes for such images if only this gradient is requested.
TEST(VjpTest, WeightsOfGroupNormOnImagesWhoseChannelsLieTogether) {
  at::Tensor x = randomDoubles({2, 8, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast), w = randomDoubles({8}),
             b = randomDoubles({8});
  at::Tensor g = randomDoubles({2, 8, 2, 2});
  std::vector<Argument> arguments{value("input", 0), value("weight", 1), value("bias", 2), {"num_groups", int64_t(4)}};
  at::Tensor found = Vjp{"weight", {g}}.call("vjp.aten.group_norm.default", {x, w, b}, arguments);
  at::Tensor expected =
      expectedGradient(w, g, [&](const at::Tensor &weight) { return at::group_norm(x.contiguous(), 4, weight, b); });
  EXPECT_TRUE(at::allclose(found, expected, 1e-12, 1e-12));
}

// PyTorch 2.11 leaves some elements uninitialized: repeated runs reveal that.
TEST(VjpTest, WeightsOfConvolutionsOfVolumesIn16Bits) {
  at::Tensor x = randomDoubles({3, 16, 2, 2, 1}).to(at::kBFloat16),
             w = randomDoubles({16, 16, 2, 3, 3}).to(at::kBFloat16);
  at::Tensor g = randomDoubles({3, 16, 2, 2, 1}).to(at::kBFloat16);
  at::Tensor expected = expectedGradient(w.to(at::kDouble), g.to(at::kDouble), [&](const at::Tensor &weight) {
    return at::conv3d(x.to(at::kDouble), weight, {}, 1, "same");
  });
  for (int run = 0; run < 5; ++run) {
    {
      at::Tensor other = at::full_like(w, NAN);
    }
    at::Tensor found = Vjp{"weight", {g}}.call(
        "vjp.aten.conv3d.padding", {x, w}, {value("input", 0), value("weight", 1), {"padding", std::string("same")}});
    EXPECT_EQ(found.scalar_type(), at::kBFloat16);
    // Sums in f32 of at most 12 products, and one rounding to 8 bits.
    EXPECT_TRUE(at::allclose(found.to(at::kDouble), expected, std::exp2(-8), 1e-4));
  }
}

TEST(VjpTest, OneTensorForTwoArguments) {
  at::Tensor x = randomDoubles({4}), g = randomDoubles({4});
  std::vector<Argument> both = {value("self", 0), value("other", 0)};
  EXPECT_TRUE(at::equal(Vjp{"self", {g}}.call("vjp.aten.mul.Tensor", {x}, both), g * x)) << "not twice that";
}

TEST(VjpTest, ListsOfTensors) {
  at::Tensor a = randomDoubles({2, 3}), b = randomDoubles({4, 3}), g = randomDoubles({6, 3});
  std::vector<Argument> list = {{"tensors", ValueListArgument{{0, 1}}}};
  EXPECT_TRUE(at::equal(Vjp{"tensors.0", {g}}.call("vjp.aten.cat.default", {a, b}, list), g.narrow(0, 0, 2)));
  EXPECT_TRUE(at::equal(Vjp{"tensors.1", {g}}.call("vjp.aten.cat.default", {a, b}, list), g.narrow(0, 2, 4)));
  at::Tensor columns = at::tensor({2, 0, 2}), picked = randomDoubles({4, 3});
  at::Tensor found = Vjp{"self", {picked}}.call("vjp.aten.index.Tensor", {b, columns},
                                                {value("self", 0), {"indices", ValueListArgument{{-1, 1}}}});
  EXPECT_TRUE(at::equal(found, at::zeros({4, 3}, at::kDouble).index_add(1, columns, picked)));
}

/// In the requested order; an argument on which nothing depends has zeros.
TEST(VjpTest, GradientsOfSeveralArguments) {
  at::Tensor x = randomDoubles({3, 2, 4}), h = randomDoubles({1, 2, 5}), g = randomDoubles({3, 2, 5});
  at::Tensor w = randomDoubles({5, 4}), v = randomDoubles({5, 5});
  std::vector<Argument> layer = {value("input", 0),
                                 value("hx", 1),
                                 {"params", ValueListArgument{{2, 3}}},
                                 {"has_biases", false},
                                 {"num_layers", int64_t(1)},
                                 {"dropout", 0.0},
                                 {"train", false},
                                 {"bidirectional", false},
                                 {"batch_first", false}};
  std::vector<at::Tensor> tensors = {x, h, w, v};
  std::vector<Argument> all = Vjp{"params.1, input, hx", {g, {}}}.arguments(tensors, layer);
  std::vector<at::Tensor> found = callOperator("vjp.aten.rnn_tanh.input", tensors, all, 3);
  auto output = [&](const at::Tensor &a, const at::Tensor &b, const at::Tensor &c) {
    return std::get<0>(at::rnn_tanh(a, b, {w, c}, false, 1, 0.0, false, false, false));
  };
  EXPECT_TRUE(at::equal(found[0], expectedGradient(v, g, [&](const at::Tensor &t) { return output(x, h, t); })));
  EXPECT_TRUE(at::equal(found[1], expectedGradient(x, g, [&](const at::Tensor &t) { return output(t, h, v); })));
  EXPECT_TRUE(at::equal(found[2], expectedGradient(h, g, [&](const at::Tensor &t) { return output(x, t, v); })));
}

/// Autograd returns the same tensor for both arguments of a sum; changing one result must not change the other.
TEST(VjpTest, EachResultIsATensorOfItsOwn) {
  at::Tensor x = randomDoubles({4}), y = randomDoubles({4}), g = randomDoubles({4});
  std::vector<at::Tensor> tensors = {x, y};
  std::vector<Argument> all = Vjp{"self, other", {g}}.arguments(tensors, {value("self", 0), value("other", 1)});
  std::vector<at::Tensor> found = callOperator("vjp.aten.add.Tensor", tensors, all, 2);
  EXPECT_TRUE(at::equal(found[0], g));
  EXPECT_TRUE(at::equal(found[1], g));
  EXPECT_FALSE(found[0].is_alias_of(found[1]));
}

TEST(VjpTest, SomeResultsHaveNoGradient) {
  at::Tensor x = randomDoubles({5, 2}), g = randomDoubles({1, 2});
  std::vector<Argument> split = {value("self", 0), {"split_size", int64_t(2)}};
  at::Tensor found = Vjp{"self", {{}, {}, g}}.call("vjp.aten.split.Tensor", {x}, split);
  at::Tensor expected = at::zeros({5, 2}, at::kDouble);
  expected.narrow(0, 4, 1).copy_(g);
  EXPECT_TRUE(at::equal(found, expected));
  EXPECT_TRUE(at::equal(Vjp{"self", {{}, {}, {}}}.call("vjp.aten.split.Tensor", {x}, split), at::zeros_like(x)));
  // The second result has indices.
  at::Tensor largest = randomDoubles({5});
  found = Vjp{"self", {largest, at::zeros({5}, at::kLong)}}.call("vjp.aten.max.dim", {x},
                                                                 {value("self", 0), {"dim", int64_t(1)}});
  EXPECT_TRUE(at::equal(found.sum(1), largest));
}

TEST(VjpTest, NoGradientFlows) {
  at::Tensor x = randomDoubles({4}), g = randomDoubles({4});
  EXPECT_TRUE(at::equal(Vjp{"self", {g}}.call("vjp.aten.floor.default", {x}, {value("self", 0)}), at::zeros_like(x)));
  EXPECT_TRUE(
      at::equal(Vjp{"self", {g}}.call("vjp.aten.zeros_like.default", {x}, {value("self", 0)}), at::zeros_like(x)));
  EXPECT_TRUE(at::equal(
      Vjp{"self", {at::ones({4}, at::kBool)}}.call("vjp.aten.gt.Scalar", {x}, {value("self", 0), {"other", 0.0}}),
      at::zeros_like(x)));
}

TEST(VjpTest, ShapeAndTypeAreTheArguments) {
  at::Tensor x = randomDoubles({3, 1}).to(at::kBFloat16), y = randomDoubles({3, 4}).to(at::kFloat),
             g = at::ones({3, 4});
  at::Tensor found = Vjp{"self", {g}}.call("vjp.aten.mul.Tensor", {x, y}, {value("self", 0), value("other", 1)});
  EXPECT_EQ(found.sizes(), x.sizes());
  EXPECT_EQ(found.scalar_type(), at::kBFloat16);
  // One rounding of a sum in f32, or of each addend: 2^-8 of their magnitude.
  EXPECT_TRUE(at::allclose(found.to(at::kFloat), y.sum(1, true), 0x1p-6, 0x1p-5));
}

TEST(VjpTest, OperatorsMadeOfOthersWithViewsAndChangesInPlace) {
  at::Tensor x = randomDoubles({2, 6}), source = randomDoubles({2, 2}), g = randomDoubles({2, 6});
  auto scatter = [&](const at::Tensor &a, const at::Tensor &b) { return at::slice_scatter(a, b, 1, 1, 5, 2); };
  std::vector<Argument> arguments = {value("self", 0),      value("src", 1),     {"dim", int64_t(1)},
                                     {"start", int64_t(1)}, {"end", int64_t(5)}, {"step", int64_t(2)}};
  ComputeScope scope(1);
  EXPECT_TRUE(
      at::equal(Vjp{"src", {g}}.call("vjp.aten.slice_scatter.default", {x, source}, arguments), g.slice(1, 1, 5, 2)));
  EXPECT_TRUE(at::equal(Vjp{"self", {g}}.call("vjp.aten.slice_scatter.default", {x, source}, arguments),
                        scatter(g, at::zeros_like(source))));
  // A composite operator: it copies into parts of a new tensor.
  at::Tensor image = randomDoubles({1, 2, 6}), padded = randomDoubles({1, 2, 9});
  at::Tensor found = Vjp{"self", {padded}}.call(
      "vjp.aten.pad.default", {image},
      {value("self", 0), {"pad", std::vector<int64_t>{1, 2}}, {"mode", std::string("circular")}});
  at::Tensor expected = padded.narrow(2, 1, 6).clone();
  expected.narrow(2, 5, 1).add_(padded.narrow(2, 0, 1));
  expected.narrow(2, 0, 2).add_(padded.narrow(2, 7, 2));
  // Two additions in another order.
  EXPECT_LT(difference(found, expected), 1e-14);
}

/// The forward pass has updated them; this call runs the operator again.
TEST(VjpTest, RunningMeansAreLeftAlone) {
  at::Tensor x = randomDoubles({6, 3}), mean = randomDoubles({3}), variance = randomDoubles({3}).abs(),
             g = randomDoubles({6, 3});
  at::Tensor meanBefore = mean.clone(), varianceBefore = variance.clone();
  ComputeScope scope(1);
  at::Tensor found = Vjp{"input", {g}}.call("vjp.aten.batch_norm.default", {x, mean, variance},
                                            {value("input", 0),
                                             value("running_mean", 1),
                                             value("running_var", 2),
                                             {"training", true},
                                             {"momentum", 0.1},
                                             {"eps", 1e-5},
                                             {"cudnn_enabled", false}});
  EXPECT_TRUE(at::equal(mean, meanBefore));
  EXPECT_TRUE(at::equal(variance, varianceBefore));
  // Along a shift of all rows, columns of a normalized tensor have no gradient. Ten roundings of values below 10.
  EXPECT_LT(found.sum(0).abs().max().item<double>(), 1e-13);
  EXPECT_GT(found.abs().max().item<double>(), 0.01);
}

TEST(VjpTest, ArgumentsThatAreWrittenAreLeftAlone) {
  at::Tensor x = randomDoubles({4}), y = randomDoubles({4}), before = x.clone(), g = randomDoubles({4});
  std::vector<Argument> arguments = {value("self", 0), value("other", 1)};
  EXPECT_TRUE(at::equal(Vjp{"other", {g}}.call("vjp.aten.mul_.Tensor", {x, y}, arguments), g * before));
  EXPECT_TRUE(at::equal(x, before));
  EXPECT_THAT((Vjp{"self", {g}}.failure("vjp.aten.mul_.Tensor", {x, y}, arguments)), HasSubstr("in-place operation"));
}

TEST(VjpTest, TensorsOfThreadsThatDoNotRecord) {
  at::Tensor expected, g = randomDoubles({3, 5}), x = randomDoubles({3, 5});
  expected = expectedGradient(x, g, [](const at::Tensor &t) { return at::silu(t); });
  {
    ComputeScope scope(1);
    at::Tensor made = x.clone(), view = made.view({3, 5}), gradient = g.clone();
    EXPECT_TRUE(at::equal(Vjp{"self", {gradient}}.call("vjp.aten.silu.default", {view}, {value("self", 0)}), expected));
    EXPECT_FALSE(at::mul(made, 2).requires_grad());
    EXPECT_FALSE(c10::GradMode::is_enabled()) << "the settings are as before";
  }
  c10::InferenceMode inference;
  at::Tensor made = x.clone(), gradient = g.clone();
  ASSERT_TRUE(made.is_inference());
  EXPECT_TRUE(at::equal(Vjp{"self", {gradient}}.call("vjp.aten.silu.default", {made}, {value("self", 0)}), expected));
  EXPECT_TRUE(c10::InferenceMode::is_enabled());
}

/// Ranks are threads: each runs its own backward passes on its own thread, and none waits for another.
TEST(VjpTest, ManyRanksAtOnce) {
  constexpr int ranks = 8, calls = 200;
  Vjp{"self", {randomDoubles({1})}}.call("vjp.aten.silu.default", {randomDoubles({1})}, {value("self", 0)});
  int64_t before = threadsNow();
  std::latch started(ranks), computed(ranks), counted(1);
  std::vector<std::thread> threads;
  std::vector<int> wrong(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      at::Tensor x = at::full({32, 16}, 0.1 * (rank + 1), at::kDouble), g = at::full({32, 16}, rank + 1.0, at::kDouble);
      at::Tensor expected = expectedGradient(x.detach(), g, [](const at::Tensor &t) { return at::cumprod(t, 1); });
      ComputeScope scope(1);
      std::vector<at::Tensor> tensors = {x};
      std::vector<Argument> arguments = Vjp{"self", {g}}.arguments(tensors, {value("self", 0), {"dim", int64_t(1)}});
      auto call = prepareCall("vjp.aten.cumprod.default", arguments, {2});
      std::vector<Tensor> values = {wrap(x), wrap(g), Tensor()};
      started.arrive_and_wait();
      for (int i = 0; i < calls; ++i)
        wrong[rank] += !call || !(*call)->run(values).ok() || !at::equal(unwrap(values[2]), expected);
      computed.count_down();
      counted.wait();
    });
  computed.wait();
  int64_t running = threadsNow();
  counted.count_down();
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
  EXPECT_LE(running, before + ranks) << "autograd made threads";
}

TEST(VjpTest, FailuresOfARun) {
  at::Tensor x = randomDoubles({2, 3}), g = randomDoubles({2, 3});
  std::vector<Argument> self = {value("self", 0)};
  EXPECT_EQ((Vjp{"self", {g, g}}.failure("vjp.aten.silu.default", {x}, self)),
            "it gave 1 results, there are 2 gradients");
  EXPECT_EQ((Vjp{"self", {g[0]}}.failure("vjp.aten.silu.default", {x}, self)),
            "gradient 0 is [3] f64, the result is [2, 3] f64");
  EXPECT_EQ((Vjp{"self", {g}}.failure("vjp.aten.neg.default", {at::ones({2, 3}, at::kLong)}, self)),
            "there is no gradient of a tensor of Long");
  EXPECT_EQ((Vjp{"self", {g}}.failure("vjp.aten.silu.default", {at::Tensor()}, self)),
            "there is no tensor to have a gradient");
  EXPECT_EQ((Vjp{"self", {g}}.failure("vjp.aten.mm.default", {x, x}, {value("self", 0), value("mat2", 1)})),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
}

TEST(VjpTest, FailureLeavesValuesAndSettings) {
  ComputeScope scope(1);
  at::Tensor x = randomDoubles({2, 3}), g = randomDoubles({3});
  std::vector<at::Tensor> tensors = {x};
  std::vector<Argument> arguments = Vjp{"self", {g}}.arguments(tensors, {value("self", 0)});
  auto call = prepareCall("vjp.aten.silu.default", arguments, {0});
  ASSERT_TRUE(call.ok());
  std::vector<Tensor> values = {wrap(x), wrap(g)};
  Status status = (*call)->run(values);
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_TRUE(unwrap(values[0]).is_same(x));
  tensors.clear();
  EXPECT_EQ(x.use_count(), 2) << "the failed call keeps its arguments alive";
  EXPECT_FALSE(c10::GradMode::is_enabled());
}

TEST(VjpTest, NothingIsKeptBetweenCalls) {
  installPoolAllocator();
  at::Tensor x = randomDoubles({64, 64}), g = randomDoubles({64, 64});
  std::vector<at::Tensor> tensors = {x};
  std::vector<Argument> arguments = Vjp{"self", {g}}.arguments(tensors, {value("self", 0)});
  auto call = prepareCall("vjp.aten.exp.default", arguments, {2});
  ASSERT_TRUE(call.ok());
  std::vector<Tensor> values = {wrap(x), wrap(g), Tensor()};
  auto pool = std::make_shared<MemoryPool>();
  PoolScope scope(pool);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*call)->run(values).ok());
    EXPECT_EQ(pool->current(), static_cast<int64_t>(x.nbytes())) << "the gradient, and not the result that was saved";
  }
}

TEST(VjpTest, WhatCannotBePrepared) {
  at::Tensor x = randomDoubles({2, 3});
  EXPECT_EQ((Vjp{"self", {x}}.failure("vjp.aten.sillu.default", {x}, {})),
            "there is no operator 'vjp.aten.sillu.default'");
  EXPECT_EQ((Vjp{"self", {x}}.failure("vjp.", {x}, {})), "there is no operator 'vjp.'");
  EXPECT_EQ((Vjp{"dim", {x}}.failure("vjp.aten.cumsum.default", {x}, cumsumArguments)),
            "vjp.aten.cumsum.default: argument 'dim' has no tensor whose gradient could be taken");
  EXPECT_EQ((Vjp{"other", {x}}.failure("vjp.aten.cumsum.default", {x}, cumsumArguments)),
            "vjp.aten.cumsum.default: argument 'other' has no tensor whose gradient could be taken");
  std::vector<Argument> list = {{"tensors", ValueListArgument{{0}}}};
  EXPECT_EQ((Vjp{"tensors", {x}}.failure("vjp.aten.cat.default", {x}, list)),
            "vjp.aten.cat.default: argument 'tensors' has no tensor whose gradient could be taken");
  EXPECT_EQ((Vjp{"tensors.1", {x}}.failure("vjp.aten.cat.default", {x}, list)),
            "vjp.aten.cat.default: argument 'tensors.1' has no tensor whose gradient could be taken");
  EXPECT_EQ((Vjp{"tensors.0, tensors.0", {x}}.failure("vjp.aten.cat.default", {x}, list)),
            "vjp.aten.cat.default: argument 'of' names 'tensors.0' twice");
  EXPECT_THAT((Vjp{"self", {x}}.failure("vjp.aten.cumsum.default", {x}, {value("self", 0)})),
              HasSubstr("vjp.aten.cumsum.default: argument 'dim' is missing"));
  auto refusal = [](std::vector<Argument> arguments, std::vector<int> outputs) {
    arguments.insert(arguments.end(), cumsumArguments.begin(), cumsumArguments.end());
    return prepareCall("vjp.aten.cumsum.default", arguments, outputs).status().message();
  };
  Argument gradients = {"gradients", ValueListArgument{{1}}}, of = {"of", std::string("self")};
  EXPECT_EQ(refusal({of}, {2}), "vjp.aten.cumsum.default: argument 'gradients' must be given as a list of tensors");
  EXPECT_EQ(refusal({of, value("gradients", 1)}, {2}),
            "vjp.aten.cumsum.default: argument 'gradients' must be given as a list of tensors");
  EXPECT_EQ(refusal({gradients}, {2}), "vjp.aten.cumsum.default: argument 'of' must be given as a string");
  EXPECT_EQ(refusal({gradients, of}, {2, 3}), "vjp.aten.cumsum.default has 1 results, the schedule expects 2");
}
