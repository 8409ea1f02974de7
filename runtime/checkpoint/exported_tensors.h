//===- exported_tensors.h - the tensors of an export ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_EXPORTED_TENSORS_H
#define MESHPLAN_RUNTIME_CHECKPOINT_EXPORTED_TENSORS_H

#include "runtime/checkpoint/export.h"
#include "runtime/checkpoint/record.h"

namespace meshplan {

/// A tensor to be written. Refers to a record that must outlive it.
struct Exported {
  std::string name;
  const RecordedParameter *parameter;
  DType dtype;
  std::optional<WeightPiece> piece = {}; ///< the part of the parameter that it is; none: all of it

  const std::vector<int64_t> &shape() const { return piece ? piece->stored : parameter->shape; }
  int64_t bytes() const { return elementCount(shape()) * dtypeSize(dtype); }
  TensorSpec spec() const { return {name, dtype, shape()}; }

  /// The elements of the parameter.
  SliceRanges ranges() const;
};

/// A file of the export.
struct ExportedFile {
  std::string name;
  std::vector<Exported> tensors;
};

/// The tensors that `options` ask for, in the order of the model: all of them, under their names in weight files, or
/// the adapters under PEFT's names. `notes` gets the trained parameters that are left out. `invalid`, with a way out,
/// if adapters are asked for and there are none, or the reverse.
Expected<std::vector<Exported>> exportedTensors(const CheckpointRecord &record, const ExportOptions &options,
                                                std::vector<std::string> &notes);

/// The dtype of all float tensors; nullopt if they have several, or there are none.
std::optional<DType> commonFloat(std::span<const Exported> tensors);

/// Distributes the tensors, in order, to files no larger than `options` allow, with at least one tensor each. Adapters
/// are in one file.
std::vector<ExportedFile> dividedIntoFiles(std::span<const Exported> tensors, const ExportOptions &options);

/// The text of model.safetensors.index.json.
std::string indexOf(std::span<const ExportedFile> files);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_EXPORTED_TENSORS_H
