//===- clique.h - the shared state of a communicator's ranks ----*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_CLIQUE_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_CLIQUE_H

#include "runtime/comm/nccl/api.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace meshplan {

/// An NCCL call whose buffers the host can read.
struct FakeCall {
  enum class Kind { allReduce, allGather, reduceScatter, broadcast, reduce, send, receive };
  Kind kind;
  const void *input = nullptr;
  void *output = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t operation = ncclSum;
  int peer = -1;      ///< root, or the other rank
  int64_t number = 0; ///< of the collective on its communicator

  bool isPair() const { return kind == Kind::send || kind == Kind::receive; }
};

/// Size of a buffer of `count` elements.
size_t bytesOf(const FakeCall &call);

/// The state that the ranks of a communicator share. Thread safe.
class Clique {
public:
  explicit Clique(int size) : size(size) {}

  const int size;

  /// Returns when all ranks have called the function that creates the communicator.
  void join();
  bool isComplete();

  /// The rank connects for collectives; they are connected when all have done so.
  void connect(int rank);
  /// The first collective, and the first send or receive between two ranks, connects them, and so needs both sides.
  /// Returns when all connections of the calls are there; false if the rank has aborted.
  bool awaitConnections(int rank, const std::vector<FakeCall> &calls);

  /// Stands for a kernel: returns when all calls are done or the rank has aborted.
  void run(int rank, const std::vector<FakeCall> &calls);

  /// When it returns, no buffer of the rank is used.
  void abort(int rank);
  bool isAborted(int rank);

private:
  struct Entry {
    int rank;
    FakeCall call;
    bool done = false;
  };
  using Entries = std::vector<std::shared_ptr<Entry>>;

  void post(const std::shared_ptr<Entry> &entry);
  void postCollective(const std::shared_ptr<Entry> &entry);
  void postPair(const std::shared_ptr<Entry> &entry);
  bool canMove(const Entries &entries) const;

  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  std::set<int> connected, aborted;
  std::set<std::pair<int, int>> connectedPairs; // this rank, its peer: both directions are needed
  std::map<int64_t, Entries> collectives;
  std::map<std::pair<int, int>, std::pair<std::deque<std::shared_ptr<Entry>>, std::deque<std::shared_ptr<Entry>>>>
      pairs; // from, to: sends and receives that wait for each other
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_CLIQUE_H
