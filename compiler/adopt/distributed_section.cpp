//===- distributed_section.cpp - the section `distributed` of a recipe ----===//
//
// Every strategy has a list of options, each with the function that translates
// it, and a list of known options without effect on a plan; anything else is an
// error. Settings that depend on several options, such as overlap and defaults,
// are decided at the end (finishDistributed).
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/distributed_section.h"
#include "compiler/adopt/huggingface.h"
#include "compiler/adopt/recipe_reader.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace meshplan;
using llvm::StringRef;

namespace {

enum class Strategy { fsdp2, megatronFsdp, ddp };

class DistributedReader {
public:
  DistributedReader(const ModelOutline &model, const std::string &axes, AdoptedPlan &plan, Diagnostics &diagnostics)
      : model(model), axes(axes), diagnostics(diagnostics), reader(diagnostics), plan(plan) {}

  void read(const YamlEntry &section);

private:
  using Options = std::vector<RecipeReader::Option>;

  std::optional<Strategy> strategyOf(const YamlEntry &section);
  void addSizes(Options &options);
  void addFsdp(Options &options);
  void addMegatronFsdp(Options &options);
  void addDdp(Options &options);
  void refuseAbove(const YamlEntry &entry, StringRef what, StringRef instead);
  void takeCheckpointing(const YamlEntry &entry);
  void takePolicy(const YamlEntry &entry);
  void takeReshard(const YamlEntry &entry);
  void takeOverlap();
  void takePlan(const YamlEntry &entry);
  void finishDistributed(const YamlEntry &section, Strategy strategy);

  AdoptedData &data() { return plan.training.data; }
  void addData(const std::string &option, const YamlEntry &entry) {
    data().options.push_back(reader.taken(option, entry));
  }

  const ModelOutline &model;
  const std::string &axes;
  Diagnostics &diagnostics;
  RecipeReader reader;
  AdoptedPlan &plan;
  bool overlapsGradients = true, overlapsParameters = true;
  std::vector<const YamlEntry *> overlaps;
  const YamlEntry *sequence = nullptr;
};

} // namespace

/// The strategy by name; older recipes name the class of its manager instead.
std::optional<Strategy> DistributedReader::strategyOf(const YamlEntry &section) {
  const YamlEntry *entry = section.value.find("strategy");
  if (!entry)
    entry = section.value.find("_target_");
  std::optional<std::string> name = entry ? reader.lastName(*entry) : std::nullopt;
  if (!name)
    return Strategy::fsdp2;
  auto known = llvm::StringSwitch<std::optional<Strategy>>(StringRef(*name).lower())
                   .Cases({"fsdp2", "fsdp2manager"}, Strategy::fsdp2)
                   .Cases({"megatron_fsdp", "megatron-fsdp", "mfsdp", "nvfsdp"}, Strategy::megatronFsdp)
                   .Cases({"megatronfsdpmanager", "nvfsdpmanager"}, Strategy::megatronFsdp)
                   .Cases({"ddp", "ddpmanager"}, Strategy::ddp)
                   .Default(std::nullopt);
  if (!known)
    reader.fail(*entry, "unknown strategy '" + entry->value.text + "'")
        .help(suggest(*name, {"fsdp2", "megatron_fsdp", "ddp"}, "strategies"));
  return known;
}

void DistributedReader::refuseAbove(const YamlEntry &entry, StringRef what, StringRef instead) {
  if (std::optional<int64_t> size = reader.integer(entry); size && *size > 1)
    reader.fail(entry, "'" + entry.key + "' of " + std::to_string(*size) + " asks for " + what.str())
        .help("leave out '" + entry.key + "'" + instead.str());
}

