//===- shared_output.h - one file written by all ranks ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_SHARED_OUTPUT_H
#define MESHPLAN_RUNTIME_EXEC_SHARED_OUTPUT_H

#include "runtime/comm/communicator.h"
#include "runtime/data/safetensors_writer.h"

namespace meshplan {

/// A rank's writer of a safetensors file that appears when all ranks have written; otherwise nothing remains. Ranks may
/// be threads or processes; processes share the file system. open and commit are collectives of all ranks.
class SharedOutput {
public:
  /// Rank 0 creates the file, the others open it. Fails as SafetensorsWriter does.
  static Expected<SharedOutput> open(World &world, const std::string &path, std::span<const TensorSpec> tensors);

  const SafetensorsWriter &writer() const { return file; }

  /// The file appears under its name. Destroy the object only after this, or when the run has failed.
  Status commit();

private:
  SharedOutput(std::unique_ptr<Group> group, SafetensorsWriter file) : group(std::move(group)), file(std::move(file)) {}

  std::unique_ptr<Group> group;
  SafetensorsWriter file;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_SHARED_OUTPUT_H
