//===- tensor_source.h - tensors by name from files --------------*- C++ -*-===//
//
// Weights and inputs: a safetensors file, a directory of them with an index, or
// the weights inside of a torch.export archive. Files are mapped, so reading a
// slice touches only the pages of that slice.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_H
#define MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_H

#include "runtime/base/dtype.h"
#include "runtime/base/file.h"
#include "runtime/data/block_checksums.h"
#include "runtime/data/slice.h"

#include <map>

namespace meshplan {

/// Bytes of a stored tensor, which may have to be unpacked first. Thread safe.
class Payload {
public:
  virtual ~Payload() = default;
  virtual Expected<std::span<const std::byte>> bytes() = 0;

  /// The same where they lie in a file as they are; else empty.
  virtual std::span<const std::byte> mapped() const { return {}; }
};

/// Bytes that are in a map or a buffer that lives longer.
std::shared_ptr<Payload> plainPayload(std::span<const std::byte> bytes);

struct StoredTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements of the payload
  int64_t offset = 0;           ///< first element in the payload
  std::shared_ptr<Payload> payload;
  std::string foreignType = {}; ///< what the file calls a type that is no DType, and `dtype` does not hold; else empty
  std::shared_ptr<const BlockChecksums> checksums = {}; ///< of the payload; null: nobody has recorded any
};

/// Of `count` readers of the same part of a tensor this one is number `place`. The readers of a tensor share the work
/// of comparing its checksums.
struct ReaderShare {
  int64_t place = 0, count = 1;
};

/// Move only. Thread safe after opening: the ranks of a process share one.
class TensorSource {
public:
  /// `path` is a safetensors file, an index of several (*.safetensors.index.json), a .pt2 archive, or a directory with
  /// model.safetensors.index.json or model.safetensors.
  static Expected<TensorSource> open(const std::string &path);

  const std::string &path() const { return sourcePath; }

  /// Every file that was opened.
  std::vector<std::string> filePaths() const;

  /// Null when there is none.
  const StoredTensor *find(std::string_view name) const;

  /// The tensor with the first of these names that exists (the names of a tied
  /// weight). notFound, with the nearest names, when there is none; invalid when
  /// its shape is not `shape`.
  Expected<const StoredTensor *> require(std::span<const std::string> names, std::span<const int64_t> shape) const;

  /// Sorted.
  std::vector<std::string> names() const;

  /// Copies a slice into `out`, the row-major local tensor of `dtype`, whose size
  /// must be exact. Floating-point types are converted, rounding to nearest even;
  /// any other change of dtype is `invalid`. The whole is never copied.
  ///
  /// Where the tensor has checksums, those blocks are compared of which this reader reads a certain element: when all
  /// elements have been read, by whatever readers, each block has been compared by one of them. `corrupted` where one
  /// differs.
  Status read(const StoredTensor &tensor, const SliceRanges &ranges, DType dtype, std::span<std::byte> out,
              ReaderShare share = {}) const;

  /// Compares all checksums of the tensor.
  Status check(const StoredTensor &tensor) const;

  /// Gives a tensor the checksums that somebody has recorded of its payload. `corrupted` where there is no such tensor,
  /// or they are of another number of blocks.
  Status setChecksums(std::string_view name, BlockChecksums checksums);

  /// Tells the system that this slice is read soon. What is wrong with it, `read` reports.
  void announce(const StoredTensor &tensor, const SliceRanges &ranges) const;

private:
  friend class TensorSourceBuilder;
  TensorSource() = default;

  std::string sourcePath;
  std::string indexPath; ///< of a directory with an index
  std::vector<MappedFile> files;
  std::map<std::string, StoredTensor, std::less<>> tensors;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_H
