//===- helpers.h - data sets for the tests of dataset -----------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DATASET_HELPERS_H
#define MESHPLAN_TEST_UNIT_DATASET_HELPERS_H

#include "runtime/dataset/sample_source.h"

#include "test/unit/temporary_directory.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <numeric>

namespace meshplan {

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  EXPECT_TRUE(file.flush().good()) << path;
}

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

/// begin, begin + 1, ...
template <typename T> std::vector<T> counting(size_t count, T begin = 0) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

struct TensorText {
  std::string name, dtype, shape; ///< "F32", "[2, 3]"
  std::string bytes;
};

inline void writeSafetensors(const std::string &path, const std::vector<TensorText> &tensors) {
  std::string header = "{", data;
  for (const TensorText &tensor : tensors) {
    header += (header.size() > 1 ? ", \"" : "\"") + tensor.name + R"(": {"dtype": ")" + tensor.dtype +
              R"(", "shape": )" + tensor.shape + R"(, "data_offsets": [)" + std::to_string(data.size()) + ", ";
    data += tensor.bytes;
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  writeText(path, bytesOf<uint64_t>({header.size()}) + header + data);
}

/// `samples` rows of `length` tokens; row r starts with begin + r * length.
inline TensorText tokenRows(const std::string &name, int64_t samples, int64_t length, int64_t begin = 0) {
  return {name, "I64", "[" + std::to_string(samples) + ", " + std::to_string(length) + "]",
          bytesOf(counting<int64_t>(samples * length, begin))};
}

/// A slice of one sample; empty, with a test failure, if it cannot be read.
template <typename T>
std::vector<T> readSlice(const SampleSource &source, int64_t sample, size_t field, const SliceRanges &ranges) {
  std::vector<T> values(elementCount(sliceShape(ranges)));
  Status status = source.read(sample, field, ranges, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? values : std::vector<T>();
}

/// A sample of one dim.
template <typename T = int64_t>
std::vector<T> readSample(const SampleSource &source, int64_t sample, size_t field, int64_t length) {
  return readSlice<T>(source, sample, field, {{{0, length}}});
}

/// The message of a failure.
template <typename T> std::string errorOf(const Expected<T> &result) {
  EXPECT_FALSE(result.ok());
  return result.status().message();
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DATASET_HELPERS_H
