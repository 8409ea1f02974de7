//===- feed.h - the tensors that a program starts with -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_FEED_H
#define MESHPLAN_RUNTIME_EXEC_FEED_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

/// What a program needs from outside: a parameter or an input.
struct FeedRequest {
  std::vector<std::string> names; ///< any of them
  std::vector<int64_t> shape;     ///< global
  SliceRanges ranges;             ///< the part of the rank
  DType dtype = DType::f32;
  ReaderShare share = {}; ///< of the ranks that read this
};

/// Gives a rank its part of named tensors. Implementations are thread safe: the
/// ranks of a process share one.
class Feed {
public:
  virtual ~Feed() = default;

  /// Fills `out`, the rank's row-major tensor.
  virtual Status read(const FeedRequest &request, std::span<std::byte> out) const = 0;

  /// This is read soon: a feed may fetch it in the meantime. What is wrong with it, `read` reports.
  virtual void announce(const FeedRequest &) const {}

  /// The file that the tensors are of; empty for none.
  virtual std::string path() const { return ""; }
};

/// Tensors of a file. Floating-point types are converted; see TensorSource. A file that has two of the names has the
/// same elements under both: else `invalid`.
class FileFeed final : public Feed {
public:
  explicit FileFeed(TensorSource source) : source(std::move(source)) {}
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
  void announce(const FeedRequest &request) const override;
  std::string path() const override { return source.path(); }

  /// True if the file has a tensor of this name.
  bool has(std::string_view name) const { return source.find(name); }

  /// Every file that was opened.
  std::vector<std::string> filePaths() const { return source.filePaths(); }

private:
  Status checkSame(const StoredTensor &tensor, const StoredTensor &other, const FeedRequest &request,
                   std::span<const std::byte> bytes) const;

  TensorSource source;
};

/// Made-up tensors for measurements. An element depends on the first name and on
/// its place in the global tensor only, so that ranks agree: floating-point ones
/// are uniform in [-0.05, 0.05), integers 0 or 1 (an index into any table with
/// two rows), bools true.
class RandomFeed final : public Feed {
public:
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_FEED_H
