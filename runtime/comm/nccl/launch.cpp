//===- launch.cpp - a collective as NCCL calls ----------------------------===//
//
// The calls of NCCL for each kind. NCCL's own all-gather and reduce-scatter need equal counts, and shards may differ by
// a block.
//
//   all-reduce                        ncclAllReduce
//   all-gather, equal counts          ncclAllGather
//   all-gather, other counts          a broadcast of each piece by its owner
//   reduce-scatter, equal counts      ncclReduceScatter
//   reduce-scatter, other counts      a reduction of each piece to its owner
//   all-to-all, permute               a send and a receive for each peer
//   broadcast, send, receive          the call of that name
//
// Example: 7 elements over 3 ranks are pieces of 3, 2 and 2. The gather is three broadcasts in one NCCL group: roots 0,
// 1 and 2, of 3, 2 and 2 elements. Empty pieces have no call on any rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/nccl/launch.h"

#include <algorithm>
#include <functional>

using namespace meshplan;

namespace {

/// NCCL's type for the elements, and the number of NCCL elements per element.
struct Elements {
  ncclDataType_t type;
  size_t factor = 1;
};

Elements elementsOf(DType dtype) {
  switch (dtype) {
  case DType::f32:
    return {ncclFloat32};
  case DType::f64:
    return {ncclFloat64};
  case DType::f16:
    return {ncclFloat16};
  case DType::bf16:
    return {ncclBfloat16};
  case DType::i64:
    return {ncclInt64};
  case DType::i32:
    return {ncclInt32};
  case DType::i8:
    return {ncclInt8};
  case DType::u8:
  case DType::boolean: // values are 0 and 1, so max is `or`
    return {ncclUint8};
  default: // moved as bytes, never reduced
    return {ncclUint8, static_cast<size_t>(dtypeSize(dtype))};
  }
}

ncclRedOp_t operationOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::max:
    return ncclMax;
  case Reduction::min:
    return ncclMin;
  default:
    return ncclSum;
  }
}

/// Makes the calls of one collective on one rank.
class Calls {
public:
  Calls(const LaunchTarget &target, const Collective &collective)
      : target(target), api(target.api), collective(collective), elements(elementsOf(collective.dtype)) {}

  void enqueue();
  ncclResult_t result() const { return first; }

private:
  void allReduce();
  void allGather();
  void reduceScatter();
  void exchange();
  void send(int64_t to);
  void receive(int64_t from);

  /// Keeps the first failure. The group must be ended in any case, so the remaining calls are still made.
  void note(ncclResult_t code) {
    // In a non-blocking group every call may report that it is in progress; the end of the group tells the outcome.
    if (first == ncclSuccess && code != ncclInProgress)
      first = code;
  }
  const void *input(Piece piece) const {
    return static_cast<const std::byte *>(collective.input) + piece.offset * dtypeSize(collective.dtype);
  }
  void *output(Piece piece) const {
    return static_cast<std::byte *>(collective.output) + piece.offset * dtypeSize(collective.dtype);
  }
  size_t count(int64_t count) const { return static_cast<size_t>(count) * elements.factor; }
  Piece sent(int64_t to) const { return sentPiece(collective, target.size, target.index, to); }
  Piece received(int64_t from) const { return receivedPiece(collective, target.index, from); }

  const LaunchTarget &target;
  const NcclApi &api;
  const Collective &collective;
  Elements elements;
  ncclResult_t first = ncclSuccess;
};

bool areEqual(const std::vector<int64_t> &counts) {
  return std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end();
}

void Calls::allReduce() {
  note(api.allReduce(collective.input, collective.output, count(collective.count), elements.type,
                     operationOf(collective.reduction), target.communicator, target.stream));
}

void Calls::allGather() {
  if (areEqual(collective.receiveCounts))
    return note(api.allGather(collective.input, collective.output, count(collective.receiveCounts.front()),
                              elements.type, target.communicator, target.stream));
  // NCCL's all-gather needs equal counts. Otherwise each piece is broadcast by its owner, all in one NCCL group.
  for (int64_t root = 0; root < target.size; ++root)
    if (Piece piece = received(root); piece.count > 0)
      note(api.broadcast(root == target.index ? collective.input : output(piece), output(piece), count(piece.count),
                         elements.type, static_cast<int>(root), target.communicator, target.stream));
}

void Calls::reduceScatter() {
  ncclRedOp_t operation = operationOf(collective.reduction);
  if (areEqual(collective.sendCounts))
    return note(api.reduceScatter(collective.input, collective.output, count(collective.sendCounts.front()),
                                  elements.type, operation, target.communicator, target.stream));
  // Likewise, each piece is reduced to its owner.
  for (int64_t root = 0; root < target.size; ++root)
    if (Piece piece = sent(root); piece.count > 0)
      note(api.reduce(input(piece), root == target.index ? collective.output : nullptr, count(piece.count),
                      elements.type, operation, static_cast<int>(root), target.communicator, target.stream));
}

void Calls::send(int64_t to) {
  if (Piece piece = sent(to); piece.count > 0)
    note(api.send(input(piece), count(piece.count), elements.type, static_cast<int>(to), target.communicator,
                  target.stream));
}

void Calls::receive(int64_t from) {
  if (Piece piece = received(from); piece.count > 0)
    note(api.recv(output(piece), count(piece.count), elements.type, static_cast<int>(from), target.communicator,
                  target.stream));
}

void Calls::exchange() {
  // All sends and receives are in one NCCL group, so their order cannot deadlock.
  for (int64_t peer = 0; peer < target.size; ++peer) {
    send(peer);
    receive(peer);
  }
}

void Calls::enqueue() {
  switch (collective.kind) {
  case CollectiveKind::allReduce:
    return allReduce();
  case CollectiveKind::allGather:
    return allGather();
  case CollectiveKind::reduceScatter:
    return reduceScatter();
  case CollectiveKind::allToAll:
  case CollectiveKind::permute:
    return exchange();
  case CollectiveKind::broadcast:
    return note(api.broadcast(collective.input, collective.output, count(collective.count), elements.type,
                              static_cast<int>(collective.peer), target.communicator, target.stream));
  case CollectiveKind::send:
    return send(collective.peer);
  case CollectiveKind::receive:
    return receive(collective.peer);
  case CollectiveKind::barrier:
    return;
  }
}

} // namespace

Status meshplan::checkReduction(DType dtype, Reduction reduction) {
  if (dtype == DType::i16)
    return Status(StatusCode::unsupported, "NCCL does not reduce i16");
  if (isFloat(dtype) && reduction != Reduction::sum)
    return Status::error(StatusCode::unsupported, "NCCL's max and min of ", dtypeName(dtype), " drop NaN");
  return Status();
}

Status meshplan::checkReduction(const Collective &collective) {
  bool reduces = collective.kind == CollectiveKind::allReduce || collective.kind == CollectiveKind::reduceScatter;
  return reduces ? checkReduction(collective.dtype, collective.reduction) : Status();
}

ncclResult_t meshplan::launch(const LaunchTarget &target, const Collective &collective) {
  // The pieces of one collective become one launch, so that none of them waits for another.
  Calls calls(target, collective);
  if (ncclResult_t started = target.api.groupStart(); started != ncclSuccess)
    return started;
  calls.enqueue();
  ncclResult_t ended = target.api.groupEnd();
  return calls.result() == ncclSuccess ? ended : calls.result();
}