void DistributedReader::addSizes(Options &options) {
  auto size = [&](StringRef name, std::optional<AdoptedNumber> AdoptedMesh::*member) {
    options.push_back({name, [this, member](const YamlEntry &entry) {
                         if (std::optional<int64_t> value = reader.integer(entry))
                           plan.mesh.*member = reader.takenNumber(*value, entry);
                       }});
  };
  size("dp_size", &AdoptedMesh::data);
  size("dp_replicate_size", &AdoptedMesh::replicas);
  size("tp_size", &AdoptedMesh::tensor);
  auto refused = [&](StringRef name, const char *what, const char *instead) {
    options.push_back({name, [this, what, instead](const YamlEntry &entry) { refuseAbove(entry, what, instead); }});
  };
  const char *otherRanks = ": its ranks then split the batch, or with 'tp_size' the weights";
  refused("pp_size", "pipelining, for which there is no statement yet", otherRanks);
  refused("cp_size", "context parallelism, for which there is no statement yet", otherRanks);
  refused("ep_size", "expert parallelism, which a plan states for modules",
          ", and state 'expert AXIS' for the modules that hold the experts");
  options.push_back({"strategy", [](const YamlEntry &) {}});
  options.push_back({"_target_", [](const YamlEntry &) {}});
  for (StringRef name : {"pipeline", "moe"})
    options.push_back({name, [](const YamlEntry &) {}}); // sizes above 1 are refused elsewhere
  options.push_back({"activation_checkpointing", [this](const YamlEntry &entry) { takeCheckpointing(entry); }});
  options.push_back({"activation_checkpointing_scope", [this](const YamlEntry &entry) {
                       if (entry.value.text != "all")
                         reader.noEffect(entry, "all layers are recomputed");
                     }});
}

void DistributedReader::takeCheckpointing(const YamlEntry &entry) {
  auto mode = llvm::StringSwitch<int>(StringRef(entry.value.text).lower())
                  .Cases({"true", "on", "full", "enabled", "yes"}, 1)
                  .Case("selective", 2)
                  .Cases({"", "false", "off", "none", "disabled", "no"}, 0)
                  .Cases({"null", "~"}, 0)
                  .Default(-1);
  if (mode < 0)
    reader.fail(entry,
                "'" + entry.value.text + "' of 'activation_checkpointing' is none of true, false, full, selective");
  if (mode <= 0)
    return;
  plan.training.recompute = AdoptedRecompute{reader.fromOf(entry), 0, {}};
  if (mode == 2) {
    plan.training.recompute->keep = {"attention"};
    plan.notes.push_back(
        "'selective' of activation_checkpointing: outputs of attention are kept; Automodel keeps every "
        "second product besides.");
  }
}

void DistributedReader::takePolicy(const YamlEntry &section) {
  AdoptedPrecision &precision = plan.training.precision;
  auto take = [&](AdoptedText AdoptedPrecision::*member) {
    return [this, member](const YamlEntry &entry) {
      if (std::optional<std::string> dtype = reader.dtype(entry))
        plan.training.precision.*member = reader.taken(*dtype, entry);
    };
  };
  if (section.value.saysNothing())
    return;
  precision.compute = precision.reduce = {}; // a dtype that PyTorch's policy leaves out is unset
  reader.readMap(section,
                 {{"_target_", [](const YamlEntry &) {}},
                  {"param_dtype", take(&AdoptedPrecision::compute)},
                  {"reduce_dtype", take(&AdoptedPrecision::reduce)}},
                 {"output_dtype", "cast_forward_inputs"}, /*isClosed=*/true);
}

void DistributedReader::takeReshard(const YamlEntry &entry) {
  if (std::optional<bool> value = reader.boolean(entry); value && !*value)
    data().keep = reader.taken("keep", entry);
}

void DistributedReader::takePlan(const YamlEntry &entry) {
  if (entry.value.saysNothing())
    return;
  if (entry.value.kind != YamlValue::Kind::map) {
    reader.fail(entry, "'tp_plan' is the name of a plan in Python, which cannot be read")
        .help("write it as a map from names to styles, or leave it out: styles are found from the graph then");
    return;
  }
  ForeignRules rules(model, axes, diagnostics);
  rules.take(entry, nullptr);
  if (!rules.finish(plan) && !diagnostics.hasErrors())
    reader.fail(entry, "no name of 'tp_plan' is one of the model");
}

