//===- step.h - one prepared instruction ------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_STEP_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

#include <memory>

namespace meshplan {

/// A prepared instruction of one rank: operators, arguments and shapes are looked up. Belongs to the thread of its
/// rank.
class Step {
public:
  virtual ~Step() = default;

  /// The following runs belong to this microbatch, counted from 0.
  virtual Status begin(int64_t /*microbatch*/) { return Status(); }

  /// `values` are the rank's tensors, by index into Program.values. A failure names the rank and the origin of the
  /// instruction.
  virtual Status run(std::span<Tensor> values) = 0;

  /// Bytes copied since preparation to pack tensors before a collective and to unpack them afterwards.
  virtual int64_t packedBytes() const { return 0; }

  /// Seconds since preparation that the host has waited for other ranks in this step.
  virtual double waitedSeconds() const { return 0; }

  /// For the wait of a collective, when its bytes moved in the last run, as far as the backend knows.
  virtual std::optional<MoveInterval> moved() const { return std::nullopt; }

  /// "aten.mm.default", "wait all-reduce 3": the name in messages.
  virtual std::string name() const = 0;
};

/// A step that calls an operator and checks that its results have the shapes and dtypes of the schedule. `instruction`
/// is a Compute; the artifact must outlive the step.
Expected<std::unique_ptr<Step>> prepareCompute(const RankView &view, const artifact::Instruction &instruction);

/// Makes a view of the input, or a copy where sliceIsCopied (packing.h). `instruction` is a Slice.
Expected<std::unique_ptr<Step>> prepareSlice(const RankView &view, const artifact::Instruction &instruction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_STEP_H
