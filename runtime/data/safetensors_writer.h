//===- safetensors_writer.h - one file written by many ranks -----*- C++ -*-===//
//
// The layout of the file follows from the list of tensors alone, so ranks write
// their slices of the same file without talking to each other: all with one
// writer, or each process with one that is attached.
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

/// What one writer adds to the checksums of a file that several write.
struct FileSums {
  int64_t blockBytes;
  uint32_t header = 0; ///< the checksum of all bytes in front of the tensors
  std::map<std::string, BlockSums, std::less<>> tensors = {};
};

/// The file says that it is PyTorch's ("format": "pt"), as libraries that load weights want it.
///
/// The file appears under its name when commit succeeds, after all ranks have
/// written; without it nothing stays behind. Move only.
class SafetensorsWriter {
public:
  /// Writes the header. invalid: a name twice, or a shape that overflows; io:
  /// the path cannot be written.
  static Expected<SafetensorsWriter> create(const AtomicFile::Names &names, std::span<const TensorSpec> tensors);
  static Expected<SafetensorsWriter> create(const std::string &path, std::span<const TensorSpec> tensors);

  /// Writes into the file that another process creates, with the same tensors, as `temporary`; see AtomicFile::attach.
  static Expected<SafetensorsWriter> attach(const std::string &path, const std::string &temporary,
                                            std::span<const TensorSpec> tensors);

  /// Writes into a file of a folder that is made as a whole: see AtomicFile::join. Call `flush` at the end, not
  /// `commit`. `sums`, which must outlive it, gets what this writer writes; one thread writes then.
  static Expected<SafetensorsWriter> join(const std::string &path, std::span<const TensorSpec> tensors,
                                          FileSums *sums = nullptr);

  const std::string &temporaryPath() const { return file.temporaryPath(); }

  /// Writes the rank's row-major local tensor, or of it what is in the slice `only`. Thread safe. Ranks that hold the
  /// same elements may all write them.
  Status write(const std::string &name, const SliceRanges &ranges, std::span<const std::byte> local,
               const SliceRanges *only = nullptr) const;

  /// For an attached writer: what it has written is there when the creator commits.
  Status flush() const { return file.flush(); }

  /// Call once, on the writer that created the file, when no rank writes any more.
  Status commit() { return file.commit(); }

private:
  struct Place {
    TensorSpec spec;
    int64_t offset = 0; // first byte in the file
  };

  /// What the list of tensors alone decides.
  struct Layout {
    std::string header; // the first bytes of the file
    std::map<std::string, Place> places;
    int64_t size = 0; // of the file
  };
  static Expected<Layout> layoutOf(const std::string &path, std::span<const TensorSpec> tensors);

  static Expected<SafetensorsWriter> begin(AtomicFile file, Layout layout);

  SafetensorsWriter(AtomicFile file, std::map<std::string, Place> places)
      : file(std::move(file)), places(std::move(places)) {}

  Status writeRun(const Place &place, int64_t offset, std::span<const std::byte> bytes) const;

  AtomicFile file;
  std::map<std::string, Place> places;
  FileSums *sums = nullptr;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_SAFETENSORS_WRITER_H
