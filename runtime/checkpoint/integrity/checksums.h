//===- checksums.h - the checksums of a checkpoint --------------*- C++ -*-===//
//
// Each block of each tensor has a checksum, and so has the part of a file before the tensors. A rank computes partial
// checksums of the bytes that it writes, while it writes them; rank 0 combines those of all ranks.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_CHECKSUMS_H
#define MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_CHECKSUMS_H

#include "runtime/data/safetensors_writer.h"

namespace meshplan {

/// Size of a block in new checkpoints.
inline constexpr int64_t checksumBlockBytes = 1 << 20;

struct FileChecksums {
  uint32_t header = 0; ///< of all bytes before the tensors
  std::map<std::string, std::vector<uint32_t>, std::less<>> tensors;

  bool operator==(const FileChecksums &) const = default;
};

struct CheckpointChecksums {
  int64_t blockBytes = checksumBlockBytes;
  std::map<std::string, FileChecksums, std::less<>> files; ///< by name

  bool operator==(const CheckpointChecksums &) const = default;
};

/// The tensors of a file.
struct CheckpointFile {
  std::string name;
  std::vector<TensorSpec> tensors;
};

/// Serializes the checksums of what was written, file by file, to be sent to rank 0.
std::string sumsText(std::span<FileSums> sums, std::span<const CheckpointFile> files);

/// Combines the texts of all ranks. `internal` if a text was not made by sumsText for these files.
Expected<CheckpointChecksums> combinedSums(std::span<const std::string> texts, std::span<const CheckpointFile> files);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_CHECKSUMS_H
