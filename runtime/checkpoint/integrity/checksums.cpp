//===- checksums.cpp - the checksums of a checkpoint ----------------------===//
//
// Ranks write parts of one file, and a block may consist of parts of several ranks. Checksums are such that those of
// disjoint parts combine by xor (block_checksums.h): a rank sends an entry for each block that it has written a part
// of, and one rank combines them.
//
// Example: a block of 8 elements, of which rank 0 wrote 0 to 4 and rank 1 wrote 5 to 7. The entries are (file, tensor,
// block, a) and (file, tensor, block, b); the checksum of the block is made of a xor b.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/integrity/checksums.h"

#include "runtime/data/safetensors_header.h"

#include <cstring>

using namespace meshplan;

namespace {
/// The partial checksum of one block of a tensor, or of a header (noTensor), as ranks send it.
struct Entry {
  uint32_t file, tensor, block, sum;
};
constexpr uint32_t noTensor = ~uint32_t(0);
} // namespace

std::string meshplan::sumsText(std::span<FileSums> sums, std::span<const CheckpointFile> files) {
  std::vector<Entry> entries;
  for (uint32_t file = 0; file < files.size(); ++file) {
    entries.push_back({file, noTensor, 0, sums[file].header});
    const std::vector<TensorSpec> &tensors = files[file].tensors;
    for (uint32_t tensor = 0; tensor < tensors.size(); ++tensor)
      if (auto found = sums[file].tensors.find(tensors[tensor].name); found != sums[file].tensors.end())
        for (auto [block, sum] : found->second.sums())
          entries.push_back({file, tensor, static_cast<uint32_t>(block), sum});
  }
  return std::string(reinterpret_cast<const char *>(entries.data()), entries.size() * sizeof(Entry));
}

static std::vector<Entry> entriesOf(const std::string &text) {
  std::vector<Entry> entries(text.size() / sizeof(Entry));
  std::memcpy(entries.data(), text.data(), entries.size() * sizeof(Entry));
  return entries;
}

namespace {
/// The blocks of one tensor. Partial sums of several ranks are combined by xor (block_checksums.h).
struct Blocks {
  int64_t bytes;
  std::vector<uint32_t> sums;

  Blocks(const TensorSpec &spec)
      : bytes(byteCount(spec.shape, spec.dtype).value_or(0)),
        sums((bytes + checksumBlockBytes - 1) / checksumBlockBytes) {}

  std::vector<uint32_t> checksums() && {
    for (size_t block = 0; block < sums.size(); ++block)
      sums[block] = checksumOfSum(
          sums[block], std::min(checksumBlockBytes, bytes - static_cast<int64_t>(block) * checksumBlockBytes));
    return std::move(sums);
  }
};
} // namespace

Expected<CheckpointChecksums> meshplan::combinedSums(std::span<const std::string> texts,
                                                     std::span<const CheckpointFile> files) {
  CheckpointChecksums checksums;
  std::vector<std::vector<Blocks>> blocks;
  for (const CheckpointFile &file : files)
    blocks.emplace_back(file.tensors.begin(), file.tensors.end());
  for (const std::string &text : texts)
    for (const Entry &entry : entriesOf(text)) {
      bool isHeader = entry.file < files.size() && entry.tensor == noTensor;
      if (isHeader)
        // All ranks write the same header, so any of their checksums is that of the file.
        checksums.files[files[entry.file].name].header = entry.sum;
      else if (entry.file < files.size() && entry.tensor < blocks[entry.file].size() &&
               entry.block < blocks[entry.file][entry.tensor].sums.size())
        blocks[entry.file][entry.tensor].sums[entry.block] ^= entry.sum;
      else
        return Status(StatusCode::internal, "the checksums of a rank belong to another checkpoint");
    }
  for (size_t file = 0; file < files.size(); ++file)
    for (size_t tensor = 0; tensor < blocks[file].size(); ++tensor)
      checksums.files[files[file].name].tensors[files[file].tensors[tensor].name] =
          std::move(blocks[file][tensor]).checksums();
  return checksums;
}
