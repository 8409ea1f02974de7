//===- storage_order.cpp - order of parameters in a storage ---------------===//

#include "compiler/transforms/group/storage_order.h"
#include "compiler/transforms/group/data_collectives.h"
#include "dialect/plan/programs.h"

using namespace mlir;
using namespace meshplan;

StorageOrder::StorageOrder(ModuleOp module) {
  // The step alone defines the order, because only it has a backward pass; other programs share its storages.
  auto step = plan::programOf(module, base::ProgramRole::step);
  if (!step)
    return;
  llvm::DenseSet<BlockArgument> isReadAgain;
  for (const DataCollective &collective : findDataCollectives(step))
    if (collective.traffic == DataTraffic::gatherBackward)
      isReadAgain.insert(collective.parameter);
  auto add = [&](bool again) {
    for (BlockArgument argument : step.getArguments())
      if (plan::isWeight(argument) && isReadAgain.contains(argument) == again)
        positions.try_emplace(plan::parameterName(argument), positions.size());
  };
  add(true);
  add(false);
}

int64_t StorageOrder::positionOf(BlockArgument parameter) const {
  auto found = positions.find(plan::parameterName(parameter));
  return found == positions.end() ? static_cast<int64_t>(positions.size() + parameter.getArgNumber()) : found->second;
}
