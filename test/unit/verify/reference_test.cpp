//===- reference_test.cpp - the exported model on one rank ----------------===//

#include "runtime/verify/reference.h"

#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/torch/access.h"
#include "runtime/verify/exact.h"
#include "test/unit/verify/verified_step.h"

#include <gmock/gmock.h>
#include <set>

using namespace meshplan;

namespace {

/// A file with only the reference, after a change.
class ReferenceTest : public testing::Test {
protected:
  Expected<Reference> load(const std::function<void(ScheduleBuilder &)> &change = [](auto &) {}) {
    ScheduleBuilder builder = referenceAlone();
    change(builder);
    builder.write(folder / "a.sched");
    auto loaded = loadSchedule(folder / "a.sched");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    artifact.emplace(*std::move(loaded));
    return Reference::load(*artifact, TensorFeed(weights), TensorFeed(inputs));
  }

  /// The error of a run in `precision`.
  std::string failure(Precision precision, const std::function<void(ScheduleBuilder &)> &change) {
    auto reference = load(change);
    return reference ? reference->run({precision}).status().message() : reference.status().message();
  }

  /// The error of a comparison with it, after a change to it.
  std::string failureOfExact(const std::function<void(ScheduleBuilder &)> &change = [](auto &) {}) {
    auto reference = load(change);
    if (!reference)
      return reference.status().message();
    std::vector<Subject> subjects{{.kind = SubjectKind::output, .name = "loss"},
                                  {.kind = SubjectKind::gradient, .name = "w"}};
    return Exact::make(*reference, subjects, 1).status().message();
  }

