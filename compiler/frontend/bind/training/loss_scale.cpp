//===- loss_scale.cpp - the loss scale of 16-bit gradients ----------------===//
//
// Numbers that the block leaves out are those of torch.amp.GradScaler.
//
//===----------------------------------------------------------------------===//

#include "runtime/schema/loss_scale.h"
#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/number_text.h"

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// A number of `loss_scale dynamic { ... }` and its valid range.
struct NumberRule {
  const char *name;
  double BoundLossScale::*member;
  bool (*fits)(double number);
  const char *range;
};

const NumberRule scaleRules[] = {
    {"initial", &BoundLossScale::initial, isLossScale, lossScaleRange},
    {"growth", &BoundLossScale::growth, [](double number) { return number > 1 && isLossScale(number); },
     "above 1 that f32 holds"},
    {"backoff", &BoundLossScale::backoff, [](double number) { return number > 0 && number < 1; }, "between 0 and 1"},
};

OptionRule ruleOf(const Context &context, const NumberRule &rule, BoundLossScale &scale) {
  auto take = [&context, &rule, &scale](const Option &option) {
    std::optional<double> number = singleNumber(option);
    if (!number)
      return false;
    if (!std::isfinite(*number) || !rule.fits(*number))
      context.diagnostics.error(singleOperand(option)->range, std::string(rule.name) + " is a number " + rule.range +
                                                                  ", and this is " + numberText(*number));
    scale.*rule.member = *number;
    return true;
  };
  return {rule.name, std::string(rule.name) + " NUMBER", take};
}

OptionRule intervalRule(const Context &context, BoundLossScale &scale) {
  auto take = [&context, &scale](const Option &option) {
    std::optional<int64_t> steps = singleInteger(context, option);
    if (!steps)
      return false;
    if (*steps < 1)
      context.diagnostics.error(singleOperand(option)->range,
                                "interval is at least 1, and this is " + std::to_string(*steps));
    scale.interval = *steps;
    return true;
  };
  return {"interval", "interval STEPS", take};
}

/// PyTorch's defaults, unless the block states others.
void readDynamic(const Context &context, const Option &option, BoundLossScale &scale) {
  scale.growth = 2;
  scale.backoff = 0.5;
  scale.interval = 2000;
  std::vector<OptionRule> rules{intervalRule(context, scale)};
  for (const NumberRule &rule : scaleRules)
    rules.push_back(ruleOf(context, rule, scale));
  readOptions(context, "loss_scale dynamic", option.block, rules);
}

} // namespace

OptionRule bind::lossScaleRule(const Context &context, BoundPrecision &precision) {
  auto take = [&context, &precision](const Option &option) {
    BoundLossScale scale;
    scale.range = option.range;
    if (singleWord(option) == "dynamic") {
      readDynamic(context, option, scale);
    } else if (std::optional<double> number = singleNumber(option); number && !option.hasBlock) {
      if (!isLossScale(*number))
        context.diagnostics.error(singleOperand(option)->range, std::string("the scale is a number ") + lossScaleRange +
                                                                    ", and this is " + numberText(*number));
      scale.initial = *number;
    } else {
      return false;
    }
    if (context.syntax.optimizers.empty())
      context.diagnostics.error(option.range, "'loss_scale' is for gradients, and the plan has no optimizer")
          .help("add 'optimizer KIND { ... }', or remove the option");
    precision.lossScale = scale;
    return true;
  };
  OptionRule rule{"loss_scale",
                  "loss_scale NUMBER | dynamic { initial NUMBER; growth NUMBER; backoff NUMBER; interval STEPS }",
                  take};
  rule.takesBlock = rule.mayLackBlock = true;
  return rule;
}

/// The first parameter whose gradient is computed in f16, or null.
static const OutlineParameter *firstOfHalf(const Context &context, const BoundPlan &plan) {
  for (size_t index = 0; index < context.model.parameters.size(); ++index)
    if (plan.parameterUse[index] == ParameterUse::Trained && context.model.parameters[index].dtype == "f16")
      return &context.model.parameters[index];
  return nullptr;
}

void bind::bindLossScale(const Context &context, BoundPlan &plan) {
  if (!plan.optimizer)
    return;
  const BoundLossScale *scale = plan.precision && plan.precision->lossScale ? &*plan.precision->lossScale : nullptr;
  if (scale && scale->interval > 0) {
    // A dynamic scale is meant to overflow from time to time; a step with such gradients must not change parameters.
    if (!plan.nonfinite)
      plan.nonfinite = BoundNonfinite{NonfiniteAction::Skip, scale->range};
    else if (plan.nonfinite->action == NonfiniteAction::Stop)
      context.diagnostics
          .error(plan.nonfinite->range,
                 "'nonfinite gradients stop' and 'loss_scale dynamic' contradict each other: the scale is adapted by "
                 "steps whose gradients are not finite")
          .note(scale->range, "the scale is here")
          .help("write 'nonfinite gradients skip', or give the scale a number");
  }
  const std::string help = "add 'precision { loss_scale dynamic }'";
  if (const OutlineParameter *parameter = scale ? nullptr : firstOfHalf(context, plan))
    context.diagnostics
        .warning(plan.optimizer->range, "gradients of parameter '" + parameterPath(context.model, *parameter) +
                                            "' are f16, where numbers below 6e-8 are 0")
        .help(help);
  else if (!scale && plan.precision && plan.precision->compute == "f16")
    context.diagnostics
        .warning(plan.precision->range, "'compute f16' computes gradients in f16, where numbers below 6e-8 are 0")
        .help(help);
}
