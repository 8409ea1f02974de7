//===- optimizer_test.cpp - steps against those of PyTorch's optimizers ---===//
//
// In f64, where another order of a few operations changes values of magnitude 1 by less than
// 1e-14.

#include "runtime/tensor/memory.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>
#include <torch/optim.h>

using namespace meshplan;

namespace {

constexpr double tolerance = 1e-13;
constexpr int steps = 4;

Argument number(std::string name, double content) { return {std::move(name), content}; }
Argument flag(std::string name, bool content) { return {std::move(name), content}; }
at::Tensor scalar(double content) { return at::scalar_tensor(content, at::kDouble); }

/// Runs `own` (parameter, gradient, step number) and an optimizer of PyTorch with the same gradients.
template <typename Optimizer, typename Options, typename Step> void expectSameSteps(const Options &options, Step own) {
  at::manual_seed(3);
  at::Tensor parameter = at::randn({5, 3}, at::kDouble), theirs = parameter.clone().requires_grad_();
  Optimizer optimizer({theirs}, options);
  for (int step = 1; step <= steps; ++step) {
    at::Tensor gradient = at::randn({5, 3}, at::kDouble), before = gradient.clone();
    theirs.mutable_grad() = gradient.clone();
    optimizer.step();
    own(parameter, gradient, step);
    EXPECT_LT(difference(parameter, theirs.detach()), tolerance) << "step " << step;
    EXPECT_TRUE(at::equal(gradient, before)) << "the gradient is left as it is";
  }
}

struct AdamStates {
  at::Tensor average = at::zeros({5, 3}, at::kDouble), squareAverage = at::zeros({5, 3}, at::kDouble);
};

void adam(AdamStates &states, const at::Tensor &parameter, const at::Tensor &gradient, int step, bool decoupled) {
  auto results = callOperator(
      "meshplan.adam", {parameter, gradient, states.average, states.squareAverage, scalar(0.01), scalar(step)},
      {value("parameter", 0), value("gradient", 1), value("average", 2), value("square_average", 3),
       value("learning_rate", 4), value("step", 5), number("beta1", 0.8), number("beta2", 0.95), number("eps", 1e-6),
       number("weight_decay", 0.1), flag("decoupled", decoupled)},
      3);
  EXPECT_TRUE(results[0].is_same(parameter) || results[0].data_ptr() == parameter.data_ptr());
  EXPECT_EQ(results[1].data_ptr(), states.average.data_ptr());
  EXPECT_EQ(results[2].data_ptr(), states.squareAverage.data_ptr());
}

TEST(Optimizer, Adamw) {
  AdamStates states;
  auto options = torch::optim::AdamWOptions(0.01).betas({0.8, 0.95}).eps(1e-6).weight_decay(0.1);
  expectSameSteps<torch::optim::AdamW>(options, [&](const at::Tensor &parameter, const at::Tensor &gradient, int step) {
    adam(states, parameter, gradient, step, /*decoupled=*/true);
  });
}

TEST(Optimizer, Adam) {
  AdamStates states;
  auto options = torch::optim::AdamOptions(0.01).betas({0.8, 0.95}).eps(1e-6).weight_decay(0.1);
  expectSameSteps<torch::optim::Adam>(options, [&](const at::Tensor &parameter, const at::Tensor &gradient, int step) {
    adam(states, parameter, gradient, step, /*decoupled=*/false);
  });
}

TEST(Optimizer, Sgd) {
  auto options = torch::optim::SGDOptions(0.1).weight_decay(0.05);
  expectSameSteps<torch::optim::SGD>(options, [](const at::Tensor &parameter, const at::Tensor &gradient, int) {
    callOperator(
        "meshplan.sgd", {parameter, gradient, scalar(0.1)},
        {value("parameter", 0), value("gradient", 1), value("learning_rate", 2), number("weight_decay", 0.05)});
  });
}

TEST(Optimizer, SgdWithMomentum) {
  for (bool nesterov : {false, true}) {
    double dampening = nesterov ? 0 : 0.3;
    at::Tensor momentum = at::zeros({5, 3}, at::kDouble);
    auto options =
        torch::optim::SGDOptions(0.1).momentum(0.9).dampening(dampening).weight_decay(0.05).nesterov(nesterov);
    expectSameSteps<torch::optim::SGD>(options, [&](const at::Tensor &parameter, const at::Tensor &gradient, int step) {
      callOperator("meshplan.sgd_momentum", {parameter, gradient, momentum, scalar(0.1), scalar(step)},
                   {value("parameter", 0), value("gradient", 1), value("momentum", 2), value("learning_rate", 3),
                    value("step", 4), number("rate", 0.9), number("dampening", dampening), number("weight_decay", 0.05),
                    flag("nesterov", nesterov)},
                   2);
    });
  }
}

/// PyTorch's SGD on float32 copies, rounded after each step: the expected result for 16-bit parameters.
void expectRoundedSteps(at::ScalarType type, double momentumRate, double dampening, bool nesterov) {
  SCOPED_TRACE(at::toString(type));
  at::manual_seed(5);
  at::Tensor parameter = at::randn({6, 5}).to(type), momentum = at::zeros({6, 5}, type);
  at::Tensor exact = parameter.to(at::kFloat).requires_grad_(), buffer;
  auto options =
      torch::optim::SGDOptions(0.1).momentum(momentumRate).dampening(dampening).weight_decay(0.05).nesterov(nesterov);
  torch::optim::SGD optimizer({exact}, options);
  for (int step = 1; step <= steps; ++step) {
    at::Tensor gradient = at::randn({6, 5}).to(type), before = parameter.clone();
    exact.mutable_grad() = gradient.to(at::kFloat);
    optimizer.step();
    if (momentumRate == 0)
      callOperator(
          "meshplan.sgd", {parameter, gradient, scalar(0.1)},
          {value("parameter", 0), value("gradient", 1), value("learning_rate", 2), number("weight_decay", 0.05)});
    else
      callOperator("meshplan.sgd_momentum", {parameter, gradient, momentum, scalar(0.1), scalar(step)},
                   {value("parameter", 0), value("gradient", 1), value("momentum", 2), value("learning_rate", 3),
                    value("step", 4), number("rate", momentumRate), number("dampening", dampening),
                    number("weight_decay", 0.05), flag("nesterov", nesterov)},
                   2);
    EXPECT_TRUE(at::equal(parameter, exact.detach().to(type))) << "step " << step;
    EXPECT_FALSE(at::equal(parameter, before)) << "the step changes something";
    // The next step starts with the saved value, in 16 bits.
    torch::NoGradGuard guard;
    exact.copy_(parameter);
    if (momentumRate != 0) {
      auto &state = static_cast<torch::optim::SGDParamState &>(*optimizer.state().at(exact.unsafeGetTensorImpl()));
      EXPECT_TRUE(at::equal(momentum, state.momentum_buffer().to(type))) << "step " << step;
      state.momentum_buffer().copy_(momentum);
    }
  }
}

TEST(Optimizer, SgdOfSixteenBitsIsRoundedOnce) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf})
    expectRoundedSteps(type, 0, 0, false);
}

