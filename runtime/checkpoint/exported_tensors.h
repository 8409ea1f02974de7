//===- exported_tensors.h - what an export writes, and where -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_EXPORTED_TENSORS_H
#define MESHPLAN_RUNTIME_CHECKPOINT_EXPORTED_TENSORS_H

#include "runtime/checkpoint/export.h"
#include "runtime/checkpoint/record.h"

namespace meshplan {

/// A tensor that is written. The record that it is of must outlive it.
struct Exported {
  std::string name;
  const RecordedParameter *parameter;
  DType dtype;

  int64_t bytes() const { return elementCount(parameter->shape) * dtypeSize(dtype); }
  TensorSpec spec() const { return {name, dtype, parameter->shape}; }
};

/// What is written under one name.
struct ExportedFile {
  std::string name;
  std::vector<Exported> tensors;
};

/// The tensors that `options` ask for, in the order of the model: all, or the adapters under PEFT's names. `notes` gets
/// what is left out although it is trained. `invalid`, with the way out, where adapters are asked for and there are
/// none, or the other way round.
Expected<std::vector<Exported>> exportedTensors(const CheckpointRecord &record, const ExportOptions &options,
                                                std::vector<std::string> &notes);

/// The one type of all floats; nothing if there are several, or none.
std::optional<DType> commonFloat(std::span<const Exported> tensors);

/// The tensors in order, as many in one file as `options` let it have, and at least one; adapters in one file.
std::vector<ExportedFile> dividedIntoFiles(std::span<const Exported> tensors, const ExportOptions &options);

/// The text of model.safetensors.index.json.
std::string indexOf(std::span<const ExportedFile> files);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_EXPORTED_TENSORS_H
