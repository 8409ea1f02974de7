//===- safetensors_writer.h - one file written by many ranks ----*- C++ -*-===//
//
// Writes one file from many ranks. The layout of the file follows from the list of tensors alone, so ranks write their
// shards of the same file without communication: all through one writer, or each process through an attached one.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_SAFETENSORS_WRITER_H
#define MESHPLAN_RUNTIME_DATA_SAFETENSORS_WRITER_H

#include "runtime/base/dtype.h"
#include "runtime/base/file.h"
#include "runtime/data/block_checksums.h"
#include "runtime/data/slice.h"

#include <map>

namespace meshplan {

struct TensorSpec {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< global
};

/// The partial checksums of one writer, for a file that several write.
struct FileSums {
  int64_t blockBytes;
  uint32_t header = 0; ///< the checksum of all bytes before the tensors
  std::map<std::string, BlockSums, std::less<>> tensors = {};
};

/// The metadata says "format": "pt", which libraries that load weights expect.
///
/// The file appears under its name when commit succeeds, after all ranks have written. Without a commit nothing
/// remains. Move only.
class SafetensorsWriter {
public:
  /// Creates the file and writes the header. invalid: a name occurs twice, or a shape overflows; io: the path cannot be
  /// written.
  static Expected<SafetensorsWriter> create(const AtomicFile::Names &names, std::span<const TensorSpec> tensors);
  static Expected<SafetensorsWriter> create(const std::string &path, std::span<const TensorSpec> tensors);

  /// Writes to a file that another process creates as `temporary`, with the same tensors; see AtomicFile::attach.
  static Expected<SafetensorsWriter> attach(const std::string &path, const std::string &temporary,
                                            std::span<const TensorSpec> tensors);

  /// Writes to a file of a folder that appears as a whole; see AtomicFile::join. End with `flush`, not `commit`.
  /// `sums`, which must outlive the writer, collects its partial checksums; then only one thread may write.
  static Expected<SafetensorsWriter> join(const std::string &path, std::span<const TensorSpec> tensors,
                                          FileSums *sums = nullptr);

  const std::string &temporaryPath() const { return file.temporaryPath(); }

  /// Writes the rank's row-major local tensor, or only its intersection with the slice `only`. Thread safe. Ranks with
  /// the same elements may all write them.
  Status write(const std::string &name, const SliceRanges &ranges, std::span<const std::byte> local,
               const SliceRanges *only = nullptr) const;

  /// For an attached writer: makes its data durable before the creator commits.
  Status flush() const { return file.flush(); }

  /// Call once, on the writer that created the file, after all ranks have written.
  Status commit() { return file.commit(); }

private:
  struct Slot {
    TensorSpec spec;
    int64_t offset = 0; // first byte in the file
  };

  /// The layout, which follows from the list of tensors.
  struct Layout {
    std::string header; // all bytes before the tensors
    std::map<std::string, Slot> slots;
    int64_t size = 0; // size of the file
  };
  static Expected<Layout> layoutOf(const std::string &path, std::span<const TensorSpec> tensors);

  static Expected<SafetensorsWriter> begin(AtomicFile file, Layout layout);

  SafetensorsWriter(AtomicFile file, std::map<std::string, Slot> slots)
      : file(std::move(file)), slots(std::move(slots)) {}

  Status writeRun(const Slot &slot, int64_t offset, std::span<const std::byte> bytes) const;

  AtomicFile file;
  std::map<std::string, Slot> slots;
  FileSums *sums = nullptr;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_SAFETENSORS_WRITER_H
