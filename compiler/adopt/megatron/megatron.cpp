//===- megatron.cpp - the flags of Megatron-LM ----------------------------===//

#include "compiler/adopt/megatron.h"
#include "compiler/adopt/megatron_flags.h"
#include "compiler/adopt/number_text.h"
#include "compiler/adopt/pipeline_layout.h"
#include "compiler/adopt/schedule_text.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;
using Kind = FlagRule::Kind;

namespace {

class MegatronReader {
public:
  MegatronReader(std::vector<MegatronFlag> flags, Diagnostics &diagnostics)
      : flags(std::move(flags)), diagnostics(diagnostics) {}

  std::optional<AdoptedPlan> read();

private:
  const MegatronFlag *find(StringRef name) const;
  bool has(StringRef name) const { return find(name) != nullptr; }
  std::optional<int64_t> integer(StringRef name, int64_t least = 1);
  std::optional<double> number(StringRef name);
  std::optional<TakenNumber> size(StringRef name);
  std::string word(StringRef name, StringRef otherwise, llvm::ArrayRef<std::string> allowed);
  Taken takenFlag(std::string text, StringRef name) const;
  void warn(StringRef name, const std::string &message);

  void refuse();
  bool asksForNothing(const MegatronFlag &flag);
  void checkLayout(const MegatronFlag &flag);
  void readMesh();
  void readData();
  std::string sharded() const;
  void readPrecision();
  void readLossScale();
  void readRecompute();
  void readOptimizer();
  void checkUnits();
  std::optional<int64_t> steps(StringRef counted, StringRef samples, int64_t least = 1);
  void addWarmupNotes(const ForeignSchedule &schedule);
  void addSchedule(AdoptedOptimizer &optimizer, double lr);
  Taken weightDecay();
  void warnOfIdle();
  void addNotes();

  std::vector<MegatronFlag> flags;
  Diagnostics &diagnostics;
  AdoptedPlan plan;
};

} // namespace

