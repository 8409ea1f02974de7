//===- arrange.h - parameters of modules, apart and stacked -----*- C++ -*-===//
//
// A plan that divides the experts of a list of modules has one parameter for those of all modules; other plans have one
// for each. A checkpoint has what its own plan had. Here it gets what the plan that resumes has, before anything else
// looks at it:
//
//   checkpoint                                plan
//   h.experts.w1.weight [4, 48, 16]           h.experts.0.w1.weight [48, 16], h.experts.1.w1.weight, ...
//   h.experts.0.w1.weight [48, 16], ...       h.experts.w1.weight [4, 48, 16]
//
// and so the states of the optimizer, and the steps from which it counts. Which tensors belong together, say the names
// of weight files (WeightPieces), which both plans have. Nothing is read or copied: a rank reads its slices as before.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_ARRANGE_H
#define MESHPLAN_RUNTIME_CHECKPOINT_ARRANGE_H

#include "runtime/checkpoint/record.h"

namespace meshplan {

/// What a checkpoint has.
struct CheckpointTensors {
  CheckpointRecord &record;
  TensorSource &model;
  TensorSource *optimizer; ///< null: its file cannot be read
};

/// Names the tensors of a checkpoint in the folder `path` as the program does. What neither stacks is left as it is.
/// `invalid` if parameters that the program stacks are not alike, or some of them are missing.
Status arrange(const CheckpointTensors &tensors, const std::string &path, const artifact::Program &program);

/// As for weights: makes the parameters of modules of a file that has them stacked, where `wanted` has these.
void divideStacks(TensorSource &weights, std::span<const RecordedParameter> stored,
                  std::span<const RecordedParameter> wanted);

/// `invalid`: the checkpoint does not fit the plan's model.
Status otherModel(const std::string &path, const std::string &why);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_ARRANGE_H
