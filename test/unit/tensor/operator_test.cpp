#include "test/unit/tensor/call_helper.h"

#include "runtime/tensor/torch/dtype.h"
#include "runtime/tensor/torch/recording.h"

#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;
using testing::HasSubstr;

static at::Tensor random(at::IntArrayRef shape) { return at::randn(shape, at::kFloat); }

static std::string bindError(std::string_view target, std::vector<Argument> arguments) {
  auto call = prepareCall(target, arguments, {0});
  EXPECT_FALSE(call.ok());
  return call.status().message();
}

TEST(OperatorTest, PositionsFollowNames) {
  at::Tensor x = random({2, 4}), w = random({3, 4}), b = random({3});
  auto out = callOperator("aten.linear.default", {b, w, x}, {value("bias", 0), value("weight", 1), value("input", 2)});
  EXPECT_TRUE(at::equal(out[0], at::linear(x, w, b)));
  out = callOperator("aten.linear.default", {x, w}, {value("input", 0), value("weight", 1)});
  EXPECT_TRUE(at::equal(out[0], at::linear(x, w)));
}

/// Schemas such as that of batch norm require an explicit None; artifacts leave it out.
TEST(OperatorTest, WhatMayBeNoneMayBeLeftOut) {
  at::Tensor x = random({2, 4, 3}), mean = random({4}), variance = random({4}).abs();
  auto out = callOperator("aten.batch_norm.default", {x, mean, variance},
                          {value("input", 0),
                           value("running_mean", 1),
                           value("running_var", 2),
                           {"training", false},
                           {"momentum", 0.1},
                           {"eps", 1e-5},
                           {"cudnn_enabled", false}});
  EXPECT_TRUE(at::allclose(out[0], at::batch_norm(x, {}, {}, mean, variance, false, 0.1, 1e-5, false)));
}

TEST(OperatorTest, NumberForATensorDoesNotPromote) {
  at::Tensor x = random({3}).to(at::kBFloat16);
  auto out = callOperator("aten.mul.Tensor", {x}, {value("self", 0), {"other", 0.5}});
  EXPECT_EQ(out[0].scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::equal(out[0], x * 0.5));
  out = callOperator("aten.add.Tensor", {at::arange(3)}, {value("self", 0), {"other", int64_t(2)}});
  EXPECT_TRUE(at::equal(out[0], at::arange(3) + 2));
}

TEST(OperatorTest, Scalars) {
  at::Tensor x = random({3});
  EXPECT_TRUE(at::equal(callOperator("aten.pow.Tensor_Scalar", {x}, {value("self", 0), {"exponent", int64_t(2)}})[0],
                        x.pow(2)));
  EXPECT_TRUE(at::equal(callOperator("aten.gt.Scalar", {x}, {value("self", 0), {"other", 0.25}})[0], x > 0.25));
  EXPECT_TRUE(
      at::equal(callOperator("aten.full.default", {}, {{"size", std::vector<int64_t>{2}}, {"fill_value", true}})[0],
                at::full({2}, true)));
}

TEST(OperatorTest, IntegerLists) {
  at::Tensor x = random({2, 6});
  auto shape = std::vector<int64_t>{3, -1};
  EXPECT_TRUE(at::equal(callOperator("aten.view.default", {x}, {value("self", 0), {"size", shape}})[0], x.view(shape)));
  auto mean =
      callOperator("aten.mean.dim", {x}, {value("self", 0), {"dim", std::vector<int64_t>{-1}}, {"keepdim", true}});
  EXPECT_TRUE(at::equal(mean[0], x.mean(-1, true)));
}

TEST(OperatorTest, OneIntegerForAListOfFixedLength) {
  at::Tensor x = random({1, 2, 6, 6}), w = random({3, 2, 3, 3});
  auto out =
      callOperator("aten.conv2d.default", {x, w}, {value("input", 0), value("weight", 1), {"padding", int64_t(1)}});
  EXPECT_TRUE(at::allclose(out[0], at::conv2d(x, w, {}, 1, 1)));
}

TEST(OperatorTest, NumberLists) {
  at::Tensor x = random({1, 1, 4, 4});
  auto out =
      callOperator("aten.upsample_nearest2d.vec", {x},
                   {value("input", 0), {"output_size", std::monostate()}, {"scale_factors", std::vector{2.0, 2.0}}});
  EXPECT_EQ(out[0].sizes(), (std::vector<int64_t>{1, 1, 8, 8}));
}

TEST(OperatorTest, DTypesLayoutsDevicesFormats) {
  at::Tensor x = random({2, 2});
  auto out = callOperator("aten._to_copy.default", {x},
                          {value("self", 0),
                           {"dtype", DType::bf16},
                           {"device", std::string("cpu")},
                           {"layout", std::string("torch.strided")},
                           {"memory_format", std::string("contiguous_format")}});
  EXPECT_EQ(out[0].scalar_type(), at::kBFloat16);
  out = callOperator("aten.arange.start", {}, {{"start", int64_t(1)}, {"end", int64_t(4)}, {"dtype", DType::i64}});
  EXPECT_TRUE(at::equal(out[0], at::arange(1, 4)));
}

TEST(OperatorTest, ListsOfTensors) {
  at::Tensor a = random({2, 3}), b = random({1, 3});
  auto out = callOperator("aten.cat.default", {a, b}, {{"tensors", ValueListArgument{{1, 0, 1}}}});
  EXPECT_TRUE(at::equal(out[0], at::cat({b, a, b})));
  at::Tensor columns = at::tensor({2, 0});
  out = callOperator("aten.index.Tensor", {a, columns}, {value("self", 0), {"indices", ValueListArgument{{-1, 1}}}});
  EXPECT_TRUE(at::equal(out[0], a.index({at::indexing::Slice(), columns})));
}

