//===- batch.cpp - the inputs of a step -----------------------------------===//

#include "runtime/exec/batch.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/exec/load.h"

using namespace meshplan;

const std::shared_ptr<Tensor> &Batch::input(const std::string &name) {
  std::shared_ptr<Tensor> &tensor = inputs[name];
  if (!tensor)
    tensor = std::make_shared<Tensor>();
  return tensor;
}

Status Batch::load(const RankView &view, const Feed &feed) {
  // The old batch is freed first: the plan's memory estimate has room for one batch.
  forget();
  for (const artifact::Port &each : elementsOf(view.program().inputs())) {
    std::string name = each.name()->str();
    MESHPLAN_ASSIGN_OR_RETURN(*input(name), loadValue(feed, view, each.value(), {name}));
  }
  return Status();
}

void Batch::forget() {
  for (auto &[name, tensor] : inputs)
    *tensor = Tensor();
}