void DistributedReader::addFsdp(Options &options) {
  // Defaults are set while the list of options is built; options that are then read replace them.
  plan.training.precision.compute = {"bf16", "the default of mp_policy"};
  plan.training.precision.reduce = {"f32", "the default of mp_policy"};
  options.push_back({"sequence_parallel", [this](const YamlEntry &entry) {
                       if (reader.boolean(entry).value_or(false))
                         sequence = &entry;
                     }});
  options.push_back({"tp_plan", [this](const YamlEntry &entry) { takePlan(entry); }});
  options.push_back({"mp_policy", [this](const YamlEntry &entry) { takePolicy(entry); }});
  options.push_back({"offload_policy", [this](const YamlEntry &entry) {
                       if (!entry.value.saysNothing())
                         addData("offload parameters, optimizer", entry);
                     }});
  options.push_back({"autocast_dtype", [this](const YamlEntry &entry) {
                       if (std::optional<std::string> dtype = reader.dtype(entry))
                         plan.training.precision.compute = reader.taken(*dtype, entry);
                     }});
  options.push_back({"defer_fsdp_grad_sync", [this](const YamlEntry &entry) {
                       if (std::optional<bool> value = reader.boolean(entry))
                         data().reduceEach =
                             reader.taken(*value ? "reduce last microbatch" : "reduce each microbatch", entry);
                     }});
  options.push_back({"reshard_after_forward", [this](const YamlEntry &entry) { takeReshard(entry); }});
}

void DistributedReader::addMegatronFsdp(Options &options) {
  auto flag = [&](StringRef name, std::function<void(const YamlEntry &, bool)> take) {
    options.push_back({name, [this, take = std::move(take)](const YamlEntry &entry) {
                         if (std::optional<bool> value = reader.boolean(entry))
                           take(entry, *value);
                       }});
  };
  options.push_back({"zero_dp_strategy", [this](const YamlEntry &entry) {
                       constexpr const char *kinds[] = {"", "optimizer", "gradients, optimizer",
                                                        "parameters, gradients, optimizer"};
                       std::optional<int64_t> stage = reader.integer(entry, 0);
                       if (stage && *stage > 3)
                         reader.fail(entry, "'zero_dp_strategy' is 0, 1, 2 or 3");
                       else if (stage)
                         data().shard = reader.taken(kinds[*stage], entry);
                     }});
  options.push_back({"megatron_fsdp_unit_modules", [this](const YamlEntry &entry) {
                       for (const YamlValue &item : entry.value.items)
                         data().unitClasses.push_back(item.text);
                     }});
  flag("sequence_parallel", [this](const YamlEntry &entry, bool on) { sequence = on ? &entry : nullptr; });
  flag("grad_reduce_in_fp32", [this](const YamlEntry &entry, bool on) {
    if (on)
      plan.training.precision.reduce = reader.taken("f32", entry);
  });
  flag("preserve_fp32_weights", [this](const YamlEntry &entry, bool on) {
    if (on)
      plan.training.precision.master = reader.taken("f32", entry);
  });
  flag("overlap_grad_reduce", [this](const YamlEntry &entry, bool on) {
    overlapsGradients = on;
    overlaps.push_back(&entry);
  });
  flag("overlap_param_gather", [this](const YamlEntry &entry, bool on) {
    overlapsParameters = on;
    overlaps.push_back(&entry);
  });
  flag("average_in_collective", [this](const YamlEntry &entry, bool on) {
    addData(on ? "average in collective" : "average after collective", entry);
  });
  flag("disable_bucketing", [this](const YamlEntry &entry, bool on) {
    if (on)
      addData("bucket none", entry);
  });
  flag("calculate_per_token_loss", [this](const YamlEntry &entry, bool on) {
    if (on)
      plan.training.lossUnit = reader.taken("token", entry);
  });
  flag("report_nan_in_param_grad", [this](const YamlEntry &entry, bool on) {
    if (on)
      plan.training.nonfinite = reader.taken("nonfinite gradients stop", entry);
  });
  flag("nccl_ub", [this](const YamlEntry &entry, bool on) {
    if (on) {
      addData("contiguous parameters, gradients", entry);
      addData("register buffers", entry);
    }
  });
}

void DistributedReader::addDdp(Options &options) {
  options.push_back({"bucket_cap_mb", [this](const YamlEntry &entry) {
                       if (std::optional<int64_t> size = reader.integer(entry))
                         addData("bucket " + std::to_string(*size) + " MiB", entry);
                     }});
  options.push_back({"gradient_as_bucket_view", [this](const YamlEntry &entry) {
                       if (reader.boolean(entry).value_or(false))
                         addData("contiguous gradients", entry);
                     }});
  options.push_back({"autocast_dtype", [this](const YamlEntry &entry) {
                       if (std::optional<std::string> dtype = reader.dtype(entry))
                         plan.training.precision.compute = reader.taken(*dtype, entry);
                     }});
}

