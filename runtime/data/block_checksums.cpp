//===- block_checksums.cpp - checksums per block --------------------------===//

#include "runtime/data/block_checksums.h"

#include "runtime/base/format.h"

#include <climits>
#include <isa-l/crc.h>
#include <zlib.h>

namespace meshplan {

uint32_t crc32Of(std::span<const std::byte> bytes, uint32_t before) {
  return crc32_gzip_refl(before, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
}

uint32_t crc32cOf(std::span<const std::byte> bytes) {
  // ISA-L counts bytes in an int. It takes and returns the remainder, without the inversions at begin and end.
  uint32_t remainder = ~uint32_t(0);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<size_t>(bytes.size(), INT_MAX)))
    remainder = crc32_iscsi(reinterpret_cast<unsigned char *>(const_cast<std::byte *>(bytes.data())),
                            static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX)), remainder);
  return ~remainder;
}

std::string checksumText(uint32_t checksum) { return fmt::format("{:08x}", checksum); }

/// The raw remainder of the CRC, without the inversions at begin and end. It is linear, and leading zeros do not change
/// it.
static uint32_t remainderOf(std::span<const std::byte> bytes, uint32_t before) { return ~crc32Of(bytes, ~before); }

/// The operator that appends this many zero bytes to a remainder (see `moved`).
static uint32_t movingOver(int64_t zeros) { return static_cast<uint32_t>(crc32_combine_gen(zeros)); }
static uint32_t moved(uint32_t remainder, uint32_t over) {
  return static_cast<uint32_t>(crc32_combine_op(remainder, 0, over));
}

/// CRC-32 begins with the remainder ~0 and inverts the end. By linearity the part of the beginning can be added last:
/// it is what ~0 becomes over `size` bytes of zeros.
uint32_t checksumOfSum(uint32_t sum, int64_t size) { return sum ^ ~moved(~uint32_t(0), movingOver(size)); }

void BlockSums::close() {
  if (open >= 0)
    closed[open] ^= moved(sum, movingOver(endOf(open) - position));
  open = -1;
}

// A block is summed as if all bytes of other writers were zeros: a gap and the rest of the block append zeros.
void BlockSums::addWithin(int64_t block, int64_t offset, std::span<const std::byte> bytes) {
  if (block != open || offset < position) {
    close();
    open = block;
    position = offset;
    sum = 0;
  }
  // The operator for a gap is kept, because the runs of a strided shard have equal gaps.
  if (int64_t gap = offset - position; gap > 0) {
    if (gap != lastGap)
      overGap = movingOver(lastGap = gap);
    sum = moved(sum, overGap);
  }
  sum = remainderOf(bytes, sum);
  position = offset + static_cast<int64_t>(bytes.size());
  if (position == endOf(block))
    close();
}

void BlockSums::add(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    int64_t block = offset / blockBytes;
    size_t count = std::min<size_t>(bytes.size(), endOf(block) - offset);
    addWithin(block, offset, bytes.first(count));
    offset += static_cast<int64_t>(count);
    bytes = bytes.subspan(count);
  }
}

const std::map<int64_t, uint32_t> &BlockSums::sums() {
  close();
  return closed;
}

} // namespace meshplan
