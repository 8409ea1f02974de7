//===- collective.cpp - description of one collective ---------------------===//

#include "runtime/comm/collective.h"

#include "runtime/schema/extent.h"

#include <algorithm>
#include <numeric>

namespace meshplan {

namespace {

Piece pieceOf(std::span<const int64_t> counts, int64_t index) {
  return {std::accumulate(counts.begin(), counts.begin() + index, int64_t(0)), counts[index]};
}

Status checkCounts(std::span<const int64_t> counts, std::string_view what, int64_t groupSize) {
  if (static_cast<int64_t>(counts.size()) != groupSize)
    return Status::error(StatusCode::invalid, counts.size(), " ", what, " counts for a group of ", groupSize, " ranks");
  for (int64_t count : counts)
    if (count < 0)
      return Status::error(StatusCode::invalid, what, " count ", count, " is negative");
  return Status();
}

int64_t sum(std::span<const int64_t> counts) { return std::accumulate(counts.begin(), counts.end(), int64_t(0)); }

bool sendsCounts(CollectiveKind kind) {
  return kind == CollectiveKind::reduceScatter || kind == CollectiveKind::allToAll || kind == CollectiveKind::permute;
}

bool receivesCounts(CollectiveKind kind) {
  return kind == CollectiveKind::allGather || kind == CollectiveKind::allToAll || kind == CollectiveKind::permute;
}

/// The number of elements of the input and of the output of one rank.
std::pair<int64_t, int64_t> bufferSizes(const Collective &collective, int64_t index) {
  switch (collective.kind) {
  case CollectiveKind::allGather:
    return {collective.receiveCounts[index], sum(collective.receiveCounts)};
  case CollectiveKind::reduceScatter:
    return {sum(collective.sendCounts), collective.sendCounts[index]};
  case CollectiveKind::allToAll:
  case CollectiveKind::permute:
    return {sum(collective.sendCounts), sum(collective.receiveCounts)};
  case CollectiveKind::send:
    return {collective.count, 0};
  case CollectiveKind::receive:
    return {0, collective.count};
  default:
    return {collective.count, collective.count};
  }
}

bool isReduction(CollectiveKind kind) {
  return kind == CollectiveKind::allReduce || kind == CollectiveKind::reduceScatter;
}

} // namespace

std::string_view collectiveName(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::allReduce:
    return "all-reduce";
  case CollectiveKind::allGather:
    return "all-gather";
  case CollectiveKind::reduceScatter:
    return "reduce-scatter";
  case CollectiveKind::allToAll:
    return "all-to-all";
  case CollectiveKind::permute:
    return "permute";
  case CollectiveKind::broadcast:
    return "broadcast";
  case CollectiveKind::barrier:
    return "barrier";
  case CollectiveKind::send:
    return "send";
  case CollectiveKind::receive:
    return "receive";
  }
  return "unknown collective";
}

std::string describe(const Collective &collective, std::string_view group) {
  std::ostringstream text;
  text << collectiveName(collective.kind);
  if (collective.label.sequence >= 0)
    text << ' ' << collective.label.sequence;
  text << " on '" << group << '\'';
  if (!collective.label.origin.empty())
    text << " (" << collective.label.origin << ')';
  return text.str();
}

Status checkCollective(const Collective &collective, int64_t groupSize, int64_t index) {
  if (sendsCounts(collective.kind))
    MESHPLAN_RETURN_IF_ERROR(checkCounts(collective.sendCounts, "send", groupSize));
  if (receivesCounts(collective.kind))
    MESHPLAN_RETURN_IF_ERROR(checkCounts(collective.receiveCounts, "receive", groupSize));
  if (collective.count < 0)
    return Status::error(StatusCode::invalid, "count ", collective.count, " is negative");
  // Peers are indices into the list of ranks; one outside of the group would be read beyond its end.
  bool hasPeer = collective.kind == CollectiveKind::broadcast || collective.kind == CollectiveKind::send ||
                 collective.kind == CollectiveKind::receive;
  if (hasPeer && (collective.peer < 0 || collective.peer >= groupSize))
    return Status::error(StatusCode::invalid, "peer ", collective.peer, " in a group of ", groupSize, " ranks");
  if (hasPeer && collective.kind != CollectiveKind::broadcast && collective.peer == index)
    return Status::error(StatusCode::invalid, "rank ", index, " of the group is its own peer");
  if (isReduction(collective.kind) && collective.dtype == DType::boolean && collective.reduction == Reduction::sum)
    return Status::error(StatusCode::invalid, "bool values cannot be summed");
  // A missing buffer is allowed for an empty piece: ranks without elements have no tensor memory.
  auto [input, output] = bufferSizes(collective, index);
  if ((input > 0 && !collective.input) || (output > 0 && !collective.output))
    return Status::error(StatusCode::invalid, "no buffer for ", std::max(input, output), " elements");
  return Status();
}

Participants participantsOf(const Collective &collective, int64_t groupSize, int64_t index) {
  if (collective.kind == CollectiveKind::send)
    // Sender first in both cases, so that the two ranks compute the same key.
    return {{index, collective.peer}, {index, collective.peer}, 0};
  if (collective.kind == CollectiveKind::receive)
    return {{collective.peer, index}, {collective.peer, index}, 1};
  std::vector<int64_t> all(groupSize);
  std::iota(all.begin(), all.end(), int64_t(0));
  // No rank is -1, so collectives of the whole group never collide with a pair.
  return {{-1, -1}, std::move(all), index};
}

Piece sentPiece(const Collective &collective, int64_t groupSize, int64_t index, int64_t to) {
  switch (collective.kind) {
  case CollectiveKind::allReduce: {
    // An all-reduce is a reduce-scatter and an all-gather, so each rank reduces one even share of the buffer.
    Range range = shardRange(collective.count, 1, groupSize, to);
    return {range.offset, range.size};
  }
  case CollectiveKind::allGather:
    // Every rank gets the same whole input.
    return {0, collective.receiveCounts[index]};
  case CollectiveKind::broadcast:
    return {0, index == collective.peer ? collective.count : 0};
  case CollectiveKind::send:
    return {0, to == collective.peer ? collective.count : 0};
  case CollectiveKind::receive:
  case CollectiveKind::barrier:
    return {};
  default:
    return pieceOf(collective.sendCounts, to);
  }
}

Piece receivedPiece(const Collective &collective, int64_t index, int64_t from) {
  switch (collective.kind) {
  case CollectiveKind::broadcast:
  case CollectiveKind::receive:
    return {0, from == collective.peer ? collective.count : 0};
  case CollectiveKind::send:
  case CollectiveKind::barrier:
    return {};
  default:
    return pieceOf(collective.receiveCounts, from);
  }
}

} // namespace meshplan