TEST(OperatorTest, ResultListsAreFlattened) {
  at::Tensor x = random({5, 2});
  auto out = callOperator("aten.split.Tensor", {x}, {value("self", 0), {"split_size", int64_t(2)}}, 3);
  EXPECT_TRUE(at::equal(out[2], x.slice(0, 4)));
}

TEST(OperatorTest, UnusedResultsMayBeAnything) {
  auto call = prepareCall("aten.max.dim", std::vector<Argument>{value("self", 0), {"dim", int64_t(0)}}, {-1, 1});
  ASSERT_TRUE(call.ok());
  std::vector<Tensor> values = {wrap(at::arange(6).view({3, 2})), Tensor()};
  ASSERT_TRUE((*call)->run(values).ok());
  EXPECT_TRUE(at::equal(unwrap(values[1]), at::full({2}, 2)));
}

// PyTorch 2.11 leaves some elements of the weight's gradient uninitialized: repeated runs would reveal that.
TEST(OperatorTest, RecordedConvolutionsOfVolumesIn16Bits) {
  RecordingScope recording;
  c10::AutoGradMode mode(true);
  at::Tensor x = random({3, 16, 2, 2, 1}).to(at::kBFloat16), g = random({3, 16, 2, 2, 1});
  at::Tensor w = random({16, 16, 2, 3, 3}).to(at::kBFloat16);
  at::Tensor wide = w.to(at::kDouble).requires_grad_(true);
  at::Tensor expected = torch::autograd::grad({at::conv3d(x.to(at::kDouble), wide, {}, 1, "same")}, {wide},
                                              {g.to(at::kBFloat16).to(at::kDouble)})[0];
  for (int run = 0; run < 5; ++run) {
    {
      at::Tensor other = at::full_like(w, NAN);
    }
    at::Tensor leaf = w.clone().requires_grad_(true);
    at::Tensor result = callOperator("aten.conv3d.padding", {x, leaf},
                                     {value("input", 0), value("weight", 1), {"padding", std::string("same")}})[0];
    EXPECT_EQ(result.scalar_type(), at::kBFloat16);
    at::Tensor found = torch::autograd::grad({result}, {leaf}, {g.to(at::kBFloat16)})[0];
    // Sums in f32 of at most 12 products, and one rounding to 8 bits.
    EXPECT_TRUE(at::allclose(found.to(at::kDouble), expected, std::exp2(-8), 1e-4));
  }
}

TEST(OperatorTest, UnknownOperator) {
  EXPECT_EQ(bindError("aten.linaer.default", {}), "there is no operator 'aten.linaer.default'");
  EXPECT_EQ(bindError("linear", {}), "there is no operator 'linear'");
  EXPECT_EQ(bindError("aten.linear.out_of_style", {}), "there is no operator 'aten.linear.out_of_style'");
}

TEST(OperatorTest, WrongArguments) {
  EXPECT_EQ(bindError("aten.linear.default", {value("input", 0), value("wieght", 0)}),
            "aten.linear.default has no argument 'wieght'; its arguments are input, weight, bias");
  EXPECT_EQ(bindError("aten.linear.default", {value("input", 0)}), "aten.linear.default: argument 'weight' is missing");
  EXPECT_EQ(bindError("aten.silu.default", {value("self", 0), value("self", 0)}),
            "aten.silu.default: argument 'self' is given twice");
  EXPECT_EQ(bindError("aten.view.default", {value("self", 0), {"size", 1.5}}),
            "aten.view.default: argument 'size' is a number, the operator takes SymInt[]");
  EXPECT_EQ(bindError("aten.softmax.int", {value("self", 0), {"dim", true}}),
            "aten.softmax.int: argument 'dim' is a bool, the operator takes int");
  EXPECT_EQ(bindError("aten._to_copy.default", {value("self", 0), {"memory_format", std::string("upside_down")}}),
            "aten._to_copy.default: argument 'memory_format' is a string, the operator takes MemoryFormat?");
}

TEST(OperatorTest, FailureLeavesValues) {
  auto call = prepareCall("aten.mm.default", std::vector<Argument>{value("self", 0), value("mat2", 1)}, {0});
  ASSERT_TRUE(call.ok());
  at::Tensor a = random({2, 3}), b = random({4, 5});
  std::vector<Tensor> values = {wrap(a), wrap(b)};
  Status status = (*call)->run(values);
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  EXPECT_TRUE(unwrap(values[0]).is_same(a));
  EXPECT_EQ(a.use_count(), 2) << "the failed call keeps its arguments alive";
}

TEST(OperatorTest, ResultsThatDoNotFit) {
  std::vector<Tensor> values = {wrap(random({4})), Tensor(), Tensor()};
  auto split =
      prepareCall("aten.split.Tensor", std::vector<Argument>{value("self", 0), {"split_size", int64_t(1)}}, {1, 2});
  EXPECT_EQ((*split)->run(values).message(), "it gave 4 results, the schedule expects 2");
  auto complex = prepareCall("aten.fft_fft.default", std::vector<Argument>{value("self", 0)}, {1});
  EXPECT_THAT((*complex)->run(values).message(), HasSubstr("its result 0 has the element type ComplexFloat"));
  auto integer = prepareCall("aten.size.int", std::vector<Argument>{value("self", 0), {"dim", int64_t(0)}}, {1});
  EXPECT_EQ((*integer)->run(values).message(), "its result 0 is not a tensor");
}

TEST(OperatorTest, ElementTypesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i)
    EXPECT_EQ(dtypeOf(scalarTypeOf(static_cast<DType>(i))), static_cast<DType>(i));
  EXPECT_FALSE(dtypeOf(at::kComplexFloat));
}
