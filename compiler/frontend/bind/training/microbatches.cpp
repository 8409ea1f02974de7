//===- microbatches.cpp - splitting the batch into microbatches ------------===//

#include "compiler/frontend/bind/training/training.h"
#include "runtime/schema/program_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// Number of ranks over which a dim is split.
int64_t shardsOf(const Context &context, const BoundDim &dim) { return context.environment.mesh.shardsOf(dim.axes); }

/// The `batch` dims of the inputs; those split over most ranks come first.
std::vector<const BoundDim *> findBatches(const Context &context, const BoundPlan &plan) {
  std::vector<const BoundDim *> batches;
  for (const BoundInput &input : plan.inputs)
    for (const BoundDim &dim : input.dims)
      if (dim.name == program_names::batchDim)
        batches.push_back(&dim);
  llvm::stable_sort(batches, [&](const BoundDim *left, const BoundDim *right) {
    return shardsOf(context, *left) > shardsOf(context, *right);
  });
  return batches;
}

/// The divisor of `number` above 1 that is nearest to `start` in the given direction; the search is bounded.
std::optional<int64_t> nearestDivisor(int64_t number, int64_t start, int64_t direction) {
  constexpr int64_t mostSteps = 100000;
  int64_t divisor = direction < 0 ? std::min(start - 1, number) : start < number ? start + 1 : 0;
  for (int64_t step = 0; step < mostSteps && divisor > 1 && divisor <= number; divisor += direction, ++step)
    if (number % divisor == 0)
      return divisor;
  return std::nullopt;
}

/// `'microbatches 2' or 'microbatches 4'`, or one of them.
std::string countsText(std::optional<int64_t> below, std::optional<int64_t> above) {
  std::string result;
  for (std::optional<int64_t> count : {below, above})
    if (count)
      result += (result.empty() ? "'microbatches " : " or 'microbatches ") + std::to_string(*count) + "'";
  return result;
}

/// Suggests the nearest numbers of microbatches that divide the samples evenly.
std::string countHelp(int64_t own, bool isOfRank, int64_t count) {
  if (own == 1)
    return "remove the statement: there is one sample" + std::string(isOfRank ? " for each rank" : "");
  std::string counts = countsText(nearestDivisor(own, count, -1), nearestDivisor(own, count, 1));
  std::string whose = "the " + std::to_string(own) + " samples" + (isOfRank ? " of each rank" : "");
  return counts.empty() ? "write a number that divides " + whose
                        : "write " + counts + ": " + whose + " have to divide evenly";
}

/// Suggests the nearest batch sizes that give all ranks the same number of samples.
std::string batchHelp(int64_t samples, uint64_t needed, const std::string &remove = "remove the statement") {
  std::string batches;
  if (needed <= static_cast<uint64_t>(samples))
    batches = std::to_string(static_cast<uint64_t>(samples) / needed * needed);
  if (needed <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max() - samples))
    batches += (batches.empty() ? "" : " or ") + std::to_string((static_cast<uint64_t>(samples) / needed + 1) * needed);
  return remove + (batches.empty() ? "" : ", or use a batch of " + batches);
}

/// " over dp = 2": what divides a batch besides microbatches; empty if nothing does.
std::string dividedText(const Context &context, const BoundDim &batch) {
  if (batch.axes.empty())
    return "";
  return " over " + axesText(context, batch.axes) + " = " + std::to_string(shardsOf(context, batch));
}

/// Checks that all microbatches have the same size, so that one program runs them all.
bool divides(const Context &context, const BoundDim &batch, int64_t count, SourceRange range) {
  int64_t shards = shardsOf(context, batch);
  uint64_t needed = llvm::SaturatingMultiply<uint64_t>(count, shards);
  // An extent of 0 is unknown and has been reported.
  if (batch.extent <= 0 || static_cast<uint64_t>(batch.extent) % needed == 0)
    return true;
  context.diagnostics
      .error(range, "the batch has " + std::to_string(batch.extent) + " samples, and " + std::to_string(count) +
                        " microbatches" + dividedText(context, batch) + " need a multiple of " + std::to_string(needed))
      .note(batch.range, "the batch is here")
      .help(batch.extent % shards == 0 ? countHelp(batch.extent / shards, shards > 1, count)
                                       : batchHelp(batch.extent, needed));
  return false;
}

} // namespace

