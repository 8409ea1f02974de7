//===- megatron_index.h - the index of a Megatron data set -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_MEGATRON_INDEX_H
#define MESHPLAN_RUNTIME_DATASET_MEGATRON_INDEX_H

#include "runtime/base/status.h"
#include "runtime/dataset/integers.h"

#include <cstddef>
#include <span>
#include <string>

namespace meshplan {

/// What PREFIX.idx says of PREFIX.bin, in which the tokens of all sequences stand one after the other.
struct MegatronIndex {
  IntegerType type = IntegerType::i32;
  int64_t sequences = 0;
  int64_t documents = 0; ///< ends of documents, the first of which is 0
  int64_t tokens = 0;    ///< of all sequences
};

/// Reads an index in memory: "MMIDIDX\0\0", version 1 (u64), code of the type (u8), sequences (u64), documents (u64),
/// then the length (i32) and the first byte (i64) of each sequence, and the documents as sequences (i64). All of them
/// little-endian. `corrupted`, with `path`, unless the file has that size and sequence follows sequence; `unsupported`
/// for another version, tokens that are no integers, and sequences with modes (images).
Expected<MegatronIndex> readMegatronIndex(const std::string &path, std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_MEGATRON_INDEX_H