TEST(Optimizer, SgdOfSixteenBitsWithMomentum) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    expectRoundedSteps(type, 0.9, 0, false);
    expectRoundedSteps(type, 0.9, 0.3, false);
    expectRoundedSteps(type, 0.9, 0, true);
  }
}

/// Each step with states of these types equals one with states of the parameter's type, rounded after it.
void expectRoundedStates(at::ScalarType averageType, at::ScalarType squareType) {
  SCOPED_TRACE(std::string(at::toString(averageType)) + " and " + at::toString(squareType));
  at::manual_seed(7);
  at::Tensor parameter = at::randn({5, 3}), wide = parameter.clone();
  at::Tensor average = at::zeros({5, 3}, averageType), square = at::zeros({5, 3}, squareType);
  std::vector<Argument> arguments{value("parameter", 0),       value("gradient", 1),      value("average", 2),
                                  value("square_average", 3),  value("learning_rate", 4), value("step", 5),
                                  number("beta1", 0.8),        number("beta2", 0.95),     number("eps", 1e-6),
                                  number("weight_decay", 0.1), flag("decoupled", true)};
  for (int step = 1; step <= steps; ++step) {
    at::Tensor gradient = at::randn({5, 3});
    at::Tensor wideAverage = average.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    at::Tensor wideSquare = square.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    callOperator("meshplan.adam", {wide, gradient, wideAverage, wideSquare, scalar(0.01), scalar(step)}, arguments, 3);
    auto results =
        callOperator("meshplan.adam", {parameter, gradient, average, square, scalar(0.01), scalar(step)}, arguments, 3);
    EXPECT_EQ(results[1].data_ptr(), average.data_ptr());
    EXPECT_EQ(results[2].data_ptr(), square.data_ptr());
    EXPECT_TRUE(at::equal(parameter, wide)) << "step " << step;
    EXPECT_TRUE(at::equal(average, wideAverage.to(averageType))) << "step " << step;
    EXPECT_TRUE(at::equal(square, wideSquare.to(squareType))) << "step " << step;
    EXPECT_GT(square.max().item<double>(), 0) << "step " << step;
  }
}