void bind::countMicrobatches(const Context &context, BoundPlan &plan) {
  for (const MicrobatchesStatement &statement : context.syntax.microbatches) {
    std::optional<int64_t> count = evaluate(statement.count, context.environment, context.diagnostics);
    if (!count)
      continue;
    if (*count < 1)
      context.diagnostics
          .error(statement.count.range, "there is at least one microbatch, and this is " + std::to_string(*count))
          .help("write the number of microbatches that a batch is split into, or leave the statement away");
    else
      plan.microbatches = {*count, statement.mean, statement.range};
  }
}

/// A loss that the plan averages over the batch cannot also be averaged over microbatches.
static void checkLossUnit(const Context &context, const BoundPlan &plan) {
  if (!plan.loss || plan.loss->unit == LossUnit::Model)
    return;
  context.diagnostics
      .error(plan.microbatches.range, "'mean' is the mean of the losses of microbatches, and the loss is " +
                                          lossUnitMeaning(plan.loss->unit).str())
      .note(plan.loss->range, "the loss is defined here")
      .help("leave 'mean' or 'per " + lossUnitName(plan.loss->unit).str() + "' out");
}

/// Checks that the samples of one call of the model are along one dim.
static void checkBatchDims(const Context &context, const BoundPlan &plan) {
  for (const BoundInput &input : plan.inputs) {
    auto isBatch = [](const BoundDim &dim) { return dim.name == program_names::batchDim; };
    if (llvm::count_if(input.dims, isBatch) > 1)
      context.diagnostics
          .error(input.range, "input '" + context.model.inputs[input.input].name +
                                  "' has two dims 'batch', and 'mean' splits microbatches along one")
          .note(plan.microbatches.range, "the statement is here")
          .help("leave out 'mean', or give one of the dims another name");
  }
}

void bind::checkMicrobatches(const Context &context, const BoundPlan &plan) {
  // No statement, or one whose number has been reported.
  if (!plan.microbatches.range.hasLine())
    return;
  const MicrobatchesStatement &statement = context.syntax.microbatches.back();
  if (context.syntax.losses.empty())
    context.diagnostics.error(statement.range, "microbatches are for training, and the plan has no loss")
        .help(lossHelp(context));
  if (plan.microbatches.count < 2)
    return;
  std::vector<const BoundDim *> batches = findBatches(context, plan);
  if (batches.empty())
    context.diagnostics.error(statement.range, "microbatches split the dim 'batch', and no input has a dim 'batch'")
        .help("name it: 'input NAME: [batch, ...]'");
  if (plan.microbatches.mean) {
    checkLossUnit(context, plan);
    checkBatchDims(context, plan);
    return;
  }
  // Stops at the first error: the dim that is split over most ranks comes first and needs the largest multiple, and
  // inputs of one batch would repeat it.
  (void)llvm::all_of(batches, [&](const BoundDim *batch) {
    return divides(context, *batch, plan.microbatches.count, statement.count.range);
  });
}

void bind::checkHalves(const Context &context, const BoundPlan &plan) {
  if (!plan.halves)
    return;
  const BoundMicrobatches &microbatches = plan.microbatches;
  if (microbatches.mean) {
    context.diagnostics.error(*plan.halves, "'halves' divides microbatches, and with 'mean' the model reads each whole")
        .note(microbatches.range, "the microbatches are here")
        .help("leave out 'mean', or remove 'halves'");
    return;
  }
  std::vector<const BoundDim *> batches = findBatches(context, plan);
  if (batches.empty())
    context.diagnostics.error(*plan.halves, "halves are of the dim 'batch', and no input has a dim 'batch'")
        .help("name it: 'input NAME: [batch, ...]'");
  for (const BoundDim *batch : batches) {
    uint64_t needed = llvm::SaturatingMultiply<uint64_t>(2 * microbatches.count, shardsOf(context, *batch));
    if (batch->extent <= 0 || static_cast<uint64_t>(batch->extent) % needed == 0)
      continue;
    std::string whose = microbatches.count == 1 ? "" : " of " + std::to_string(microbatches.count) + " microbatches";
    context.diagnostics
        .error(*plan.halves, "the batch has " + std::to_string(batch->extent) + " samples, and halves" + whose +
                                 dividedText(context, *batch) + " need a multiple of " + std::to_string(needed))
        .note(batch->range, "the batch is here")
        .help(batchHelp(batch->extent, needed, "remove 'halves'"));
    return;
  }
}
