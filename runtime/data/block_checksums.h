//===- block_checksums.h - checksums of bytes, block by block ----*- C++ -*-===//
//
// CRC-32 as zip files and zlib have it: libisal computes it at the speed of the
// memory, and zlib moves one over bytes that others write.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_BLOCK_CHECKSUMS_H
#define MESHPLAN_RUNTIME_DATA_BLOCK_CHECKSUMS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// The CRC-32 of some bytes; `before` is that of the bytes in front of them.
uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before = 0);

/// CRC-32C (Castagnoli).
uint32_t crc32cOf(std::span<const std::byte> bytes);

/// Eight hexadecimal digits.
std::string checksumText(uint32_t checksum);

/// The CRC-32 of each block of some bytes, of which the last may be shorter.
struct BlockChecksums {
  int64_t blockBytes = 0;
  std::vector<uint32_t> values;
};

/// What one writer adds to the checksums of `size` bytes. A CRC is linear: each writer sums up its own bytes as if the
/// others were zeros, and the sums of all writers, combined by exclusive or, are that of the block, whoever has written
/// which of its bytes. Each byte is added once, by one writer.
class BlockSums {
public:
  BlockSums(int64_t size, int64_t blockBytes) : size(size), blockBytes(blockBytes) {}

  /// Bytes that stand at `offset`. Of runs in ascending order a block is completed once.
  void add(int64_t offset, std::span<const std::byte> bytes);

  /// The sums so far, by number of the block.
  const std::map<int64_t, uint32_t> &sums();

private:
  int64_t endOf(int64_t block) const { return std::min(size, (block + 1) * blockBytes); }
  void addWithin(int64_t block, int64_t offset, std::span<const std::byte> bytes);
  void close();

  int64_t size, blockBytes;
  std::map<int64_t, uint32_t> closed;
  int64_t open = -1;    // block whose sum so far is `sum`
  int64_t position = 0; // behind the last byte of the sum
  uint32_t sum = 0;     // as if the block ended there
  int64_t lastGap = 0;  // runs of a tensor are as far apart as the runs before
  uint32_t overGap = 0; // what moves a sum over it
};

/// The CRC-32 of a block of `size` bytes from the sums of all writers, combined.
uint32_t checksumOfSum(uint32_t sum, int64_t size);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_BLOCK_CHECKSUMS_H
