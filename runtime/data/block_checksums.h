//===- block_checksums.h - checksums per block ------------------*- C++ -*-===//
//
// CRC-32 as in zip files and zlib. libisal computes it at memory speed; zlib's combine function extends it over bytes
// that other writers write.
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

/// The CRC-32 of some bytes; `before` is the CRC-32 of the bytes preceding them.
uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before = 0);

/// CRC-32C (Castagnoli).
uint32_t crc32cOf(std::span<const std::byte> bytes);

/// The checksum as eight hexadecimal digits.
std::string checksumText(uint32_t checksum);

/// The CRC-32 of each block of some bytes. The last block may be shorter.
struct BlockChecksums {
  int64_t blockBytes = 0;
  std::vector<uint32_t> values;
};

/// The partial checksums of one writer of `size` bytes. A CRC is linear over xor. So each writer sums its own bytes as
/// if all others were zeros, and the xor of the sums of all writers is the sum of the block, however the bytes are
/// distributed. Each byte must be added exactly once, by one writer.
///
/// Example: rank 0 writes bytes 0-3 and rank 1 bytes 4-7 of a block of 8. With R the linear remainder, rank 0 computes
/// R(b0..b3, 0, 0, 0, 0), rank 1 computes R(0, 0, 0, 0, b4..b7), and their xor is R(b0..b7). checksumOfSum then applies
/// the inversions of CRC-32.
class BlockSums {
public:
  BlockSums(int64_t size, int64_t blockBytes) : size(size), blockBytes(blockBytes) {}

  /// Adds bytes at `offset`. With runs in ascending order, each block is completed once.
  void add(int64_t offset, std::span<const std::byte> bytes);

  /// The sums so far, by block number.
  const std::map<int64_t, uint32_t> &sums();

private:
  int64_t endOf(int64_t block) const { return std::min(size, (block + 1) * blockBytes); }
  void addWithin(int64_t block, int64_t offset, std::span<const std::byte> bytes);
  void close();

  int64_t size, blockBytes;
  std::map<int64_t, uint32_t> closed;
  int64_t open = -1;    // the block that `sum` is for; -1: none
  int64_t position = 0; // after the last byte in the sum
  uint32_t sum = 0;     // remainder, as if the block ended at `position`
  int64_t lastGap = 0;  // runs of a tensor have equal gaps, so the operator is kept
  uint32_t overGap = 0; // the operator for `lastGap` zeros
};

/// The CRC-32 of a block of `size` bytes, from the xor of all writers' sums.
uint32_t checksumOfSum(uint32_t sum, int64_t size);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_BLOCK_CHECKSUMS_H
