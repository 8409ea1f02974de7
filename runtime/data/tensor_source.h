//===- tensor_source.h - tensors by name from files -------------*- C++ -*-===//
//
// Weights and inputs by name, from a safetensors file, a directory of them with an index, or the weights in a
// torch.export archive. Files are mapped, so reading a slice touches only the pages of that slice.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_H
#define MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_H

#include "runtime/base/dtype.h"
#include "runtime/base/file.h"
#include "runtime/data/block_checksums.h"
#include "runtime/data/slice.h"
#include "runtime/schema/weight_pieces.h"

#include <map>

namespace meshplan {

/// The bytes of a stored tensor, which may have to be unpacked first. Thread safe.
class Payload {
public:
  virtual ~Payload() = default;
  virtual Expected<std::span<const std::byte>> bytes() = 0;

  /// The bytes as they lie in the mapped file; empty if they are packed.
  virtual std::span<const std::byte> mapped() const { return {}; }
};

/// A payload in a map or a buffer that outlives it.
std::shared_ptr<Payload> plainPayload(std::span<const std::byte> bytes);

struct StoredPiece;

struct StoredTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements of the payload
  int64_t offset = 0;           ///< first element in the payload
  std::shared_ptr<Payload> payload;
  std::string foreignType = {}; ///< name of a dtype that is not a DType, `dtype` is then not valid; else empty
  std::shared_ptr<const BlockChecksums> checksums = {}; ///< of the payload; null: none are recorded
  /// The tensors that it is made of, if it is not stored itself (TensorSource::assemble); its payload is empty then.
  std::shared_ptr<const std::vector<StoredPiece>> pieces = {};
  /// The tensor that it is a part of, from `begin` on, if it is not stored itself (TensorSource::divide); its payload
  /// is empty then. It may lack the first dim of that tensor.
  std::shared_ptr<const StoredTensor> whole = {};
  std::vector<int64_t> begin = {};
};

/// A stored tensor that has the elements of another one, `shape` from `begin`. It may lack the first dim, of extent 1.
struct StoredPiece {
  StoredTensor tensor;
  std::vector<int64_t> begin, shape;
};

/// This reader is number `index` of `count` readers of the same part of a tensor. Together they compare its checksums
/// once.
struct ReaderShare {
  int64_t index = 0, count = 1;
};

/// Move only. Thread safe after opening; the ranks of a process share one.
class TensorSource {
public:
  /// `path` is a safetensors file, an index of several (*.safetensors.index.json), a .pt2 archive, or a directory with
  /// model.safetensors.index.json or model.safetensors.
  static Expected<TensorSource> open(const std::string &path);

  const std::string &path() const { return sourcePath; }

  /// Every file that was opened.
  std::vector<std::string> filePaths() const;

  /// Makes the tensor with the first of `names` of those that the pieces name, which are not tensors of their own from
  /// then on. Does nothing if the file has one of the names. If a piece is missing, or has another shape or dtype than
  /// required, `require` fails with the reason. Precondition: no piecesFault.
  void assemble(std::span<const std::string> names, const WeightPieces &pieces, std::span<const int64_t> shape);

  /// As above, for pieces that the file has: the tensor `name`.
  void assemble(const std::string &name, std::span<const WeightPiece> pieces, std::span<const int64_t> shape);

  /// The reverse: makes the tensors that the pieces name of the tensor `name`, which is not one of its own from then
  /// on. Does nothing if the file has no such tensor. Precondition: they are pieces of a tensor of its shape.
  void divide(const std::string &name, std::span<const WeightPiece> pieces);

  /// Null if there is no such tensor.
  const StoredTensor *find(std::string_view name) const;

  /// The first of `names` (those of a tied weight) that exists. notFound, with the nearest names, if none does; invalid
  /// if its shape is not `shape`.
  Expected<const StoredTensor *> require(std::span<const std::string> names, std::span<const int64_t> shape) const;

  /// All names, sorted.
  std::vector<std::string> names() const;

  /// Copies a slice into `out`, the row-major local tensor of `dtype`; the size of `out` must be exact. Floats are
  /// converted, rounding to nearest even; any other change of dtype is `invalid`. Never copies the whole tensor.
  ///
  /// If the tensor has checksums, this compares the blocks of which this reader reads a chosen element. So when all
  /// elements have been read, by whatever readers, each block has been compared exactly once. `corrupted` if one
  /// differs.
  Status read(const StoredTensor &tensor, const SliceRanges &ranges, DType dtype, std::span<std::byte> out,
              ReaderShare share = {}) const;

  /// Compares all checksums of the tensor.
  Status check(const StoredTensor &tensor) const;

  /// Attaches recorded checksums to a tensor. `corrupted` if there is no such tensor, or it has another number of
  /// blocks.
  Status setChecksums(std::string_view name, BlockChecksums checksums);

  /// Tells the system that this slice will be read soon. Errors are left to `read`.
  void announce(const StoredTensor &tensor, const SliceRanges &ranges) const;

private:
  friend class TensorSourceBuilder;
  TensorSource() = default;

  std::string sourcePath;
  std::string indexPath; ///< path of the index, if there is one
  std::vector<MappedFile> files;
  /// `areModules`: the pieces are the parameters of a list of modules.
  Expected<StoredTensor> assembled(const std::string &name, std::span<const WeightPiece> pieces,
                                   std::span<const int64_t> shape, bool areModules) const;
  void makeOf(std::span<const std::string> wanted, std::span<const WeightPiece> pieces, Expected<StoredTensor> made);
  Status partsNotFound(const std::string &name, std::span<const WeightPiece> pieces, bool areModules) const;
  Status readPieces(const StoredTensor &tensor, const SliceRanges &ranges, DType dtype, std::span<std::byte> out,
                    ReaderShare share) const;
  Status notFound(std::span<const std::string> wanted, const std::string &purpose) const;

  std::map<std::string, StoredTensor, std::less<>> tensors;
  std::map<std::string, Status, std::less<>> unassembled; ///< by name: why it cannot be made of its pieces
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_H