void DistributedReader::takeOverlap() {
  // A plan that shards parameters overlaps both where it says nothing, and another one gradients.
  bool isUsual = StringRef(data().shard.text).starts_with("parameters") || data().shard.text.empty();
  if (overlaps.empty() || (overlapsGradients && overlapsParameters && isUsual))
    return;
  addData(overlapsGradients && overlapsParameters ? "overlap gradients, parameters"
          : overlapsGradients                     ? "overlap gradients"
          : overlapsParameters                    ? "overlap parameters"
                                                  : "overlap none",
          *overlaps.front());
}

void DistributedReader::finishDistributed(const YamlEntry &section, Strategy strategy) {
  AdoptedMesh &mesh = plan.mesh;
  if (!mesh.tensor)
    mesh.tensor = AdoptedNumber{1, "the default of tp_size"};
  if (sequence && mesh.tensor->value == 1)
    reader.noEffect(*sequence, "'tp_size' is 1");
  plan.sequence = sequence && mesh.tensor->value > 1;
  for (const auto &[block, size] : {std::pair("pipeline", "pp_size"), std::pair("moe", "ep_size")}) {
    const YamlEntry *entry = section.value.find(block), *own = section.value.find(size);
    bool isUsed = own && !own->value.saysNothing() && own->value.text != "1";
    if (entry && !entry->value.saysNothing() && !entry->value.entries.empty() && !isUsed)
      reader.noEffect(*entry, "'" + std::string(size) + "' is 1");
  }
  const YamlEntry *name = section.value.find("strategy");
  std::string from = name ? reader.fromOf(*name) : "the default of strategy";
  if (strategy == Strategy::ddp && mesh.tensor->value > 1)
    diagnostics
        .error(mesh.tensor->range, "'tp_size' of " + std::to_string(mesh.tensor->value) +
                                       " and the strategy 'ddp', which does not split weights")
        .help("the strategy 'fsdp2' does");
  if (strategy != Strategy::ddp && data().shard.from.empty())
    data().shard = {"parameters, gradients, optimizer", from};
  data().byUnits = strategy != Strategy::ddp;
  bool hasBucket = llvm::any_of(data().options,
                                [](const AdoptedText &option) { return StringRef(option.text).starts_with("bucket"); });
  if (strategy == Strategy::ddp && !hasBucket)
    data().options.push_back({"bucket 25 MiB", "the default of bucket_cap_mb"});
  if (strategy == Strategy::fsdp2 && data().reduceEach.text.empty())
    data().reduceEach = {"reduce last microbatch", "the default of defer_fsdp_grad_sync"};
  takeOverlap();
}

void DistributedReader::read(const YamlEntry &section) {
  std::optional<Strategy> strategy = strategyOf(section);
  if (!strategy)
    return;
  static const std::vector<StringRef> known[] = {
      {"patch_is_packed_sequence", "enable_async_tensor_parallel", "enable_compile", "enable_fsdp2_prefetch",
       "fsdp2_backward_prefetch_depth", "fsdp2_forward_prefetch_depth", "multimodal", "backend", "world_size",
       "use_hf_tp_plan", "_recursive_", "_convert_"},
      {"init_fsdp_with_meta_device", "init_nvfsdp_with_meta_device", "check_for_nan_in_grad",
       "keep_fp8_transpose_cache", "keep_fp8_transpose_cache_when_using_custom_fsdp", "fsdp_double_buffer", "backend",
       "world_size", "use_hf_tp_plan", "_recursive_", "_convert_"},
      {"broadcast_buffers", "find_unused_parameters", "static_graph", "backend", "world_size", "_recursive_",
       "_convert_"}};
  Options options;
  addSizes(options);
  if (*strategy == Strategy::fsdp2)
    addFsdp(options);
  else if (*strategy == Strategy::megatronFsdp)
    addMegatronFsdp(options);
  else
    addDdp(options);
  reader.readMap(section, options, known[static_cast<size_t>(*strategy)], /*isClosed=*/true);
  finishDistributed(section, *strategy);
}

void meshplan::readDistributed(const YamlEntry &section, const ModelOutline &model, const std::string &axes,
                               AdoptedPlan &plan, Diagnostics &diagnostics) {
  DistributedReader(model, axes, plan, diagnostics).read(section);
}