/// A size in the largest unit that it is a multiple of.
static std::string bytesText(int64_t bytes) {
  constexpr std::pair<int64_t, const char *> units[] = {
      {int64_t(1) << 20, " MiB"}, {1'000'000, " MB"}, {int64_t(1) << 10, " KiB"}, {1'000, " KB"}};
  for (const auto &[size, unit] : units)
    if (bytes % size == 0)
      return std::to_string(bytes / size) + unit;
  return std::to_string(bytes);
}

static std::string shown(StringRef name) { return "--" + name.str(); }

static std::string helpOfNumber(const FlagWord &word) {
  return StringRef(word.text).contains('$')
             ? "the variable was not replaced: write the number, or use double quotes, in which the shell replaces it"
             : "";
}

/// The last one of a name holds.
const MegatronFlag *MegatronReader::find(StringRef name) const {
  auto found = llvm::find_if(llvm::reverse(flags), [&](const MegatronFlag &flag) { return flag.name == name; });
  return found == flags.rend() ? nullptr : &*found;
}

std::optional<int64_t> MegatronReader::integer(StringRef name, int64_t least) {
  const MegatronFlag *flag = find(name);
  if (!flag)
    return std::nullopt;
  int64_t value = 0;
  const FlagWord &text = flag->values.front();
  if (!StringRef(text.text).getAsInteger(10, value) && value >= least)
    return value;
  diagnostics
      .error(text.range,
             "'" + text.text + "' of '" + shown(name) + "' is no whole number from " + std::to_string(least) + " on")
      .help(helpOfNumber(text));
  return std::nullopt;
}

std::optional<double> MegatronReader::number(StringRef name) {
  const MegatronFlag *flag = find(name);
  if (!flag)
    return std::nullopt;
  const FlagWord &text = flag->values.front();
  std::optional<double> value = parseNumber(text.text);
  if (!value || *value < 0) {
    diagnostics.error(text.range, "'" + text.text + "' of '" + shown(name) + "' is no number from 0 on")
        .help(helpOfNumber(text));
    return std::nullopt;
  }
  return value;
}

std::optional<TakenNumber> MegatronReader::size(StringRef name) {
  std::optional<int64_t> value = integer(name);
  if (!value)
    return std::nullopt;
  return TakenNumber{*value, shown(name), find(name)->values.front().range};
}

std::string MegatronReader::word(StringRef name, StringRef otherwise, llvm::ArrayRef<std::string> allowed) {
  const MegatronFlag *flag = find(name);
  if (!flag)
    return otherwise.str();
  const FlagWord &text = flag->values.front();
  if (!llvm::is_contained(allowed, text.text))
    diagnostics.error(text.range,
                      "'" + text.text + "' of '" + shown(name) + "' is none of " + llvm::join(allowed, ", "));
  return text.text;
}

Taken MegatronReader::takenFlag(std::string text, StringRef name) const {
  const MegatronFlag *flag = find(name);
  return {std::move(text), shown(name), flag ? flag->range : SourceRange()};
}

void MegatronReader::warn(StringRef name, const std::string &message) {
  diagnostics.warning(find(name)->range, message);
}

//===----------------------------------------------------------------------===//
// What plans do not have
//===----------------------------------------------------------------------===//

/// True if the flag is one that is refused and says what is so anyway.
bool MegatronReader::asksForNothing(const MegatronFlag &flag) {
  int64_t value = 0;
  bool isSize = flag.values.size() == 1 && !StringRef(flag.values[0].text).getAsInteger(10, value);
  if (flag.name == "expert-tensor-parallel-size") {
    int64_t tensor = 1;
    if (const MegatronFlag *own = find("tensor-model-parallel-size"))
      (void)StringRef(own->values[0].text).getAsInteger(10, tensor);
    return isSize && value == tensor;
  }
  return isSize && value == 1 &&
         (StringRef(flag.name).ends_with("-size") || StringRef(flag.name).ends_with("-shards") ||
          flag.name == "num-virtual-stages-per-pipeline-rank");
}

void MegatronReader::checkLayout(const MegatronFlag &flag) {
  const FlagWord &layout = flag.values.front();
  auto parsed = parsePipelineLayout(layout.text);
  if (auto *error = std::get_if<LayoutError>(&parsed)) {
    SourceRange place = layout.range;
    // Behind a quote, and behind '--pipeline-model-parallel-layout=', the string begins later.
    StringRef written = diagnostics.sources().buffer(place.file).piece(place);
    if (size_t begin = written.find(layout.text); begin != StringRef::npos) {
      place.column += static_cast<int32_t>(begin + error->place);
      place.endColumn = place.column + 1;
    }
    diagnostics.error(place, "pipeline layout: " + error->message);
    return;
  }
  const auto &stages = std::get<PipelineStages>(parsed);
  int64_t ranks = integer("pipeline-model-parallel-size").value_or(1), layers = 0;
  for (const std::string &stage : stages)
    layers += llvm::count(stage, 't');
  if (stages.size() % ranks != 0)
    diagnostics.error(layout.range, "pipeline layout: " + std::to_string(stages.size()) + " stages for " +
                                        std::to_string(ranks) + " ranks of '--pipeline-model-parallel-size'");
  if (std::optional<int64_t> all = integer("num-layers"); all && *all != layers)
    diagnostics.error(layout.range, "pipeline layout: " + std::to_string(layers) + " layers t, and '--num-layers' is " +
                                        std::to_string(*all));
}

void MegatronReader::refuse() {
  for (const MegatronFlag &flag : flags) {
    FlagRule rule = *ruleOf(flag.name);
    if (rule.kind != Kind::refused || asksForNothing(flag))
      continue;
    if (flag.name == "pipeline-model-parallel-layout")
      checkLayout(flag);
    std::string value = flag.values.size() == 1 ? " " + flag.values[0].text : "";
    diagnostics.error(flag.range, "'" + shown(flag.name) + value + "' asks for " + rule.why.str())
        .help(rule.help.str());
  }
}

//===----------------------------------------------------------------------===//
// What becomes a part of the plan
//===----------------------------------------------------------------------===//

void MegatronReader::readMesh() {
  plan.mesh.tensor = size("tensor-model-parallel-size")
                         .value_or(TakenNumber{1, "the default of "
                                                  "--tensor-model-parallel-size"});
  plan.mesh.replicas = size("num-distributed-optimizer-instances");
  bool divides = plan.mesh.tensor->value > 1;
  if (has("sequence-parallel") && !divides)
    warn("sequence-parallel", "'--sequence-parallel' has no effect: '--tensor-model-parallel-size' is 1");
  plan.sequence = has("sequence-parallel") && divides;
}

/// What ranks of data parallelism share out.
std::string MegatronReader::sharded() const {
  constexpr const char *all = "parameters, gradients, optimizer";
  if (has("use-torch-fsdp2"))
    return all;
  if (!has("use-megatron-fsdp"))
    return has("use-distributed-optimizer") ? "optimizer" : "";
  const MegatronFlag *strategy = find("data-parallel-sharding-strategy");
  std::string name = strategy ? strategy->values.front().text : "optim_grads_params";
  return name == "optim" ? "optimizer" : name == "optim_grads" ? "gradients, optimizer" : name == "no_shard" ? "" : all;
}

void MegatronReader::readData() {
  AdoptedData &data = plan.training.data;
  word("data-parallel-sharding-strategy", "", {"no_shard", "optim", "optim_grads", "optim_grads_params"});
  if (has("data-parallel-sharding-strategy") && !has("use-megatron-fsdp"))
    warn("data-parallel-sharding-strategy",
         "'--data-parallel-sharding-strategy' has no effect without '--use-megatron-fsdp'");
  const char *by = has("use-torch-fsdp2")     ? "use-torch-fsdp2"
                   : has("use-megatron-fsdp") ? "use-megatron-fsdp"
                                              : "use-distributed-optimizer";
  data.shard = takenFlag(sharded(), by);
  bool parameters = StringRef(data.shard.text).starts_with("parameters");
  if (has("torch-fsdp2-no-reshard-after-forward") && parameters)
    data.keep = takenFlag("keep", "torch-fsdp2-no-reshard-after-forward");
  if (plan.mesh.replicas && plan.mesh.replicas->value > 1 && data.shard.text.empty())
    warn("num-distributed-optimizer-instances",
         "'--num-distributed-optimizer-instances' has no effect without '--use-distributed-optimizer'");
  bool gradients = has("overlap-grad-reduce"), gathers = has("overlap-param-gather");
  if (!has("use-torch-fsdp2") && !(parameters && gradients && gathers) && (!data.shard.text.empty() || gradients))
    data.options.push_back(gradients               ? takenFlag("overlap gradients", "overlap-grad-reduce")
                           : gathers && parameters ? takenFlag("overlap parameters", "overlap-param-gather")
                                                   : Taken{"overlap none", "no --overlap-grad-reduce"});
  if (std::optional<int64_t> elements = integer("ddp-bucket-size"))
    data.options.push_back(
        takenFlag("bucket " + bytesText(*elements * (has("grad-reduce-in-bf16") ? 2 : 4)), "ddp-bucket-size"));
  if (has("ddp-average-in-collective"))
    data.options.push_back(takenFlag("average in collective", "ddp-average-in-collective"));
  if (has("use-nccl-ub")) {
    data.options.push_back(takenFlag("contiguous parameters, gradients", "use-nccl-ub"));
    data.options.push_back(takenFlag("register buffers", "use-nccl-ub"));
  }
  if (has("optimizer-cpu-offload"))
    data.options.push_back(takenFlag("offload optimizer", "optimizer-cpu-offload"));
}

void MegatronReader::readLossScale() {
  if (!has("fp16"))
    return;
  // To Megatron a scale of 0 is none.
  if (std::optional<double> fixed = number("loss-scale"); fixed && *fixed > 0) {
    plan.training.precision.lossScale = takenFlag("loss_scale " + numberText(*fixed), "loss-scale");
    return;
  }
  plan.training.precision.lossScale = takenFlag(
      "loss_scale dynamic { initial " + numberText(number("initial-loss-scale").value_or(4294967296.0)) +
          "; growth 2; backoff 0.5; interval " + numberText(number("loss-scale-window").value_or(1000)) + " }",
      "fp16");
}

void MegatronReader::readPrecision() {
  AdoptedPrecision &precision = plan.training.precision;
  if (has("bf16") && has("fp16"))
    diagnostics.error(find("fp16")->range, "'--fp16' and '--bf16' contradict each other");
  const char *flag = has("fp16") ? "fp16" : "bf16";
  if (has(flag)) {
    precision.stored = takenFlag(has("fp16") ? "f16" : "bf16", flag);
    precision.compute = precision.stored;
    precision.master = takenFlag("f32", flag);
  }
  bool inHalf = has("grad-reduce-in-bf16");
  if (inHalf)
    precision.reduce = takenFlag("bf16", "grad-reduce-in-bf16");
  else if (has("accumulate-allreduce-grads-in-fp32"))
    precision.reduce = takenFlag("f32", "accumulate-allreduce-grads-in-fp32");
  const std::vector<std::string> states = {"fp32", "fp16", "bf16", "fp8"};
  std::string first = word("exp-avg-dtype", "fp32", states), second = word("exp-avg-sq-dtype", "fp32", states);
  if (first != second)
    diagnostics.error(find(has("exp-avg-sq-dtype") ? "exp-avg-sq-dtype" : "exp-avg-dtype")->range,
                      "the two moments have different types, " + first + " and " + second + ", and a plan has one");
  else if (first == "fp8")
    diagnostics.error(find("exp-avg-dtype")->range, "'--exp-avg-dtype fp8' asks for 8-bit numbers, which need a scale "
                                                    "for each tensor");
  else if (first != "fp32")
    precision.state = takenFlag(first == "fp16" ? "f16" : "bf16", "exp-avg-dtype");
  readLossScale();
}

void MegatronReader::readRecompute() {
  std::string granularity =
      word("recompute-granularity", has("recompute-activations") ? "selective" : "", {"full", "selective"});
  const char *flag = has("recompute-granularity") ? "recompute-granularity" : "recompute-activations";
  std::string method = word("recompute-method", "uniform", {"uniform", "block"});
  std::optional<int64_t> layers = integer("recompute-num-layers");
  if (granularity == "full") {
    AdoptedRecompute recompute{shown(flag), 0, {}};
    if (method == "block")
      recompute.layers = layers.value_or(1);
    else if (layers.value_or(1) > 1)
      warn("recompute-num-layers", "'--recompute-num-layers " + std::to_string(*layers) +
                                       "' recomputes several layers in one piece: here each layer is one");
    plan.training.recompute = recompute;
    return;
  }
  if (granularity != "selective")
    return;
  plan.notes.push_back("'" + shown(flag) +
                       "' of core_attn: attention keeps no scores here, so that there is nothing to "
                       "recompute.");
  if (const MegatronFlag *modules = find("recompute-modules"))
    for (const FlagWord &module : modules->values)
      if (module.text != "core_attn")
        diagnostics.warning(module.range, "'" + module.text + "' of '--recompute-modules' is left out")
            .help("'recompute PATH' names modules of the model");
}

/// Megatron counts either iterations or samples.
void MegatronReader::checkUnits() {
  for (StringRef samples : {"train-samples", "lr-decay-samples", "lr-warmup-samples", "lr-wsd-decay-samples"})
    for (StringRef steps : {"train-iters", "lr-decay-iters", "lr-warmup-iters", "lr-wsd-decay-iters"})
      if (has(samples) && has(steps)) {
        diagnostics.error(find(samples)->range, "'" + shown(samples) + "' and '" + shown(steps) +
                                                    "' contradict each other: Megatron counts iterations or samples");
        return;
      }
}

/// Steps of a flag that counts them, or of one that counts samples.
std::optional<int64_t> MegatronReader::steps(StringRef counted, StringRef samples, int64_t least) {
  if (!has(samples))
    return integer(counted, least);
  std::optional<int64_t> all = integer(samples, least);
  const std::optional<TakenNumber> &batch = plan.training.globalBatch;
  if (all && !batch && !has("global-batch-size"))
    diagnostics.error(find(samples)->range, "'" + shown(samples) + "' needs '--global-batch-size': a plan counts steps")
        .help("a step of Megatron without it has the samples of one microbatch on each rank that divides the batch");
  if (!all || !batch)
    return std::nullopt;
  int64_t whole = *all / batch->value;
  std::string part =
      shown(samples) + " " + std::to_string(*all) + " / --global-batch-size " + std::to_string(batch->value);
  if (*all % batch->value != 0 && whole < least)
    diagnostics.error(find(samples)->values.front().range, part + " is less than a step");
  plan.notes.push_back(part + (*all % batch->value ? " is rounded down to " : " is ") + std::to_string(whole) +
                       " steps.");
  return whole;
}

/// What of a schedule the language has in another way.
void MegatronReader::addWarmupNotes(const ForeignSchedule &schedule) {
  std::string decay = word("lr-wsd-decay-style", "exponential", {"exponential", "linear", "cosine", "minus_sqrt"});
  if (schedule.style == "WSD" && decay != "linear")
    warn(has("lr-wsd-decay-style") ? "lr-wsd-decay-style" : "lr-decay-style",
         "lr falls evenly in the last steps: there is no '--lr-wsd-decay-style " + decay + "' here");
  if (schedule.warmup == 0)
    return;
  std::string all = std::to_string(schedule.warmup);
  plan.notes.push_back("Warmup: step s, counted from 0, takes lr * (s + 1) / " + all + " here, and lr * s / " + all +
                       " in Megatron-LM.");
  if (number("lr-warmup-init").value_or(0) > 0)
    warn("lr-warmup-init", "'--lr-warmup-init' is left out: the warmup begins at lr / " + all);
}

void MegatronReader::addSchedule(AdoptedOptimizer &optimizer, double lr) {
  ForeignSchedule schedule;
  schedule.lr = lr;
  schedule.style = word("lr-decay-style", "linear", {"constant", "linear", "cosine", "inverse-square-root", "WSD"});
  schedule.least = number("min-lr").value_or(0);
  checkUnits();
  std::optional<double> part = number("lr-warmup-fraction");
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

/// The weight decay, which may grow in Megatron.
Taken MegatronReader::weightDecay() {
  std::string style = word("weight-decay-incr-style", "constant", {"constant", "linear", "cosine"});
  bool grows = style != "constant";
  StringRef flag = grows && has("end-weight-decay") ? "end-weight-decay" : "weight-decay";
  std::string text = numberText(number(flag).value_or(0.01));
  Taken taken = takenFlag("weight_decay " + text, flag);
  if (!has(flag))
    taken.from = "the default of " + shown(flag);
  if (grows) {
    std::string start = numberText(number("start-weight-decay").value_or(0));
    warn("weight-decay-incr-style", "the weight decay is " + text + " from the first step on, and does not grow from " +
                                        start + ": there is no '--weight-decay-incr-style " + style + "' here");
    taken.from += "; in Megatron-LM it grows from " + start;
  }
  return taken;
}

void MegatronReader::readOptimizer() {
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
    optimizer.options.push_back(takenFlag(option + " " + numberText(number(flag).value_or(otherwise)), flag));
    if (!has(flag))
      optimizer.options.back().from = "the default of " + shown(flag);
  };
  double lr = number("lr").value_or(0);
  add("lr", "lr", lr);
  if (kind == "adam") {
    double first = number("adam-beta1").value_or(0.9), second = number("adam-beta2").value_or(0.999);
    optimizer.options.push_back(
        {"betas (" + numberText(first) + ", " + numberText(second) + ")", "--adam-beta1, --adam-beta2"});
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
    plan.training.clip = {"clip_grad_norm " + numberText(clip),
                          has("clip-grad") ? "--clip-grad" : "the default of --clip-grad"};
  if (!has("no-check-for-nan-in-loss-and-grad") && !has("fp16"))
    plan.training.nonfinite = {"nonfinite gradients stop",
                               "Megatron checks unless --no-check-for-nan-in-loss-and-grad"};
}

/// Flags that only change what another one asks for.
void MegatronReader::warnOfIdle() {
  bool adam = !has("optimizer") || find("optimizer")->values.front().text == "adam";
  bool full = has("recompute-granularity") && find("recompute-granularity")->values.front().text == "full";
  auto idle = [&](llvm::ArrayRef<StringRef> names, bool isUsed, const std::string &without) {
    for (StringRef name : names)
      if (has(name) && !isUsed)
        warn(name, "'" + shown(name) + "' has no effect without '" + without + "'");
  };
  idle({"optimizer",
        "min-lr",
        "lr-decay-style",
        "lr-decay-iters",
        "lr-warmup-iters",
        "lr-warmup-fraction",
        "lr-wsd-decay-iters",
        "lr-decay-samples",
        "lr-warmup-samples",
        "lr-wsd-decay-samples",
        "lr-wsd-decay-style",
        "lr-warmup-init",
        "weight-decay-incr-style",
        "weight-decay",
        "clip-grad",
        "adam-beta1",
        "adam-beta2",
        "adam-eps",
        "sgd-momentum",
        "no-check-for-nan-in-loss-and-grad"},
       has("lr"), "--lr");
  idle({"start-weight-decay", "end-weight-decay"}, has("weight-decay-incr-style"), "--weight-decay-incr-style");
  idle({"adam-beta1", "adam-beta2", "adam-eps"}, adam || !has("lr"), "--optimizer adam");
  idle({"sgd-momentum"}, !adam || !has("lr"), "--optimizer sgd");
  idle({"recompute-method", "recompute-num-layers"}, full, "--recompute-granularity full");
  idle({"loss-scale", "initial-loss-scale", "loss-scale-window"}, has("fp16"), "--fp16");
}

void MegatronReader::addNotes() {
  std::vector<std::string> names, others, changing;
  for (const MegatronFlag &flag : flags) {
    Kind kind = ruleOf(flag.name)->kind;
    if (kind == Kind::changing && !llvm::is_contained(changing, shown(flag.name))) {
      changing.push_back(shown(flag.name));
      warn(flag.name, "'" + shown(flag.name) + "' is left out, and changes the numbers of the training");
    }
    // What only shares out the optimizer gathers new parameters at the end of a step.
    bool isIdle =
        flag.name == "overlap-param-gather" && !StringRef(plan.training.data.shard.text).starts_with("parameters");
    std::vector<std::string> &list = kind == Kind::no_words || isIdle ? names : others;
    bool isOther = isIdle || kind == Kind::no_words || kind == Kind::outside ||
                   (kind == Kind::refused && asksForNothing(flag)) || flag.name == "num-layers";
    if (isOther && !llvm::is_contained(list, shown(flag.name)))
      list.push_back(shown(flag.name));
  }
  if (!changing.empty())
    plan.notes.push_back("Left out, and changes the training: " + llvm::join(changing, ", ") + ".");
  if (!names.empty())
    plan.notes.push_back("Without a counterpart, and left out: " + llvm::join(names, ", ") + ".");
  if (!others.empty())
    plan.notes.push_back("Says nothing of a plan: " + llvm::join(others, ", ") + ".");
}

std::optional<AdoptedPlan> MegatronReader::read() {
  plan.notes.push_back("Sizes and numbers: the flags of Megatron-LM; styles: the graph of the model.");
  refuse();
  readMesh();
  readData();
  readPrecision();
  readRecompute();
  readOptimizer();
  warnOfIdle();
  addNotes();
  if (diagnostics.hasErrors())
    return std::nullopt;
  return std::move(plan);
}

std::optional<AdoptedPlan> meshplan::adoptMegatron(const SourceBuffer &source, Diagnostics &diagnostics) {
  std::optional<std::vector<MegatronFlag>> flags = readFlags(source, diagnostics);
  if (!flags)
    return std::nullopt;
  return MegatronReader(std::move(*flags), diagnostics).read();
}
