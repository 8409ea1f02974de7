//===- microbatches.cpp - the batch in pieces ------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// Ranks over which a dim is divided.
int64_t shardsOf(const Context &context, const BoundDim &dim) {
  int64_t shards = 1;
  for (size_t axis : dim.axes)
    shards *= context.environment.mesh.axes[axis].size;
  return shards;
}

/// The dim `batch` that is divided most; null where no input has one.
const BoundDim *findBatch(const Context &context, const BoundPlan &plan) {
  const BoundDim *batch = nullptr;
  for (const BoundInput &input : plan.inputs)
    for (const BoundDim &dim : input.dims)
      if (dim.name == "batch" && (batch == nullptr || shardsOf(context, dim) > shardsOf(context, *batch)))
        batch = &dim;
  return batch;
}

/// Samples are dealt one by one, so that they need not divide; but each rank has one at least in each microbatch.
void checkSamples(const Context &context, const BoundDim &batch, int64_t count, SourceRange range) {
  int64_t shards = shardsOf(context, batch);
  int64_t most = batch.extent / shards;
  // An extent of 0 is unknown, and reported.
  if (batch.extent == 0 || count <= most)
    return;
  uint64_t needed = llvm::SaturatingMultiply<uint64_t>(count, shards);
  std::string over;
  if (!batch.axes.empty())
    over = " over " + axesText(context, batch.axes) + " = " + std::to_string(shards);
  context.diagnostics
      .error(range, "the batch has " + std::to_string(batch.extent) + " samples, and " + std::to_string(count) +
                        " microbatches" + over + " need " + std::to_string(needed))
      .note(batch.range, "the batch is here")
      .help(most > 1 ? "there can be at most " + std::to_string(most) + " microbatches" : "remove the statement");
}

} // namespace

void bind::bindMicrobatches(const Context &context, BoundPlan &plan) {
  for (const MicrobatchesStatement &statement : context.syntax.microbatches) {
    std::optional<int64_t> count = evaluate(statement.count, context.environment, context.diagnostics);
    if (!count)
      continue;
    if (*count < 1)
      context.diagnostics
          .error(statement.count.range, "there is at least one microbatch, and this is " + std::to_string(*count))
          .help("write the number of microbatches that a batch is split into, or leave the statement away");
    plan.microbatches = {*count, statement.mean, statement.range};
    if (*count < 2)
      continue;
    if (context.syntax.losses.empty())
      context.diagnostics.error(statement.range, "microbatches are for training, and the plan has no loss")
          .help(lossHelp(context));
    if (const BoundDim *batch = findBatch(context, plan))
      checkSamples(context, *batch, *count, statement.count.range);
    else
      context.diagnostics.error(statement.range, "microbatches split the dim 'batch', and no input has a dim 'batch'")
          .help("name it: 'input NAME: [batch, ...]'");
  }
}
