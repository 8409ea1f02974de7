//===- collective.h - description of one collective -------------*- C++ -*-===//
//
// A plain description of one collective, filled by Group's start functions and read by backends.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_COLLECTIVE_H
#define MESHPLAN_RUNTIME_COMM_COLLECTIVE_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshplan {

enum class CollectiveKind : uint8_t {
  allReduce,
  allGather,
  reduceScatter,
  allToAll,
  permute,
  broadcast,
  barrier,
  send,
  receive,
};

enum class Reduction : uint8_t { sum, max, min };

/// "all-reduce", "send": the name in messages.
std::string_view collectiveName(CollectiveKind kind);

/// What messages say about a collective besides its kind and communicator.
struct CollectiveLabel {
  int64_t sequence = -1; ///< number in the program, the same on every rank; -1: none
  std::string origin;    ///< what caused it: "smollm2.plan:12 rowwise tp"
};

/// Counts are in elements of `dtype`. Ranks are indices in the group. A buffer with pieces for or from several ranks
/// has them contiguous, in index order.
struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  DType dtype = DType::f32;
  Reduction reduction = Reduction::sum;
  const void *input = nullptr;
  void *output = nullptr;
  int64_t count = 0;                  ///< allReduce, broadcast, send, receive: elements of the buffer
  std::vector<int64_t> sendCounts;    ///< reduceScatter, allToAll, permute: piece for each rank
  std::vector<int64_t> receiveCounts; ///< allGather, allToAll, permute: piece from each rank
  int64_t peer = -1;                  ///< broadcast: root; send, receive: the other rank
  CollectiveLabel label;
};

/// "all-reduce 12 on 'tp' (smollm2.plan:12 rowwise tp)".
std::string describe(const Collective &collective, std::string_view group);

/// Checks what one rank can find alone: impossible counts, missing buffers, a peer outside the group.
Status checkCollective(const Collective &collective, int64_t groupSize, int64_t index);

/// The ranks that take part in a collective: the whole group, or sender and receiver.
struct Participants {
  std::pair<int64_t, int64_t> pair = {-1, -1}; ///< indices of sender and receiver; -1: all of the group
  std::vector<int64_t> indices;                ///< in the group
  int64_t slot = 0;                            ///< position of the asking rank in `indices`
};

Participants participantsOf(const Collective &collective, int64_t groupSize, int64_t index);

/// A contiguous range of a buffer that one rank sends to or receives from another one, in elements.
struct Piece {
  int64_t offset = 0;
  int64_t count = 0;
};

/// The piece of the input of rank `index` that rank `to` receives. For reductions: the piece that `to` reduces.
Piece sentPiece(const Collective &collective, int64_t groupSize, int64_t index, int64_t to);

/// The piece of the output of rank `index` that rank `from` sends. Not for reductions.
Piece receivedPiece(const Collective &collective, int64_t index, int64_t from);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_COLLECTIVE_H
