//===- checksums.h - the checksums of a checkpoint ---------------*- C++ -*-===//
//
// Of each block of each tensor and of what stands in front of the tensors of a file. A rank sums up what it writes
// while it writes it; rank 0 combines the sums of all ranks.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_CHECKSUMS_H
#define MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_CHECKSUMS_H

#include "runtime/data/safetensors_writer.h"

namespace meshplan {

/// Bytes of the blocks of new checkpoints.
inline constexpr int64_t checksumBlockBytes = 1 << 20;

struct FileChecksums {
  uint32_t header = 0; ///< of all bytes in front of the tensors
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

/// For the way to rank 0: what a rank has written, file by file.
std::string sumsText(std::span<FileSums> sums, std::span<const CheckpointFile> files);

/// Of the sums of all ranks. `internal` for a text that sumsText has not made.
Expected<CheckpointChecksums> combinedSums(std::span<const std::string> texts, std::span<const CheckpointFile> files);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_CHECKSUMS_H
