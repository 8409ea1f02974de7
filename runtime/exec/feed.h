//===- feed.h - sources of a program's tensors ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_FEED_H
#define MESHPLAN_RUNTIME_EXEC_FEED_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// A tensor that a program needs from outside: a parameter, an input or a state.
struct FeedRequest {
  std::vector<std::string> names; ///< alternatives; any of them may exist
  std::vector<int64_t> shape;     ///< global
  SliceRanges ranges;             ///< the rank's slice
  DType dtype = DType::f32;
  ReaderShare share = {}; ///< this rank's share of checking the tensor
};

/// Provides a rank's slices of named tensors. Implementations are thread safe; the ranks of a process share one.
class Feed {
public:
  virtual ~Feed() = default;

  /// Fills `out` with the rank's row-major tensor.
  virtual Status read(const FeedRequest &request, std::span<std::byte> out) const = 0;

  /// Announces that this will be read soon, so that a feed may prefetch it. Errors are left to `read`.
  virtual void announce(const FeedRequest &) const {}

  /// The file with the tensors; empty if there is none.
  virtual std::string path() const { return ""; }
};

/// Reads tensors from a file. Floats are converted; see TensorSource. If the file has several of the names, their
/// elements must be equal; otherwise `invalid`.
class FileFeed final : public Feed {
public:
  explicit FileFeed(TensorSource source) : source(std::move(source)) {}
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
  void announce(const FeedRequest &request) const override;
  std::string path() const override { return source.path(); }

  /// True if the file has a tensor with this name.
  bool has(std::string_view name) const { return source.find(name); }

  /// Every file that was opened.
  std::vector<std::string> filePaths() const { return source.filePaths(); }

private:
  Status readStored(const StoredTensor &tensor, const FeedRequest &request, std::span<std::byte> out,
                    ReaderShare share) const;
  Status checkSame(const StoredTensor &tensor, const StoredTensor &other, const FeedRequest &request,
                   std::span<const std::byte> bytes) const;

  TensorSource source;
};

/// Synthetic tensors for measurements. An element depends only on the first name and its position in the global tensor,
/// so ranks agree. Floats are uniform in [-0.05, 0.05), integers are 0 or 1 (valid indices into any table with two
/// rows), bools are true.
class RandomFeed final : public Feed {
public:
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_FEED_H
