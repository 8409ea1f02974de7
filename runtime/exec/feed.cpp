//===- feed.cpp - sources of a program's tensors --------------------------===//

#include "runtime/exec/feed.h"

#include "runtime/base/map_faults.h"

#include <algorithm>
#include <cstring>

using namespace meshplan;

Status FileFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  MESHPLAN_ASSIGN_OR_RETURN(const StoredTensor *tensor, source.require(request.names, request.shape));
  MESHPLAN_RETURN_IF_ERROR(readStored(*tensor, request, out, request.share));
  // A tied weight may be stored twice. If the copies differ, either choice would be wrong for half of the model.
  for (const std::string &name : request.names)
    if (const StoredTensor *other = source.find(name); other && other != tensor)
      MESHPLAN_RETURN_IF_ERROR(checkSame(*tensor, *other, request, out));
  return Status();
}

Status FileFeed::readStored(const StoredTensor &tensor, const FeedRequest &request, std::span<std::byte> out,
                            ReaderShare share) const {
  Status status = source.read(tensor, request.ranges, request.dtype, out, share);
  // If the file was truncated, this is the reason of any other failure.
  MESHPLAN_RETURN_IF_ERROR(checkMapFaults());
  return status;
}

void FileFeed::announce(const FeedRequest &request) const {
  if (Expected<const StoredTensor *> tensor = source.require(request.names, request.shape); tensor)
    source.announce(**tensor, request.ranges);
}

/// A model that ties two weights has one tensor for both names, so a file with both must have equal elements.
Status FileFeed::checkSame(const StoredTensor &tensor, const StoredTensor &other, const FeedRequest &request,
                           std::span<const std::byte> bytes) const {
  // Two names of one stored tensor, as in an archive that keeps ties: equal without reading it again.
  if (other.payload == tensor.payload && other.offset == tensor.offset && other.strides == tensor.strides)
    return Status();
  MESHPLAN_RETURN_IF_ERROR(source.require({&other.name, 1}, request.shape).status());
  std::vector<std::byte> own(bytes.size());
  MESHPLAN_RETURN_IF_ERROR(readStored(other, request, own, {}));
  if (std::ranges::equal(own, bytes))
    return Status();
  return Status::error(StatusCode::invalid, source.path(), ": tensors '", tensor.name, "' and '", other.name,
                       "' differ, but the model ties them; help: leave out the one that it does not use");
}

/// The output of the SplitMix64 generator at a position of its sequence.
static uint64_t randomBits(uint64_t seed, uint64_t position) {
  uint64_t bits = seed + (position + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

static uint64_t seedOf(std::string_view name) {
  uint64_t seed = name.size();
  for (unsigned char letter : name)
    seed = randomBits(seed ^ letter, 0);
  return seed;
}

static void writeElement(uint64_t bits, DType dtype, std::byte *out) {
  if (isFloat(dtype)) {
    // 24 bits are the mantissa of f32, so the division is exact and each value is equally likely.
    float value = (static_cast<float>(bits >> 40) / static_cast<float>(1 << 24) - 0.5f) * 0.1f;
    convertFloats(reinterpret_cast<const std::byte *>(&value), DType::f32, out, dtype, 1);
    return;
  }
  // Little-endian: the first byte of an integer is the lowest.
  std::memset(out, 0, dtypeSize(dtype));
  *out = dtype == DType::boolean ? std::byte(1) : std::byte(bits >> 63);
}

Status RandomFeed::read(const FeedRequest &request, std::span<std::byte> out) const {
  uint64_t seed = seedOf(request.names.front());
  int64_t size = dtypeSize(request.dtype);
  return forEachRun(request.ranges, request.shape, contiguousStrides(request.shape),
                    [&](int64_t global, int64_t local, int64_t count) {
                      for (int64_t i = 0; i < count; ++i)
                        writeElement(randomBits(seed, global + i), request.dtype, &out[(local + i) * size]);
                      return Status();
                    });
}
