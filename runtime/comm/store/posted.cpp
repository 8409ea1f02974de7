//===- posted.cpp - a rank's part of a collective in the store ------------===//

#include "runtime/comm/store/posted.h"

#include "runtime/comm/reduce.h"
#include "runtime/comm/wire.h"

#include <numeric>

using namespace meshplan;

static int64_t sum(std::span<const int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

/// Size of the part of the input that other ranks need.
static int64_t payloadSize(const Collective &collective, int64_t index) {
  int64_t count = 0;
  switch (collective.kind) {
  case CollectiveKind::allReduce:
  case CollectiveKind::send:
    count = collective.count;
    break;
  case CollectiveKind::allGather:
    count = collective.receiveCounts[index];
    break;
  case CollectiveKind::reduceScatter:
  case CollectiveKind::allToAll:
  case CollectiveKind::permute:
    count = sum(collective.sendCounts);
    break;
  case CollectiveKind::broadcast:
    count = index == collective.peer ? collective.count : 0;
    break;
  case CollectiveKind::receive:
  case CollectiveKind::barrier:
    break;
  }
  return count * dtypeSize(collective.dtype);
}

static std::string chunkKey(const std::string &key, int64_t chunk) { return key + "/" + std::to_string(chunk); }

static std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

static constexpr int64_t chunkSize = KeyValueStore::largestValue;

static int64_t chunkCount(int64_t size) { return (size + chunkSize - 1) / chunkSize; }

Status meshplan::post(KeyValueStore &store, const std::string &key, const Collective &collective, int64_t index) {
  int64_t size = payloadSize(collective, index);
  auto *input = static_cast<const std::byte *>(collective.input);
  // The head is set last: its key means that all chunks exist.
  for (int64_t chunk = 0; chunk < chunkCount(size); ++chunk) {
    int64_t begin = chunk * chunkSize, count = std::min(chunkSize, size - begin);
    MESHPLAN_RETURN_IF_ERROR(
        store.set(chunkKey(key, chunk), textOf(std::span(input + begin, static_cast<size_t>(count)))));
  }
  WireWriter writer;
  writer.put(size);
  writer.putCollective(collective);
  return store.set(key, textOf(writer.take()));
}

Expected<Posted> meshplan::readPosted(KeyValueStore &store, const std::string &key) {
  // The content comes from another process, so lengths are checked before they are used.
  MESHPLAN_ASSIGN_OR_RETURN(std::string head, store.get(key));
  WireReader reader(std::as_bytes(std::span(head)));
  auto size = reader.take<int64_t>();
  Posted posted{reader.takeCollective(), {}};
  if (!reader.complete() || size < 0)
    return Status(StatusCode::corrupted, "the store holds data of another version of the runtime");
  for (int64_t chunk = 0; chunk < chunkCount(size); ++chunk) {
    MESHPLAN_ASSIGN_OR_RETURN(std::string text, store.get(chunkKey(key, chunk)));
    auto bytes = std::as_bytes(std::span(text));
    posted.payload.insert(posted.payload.end(), bytes.begin(), bytes.end());
  }
  if (static_cast<int64_t>(posted.payload.size()) != size)
    return Status(StatusCode::corrupted, "the store holds less than was posted");
  // The posted pointer would be one of the other process.
  posted.collective.input = posted.payload.data();
  return posted;
}

Status meshplan::removePosted(KeyValueStore &store, const std::string &key, const Posted &posted) {
  for (int64_t chunk = 0; chunk < chunkCount(static_cast<int64_t>(posted.payload.size())); ++chunk)
    MESHPLAN_RETURN_IF_ERROR(store.remove(chunkKey(key, chunk)));
  // In any order: every rank has read the part.
  return store.remove(key);
}

/// A reduce-scatter has all inputs here too: every rank reads all that was posted, and reduces only its own piece.
static void reduce(const Collective &own, Piece piece, std::span<const Posted> parts) {
  std::vector<const void *> inputs;
  for (const Posted &part : parts)
    // In group order, as in all backends: every rank computes the same bits itself.
    inputs.push_back(part.payload.data() + piece.offset * dtypeSize(own.dtype));
  if (piece.count > 0)
    reduceInOrder(inputs, {&own.output, 1}, piece.count, own.dtype, own.reduction);
}

void meshplan::takeOutput(const Collective &own, int64_t ownIndex, std::span<const Posted> parts,
                          std::span<const int64_t> indices) {
  auto size = static_cast<int64_t>(parts.size());
  if (own.kind == CollectiveKind::allReduce)
    return reduce(own, {0, own.count}, parts);
  if (own.kind == CollectiveKind::reduceScatter)
    return reduce(own, sentPiece(own, size, ownIndex, ownIndex), parts);
  int64_t elementSize = dtypeSize(own.dtype);
  for (size_t i = 0; i < parts.size(); ++i) {
    Piece target = receivedPiece(own, ownIndex, indices[i]);
    Piece source = sentPiece(parts[i].collective, size, indices[i], ownIndex);
    if (target.count > 0)
      std::memcpy(static_cast<std::byte *>(own.output) + target.offset * elementSize,
                  parts[i].payload.data() + source.offset * elementSize,
                  static_cast<size_t>(target.count * elementSize));
  }
}
