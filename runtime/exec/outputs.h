//===- outputs.h - whole tensors from the parts of the ranks -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_OUTPUTS_H
#define MESHPLAN_RUNTIME_EXEC_OUTPUTS_H

#include "runtime/data/safetensors_writer.h"
#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// The outputs of a program as whole tensors, under their names.
std::vector<TensorSpec> outputSpecs(const artifact::Program &program);

/// Writes the parts of all outputs for which this rank is the first holder.
Status writeOutputParts(const RankView &view, std::span<const Tensor> values, const SafetensorsWriter &writer,
                        const std::string &prefix = "");

/// Writes of a rank's part of a value what no rank before it holds; `bytes` are its elements in row-major order.
Status writePart(const RankView &view, int value, const std::string &name, std::span<const std::byte> bytes,
                 const SafetensorsWriter &writer);

/// What a training step changes: parameters, under their first names, and states, as whole tensors.
std::vector<TensorSpec> heldSpecs(const artifact::Program &program);

/// Writes the parts of all of these for which this rank is the first holder; `held` by index into Program.values.
Status writeHeldParts(const RankView &view, std::span<const Tensor> held, const SafetensorsWriter &writer);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_OUTPUTS_H
