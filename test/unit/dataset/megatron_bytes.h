//===- megatron_bytes.h - the bytes of an index -----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DATASET_MEGATRON_BYTES_H
#define MESHPLAN_TEST_UNIT_DATASET_MEGATRON_BYTES_H

#include "test/unit/dataset/helpers.h"

namespace meshplan {

/// The content of PREFIX.idx, field by field, as _IndexWriter of Megatron-Core writes it.
struct MegatronBytes {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  uint64_t version = 1;
  uint8_t code = 8; // u16
  std::vector<int32_t> lengths;
  std::vector<int64_t> pointers;
  std::vector<int64_t> documents = {0};
  std::string modes;

  /// Sequences one after the other, each of them a document.
  static MegatronBytes of(std::vector<int32_t> lengths, uint8_t code, int64_t size) {
    MegatronBytes bytes{.code = code};
    int64_t begin = 0;
    for (int32_t length : lengths) {
      bytes.pointers.push_back(begin);
      begin += length * size;
      bytes.documents.push_back(static_cast<int64_t>(bytes.pointers.size()));
    }
    bytes.lengths = std::move(lengths);
    return bytes;
  }

  std::string text() const {
    return magic + bytesOf<uint64_t>({version}) + bytesOf<uint8_t>({code}) + bytesOf<uint64_t>({lengths.size()}) +
           bytesOf<uint64_t>({documents.size()}) + bytesOf(lengths) + bytesOf(pointers) + bytesOf(documents) + modes;
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DATASET_MEGATRON_BYTES_H
