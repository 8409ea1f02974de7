//===- batch.h - the inputs of a step ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_BATCH_H
#define MESHPLAN_RUNTIME_EXEC_BATCH_H

#include "runtime/exec/feed.h"
#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

#include <map>
#include <memory>

namespace meshplan {

/// The rank's slices of the inputs of a step or an evaluation. The walks of its microbatches share them. Belongs to the
/// thread of the rank.
class Batch {
public:
  /// The tensor of an input; undefined before it is loaded.
  const std::shared_ptr<Tensor> &input(const std::string &name);

  /// Reads the rank's slices of the inputs of a program.
  Status load(const RankView &view, const Feed &feed);

  /// Frees all inputs.
  void forget();

private:
  std::map<std::string, std::shared_ptr<Tensor>> inputs;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_BATCH_H
