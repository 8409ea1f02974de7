//===- megatron_optimizer.cpp - batch, optimizer and schedules ------------===//
//
// Megatron counts either iterations or samples; a plan counts steps. Samples become steps of the global batch.
//
// Example: `--train-samples 1000 --global-batch-size 64` are 15 steps: the last 40 samples do not fill a batch.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/megatron/megatron_optimizer.h"
#include "compiler/adopt/numbers.h"

using namespace meshplan;
using llvm::StringRef;

namespace {

class OptimizerReader : FlagValues {
public:
  OptimizerReader(const FlagValues &values, AdoptedPlan &plan) : FlagValues(values), plan(plan) {}

  void read();

private:
  void checkUnits();
  std::optional<int64_t> steps(StringRef counted, StringRef samples, int64_t least = 1);
  void addWarmupNotes(const ForeignSchedule &schedule);
  void addSchedule(AdoptedOptimizer &optimizer, double lr);
  AdoptedText weightDecay();

  AdoptedPlan &plan;
};

} // namespace

/// Megatron counts either iterations or samples, not both.
void OptimizerReader::checkUnits() {
  for (StringRef samples : {"train-samples", "lr-decay-samples", "lr-warmup-samples", "lr-wsd-decay-samples"})
    for (StringRef steps : {"train-iters", "lr-decay-iters", "lr-warmup-iters", "lr-wsd-decay-iters"})
      if (has(samples) && has(steps)) {
        diagnostics.error(find(samples)->range, "'" + shown(samples) + "' and '" + shown(steps) +
                                                    "' contradict each other: Megatron counts iterations or samples");
        return;
      }
}

/// The steps of a flag that counts steps, or of one that counts samples.
std::optional<int64_t> OptimizerReader::steps(StringRef counted, StringRef samples, int64_t least) {
  if (!has(samples))
    return integer(counted, least);
  std::optional<int64_t> all = integer(samples, least);
  const std::optional<AdoptedNumber> &batch = plan.training.globalBatch;
  if (all && !batch && !has("global-batch-size"))
    diagnostics.error(find(samples)->range, "'" + shown(samples) + "' needs '--global-batch-size': a plan counts steps")
        .help("without it, a step of Megatron has one microbatch on each data-parallel rank");
  if (!all || !batch)
    return std::nullopt;
  // Megatron counts samples in steps of the global batch; a rest that does not fill a batch makes no step.
  int64_t whole = *all / batch->value;
  std::string part =
      shown(samples) + " " + std::to_string(*all) + " / --global-batch-size " + std::to_string(batch->value);
  if (*all % batch->value != 0 && whole < least)
    diagnostics.error(find(samples)->values.front().range, part + " is less than a step");
  plan.notes.push_back(part + (*all % batch->value ? " is rounded down to " : " is ") + std::to_string(whole) +
                       " steps.");
  return whole;
}

/// Notes the parts of a schedule that the language defines differently.
void OptimizerReader::addWarmupNotes(const ForeignSchedule &schedule) {
  std::string decay = word("lr-wsd-decay-style", "exponential", {"exponential", "linear", "cosine", "minus_sqrt"});
  if (schedule.style == "WSD" && decay != "linear")
    warn(has("lr-wsd-decay-style") ? "lr-wsd-decay-style" : "lr-decay-style",
         "lr decays linearly in the last steps: '--lr-wsd-decay-style " + decay + "' is not supported");
  if (schedule.warmup == 0)
    return;
  std::string all = std::to_string(schedule.warmup);
  plan.notes.push_back("Warmup: step s, counted from 0, takes lr * (s + 1) / " + all + " here, and lr * s / " + all +
                       " in Megatron-LM.");
  if (number("lr-warmup-init").value_or(0) > 0)
    warn("lr-warmup-init", "'--lr-warmup-init' is left out: the warmup begins at lr / " + all);
}

