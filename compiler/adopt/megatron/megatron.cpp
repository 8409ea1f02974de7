//===- megatron.cpp - the flags of Megatron-LM ----------------------------===//
//
// Flags have been checked and classified (megatron_flags.h). Refused ones are
// reported first; then each part of the plan reads the flags that it depends on,
// with Megatron's defaults. Flags that were left out are listed in notes of the
// plan, so that the user sees the fate of each.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/megatron/megatron.h"
#include "compiler/adopt/megatron/flag_values.h"
#include "compiler/adopt/megatron/megatron_optimizer.h"
#include "compiler/adopt/megatron/pipeline_layout.h"
#include "compiler/adopt/numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;
using Kind = FlagRule::Kind;

namespace {

class MegatronReader : FlagValues {
public:
  using FlagValues::FlagValues;

  std::optional<AdoptedPlan> read();

private:
  void refuse();
  bool asksForNothing(const MegatronFlag &flag);
  void checkLayout(const MegatronFlag &flag);
  void readMesh();
  void readData();
  std::string sharded() const;
  void readPrecision();
  void readLossScale();
  void readRecompute();
  void readExperts();
  void readCapacity();
  void warnOfIdle();
  void addNotes();

  AdoptedPlan plan;
};

} // namespace

/// A size in the largest unit that divides it.
static std::string bytesText(int64_t bytes) {
  constexpr std::pair<int64_t, const char *> units[] = {
      {int64_t(1) << 20, " MiB"}, {1'000'000, " MB"}, {int64_t(1) << 10, " KiB"}, {1'000, " KB"}};
  for (const auto &[size, unit] : units)
    if (bytes % size == 0)
      return std::to_string(bytes / size) + unit;
  return std::to_string(bytes);
}

//===----------------------------------------------------------------------===//
// Features that the language does not have
//===----------------------------------------------------------------------===//

/// True if the flag is one that is refused, but its value asks for the default behaviour.
bool MegatronReader::asksForNothing(const MegatronFlag &flag) {
  int64_t value = 0;
  // Scripts set sizes of parallelism that they do not use to 1, and must not be refused for that.
  bool isSize = flag.values.size() == 1 && !StringRef(flag.values[0].text).getAsInteger(10, value);
  return isSize && value == 1 &&
         (StringRef(flag.name).ends_with("-size") || StringRef(flag.name).ends_with("-shards") ||
          flag.name == "num-virtual-stages-per-pipeline-rank");
}

void MegatronReader::checkLayout(const MegatronFlag &flag) {
  const FlagWord &layout = flag.values.front();
  auto parsed = parsePipelineLayout(layout.text);
  if (auto *error = std::get_if<LayoutError>(&parsed)) {
    SourceRange location = layout.range;
    // The string may begin after a quote or after '--pipeline-model-parallel-layout='.
    StringRef written = diagnostics.sources().buffer(location.file).piece(location);
    if (size_t begin = written.find(layout.text); begin != StringRef::npos) {
      location.column += static_cast<int32_t>(begin + error->offset);
      location.endColumn = location.column + 1;
    }
    diagnostics.error(location, "pipeline layout: " + error->message);
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
// Flags that become part of the plan
//===----------------------------------------------------------------------===//

void MegatronReader::readMesh() {
  plan.mesh.tensor = size("tensor-model-parallel-size")
                         .value_or(AdoptedNumber{1, "the default of "
                                                    "--tensor-model-parallel-size"});
  plan.mesh.replicas = size("num-distributed-optimizer-instances");
  bool divides = plan.mesh.tensor->value > 1;
  if (has("sequence-parallel") && !divides)
    warn("sequence-parallel", "'--sequence-parallel' has no effect: '--tensor-model-parallel-size' is 1");
  plan.sequence = has("sequence-parallel") && divides;
}

/// The tensors that data-parallel ranks shard.
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
  if (has("torch-fsdp2-no-reshard-after-forward") && !has("use-torch-fsdp2"))
    warn("torch-fsdp2-no-reshard-after-forward",
         "'--torch-fsdp2-no-reshard-after-forward' has no effect without '--use-torch-fsdp2'");
  else if (has("torch-fsdp2-no-reshard-after-forward"))
    data.keep = takenFlag("keep", "torch-fsdp2-no-reshard-after-forward");
  if (plan.mesh.replicas && plan.mesh.replicas->value > 1 && data.shard.text.empty())
    warn("num-distributed-optimizer-instances",
         "'--num-distributed-optimizer-instances' has no effect without '--use-distributed-optimizer'");
  bool gradients = has("overlap-grad-reduce"), gathers = has("overlap-param-gather");
  gathers &= !data.shard.text.empty();
  // A plan that shards parameters overlaps both where it says nothing.
  if (!has("use-torch-fsdp2") && !(parameters && gradients && gathers) && (!data.shard.text.empty() || gradients))
    data.options.push_back(gradients && gathers ? takenFlag("overlap gradients, parameters", "overlap-param-gather")
                           : gradients          ? takenFlag("overlap gradients", "overlap-grad-reduce")
                           : gathers            ? takenFlag("overlap parameters", "overlap-param-gather")
                                                : AdoptedText{"overlap none", "no --overlap-grad-reduce"});
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
  // To Megatron a scale of 0 is unset.
  if (std::optional<double> fixed = number("loss-scale"); fixed && *fixed > 0) {
    plan.training.precision.lossScale = takenFlag("loss_scale " + planNumber(*fixed), "loss-scale");
    return;
  }
  plan.training.precision.lossScale = takenFlag(
      "loss_scale dynamic { initial " + planNumber(number("initial-loss-scale").value_or(4294967296.0)) +
          "; growth 2; backoff 0.5; interval " + planNumber(number("loss-scale-window").value_or(1000)) + " }",
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
                                       "' recomputes several layers together: here each layer is recomputed alone");
    plan.training.recompute = recompute;
    return;
  }
  if (granularity != "selective")
    return;
  plan.notes.push_back("'" + shown(flag) +
                       "' of core_attn: attention does not keep its scores here, so there is nothing to "
                       "recompute.");
  if (const MegatronFlag *modules = find("recompute-modules"))
    for (const FlagWord &module : modules->values)
      if (module.text != "core_attn")
        diagnostics.warning(module.range, "'" + module.text + "' of '--recompute-modules' is left out")
            .help("'recompute PATH' names modules of the model");
}

/// The draft divides experts over all axes, since each rank then exchanges rows once. Groups of ranks with all experts
/// are named, not drafted: they change what ranks hold, and not what they compute.
void MegatronReader::readExperts() {
  std::optional<int64_t> ranks = integer("expert-model-parallel-size"), shares = integer("expert-tensor-parallel-size");
  std::string axes = plan.mesh.replicas && plan.mesh.replicas->value > 1 ? "dp, fsdp" : "dp", note;
  if (ranks && *ranks > 1)
    note = "for '--expert-model-parallel-size " + std::to_string(*ranks) + "' write 'fold (" + axes +
           ") as (edp = N, ep = " + std::to_string(*ranks) + ")' and 'expert ep'";
  if ((ranks.value_or(1) > 1 || shares) && shares.value_or(plan.mesh.tensor->value) > 1)
    note += std::string(note.empty() ? "" : "; ") +
            "'within tp' divides what is inside them, as '--expert-tensor-parallel-size " +
            std::to_string(shares.value_or(plan.mesh.tensor->value)) + "' does";
  if (!note.empty())
    plan.notes.push_back("Experts are drafted over all axes: " + note + ".");
  if (has("overlap-moe-expert-parallel-comm"))
    plan.training.halves = takenFlag("overlap { halves }", "overlap-moe-expert-parallel-comm");
  readCapacity();
  std::optional<double> rate = number("moe-router-bias-update-rate");
  if (has("moe-router-enable-expert-bias"))
    plan.training.balance =
        takenFlag("balance bias " + planNumber(rate.value_or(1e-3)),
                  has("moe-router-bias-update-rate") ? "moe-router-bias-update-rate" : "moe-router-enable-expert-bias");
}

void MegatronReader::readCapacity() {
  std::string policy = word("moe-token-drop-policy", "probs", {"probs", "position"});
  const MegatronFlag *flag = find("moe-expert-capacity-factor");
  // A negative factor is none.
  if (!flag || StringRef(flag->values.front().text).starts_with("-"))
    return;
  std::optional<double> factor = number("moe-expert-capacity-factor");
  if (!factor)
    return;
  if (*factor == 0) {
    diagnostics.error(flag->values.front().range, "'--moe-expert-capacity-factor' is not above 0");
    return;
  }
  plan.training.capacity = takenFlag("capacity " + planNumber(*factor), "moe-expert-capacity-factor");
  warn("moe-expert-capacity-factor",
       "'" + plan.training.capacity.text + "' counts the tokens of each sample" +
           (policy == "probs" ? " and drops the last ones: Megatron-LM counts those of a rank, and drops those of the "
                                "lowest probability"
                              : ", and Megatron-LM those of a rank"));
}

/// Warns of flags that only modify another flag, which is absent.
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
  idle({"moe-token-drop-policy"}, has("moe-expert-capacity-factor"), "--moe-expert-capacity-factor");
  idle({"moe-router-bias-update-rate"}, has("moe-router-enable-expert-bias"), "--moe-router-enable-expert-bias");
  idle({"recompute-method", "recompute-num-layers"}, full, "--recompute-granularity full");
  idle({"loss-scale", "initial-loss-scale", "loss-scale-window"}, has("fp16"), "--fp16");
}

void MegatronReader::addNotes() {
  std::vector<std::string> names, others, changing, ofModel, always;
  for (const MegatronFlag &flag : flags) {
    Kind kind = ruleOf(flag.name)->kind;
    if (kind == Kind::changing && !llvm::is_contained(changing, shown(flag.name))) {
      changing.push_back(shown(flag.name));
      warn(flag.name, "'" + shown(flag.name) + "' is left out, and changes the numbers of the training");
    }
    // Where nothing is sharded, no parameter is gathered.
    bool isIdle = flag.name == "overlap-param-gather" && plan.training.data.shard.text.empty();
    std::vector<std::string> &list = kind == Kind::no_words || isIdle ? names
                                     : kind == Kind::model            ? ofModel
                                     : kind == Kind::always           ? always
                                                                      : others;
    bool isOther = isIdle || kind == Kind::no_words || kind == Kind::outside || kind == Kind::model ||
                   kind == Kind::always || (kind == Kind::refused && asksForNothing(flag)) || flag.name == "num-layers";
    if (isOther && !llvm::is_contained(list, shown(flag.name)))
      list.push_back(shown(flag.name));
  }
  if (!changing.empty())
    plan.notes.push_back("Left out, and changes the training: " + llvm::join(changing, ", ") + ".");
  if (!ofModel.empty())
    plan.notes.push_back("Of the model, as it was exported: " + llvm::join(ofModel, ", ") + ".");
  if (!always.empty())
    plan.notes.push_back("Always so here: " + llvm::join(always, ", ") + ".");
  if (!names.empty())
    plan.notes.push_back("Without a counterpart, and left out: " + llvm::join(names, ", ") + ".");
  if (!others.empty())
    plan.notes.push_back("Without effect on a plan: " + llvm::join(others, ", ") + ".");
}

std::optional<AdoptedPlan> MegatronReader::read() {
  plan.notes.push_back("Sizes and numbers: the flags of Megatron-LM; styles: the graph of the model.");
  refuse();
  readMesh();
  readData();
  readPrecision();
  readRecompute();
  readExperts();
  readMegatronOptimizer(*this, plan);
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
  return MegatronReader(*flags, diagnostics).read();
}
