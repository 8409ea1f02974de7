//===- step.h - one prepared instruction -------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_STEP_H

#include "runtime/tensor/tensor.h"

namespace meshplan {

/// An instruction of one rank with everything looked up. Belongs to the thread
/// of its rank.
class Step {
public:
  virtual ~Step() = default;

  /// What runs next belongs to this microbatch, counted from 0.
  virtual Status begin(int64_t /*microbatch*/) { return Status(); }

  /// `values` are the rank's tensors, by index into Program.values. A failure
  /// names the rank and says where the instruction comes from.
  virtual Status run(std::span<Tensor> values) = 0;

  /// Bytes that it has copied to put tensors into one piece before they are moved, and to take them apart behind, since
  /// it was prepared.
  virtual int64_t packedBytes() const { return 0; }

  /// Seconds that the host has waited for other ranks in it, since it was prepared.
  virtual double waitedSeconds() const { return 0; }

  /// "aten.mm.default", "wait all-reduce 3": for traces.
  virtual std::string name() const = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_STEP_H