void OptimizerReader::addSchedule(AdoptedOptimizer &optimizer, double lr) {
  ForeignSchedule schedule;
  schedule.lr = lr;
  schedule.style = word("lr-decay-style", "linear", {"constant", "linear", "cosine", "inverse-square-root", "WSD"});
  schedule.least = number("min-lr").value_or(0);
  checkUnits();
  std::optional<double> part = fraction("lr-warmup-fraction");
  if (schedule.style != "constant" || part)
    schedule.steps = has("lr-decay-iters") || has("lr-decay-samples") ? steps("lr-decay-iters", "lr-decay-samples")
                                                                      : steps("train-iters", "train-samples");
  schedule.decay = steps("lr-wsd-decay-iters", "lr-wsd-decay-samples");
  schedule.warmup = steps("lr-warmup-iters", "lr-warmup-samples", 0).value_or(0);
  if (part && !schedule.steps && !diagnostics.hasErrors())
    warn("lr-warmup-fraction", "'--lr-warmup-fraction' is left out: it needs the number of steps");
  if (part && schedule.steps)
    schedule.warmup = static_cast<int64_t>(*part * static_cast<double>(*schedule.steps));
  std::string problem, text = scheduleText(schedule, problem);
  const char *flag = has("lr-decay-style") ? "lr-decay-style" : "lr";
  if (!problem.empty() && !diagnostics.hasErrors()) {
    diagnostics.warning(find(flag)->range, "the lr stays constant: " + problem);
    optimizer.options.front().from += "; stays constant: " + problem;
  }
  if (text.empty())
    return;
  addWarmupNotes(schedule);
  optimizer.options.push_back(takenFlag(text, has("lr-decay-style")  ? "lr-decay-style"
                                              : has("train-samples") ? "train-samples"
                                                                     : "train-iters"));
}

/// The weight decay, which may increase over time in Megatron.
AdoptedText OptimizerReader::weightDecay() {
  std::string style = word("weight-decay-incr-style", "constant", {"constant", "linear", "cosine"});
  bool grows = style != "constant";
  StringRef flag = grows && has("end-weight-decay") ? "end-weight-decay" : "weight-decay";
  std::string text = planNumber(number(flag).value_or(0.01));
  AdoptedText taken = takenFlag("weight_decay " + text, flag);
  if (!has(flag))
    taken.from = "the default of " + shown(flag);
  if (grows) {
    std::string start = planNumber(number("start-weight-decay").value_or(0));
    warn("weight-decay-incr-style", "the weight decay is " + text + " from the first step on, and does not grow from " +
                                        start + ": there is no '--weight-decay-incr-style " + style + "' here");
    taken.from += "; in Megatron-LM it grows from " + start;
  }
  return taken;
}

void OptimizerReader::read() {
  plan.training.globalBatch = size("global-batch-size");
  plan.training.microBatch = size("micro-batch-size");
  if (has("calculate-per-token-loss"))
    plan.training.lossUnit = takenFlag("token", "calculate-per-token-loss");
  if (!has("lr"))
    return;
  std::string kind = has("optimizer") ? find("optimizer")->values.front().text : "adam";
  if (kind != "adam" && kind != "sgd") {
    diagnostics.error(find("optimizer")->values.front().range, "there is no optimizer '" + kind + "' yet")
        .help("optimizers are adam and sgd");
    return;
  }
  AdoptedOptimizer optimizer{kind == "adam" ? "adamw" : "sgd", shown(has("optimizer") ? "optimizer" : "lr"), {}, {}};
  auto add = [&](const std::string &option, StringRef flag, double otherwise) {
    optimizer.options.push_back(takenFlag(option + " " + planNumber(number(flag).value_or(otherwise)), flag));
    if (!has(flag))
      optimizer.options.back().from = "the default of " + shown(flag);
  };
  double lr = number("lr").value_or(0);
  add("lr", "lr", lr);
  if (kind == "adam") {
    double first = number("adam-beta1").value_or(0.9), second = number("adam-beta2").value_or(0.999);
    optimizer.options.push_back(
        {"betas (" + planNumber(first) + ", " + planNumber(second) + ")", "--adam-beta1, --adam-beta2"});
    add("eps", "adam-eps", 1e-8);
  } else {
    add("momentum", "sgd-momentum", 0.9);
  }
  optimizer.options.push_back(weightDecay());
  if (optimizer.options.back().text != "weight_decay 0")
    optimizer.vectorsDoNotDecay = {"weight_decay 0", "Megatron decays weights of two dims and more"};
  addSchedule(optimizer, lr);
  plan.training.optimizer = std::move(optimizer);
  double clip = number("clip-grad").value_or(1.0);
  if (clip > 0)
    plan.training.clip = {"clip_grad_norm " + planNumber(clip),
                          has("clip-grad") ? "--clip-grad" : "the default of --clip-grad"};
  if (!has("no-check-for-nan-in-loss-and-grad") && !has("fp16"))
    plan.training.nonfinite = {"nonfinite gradients stop",
                               "Megatron checks unless --no-check-for-nan-in-loss-and-grad"};
}

void meshplan::readMegatronOptimizer(const FlagValues &values, AdoptedPlan &plan) {
  OptimizerReader(values, plan).read();
}
