//===- checked_copy.cpp - reading with checksums --------------------------===//
//
// Reading and checking at once: a block is compared by a single reader, while its bytes are in the cache for the copy.
// Which reader, follows from a hash of the tensor's name and the number of the block, without communication. The hash
// draws an element of the block, and one of the ranks that hold this element, by its number among them.
//
// Example: mesh dp=2, tp=3, and rows over tp. Of block 1 an element in row 40 is drawn, and number 0 of its 2 holders.
// Rank (0, 1) reads row 40 and is number 0, so it compares all of block 1, of which it copies only a part; rank (1, 1)
// reads the same rows and leaves it out.
//
// A block that a reader copies completely is compared chunk by chunk with the copy. One that it copies in part is
// compared when its runs have moved past it, or at the end.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/checked_copy.h"

#include "runtime/base/hash.h"

#include <algorithm>
#include <cstring>

namespace meshplan {

namespace {

/// A chunk of this size stays in the cache between its copy and its checksum.
constexpr int64_t copiedBytes = 256 << 10;

/// The blocks of a tensor's payload, and which of them this reader still has to compare.
class BlockCheck {
public:
  BlockCheck(const StoredTensor &tensor, std::span<const std::byte> payload)
      : tensor(tensor), payload(payload), blockBytes(tensor.checksums->blockBytes) {
    if (elementCount(tensor.shape) > 0)
      isCompared.resize(tensor.checksums->values.size());
  }

  /// Distributes the comparison. Among all readers of the tensor, whatever their slices, exactly one compares a block:
  /// the reader of one element of the block, which a hash chooses.
  void leaveToOthers(const SliceRanges &ranges, ReaderShare share) {
    for (size_t block = 0; block < isCompared.size(); ++block)
      isCompared[block] = !isOwn(static_cast<int64_t>(block), ranges, share);
  }

  /// Calls `copy(begin, size)` for consecutive parts of a run of the payload, and compares the blocks that lie in it.
  template <typename Copy> Status visit(Range run, const Copy &copy) {
    // Short runs share blocks, so a block is compared once, when the runs have moved past it.
    if (run.size < std::min(blockBytes, static_cast<int64_t>(payload.size()))) {
      MESHPLAN_RETURN_IF_ERROR(compareBefore(run.offset));
      copy(run.offset, run.size);
      return Status();
    }
    for (int64_t begin = run.offset, end = run.offset + run.size, next; begin < end; begin = next) {
      size_t block = begin / blockBytes;
      Range bytes = rangeOf(block);
      next = std::min(end, bytes.offset + bytes.size);
      bool isInRun = begin == bytes.offset && next == bytes.offset + bytes.size;
      if (isInRun && block < isCompared.size() && !isCompared[block])
        MESHPLAN_RETURN_IF_ERROR(compare(block, copy));
      else
        copy(begin, next - begin);
    }
    return Status();
  }

  /// Compares the remaining blocks.
  Status finish() { return compareBefore(static_cast<int64_t>(isCompared.size()) * blockBytes); }

private:
  /// Compares the blocks before `offset`. With short runs in ascending order, the last of these blocks has just been
  /// read and is in the cache.
  Status compareBefore(int64_t offset) {
    for (size_t last = offset / blockBytes; passed < std::min(last, isCompared.size()); ++passed)
      if (!isCompared[passed])
        MESHPLAN_RETURN_IF_ERROR(compare(passed, [](int64_t, int64_t) {}));
    return Status();
  }

  Range rangeOf(int64_t block) const {
    int64_t begin = block * blockBytes;
    return {begin, std::min(blockBytes, static_cast<int64_t>(payload.size()) - begin)};
  }

  bool isOwn(int64_t block, const SliceRanges &ranges, ReaderShare share) const;

  template <typename Copy> Status compare(size_t block, const Copy &copy);

  const StoredTensor &tensor;
  std::span<const std::byte> payload;
  int64_t blockBytes;
  std::vector<bool> isCompared; // or is left to another reader
  size_t passed = 0;            // all blocks before this one are done
};

bool BlockCheck::isOwn(int64_t block, const SliceRanges &ranges, ReaderShare share) const {
  // A hash of the tensor's name and the block, so that all readers agree on it without communication. It chooses an
  // element of the block, and not only a rank: a rank without an element of the block would have to read all of it for
  // the comparison alone.
  uint64_t draw = hashBytes(std::as_bytes(std::span(tensor.name)), static_cast<uint64_t>(block));
  if (static_cast<int64_t>(draw % share.count) != share.index)
    return false;
  Range bytes = rangeOf(block);
  int64_t byte = bytes.offset + static_cast<int64_t>((draw >> 16) % bytes.size);
  // An entry of an archive may have more elements than the tensor, hence the second remainder.
  std::vector<int64_t> position = positionOf(byte / dtypeSize(tensor.dtype) % elementCount(tensor.shape), tensor.shape);
  auto isRead = [](const std::vector<Range> &list, int64_t index) {
    return std::ranges::any_of(
        list, [&](const Range &range) { return index >= range.offset && index < range.offset + range.size; });
  };
  return std::ranges::equal(ranges, position, isRead);
}

template <typename Copy> Status BlockCheck::compare(size_t block, const Copy &copy) {
  isCompared[block] = true;
  auto [begin, size] = rangeOf(static_cast<int64_t>(block));
  uint32_t found = 0, written = tensor.checksums->values[block];
  // In chunks that fit in the cache: the checksum then reads the bytes that the copy has just loaded.
  for (int64_t done = 0; done < size; done += copiedBytes) {
    int64_t count = std::min(copiedBytes, size - done);
    copy(begin + done, count);
    found = crc32Of(payload.subspan(begin + done, count), found);
  }
  if (found == written)
    return Status();
  return Status::error(StatusCode::corrupted, "damaged: bytes ", begin, " to ", begin + size - 1, " have the checksum ",
                       checksumText(found), ", written were bytes with ", checksumText(written));
}

} // namespace

Status copyChecked(const StoredTensor &tensor, std::span<const std::byte> payload, const SliceRanges &ranges,
                   ReaderShare share, std::byte *out, DType to) {
  BlockCheck check(tensor, payload);
  check.leaveToOthers(ranges, share);
  int64_t size = dtypeSize(tensor.dtype);
  auto copyRun = [&](int64_t global, int64_t local, int64_t count) {
    int64_t first = (tensor.offset + global) * size;
    return check.visit({first, count * size}, [&](int64_t begin, int64_t bytes) {
      std::byte *target = out + (local + (begin - first) / size) * dtypeSize(to);
      if (tensor.dtype == to)
        std::memcpy(target, payload.data() + begin, static_cast<size_t>(bytes));
      else
        convertFloats(payload.data() + begin, tensor.dtype, target, to, bytes / size);
    });
  };
  MESHPLAN_RETURN_IF_ERROR(forEachRun(ranges, tensor.shape, tensor.strides, copyRun));
  return check.finish();
}

Status checkBlocks(const StoredTensor &tensor, std::span<const std::byte> payload) {
  return tensor.checksums ? BlockCheck(tensor, payload).finish() : Status();
}

} // namespace meshplan
