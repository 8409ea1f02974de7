//===- outputs.h - writing whole tensors from shards ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_OUTPUTS_H
#define MESHPLAN_RUNTIME_EXEC_OUTPUTS_H

#include "runtime/data/safetensors_writer.h"
#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// The specs of a program's outputs as whole tensors.
std::vector<TensorSpec> outputSpecs(const artifact::Program &program);

/// Writes the shards of all outputs of which this rank is the first holder.
Status writeOutputParts(const RankView &view, std::span<const Tensor> values, const SafetensorsWriter &writer,
                        const std::string &prefix = "");

/// Writes the part of a rank's shard that no lower shard holds, so that blocks shared by two shards are written once;
/// `bytes` are the shard's elements in row-major order.
Status writePart(const RankView &view, int value, const std::string &name, std::span<const std::byte> bytes,
                 const SafetensorsWriter &writer);

/// What a training step updates, as whole tensors: parameters, under their first names, and states.
std::vector<TensorSpec> heldSpecs(const artifact::Program &program);

/// Writes the shards of all of these of which this rank is the first holder; `held` by index into Program.values.
Status writeHeldParts(const RankView &view, std::span<const Tensor> held, const SafetensorsWriter &writer);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_OUTPUTS_H