TEST(Optimizer, AdamWithStatesOfSixteenBits) {
  expectRoundedStates(at::kBFloat16, at::kBFloat16);
  expectRoundedStates(at::kFloat, at::kBFloat16);
  expectRoundedStates(at::kBFloat16, at::kFloat);
}

TEST(Optimizer, MomentumOfAnotherType) {
  at::Tensor parameter = at::randn({5, 3}), wide = parameter.clone(), momentum = at::zeros({5, 3}, at::kBFloat16);
  std::vector<Argument> arguments{value("parameter", 0),     value("gradient", 1),      value("momentum", 2),
                                  value("learning_rate", 3), value("step", 4),          number("rate", 0.9),
                                  number("dampening", 0),    number("weight_decay", 0), flag("nesterov", true)};
  for (int step = 1; step <= steps; ++step) {
    at::Tensor gradient = at::randn({5, 3}), wideMomentum = momentum.to(at::kFloat);
    callOperator("meshplan.sgd_momentum", {wide, gradient, wideMomentum, scalar(0.1), scalar(step)}, arguments, 2);
    auto results =
        callOperator("meshplan.sgd_momentum", {parameter, gradient, momentum, scalar(0.1), scalar(step)}, arguments, 2);
    EXPECT_EQ(results[1].data_ptr(), momentum.data_ptr());
    EXPECT_TRUE(at::equal(parameter, wide)) << "step " << step;
    EXPECT_TRUE(at::equal(momentum, wideMomentum.to(at::kBFloat16))) << "step " << step;
  }
}

TEST(Optimizer, AssignKeepsTheTensorAndItsType) {
  at::Tensor self = at::zeros({2, 3}, at::kBFloat16), source = at::randn({3, 2}).t();
  at::Tensor result = callOperator("meshplan.assign", {self, source}, {value("self", 0), value("source", 1)})[0];
  EXPECT_EQ(result.data_ptr(), self.data_ptr());
  EXPECT_TRUE(at::equal(self, source.to(at::kBFloat16)));
}

/// A factor has the same effect as multiplying the gradient before.
TEST(Optimizer, AFactorOfTheGradient) {
  at::Tensor first = at::ones({3}, at::kDouble), second = first.clone(),
             gradient = at::tensor({1.0, -2.0, 4.0}, at::kDouble);
  std::vector<Argument> arguments{value("parameter", 0), value("gradient", 1), value("learning_rate", 2),
                                  number("weight_decay", 0)};
  callOperator("meshplan.sgd", {first, gradient * 0.25, scalar(0.1)}, arguments);
  arguments.push_back(value("factor", 3));
  callOperator("meshplan.sgd", {second, gradient, scalar(0.1), scalar(0.25)}, arguments);
  EXPECT_LT(difference(first, second), tolerance);
}

/// A transposed gradient has another memory order than its parameter.
TEST(Optimizer, AGradientThatLiesOtherwise) {
  at::Tensor first = at::zeros({2, 3}), second = at::zeros({2, 3}), gradient = at::randn({3, 2}).t();
  std::vector<Argument> arguments{value("parameter", 0), value("gradient", 1), value("learning_rate", 2),
                                  number("weight_decay", 0)};
  callOperator("meshplan.sgd", {first, gradient, scalar(1)}, arguments);
  callOperator("meshplan.sgd", {second, gradient.contiguous(), scalar(1)}, arguments);
  EXPECT_TRUE(at::equal(first, second));
}

