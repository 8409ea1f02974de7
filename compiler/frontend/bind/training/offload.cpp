//===- offload.cpp - offloading parameters and optimizer states -----------===//
//
// What is offloaded moves between two memories in every step, so it must be used where it is cheap to move: parameters
// are copied shard by shard before they are gathered, and the optimizer runs where its states are. A plan in which the
// option would have no effect, or would move whole parameters, is refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

/// Reads one word; false if the option has no such word.
static bool takeWord(const Context &context, BoundData &data, const Word &word) {
  if (word.text == "gradients") {
    context.diagnostics
        .error(word.range, "'offload gradients' has no effect: gradients are moved to the optimizer's device")
        .help("write 'offload optimizer', or remove 'gradients'");
    return true;
  }
  if (word.text != "parameters" && word.text != "optimizer")
    return false;
  bool &isOffloaded = word.text == "parameters" ? data.offloadParameters : data.offloadOptimizer;
  if (std::exchange(isOffloaded, true))
    context.diagnostics.error(word.range, "'" + word.text + "' is repeated").help("keep one of them");
  return true;
}

OptionRule bind::offloadRule(const Context &context, BoundData &data) {
  auto take = [&](const Option &option) {
    std::optional<std::vector<Word>> words = allWords(option);
    if (!words || words->empty())
      return false;
    data.offloadRange = option.range;
    return llvm::all_of(*words, [&](const Word &word) { return takeWord(context, data, word); });
  };
  return {"offload", "offload parameters, optimizer", take};
}

/// True if the optimizer has a state or a master for a parameter of the block.
static bool keepsAny(const BoundPlan &plan, const BoundData &data) {
  bool hasMaster = plan.precision && !plan.precision->master.empty();
  return llvm::any_of(data.parameters, [&](size_t parameter) {
    return plan.parameterUse[parameter] == ParameterUse::Trained &&
           (hasMaster || keepsState(*plan.optimizer, plan.optimizer->groups[plan.optimizer->groupOf[parameter]]));
  });
}

static void checkParameters(const Context &context, const BoundData &data) {
  if (!data.offloadParameters || llvm::is_contained(data.shard, DataKind::Parameters))
    return;
  context.diagnostics
      .error(data.offloadRange, "'offload parameters' without 'shard parameters': a replicated parameter is read "
                                "where it is, and has to be on the device")
      .help("write 'shard parameters, gradients, optimizer', or " +
            std::string(data.offloadOptimizer ? "'offload optimizer'" : "remove 'offload parameters'"));
}

static void checkOptimizer(const Context &context, const BoundPlan &plan, const BoundData &data) {
  if (!data.offloadOptimizer || !plan.optimizer || keepsAny(plan, data))
    return;
  context.diagnostics
      .error(data.offloadRange, "'offload optimizer' has no effect: '" + optimizerName(plan.optimizer->kind).str() +
                                    "' has no state for the parameters of this block")
      .note(plan.optimizer->range, "the optimizer is here")
      .help(std::string("add 'momentum NUMBER' to the optimizer or 'master DTYPE' to the precision, or ") +
            (data.offloadParameters ? "write 'offload parameters'" : "remove 'offload optimizer'"));
}

/// A contiguous buffer is one allocation on the device, which collectives use in place.
static void checkContiguous(const Context &context, const BoundData &data) {
  bool offloads = data.offloadParameters || data.offloadOptimizer;
  if (!offloads || (!data.contiguousParameters && !data.contiguousGradients))
    return;
  context.diagnostics
      .error(data.offloadRange, "'offload' and 'contiguous' contradict each other: contiguous buffers "
                                "are on the device")
      .help("remove one of them");
}

void bind::checkOffload(const Context &context, const BoundPlan &plan) {
  for (const BoundData &data : plan.data) {
    checkParameters(context, data);
    checkOptimizer(context, plan, data);
    checkContiguous(context, data);
  }
}
