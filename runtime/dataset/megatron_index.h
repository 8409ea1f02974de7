//===- megatron_index.h - the index of a Megatron data set ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_MEGATRON_INDEX_H
#define MESHPLAN_RUNTIME_DATASET_MEGATRON_INDEX_H

#include "runtime/base/status.h"
#include "runtime/dataset/integers.h"

#include <cstddef>
#include <span>
#include <string>

namespace meshplan {

/// The content of PREFIX.idx, which describes PREFIX.bin: the tokens of all sequences, concatenated.
struct MegatronIndex {
  IntegerType type = IntegerType::i32;
  int64_t sequences = 0;
  int64_t documents = 0; ///< number of document boundaries, the first of which is 0
  int64_t tokens = 0;    ///< of all sequences
};

/// Reads an index in memory. Layout, little-endian: "MMIDIDX\0\0", version 1 (u64), code of the type (u8), number of
/// sequences (u64), number of documents (u64); then the length (i32) of each sequence, the first byte (i64) of each
/// sequence, and the documents as sequence numbers (i64). `corrupted`, with `path`, unless the size matches and the
/// sequences are contiguous; `unsupported` for another version, tokens that are not integers, and sequences with modes
/// (images).
Expected<MegatronIndex> readMegatronIndex(const std::string &path, std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_MEGATRON_INDEX_H
