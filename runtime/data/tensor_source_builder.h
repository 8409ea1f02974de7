//===- tensor_source_builder.h - filling a TensorSource ---------*- C++ -*-===//
//
// Fills a TensorSource, with one function per kind of file. Private to this room.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_BUILDER_H
#define MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_BUILDER_H

#include "runtime/data/tensor_source.h"

namespace meshplan {

class TensorSourceBuilder {
public:
  explicit TensorSourceBuilder(const std::string &path) { source.sourcePath = path; }

  /// Maps a file, which lives as long as the source.
  Expected<std::span<const std::byte>> map(const std::string &path);

  void setIndex(const std::string &path) { source.indexPath = path; }
  void add(StoredTensor tensor) { source.tensors.insert_or_assign(tensor.name, std::move(tensor)); }
  TensorSource finish() && { return std::move(source); }

private:
  TensorSource source;
};

/// A directory with an index, or with a single file.
Status addDirectory(TensorSourceBuilder &builder, const std::string &directory);

/// The tensors of the files that an index names.
Status addIndex(TensorSourceBuilder &builder, const std::string &index);

/// `bytes` is the mapped archive at `path`.
Status addArchive(TensorSourceBuilder &builder, const std::string &path, std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_TENSOR_SOURCE_BUILDER_H
