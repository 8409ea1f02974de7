//===- helpers.h - files and slices for the tests of data -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DATA_HELPERS_H
#define MESHPLAN_TEST_UNIT_DATA_HELPERS_H

#include "runtime/data/tensor_source.h"

#include "test/unit/temporary_directory.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>

namespace meshplan {

inline std::string fixture(const std::string &name) { return std::string(FIXTURES) + "/" + name; }

inline std::string textOf(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file ? std::string(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size()) : "";
}

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  EXPECT_TRUE(file.flush().good()) << path;
}

/// A safetensors file with this header and `dataSize` bytes 0, 1, 2, ...
inline std::string safetensorsText(const std::string &header, size_t dataSize) {
  uint64_t size = header.size();
  std::string text(reinterpret_cast<const char *>(&size), sizeof(size));
  text += header;
  for (size_t i = 0; i < dataSize; ++i)
    text += static_cast<char>(i);
  return text;
}

/// The local tensor; empty, with a test failure, when it cannot be read.
inline std::vector<std::byte> readBytes(const TensorSource &source, const std::string &name, const SliceRanges &ranges,
                                        DType dtype) {
  const StoredTensor *tensor = source.find(name);
  EXPECT_NE(tensor, nullptr) << name;
  if (!tensor)
    return {};
  std::vector<std::byte> bytes(elementCount(sliceShape(ranges)) * dtypeSize(dtype));
  Status status = source.read(*tensor, ranges, dtype, bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  return bytes;
}

inline std::vector<std::byte> readWhole(const TensorSource &source, const std::string &name) {
  const StoredTensor *tensor = source.find(name);
  EXPECT_NE(tensor, nullptr) << name;
  return tensor ? readBytes(source, name, wholeTensor(tensor->shape), tensor->dtype) : std::vector<std::byte>();
}

template <typename T>
std::vector<T> readAs(const TensorSource &source, const std::string &name, const SliceRanges &ranges, DType dtype) {
  std::vector<std::byte> bytes = readBytes(source, name, ranges, dtype);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty())
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Message of the failure to open.
inline std::string openError(const std::string &path) {
  Expected<TensorSource> source = TensorSource::open(path);
  EXPECT_FALSE(source.ok()) << path;
  return source.status().message();
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DATA_HELPERS_H