  TemporaryDirectory folder;
  std::optional<Artifact> artifact;
  ComputeScope compute{1};
  Tensors weights = VerifiedStep::weights(), inputs = VerifiedStep::inputs();
  at::Tensor w = VerifiedStep::weights()["w"], x = VerifiedStep::inputs()["x"];
};

TEST_F(ReferenceTest, OutputsAndGradientsInBothPrecisions) {
  auto reference = load();
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  for (Precision precision : {Precision::own, Precision::wide}) {
    auto result = reference->run({precision});
    ASSERT_TRUE(result.ok()) << result.status().message();
    at::Tensor gradient = unwrap(result->gradients["w"]), loss = unwrap(result->outputs["loss"]);
    EXPECT_EQ(gradient.scalar_type(), precision == Precision::wide ? at::kDouble : at::kFloat);
    EXPECT_TRUE(at::equal(gradient, x.to(gradient.scalar_type())));
    EXPECT_DOUBLE_EQ(loss.item<double>(), (w * x).sum().item<double>()) << "sums of short binary numbers";
    EXPECT_FALSE(loss.requires_grad());
  }
}

/// Each seed has its own sums, all close to the exact one.
TEST_F(ReferenceTest, ResultsAreRoundedAnew) {
  weights["w"] = at::linspace(1, 2, 4096);
  inputs["x"] = at::linspace(-1, 2, 4096);
  auto reference = load([](ScheduleBuilder &builder) {
    for (auto &value : builder.program().values)
      if (!value->dims.empty())
        value->dims[0]->extent = 4096;
  });
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  auto lossOf = [&](std::optional<uint64_t> rounding) {
    auto result = reference->run({.precision = Precision::own, .rounding = rounding});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return unwrap(result->outputs["loss"]).item<float>();
  };
  float exact = (weights["w"].to(at::kDouble) * inputs["x"].to(at::kDouble)).sum().item<float>();
  std::set<float> losses;
  for (uint64_t rounding : {1, 2, 3, 4, 5, 6, 7, 8}) {
    losses.insert(lossOf(rounding));
    EXPECT_NEAR(lossOf(rounding), exact, 1e-5 * std::abs(exact));
    EXPECT_EQ(lossOf(rounding), lossOf(rounding));
  }
  EXPECT_GT(losses.size(), 1u);
}

/// The step reads the samples of two microbatches.
TEST_F(ReferenceTest, MicrobatchesHaveAMean) {
  VerifiedStep step;
  step.takeWholeBatch(2);
  step.write(folder / "b.sched");
  auto loaded = loadSchedule(folder / "b.sched");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  artifact.emplace(*std::move(loaded));
  at::Tensor other = at::tensor({-1.0f, 4.0f, 0.5f, 2.0f});
  auto reference =
      Reference::load(*artifact, TensorFeed(VerifiedStep::weights()), TensorFeed({{"x", at::cat({x, other})}}));
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  for (Precision precision : {Precision::own, Precision::wide}) {
    auto result = reference->run({precision});
    ASSERT_TRUE(result.ok()) << result.status().message();
    at::Tensor mean = (x + other) / 2;
    EXPECT_TRUE(at::equal(unwrap(result->gradients["w"]).to(at::kFloat), mean));
    EXPECT_DOUBLE_EQ(unwrap(result->outputs["loss"]).item<double>(), (w * mean).sum().item<double>())
        << "sums of short binary numbers";
  }
}

TEST_F(ReferenceTest, WithoutALossNothingIsDifferentiated) {
  auto result = load([](ScheduleBuilder &builder) { builder.program().loss.clear(); })->run({Precision::own});
  EXPECT_THAT(result->gradients, testing::IsEmpty());
  EXPECT_EQ(result->outputs.size(), 1);
}

TEST_F(ReferenceTest, OutputsAlone) {
  auto result = load()->run({.differentiates = false});
  EXPECT_THAT(result->gradients, testing::IsEmpty());
  EXPECT_FALSE(unwrap(result->outputs["loss"]).requires_grad());
}

TEST_F(ReferenceTest, WhatIsNotTrainedHasNoGradient) {
  auto result =
      load([](ScheduleBuilder &builder) { builder.program().parameters[0]->trainable = false; })->run({Precision::own});
  EXPECT_THAT(result->gradients, testing::IsEmpty());
}

TEST_F(ReferenceTest, Refusals) {
  EXPECT_EQ(failure(Precision::own,
                    [](ScheduleBuilder &builder) {
                      builder.program().name = "forward";
                      builder.program().role = artifact::ProgramRole::forward;
                    }),
            (folder / "a.sched") + ": the schedule has no program 'reference'; it has forward; help: 'meshplan compile "
                                   "--reference' adds the model as it was exported");
  auto other = [](const char *target) {
    return [=](ScheduleBuilder &builder) { builder.program().instructions[1]->action.AsCompute()->target = target; };
  };
  EXPECT_EQ(failure(Precision::own, other("aten.nothing.default")),
            "the reference in its own precision: aten.nothing.default (test.plan:3:3 loss): there is no operator "
            "'aten.nothing.default'");
  EXPECT_EQ(
      failure(Precision::wide, other("aten.relu.default")),
      "the reference in f64: aten.relu.default (test.plan:3:3 loss): its result is [4] f64, the archive expects [] "
      "f64");
}

TEST_F(ReferenceTest, TheErrorsOfItsOwnPrecision) {
  auto reference = load([](ScheduleBuilder &builder) {
    // The loss becomes the mean of four products, so that the gradient of w is x / 4.
    artifact::ComputeT &sum = *builder.program().instructions[1]->action.AsCompute();
    sum.target = "aten.mean.default";
  });
  ASSERT_TRUE(reference.ok());
  std::vector<Subject> subjects{{.kind = SubjectKind::output, .name = "loss"},
                                {.kind = SubjectKind::gradient, .name = "w"},
                                {.kind = SubjectKind::norm, .name = "of all"},
                                {.kind = SubjectKind::parameter, .name = "w"}};
  auto exact = Exact::make(*reference, subjects, 1);
  ASSERT_TRUE(exact.ok()) << exact.status().message();
  EXPECT_EQ(exact->draws(), 1);
  EXPECT_TRUE(at::allclose(unwrap(exact->tensor(1)), x.to(at::kDouble) / 4, 0, 1e-15));
  EXPECT_NEAR(unwrap(exact->tensor(2)).item<double>(), x.to(at::kDouble).norm().item<double>() / 4, 1e-12);
  EXPECT_FALSE(exact->tensor(3).defined());
  EXPECT_EQ(exact->magnitude(1), 0.75);
  EXPECT_LE(exact->ownError(1), 1e-7);
  EXPECT_TRUE(exact->addDraw(/*gradients=*/false).ok());
  EXPECT_EQ(exact->draws(), 2);
  EXPECT_TRUE(at::allclose(unwrap(exact->tensor(1)), x.to(at::kDouble) / 4, 0, 1e-15)) << "those of the first";
}

/// In archives the states of nn.LSTM have one dim too many.
TEST_F(ReferenceTest, ResultsThatNothingReadAreAsTheyAre) {
  auto reference = load([](ScheduleBuilder &builder) {
    int unread = builder.value({{7}}, DType::f32);
    builder.compute("aten.relu.default", {tensorArg("self", builder.program().parameters[0]->value)}, {unread});
  });
  EXPECT_TRUE(reference->run({}).ok());
}

TEST_F(ReferenceTest, CopiesHaveAGradient) {
  auto reference = load([](ScheduleBuilder &builder) {
    artifact::ComputeT &product = *builder.program().instructions[0]->action.AsCompute();
    product.target = "aten.copy.default";
    product.args.clear();
    // The product becomes a copy of the weight.
    for (auto [name, value] : {std::pair("self", builder.program().inputs[0]->value),
                               std::pair("src", builder.program().parameters[0]->value)})
      product.args.push_back(std::make_unique<artifact::ArgT>(tensorArg(name, value)));
  });
  auto result = reference->run({Precision::wide});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(at::equal(unwrap(result->gradients["w"]), at::ones({4}, at::kDouble)));
}

TEST_F(ReferenceTest, IndicesOfTheInputs) {
  inputs["ids"] = at::tensor({1, 4}, at::kLong);
  auto lookUp = [](ScheduleBuilder &builder) {
    int ids = builder.input("ids", {{2}}, DType::i64), rows = builder.value({{2}}, DType::f32);
    builder.origin("pick", 4, "");
    builder.compute("aten.index_select.default",
                    {tensorArg("self", builder.program().parameters[0]->value), integerArg("dim", literal(0)),
                     tensorArg("index", ids)},
                    {rows});
  };
  EXPECT_THAT(failure(Precision::wide, lookUp),
              testing::AllOf(testing::StartsWith("the inputs: aten.index_select.default ("),
                             testing::EndsWith("index 4 at [1] of input 'ids' is out of range [0, 4)")));
}

TEST_F(ReferenceTest, ParametersThatAreNotFinite) {
  weights["w"] = at::tensor({1.0f, 2.0f, NAN, INFINITY});
  EXPECT_EQ(failureOfExact(), "the weights: parameter 'w': 2 of 4 elements are not finite, the first at [2]");
}

TEST_F(ReferenceTest, WhatIsNotFiniteFirst) {
  const std::string left = " of the reference in f64 is not finite, so there is nothing to compare with: ";
  EXPECT_EQ(failureOfExact(), "");
  inputs["x"] = at::tensor({1.0f, NAN, 2.0f, 3.0f});
  EXPECT_EQ(failureOfExact(), "output 'loss'" + left + "input 'x': 1 of 4 elements is not finite, the first at [1]");
  inputs["x"] = at::tensor({1.0f, 0.0f, 0.0f, 3.0f});
  auto divide = [](ScheduleBuilder &builder) {
    artifact::ComputeT &product = *builder.program().instructions[0]->action.AsCompute();
    product.target = "aten.div.Tensor";
  };
  EXPECT_EQ(failureOfExact(divide), "output 'loss'" + left +
                                        "aten.sum.default (test.plan:3:3 loss) makes NaN in 1 of 1 elements, after "
                                        "the first infinity: aten.div.Tensor (test.plan:3:3 loss) makes infinity in 2 "
                                        "of 4 elements");
  weights["w"] = at::tensor({1.0f, 1.0f, 1.0f, 1.0f});
  EXPECT_THAT(failureOfExact(divide), testing::EndsWith(left + "aten.div.Tensor (test.plan:3:3 loss) makes infinity "
                                                               "in 2 of 4 elements"));
}

TEST_F(ReferenceTest, GradientsThatAreNotFinite) {
  weights["w"] = at::tensor({1.0f, 0.0f, 1.0f, 1.0f});
  auto root = [](ScheduleBuilder &builder) {
    artifact::ComputeT &product = *builder.program().instructions[0]->action.AsCompute();
    product.target = "aten.sqrt.default";
    product.args.pop_back();
  };
  EXPECT_THAT(failureOfExact(root),
              testing::EndsWith("gradient 'w' of the reference in f64 is not finite, so there is nothing to compare "
                                "with: in the backward pass"));
}

TEST_F(ReferenceTest, SubjectsThatItLacks) {
  auto reference = load();
  auto missing = [&](SubjectKind kind) {
    std::vector<Subject> subjects{{.kind = kind, .name = "z"}};
    return Exact::make(*reference, subjects, 1).status().message();
  };
  EXPECT_EQ(missing(SubjectKind::output), "the reference has no output 'z'");
  EXPECT_EQ(missing(SubjectKind::gradient), "the reference does not train parameter 'z'");
}

} // namespace