TEST(Optimizer, APartWithoutElements) {
  at::Tensor empty = at::zeros({0, 4});
  callOperator("meshplan.sgd", {empty, empty.clone(), scalar(1)},
               {value("parameter", 0), value("gradient", 1), value("learning_rate", 2), number("weight_decay", 0)});
}

/// As torch.nn.utils.clip_grad_norm_ over all tensors.
TEST(Optimizer, TheNormOfAllGradients) {
  at::Tensor first = at::randn({4, 5}), second = at::randn({7}).to(at::kBFloat16);
  auto squares = [](const at::Tensor &tensor) {
    return callOperator("meshplan.square_sum", {tensor}, {value("self", 0)})[0];
  };
  at::Tensor sum = squares(first) + squares(second);
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
  double norm = std::sqrt(first.to(at::kDouble).square().sum().item<double>() +
                          second.to(at::kDouble).square().sum().item<double>());
  // Sums of 27 squares in f32.
  EXPECT_NEAR(std::sqrt(sum.item<double>()), norm, norm * 27 * std::exp2(-24));
  auto factor = [&](double limit) {
    return callOperator("meshplan.clip_factor", {sum}, {value("squared_norm", 0), number("limit", limit)})[0]
        .item<double>();
  };
  EXPECT_EQ(factor(2 * norm), 1);
  EXPECT_NEAR(factor(0.5), 0.5 / (norm + 1e-6), 1e-6);
}

/// The norm and the factor for gradients that are too large by a scale.
TEST(Optimizer, TheNormOfScaledGradients) {
  auto factor = [](double squares, double scale, double limit) {
    return callOperator("meshplan.clip_factor", {at::scalar_tensor(squares), scalar(scale)},
                        {value("squared_norm", 0), value("scale", 1), number("limit", limit)})[0];
  };
  EXPECT_EQ(factor(256, 64, 1).scalar_type(), at::kFloat);
  EXPECT_EQ(factor(256, 64, 1).item<double>(), 1.0 / 64) << "their norm is 1/4";
  EXPECT_NEAR(factor(4096 * 16, 64, 1).item<double>(), 1 / (4 + 1e-6) / 64, 1e-9) << "their norm is 4";
}

/// With non-finite gradients every optimizer leaves parameter and states unchanged.
TEST(Optimizer, AStepThatIsSkipped) {
  at::Tensor parameter = at::randn({5, 3}), gradient = at::full({5, 3}, NAN), first = at::randn({5, 3}),
             second = at::randn({5, 3}).abs();
  const at::Tensor tensors[] = {parameter, first, second};
  const at::Tensor before[] = {parameter.clone(), first.clone(), second.clone()};
  at::Tensor count = at::scalar_tensor(15, at::kLong);
  std::vector<at::Tensor> given{parameter, gradient, scalar(0.1), scalar(2), count, first, second};
  std::vector<Argument> common{value("parameter", 0), value("gradient", 1), value("learning_rate", 2),
                               value("nonfinite", 4), number("weight_decay", 0.1)};
  auto with = [&](std::initializer_list<Argument> more) {
    std::vector<Argument> arguments = common;
    arguments.insert(arguments.end(), more);
    return arguments;
  };
  auto adamArguments = with({value("average", 5), value("square_average", 6), value("step", 3), number("beta1", 0.8),
                             number("beta2", 0.9), number("eps", 1e-6), flag("decoupled", true)});
  auto momentumArguments = with(
      {value("momentum", 5), value("step", 3), number("rate", 0.9), number("dampening", 0), flag("nesterov", false)});
  callOperator("meshplan.sgd", given, common);
  callOperator("meshplan.sgd_momentum", given, momentumArguments, 2);
  callOperator("meshplan.adam", given, adamArguments, 3);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(at::equal(tensors[i], before[i])) << i;
  // With a count of 0 the step is not skipped.
  gradient.fill_(1);
  count.fill_(0);
  callOperator("meshplan.adam", given, adamArguments, 3);
  EXPECT_FALSE(at::equal(parameter, before[0]));
}

} // namespace
